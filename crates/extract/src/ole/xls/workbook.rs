//! The walk through a workbook: what all sheets share, then each sheet with its cells, comments
//! and text boxes.

use std::collections::HashMap;

use encoding_rs::Encoding;
use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::{Error, Result};
use crate::grid::SheetRows;
use crate::ole::bytes::{u16_at, usize_at};
use crate::ole::xls::cells::{CellRecord, Dialect, cells_of};
use crate::ole::xls::formulas::{Formulas, are_uncomputed};
use crate::ole::xls::records::{CONTINUE, Record, continued, records};
use crate::ole::xls::strings::{flagged, paged, shared_strings};
use crate::ole::{open, stream};
use crate::ooxml::{NumberShape, push_sheet_name};
use crate::output::Output;

const END: u16 = 0x000a;
const FILE_PASS: u16 = 0x002f;
const DATE_MODE: u16 = 0x0022;
const CODE_PAGE: u16 = 0x0042;
const BOUND_SHEET: u16 = 0x0085;
const CELL_FORMAT: u16 = 0x00e0;
const SHARED_STRINGS: u16 = 0x00fc;
const TEXT_OBJECT: u16 = 0x01b6;
const NUMBER_FORMAT: u16 = 0x041e;

/// How many records pass between two looks at the clock.
const RECORDS_PER_CHECK: u32 = 4096;

pub(crate) fn read_xls(bytes: &[u8], output: &mut Output) -> Result<()> {
    if !bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return Workbook::read(bytes, None, output);
    }
    let mut file = open(bytes).map_err(|error| Error::broken(Format::Xls, error))?;
    for path in ["/Workbook", "/Book"] {
        if let Some(content) = stream(&mut file, path, output)? {
            return Workbook::read(&content, Some(bytes), output);
        }
    }
    Err(Error::broken(Format::Xls, "the stream `Workbook` is missing"))
}

struct Workbook {
    dialect: Dialect,
    is_1904: bool,
    strings: Vec<String>,
    sheets: Vec<Sheet>,
    number_shapes: HashMap<u16, NumberShape>,
    /// For each format of cells, the format of numbers it has.
    cell_formats: Vec<u16>,
    /// The text of formulas, where no program has computed any.
    formulas: Option<Formulas>,
}

struct Sheet {
    at: usize,
    name: String,
    is_hidden: bool,
}

impl Workbook {
    /// Reads the stream of a workbook; `file` is the whole file that it is in.
    fn read(content: &[u8], file: Option<&[u8]>, output: &mut Output) -> Result<()> {
        let version = records(content).next().and_then(|record| begins(&record));
        let Some(version) = version else {
            return Err(Error::broken(Format::Xls, "it does not begin as a workbook does"));
        };
        let mut workbook = Workbook {
            dialect: Dialect { version, encoding: encoding_rs::WINDOWS_1252 },
            is_1904: false,
            strings: Vec::new(),
            sheets: Vec::new(),
            number_shapes: HashMap::new(),
            cell_formats: Vec::new(),
            formulas: None,
        };
        workbook.read_shared(content)?;
        if are_uncomputed(content, workbook.dialect) {
            workbook.formulas = Some(Formulas::read(file, content, workbook.dialect));
        }
        workbook.push_sheets(content, output)
    }

