//! Names inside archives are those that people saw, whatever wrote them.

use extract::{Caps, extract};

use crate::fixtures;

#[track_caller]
fn check(name: &[u8], expected: &str) {
    let file = fixtures::zip_with_names(&[(name, b"Words."), (b"plain.txt", b"More.")], [0, 0]);
    let (document, warnings) = extract(&file, "a.zip", &Caps::standard());
    assert_eq!(warnings, [], "{expected}");
    let pointers: Vec<String> =
        document.blocks.iter().map(|block| block.pointer.to_string()).collect();
    assert_eq!(pointers, [format!("{expected} > line 1"), "plain.txt > line 1".to_owned()]);
}

#[test]
fn names_without_a_word_about_their_encoding_are_read() {
    check(b"r\x82sum\x82.txt", "résumé.txt");
    check(b"r\xe9sum\xe9.txt", "résumé.txt");
    check(b"\x97\x5c\x8e\x5a\x95\xf1\x8d\x90.txt", "予算報告.txt");
    check(b"\xd4\xa4\xcb\xe3\xb1\xa8\xb8\xe6.txt", "预算报告.txt");
    check("résumé 予算.txt".as_bytes(), "résumé 予算.txt");
}
