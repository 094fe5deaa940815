//! Rich Text Format: control words and groups, with text in as many encodings as it has fonts.

use std::collections::HashMap;

use encoding_rs::Encoding;
use model::{BlockKind, Pointer};

use crate::error::{Cap, Result};
use crate::flow::list_indent;
use crate::grid::TextTable;
use crate::output::Output;

/// How deep groups may be in each other.
const MAX_GROUPS: usize = 4096;

/// How many control words pass between two looks at the clock.
const WORDS_PER_CHECK: u32 = 4096;

pub(crate) fn read(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut walk = Walk::new(bytes);
    let outcome = walk.run(output);
    let may_go_on = outcome.as_ref().err().is_none_or(|error| !error.stops_everything());
    if may_go_on {
        walk.finish(output)?;
    }
    outcome
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Body,
    FontTable,
    StyleSheet,
    Title,
    /// Headers, footers and notes.
    Aside,
    /// The number or the bullet before an item, for programs that know no lists.
    Mark,
    Nowhere,
}

#[derive(Clone)]
struct Group {
    destination: Destination,
    encoding: &'static Encoding,
    /// How many characters stand in for one given by its code.
    n_substitutes: usize,
    is_hidden: bool,
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    group: Group,
    groups: Vec<Group>,
    default_encoding: &'static Encoding,
    font_encodings: HashMap<i32, &'static Encoding>,
    open_font: i32,
    style_names: HashMap<i32, String>,
    open_style: i32,
    style_text: String,
    pending: Vec<u8>,
    n_to_skip: usize,
    high_surrogate: Option<u16>,
    paragraph: String,
    kind: BlockKind,
    /// The level of the paragraph in its list, from 0.
    level: usize,
    mark: String,
    in_table: bool,
    table: TextTable,
    has_rows: bool,
    aside: String,
    asides: Vec<String>,
    title: String,
    n_words: u32,
    n_pictures: usize,
    page: u32,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let encoding = encoding_rs::WINDOWS_1252;
        Walk {
            bytes,
            at: 0,
            group: Group {
                destination: Destination::Body,
                encoding,
                n_substitutes: 1,
                is_hidden: false,
            },
            groups: Vec::new(),
            default_encoding: encoding,
            font_encodings: HashMap::new(),
            open_font: 0,
            style_names: HashMap::new(),
            open_style: 0,
            style_text: String::new(),
            pending: Vec::new(),
            n_to_skip: 0,
            high_surrogate: None,
            paragraph: String::new(),
            kind: BlockKind::Paragraph,
            level: 0,
            mark: String::new(),
            in_table: false,
            table: TextTable::default(),
            has_rows: false,
            aside: String::new(),
            asides: Vec::new(),
            title: String::new(),
            n_words: 0,
            n_pictures: 0,
            page: 0,
        }
    }

    fn run(&mut self, output: &mut Output) -> Result<()> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            self.at += 1;
            match byte {
                b'{' => {
                    self.settle();
                    if self.groups.len() >= MAX_GROUPS {
                        return Err(output.capped(Cap::Nesting));
                    }
                    self.groups.push(self.group.clone());
                }
                b'}' => {
                    self.settle();
                    self.end_group();
                }
                b'\\' => self.control(output)?,
                b'\r' | b'\n' => {}
                _ => self.byte(byte),
            }
        }
        Ok(())
    }

    fn finish(&mut self, output: &mut Output) -> Result<()> {
        self.end_paragraph(output)?;
        self.end_table(output)?;
        for aside in std::mem::take(&mut self.asides) {
            output.push(BlockKind::Other, &Pointer::Whole, aside)?;
        }
        output.set_title(&self.title);
        output.explain_pictures(self.n_pictures);
        Ok(())
    }

    fn end_group(&mut self) {
        let Some(outer) = self.groups.pop() else { return };
        if self.group.destination == Destination::Aside && outer.destination != Destination::Aside {
            self.asides.push(std::mem::take(&mut self.aside));
        }
        if self.group.destination == Destination::Mark && outer.destination != Destination::Mark {
            let mark = std::mem::take(&mut self.mark);
            // A bullet is in a font of signs, and is written anew.
            if mark.chars().any(|c| c.is_ascii_alphanumeric()) {
                self.paragraph.push_str(mark.trim());
                self.paragraph.push(' ');
            }
        }
        if self.group.destination == Destination::StyleSheet {
            let name = self.style_text.trim().trim_end_matches(';').to_lowercase();
            self.style_names.insert(self.open_style, name);
            self.style_text.clear();
            self.open_style = 0;
        }
        self.group = outer;
        self.n_to_skip = 0;
    }

    fn control(&mut self, output: &mut Output) -> Result<()> {
        self.n_words = self.n_words.wrapping_add(1);
        if self.n_words.is_multiple_of(WORDS_PER_CHECK) {
            output.check_time()?;
        }
        let Some(first) = self.bytes.get(self.at).copied() else { return Ok(()) };
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            self.symbol(first);
            return Ok(());
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let n_letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count().min(32);
        let word = rest.get(..n_letters).unwrap_or_default();
        let number = rest.get(n_letters..).unwrap_or_default();
        let has_sign = number.first() == Some(&b'-');
        let digits = number.get(usize::from(has_sign)..).unwrap_or_default();
        let n_digits = digits.iter().take_while(|byte| byte.is_ascii_digit()).count().min(10);
        let value = std::str::from_utf8(digits.get(..n_digits).unwrap_or_default())
            .ok()
            .and_then(|digits| digits.parse::<i64>().ok())
            .map(|value| if has_sign { -value } else { value })
            .and_then(|value| i32::try_from(value).ok());
        self.at += n_letters;
        if n_digits > 0 {
            self.at += n_digits + usize::from(has_sign);
        }
        if self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.word(word, value, output)
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'\'' => {
                let hex = self.bytes.get(self.at..self.at + 2).unwrap_or_default();
                self.at += hex.len();
                let byte =
                    std::str::from_utf8(hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                if let Some(byte) = byte {
                    if self.n_to_skip > 0 {
                        self.n_to_skip -= 1;
                    } else {
                        self.pending.push(byte);
                    }
                }
            }
            b'*' => {
                // What follows may be ignored by who does not know it; we know none of them.
                self.settle();
                self.group.destination = Destination::Nowhere;
            }
            b'~' => self.add("\u{a0}"),
            b'_' => self.add("-"),
            b'-' => {}
            b'\r' | b'\n' => self.add("\n"),
            b'\\' | b'{' | b'}' => self.byte(symbol),
            _ => {}
        }
    }

    fn word(&mut self, word: &[u8], value: Option<i32>, output: &mut Output) -> Result<()> {
        match word {
            b"u" => {
                self.settle();
                self.unicode(value.unwrap_or_default());
                self.n_to_skip = self.group.n_substitutes;
                return Ok(());
            }
            b"bin" => {
                self.at = self.at.saturating_add(usize::try_from(value.unwrap_or(0)).unwrap_or(0));
                return Ok(());
            }
            _ => {}
        }
        self.settle();
        self.n_to_skip = 0;
        match word {
            b"uc" => self.group.n_substitutes = usize::try_from(value.unwrap_or(1)).unwrap_or(1),
            b"ansicpg" => {
                if let Some(encoding) = value.and_then(code_page) {
                    self.default_encoding = encoding;
                    self.group.encoding = encoding;
                }
            }
            b"mac" => self.default_encoding = encoding_rs::MACINTOSH,
            b"f" => {
                let font = value.unwrap_or_default();
                if self.group.destination == Destination::FontTable {
                    self.open_font = font;
                }
                self.group.encoding =
                    self.font_encodings.get(&font).copied().unwrap_or(self.default_encoding);
            }
            b"fcharset" if self.group.destination == Destination::FontTable => {
                if let Some(encoding) = value.and_then(char_set) {
                    self.font_encodings.insert(self.open_font, encoding);
                }
            }
            b"plain" => {
                self.group.encoding = self.default_encoding;
                self.group.is_hidden = false;
            }
            b"v" => self.group.is_hidden = value != Some(0),
            b"par" | b"sect" => self.end_paragraph(output)?,
            b"page" => {
                self.end_paragraph(output)?;
                self.page += 1;
            }
            b"line" | b"softline" => self.add("\n"),
            b"tab" => self.add("\t"),
            b"emdash" => self.add("—"),
            b"endash" => self.add("–"),
            b"lquote" => self.add("‘"),
            b"rquote" => self.add("’"),
            b"ldblquote" => self.add("“"),
            b"rdblquote" => self.add("”"),
            b"bullet" => self.add("•"),
            b"emspace" | b"enspace" | b"qmspace" => self.add(" "),
            b"pard" => {
                self.in_table = false;
                (self.kind, self.level) = (BlockKind::Paragraph, 0);
            }
            b"ilvl" => self.level = value.and_then(|it| usize::try_from(it).ok()).unwrap_or(0),
            b"intbl" => self.in_table = true,
            b"cell" | b"nestcell" => self.end_cell(),
            b"row" | b"nestrow" => {
                self.table.end_row(&Pointer::Whole, output)?;
                self.has_rows = true;
            }
            b"s" => {
                let style = value.unwrap_or_default();
                if self.group.destination == Destination::StyleSheet {
                    self.open_style = style;
                } else if let Some(level) = self.heading_level(style) {
                    self.kind = BlockKind::Heading(level);
                }
            }
            b"outlinelevel" => {
                let level = value.and_then(|level| u8::try_from(level).ok());
                if let Some(level) = level.filter(|level| *level < 9) {
                    self.kind = BlockKind::Heading(level + 1);
                }
            }
            b"ls" | b"pntext" | b"listtext" => {
                if !matches!(self.kind, BlockKind::Heading(_)) {
                    self.kind = BlockKind::ListItem;
                }
                if word != b"ls" && self.group.destination == Destination::Body {
                    self.group.destination = Destination::Mark;
                }
            }
            b"fonttbl" => self.group.destination = Destination::FontTable,
            b"stylesheet" => self.group.destination = Destination::StyleSheet,
            b"title" if self.group.destination == Destination::Nowhere => {
                self.group.destination = Destination::Title;
            }
            b"header" | b"footer" | b"headerl" | b"headerr" | b"headerf" | b"footerl"
            | b"footerr" | b"footerf" | b"footnote" | b"annotation" => {
                self.group.destination = Destination::Aside;
            }
            b"colortbl" | b"info" | b"pict" | b"objdata" | b"fldinst" | b"themedata"
            | b"datastore" | b"listtable" | b"listoverridetable" | b"rsidtbl" | b"generator"
            | b"latentstyles" | b"xmlnstbl" | b"bkmkstart" | b"bkmkend" | b"atnid"
            | b"atnauthor" | b"nonshppict" | b"htmlrtf" | b"revtbl" | b"filetbl" => {
                self.n_pictures += usize::from(word == b"pict");
                if word != b"htmlrtf" || value != Some(0) {
                    self.group.destination = Destination::Nowhere;
                } else {
                    self.group.destination = Destination::Body;
                }
            }
            b"shptxt" => self.group.destination = Destination::Body,
            _ => {}
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if self.n_to_skip > 0 {
            self.n_to_skip -= 1;
        } else {
            self.pending.push(byte);
        }
    }

    fn unicode(&mut self, value: i32) {
        let unit = (value & 0xffff) as u16;
        if (0xd800..0xdc00).contains(&unit) {
            self.high_surrogate = Some(unit);
            return;
        }
        let units = match self.high_surrogate.take() {
            Some(high) => vec![high, unit],
            None => vec![unit],
        };
        let text = String::from_utf16_lossy(&units);
        self.add(&text);
    }

    /// Decodes the bytes that are waiting, in the encoding of their font.
    fn settle(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let (text, _) = self.group.encoding.decode_without_bom_handling(&pending);
        self.add(&text);
    }

    fn add(&mut self, text: &str) {
        if !self.pending.is_empty() {
            self.settle();
        }
        if self.group.is_hidden {
            return;
        }
        match self.group.destination {
            Destination::Body => self.paragraph.push_str(text),
            Destination::Aside => self.aside.push_str(text),
            Destination::Mark => self.mark.push_str(text),
            Destination::Title => self.title.push_str(text),
            Destination::StyleSheet => self.style_text.push_str(text),
            Destination::FontTable | Destination::Nowhere => {}
        }
    }

    fn end_paragraph(&mut self, output: &mut Output) -> Result<()> {
        match self.group.destination {
            Destination::Body => {}
            Destination::Aside => {
                self.aside.push('\n');
                return Ok(());
            }
            Destination::FontTable
            | Destination::StyleSheet
            | Destination::Title
            | Destination::Mark
            | Destination::Nowhere => return Ok(()),
        }
        if self.in_table {
            self.paragraph.push(' ');
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.paragraph);
        if self.has_rows && !text.trim().is_empty() {
            self.end_table(output)?;
        }
        if self.kind == BlockKind::ListItem {
            text = format!("{}{}", list_indent(self.level.saturating_add(1)), text.trim_start());
        }
        output.push(self.kind, &Pointer::Whole, text)
    }

    fn end_cell(&mut self) {
        let cell = std::mem::take(&mut self.paragraph);
        self.table.cell(&cell);
        self.has_rows = true;
    }

    fn end_table(&mut self, output: &mut Output) -> Result<()> {
        self.has_rows = false;
        self.table.end(&Pointer::Whole, output)
    }

    fn heading_level(&self, style: i32) -> Option<u8> {
        let name = self.style_names.get(&style)?;
        let level: u8 = name.strip_prefix("heading")?.trim().parse().ok()?;
        Some(level.clamp(1, 9))
    }
}

pub(crate) fn code_page(page: i32) -> Option<&'static Encoding> {
    Some(match page {
        437 | 850 | 1252 => encoding_rs::WINDOWS_1252,
        866 => encoding_rs::IBM866,
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 => encoding_rs::GBK,
        949 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        1253 => encoding_rs::WINDOWS_1253,
        1254 => encoding_rs::WINDOWS_1254,
        1255 => encoding_rs::WINDOWS_1255,
        1256 => encoding_rs::WINDOWS_1256,
        1257 => encoding_rs::WINDOWS_1257,
        1258 => encoding_rs::WINDOWS_1258,
        10000 => encoding_rs::MACINTOSH,
        28592 => encoding_rs::ISO_8859_2,
        65001 => encoding_rs::UTF_8,
        _ => return None,
    })
}

fn char_set(set: i32) -> Option<&'static Encoding> {
    code_page(match set {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
