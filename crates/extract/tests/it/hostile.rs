//! Bytes that mean harm, or are simply damaged, never panic and end within the caps.

use std::time::Duration;

use extract::{Caps, extract};
use proptest::prelude::*;

use crate::fixtures;

fn small_caps() -> Caps {
    Caps { time: Duration::from_secs(20), output_bytes: 1 << 20, ..Caps::standard() }
}

fn codes(bytes: &[u8], name: &str, caps: &Caps) -> Vec<String> {
    let (document, warnings) = extract(bytes, name, caps);
    assert!(document.text().len() <= caps.output_bytes + 2 * document.blocks.len(), "{name}");
    let codes: Vec<String> = warnings.into_iter().map(|warning| warning.code).collect();
    assert!(!codes.contains(&"parser_panicked".to_owned()), "{name}");
    assert!(!document.blocks.is_empty() || !codes.is_empty(), "{name}");
    codes
}

/// Writes a zip file whose entries are deflated.
fn deflated(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut file = Vec::new();
    for (name, content) in entries {
        let mut packer =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(content).unwrap();
        let packed = packer.finish().unwrap();
        file.extend_from_slice(b"PK\x03\x04\x14\0\0\x08\x08\0\0\0\0\0\0\0\0\0");
        file.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        file.extend_from_slice(&(content.len() as u32).to_le_bytes());
        file.extend_from_slice(&(name.len() as u16).to_le_bytes());
        file.extend_from_slice(&[0, 0]);
        file.extend_from_slice(name.as_bytes());
        file.extend_from_slice(&packed);
    }
    // Without a directory: entries are found by their own headers.
    file
}

#[test]
fn a_bomb_stops_at_the_expansion_cap() {
    let bomb = deflated(&[("zeros.txt", vec![b'0'; 64 << 20])]);
    assert!(codes(&bomb, "bomb.zip", &small_caps()).contains(&"expansion_cap".to_owned()));
    let nested = deflated(&[("inner.zip", bomb.repeat(4))]);
    assert!(codes(&nested, "bomb.zip", &small_caps()).contains(&"expansion_cap".to_owned()));
}

#[test]
fn archives_in_archives_stop_at_the_nesting_cap() {
    let mut archive = fixtures::zip_of(&[("deepest.txt", b"never read")]);
    for _ in 0..10 {
        archive = fixtures::zip_of(&[("inner.zip", &archive)]);
    }
    assert!(codes(&archive, "a.zip", &small_caps()).contains(&"nesting_cap".to_owned()));
}

#[test]
fn deep_elements_stop_at_the_nesting_cap() {
    let deep = format!("<?xml version='1.0'?>{}x{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(codes(deep.as_bytes(), "a.xml", &small_caps()).contains(&"nesting_cap".to_owned()));
    let html = format!("<html>{}x", "<div><b><table><tr><td>".repeat(50_000));
    codes(html.as_bytes(), "a.html", &small_caps());
    let json = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    codes(json.as_bytes(), "a.json", &small_caps());
    let rtf = format!("{{\\rtf1 {}x", "{".repeat(100_000));
    assert!(codes(rtf.as_bytes(), "a.rtf", &small_caps()).contains(&"nesting_cap".to_owned()));
    let pdf =
        format!("%PDF-1.4\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>", "[<<".repeat(100_000));
    codes(pdf.as_bytes(), "a.pdf", &small_caps());
}

#[test]
fn long_blank_stretches_cost_linear_time() {
    // Each of these once was looked at again for every tag or quote behind it.
    let caps = Caps { time: Duration::from_secs(600), ..small_caps() };
    let blank = " \n".repeat(200_000);
    let rows = format!("<?xml version='1.0'?><row>{blank}{}</row>", "<c> </c>".repeat(200_000));
    codes(rows.as_bytes(), "a.xml", &caps);
    let quotes = format!("{}x{}", " ".repeat(400_000), "\"".repeat(400_000));
    codes(quotes.as_bytes(), "a.csv", &caps);
    codes("\\[ ".repeat(200_000).as_bytes(), "a.tex", &caps);
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]><l>words &c; words</l>";
    let caps = small_caps();
    let (document, warnings) = extract(bomb.as_bytes(), "a.xml", &caps);
    assert_eq!(document.text(), "words words");
    assert_eq!(warnings[0].code, "entities_not_expanded");
}

