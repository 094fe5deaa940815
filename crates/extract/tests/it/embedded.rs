//! Documents and formulas inside other documents are read; so are comments in rich text.

use extract::{Caps, extract};

use crate::fixtures::{self, PdfBuilder};

#[track_caller]
fn check(bytes: &[u8], name: &str, expected: &str) {
    let (document, warnings) = extract(bytes, name, &Caps::standard());
    assert_eq!(warnings, []);
    let shown: Vec<String> =
        document.blocks.iter().map(|block| format!("{}: {}", block.pointer, block.text)).collect();
    assert!(shown.iter().any(|block| block == expected), "{shown:?}");
}

#[test]
fn a_document_inside_a_word_document_is_read() {
    let relations = "<Relationships><Relationship Id='r1' Type='http://x/package' Target='embeddings/inner.docx'/></Relationships>";
    let inner = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        (
            "word/document.xml",
            b"<w:document><w:body><w:p><w:r><w:t>Within</w:t></w:r></w:p></w:body></w:document>",
        ),
    ]);
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<w:document><w:body/></w:document>"),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/embeddings/inner.docx", &inner),
    ]);
    check(&file, "a.docx", "inner.docx > whole: Within");
}

#[test]
fn formulas_of_open_documents_are_read() {
    let formula = "<math xmlns='http://www.w3.org/1998/Math/MathML'><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi></mrow><annotation encoding='StarMath 5.0'>E = m</annotation></semantics></math>";
    let file = fixtures::zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", b"<office:document-content><office:body><office:text/></office:body></office:document-content>"),
        ("Object 1/content.xml", formula.as_bytes()),
        ("META-INF/manifest.xml", b"<manifest/>"),
    ]);
    check(&file, "a.odt", "whole: E = m");
}

#[test]
fn comments_in_rich_text_are_read() {
    let mut pdf = PdfBuilder::default();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
    pdf.object("<</Type/Page/Parent 2 0 R/Annots[<</Subtype/Text/RC(<body><p>Rich <b>words</b></p></body>)>>]>>");
    check(&pdf.build("/Root 1 0 R"), "a.pdf", "page 1: Rich words");
}
