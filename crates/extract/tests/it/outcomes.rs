//! Every file has one outcome with a reason: `Indexed` exactly when there is text, and a sentence
//! with particulars when there is none.

use std::time::Duration;

use extract::{Caps, extract};
use model::ReadOutcome;

use crate::fixtures::{self, PdfBuilder, zip_of};

#[track_caller]
fn check(bytes: &[u8], name: &str, caps: &Caps, outcome: ReadOutcome, reason: &str) {
    let (document, _) = extract(bytes, name, caps);
    assert_eq!(document.outcome, outcome, "{name}: {:?}", document.reason);
    assert_eq!(document.blocks.is_empty(), !outcome.has_text(), "{name}");
    let told = document.reason.unwrap_or_default();
    assert!(told.contains(reason), "{name}: `{told}` does not say `{reason}`");
}

/// One page with the content and the resources.
fn pdf_page(resources: &str, content: &[u8]) -> Vec<u8> {
    let mut pdf = PdfBuilder::default();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object(&format!("<</Type/Pages/Kids[3 0 R]/Count 1/Resources<<{resources}>>>>"));
    pdf.object("<</Type/Page/Parent 2 0 R/Contents 4 0 R>>");
    pdf.stream("", content);
    pdf.stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8", b"\0");
    pdf.object("<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/DW 1000>>]>>");
    pdf.build("/Root 1 0 R")
}

#[test]
fn every_fixture_is_indexed_without_a_reason() {
    for (name, bytes) in fixtures::all() {
        let (document, _) = extract(&bytes, name, &Caps::standard());
        assert_eq!((document.outcome, document.reason), (ReadOutcome::Indexed, None), "{name}");
    }
}

#[test]
fn what_gives_no_text_says_why() {
    let caps = Caps::standard();
    check(b"", "a.txt", &caps, ReadOutcome::Empty, "empty");
    check(b" \n\t\n", "a.md", &caps, ReadOutcome::Empty, "white space");
    check(b"<html><body></body></html>", "a.html", &caps, ReadOutcome::NoText, "html");
    check(b"\x89PNG\r\n\x1a\n\0\0", "a.png", &caps, ReadOutcome::Image, "PNG");
    check(b"\0\0\0\x20ftypheic\0\0", "a.heic", &caps, ReadOutcome::Image, "HEIF");
    check(b"RIFF\x10\0\0\0WEBPVP8 ", "a.webp", &caps, ReadOutcome::Image, "WebP");
    check(b"\0\0\0\x20ftypmp42\0\0", "a.mp4", &caps, ReadOutcome::Unsupported, "video");
    check(b"\x7fELF\x02\x01\0\0", "a", &caps, ReadOutcome::Unsupported, "program");
    check(&[1, 2, 3, 4, 5, 6, 7, 8], "a.txt", &caps, ReadOutcome::Noise, "not text");
    // A file of which too little arrived is broken, whatever its name says that it is.
    for name in ["a.doc", "a.xls", "a.ppt", "a.msg"] {
        let cut = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
        check(cut, name, &caps, ReadOutcome::Broken, "damaged");
    }
    check(b"PK\x03\x04 cut", "a.docx", &caps, ReadOutcome::Broken, "damaged");
    check(b"%PDF-1.7 and no more", "a.pdf", &caps, ReadOutcome::Broken, "damaged");
    let scan = pdf_page("/XObject<</P 5 0 R>>", b"/P Do");
    check(&scan, "scan.pdf", &caps, ReadOutcome::Scan, "1 of 1 pages are pictures");
    let inline = pdf_page("", b"BI /W 1 /H 1 ID \0 EI");
    check(&inline, "inline.pdf", &caps, ReadOutcome::Scan, "1 of 1 pages are pictures");
    let unmapped = pdf_page("/Font<</F 6 0 R>>", b"BT /F 10 Tf 9 9 Td <00010002> Tj ET");
    check(&unmapped, "fonts.pdf", &caps, ReadOutcome::Noise, "fonts");
    let blank = pdf_page("", b"0 0 10 10 re f");
    check(&blank, "blank.pdf", &caps, ReadOutcome::NoText, "pdf");
}

/// Pictures and no text are a scan, whatever they are in; a blank document is none.
#[test]
fn documents_of_pictures_say_so() {
    let caps = Caps::standard();
    let types: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");
    let blank: (&str, &[u8]) = ("word/document.xml", b"<w:document><w:body/></w:document>");
    let picture: (&str, &[u8]) = ("word/media/image1.png", b"png");
    check(&zip_of(&[types, blank]), "a.docx", &caps, ReadOutcome::NoText, "holds no text");
    let docx = zip_of(&[types, blank, picture]);
    check(&docx, "a.docx", &caps, ReadOutcome::Scan, "1 picture and no text");
    let slides = zip_of(&[
        types,
        ("ppt/presentation.xml", b"<p:presentation/>"),
        ("ppt/slides/slide1.xml", b"<p:sld/>"),
        ("ppt/media/image1.png", b"png"),
        ("ppt/media/image2.png", b"png"),
    ]);
    check(&slides, "a.pptx", &caps, ReadOutcome::Scan, "2 pictures and no text");
    let odt = zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", b"<office:document-content/>"),
        ("Pictures/", b""),
        ("Pictures/1.jpg", b"jpg"),
    ]);
    check(&odt, "a.odt", &caps, ReadOutcome::Scan, "1 picture and no text");
    let rtf = b"{\\rtf1 {\\pict\\pngblip 89504e47}}";
    check(rtf, "a.rtf", &caps, ReadOutcome::Scan, "1 picture and no text");
}

/// What an XML document says in attributes alone is read as it is written; a drawing says nothing.
#[test]
fn attributes_are_read_where_there_is_nothing_else() {
    let caps = Caps::standard();
    let settings = b"<settings>\n  <add key='RetryTimeout' value='30'/>\n</settings>";
    let (document, _) = extract(settings, "web.config.xml", &caps);
    assert_eq!(document.outcome, ReadOutcome::Indexed);
    assert!(document.text().contains("RetryTimeout"), "{}", document.text());
    let both = b"<a><b key='attribute'/><c>Words.</c></a>";
    assert_eq!(extract(both, "a.xml", &caps).0.text(), "Words.");
    let drawing = b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M 1 2 3'/></svg>";
    check(drawing, "a.svg", &caps, ReadOutcome::Image, "drawing");
}

#[test]
fn codes_are_the_serialized_form() {
    for outcome in ReadOutcome::ALL {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.code());
    }
}

#[test]
fn limits_without_text_are_too_large() {
    let caps = Caps { input_bytes: 3, ..Caps::standard() };
    check(b"some text", "a.txt", &caps, ReadOutcome::TooLarge, "3 bytes for a file");
    let caps = Caps { time: Duration::ZERO, ..Caps::standard() };
    check(b"some text", "a.txt", &caps, ReadOutcome::TooLarge, "0 ms");
    // What was read before the limit counts.
    let caps = Caps { output_bytes: 4, ..Caps::standard() };
    check(b"some text", "a.txt", &caps, ReadOutcome::Indexed, "");
}

#[test]
fn pictures_beside_text_are_no_scan() {
    let both = pdf_page(
        "/XObject<</P 5 0 R>>/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>",
        b"/P Do BT /F 10 Tf 72 700 Td (Words) Tj ET",
    );
    check(&both, "both.pdf", &Caps::standard(), ReadOutcome::Indexed, "");
}
