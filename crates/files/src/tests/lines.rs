//! A hit points at the line of its first word that was asked for, as an editor counts lines, and
//! opening the file there shows it.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// A piece of a text.
#[derive(Debug, Clone)]
enum Piece {
    /// A line of some words, the first of which is nowhere else.
    Line(usize),
    /// A line with a page break before its last word.
    PageBreak,
    /// Lines without words.
    Blank(usize),
    /// A line that no passage holds.
    Long(usize),
    /// A line that only a page break is on.
    OnlyPageBreak,
    /// A heading and an item, tight, as Markdown has them.
    Marked,
}

fn any_piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        6 => (0_usize..12).prop_map(Piece::Line),
        1 => Just(Piece::PageBreak),
        3 => (1_usize..7).prop_map(Piece::Blank),
        1 => (300_usize..900).prop_map(Piece::Long),
        1 => Just(Piece::OnlyPageBreak),
        2 => Just(Piece::Marked),
    ]
}

/// A word that shares no part with another, so that a search for one finds no other.
fn unlike_others(number: usize) -> String {
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    (0..10).map(|_| letter()).collect()
}

/// Writes a text, and gives its words that are nowhere else with their lines.
fn written(pieces: &[Piece], line_end: &str, start: &str) -> (String, Vec<(String, usize)>) {
    let (mut text, mut words) = (start.to_owned(), Vec::new());
    let mut line = 1;
    let mut named = |text: &mut String, line: usize| {
        let word = unlike_others(words.len());
        text.push_str(&word);
        words.push((word, line));
    };
    for piece in pieces {
        let n_lines = match piece {
            Piece::Line(n_words) => {
                named(&mut text, line);
                text.push_str(&" plain".repeat(*n_words));
                1
            }
            Piece::PageBreak => {
                text.push_str("before\u{c}");
                named(&mut text, line);
                1
            }
            Piece::Blank(n_lines) => {
                text.push_str(&line_end.repeat(n_lines - 1));
                *n_lines
            }
            Piece::Long(n_words) => {
                for at in 0..*n_words {
                    write!(text, "long{at} ").unwrap();
                }
                named(&mut text, line);
                1
            }
            Piece::OnlyPageBreak => {
                text.push('\u{c}');
                1
            }
            Piece::Marked => {
                text.push_str("# ");
                named(&mut text, line);
                text.push_str(line_end);
                text.push_str("- ");
                named(&mut text, line + 1);
                2
            }
        };
        text.push_str(line_end);
        line += n_lines;
    }
    (text, words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_hit_points_at_its_line_and_opens_there(
        pieces in prop::collection::vec(any_piece(), 1..60),
        line_end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        start in prop_oneof![Just(""), Just("\u{feff}"), Just("\u{feff}\n\n")],
        ext in prop_oneof![Just("txt"), Just("py"), Just("log"), Just("md")],
    ) {
        let (text, words) = written(&pieces, line_end, start);
        let n_before = start.matches('\n').count();
        let fixture = Fixture::new();
        fixture.write(&format!("a.{ext}"), text);
        let opened = fixture.open(FilesConfig {
            roots: vec![RootConfig::Path("root".into())],
            ..FilesConfig::default()
        });
        opened.index_all();
        let caller = Caller::local_admin();
        for (word, line) in &words {
            let found = opened.service.search(&caller, &asked(word), &soon()).unwrap();
            let hit = &found.items[0];
            // A passage below a heading is found by the heading's words, which it may not have.
            let is_below = ext == "md" && !hit.snippet.contains(word.as_str());
            prop_assert!(is_below || hit.snippet.contains(word.as_str()), "{word}: {}", hit.snippet);
            let pointed = hit.pointer.split(',').next().unwrap().trim_start_matches("line ");
            let pointed: usize = pointed.parse().unwrap();
            let line = line + n_before;
            // Markdown has words of several lines as one paragraph, and code that no line names.
            if is_below {
                prop_assert!(pointed >= line, "{word}: {pointed} is before its heading on {line}");
            } else if ext == "md" {
                prop_assert!(pointed <= line, "{word}: {pointed} is after {line}");
            } else {
                prop_assert_eq!(pointed, line, "{}", word);
            }
            let request = PreviewRequest {
                path: hit.path.clone(),
                pointer: Some(hit.pointer.clone()),
                ..PreviewRequest::default()
            };
            let shown = opened.service.preview(&caller, &request).unwrap().preview;
            prop_assert!(is_below || shown.contains(word.as_str()), "{word} at {}: {shown}", hit.pointer);
            prop_assert!(shown.contains(&hit.snippet), "{word} at {}: {shown}", hit.pointer);
        }
    }
}

/// Names with numbers share their parts with their neighbours: the first line with any of them was
/// pointed at, in 131 of 360 searches.
#[test]
fn a_name_with_a_number_points_at_its_own_line() {
    let words = ["alpha", "bravo", "cedar", "delta", "ember", "falcon", "granite"];
    let mut text = String::new();
    for line in 1..=120_usize {
        write!(text, "step{line} marker0x{line}").unwrap();
        (0..line * 7 % 19).for_each(|at| write!(text, " {}", words[(line + at) % 7]).unwrap());
        text.push('\n');
    }
    let fixture = Fixture::new();
    fixture.write("a.txt", text);
    let opened = fixture.open(FilesConfig {
        roots: vec![RootConfig::Path("root".into())],
        ..FilesConfig::default()
    });
    opened.index_all();
    let caller = Caller::local_admin();
    for line in (1..=120).step_by(7) {
        let word = format!("marker0x{line}");
        let found = opened.service.search(&caller, &asked(&word), &soon()).unwrap();
        let hit = &found.items[0];
        assert_eq!(hit.pointer.split(',').next(), Some(format!("line {line}").as_str()), "{word}");
        assert!(hit.snippet.split_whitespace().any(|one| one == word), "{word}: {}", hit.snippet);
    }
}
