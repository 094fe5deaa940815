//! Proves redaction on a corpus of examples: what must go goes, what must stay stays, and
//! nothing takes longer than its length allows.

use proptest::prelude::*;

use super::*;

const CORPUS: &str = include_str!("../../fixtures/redaction.txt");
/// Shares under which the corpus fails.
const MIN_PRECISION: f64 = 0.98;
const MIN_RECALL: f64 = 0.98;

#[derive(Default)]
struct Tally {
    n_right: usize,
    n_missed: usize,
    n_wrong: usize,
}

/// Takes the marks out of a corpus line.
fn read_line(line: &str) -> (String, Vec<(String, Range<usize>)>) {
    let mut text = String::new();
    let mut expected = Vec::new();
    let mut rest = line;
    while let Some((head, tail)) = rest.split_once('⟦') {
        text.push_str(head);
        let (inner, after) = tail.split_once('⟧').unwrap();
        let (kind, value) = inner.split_once(':').unwrap();
        let value = value.replace("\\n", "\n");
        expected.push((format!("[{kind}]"), text.len()..text.len() + value.len()));
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    (text, expected)
}

#[test]
fn corpus() {
    let mut tally = Tally::default();
    let mut faults = String::new();
    for line in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (text, expected) = read_line(line);
        let found: Vec<(String, Range<usize>)> = find_private(&text)
            .into_iter()
            .map(|piece| (piece.kind.mark().to_owned(), piece.bytes))
            .collect();
        for piece in &expected {
            if found.contains(piece) {
                tally.n_right += 1;
            } else {
                tally.n_missed += 1;
                faults.push_str(&format!("missed {piece:?} in {line}\n"));
            }
        }
        for piece in found.iter().filter(|piece| !expected.contains(piece)) {
            tally.n_wrong += 1;
            let what = text.get(piece.1.clone()).unwrap_or_default();
            faults.push_str(&format!("wrong {} `{what}` in {line}\n", piece.0));
        }
    }
    let precision = tally.n_right as f64 / (tally.n_right + tally.n_wrong) as f64;
    let recall = tally.n_right as f64 / (tally.n_right + tally.n_missed) as f64;
    println!(
        "precision {precision:.3}, recall {recall:.3}, {} pieces",
        tally.n_right + tally.n_missed
    );
    println!("{faults}");
    assert!(precision >= MIN_PRECISION && recall >= MIN_RECALL, "{precision} {recall}\n{faults}");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text).text, expected);
}

#[test]
fn marks_take_the_place() {
    check("db:\n  password:\n    velvetBadger42\n", "db:\n  password:\n    [password]\n");
    check("secret: |\n  velvetBadger42\nx: 1", "secret: |\n  [password]\nx: 1");
    check("password:\n  user: ann\n", "password:\n  user: ann\n");
    check("Password:\n\nChapter two begins here", "Password:\n\nChapter two begins here");
    check("(0722 123 456)", "([phone])");
    check(
        "a key cut off: MHcCAQEE\n-----END PRIVATE KEY----- and prose",
        "a key cut off: MHcCAQEE\n[private key] and prose",
    );
    check("nothing here", "nothing here");
    check("", "");
}

#[test]
fn hostile_texts_end_soon() {
    for piece in [
        "@",
        "a@",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "password",
        "password=",
        "token ",
        "1",
        "1 ",
        "0722 ",
        "+4",
        "://a:",
        "RO49 ",
        "4111-",
        "(",
        "sk-a",
        "hooks.slack.com/services/",
        "パスワード",
        "AKIA",
        "tel 1",
    ] {
        let text = piece.repeat(40_000 / piece.len());
        let _ = redact(&text);
    }
}

