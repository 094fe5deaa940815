//! OpenDocument: texts, presentations and spreadsheets, zipped or in one flat XML file.

use model::{BlockKind, Pointer};

use crate::archive::ZipFile;
use crate::error::{Error, Result};
use crate::flow::list_indent;
use crate::grid::{SheetRows, TextTable};
use crate::markup::{XmlEvent, XmlReader, decode_xml, local_attribute};
use crate::odf_lists::Lists;
use crate::odf_values::value_or_formula;
use crate::output::Output;
use crate::ruby::Ruby;
use crate::{Format, warning};

/// A repeated row or cell with content is written at most this many times.
const MAX_REPEATS: u32 = 64;

pub(crate) fn read(format: Format, bytes: &[u8], output: &mut Output) -> Result<()> {
    let zip = ZipFile::open(bytes).map_err(|error| Error::broken(format, error))?;
    if zip.is_salvaged() {
        output.warn(warning::REPAIRED, "the package's directory is damaged: parts were searched");
    }
    if let Some(manifest) = zip.read_named("META-INF/manifest.xml", output)?
        && memchr::memmem::find(&manifest, b"encryption-data").is_some()
    {
        return Err(Error::Encrypted { format });
    }
    if let Some(meta) = zip.read_named("meta.xml", output)? {
        let meta = decode_xml(&meta, output);
        note_meta(&meta, format, output)?;
    }
    let Some(content) = zip.read_named("content.xml", output)? else {
        return Err(Error::broken(format, "the part `content.xml` is missing"));
    };
    let content = decode_xml(&content, output);
    let mut walk = Walk::new(format);
    if let Some(styles) = zip.read_named("styles.xml", output)? {
        walk.lists.read_styles(&decode_xml(&styles, output), format, output)?;
    }
    walk.read(&content, output)?;
    push_formulas(&zip, format, output)?;
    let is_picture = |name: &str| name.starts_with("Pictures/") && !name.ends_with('/');
    let n_pictures = zip.entries().iter().filter(|entry| is_picture(&entry.name)).count();
    output.explain_pictures(n_pictures);
    Ok(())
}

/// Pushes the formulas, which are documents of their own inside the package.
fn push_formulas(zip: &ZipFile, format: Format, output: &mut Output) -> Result<()> {
    for entry in zip.entries().iter().filter(|entry| entry.name.ends_with("/content.xml")) {
        let content = match zip.read(entry, output) {
            Ok(content) => content,
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => continue,
        };
        let content = decode_xml(&content, output);
        let head = content.get(..content.floor_char_boundary(1024)).unwrap_or(&content);
        if head.contains("Math/MathML") {
            let formula = formula_text(&content, format, output)?;
            output.push(BlockKind::Other, &Pointer::Whole, formula)?;
        }
    }
    Ok(())
}

/// Gives the signs of a formula in their order; what other programs note beside it is left out.
fn formula_text(content: &str, format: Format, output: &mut Output) -> Result<String> {
    let mut signs: Vec<String> = Vec::new();
    let mut in_annotation = false;
    let mut reader = XmlReader::new(content, format, output.caps());
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => {
                in_annotation |= tag.local_name().as_ref() == "annotation";
            }
            Ok(Some(XmlEvent::End(name))) => in_annotation &= name != "annotation",
            Ok(Some(XmlEvent::Text(text))) => {
                if !in_annotation && !text.trim().is_empty() {
                    signs.push(text.trim().to_owned());
                }
            }
            Err(error) if error.stops_everything() => return Err(error),
            Ok(None) | Err(_) => return Ok(signs.join(" ")),
        }
    }
}

/// Reads the flat form, which is one XML file.
pub(crate) fn read_flat(text: &str, output: &mut Output) -> Result<()> {
    note_meta(text, Format::Odt, output)?;
    let format = if text.contains("<office:spreadsheet") { Format::Ods } else { Format::Odt };
    Walk::new(format).read(text, output)
}

