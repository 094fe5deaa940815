//! What is read of one small document of every format, whole: kinds, pointers, titles, warnings.

use std::fmt::Write;

use extract::{Caps, extract};

use crate::fixtures;

fn shown(bytes: &[u8], name: &str) -> String {
    let (document, warnings) = extract(bytes, name, &Caps::standard());
    let mut shown = format!(
        "format {}, title {:?}, language {:?}\n",
        document.format, document.title, document.language
    );
    for warning in warnings {
        writeln!(shown, "warning {}: {}", warning.code, warning.message).unwrap();
    }
    for block in document.blocks {
        writeln!(shown, "[{} {:?}] {}", block.pointer, block.kind, block.text).unwrap();
    }
    shown
}

#[test]
fn every_format_reads_as_expected() {
    for (name, bytes) in fixtures::all() {
        insta::assert_snapshot!(name.replace('.', "_"), shown(&bytes, name));
    }
}

#[test]
fn content_decides_and_a_lying_name_is_told() {
    for (bytes, name) in [
        (fixtures::docx(), "really.pdf"),
        (fixtures::pdf(), "really.docx"),
        (fixtures::html(), "really.xls"),
    ] {
        let (document, warnings) = extract(&bytes, name, &Caps::standard());
        assert!(!document.blocks.is_empty(), "{name}");
        assert_eq!(warnings[0].code, "extension_mismatch", "{name}");
    }
    // No extension at all is no lie.
    for (name, bytes) in fixtures::all() {
        let (document, warnings) = extract(&bytes, "nameless", &Caps::standard());
        assert!(!document.blocks.is_empty(), "{name}");
        assert!(warnings.iter().all(|warning| warning.code != "extension_mismatch"), "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let check = |bytes: &[u8], name: &str, code: &str| {
        let (document, warnings) = extract(bytes, name, &Caps::standard());
        assert!(document.blocks.is_empty(), "{name}");
        assert_eq!(
            warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<_>>(),
            [code],
            "{name}"
        );
    };
    check(b"", "empty.pdf", "empty_file");
    check(b" \n ", "blank.txt", "no_text");
    check(b"\x89PNG\r\n\x1a\n....", "picture.png", "unsupported_format");
    check(b"%PDF-1.7\nnothing else", "cut.pdf", "broken");
    check(b"\0\x01\x02\x03\x04\x05\x06\x07", "unknown.bin", "unsupported_format");
    check(
        &fixtures::zip_of(&[
            ("mimetype", b"application/vnd.oasis.opendocument.text"),
            ("META-INF/manifest.xml", b"<encryption-data/>"),
        ]),
        "locked.odt",
        "encrypted",
    );
}

#[test]
fn blocks_follow_the_rule_of_the_whole_text() {
    for (name, bytes) in fixtures::all() {
        let (document, _) = extract(&bytes, name, &Caps::standard());
        let text: Vec<char> = document.text().chars().collect();
        for (block, span) in document.blocks.iter().zip(document.spans()) {
            let at_span: String = text[span.start..span.end].iter().collect();
            assert_eq!(at_span, block.text, "{name}");
            assert!(!block.text.trim().is_empty(), "{name}");
            assert_eq!(block.text.trim_end(), block.text, "{name}");
            assert_eq!(block.pointer.to_string().parse().as_ref(), Ok(&block.pointer), "{name}");
        }
    }
}