    /// Reads what is before the sheets: strings, formats, names.
    fn read_shared(&mut self, content: &[u8]) -> Result<()> {
        let mut walk = records(content);
        while let Some(record) = walk.next() {
            let body = record.body;
            match record.kind {
                FILE_PASS => return Err(Error::Encrypted { format: Format::Xls }),
                DATE_MODE => self.is_1904 = u16_at(body, 0) == Some(1),
                CODE_PAGE => {
                    let page = u16_at(body, 0).map(i32::from);
                    let encoding: Option<&'static Encoding> = page.and_then(crate::rtf::code_page);
                    self.dialect.encoding = encoding.unwrap_or(self.dialect.encoding);
                }
                BOUND_SHEET => self.sheets.extend(self.sheet(body)),
                CELL_FORMAT => {
                    let at = if self.dialect.version >= 5 { 2 } else { 1 };
                    self.cell_formats.push(u16_at(body, at).unwrap_or_default());
                }
                NUMBER_FORMAT => {
                    let code = match self.dialect.version {
                        8 => flagged(
                            body.get(4..).unwrap_or_default(),
                            u16_at(body, 2).unwrap_or_default().into(),
                        ),
                        _ => paged(
                            body.get(3..).unwrap_or_default(),
                            body.get(2).copied().unwrap_or_default().into(),
                            self.dialect.encoding,
                        ),
                    };
                    if let Some(id) = u16_at(body, 0) {
                        self.number_shapes.insert(id, NumberShape::of_code(&code));
                    }
                }
                SHARED_STRINGS => {
                    self.strings = shared_strings(&continued(body, walk.clone()));
                }
                // Versions without shared parts have their cells right here.
                END if self.dialect.version >= 5 => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn sheet(&self, body: &[u8]) -> Option<Sheet> {
        let length = usize::from(*body.get(6)?);
        let name = body.get(7..)?;
        Some(Sheet {
            at: usize_at(body, 0)?,
            name: match self.dialect.version {
                8 => flagged(name, length),
                _ => paged(name, length, self.dialect.encoding),
            },
            is_hidden: body.get(4)? & 3 != 0,
        })
    }

    fn push_sheets(&self, content: &[u8], output: &mut Output) -> Result<()> {
        let has_shared = self.dialect.version >= 5;
        let mut depth = 0_usize;
        let mut n_sheets = 0;
        let mut open: Option<OpenSheet> = None;
        let mut n_records = 0_u32;
        let mut walk = records(content);
        while let Some(record) = walk.next() {
            n_records = n_records.wrapping_add(1);
            if n_records.is_multiple_of(RECORDS_PER_CHECK) {
                output.check_time()?;
            }
            if begins(&record).is_some() {
                depth += 1;
                let is_sheet = depth == 1 && (record.at > 0 || !has_shared);
                if is_sheet {
                    n_sheets += 1;
                    open = Some(self.open_sheet(record.at, n_sheets, output)?);
                }
            } else if record.kind == END {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(sheet) = open.take()
                {
                    sheet.end(output)?;
                }
            } else if let Some(sheet) = open.as_mut().filter(|_| depth == 1) {
                if record.kind == TEXT_OBJECT {
                    sheet.texts.extend(object_text(record.body, walk.clone()));
                } else {
                    self.push_cells(&record, sheet, output)?;
                }
            }
        }
        match open {
            Some(sheet) => sheet.end(output),
            None => Ok(()),
        }
    }

    fn open_sheet(&self, at: usize, number: usize, output: &mut Output) -> Result<OpenSheet> {
        let known = self.sheets.iter().find(|sheet| sheet.at == at);
        let name = known.map_or_else(|| format!("Sheet{number}"), |sheet| sheet.name.clone());
        if self.dialect.version >= 5 {
            push_sheet_name(&name, known.is_some_and(|sheet| sheet.is_hidden), output)?;
        }
        Ok(OpenSheet { rows: SheetRows::new(&name), name, waiting: None, texts: Vec::new() })
    }

    fn push_cells(
        &self,
        record: &Record,
        sheet: &mut OpenSheet,
        output: &mut Output,
    ) -> Result<()> {
        for cell in cells_of(record.kind, record.body, self.dialect) {
            let (row, column, text) = match cell {
                CellRecord::Text(row, column, text) => (row, column, text),
                CellRecord::Number(row, column, value, format) => {
                    let format = self.cell_formats.get(usize::from(format)).copied();
                    let format = format.unwrap_or_default();
                    let shape = self.number_shapes.get(&format).copied();
                    let shape = shape.unwrap_or_else(|| NumberShape::built_in(format.into()));
                    (row, column, shape.shown(value, self.is_1904))
                }
                CellRecord::Shared(row, column, idx) => {
                    (row, column, self.strings.get(idx).cloned().unwrap_or_default())
                }
                CellRecord::NoValue(row, column) => match &self.formulas {
                    Some(formulas) => (row, column, formulas.shown(&sheet.name, row, column)),
                    None => continue,
                },
                CellRecord::TextFollows(row, column) => {
                    sheet.waiting = Some((row, column));
                    continue;
                }
                CellRecord::FormulaText(text) => match sheet.waiting.take() {
                    Some((row, column)) => (row, column, text),
                    None => continue,
                },
            };
            sheet.rows.cell(row, column, &text, output)?;
        }
        Ok(())
    }
}

struct OpenSheet {
    rows: SheetRows,
    name: String,
    waiting: Option<(u32, u32)>,
    texts: Vec<String>,
}

impl OpenSheet {
    fn end(mut self, output: &mut Output) -> Result<()> {
        self.rows.end(output)?;
        let pointer = Pointer::Sheet { name: self.name, range: None };
        for text in self.texts {
            output.push(BlockKind::Other, &pointer, text)?;
        }
        Ok(())
    }
}

/// Gives the version when a record begins a workbook or a sheet.
fn begins(record: &Record) -> Option<u8> {
    match record.kind {
        0x0009 => Some(2),
        0x0209 => Some(3),
        0x0409 => Some(4),
        0x0809 => Some(if u16_at(record.body, 0) == Some(0x0600) { 8 } else { 5 }),
        _ => None,
    }
}

/// Reads the text of a comment or a text box, which follows in the next record.
fn object_text<'a>(body: &[u8], mut following: impl Iterator<Item = Record<'a>>) -> Option<String> {
    let n_chars = usize::from(u16_at(body, 10)?);
    let next = following.next().filter(|next| n_chars > 0 && next.kind == CONTINUE)?;
    Some(flagged(next.body, n_chars))
}
