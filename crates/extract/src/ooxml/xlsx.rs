//! A workbook: its sheets in their order, hidden ones marked, with comments, drawings and charts.

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
    for sheet in &workbook.sheets {
        let whole = Pointer::Sheet { name: sheet.name.clone(), range: None };
        if sheet.is_hidden {
            output.push(BlockKind::Other, &whole, format!("{} (hidden sheet)", sheet.name))?;
        }
        let text = package.text_or_warn(&sheet.part, output)?;
        let outcome = read_sheet(&package, &text, &sheet.name, &strings, &styles, output);
        match outcome {
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => output.warn_of(&error),
            Ok(()) => {}
        }
        for relation in package.relations(&sheet.part, output)? {
            match relation.kind.as_str() {
                "comments" => push_comments(&package, &relation.part, &sheet.name, output)?,
                "drawing" => push_drawing(&package, &relation.part, &whole, output)?,
                _ => {}
            }
        }
    }
    Ok(())
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
    let mut comment = String::new();
    let mut cell = None;
    let mut in_text = false;
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                "comment" => cell = local_attribute(&tag, "ref"),
                "t" => in_text = true,
                _ => {}
            },
            Ok(Some(XmlEvent::End(name))) => {
                in_text = false;
                if name == "comment" {
                    let pointer = Pointer::Sheet { name: sheet.to_owned(), range: cell.take() };
                    output.push(BlockKind::Other, &pointer, &comment)?;
                    comment.clear();
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
