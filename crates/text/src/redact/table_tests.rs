//! Tables with a column of passwords, as exports, sheets and people write them: read in pieces
//! anywhere, no password is shown.

use super::{
    PASSAGE_EDGE, PieceContext, REDACTION_CONTEXT_CHARS, context_before, redact, redact_piece,
};

/// Longer than what is looked at before a piece, several times.
const N_ROWS: usize = 1_500;

/// What is read around a piece is bounded: pieces begin at these steps, which share no factor
/// with the length of a row.
const STEP: usize = 1_601;

/// Reads a text in pieces of some sizes, far below its headings too. Every password has the
/// letters `idde`, and other cells do not.
#[track_caller]
fn check(name: &str, text: &str) {
    assert!(text.contains("idde"), "{name}: no password");
    let whole = redact(text).text;
    let at = whole.find("idde").map(|at| &whole[at.saturating_sub(60)..(at + 20).min(whole.len())]);
    assert_eq!(at, None, "{name}: whole");
    let chars: Vec<char> = text.chars().collect();
    for n_chars in [4, 31, 700] {
        for start in (0..chars.len()).step_by(STEP) {
            let end = (start + n_chars).min(chars.len());
            let head: String = chars[..start].iter().collect();
            let piece: String = chars[start..end].iter().collect();
            let after: String = chars[end..].iter().take(REDACTION_CONTEXT_CHARS).collect();
            let before = context_before(&head);
            let context = PieceContext { heading: None, before: &before, after: &after };
            let shown = redact_piece(&piece, context).text;
            assert!(!shown.contains("idde"), "{name}: {start}..{end}: {piece:?} gives {shown:?}");
        }
    }
}

/// Writes a table; `cells` gives the cells of a row.
fn table(heading: &str, separator: &str, cells: impl Fn(usize) -> Vec<String>) -> String {
    let rows: Vec<String> = (0..N_ROWS).map(|n| cells(n).join(separator)).collect();
    format!("{heading}\n{}\n", rows.join("\n"))
}

fn row(n: usize) -> Vec<String> {
    vec![format!("user{n}"), format!("hidden{n}"), format!("team{n}")]
}

#[test]
fn regular_tables() {
    for (name, separator) in [("csv", ","), ("tsv", "\t"), ("semicolon", ";"), ("sheet", " | ")] {
        let heading = ["login", "password", "group"].join(separator);
        check(name, &table(&heading, separator, row));
    }
    let markdown = table("| login | password | group |\n|---|:---:|---|", " | ", |n| {
        let [first, middle, last] = row(n).try_into().unwrap();
        vec![format!("| {first}"), middle, format!("{last} |")]
    });
    check("markdown", &format!("# Accounts\n\nSome words.\n\n{markdown}"));
}

#[test]
fn cells_with_separators_quotes_and_line_breaks() {
    for separator in [",", ";", "\t"] {
        let heading = ["login", "note", "password", "group"].join(separator);
        let text = table(&heading, separator, |n| {
            let note = match n % 4 {
                0 => format!("\"one{separator} two\""),
                1 => format!("\"first line\n{}last line\"", "more\n".repeat(n % 37)),
                2 => "\"said \"\"no\"\"\"".to_owned(),
                _ => String::new(),
            };
            vec![format!("user{n}"), note, format!("\"hidden{separator}{n}\""), "x".to_owned()]
        });
        check(separator, &text);
    }
    // Extraction takes quotes away: a sign of inches is a letter, a pipe divides a cell.
    let text = table("login | size | password | group", " | ", |n| {
        let size = match n % 3 {
            0 => format!("{n}\" pipe"),
            1 => "this | that".to_owned(),
            _ => "plain".to_owned(),
        };
        vec![format!("user{n}"), size, format!("hidden{n}"), "x".to_owned()]
    });
    check("quotes that are letters", &text);
}

