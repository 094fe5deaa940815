//! A workbook: its sheets in their order, hidden ones marked, with comments, drawings and charts.

use std::collections::HashMap;

use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::Result;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::chart::push_chart;
use crate::ooxml::drawing::push_drawing_text;
use crate::ooxml::package::{Package, Relation};
use crate::ooxml::xlsx_sheet::{SharedStrings, read_sheet};
use crate::ooxml::xlsx_values::Styles;
use crate::output::Output;

pub(crate) fn read_xlsx(bytes: &[u8], output: &mut Output) -> Result<()> {
    let package = Package::open(bytes, Format::Xlsx, output)?;
    package.note_properties(output)?;
    let main = package.main_part("xl/workbook.xml", output)?;
    let relations = package.relations(&main, output)?;
    let workbook = read_workbook(&package, &main, &relations, output)?;
    let part_of = |kind: &str, usual: &str| {
        let found = relations.iter().find(|relation| relation.kind == kind);
        found.map_or_else(|| usual.to_owned(), |relation| relation.part.clone())
    };
    let strings_part = part_of("sharedStrings", "xl/sharedStrings.xml");
    let strings = SharedStrings::read(&package, &strings_part, output)?;
    let styles_part = part_of("styles", "xl/styles.xml");
    let styles = Styles::read(&package, &styles_part, workbook.is_1904, output)?;
    let people = match relations.iter().find(|relation| relation.kind == "person") {
        Some(relation) => read_people(&package, &relation.part, output)?,
        None => HashMap::new(),
    };
    for sheet in &workbook.sheets {
        let whole = Pointer::Sheet { name: sheet.name.clone(), range: None };
        push_sheet_name(&sheet.name, sheet.is_hidden, output)?;
        let text = package.text_or_warn(&sheet.part, output)?;
        let outcome = read_sheet(&package, &text, &sheet.name, &strings, &styles, output);
        match outcome {
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => output.warn_of(&error),
            Ok(()) => {}
        }
        let linked = package.relations(&sheet.part, output)?;
        for relation in linked {
            match relation.kind.as_str() {
                "threadedComment" => {
                    push_threads(&package, &relation.part, &sheet.name, &people, output)?;
                }
                "comments" => push_comments(&package, &relation.part, &sheet.name, output)?,
                "drawing" => push_drawing(&package, &relation.part, &whole, output)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Pushes the name of a sheet, which a reader sees on its tab.
pub(crate) fn push_sheet_name(name: &str, is_hidden: bool, output: &mut Output) -> Result<()> {
    let pointer = Pointer::Sheet { name: name.to_owned(), range: None };
    let text = if is_hidden { format!("{name} (hidden sheet)") } else { name.to_owned() };
    output.push(BlockKind::Heading(2), &pointer, text)
}

struct Workbook {
    sheets: Vec<Sheet>,
    is_1904: bool,
}

struct Sheet {
    name: String,
    part: String,
    is_hidden: bool,
}

fn read_workbook(
    package: &Package,
    main: &str,
    relations: &[Relation],
    output: &mut Output,
) -> Result<Workbook> {
    let text = package.text(main, output)?.unwrap_or_default();
    let mut workbook = Workbook { sheets: Vec::new(), is_1904: false };
    let mut reader = package.walk(&text, output);
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                "workbookPr" => {
                    workbook.is_1904 = local_attribute(&tag, "date1904")
                        .is_some_and(|value| value == "1" || value == "true");
                }
                "sheet" => {
                    let id = local_attribute(&tag, "id");
                    let part = relations
                        .iter()
                        .find(|relation| Some(&relation.id) == id.as_ref())
                        .map(|relation| relation.part.clone());
                    workbook.sheets.push(Sheet {
                        name: local_attribute(&tag, "name").unwrap_or_default(),
                        part: part.unwrap_or_default(),
                        is_hidden: local_attribute(&tag, "state")
                            .is_some_and(|state| state != "visible"),
                    });
                }
                _ => {}
            },
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => {
                output.warn_of(&error);
                break;
            }
        }
    }
    if workbook.sheets.iter().all(|sheet| sheet.part.is_empty()) {
        let mut parts: Vec<String> = package
            .names()
            .filter(|name| name.contains("worksheets/sheet") && name.ends_with(".xml"))
            .map(str::to_owned)
            .collect();
        parts.sort();
        workbook.sheets = parts
            .into_iter()
            .map(|part| Sheet {
                name: part.rsplit('/').next().unwrap_or(&part).trim_end_matches(".xml").to_owned(),
                part,
                is_hidden: false,
            })
            .collect();
    }
    Ok(workbook)
}

fn push_comments(package: &Package, part: &str, sheet: &str, output: &mut Output) -> Result<()> {
    let text = package.text_or_warn(part, output)?;
    let mut reader = package.walk(&text, output);
    let mut authors: Vec<String> = Vec::new();
    let mut comment = String::new();
    let mut cell = None;
    let mut author = None;
    let mut element = String::new();
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => {
                element = tag.local_name().as_ref().to_owned();
                match element.as_str() {
                    "author" => authors.push(String::new()),
                    "comment" => {
                        cell = local_attribute(&tag, "ref");
                        author = local_attribute(&tag, "authorId").and_then(|id| id.parse().ok());
                    }
                    _ => {}
                }
            }
            Ok(Some(XmlEvent::End(name))) => {
                element.clear();
                if name == "comment" {
                    let text = std::mem::take(&mut comment);
                    // A thread is here too, behind a sentence for old programs.
                    if !text.trim_start().starts_with("[Threaded comment]") {
                        let author = author.take().and_then(|idx: usize| authors.get(idx));
                        let author = author.map_or("", String::as_str);
                        push_comment(&text, author, sheet, cell.take(), output)?;
                    }
                }
            }
            Ok(Some(XmlEvent::Text(text))) => match element.as_str() {
                "t" => comment.push_str(&text),
                "author" => {
                    if let Some(author) = authors.last_mut() {
                        author.push_str(&text);
                    }
                }
                _ => {}
            },
            Ok(None) => return Ok(()),
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => return Ok(()),
        }
    }
}

