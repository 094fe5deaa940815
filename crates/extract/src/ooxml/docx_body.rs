//! The walk through one story of a Word document: its body, a header, its notes, its comments.
//!
//! Text boxes are inside runs of paragraphs, tables inside cells of tables, so paragraphs and
//! tables are kept on stacks. Deleted and moved-away text is left out; of alternative content
//! only the first choice is read.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::flow::list_indent;
use crate::grid::TextTable;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::docx_numbering::Numbering;
use crate::ooxml::docx_pages::Pages;
use crate::ooxml::docx_styles::{Styles, is_off};
use crate::ooxml::math::Math;
use crate::ooxml::package::Package;
use crate::output::Output;
use crate::ruby::Ruby;

/// Which part of a document is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Story {
    Main,
    /// Headers and footers.
    Margin,
    /// Footnotes and endnotes.
    Notes,
    Comments,
}

#[derive(Debug)]
struct Paragraph {
    text: String,
    kind: BlockKind,
    page: u32,
    style: Option<String>,
    list: Option<String>,
    level: Option<usize>,
    /// Whether it starts a page, as its style or its own properties say.
    begins_page: bool,
}

pub(crate) struct Body<'a> {
    styles: &'a Styles,
    numbering: &'a mut Numbering,
    story: Story,
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    pages: Pages,
    ends_section: bool,
    n_skipped: usize,
    in_text: bool,
    author: Option<String>,
    math: Option<Math>,
    ruby: Ruby,
}

#[derive(Default)]
struct Table {
    rows: TextTable,
    cell: String,
    n_columns: usize,
    goes_on: bool,
    /// The page on which the row begins; 0 where the document names none.
    row_page: u32,
    row_has_text: bool,
    /// The page of the rows that are gathered.
    page: u32,
}

/// Elements whose content is not part of the text a reader sees.
fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "Fallback"
            | "tabs"
            | "del"
            | "moveFrom"
            | "instrText"
            | "delText"
            | "pPrChange"
            | "rPrChange"
            | "sectPrChange"
            | "delInstrText"
    )
}

impl<'a> Body<'a> {
    pub(crate) fn new(styles: &'a Styles, numbering: &'a mut Numbering, story: Story) -> Self {
        Body {
            styles,
            numbering,
            story,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            pages: Pages::default(),
            ends_section: false,
            n_skipped: 0,
            in_text: false,
            author: None,
            math: None,
            ruby: Ruby::default(),
        }
    }