#[test]
fn rows_with_empty_cells() {
    let heading = "login | password | group | note";
    let trimmed = |n: usize| {
        let cells = match n % 5 {
            0 => vec![format!("user{n}")],
            1 => row(n)[..2].to_vec(),
            2 => row(n),
            3 => vec![String::new(), format!("hidden{n}")],
            _ => [row(n), vec!["note".to_owned()]].concat(),
        };
        cells.join(" | ").trim_start().to_owned()
    };
    let rows: String = (0..N_ROWS).map(|n| format!("{}\n", trimmed(n))).collect();
    check("cells at the end left out", &format!("{heading}\n{rows}"));
    let rows: String = (0..N_ROWS)
        .map(|n| if n % 60 < 40 { format!("user{n}\n") } else { format!("user{n} | hidden{n}\n") })
        .collect();
    check("most rows without a password", &format!("login | password\n{rows}"));
    let rows: String = (0..N_ROWS).map(|n| format!("hidden{n}\n")).collect();
    check("the first column alone", &format!("password | login\nhiddenx | ann\n{rows}"));
    let rows: String = (0..N_ROWS)
        .map(|n| format!("user{n} | hidden{n} | x\n{}", if n % 50 == 0 { "\n" } else { "" }))
        .collect();
    check("blocks", &format!("login | password | age\n{rows}"));
}

#[test]
fn wide_tables_and_long_headings() {
    let headings: Vec<String> = (0..200).map(|n| format!("measure number {n}")).collect();
    let heading = format!("{} | password | {}", headings.join(" | "), headings.join(" | "));
    let rows: String = (0..60)
        .map(|n| format!("{}hidden{n} | {}1\n", "5 | ".repeat(200), "6 | ".repeat(199)))
        .collect();
    check("wide", &format!("{heading}\n{rows}"));
    let heading = "Name of the person as it is written in the register | Password";
    check("long heading", &table(heading, " | ", |n| row(n)[..2].to_vec()));
    let key = |n: usize| format!("user{n} | {}\n", "hidden9".repeat(60 + n));
    let rows: String = (0..60).map(key).collect();
    check("long cells", &format!("login | api key\n{rows}"));
}

/// Cuts rows that are longer than a passage, as passages are cut: at blanks, which are left out.
fn passages(text: &str) -> Vec<String> {
    let mut passages = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ').peekable();
        while words.peek().is_some() {
            let mut passage = String::new();
            while let Some(word) = words.next_if(|word| passage.len() + word.len() < 700) {
                passage.push_str(word);
                passage.push(' ');
            }
            passages.push(passage.trim().to_owned());
        }
    }
    passages
}

/// Tables with rows that are longer than a passage, by how many columns they have.
fn long_tables() -> Vec<String> {
    let wide = [50, 128, 200, 300, 400, 1_000].map(|n| {
        let headings: String = (0..n).map(|n| format!("c{n} | ")).collect();
        let cells: String = (0..n).map(|n| format!("{n} | ")).collect();
        let rows: String = (0..4).map(|n| format!("{cells}hidden{n} | 1\n")).collect();
        format!("{headings}password | z\n{rows}")
    });
    let long = [100, 300, 1_000].map(|n| {
        let rows: String = (0..4)
            .map(|row| format!("a | {}| hidden{row}\nb | ccc | hiddenx{row}\n", "lorem ".repeat(n)))
            .collect();
        format!("user | note | password\n{rows}")
    });
    wide.into_iter().chain(long).collect()
}

#[test]
fn rows_that_are_longer_than_a_passage() {
    // A heading that is cut itself is known as far as the text before a piece is looked at.
    for text in long_tables().into_iter().filter(|text| text.len() < REDACTION_CONTEXT_CHARS) {
        let name: String = text.chars().take(20).collect();
        // Whoever reads the whole text has a line break at each edge.
        let broken = passages(&text).join("\n");
        let shown = redact(&broken).text;
        assert!(!shown.contains("idde"), "{name}, {}: {shown}", text.len());
        for n_chars in [400, 1_500] {
            for start in (0..broken.len()).step_by(n_chars) {
                let end = (start + n_chars).min(broken.len());
                let before = context_before(&broken[..start]);
                let context =
                    PieceContext { heading: None, before: &before, after: &broken[end..] };
                let shown = redact_piece(&broken[start..end], context).text;
                assert!(!shown.contains("idde"), "{name}: {start}..{end} {shown:?}");
            }
        }
    }
}

