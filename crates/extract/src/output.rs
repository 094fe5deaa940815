//! Where every reader puts what it finds: counts what was written and unpacked, looks at the
//! clock, and stops the reader by an error when a cap is reached.

use std::time::Instant;

use model::{Block, BlockKind, Pointer, ReadOutcome, Warning};

use crate::error::{Cap, Error, Result};
use crate::{Caps, Format};

/// The most warnings one document gives; the rest would say the same.
const MAX_WARNINGS: usize = 64;

/// Deeper headings are written like the deepest of Markdown.
const MAX_HEADING_MARKS: u8 = 6;

/// The longest number of a list item, such as `(viii)` or `1.2.10.`.
const MAX_MARK_BYTES: usize = 10;

/// The document being made.
pub(crate) struct Output<'a> {
    caps: &'a Caps,
    started: Instant,
    input_bytes: u64,
    n_expanded: u64,
    n_written: usize,
    blocks: Vec<Block>,
    warnings: Vec<Warning>,
    title: Option<String>,
    language: Option<String>,
    inner_path: Vec<String>,
    /// What kept the text away, should there be none in the end; the first that was noted.
    without_text: Option<(ReadOutcome, String)>,
}

/// What an [`Output`] ends as.
pub(crate) struct Finished {
    pub(crate) outcome: ReadOutcome,
    pub(crate) reason: Option<String>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(caps: &'a Caps, input_bytes: u64) -> Self {
        Output {
            caps,
            started: Instant::now(),
            input_bytes,
            n_expanded: 0,
            n_written: 0,
            blocks: Vec::new(),
            warnings: Vec::new(),
            title: None,
            language: None,
            inner_path: Vec::new(),
            without_text: None,
        }
    }

