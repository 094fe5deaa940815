//! XML of no known vocabulary: the text of its elements, one block for each run of text that a
//! reader would see as one.
//!
//! An element with text of its own next to other elements (mixed content) is a paragraph with
//! everything in it; other elements only hold others. Elements named as titles become headings.

use model::{BlockKind, Pointer, ReadOutcome};

use crate::error::Result;
use crate::markup::{XmlEvent, XmlReader, decode_xml, local_attribute, read_html_text};
use crate::output::Output;
use crate::plain::read_code;
use crate::{Format, odf};

pub(crate) fn read_xml(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = decode_xml(bytes, output);
    let head = text.get(..text.floor_char_boundary(4096)).unwrap_or(&text);
    if head.contains("office:document") && head.contains("office:mimetype") {
        return odf::read_flat(&text, output);
    }
    if head.contains("urn:schemas-microsoft-com:office:spreadsheet") {
        return read_elements(&text, &["Row"], output);
    }
    let n_before = output.n_blocks();
    read_elements(&text, &[], output)?;
    if output.n_blocks() > n_before {
        return Ok(());
    }
    if is_drawing(head) {
        output.explain_no_text(ReadOutcome::Image, "it is a drawing without words");
        return Ok(());
    }
    // All that it says is in attributes, as in settings: they are read as they are written.
    read_code(bytes, output)
}

/// Tells whether a document is a drawing, whose attributes are coordinates.
fn is_drawing(head: &str) -> bool {
    head.contains("<svg") || head.contains("http://www.w3.org/2000/svg")
}

/// Elements whose text runs on in the text around them, in the vocabularies people use.
const INLINE: [&str; 38] = [
    "a",
    "abbr",
    "b",
    "bold",
    "code",
    "em",
    "emphasis",
    "ext-link",
    "i",
    "inline",
    "italic",
    "link",
    "literal",
    "monospace",
    "named-content",
    "phrase",
    "q",
    "s",
    "sc",
    "small",
    "span",
    "strong",
    "strike",
    "styled-content",
    "sub",
    "sup",
    "subscript",
    "superscript",
    "tspan",
    "tt",
    "u",
    "ulink",
    "underline",
    "uri",
    "xref",
    "hi",
    "ph",
    "term",
];

/// Elements that hold the title of what is around them.
const TITLES: [&str; 6] = ["title", "article-title", "head", "heading", "caption-title", "Title"];

struct Open {
    name: String,
    is_row: bool,
}

fn read_elements(text: &str, rows: &[&str], output: &mut Output) -> Result<()> {
    let mut open: Vec<Open> = Vec::new();
    let mut run = String::new();
    let mut row_depth = 0_usize;
    let mut cell_is_empty = true;
    let mut reader = XmlReader::new(text, Format::Xml, output.caps());
    let mut outcome = Ok(());
    loop {
        let event = match reader.next(output) {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) => {
                outcome = Err(error);
                break;
            }
        };
        match event {
            XmlEvent::Start(tag) => {
                let name = tag.local_name().as_ref().to_owned();
                if open.is_empty()
                    && let Some(language) = local_attribute(&tag, "lang")
                {
                    output.set_language(&language);
                }
                let is_row = rows.contains(&name.as_str()) || matches!(name.as_str(), "tr" | "row");
                if row_depth == 0 && !INLINE.contains(&name.as_str()) {
                    flush(&mut run, &open, output)?;
                }
                row_depth += usize::from(is_row);
                open.push(Open { name, is_row });
            }
            XmlEvent::End(_) => {
                let Some(closed) = open.pop() else { continue };
                if closed.is_row {
                    row_depth -= 1;
                    if row_depth == 0 {
                        let row = run.split_whitespace().collect::<Vec<_>>().join(" ");
                        let row = row.trim_end_matches([' ', '|']);
                        output.push(BlockKind::Table, &Pointer::Whole, row)?;
                        run.clear();
                    }
                } else if row_depth > 0 {
                    if !INLINE.contains(&closed.name.as_str()) && !cell_is_empty {
                        run.push_str(" | ");
                        cell_is_empty = true;
                    }
                } else if !INLINE.contains(&closed.name.as_str()) {
                    open.push(closed);
                    flush(&mut run, &open, output)?;
                    open.pop();
                }
            }
            XmlEvent::Text(text) => {
                if !text.trim().is_empty() {
                    cell_is_empty = false;
                    run.push_str(&text);
                } else if !run.is_empty() && !run.ends_with(char::is_whitespace) {
                    run.push(' ');
                }
            }
        }
    }
    flush(&mut run, &open, output)?;
    outcome
}

fn flush(run: &mut String, open: &[Open], output: &mut Output) -> Result<()> {
    if run.trim().is_empty() {
        run.clear();
        return Ok(());
    }
    if holds_markup(run) {
        let page = std::mem::take(run);
        return read_html_text(&page, &Pointer::Whole, output);
    }
    let is_title = open.last().is_some_and(|element| TITLES.contains(&element.name.as_str()));
    let text = run.split_whitespace().collect::<Vec<_>>().join(" ");
    run.clear();
    let kind = if is_title {
        let level = u8::try_from(open.len().clamp(1, 6)).unwrap_or(6);
        output.set_title(&text);
        BlockKind::Heading(level)
    } else {
        BlockKind::Paragraph
    };
    output.push(kind, &Pointer::Whole, &text)
}

/// Tells whether the text of an element is a piece of a page, as in feeds and reports.
fn holds_markup(run: &str) -> bool {
    let start = run.trim_start();
    start.starts_with('<')
        && start
            .get(1..)
            .is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_alphabetic()))
        && (run.contains("</") || run.contains("/>"))
}