fn private_soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        "[0-9 ().+/-]{0,14}",
        prop::sample::select(vec![
            "@",
            "password",
            " = ",
            ": ",
            "-----BEGIN PRIVATE KEY-----",
            "-----END",
            "eyJhbGci",
            "+40",
            "tel ",
            "0722123456",
            "RO49AAAA1B31007593840000",
            "ana@b.ro",
            "\n",
            "://",
            "sk-ant-",
            "4111111111111111",
            "[email]",
            "\"",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Every example of the corpus with something private in it.
fn private_examples() -> Vec<(String, Vec<Range<usize>>)> {
    let lines = CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(read_line)
        .map(|(text, expected)| {
            let found = find_private(&text).into_iter().map(|piece| piece.bytes);
            let expected: Vec<_> = expected.into_iter().map(|(_, bytes)| bytes).collect();
            (text, found.filter(|bytes| expected.contains(bytes)).collect::<Vec<_>>())
        })
        .filter(|(_, pieces)| !pieces.is_empty())
        .collect()
}

/// What a reader of the text in pieces of `n_chars` gets to see, marks left out.
fn read_in_pieces(source: &str, n_chars: usize, context_chars: usize) -> String {
    let starts: Vec<usize> =
        source.char_indices().map(|(at, _)| at).chain([source.len()]).collect();
    let n_source = starts.len() - 1;
    let mut seen = String::new();
    for first in (0..n_source).step_by(n_chars) {
        let last = (first + n_chars).min(n_source);
        let from = starts[first.saturating_sub(context_chars)];
        let to = starts[(last + context_chars).min(n_source)];
        let window = starts[first] - from..starts[last] - from;
        let redaction = redact_window(&source[from..to], window.clone());
        let mut at = window.start;
        for piece in &redaction.pieces {
            seen.push_str(&source[from + at..from + piece.bytes.start]);
            at = piece.bytes.end;
        }
        seen.push_str(&source[from + at..from + window.end]);
    }
    seen
}

#[test]
fn reading_in_pieces_of_any_size_reveals_nothing() {
    let examples = private_examples();
    assert!(examples.len() > 100, "{}", examples.len());
    for (text, pieces) in examples {
        let at_once = read_in_pieces(&text, usize::MAX / 2, 0);
        for n_chars in [1, 2, 3, 5, 6, 7, 10, 16, 33, 64] {
            let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
            assert_eq!(seen, at_once, "{n_chars} characters at a time of {text:?}");
        }
        for piece in pieces {
            assert!(
                !at_once.contains(&text[piece.clone()]) || text.matches(&text[piece]).count() > 1
            );
        }
    }
}

#[test]
fn reading_in_pieces_reveals_nothing_deep_inside_a_long_text() {
    let filler = "Plain words of a long report, line after line. ".repeat(10);
    let key: String = (0..40)
        .map(|n| {
            format!("{}{n:02}\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7aBcDeF+/")
        })
        .collect();
    let secrets = [
        "ana.popescu@example.org".to_owned(),
        "4111 1111 1111 1111".to_owned(),
        "RO49 AAAA 1B31 0075 9384 0000".to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----"),
    ];
    for secret in secrets {
        let text = format!("{filler}\n{secret}\n{filler}");
        let n_chars = if secret.len() > 100 { 60 } else { 6 };
        let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
        for part in secret.split_whitespace().filter(|part| part.len() > 3) {
            assert!(!seen.contains(part), "{part}");
        }
    }
}

#[test]
fn the_middle_of_a_key_is_private_without_its_ends() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7aBcDeF+/ab12";
    check(&format!("{line}\n{line}\n{line}"), "[private key]");
    check(&format!("{line}\n{line}\nThen words."), "[private key]\nThen words.");
    check(&format!("Words first.\n{line}\n{line}\n"), "Words first.\n[private key]\n");
    check("one\ntwo\nthree", "one\ntwo\nthree");
}

#[test]
fn disguises_hide_nothing() {
    check("ana＠ｅｘａｍｐｌｅ．ｏｒｇ wrote", "[email] wrote");
    check("ana\u{200b}@exam\u{200d}ple.org wrote", "[email] wrote");
    check("card ４１１１ １１１１ １１１１ １１１１", "card [card]");
    check("card ٤١١١١١١١١١١١١١١١", "card [card]");
    check("card 4111\u{200b}1111\u{200b}1111\u{200b}1111", "card [card]");
    check("pass\u{ad}word: tiger-7", "pass\u{ad}word: [password]");
    check("export PGPASSWORD=tiger", "export PGPASSWORD=[password]");
    check("user,password\nann,tiger", "user,password\nann,[password]");
    let ours = format!("dowse_{}", "aB3-".repeat(11));
    check(&format!("key {} end", &ours[..49]), "key [token] end");
}

proptest! {
    /// A window is the text at once, cut: whatever the text and the window.
    #[test]
    fn a_window_shows_what_the_whole_shows(text in private_soup(), a in 0..200_usize, b in 0..200_usize) {
        let bounds = |at: usize| { let mut at = at.min(text.len()); while !text.is_char_boundary(at) { at -= 1; } at };
        let window = bounds(a.min(b))..bounds(a.max(b));
        let redaction = redact_window(&text, window.clone());
        let whole = find_private(&text);
        for (at, _) in text.char_indices().filter(|(at, _)| window.contains(at)) {
            let is_private = whole.iter().any(|piece| piece.bytes.contains(&at));
            let is_marked = redaction.pieces.iter().any(|piece| piece.bytes.contains(&at));
            prop_assert_eq!(is_private, is_marked);
        }
    }

    #[test]
    fn pieces_are_in_order_and_the_rest_is_untouched(text in private_soup()) {
        let redaction = redact(&text);
        prop_assert_eq!(redaction.n_pieces, redaction.pieces.len());
        let mut at = 0;
        let mut rebuilt = String::new();
        for piece in &redaction.pieces {
            prop_assert!(piece.bytes.start >= at && piece.bytes.end > piece.bytes.start);
            rebuilt.push_str(&text[at..piece.bytes.start]);
            rebuilt.push_str(piece.kind.mark());
            at = piece.bytes.end;
        }
        rebuilt.push_str(&text[at..]);
        prop_assert_eq!(rebuilt, redaction.text);
    }

    #[test]
    fn marks_are_never_redacted(text in private_soup()) {
        let once = redact(&text);
        let mut at = 0;
        let mut n_removed = 0;
        let mut marks = Vec::new();
        for piece in &once.pieces {
            n_removed += piece.bytes.start - at;
            marks.push(n_removed..n_removed + piece.kind.mark().len());
            n_removed += piece.kind.mark().len();
            at = piece.bytes.end;
        }
        for piece in redact(&once.text).pieces {
            for mark in &marks {
                let apart = piece.bytes.end <= mark.start || mark.end <= piece.bytes.start;
                prop_assert!(apart, "{:?} touches a mark of {:?}", piece, once.text);
            }
        }
    }
}
