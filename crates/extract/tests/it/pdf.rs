//! PDF: files that are damaged or built in other ways, and text that is drawn in odd ways.

use std::io::Write;

use extract::{Caps, extract};

use crate::fixtures::PdfBuilder;

/// One page with this content, Helvetica as `F` and a font of two-byte codes as `J`, in which a
/// code is the UTF-16 unit it stands for.
fn page(content: &str) -> PdfBuilder {
    let mut pdf = PdfBuilder::default();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
    pdf.object("<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R/J 6 0 R/V 7 0 R>>>>>>");
    pdf.stream("", content.as_bytes());
    pdf.object("<</Subtype/Type1/BaseFont/Helvetica>>");
    pdf.object(
        "<</Subtype/Type0/Encoding/UniJIS-UCS2-H/DescendantFonts[<</Subtype/CIDFontType0>>]>>",
    );
    pdf.object(
        "<</Subtype/Type0/Encoding/UniJIS-UCS2-V/DescendantFonts[<</Subtype/CIDFontType0>>]>>",
    );
    pdf
}

fn hex(text: &str) -> String {
    let digits: String = text.encode_utf16().map(|unit| format!("{unit:04x}")).collect();
    format!("<{digits}>")
}

fn read(bytes: &[u8]) -> (String, Vec<String>) {
    let (document, warnings) = extract(bytes, "a.pdf", &Caps::standard());
    (document.text(), warnings.into_iter().map(|warning| warning.code).collect())
}

#[track_caller]
fn check(content: &str, expected: &str) {
    let (text, warnings) = read(&page(content).build("/Root 1 0 R"));
    assert_eq!((text.as_str(), warnings), (expected, Vec::new()));
}

#[test]
fn gaps_are_spaces_and_kerning_is_not() {
    check("BT /F 10 Tf 9 9 Td [(Ker)-30(ning)-300(and gaps)] TJ ET", "Kerning and gaps");
    check("BT /F 10 Tf 9 9 Td (one) Tj 22 0 Td (two) Tj ET", "one two");
    check("BT /F 10 Tf 1 Tc 9 9 Td (wide set) Tj ET", "wide set");
}

#[test]
fn lines_join_into_paragraphs() {
    check(
        "BT /F 10 Tf 12 TL 9 99 Td (The first line of this para-) Tj T* (graph is followed by one) Tj T* (more.) Tj ET",
        "The first line of this paragraph is followed by one more.",
    );
    check(
        "BT /F 10 Tf 9 99 Td (One paragraph.) Tj 0 -30 Td (Another one.) Tj ET",
        "One paragraph.\n\nAnother one.",
    );
}

#[test]
fn lines_of_japanese_join_without_spaces() {
    let content = format!(
        "BT /J 10 Tf 14 TL 9 99 Td {} Tj T* {} Tj ET",
        hex("東京都の予算は前年"),
        hex("度に比べて増加した")
    );
    check(&content, "東京都の予算は前年度に比べて増加した");
}

#[test]
fn vertical_text_reads_down_its_columns() {
    let content = format!(
        "BT /V 10 Tf 99 99 Td {} Tj -14 0 Td {} Tj ET",
        hex("縦書きの文"),
        hex("章である。")
    );
    check(&content, "縦書きの文章である。");
}

#[test]
fn hebrew_is_kept_as_it_is_read() {
    // Drawn from left to right, as it stands on paper.
    let drawn: String = "שלום עולם 12".chars().rev().collect();
    let drawn = drawn.replace("21", "12");
    check(&format!("BT /J 10 Tf 9 99 Td {} Tj ET", hex(&drawn)), "שלום עולם 12");
}

#[test]
fn what_is_drawn_twice_is_read_once() {
    check("BT /F 10 Tf 9 9 Td (bold) Tj ET BT /F 10 Tf 9.2 9 Td (bold) Tj ET", "bold");
    check("BT /F 10 Tf 9 9 Td (will all accesses) Tj ET", "will all accesses");
}

#[test]
fn notes_are_apart_from_the_word_they_stand_at() {
    check(
        "BT /F 10 Tf 9 9 Td (Spain) Tj /F 6 Tf 3.5 Ts (3) Tj 0 Ts /F 10 Tf ( and) Tj ET",
        "Spain 3 and",
    );
}

#[test]
fn replacement_text_stands_for_what_is_drawn() {
    check("/Span <</ActualText(whole)>> BDC BT /F 9 Tf 9 9 Td (wh) Tj (le) Tj ET EMC", "whole");
}

#[test]
fn pictures_in_the_stream_are_skipped() {
    check("BI /W 1 /H 1 ID \u{1}(Tj) EI\nBT /F 9 Tf 9 9 Td (after) Tj ET", "after");
}