#[test]
fn a_passage_that_begins_inside_a_row() {
    let edge = PASSAGE_EDGE.to_string();
    for text in long_tables() {
        let heading = text.lines().next().unwrap();
        let passages = passages(&text);
        for n_near in [0, 1, 4, 40] {
            for at in 1..passages.len() {
                let first = at.saturating_sub(n_near);
                let mut before: String =
                    passages[first..at].iter().map(|one| format!("{one}{edge}")).collect();
                // Before a passage of which nothing is known something is.
                before.insert_str(0, if first == 0 { "\n" } else { &edge });
                let last = (at + 1 + n_near).min(passages.len());
                let mut after: String =
                    passages[at + 1..last].iter().map(|one| format!("{edge}{one}")).collect();
                if last < passages.len() {
                    after.push_str(&edge);
                }
                let context =
                    PieceContext { heading: Some(heading), before: &before, after: &after };
                let shown = redact_piece(&passages[at], context).text;
                assert!(!shown.contains("idde"), "{n_near} of {heading:.30}: {shown:?}");
                if n_near == 40 && heading.starts_with("user") && text.len() < 10_000 {
                    assert_eq!(shown.contains("lorem"), passages[at].contains("lorem"), "{shown}");
                }
            }
        }
    }
}

/// Blank space at the edges of a passage is not kept, and a tab is blank.
#[test]
fn a_line_break_in_place_of_a_tab() {
    let heading = "login\tnote\tpassword\tgroup";
    for at in 0..3 {
        let line = |n: usize| {
            let row = format!("user{n}\t\"a \"\"word\"\"\"\thidden{n}\t");
            match n % 5 {
                0 => row.match_indices('\t').nth(at).map_or(row.clone(), |(tab, _)| {
                    format!("{}\n{}", &row[..tab], &row[tab + 1..])
                }),
                _ => row,
            }
        };
        let rows: String = (0..N_ROWS).map(|n| format!("{}\n", line(n))).collect();
        check("a line break in place of a tab", &format!("{heading}\n{rows}"));
    }
}

/// Where a place between two passages is not known to be a line break.
#[test]
fn two_rows_on_one_line() {
    let line = |n: usize| {
        let next = n + 1;
        format!("user{n} |  | hidden{n} | team{n} user{next} |  | hidden{next}\n")
    };
    let rows: String = (0..N_ROWS).map(line).collect();
    check("two rows on one line", &format!("login | note | password | group\n{rows}"));
}

/// Another table of the document keeps its cells.
#[test]
fn other_tables_are_shown() {
    let first = "login | password\nann | hidden1\n";
    for (name, other) in [
        ("markdown", "| City | Size |\n|---|---|\n| Oslo | 5 |\n| Rome | 7 |\n"),
        ("wider", "City | Size | Since\nOslo | 5 | 1048\nRome | 7 | -753\n"),
        ("far", "City | Size\nOslo | 5\nRome | 7\n"),
    ] {
        let prose = "A paragraph of more than a few words is between the two tables.\n\n";
        let n_between = if name == "far" { 5 } else { 0 };
        let shown = redact(&format!("{first}\n{}{other}", prose.repeat(n_between))).text;
        assert!(shown.contains("Oslo | 5") && shown.contains("Rome | 7"), "{name}: {shown}");
    }
}

/// Irregular lines are read at most a few times each: a reader that looked at all lines for each of
/// 200,000 would not end within the time that the runner gives a test.
#[test]
fn hostile_tables_end_soon() {
    for line in ["a,\"\n", "\"\"\",\n", ",\n", "\",\"\n", "a\n", "a,b,c,d,e\n"] {
        let rows = line.repeat(400_000 / line.len());
        let text = format!("user,password,c,d,e,f\n{rows}");
        assert!(redact(&text).text.starts_with("user,password,c,d,e,f\n"), "{line:?}");
    }
}

/// One name and a comma were headings, and the lines of code below them rows.
#[test]
fn lines_of_code_are_no_table() {
    for code in [
        "Generics {\n    eq_token,\n    bounds,\n    default,\n}\n",
        "use crate::token,\nuse alloc::vec::Vec,\n",
        " 'HAVE_STRUCT_PASSWD_PW_PASSWD': 1,\n 'HAVE_STRUCT_STAT_ST_BIRTHTIME': 0,\n",
        "    \"Token\",\n    \"TokenConverter\",\n    \"White\",\n",
    ] {
        assert_eq!(redact(code).text, code);
    }
}
