//! The level of an item in its list can be seen in the text, whatever the format.

use extract::{Caps, extract};

use crate::fixtures;

#[track_caller]
fn check(file: &[u8], name: &str, expected: &[&str]) {
    let (document, _) = extract(file, name, &Caps::standard());
    let texts: Vec<&str> = document.blocks.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, expected);
}

#[test]
fn lists_inside_lists_are_indented() {
    let item = |text: &str, inner: &str| {
        format!("<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>")
    };
    let list = |items: &str| format!("<text:list>{items}</text:list>");
    let body = list(&(item("a", &list(&item("b", &list(&item("c", ""))))) + &item("d", "")));
    let content = format!(
        "<office:document-content><office:body><office:text>{body}</office:text></office:body>\
         </office:document-content>"
    );
    let file = fixtures::zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.as_bytes()),
    ]);
    check(&file, "a.odt", &["- a", "  - b", "    - c", "- d"]);
}

#[test]
fn levels_of_a_slide_are_indented() {
    let paragraph = |level: usize, text: &str| {
        format!("<a:p><a:pPr lvl='{level}'/><a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let body = [paragraph(0, "a"), paragraph(1, "b"), paragraph(2, "c"), paragraph(0, "d")];
    let slide = format!(
        "<p:sld><p:cSld><p:spTree><p:sp><p:txBody>{}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
        body.concat()
    );
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("ppt/presentation.xml", b"<p:presentation/>"),
        ("ppt/slides/slide1.xml", slide.as_bytes()),
    ]);
    check(&file, "a.pptx", &["a", "  - b", "    - c", "d"]);
}

#[test]
fn the_level_of_a_style_counts_in_a_word_document() {
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='Inner'><w:name w:val='Inner'/>\
                  <w:pPr><w:numPr><w:ilvl w:val='1'/><w:numId w:val='1'/></w:numPr></w:pPr>\
                  </w:style></w:styles>";
    let outer = "<w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>";
    let inner = "<w:pStyle w:val='Inner'/><w:numPr/>";
    let item = |properties: &str, text: &str| {
        format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = item(outer, "a") + &item(inner, "b");
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ]);
    check(&file, "a.docx", &["- a", "  - b"]);
}
