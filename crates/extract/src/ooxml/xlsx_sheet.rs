//! The cells of one sheet, streamed: nothing is allocated for what a sheet only claims to hold.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::grid::{SheetRows, UNKNOWN_FORMULA, cell_name, parse_cell_name};
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
    /// Whether there is a value, which may be an empty text.
    has_value: bool,
    inline: String,
    formula: Option<Formula>,
}

/// How a cell is computed.
#[derive(Default)]
struct Formula {
    text: String,
    /// The number of a formula that several cells share; only the first of them has its text.
    shared: Option<String>,
}

/// The first cell of each formula that several cells share, and its text.
type SharedFormulas = HashMap<String, (String, String)>;

/// Shared formulas of one sheet that are remembered; more of them are shown without their text.
const MAX_SHARED_FORMULAS: usize = 10_000;

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
    let mut in_formula = false;
    let mut shared = SharedFormulas::new();
    let mut n_skipped = 0_usize;
    while let Some(event) = reader.next(output)? {
        match event {
            XmlEvent::Start(tag) => {
                let element = tag.local_name();
                let element = element.as_ref();
                if n_skipped > 0 || matches!(element, "rPh" | "extLst") {
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
                    "v" => {
                        in_value = true;
                        cell.has_value = true;
                    }
                    "f" => {
                        in_formula = true;
                        let is_shared = local_attribute(&tag, "t").is_some_and(|t| t == "shared");
                        let shared = is_shared.then(|| local_attribute(&tag, "si")).flatten();
                        cell.formula = Some(Formula { shared, ..Formula::default() });
                    }
                    "t" => in_inline = true,
                    _ => {}
                }
            }
            XmlEvent::End(element) => {
                in_value = false;
                in_inline = false;
                in_formula = false;
                if n_skipped > 0 {
                    n_skipped -= 1;
                    continue;
                }
                match element.as_str() {
                    "c" => {
                        let text = shown(&cell, strings, styles, &mut shared);
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
                } else if in_formula && let Some(formula) = &mut cell.formula {
                    formula.text.push_str(&text);
                }
            }
        }
    }
    Ok(())
}

/// Gives what a reader sees in the cell; of a formula that no program has computed, the formula.
fn shown(
    cell: &Cell,
    strings: &SharedStrings,
    styles: &Styles,
    shared: &mut SharedFormulas,
) -> String {
    if let Some(formula) = &cell.formula {
        let written = formula.written(cell, shared);
        // An empty text is a value. Programs that compute nothing write an empty number.
        let is_computed = match cell.kind.as_str() {
            "str" => cell.has_value,
            _ => !cell.value.is_empty() || !cell.inline.is_empty(),
        };
        if !is_computed {
            return written;
        }
    }
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

impl Formula {
    /// Writes the formula as a reader sees it in a cell; of a shared one, what it is in the first
    /// cell that has it.
    fn written(&self, cell: &Cell, shared: &mut SharedFormulas) -> String {
        let text = self.text.trim();
        if !text.is_empty() {
            if let Some(number) = &self.shared
                && shared.len() < MAX_SHARED_FORMULAS
            {
                let name = cell_name(cell.row, cell.column);
                shared.insert(number.clone(), (name, text.to_owned()));
            }
            return format!("={}", text.trim_start_matches('='));
        }
        match self.shared.as_ref().and_then(|number| shared.get(number)) {
            Some((first, text)) => format!("={text} (as in {first})"),
            None => UNKNOWN_FORMULA.to_owned(),
        }
    }
}