#[test]
fn long_texts_stop_at_the_output_cap() {
    let caps = Caps { output_bytes: 1000, ..small_caps() };
    let text = "words and words\n\n".repeat(1000);
    assert_eq!(codes(text.as_bytes(), "a.txt", &caps), ["output_cap"]);
}

#[test]
fn time_stops_a_reader() {
    let caps = Caps { time: Duration::ZERO, ..small_caps() };
    for (name, bytes) in fixtures::all() {
        assert!(codes(&bytes, name, &caps).contains(&"time_cap".to_owned()), "{name}");
    }
}

#[test]
fn objects_that_lead_to_themselves_end() {
    let mut pdf = fixtures::PdfBuilder::default();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object("<</Type/Pages/Kids[2 0 R 3 0 R 3 0 R]/Count 9>>");
    pdf.object("<</Type/Page/Contents[4 0 R 5 0 R]/Resources 6 0 R>>");
    pdf.stream("", b"/Fm Do BT /F 9 Tf (text) Tj ET /Fm Do");
    pdf.object("5 0 R");
    pdf.object("<</XObject<</Fm 7 0 R>>/Font<</F 8 0 R>>>>");
    pdf.stream("/Subtype/Form/Resources 6 0 R", b"/Fm Do /Fm Do BT /F 9 Tf (form) Tj ET");
    pdf.object("<</Subtype/Type0/DescendantFonts[8 0 R]/Encoding 9 0 R>>");
    pdf.stream("/Length 9 0 R/UseCMap 9 0 R", b"");
    codes(&pdf.build("/Root 1 0 R/Prev 9"), "a.pdf", &small_caps());
}

#[test]
fn sheets_that_claim_to_be_huge_cost_nothing() {
    codes(&fixtures::xlsx(), "a.xlsx", &small_caps());
    codes(&fixtures::ods(), "a.ods", &small_caps());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn cut_anywhere_nothing_panics(share in 0.0_f64..1.0) {
        for (name, bytes) in fixtures::all() {
            let length = (bytes.len() as f64 * share) as usize;
            codes(&bytes[..length], name, &small_caps());
        }
    }

    #[test]
    fn changed_anywhere_nothing_panics(
        changes in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 1..24),
    ) {
        for (name, mut bytes) in fixtures::all() {
            for (share, byte) in &changes {
                let at = (bytes.len() as f64 * share) as usize;
                bytes[at] = *byte;
            }
            codes(&bytes, name, &small_caps());
        }
    }

    #[test]
    fn pieces_put_together_nothing_panics(
        first in 0_usize..24, second in 0_usize..24, share in 0.0_f64..1.0,
    ) {
        let all = fixtures::all();
        let (name, one) = &all[first % all.len()];
        let (_, other) = &all[second % all.len()];
        let at = (one.len() as f64 * share) as usize;
        let bytes = [&one[..at], other.as_slice(), &one[at..]].concat();
        codes(&bytes, name, &small_caps());
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..4096), name in "[a-z]\\.(pdf|docx|xls|doc|ppt|rtf|html|csv|json|eml|tex|md|zip|msg)") {
        codes(&bytes, &name, &small_caps());
    }
}

#[test]
fn a_cell_that_points_outside_of_its_workbook_leaves_the_cells_before_it() {
    let whole = fixtures::xlsb(0);
    assert_eq!(codes(&whole, "book.xlsb", &small_caps()), Vec::<String>::new());
    let bad = fixtures::xlsb(7);
    assert_eq!(codes(&bad, "book.xlsb", &small_caps()), ["broken"]);
    assert!(extract(&bad, "book.xlsb", &small_caps()).0.text().contains("kept"));
}
