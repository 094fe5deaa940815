//! XML of no known vocabulary: the text of its elements, one block for each run of text that a
//! reader would see as one.
//!
//! An element with text of its own next to other elements (mixed content) is a paragraph with
//! everything in it; other elements only hold others. Elements named as titles become headings.

use model::{BlockKind, Pointer, ReadOutcome};
use quick_xml::events::BytesStart;

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

/// What the names of elements end in whose text is a secret. The name is kept before the text:
/// without it nobody would know what the text is.
const SECRETS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "accesskey",
    "access_key",
    "secretkey",
    "secret_key",
];

/// Attributes that name what the text of an element is: `<property name="db.password">`.
const NAMING: [&str; 5] = ["name", "key", "Name", "Key", "id"];

/// Elements whose text is what the element around them names: `<Setting Name="…"><Value>`.
const VALUES: [&str; 3] = ["value", "Value", "val"];

struct Open {
    name: String,
    is_row: bool,
    /// The name that still has to be written before its text.
    announces: Option<String>,
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('.', "_");
    SECRETS.iter().any(|secret| name.ends_with(secret))
}

/// Gives the name of what the text of an element is, where it is a secret.
fn secret_name(element: &str, tag: &BytesStart<'_>, around: Option<&mut Open>) -> Option<String> {
    let attribute = || NAMING.iter().find_map(|naming| local_attribute(tag, naming));
    let is_value = VALUES.contains(&element);
    let named = attribute().filter(|name| is_secret(name));
    let itself = || is_secret(element).then(|| element.to_owned());
    named.or_else(itself).or_else(|| around.filter(|_| is_value)?.announces.take())
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
                let announces = secret_name(&name, &tag, open.last_mut());
                open.push(Open { announces, name, is_row });
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
                    let name = open.last_mut().and_then(|element| element.announces.take());
                    if let Some(name) = name {
                        run.push_str(&format!("{name}: "));
                    }
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

#[cfg(test)]
mod tests {
    use crate::{Caps, extract};

    #[track_caller]
    fn check(xml: &str, expected: &str) {
        let (extracted, _) = extract(xml.as_bytes(), "x.xml", &Caps::standard());
        assert_eq!(extracted.text(), expected);
    }

    /// Without its name nobody knew that the text was a password, and it was shown.
    #[test]
    fn what_is_secret_keeps_its_name() {
        check("<c><user>ann</user><password>tiger</password></c>", "ann\n\npassword: tiger");
        check(
            "<c><row><n>ann</n><dbPassword>tiger</dbPassword></row></c>",
            "ann | dbPassword: tiger",
        );
        check("<c><secretary>Ann</secretary><password/></c>", "Ann");
    }

    /// The name was in an attribute, which is no text, and the password was shown without it.
    #[test]
    fn what_an_attribute_calls_a_secret_keeps_that_name() {
        check(
            "<c><property name=\"hibernate.url\">x</property>\
             <property name=\"hibernate.connection.password\">tiger</property></c>",
            "x\n\nhibernate.connection.password: tiger",
        );
        check("<r><string name=\"api_key\">tiger</string></r>", "api_key: tiger");
        check("<r><entry key=\"fs.secret.key\">tiger</entry></r>", "fs.secret.key: tiger");
        check(
            "<r><Setting Name=\"AdminPassword\"><Value>tiger</Value></Setting></r>",
            "AdminPassword: tiger",
        );
        check("<r><p id=\"password\"><b>1</b></p><value>x</value></r>", "1\n\nx");
    }
}
