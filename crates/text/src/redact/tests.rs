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

proptest! {
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