fn push_comment(
    text: &str,
    author: &str,
    sheet: &str,
    range: Option<String>,
    output: &mut Output,
) -> Result<()> {
    let pointer = Pointer::Sheet { name: sheet.to_owned(), range };
    let is_signed = author.trim().is_empty() || text.trim_start().starts_with(author.trim());
    if is_signed || text.trim().is_empty() {
        return output.push(BlockKind::Other, &pointer, text);
    }
    output.push(BlockKind::Other, &pointer, format!("Comment by {author}: {text}"))
}

fn push_drawing(
    package: &Package,
    part: &str,
    pointer: &Pointer,
    output: &mut Output,
) -> Result<()> {
    push_drawing_text(package, part, pointer, BlockKind::Other, output)?;
    for relation in package.relations(part, output)? {
        match relation.kind.as_str() {
            "chart" => push_chart(package, &relation.part, pointer, output)?,
            "diagramData" => {
                push_drawing_text(package, &relation.part, pointer, BlockKind::Other, output)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives the names of those who comment, by their id.
fn read_people(
    package: &Package,
    part: &str,
    output: &mut Output,
) -> Result<HashMap<String, String>> {
    let text = package.text_or_warn(part, output)?;
    let mut people = HashMap::new();
    let mut reader = package.walk(&text, output);
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) if tag.local_name().as_ref() == "person" => {
                let name = local_attribute(&tag, "displayName");
                people.extend(local_attribute(&tag, "id").zip(name));
            }
            Ok(Some(_)) => {}
            Ok(None) => return Ok(people),
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => return Ok(people),
        }
    }
}

fn push_threads(
    package: &Package,
    part: &str,
    sheet: &str,
    people: &HashMap<String, String>,
    output: &mut Output,
) -> Result<()> {
    let text = package.text_or_warn(part, output)?;
    let mut reader = package.walk(&text, output);
    let mut range = None;
    let mut author = String::new();
    let mut in_text = false;
    let mut comment = String::new();
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                "threadedComment" => {
                    range = local_attribute(&tag, "ref");
                    let id = local_attribute(&tag, "personId").unwrap_or_default();
                    author = people.get(&id).cloned().unwrap_or_default();
                }
                "text" => in_text = true,
                _ => {}
            },
            Ok(Some(XmlEvent::End(name))) => {
                in_text = false;
                if name == "threadedComment" {
                    let text = std::mem::take(&mut comment);
                    push_comment(&text, &author, sheet, range.take(), output)?;
                }
            }
            Ok(Some(XmlEvent::Text(text))) if in_text => comment.push_str(&text),
            Ok(Some(XmlEvent::Text(_))) => {}
            Ok(None) => return Ok(()),
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => return Ok(()),
        }
    }
}