    pub(crate) fn caps(&self) -> &'a Caps {
        self.caps
    }

    /// Adds a block; blank text is left out.
    pub(crate) fn push(
        &mut self,
        kind: BlockKind,
        pointer: &Pointer,
        text: impl AsRef<str>,
    ) -> Result<()> {
        self.check_time()?;
        // A page break inside a line is no line break: those that point at lines count on it.
        let page_break = if matches!(pointer, Pointer::Line(_)) { ' ' } else { '\n' };
        let text = clean(text.as_ref(), kind, page_break);
        if text.is_empty() {
            return Ok(());
        }
        let mut text = marked(text, kind);
        let room = self.caps.output_bytes.saturating_sub(self.n_written);
        let is_cut = text.len() > room;
        if is_cut {
            text.truncate(text.floor_char_boundary(room));
        }
        if !text.is_empty() {
            self.n_written += text.len();
            let pointer = self.placed(pointer.clone());
            self.blocks.push(Block { text, pointer, kind });
        }
        if is_cut {
            return Err(self.capped(Cap::Output));
        }
        Ok(())
    }

    /// Notes what the document calls itself; the first title stays.
    pub(crate) fn set_title(&mut self, title: &str) {
        let title = clean(title, BlockKind::Other, ' ');
        if self.title.is_none() && self.inner_path.is_empty() && !title.is_empty() {
            self.title = Some(title.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    /// Notes the language that the document says it is in; the first stays.
    pub(crate) fn set_language(&mut self, language: &str) {
        let language = language.trim();
        let is_tag = (2..=35).contains(&language.len())
            && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if self.language.is_none() && self.inner_path.is_empty() && is_tag {
            self.language = Some(language.to_owned());
        }
    }

    pub(crate) fn warn(&mut self, code: &str, message: impl Into<String>) {
        let mut message = message.into();
        if !self.inner_path.is_empty() {
            message = format!("`{}`: {message}", self.inner_path.join(" > "));
        }
        let warning = Warning::new(code, message);
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Turns an error into a warning, and into the document's outcome if nothing can be read.
    pub(crate) fn warn_of(&mut self, error: &Error) {
        self.explain_no_text(error.outcome(), error.to_string());
        self.warn(error.code(), error.to_string());
    }

    /// Notes why there may be no text in the end; the first reason stays.
    ///
    /// A file inside another explains nothing about the outer one as a whole, except by
    /// warnings.
    pub(crate) fn explain_no_text(&mut self, outcome: ReadOutcome, reason: impl Into<String>) {
        if self.without_text.is_none() && self.inner_path.is_empty() {
            self.without_text = Some((outcome, reason.into()));
        }
    }

    /// Notes that a document has pictures: without text, they are what it says.
    pub(crate) fn explain_pictures(&mut self, n_pictures: usize) {
        if n_pictures > 0 {
            let pictures = if n_pictures == 1 { "picture" } else { "pictures" };
            let reason =
                format!("it holds {n_pictures} {pictures} and no text: run OCR on the file first");
            self.explain_no_text(ReadOutcome::Scan, reason);
        }
    }

    /// Gives how many blocks there are so far.
    pub(crate) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Counts bytes that came out of a decompressor.
    pub(crate) fn expanded(&mut self, n_bytes: u64) -> Result<()> {
        self.n_expanded = self.n_expanded.saturating_add(n_bytes);
        if self.n_expanded > self.expansion_limit() {
            return Err(self.capped(Cap::Expansion));
        }
        self.check_time()
    }

    /// Gives how many bytes may still come out of decompressors.
    pub(crate) fn expansion_room(&self) -> u64 {
        self.expansion_limit().saturating_sub(self.n_expanded)
    }

    /// Fails when time is over.
    pub(crate) fn check_time(&self) -> Result<()> {
        if self.started.elapsed() > self.caps.time {
            return Err(self.capped(Cap::Time));
        }
        Ok(())
    }

    /// Makes the error that names a cap and its value.
    pub(crate) fn capped(&self, cap: Cap) -> Error {
        let caps = self.caps;
        let limit = match cap {
            Cap::Input => format!("{} bytes for a file", caps.input_bytes),
            Cap::Time => format!("{} ms of reading", caps.time.as_millis()),
            Cap::Memory => format!("{} bytes of memory", caps.memory_bytes),
            Cap::Output => format!("{} bytes of text", caps.output_bytes),
            Cap::Nesting => format!("{} levels of nesting", caps.nesting),
            Cap::Expansion => format!(
                "{} times the file's size, or {} bytes, of unpacked content",
                caps.expansion_ratio, caps.expanded_bytes
            ),
            Cap::Entries => format!("{} files in an archive", caps.entries),
        };
        Error::Capped { cap, limit }
    }

    /// Goes into a file inside this one. Pairs with [`Output::leave`].
    pub(crate) fn enter(&mut self, path: &str) -> Result<()> {
        if self.inner_path.len() >= self.caps.archive_depth {
            return Err(Error::Capped {
                cap: Cap::Nesting,
                limit: format!("{} archives inside each other", self.caps.archive_depth),
            });
        }
        self.inner_path.push(path.to_owned());
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.inner_path.pop();
    }

    pub(crate) fn finish(self, format: Format) -> Finished {
        let mut warnings = self.warnings;
        let (mut outcome, mut reason) = (ReadOutcome::Indexed, None);
        if self.blocks.is_empty() {
            let (why, sentence) = self.without_text.unwrap_or_else(|| {
                let sentence = match warnings.first() {
                    None => format!("the {format} document holds no text"),
                    Some(warning) => {
                        format!("the {format} document gives no text: {}", warning.message)
                    }
                };
                (ReadOutcome::NoText, sentence)
            });
            if warnings.is_empty() {
                warnings.push(Warning::new(crate::warning::NO_TEXT, sentence.clone()));
            }
            (outcome, reason) = (why, Some(sentence));
        }
        let title = self.title.or_else(|| {
            let mut headings = self.blocks.iter().filter(|block| {
                matches!(block.kind, BlockKind::Heading(1))
                    && !matches!(block.pointer, Pointer::Inner { .. })
            });
            headings.next().map(|block| {
                let title = block.text.trim_start_matches('#');
                title.split_whitespace().collect::<Vec<_>>().join(" ")
            })
        });
        Finished { outcome, reason, blocks: self.blocks, warnings, title, language: self.language }
    }

    fn expansion_limit(&self) -> u64 {
        let by_ratio = self.input_bytes.saturating_mul(self.caps.expansion_ratio);
        by_ratio.max(Caps::EXPANSION_FREE_BYTES).min(self.caps.expanded_bytes)
    }

    /// Puts a place into the files it is in; archives in archives make one path.
    fn placed(&self, pointer: Pointer) -> Pointer {
        if self.inner_path.is_empty() {
            return pointer;
        }
        Pointer::Inner { path: self.inner_path.join(" > "), place: Box::new(pointer) }
    }
}

/// Writes a heading and an item of a list as Markdown does, so that structure is seen in the text.
fn marked(text: String, kind: BlockKind) -> String {
    match kind {
        BlockKind::Heading(level) => {
            let marks = "#".repeat(usize::from(level.clamp(1, MAX_HEADING_MARKS)));
            format!("{marks} {text}")
        }
        BlockKind::ListItem if !has_item_mark(text.trim_start()) => {
            let indent = text.len() - text.trim_start().len();
            let (indent, item) = text.split_at(indent);
            format!("{indent}- {item}")
        }
        BlockKind::ListItem
        | BlockKind::Paragraph
        | BlockKind::Table
        | BlockKind::Code
        | BlockKind::Other => text,
    }
}

/// Tells whether an item has a number, a letter or a bullet already.
fn has_item_mark(item: &str) -> bool {
    let Some((mark, _)) = item.split_once([' ', '\t']) else { return false };
    let is_bullet = matches!(mark, "-" | "*" | "+" | "•" | "‣" | "◦" | "▪" | "–" | "·" | "o");
    let is_number = mark.len() <= MAX_MARK_BYTES
        && (mark.ends_with(['.', ')']) || mark.starts_with('('))
        && mark.chars().any(char::is_alphanumeric);
    is_bullet || is_number
}

/// Makes text fit for a block: one kind of line break, no control characters, no blank edges.
fn clean(text: &str, kind: BlockKind, page_break: char) -> String {
    let keeps_indent = matches!(kind, BlockKind::Code | BlockKind::Table | BlockKind::ListItem);
    let text = text.trim_end();
    let text = if keeps_indent { trim_blank_lines(text) } else { text.trim_start() };
    if !text.contains(is_unwanted) {
        return text.to_owned();
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    cleaned.push('\n');
                }
            }
            '\u{b}' | '\u{c}' | '\u{85}' => cleaned.push(page_break),
            _ if is_unwanted(char) => {}
            _ => cleaned.push(char),
        }
    }
    let cleaned = cleaned.trim_end();
    if keeps_indent {
        trim_blank_lines(cleaned).to_owned()
    } else {
        cleaned.trim_start().to_owned()
    }
}

/// Tells whether a line has nothing that stays in a block.
pub(crate) fn is_blank(line: &str) -> bool {
    line.chars().all(|char| char.is_whitespace() || is_unwanted(char))
}

fn is_unwanted(char: char) -> bool {
    (char.is_control() && char != '\n' && char != '\t')
        || matches!(char, '\u{feff}' | '\u{ad}' | '\u{fffe}' | '\u{ffff}')
}

/// Takes away blank lines at the start, but not the first line's indentation.
fn trim_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    match text.get(..blank).and_then(|blank| blank.rfind(['\n', '\r'])) {
        Some(at) => text.get(at + 1..).unwrap_or_default(),
        None => text,
    }
}
