//! Tags and text in, blocks out: what of a page is a heading, a list item, a table, or unseen.

use model::BlockKind;

use crate::flow::{Flow, list_indent};
use crate::grid::TextTable;
use crate::ruby::Ruby;

/// How many open elements an end tag is searched in; deeper ones are left open.
const SEARCH_DEPTH: usize = 256;

/// Something found in a page.
pub(crate) enum Note {
    Title(String),
    Language(String),
    Block(BlockKind, String),
}

/// The state of the walk through a page.
pub(crate) struct HtmlBlocks {
    notes: Vec<Note>,
    flow: Flow,
    open: Vec<Open>,
    tables: Vec<Table>,
    /// For each open list, the number of its last item; none for lists without numbers.
    lists: Vec<Option<i64>>,
    item_number: Option<i64>,
    n_hidden: usize,
    n_preformatted: usize,
    in_title: bool,
    title: String,
    ruby: Ruby,
}

struct Open {
    name: String,
    is_hidden: bool,
}

#[derive(Default)]
struct Table {
    rows: TextTable,
    n_columns: usize,
    n_rows: usize,
    /// The table only arranges a page: its cells are paragraphs of their own.
    is_layout: bool,
    in_cell: bool,
}

impl HtmlBlocks {
    pub(crate) fn new() -> Self {
        HtmlBlocks {
            notes: Vec::new(),
            flow: Flow::default(),
            open: Vec::new(),
            tables: Vec::new(),
            lists: Vec::new(),
            item_number: None,
            n_hidden: 0,
            n_preformatted: 0,
            in_title: false,
            title: String::new(),
            ruby: Ruby::default(),
        }
    }

    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.n_hidden > 0 {
        } else if let Some(readings) = self.ruby.before(text) {
            self.flow.attach(&readings);
            match self.n_preformatted {
                0 => self.flow.fold(text),
                _ => self.flow.push(text),
            }
        }
    }

    pub(crate) fn start(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) {
        match name {
            "html" => {
                if let Some(language) = attribute("lang").or_else(|| attribute("xml:lang")) {
                    self.notes.push(Note::Language(language));
                }
            }
            "br" => {
                if self.tables.last().is_some_and(|table| !table.is_layout) {
                    self.flow.space();
                } else if self.n_hidden == 0 {
                    self.flow.line_break();
                }
            }
            "hr" => self.flush(),
            "img" if self.n_hidden == 0 => {
                // What a reader without pictures is told.
                if let Some(text) = attribute("alt") {
                    self.flow.space();
                    self.flow.fold(&text);
                    self.flow.space();
                }
            }
            _ => {}
        }
        if is_void(name) {
            return;
        }
        // A picture's title is not the page's; it is hidden like the picture.
        if name == "title" && self.n_hidden == 0 {
            self.in_title = true;
            self.open.push(Open { name: name.to_owned(), is_hidden: false });
            return;
        }
        self.close_implied(name);
        let is_hidden = is_unseen(name)
            || attribute("hidden").is_some_and(|value| value != "until-found")
            || attribute("style").is_some_and(|style| {
                let style = style.to_ascii_lowercase().replace(' ', "");
                style.contains("display:none") || style.contains("visibility:hidden")
            });
        if is_block(name) {
            self.flush();
        }
        self.n_hidden += usize::from(is_hidden);
        self.open.push(Open { name: name.to_owned(), is_hidden });
        if self.n_hidden > 0 {
            return;
        }
        match name {
            "pre" | "listing" | "textarea" => self.n_preformatted += 1,
            "table" => {
                self.arranges_only();
                self.tables.push(Table::default());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.arranges_only(),
            "tr" => self.end_row(),
            "td" | "th" => {
                self.end_cell();
                let span = |name: &str| {
                    attribute(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1)
                };
                if let Some(table) = self.tables.last_mut() {
                    table.in_cell = true;
                    (table.n_columns, table.n_rows) = (span("colspan"), span("rowspan"));
                }
            }
            "ol" => {
                let start: i64 = attribute("start").and_then(|at| at.parse().ok()).unwrap_or(1);
                self.lists.push(Some(start.saturating_sub(1)));
            }
            "ul" | "menu" | "dir" => self.lists.push(None),
            "li" => self.start_item(attribute("value")),
            "ruby" => self.ruby.begin(),
            "rt" => self.ruby.begin_reading(),
            "option" | "button" | "label" | "input" => self.flow.space(),
            _ => {}
        }
    }

    pub(crate) fn end(&mut self, name: &str) {
        if name == "p" || name == "br" {
            self.flush();
        }
        let searched = self.open.iter().rev().take(SEARCH_DEPTH);
        let Some(from_top) = searched.into_iter().position(|open| open.name == name) else {
            return;
        };
        // A stray end tag inside a cell does not close what is around the table.
        let crosses_cell = !matches!(name, "table" | "tr" | "tbody" | "thead" | "body" | "html")
            && self
                .open
                .iter()
                .rev()
                .take(from_top)
                .any(|open| matches!(open.name.as_str(), "td" | "th"));
        if crosses_cell && !matches!(name, "td" | "th") {
            return;
        }
        for _ in 0..=from_top {
            if let Some(open) = self.open.last() {
                let name = open.name.clone();
                self.close(&name);
            }
        }
    }

    pub(crate) fn end_of_page(&mut self) {
        while let Some(open) = self.open.last() {
            let name = open.name.clone();
            self.close(&name);
        }
        self.flush();
        while !self.tables.is_empty() {
            self.end_table();
        }
    }

    /// Closes the innermost element.
    fn close(&mut self, name: &str) {
        if name == "title" && self.in_title {
            self.in_title = false;
            self.notes.push(Note::Title(std::mem::take(&mut self.title)));
        } else if self.n_hidden == 0 {
            match name {
                "pre" | "listing" | "textarea" => {
                    self.flush();
                    self.n_preformatted = self.n_preformatted.saturating_sub(1);
                }
                "td" | "th" => self.end_cell(),
                "tr" => self.end_row(),
                "table" => self.end_table(),
                "ol" | "ul" | "menu" | "dir" => {
                    self.flush();
                    self.lists.pop();
                }
                "option" | "button" | "label" => self.flow.space(),
                "rt" => self.ruby.end_reading(),
                "ruby" => self.ruby.end(),
                _ if is_block(name) => self.flush(),
                _ => {}
            }
        }
        if let Some(closed) = self.open.pop() {
            self.n_hidden -= usize::from(closed.is_hidden);
        }
    }

    /// Closes elements whose end tag may be left out before `name` starts.
    fn close_implied(&mut self, name: &str) {
        let closes: &[&str] = match name {
            "li" => &["li"],
            "dt" | "dd" => &["dt", "dd"],
            "option" => &["option"],
            "rt" | "rp" => &["rt", "rp"],
            "tr" => &["td", "th", "tr"],
            "td" | "th" => &["td", "th"],
            "tbody" | "thead" | "tfoot" => &["td", "th", "tr", "tbody", "thead", "tfoot"],
            "p" => &["p"],
            _ if is_block(name) && self.open.last().is_some_and(|open| open.name == "p") => &["p"],
            _ => return,
        };
        while let Some(open) = self.open.last() {
            if !closes.contains(&open.name.as_str()) {
                break;
            }
            let name = open.name.clone();
            self.close(&name);
        }
    }

    /// Ends the run of text, as the block that the open elements make it.
    fn flush(&mut self) {
        self.flow.attach(&self.ruby.finish());
        if let Some(table) = self.tables.last()
            && table.in_cell
            && !table.is_layout
        {
            self.flow.space();
            return;
        }
        if self.flow.is_blank() {
            self.flow.take();
            return;
        }
        let mut text = self.flow.take();
        let kind = self.kind();
        if kind == BlockKind::ListItem {
            let indent = list_indent(self.lists.len());
            text = match self.item_number.take() {
                Some(number) => format!("{indent}{number}. {text}"),
                None => format!("{indent}{text}"),
            };
        }
        self.notes.push(Note::Block(kind, text));
    }

    fn start_item(&mut self, value: Option<String>) {
        let Some(Some(number)) = self.lists.last_mut() else {
            self.item_number = None;
            return;
        };
        *number = value.and_then(|value| value.parse().ok()).unwrap_or(number.saturating_add(1));
        self.item_number = Some(*number);
    }

    fn kind(&self) -> BlockKind {
        if self.n_preformatted > 0 {
            return BlockKind::Code;
        }
        for open in self.open.iter().rev().take(SEARCH_DEPTH) {
            match open.name.as_str() {
                "h1" => return BlockKind::Heading(1),
                "h2" => return BlockKind::Heading(2),
                "h3" => return BlockKind::Heading(3),
                "h4" => return BlockKind::Heading(4),
                "h5" => return BlockKind::Heading(5),
                "h6" => return BlockKind::Heading(6),
                "li" | "dt" | "dd" => return BlockKind::ListItem,
                "figcaption" | "caption" => return BlockKind::Other,
                "body" | "table" | "article" | "section" | "main" => break,
                _ => {}
            }
        }
        BlockKind::Paragraph
    }

    /// The innermost table holds headings or tables, so it arranges a page.
    fn arranges_only(&mut self) {
        let Some(table) = self.tables.last_mut() else { return };
        if table.is_layout || !table.in_cell {
            return;
        }
        table.is_layout = true;
        let text = table.rows.finish();
        if !text.trim().is_empty() {
            self.notes.push(Note::Block(BlockKind::Paragraph, text));
        }
        self.flush();
    }

    fn end_cell(&mut self) {
        self.flow.attach(&self.ruby.finish());
        let Some(table) = self.tables.last_mut().filter(|table| table.in_cell) else { return };
        if table.is_layout {
            self.flush();
        } else {
            let cell = self.flow.take();
            table.rows.cell_over(&cell, table.n_columns, table.n_rows);
        }
        if let Some(table) = self.tables.last_mut() {
            table.in_cell = false;
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.tables.last_mut() else { return };
        if let Some(text) = table.rows.finish_row() {
            self.notes.push(Note::Block(BlockKind::Table, text));
        }
    }

    fn end_table(&mut self) {
        self.end_row();
        let Some(mut table) = self.tables.pop() else { return };
        let text = table.rows.finish();
        if !text.trim().is_empty() {
            self.notes.push(Note::Block(BlockKind::Table, text));
        }
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements whose text no reader of the page sees.
fn is_unseen(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "noscript"
            | "iframe"
            | "noembed"
            | "noframes"
            | "svg"
            | "object"
            | "audio"
            | "video"
            | "canvas"
            | "annotation"
            | "annotation-xml"
            | "datalist"
            | "head-style"
            | "rp"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "caption"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "listing"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "optgroup"
            | "p"
            | "pre"
            | "search"
            | "section"
            | "select"
            | "summary"
            | "table"
            | "tbody"
            | "tfoot"
            | "thead"
            | "textarea"
            | "tr"
            | "ul"
    )
}