    pub(crate) fn read(mut self, package: &Package, text: &str, output: &mut Output) -> Result<()> {
        if self.story == Story::Main {
            self.pages = Pages::of(text, self.styles, package, output)?;
        }
        let mut reader = package.walk(text, output);
        let outcome = loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = tag.local_name();
                    let name = name.as_ref();
                    if self.n_skipped > 0 || is_skipped(name) {
                        self.n_skipped += 1;
                    } else if let Some(math) = &mut self.math {
                        math.start(name, &|attribute| local_attribute(&tag, attribute));
                    } else {
                        self.start(name, &|attribute| local_attribute(&tag, attribute), output)?;
                    }
                }
                Ok(Some(XmlEvent::End(name))) => {
                    if self.n_skipped > 0 {
                        self.n_skipped -= 1;
                    } else if let Some(math) = &mut self.math {
                        if math.end(&name) {
                            let formula = self.math.take().map(Math::finish).unwrap_or_default();
                            self.add(&formula);
                        }
                    } else {
                        self.end(&name, output)?;
                    }
                }
                Ok(Some(XmlEvent::Text(text))) => {
                    if self.n_skipped > 0 {
                    } else if let Some(math) = &mut self.math {
                        math.text(&text);
                    } else if self.in_text {
                        self.add(&text);
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
        outcome
    }

    fn start(
        &mut self,
        name: &str,
        attribute: &dyn Fn(&str) -> Option<String>,
        output: &mut Output,
    ) -> Result<()> {
        match name {
            "p" => {
                let kind = match self.story {
                    Story::Main => BlockKind::Paragraph,
                    Story::Margin | Story::Notes | Story::Comments => BlockKind::Other,
                };
                let page = self.pages.current().unwrap_or_default();
                self.paragraphs.push(Paragraph {
                    text: String::new(),
                    kind,
                    page,
                    style: None,
                    list: None,
                    level: None,
                    begins_page: false,
                });
            }
            "pStyle" => {
                let style = attribute("val").unwrap_or_default();
                let kind = self.styles.kind_of(&style);
                // Some programs write what the paragraph says of itself before its style.
                let own = self.paragraphs.last().map(|paragraph| paragraph.kind);
                let is_heading = matches!(kind, BlockKind::Heading(_));
                match own {
                    Some(BlockKind::Heading(_)) => {}
                    Some(BlockKind::ListItem) if !is_heading => {}
                    _ => self.set_kind(kind),
                }
                let begins_page = self.styles.begins_page(&style);
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    (paragraph.style, paragraph.begins_page) = (Some(style), begins_page);
                }
            }
            "numPr" => {
                let is_heading = self
                    .paragraphs
                    .last()
                    .is_some_and(|paragraph| matches!(paragraph.kind, BlockKind::Heading(_)));
                if !is_heading {
                    self.set_kind(BlockKind::ListItem);
                }
            }
            "numId" | "ilvl" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    match name {
                        "numId" => paragraph.list = attribute("val"),
                        _ => {
                            paragraph.level = attribute("val").and_then(|level| level.parse().ok())
                        }
                    }
                }
            }
            "outlineLvl" => {
                let level = attribute("val").and_then(|level| level.parse::<u8>().ok());
                if let Some(level) = level.filter(|level| *level < 9) {
                    self.set_kind(BlockKind::Heading(level + 1));
                }
            }
            "t" => self.in_text = true,
            "tab" | "ptab" => self.add("\t"),
            "cr" => self.add("\n"),
            "br" => {
                self.add("\n");
                if attribute("type").is_some_and(|kind| kind == "page") {
                    self.pages.forced();
                    self.split_paragraph(output)?;
                    self.turn_page();
                }
            }
            "pageBreakBefore" => {
                let is_off = is_off(attribute("val").as_deref());
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.begins_page = !is_off;
                }
            }
            "ruby" => self.ruby.begin(),
            "rt" => self.ruby.begin_reading(),
            "lastRenderedPageBreak" => {
                self.pages.laid_out();
                self.turn_page();
            }
            // The properties of a section are those of its last paragraph.
            "sectPr" => self.ends_section = !self.paragraphs.is_empty(),
            "noBreakHyphen" => self.add("-"),
            "sym" => {
                let code = attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                // Symbol fonts keep their glyphs in the private use area: no character is meant.
                let char = code.filter(|code| *code < 0xe000 || *code > 0xf8ff);
                if let Some(char) = char.and_then(char::from_u32) {
                    self.add(char.encode_utf8(&mut [0; 4]));
                }
            }
            "oMath" => self.math = Some(Math::new()),
            "tbl" => {
                let page = self.pages.current().unwrap_or_default();
                self.tables.push(Table { row_page: page, page, ..Table::default() });
            }
            "tr" => {
                let page = self.pages.current().unwrap_or_default();
                if let Some(table) = self.tables.last_mut() {
                    (table.row_page, table.row_has_text) = (page, false);
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    (table.n_columns, table.goes_on) = (1, false);
                }
            }
            "gridSpan" => {
                let n_columns = attribute("val").and_then(|value| value.parse().ok());
                if let Some(table) = self.tables.last_mut() {
                    table.n_columns = n_columns.unwrap_or(1);
                }
            }
            "vMerge" => {
                let goes_on = attribute("val").is_none_or(|value| value == "continue");
                if let Some(table) = self.tables.last_mut() {
                    table.goes_on = goes_on;
                }
            }
            "comment" => {
                self.author = attribute("author").filter(|author| !author.trim().is_empty());
            }
            "lang" => {
                if let Some(language) = attribute("val").filter(|_| self.story == Story::Main) {
                    output.set_language(&language);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, output: &mut Output) -> Result<()> {
        match name {
            "p" => self.end_paragraph(output)?,
            // The properties of a paragraph are before its text; those of its style may be taken
            // back there.
            "pPr" => {
                let begins_page = self
                    .paragraphs
                    .last_mut()
                    .is_some_and(|one| std::mem::take(&mut one.begins_page));
                if begins_page {
                    self.pages.before_paragraph();
                    self.turn_page();
                }
            }
            "rt" => self.ruby.end_reading(),
            "ruby" => self.ruby.end(),
            "t" => self.in_text = false,
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    let cell = std::mem::take(&mut table.cell);
                    if table.goes_on && cell.trim().is_empty() {
                        table.rows.continued_from_above(table.n_columns);
                    } else {
                        table.rows.cell_over(&cell, table.n_columns, 1);
                    }
                }
            }
            "tr" => {
                let is_outermost = self.tables.len() == 1;
                if let Some(table) = self.tables.last_mut() {
                    if is_outermost {
                        // Rows of one page are together; those before are on theirs.
                        if table.page != table.row_page {
                            table.rows.end_rows(&page_pointer(table.page), output)?;
                            table.page = table.row_page;
                        }
                        table.rows.end_row(&page_pointer(table.page), output)?;
                    } else {
                        table.rows.finish_row();
                    }
                }
            }
            "tbl" => self.end_table(output)?,
            _ => {}
        }
        Ok(())
    }

    /// What follows a forced page in the middle of a paragraph is on that page, not on the one that
    /// the paragraph began on.
    fn split_paragraph(&mut self, output: &mut Output) -> Result<()> {
        let [paragraph] = self.paragraphs.as_slice() else { return Ok(()) };
        if self.story != Story::Main || !self.tables.is_empty() || paragraph.text.trim().is_empty()
        {
            return Ok(());
        }
        let is_item = paragraph.kind == BlockKind::ListItem;
        let kind = if is_item { BlockKind::Paragraph } else { paragraph.kind };
        // The section ends with the whole paragraph.
        let ends_section = std::mem::take(&mut self.ends_section);
        self.end_paragraph(output)?;
        self.ends_section = ends_section;
        let page = self.pages.current().unwrap_or_default();
        let (text, style, list, level) = (String::new(), None, None, None);
        let begins_page = false;
        self.paragraphs.push(Paragraph { text, kind, page, style, list, level, begins_page });
        Ok(())
    }

    /// A paragraph without text so far is on the page that has begun.
    fn turn_page(&mut self) {
        let page = self.pages.current().unwrap_or_default();
        if let Some(paragraph) = self.paragraphs.last_mut()
            && paragraph.text.trim().is_empty()
        {
            paragraph.page = page;
        }
        if let Some(table) = self.tables.first_mut().filter(|table| !table.row_has_text) {
            table.row_page = page;
        }
    }

    fn add(&mut self, text: &str) {
        let Some(readings) = self.ruby.before(text) else { return };
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(&readings);
        }
        self.pages.text(text);
        if let Some(table) = self.tables.first_mut() {
            table.row_has_text |= !text.trim().is_empty();
        }
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn set_kind(&mut self, kind: BlockKind) {
        if let Some(paragraph) = self.paragraphs.last_mut().filter(|_| self.story == Story::Main) {
            paragraph.kind = kind;
        }
    }

    fn end_paragraph(&mut self, output: &mut Output) -> Result<()> {
        let Some(mut paragraph) = self.paragraphs.pop() else { return Ok(()) };
        paragraph.text.push_str(&self.ruby.finish());
        if std::mem::take(&mut self.ends_section) {
            self.pages.section_ended();
        }
        // List 0 takes a paragraph out of the list of its style.
        if paragraph.kind == BlockKind::ListItem && paragraph.list.as_deref() == Some("0") {
            paragraph.kind = BlockKind::Paragraph;
        }
        if !paragraph.text.trim().is_empty() {
            let number = self.numbering.number_of(
                self.styles,
                paragraph.style.as_deref(),
                paragraph.list.as_deref(),
                paragraph.level,
            );
            if let Some(number) = number {
                paragraph.text.insert_str(0, &format!("{number} "));
            }
            if paragraph.kind == BlockKind::ListItem && self.tables.is_empty() {
                let style = paragraph.style.as_deref();
                let of_style = || Some(self.styles.list_level_of(style?));
                let level = paragraph.level.or_else(of_style).unwrap_or_default();
                let depth = level.saturating_add(1);
                let text = paragraph.text.trim_start();
                paragraph.text = format!("{}{text}", list_indent(depth));
            }
        }
        if let Some(table) = self.tables.last_mut() {
            table.cell.push_str(&paragraph.text);
            table.cell.push(' ');
            return Ok(());
        }
        let pointer = page_pointer(paragraph.page);
        let text = match (self.story, self.author.take()) {
            (Story::Comments, Some(author)) if !paragraph.text.trim().is_empty() => {
                format!("Comment by {author}: {}", paragraph.text)
            }
            _ => paragraph.text,
        };
        output.push(paragraph.kind, &pointer, text)
    }

    fn end_table(&mut self, output: &mut Output) -> Result<()> {
        let Some(mut table) = self.tables.pop() else { return Ok(()) };
        match self.tables.last_mut() {
            Some(outer) => {
                outer.cell.push_str(&table.rows.flat());
                outer.cell.push(' ');
                Ok(())
            }
            None => {
                // A row that the document ends in is on its own page.
                if table.rows.has_row() && table.page != table.row_page {
                    table.rows.end_rows(&page_pointer(table.page), output)?;
                    table.page = table.row_page;
                }
                table.rows.end(&page_pointer(table.page), output)
            }
        }
    }
}

/// Names a page; 0 is none.
fn page_pointer(page: u32) -> Pointer {
    if page > 0 { Pointer::Page(page) } else { Pointer::Whole }
}
