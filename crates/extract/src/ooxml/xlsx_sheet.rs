//! The cells of one sheet, streamed: nothing is allocated for what a sheet only claims to hold.

use crate::error::{Error, Result};
use crate::grid::{SheetRows, parse_cell_name};
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::package::Package;
use crate::ooxml::xlsx_values::Styles;
use crate::output::Output;

/// The strings that cells refer to by number, in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct SharedStrings {
    text: String,
    ends: Vec<usize>,
}

impl SharedStrings {
    pub(crate) fn read(package: &Package, part: &str, output: &mut Output) -> Result<Self> {
        let xml = package.text_or_warn(part, output)?;
        let mut strings = SharedStrings::default();
        let mut reader = package.walk(&xml, output);
        let mut in_text = false;
        let mut n_skipped = 0_usize;
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = tag.local_name();
                    if n_skipped > 0 || name.as_ref() == "rPh" {
                        n_skipped += 1;
                    } else {
                        in_text = name.as_ref() == "t";
                    }
                }
                Ok(Some(XmlEvent::End(name))) => {
                    in_text = false;
                    if n_skipped > 0 {
                        n_skipped -= 1;
                    } else if name == "si" {
                        strings.ends.push(strings.text.len());
                    }
                }
                Ok(Some(XmlEvent::Text(text))) if in_text => strings.text.push_str(&text),
                Ok(Some(XmlEvent::Text(_))) => {}
                Ok(None) => return Ok(strings),
                Err(error) if error.stops_everything() => return Err(error),
                Err(error) => {
                    output.warn_of(&error);
                    return Ok(strings);
                }
            }
        }
    }

    fn get(&self, string_idx: usize) -> Option<&str> {
        let end = *self.ends.get(string_idx)?;
        let start = match string_idx.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..end)
    }
}

#[derive(Default)]
struct Cell {
    row: u32,
    column: u32,
    kind: String,
    style: Option<usize>,
    value: String,
    inline: String,
}

pub(crate) fn read_sheet(
    package: &Package,
    xml: &str,
    name: &str,
    strings: &SharedStrings,
    styles: &Styles,
    output: &mut Output,
) -> Result<()> {
    let mut rows = SheetRows::new(name);
    let outcome = walk_cells(package, xml, strings, styles, &mut rows, output);
    match outcome {
        Err(error) if error.stops_everything() => Err(error),
        outcome => {
            rows.end(output)?;
            outcome
        }
    }
}

fn walk_cells(
    package: &Package,
    xml: &str,
    strings: &SharedStrings,
    styles: &Styles,
    rows: &mut SheetRows,
    output: &mut Output,
) -> std::result::Result<(), Error> {
    let mut reader = package.walk(xml, output);
    let mut cell = Cell::default();
    let mut next = (0_u32, 0_u32);
    let mut in_value = false;
    let mut in_inline = false;
    let mut n_skipped = 0_usize;
    while let Some(event) = reader.next(output)? {
        match event {
            XmlEvent::Start(tag) => {
                let element = tag.local_name();
                let element = element.as_ref();
                if n_skipped > 0 || matches!(element, "rPh" | "f" | "extLst") {
                    n_skipped += 1;
                    continue;
                }
                match element {
                    "row" => {
                        let row =
                            local_attribute(&tag, "r").and_then(|row| row.parse::<u32>().ok());
                        next = (row.and_then(|row| row.checked_sub(1)).unwrap_or(next.0), 0);
                    }
                    "c" => {
                        let place = local_attribute(&tag, "r")
                            .and_then(|place| parse_cell_name(&place))
                            .unwrap_or(next);
                        next = (place.0, place.1.saturating_add(1));
                        cell = Cell {
                            row: place.0,
                            column: place.1,
                            kind: local_attribute(&tag, "t").unwrap_or_default(),
                            style: local_attribute(&tag, "s").and_then(|style| style.parse().ok()),
                            ..Cell::default()
                        };
                    }
                    "v" => in_value = true,
                    "t" => in_inline = true,
                    _ => {}
                }
            }
            XmlEvent::End(element) => {
                in_value = false;
                in_inline = false;
                if n_skipped > 0 {
                    n_skipped -= 1;
                    continue;
                }
                match element.as_str() {
                    "c" => {
                        let text = shown(&cell, strings, styles);
                        rows.cell(cell.row, cell.column, &text, output)?;
                        cell = Cell::default();
                    }
                    "row" => next.0 = next.0.saturating_add(1),
                    _ => {}
                }
            }
            XmlEvent::Text(text) => {
                if n_skipped > 0 {
                } else if in_value {
                    cell.value.push_str(&text);
                } else if in_inline {
                    cell.inline.push_str(&text);
                }
            }
        }
    }
    Ok(())
}

/// Gives what a reader sees in the cell.
fn shown(cell: &Cell, strings: &SharedStrings, styles: &Styles) -> String {
    match cell.kind.as_str() {
        "s" => {
            let string_idx = cell.value.trim().parse().ok();
            string_idx.and_then(|idx| strings.get(idx)).unwrap_or_default().to_owned()
        }
        "inlineStr" => cell.inline.clone(),
        "b" => match cell.value.trim() {
            "1" => "TRUE".to_owned(),
            "0" => "FALSE".to_owned(),
            other => other.to_owned(),
        },
        "str" | "e" | "d" => cell.value.clone(),
        _ => {
            if cell.value.is_empty() {
                return cell.inline.clone();
            }
            styles.shown_number(cell.style, cell.value.trim())
        }
    }
}
