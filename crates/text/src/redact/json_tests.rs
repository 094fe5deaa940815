//! What is proved of tables written as JSON:
//! - every cell below the name of a secret is hidden in the whole text, however rows are written;
//! - and in every piece of it, of any size, read by what is before it or by its headings.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

/// A text with secrets `hiddenN`, and words `openN` among them.
fn document() -> impl Strategy<Value = String> {
    let form = (0_usize..13, 1_usize..120, 2_usize..6, any::<bool>(), any::<usize>());
    form.prop_map(|(form, n_rows, n_columns, is_spaced, seed)| {
        let secret = seed % n_columns;
        let names = (0..n_columns).map(|at| if at == secret { "password" } else { "note" });
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let space = if is_spaced { "\n  " } else { "" };
        let cell = |row: usize, at: usize| match (at == secret, row % 7) {
            (true, 3) => format!("{{\"x\":\"hidden{row}\",\"y\":[\"hidden{row}\"]}}"),
            (true, _) => format!("\"hidden{row}\""),
            (false, 4) => format!("\"open{row} [{{,\\\"\""),
            (false, 5) => "null".to_owned(),
            (false, _) => format!("\"open{row}\""),
        };
        let row = |row: usize| -> Vec<String> {
            let n_cells = n_columns + usize::from(row % 11 == 5);
            (0..n_cells).map(|at| cell(row, at)).collect()
        };
        let list = |number: usize| format!("[{}]", row(number).join(&format!(",{space}")));
        let rows: Vec<String> = (0..n_rows).map(list).collect();
        let names = names.join(",");
        let all = rows.join(&format!(",{space}"));
        match form {
            0 => format!("[[{names}],{all}]"),
            1 => format!("{{\"columns\":[{names}],\"rows\":[{all}]}}"),
            2 => {
                format!("Some words: {{\"t\":{{\"a\":[{names}],\"b\":[{all}]}},\"z\":1}} and more.")
            }
            3 => format!("[{names}]\n{}\n", rows.join("\n")),
            4 => {
                let objects: Vec<String> =
                    rows.iter().map(|row| format!("{{\"n\":1,\"cells\":{row}}}")).collect();
                format!("{{\"fields\":[{names}],\"rows\":[{}]}}", objects.join(","))
            }
            5 => format!("{{\"header\":[{names}],\"pages\":[[{all}],[{all}]]}}"),
            6 => {
                let columns = names
                    .replace('"', "")
                    .split(',')
                    .map(|name| format!("{{\"name\":\"{name}\",\"type\":\"text\"}}"))
                    .collect::<Vec<_>>()
                    .join(",");
                format!("{{\"schema\":[{columns}],\"data\":[{all}]}}")
            }
            8 => {
                let columns =
                    names.split(',').map(|name| format!("{{\"name\":{name}}}")).collect::<Vec<_>>();
                let columns = columns.join(",");
                format!("{{\"meta\":{{\"fields\":[{columns}]}},\"x\":{{\"data\":[{all}]}}}}")
            }
            9 => {
                let columns = (0..n_columns).map(|at| {
                    format!("\"{}{at}\":{{}}", if at == secret { "password_" } else { "note" })
                });
                let columns = columns.collect::<Vec<_>>().join(",");
                format!("{{\"columns\":{{{columns}}},\"data\":[{all}]}}")
            }
            10 => {
                let all: Vec<String> = (0..n_rows).map(|n| format!("[\"hidden{n}\"]")).collect();
                format!(
                    "{{\"columns\":[\"password\"],\"rows\":[{}]}}",
                    all.join(&format!(",{space}"))
                )
            }
            11 => {
                let all: Vec<String> = (0..n_rows).map(|n| format!("\"hidden{n}\"")).collect();
                let all = all.join(&format!(",{space}"));
                format!("[{{\"name\":\"password\",\"values\":[{all}]}},{{\"name\":\"x\"}}]")
            }
            7 => {
                let pairs: Vec<String> = (0..n_rows)
                    .map(|n| format!("{{\"key\":\"password\",\"value\":\"hidden{n}\"}},{space}"))
                    .collect();
                format!("[{}{{}}]", pairs.concat())
            }
            _ => {
                let pairs: Vec<String> = (0..n_rows)
                    .map(|n| format!("[\"host{n}\",\"open\"],{space}[\"password\",\"hidden{n}\"]"))
                    .collect();
                format!("[{}]", pairs.join(","))
            }
        }
    })
}

fn assert_hidden(seen: &str, text: &str) {
    assert!(!seen.contains("hidden"), "{seen}\n\nof\n\n{text}");
    for part in ["hidd", "idde", "dden"] {
        assert!(!seen.contains(part), "{seen}\n\nof\n\n{text}");
    }
}

proptest! {
    #![proptest_config(Config::with_cases(24))]

    #[test]
    fn pieces_of_any_size_hide_what_the_whole_hides(
        text in document(),
        n_chars in 3_usize..700,
        n_before in 0_usize..3_000,
    ) {
        assert_hidden(&redact(&text).text, &text);
        let chars: Vec<char> = text.chars().collect();
        let tables = secret_tables(&text);
        // Few of the pieces of a long text.
        let step = (chars.len() / n_chars / 25).max(1) * n_chars;
        for start in (0..chars.len()).step_by(step) {
            let part = |from: usize, to: usize| chars[from..to.min(chars.len())].iter().collect::<String>();
            let end = start + n_chars;
            let (head, piece) = (part(0, start), part(start, end));
            let after = part(end.min(chars.len()), end + 2_000);
            let before = context_before(&head);
            let context = PieceContext { before: &before, after: &after, heading: None };
            let shown = redact_piece(&piece, context).text;
            assert_hidden(&shown, &format!("{piece:?} behind {before:?}, before {after:?}"));
            // A passage, of which few passages before it are known.
            let table = tables.iter().rev().find(|table| table.rows.contains(&head.len()));
            if let Some(table) = table {
                let heading = &text[table.heading.clone()];
                let before = part(start.saturating_sub(n_before), start);
                let before = if before.is_empty() { head.clone() } else { before };
                let context = PieceContext { before: &before, after: &after, heading: Some(heading) };
                let shown = redact_piece(&piece, context).text;
                assert_hidden(&shown, &format!("{piece:?} behind {before:?}, {heading}, of {text}"));
            }
        }
    }
}