#[test]
fn a_wrong_table_is_mended() {
    let whole = page("BT /F 9 Tf 9 9 Td (found) Tj ET").build("/Root 1 0 R");
    let text = String::from_utf8(whole).unwrap();
    for damaged in [
        text.replace("startxref\n", "startxref\n9"),
        text.replace(" 00000 n", " 00001 n").replace("0000000009", "0000000019"),
        text.split("xref").next().unwrap().to_owned(),
        format!("garbage before\n{text}"),
        text.replace("/Length 31", "/Length 99999"),
    ] {
        let (text, _) = read(damaged.as_bytes());
        assert_eq!(text, "found");
    }
}

#[test]
fn packed_objects_and_tables_are_read() {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(b"BT /F 9 Tf 9 9 Td (packed) Tj ET").unwrap();
    let content = packer.finish().unwrap();
    let objects = "1 0 2 29 3 74 5 160 <</Type/Catalog/Pages 2 0 R>> <</Type/Pages/Kids[3 0 R]/Count 1>>           <</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>                           <</Subtype/Type1/BaseFont/Helvetica>>";
    let first = objects.find("<<").unwrap();
    let mut file = b"%PDF-1.5\n".to_vec();
    let content_at = file.len();
    writeln!(file, "4 0 obj <</Filter/FlateDecode/Length {}>> stream", content.len()).unwrap();
    file.extend_from_slice(&content);
    file.extend_from_slice(b"\nendstream endobj\n");
    let container_at = file.len();
    write!(
        file,
        "6 0 obj <</Type/ObjStm/N 4/First {first}/Length {}>> stream\n{objects}\nendstream endobj\n",
        objects.len()
    )
    .unwrap();
    let table_at = file.len();
    let mut table = Vec::new();
    for (kind, place) in
        [(0, 0), (2, 6), (2, 6), (2, 6), (1, content_at), (2, 6), (1, container_at), (1, table_at)]
    {
        table.extend_from_slice(&[kind, (place >> 8) as u8, place as u8, 0]);
    }
    writeln!(
        file,
        "7 0 obj <</Type/XRef/Size 8/W[1 2 1]/Root 1 0 R/Length {}>> stream",
        table.len()
    )
    .unwrap();
    file.extend_from_slice(&table);
    write!(file, "\nendstream endobj\nstartxref\n{table_at}\n%%EOF").unwrap();
    assert_eq!(read(&file), ("packed".to_owned(), Vec::new()));
    // The same without its table, which leaves the objects to be searched.
    let cut = &file[..table_at];
    assert_eq!(read(cut).0, "packed");
}

/// Files whose fonts give numbers of glyphs and nothing else gave no text, or text like `9ROXPHV`.
#[test]
fn glyphs_in_the_usual_order_are_read_where_the_font_says_nothing() {
    let text = "The volumes of the library are listed in the catalogue of the harbour";
    let numbers = |text: &str| -> String {
        text.chars().map(|char| format!("{:04x}", char as u32 - 29)).collect()
    };
    let read_with = |font: &str, shown: &str| {
        let mut pdf = PdfBuilder::default();
        pdf.object("<</Type/Catalog/Pages 2 0 R>>");
        pdf.object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
        pdf.object("<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>");
        pdf.stream("", format!("BT /F 10 Tf 9 9 Td {shown} Tj ET").as_bytes());
        pdf.object(font);
        read(&pdf.build("/Root 1 0 R"))
    };
    let wide = "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2>>]>>";
    let found = read_with(wide, &format!("<{}>", numbers(text)));
    assert_eq!(found, (text.to_owned(), Vec::new()));
    // Numbers that are no text in this order stay unknown.
    let noise: String = (0..60).map(|n| format!("{:04x}", 60 + n * 7 % 40)).collect();
    assert_eq!(read_with(wide, &format!("<{noise}>")).0, "");
    assert_eq!(read_with(wide, &format!("<{}>", numbers("Volumes"))).0, "");
    // A font of single bytes that has no encoding: its bytes were read as characters.
    let narrow = "<</Subtype/TrueType/BaseFont/ABCDEF+Some>>";
    let bytes: String = text.chars().map(|char| format!("{:02x}", char as u32 - 29)).collect();
    let (found, _) = read_with(narrow, &format!("<{bytes}>"));
    let letters = |text: &str| text.replace(' ', "");
    assert_eq!(letters(&found), letters(text));
    // What reads well as it is stays, in capitals too.
    let plain: String = text.to_uppercase().bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(read_with(narrow, &format!("<{plain}>")).0, text.to_uppercase());
}
