//! Pages of Word documents: by breaks put in by hand, by paragraphs and sections that start one,
//! and by the marks of the last layout, each page counted once.

use extract::{Caps, extract};

use crate::fixtures;

const BREAK: &str = "<w:p><w:r><w:br w:type='page'/></w:r></w:p>";
const LAID_OUT: &str = "<w:r><w:lastRenderedPageBreak/></w:r>";

fn paragraph(before: &str, text: &str) -> String {
    format!("<w:p>{before}<w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn section(kind: &str) -> String {
    format!("<w:sectPr><w:type w:val='{kind}'/></w:sectPr>")
}

/// Checks the places of the paragraphs, such as `one@page 1 two@page 2`.
#[track_caller]
fn check(body: &str, expected: &str) {
    check_with_styles("", body, expected);
}

#[track_caller]
fn check_with_styles(styles: &str, body: &str, expected: &str) {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let styles = format!("<w:styles>{styles}</w:styles>");
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/styles.xml", styles.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ]);
    let (document, warnings) = extract(&file, "a.docx", &Caps::standard());
    assert_eq!(warnings, []);
    let places: Vec<String> =
        document.blocks.iter().map(|block| format!("{}@{}", block.text, block.pointer)).collect();
    assert_eq!(places.join(" "), expected);
}

#[test]
fn without_marks_no_page_is_named() {
    check(&(paragraph("", "one") + &paragraph("", "two")), "one@whole two@whole");
    // Every document ends with the properties of its last section.
    check(&(paragraph("", "one") + &section("nextPage")), "one@whole");
}

#[test]
fn breaks_by_hand_start_pages() {
    let body = paragraph("", "one")
        + BREAK
        + &paragraph("", "two")
        + BREAK
        + BREAK
        + &paragraph("", "four");
    check(&body, "one@page 1 two@page 2 four@page 4");
}

#[test]
fn a_break_by_hand_and_its_mark_are_one_page() {
    let body =
        paragraph("", "one") + BREAK + &paragraph(LAID_OUT, "two") + &paragraph(LAID_OUT, "three");
    check(&body, "one@page 1 two@page 2 three@page 3");
}

#[test]
fn paragraphs_that_start_a_page_do_so_once() {
    let starts = "<w:pPr><w:pageBreakBefore/></w:pPr>";
    let does_not = "<w:pPr><w:pageBreakBefore w:val='0'/></w:pPr>";
    let body = paragraph(starts, "one")
        + &paragraph(&format!("{starts}{LAID_OUT}"), "two")
        + &paragraph(does_not, "still")
        + BREAK
        + &paragraph(starts, "three");
    check(&body, "one@page 1 two@page 2 still@page 2 three@page 3");
}

#[test]
fn sections_begin_as_their_own_properties_say() {
    let ends = |kind: &str| format!("<w:pPr>{}</w:pPr>", section(kind));
    // The first section's kind says nothing; the second is continuous, the third is not.
    let body = paragraph(&ends("nextPage"), "one")
        + &paragraph(&ends("continuous"), "still")
        + &paragraph(LAID_OUT, "two")
        + &section("oddPage");
    check(&body, "one@page 1 still@page 1 two@page 2");
}

/// All rows of a table were on the page where it ends.
#[test]
fn rows_are_on_the_page_where_they_begin() {
    let cell = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let row = |before: &str, text: &str| {
        let first = cell(&paragraph(before, text));
        format!("<w:tr>{first}{}</w:tr>", cell(&paragraph("", "x")))
    };
    // The fourth row begins on page 2 and goes on over page 3.
    let long = format!(
        "<w:tr>{}{}</w:tr>",
        cell(&paragraph("", "d")),
        cell(&format!("<w:p><w:r><w:t>d1 </w:t></w:r>{LAID_OUT}<w:r><w:t>d2</w:t></w:r></w:p>"))
    );
    let rows = row("", "a") + &row("", "b") + &row(LAID_OUT, "c") + &long + &row("", "e");
    let body = paragraph("", "one") + &format!("<w:tbl>{rows}</w:tbl>") + &paragraph("", "three");
    let expected =
        "one@page 1 a | x\nb | x@page 1 c | x\nd | d1 d2@page 2 e | x@page 3 three@page 3";
    check(&body, expected);
    let body = paragraph("", "one") + &format!("<w:tbl>{}</w:tbl>", row("", "a"));
    check(&body, "one@whole a | x@whole");
}

#[test]
fn what_follows_a_break_inside_a_paragraph_is_on_the_next_page() {
    let broken = |properties: &str| {
        format!(
            "<w:p>{properties}<w:r><w:t>one</w:t><w:br w:type='page'/><w:t>two</w:t></w:r></w:p>"
        )
    };
    let rest = paragraph("", "three");
    check(&(broken("") + &rest), "one@page 1 two@page 2 three@page 2");
    // The section ends with the whole paragraph.
    let ends = format!("<w:pPr>{}</w:pPr>", section("nextPage"));
    let body = broken(&ends) + &rest + &section("nextPage");
    check(&body, "one@page 1 two@page 2 three@page 3");
}

/// Templates let chapters begin a page by their style, which only the styles say.
#[test]
fn styles_that_start_a_page_do_so_for_their_paragraphs() {
    let style = |id: &str, properties: &str, parent: &str| {
        format!(
            "<w:style w:styleId='{id}'><w:name w:val='{id}'/><w:basedOn w:val='{parent}'/>\
             <w:pPr>{properties}</w:pPr></w:style>"
        )
    };
    let styles = style("Chapter", "<w:pageBreakBefore/>", "")
        + &style("Part", "", "Chapter")
        + &style("Section", "<w:pageBreakBefore w:val='false'/>", "Chapter")
        + &style("Round", "", "Round");
    let of = |style: &str, more: &str| format!("<w:pPr><w:pStyle w:val='{style}'/>{more}</w:pPr>");
    let body = paragraph(&of("Chapter", ""), "one")
        + &paragraph(&(of("Part", "") + LAID_OUT), "two")
        + &paragraph(&of("Section", ""), "still")
        + &paragraph(&of("Chapter", "<w:pageBreakBefore w:val='0'/>"), "here")
        + &paragraph(&of("Round", ""), "too")
        + &paragraph(&of("Chapter", ""), "three");
    let expected = "one@page 1 two@page 2 still@page 2 here@page 2 too@page 2 three@page 3";
    check_with_styles(&styles, &body, expected);
    // A style that nobody uses marks no page.
    check_with_styles(&styles, &paragraph(&of("Section", ""), "one"), "one@whole");
}

/// Readings were put between the letters of their word, which no search found then.
#[test]
fn readings_come_behind_their_word() {
    let ruby = |letters: &str, reading: &str| {
        format!(
            "<w:r><w:ruby><w:rt><w:r><w:t>{reading}</w:t></w:r></w:rt><w:rubyBase><w:r>\
             <w:t>{letters}</w:t></w:r></w:rubyBase></w:ruby></w:r>"
        )
    };
    let word = ruby("東", "とう") + &ruby("京", "きょう");
    check(&paragraph(&word, "で会う"), "東京（とうきょう）で会う@whole");
    check(&format!("<w:p>{word}</w:p>"), "東京（とうきょう）@whole");
}