fn note_meta(meta: &str, format: Format, output: &mut Output) -> Result<()> {
    let mut reader = XmlReader::new(meta, format, output.caps());
    let mut element = String::new();
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => {
                element = tag.local_name().as_ref().to_owned();
                if element == "body" {
                    return Ok(());
                }
            }
            Ok(Some(XmlEvent::Text(text))) => match element.as_str() {
                "title" => output.set_title(&text),
                "language" => output.set_language(&text),
                _ => {}
            },
            Ok(Some(XmlEvent::End(_))) => element.clear(),
            Ok(None) => return Ok(()),
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => return Ok(()),
        }
    }
}

struct Walk {
    format: Format,
    n_skipped: usize,
    paragraphs: Vec<Paragraph>,
    lists: Lists,
    slide: u32,
    in_notes: bool,
    annotations: Vec<String>,
    notes: Vec<String>,
    in_annotation: bool,
    in_note_body: bool,
    hidden_styles: Vec<String>,
    open_style: Option<String>,
    tables: Vec<Table>,
    sheet: Option<Sheet>,
    ruby: Ruby,
}

struct Paragraph {
    text: String,
    kind: BlockKind,
}

#[derive(Default)]
struct Table {
    rows: TextTable,
    cell: String,
}

struct Sheet {
    rows: SheetRows,
    name: String,
    row: u32,
    column: u32,
    row_repeats: u32,
    cell_repeats: u32,
    cell: String,
    /// What is shown of the cell when it has no text: its value, or its formula.
    without_text: String,
    cells: Vec<(u32, u32, String)>,
}

impl Walk {
    fn new(format: Format) -> Self {
        Walk {
            format,
            n_skipped: 0,
            paragraphs: Vec::new(),
            lists: Lists::default(),
            slide: 0,
            in_notes: false,
            annotations: Vec::new(),
            notes: Vec::new(),
            in_annotation: false,
            in_note_body: false,
            hidden_styles: Vec::new(),
            open_style: None,
            tables: Vec::new(),
            sheet: None,
            ruby: Ruby::default(),
        }
    }

