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
fn numbers_of_an_open_document_are_those_of_the_styles_of_its_lists() {
    let item = |text: &str, inner: &str| {
        format!("<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>")
    };
    let list =
        |attributes: &str, items: &str| format!("<text:list {attributes}>{items}</text:list>");
    let first = item("a", &list("", &(item("b", "") + &item("c", "")))) + &item("d", "");
    let body = [
        list("text:style-name='L1'", &first),
        list("text:style-name='L1' text:continue-numbering='true'", &item("e", "")),
        list("text:style-name='L1'", &item("f", "")),
        list("text:style-name='L2'", &item("g", &list("", &item("h", "")))),
    ]
    .concat();
    let numbered = "<text:list-style style:name='L1'><text:list-level-style-number text:level='1' \
                    style:num-format='1' style:num-suffix='.'/><text:list-level-style-number \
                    text:level='2' style:num-format='a' style:num-suffix=')'/></text:list-style>";
    let named = "<office:document-styles><office:styles><text:list-style style:name='L2'>\
                 <text:list-level-style-bullet text:level='1'/><text:list-level-style-number \
                 text:level='2' style:num-format='I' text:start-value='4' style:num-prefix='('\
                 style:num-suffix=')'/></text:list-style></office:styles></office:document-styles>";
    let content = format!(
        "<office:document-content><office:automatic-styles>{numbered}</office:automatic-styles>\
         <office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let file = fixtures::zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.as_bytes()),
        ("styles.xml", named.as_bytes()),
    ]);
    let expected = ["1. a", "  a) b", "  b) c", "2. d", "3. e", "1. f", "- g", "  (IV) h"];
    check(&file, "a.odt", &expected);
}

#[test]
fn numbers_and_levels_of_a_rich_text_are_kept() {
    let item = |mark: &str, level: u8, text: &str| {
        format!(r"{{\listtext\pard\plain {mark}\tab}}\pard\plain\ls1\ilvl{level} {text}\par")
    };
    let body = [
        item("1.", 0, "a"),
        item("a)", 1, "b"),
        item(r"\'b7", 1, "c"),
        item("2.", 0, "d"),
        r"\pard\plain e\par".to_owned(),
    ]
    .join("\n");
    let file = format!(r"{{\rtf1\ansi {body}}}");
    check(file.as_bytes(), "a.rtf", &["1. a", "  a) b", "  - c", "2. d", "e"]);
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

#[test]
fn numbers_of_a_slide_go_on_behind_deeper_ones() {
    let numbered = |level: usize, format: &str, text: &str| {
        format!(
            "<a:p><a:pPr lvl='{level}'><a:buAutoNum type='{format}'/></a:pPr><a:r><a:t>{text}\
             </a:t></a:r></a:p>"
        )
    };
    let plain = "<a:p><a:r><a:t>x</a:t></a:r></a:p>";
    let body = [
        numbered(0, "arabicPeriod", "a"),
        numbered(1, "alphaLcParenR", "b"),
        numbered(1, "alphaLcParenR", "c"),
        numbered(0, "arabicPeriod", "d"),
        numbered(1, "alphaLcParenR", "e"),
        plain.to_owned(),
        numbered(0, "arabicPeriod", "f"),
        "<a:p><a:pPr><a:buAutoNum type='romanUcPeriod' startAt='4'/></a:pPr><a:r><a:t>g</a:t></a:r>\
         </a:p>"
            .to_owned(),
    ];
    let slide = format!(
        "<p:sld><p:cSld><p:spTree><p:sp><p:txBody>{}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
        body.concat()
    );
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("ppt/presentation.xml", b"<p:presentation/>"),
        ("ppt/slides/slide1.xml", slide.as_bytes()),
    ]);
    let expected = ["1. a", "  a) b", "  b) c", "2. d", "  a) e", "x", "1. f", "IV. g"];
    check(&file, "a.pptx", &expected);
}

/// Some programs write the list of a paragraph before its style, a list can begin anew where its
/// abstract list goes on, and list 0 is none.
#[test]
fn lists_of_a_word_document_are_those_of_their_paragraphs() {
    let level = |at: u8, format: &str, pattern: &str| {
        format!(
            "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/>\
             <w:lvlText w:val='{pattern}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering><w:abstractNum w:abstractNumId='1'>{}{}</w:abstractNum>\
         <w:num w:numId='7'><w:abstractNumId w:val='1'/></w:num>\
         <w:num w:numId='8'><w:abstractNumId w:val='1'/><w:lvlOverride w:ilvl='0'>\
         <w:startOverride w:val='1'/></w:lvlOverride></w:num>\
         <w:num w:numId='1'><w:abstractNumId w:val='1'/><w:lvlOverride w:ilvl='0'>{}</w:lvlOverride>\
         </w:num></w:numbering>",
        level(0, "decimal", "%1."),
        level(1, "lowerLetter", "%2)"),
        level(0, "upperRoman", "%1)"),
    );
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='Compact'><w:name w:val='Compact'/>\
                  </w:style><w:style w:type='paragraph' w:styleId='ListNumber'>\
                  <w:name w:val='List Number'/><w:pPr><w:numPr><w:numId w:val='7'/></w:numPr></w:pPr>\
                  </w:style></w:styles>";
    let item = |list: u8, level: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr>\
             <w:pStyle w:val='Compact'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let taken_out = "<w:p><w:pPr><w:pStyle w:val='ListNumber'/><w:numPr><w:numId w:val='0'/></w:numPr>\
                     </w:pPr><w:r><w:t>g</w:t></w:r></w:p>";
    let body = [
        item(7, 0, "a"),
        item(7, 1, "b"),
        item(7, 0, "c"),
        item(8, 0, "d"),
        item(8, 0, "e"),
        item(1, 0, "f"),
        taken_out.to_owned(),
    ]
    .concat();
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
        ("word/numbering.xml", numbering.as_bytes()),
    ]);
    check(&file, "a.docx", &["1. a", "  a) b", "2. c", "1. d", "2. e", "III) f", "g"]);
}

/// Word's own list styles are lists of one level each: their names say how deep they are.
#[test]
fn the_name_of_a_list_style_says_its_level() {
    let style = |id: &str, name: &str, list: u8| {
        format!(
            "<w:style w:type='paragraph' w:styleId='{id}'><w:name w:val='{name}'/><w:pPr><w:numPr>\
             <w:numId w:val='{list}'/></w:numPr></w:pPr></w:style>"
        )
    };
    let own = "<w:style w:type='paragraph' w:styleId='Own'><w:name w:val='Own 7'/>\
               <w:basedOn w:val='ListBullet3'/></w:style>";
    let styles = [
        "<w:styles>".to_owned(),
        style("ListBullet", "List Bullet", 1),
        style("ListBullet2", "List Bullet 2", 2),
        style("ListBullet3", "List Bullet 3", 3),
        own.to_owned(),
        "</w:styles>".to_owned(),
    ]
    .concat();
    let item = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        item("ListBullet", "a"),
        item("ListBullet2", "b"),
        item("ListBullet3", "c"),
        item("Own", "d"),
        item("ListBullet", "e"),
    ]
    .concat();
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ]);
    check(&file, "a.docx", &["- a", "  - b", "    - c", "    - d", "- e"]);
}