    fn read(mut self, text: &str, output: &mut Output) -> Result<()> {
        let mut reader = XmlReader::new(text, self.format, output.caps());
        let outcome = loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = tag.local_name();
                    let name = name.as_ref();
                    let is_skipped = matches!(
                        name,
                        "tracked-changes"
                            | "note-citation"
                            | "index-source"
                            | "creator"
                            | "date"
                            | "date-string"
                            | "desc"
                            | "scripts"
                            | "sequence-decls"
                            | "forms"
                            | "settings"
                    ) && (name != "date" || self.in_annotation);
                    if self.n_skipped > 0 || is_skipped {
                        self.n_skipped += 1;
                    } else {
                        self.start(name, &|attribute| local_attribute(&tag, attribute), output)?;
                    }
                }
                Ok(Some(XmlEvent::End(_))) if self.n_skipped > 0 => self.n_skipped -= 1,
                Ok(Some(XmlEvent::End(name))) => self.end(&name, output)?,
                Ok(Some(XmlEvent::Text(text))) => {
                    if self.n_skipped == 0 {
                        self.add_folded(&text);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        while !self.paragraphs.is_empty() {
            self.end_paragraph(output)?;
        }
        while !self.tables.is_empty() {
            self.end_table(output)?;
        }
        self.push_asides(output)?;
        outcome
    }

    fn start(
        &mut self,
        name: &str,
        attribute: &dyn Fn(&str) -> Option<String>,
        output: &mut Output,
    ) -> Result<()> {
        match name {
            "style" => self.open_style = attribute("name"),
            "table-properties" if attribute("display").is_some_and(|show| show == "false") => {
                self.hidden_styles.extend(self.open_style.take());
            }
            "h" => {
                let level = attribute("outline-level").and_then(|level| level.parse::<u8>().ok());
                let kind = BlockKind::Heading(level.unwrap_or(1).clamp(1, 9));
                self.paragraphs.push(Paragraph { text: String::new(), kind });
            }
            "p" => {
                let style = attribute("style-name").unwrap_or_default();
                let kind = match () {
                    () if self.lists.depth() > 0 => BlockKind::ListItem,
                    () if style == "Title" => BlockKind::Heading(1),
                    () => BlockKind::Paragraph,
                };
                self.paragraphs.push(Paragraph { text: String::new(), kind });
            }
            "s" => {
                let n_spaces = attribute("c").and_then(|count| count.parse::<usize>().ok());
                self.add(&" ".repeat(n_spaces.unwrap_or(1).min(16)));
            }
            "tab" => self.add("\t"),
            "line-break" => self.add("\n"),
            "page" if self.format == Format::Odp => {
                self.slide += 1;
            }
            "notes" => self.in_notes = true,
            "annotation" => {
                self.in_annotation = true;
            }
            "note-body" => self.in_note_body = true,
            "ruby" => self.ruby.begin(),
            "ruby-text" => self.ruby.begin_reading(),
            "table" => self.start_table(attribute, output)?,
            "table-row" => {
                if let Some(sheet) = &mut self.sheet {
                    sheet.row_repeats = repeats(attribute("number-rows-repeated"));
                    sheet.column = 0;
                }
            }
            "table-cell" | "covered-table-cell" => {
                if let Some(sheet) = &mut self.sheet {
                    sheet.cell_repeats = repeats(attribute("number-columns-repeated"));
                    sheet.cell.clear();
                    sheet.without_text = value_or_formula(attribute);
                }
            }
            name => self.lists.start(name, attribute),
        }
        Ok(())
    }

    fn end(&mut self, name: &str, output: &mut Output) -> Result<()> {
        match name {
            "h" | "p" => self.end_paragraph(output)?,
            "list" => self.lists.end_list(),
            "notes" => self.in_notes = false,
            "annotation" => self.in_annotation = false,
            "note-body" => self.in_note_body = false,
            "ruby-text" => self.ruby.end_reading(),
            "ruby" => self.ruby.end(),
            "page" => self.push_asides(output)?,
            "table-cell" | "covered-table-cell" => self.end_cell(),
            "table-row" => self.end_row(output)?,
            "table" => self.end_table(output)?,
            _ => {}
        }
        Ok(())
    }

    fn pointer(&self) -> Pointer {
        match &self.sheet {
            Some(sheet) => Pointer::Sheet { name: sheet.name.clone(), range: None },
            None if self.slide > 0 => Pointer::Slide(self.slide),
            None => Pointer::Whole,
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    /// Adds text in which white space, line breaks too, counts as one space.
    fn add_folded(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let Some(readings) = self.ruby.before(text) else { return };
        paragraph.text.push_str(&readings);
        for char in text.chars() {
            if !char.is_ascii_whitespace() {
                paragraph.text.push(char);
            } else if !paragraph.text.ends_with(' ') {
                paragraph.text.push(' ');
            }
        }
    }

    fn end_paragraph(&mut self, output: &mut Output) -> Result<()> {
        let Some(mut paragraph) = self.paragraphs.pop() else { return Ok(()) };
        paragraph.text.push_str(&self.ruby.finish());
        if self.in_annotation {
            self.annotations.push(paragraph.text);
            return Ok(());
        }
        if self.in_note_body {
            self.notes.push(paragraph.text);
            return Ok(());
        }
        if let Some(table) = self.tables.last_mut() {
            table.cell.push_str(&paragraph.text);
            table.cell.push(' ');
            return Ok(());
        }
        if let Some(sheet) = &mut self.sheet {
            sheet.cell.push_str(&paragraph.text);
            sheet.cell.push(' ');
            return Ok(());
        }
        let kind = if self.in_notes { BlockKind::Other } else { paragraph.kind };
        let text = if kind == BlockKind::ListItem {
            let number = self.lists.take_number().map(|it| it + " ").unwrap_or_default();
            let indent = list_indent(self.lists.depth());
            format!("{indent}{number}{}", paragraph.text.trim_start())
        } else {
            paragraph.text
        };
        output.push(kind, &self.pointer(), text)
    }

    /// Pushes comments and footnotes after what they belong to.
    fn push_asides(&mut self, output: &mut Output) -> Result<()> {
        let pointer = self.pointer();
        for text in self.notes.drain(..).chain(self.annotations.drain(..)) {
            output.push(BlockKind::Other, &pointer, text)?;
        }
        Ok(())
    }

    fn start_table(
        &mut self,
        attribute: &dyn Fn(&str) -> Option<String>,
        output: &mut Output,
    ) -> Result<()> {
        if self.format != Format::Ods || self.sheet.is_some() {
            self.tables.push(Table::default());
            return Ok(());
        }
        let name = attribute("name").unwrap_or_default();
        let style = attribute("style-name").unwrap_or_default();
        crate::ooxml::push_sheet_name(&name, self.hidden_styles.contains(&style), output)?;
        self.sheet = Some(Sheet {
            rows: SheetRows::new(&name),
            name,
            row: 0,
            column: 0,
            row_repeats: 1,
            cell_repeats: 1,
            cell: String::new(),
            without_text: String::new(),
            cells: Vec::new(),
        });
        Ok(())
    }

    fn end_cell(&mut self) {
        if let Some(table) = self.tables.last_mut() {
            let cell = std::mem::take(&mut table.cell);
            table.rows.cell(&cell);
        } else if let Some(sheet) = &mut self.sheet {
            if sheet.cell.trim().is_empty() {
                sheet.cell = std::mem::take(&mut sheet.without_text);
            }
            if !sheet.cell.trim().is_empty() {
                for offset in 0..sheet.cell_repeats.min(MAX_REPEATS) {
                    let column = sheet.column.saturating_add(offset);
                    sheet.cells.push((sheet.row, column, sheet.cell.clone()));
                }
            }
            sheet.column = sheet.column.saturating_add(sheet.cell_repeats);
        }
    }

    fn end_row(&mut self, output: &mut Output) -> Result<()> {
        let pointer = self.pointer();
        let is_outermost = self.tables.len() == 1 && self.sheet.is_none();
        if let Some(table) = self.tables.last_mut() {
            if is_outermost {
                table.rows.end_row(&pointer, output)?;
            }
        } else if let Some(sheet) = &mut self.sheet {
            let cells = std::mem::take(&mut sheet.cells);
            if !cells.is_empty() {
                for offset in 0..sheet.row_repeats.min(MAX_REPEATS) {
                    for (row, column, text) in &cells {
                        sheet.rows.cell(row.saturating_add(offset), *column, text, output)?;
                    }
                }
            }
            sheet.row = sheet.row.saturating_add(sheet.row_repeats);
        }
        Ok(())
    }

    fn end_table(&mut self, output: &mut Output) -> Result<()> {
        if let Some(mut table) = self.tables.pop() {
            return match (self.tables.last_mut(), &mut self.sheet) {
                (Some(outer), _) => {
                    outer.cell.push_str(&table.rows.flat());
                    Ok(())
                }
                (None, Some(sheet)) => {
                    sheet.cell.push_str(&table.rows.flat());
                    Ok(())
                }
                (None, None) => table.rows.end(&self.pointer(), output),
            };
        }
        if let Some(mut sheet) = self.sheet.take() {
            sheet.rows.end(output)?;
            self.sheet = Some(sheet);
            self.push_asides(output)?;
            self.sheet = None;
        }
        Ok(())
    }
}

fn repeats(value: Option<String>) -> u32 {
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}
