//! Fonts: the bytes of a shown string → characters and how far each moves on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use encoding_rs::Encoding;

use crate::error::Result;
use crate::output::Output;

use super::cmap::{CMap, take_code};
use super::file::File;
use super::glyph_names::{expanded, standard_encoding, symbol_encoding, text_of};
use super::object::{Dict, Object};
use super::widths::usual_width;

/// One shown character.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// The characters; empty when the font does not say.
    pub(super) text: Rc<str>,
    /// In units of the font's size.
    pub(super) width: f32,
    /// The byte 32, to which word spacing applies.
    pub(super) is_space_byte: bool,
    /// What it stands for if its code is the number of a glyph, where the font does not say, or
    /// says no more than the number.
    pub(super) guess: Option<char>,
}

/// A font of a page.
pub(super) struct Font {
    kind: Kind,
    to_unicode: Option<CMap>,
    pub(super) is_vertical: bool,
    seen: RefCell<HashMap<u32, Shown>>,
}

enum Kind {
    Simple { texts: Vec<Option<Rc<str>>>, widths: Vec<f32>, has_encoding: bool },
    Composite(Composite),
}

struct Composite {
    codes: Codes,
    widths: HashMap<u32, f32>,
    default_width: f32,
    /// Characters by glyph, read from the font's own table.
    by_glyph: HashMap<u32, char>,
}

enum Codes {
    TwoBytes,
    Utf16,
    Legacy(&'static Encoding),
    /// Codes of JIS X 0208 in seven bits.
    Jis,
    Map(Box<CMap>),
}

impl Font {
    pub(super) fn read(file: &File, dict: &Dict, output: &mut Output) -> Result<Font> {
        let to_unicode = match file.get(dict, "ToUnicode", output)? {
            Object::Stream(stream) => {
                let map = CMap::parse(&file.stream_bytes(&stream, output)?);
                map.has_texts().then_some(map)
            }
            _ => None,
        };
        let subtype = file.get(dict, "Subtype", output)?;
        let mut is_vertical = false;
        let kind = if subtype.as_name() == Some("Type0") {
            let (composite, vertical) = read_composite(file, dict, output)?;
            is_vertical = vertical;
            Kind::Composite(composite)
        } else {
            super::simple_font::read(file, dict, subtype.as_name().unwrap_or_default(), output)?
                .into_kind()
        };
        Ok(Font { kind, to_unicode, is_vertical, seen: RefCell::default() })
    }

    /// Hands each shown character of a string to `show`.
    pub(super) fn show(&self, mut bytes: &[u8], mut show: impl FnMut(&Shown)) {
        while let Some((code, n_bytes)) = self.next_code(&mut bytes) {
            let key = code | (n_bytes as u32) << 29;
            let known = self.seen.borrow().get(&key).cloned();
            let shown = known.unwrap_or_else(|| {
                let shown = self.shown(code, n_bytes);
                self.seen.borrow_mut().insert(key, shown.clone());
                shown
            });
            show(&shown);
        }
    }

    fn next_code(&self, bytes: &mut &[u8]) -> Option<(u32, usize)> {
        let Kind::Composite(composite) = &self.kind else { return take_code(bytes, 1) };
        match &composite.codes {
            Codes::TwoBytes | Codes::Jis => take_code(bytes, 2),
            Codes::Utf16 => {
                let is_pair = bytes.first().is_some_and(|byte| (0xd8..0xdc).contains(byte));
                take_code(bytes, if is_pair { 4 } else { 2 })
            }
            Codes::Legacy(encoding) => {
                let first = *bytes.first()?;
                let is_kana = *encoding == encoding_rs::SHIFT_JIS && (0xa0..0xe0).contains(&first);
                take_code(bytes, if first < 0x80 || is_kana { 1 } else { 2 })
            }
            Codes::Map(map) => map.next_code(bytes),
        }
    }

    fn shown(&self, code: u32, n_bytes: usize) -> Shown {
        let mapped = self.to_unicode.as_ref().and_then(|map| map.text(code));
        let mapped = mapped.filter(|text| is_useful(text));
        let (own, width) = match &self.kind {
            Kind::Simple { texts, widths, .. } => {
                let at = code as usize & 0xff;
                (texts.get(at).cloned().flatten(), widths.get(at).copied().unwrap_or_default())
            }
            Kind::Composite(composite) => {
                let text = composite.text(code, n_bytes).map(Rc::from);
                (text, composite.width(code, n_bytes))
            }
        };
        let text = match mapped {
            Some(text) => with_ligatures_expanded(&text),
            None => own.unwrap_or_else(|| Rc::from("")),
        };
        let guess = self.guess(code, &text);
        Shown { text, width, is_space_byte: n_bytes == 1 && code == 32, guess }
    }

    /// Gives what a code stands for if it is the number of a glyph, where nothing else is said.
    fn guess(&self, code: u32, text: &str) -> Option<char> {
        let is_own_number = || {
            let mut chars = text.chars();
            let is_code =
                chars.next().is_some_and(|char| char.is_ascii_graphic() && char as u32 == code);
            is_code && chars.next().is_none()
        };
        let glyph = match &self.kind {
            Kind::Simple { has_encoding, .. } => {
                let says_nothing = !has_encoding && self.to_unicode.is_none();
                (says_nothing && (text.is_empty() || is_own_number())).then_some(code)
            }
            Kind::Composite(composite) => match &composite.codes {
                Codes::TwoBytes | Codes::Map(_) => {
                    (text.is_empty() || is_own_number()).then(|| composite.id(code))
                }
                Codes::Utf16 | Codes::Legacy(_) | Codes::Jis => None,
            },
        };
        super::shifted::usual_char(glyph?)
    }
}

/// A simple font, read.
pub(super) struct Simple {
    pub(super) texts: Vec<Option<Rc<str>>>,
    pub(super) widths: Vec<f32>,
    /// Whether the font says what its codes stand for; all but TrueType fonts do by their kind.
    pub(super) has_encoding: bool,
}

impl Simple {
    fn into_kind(self) -> Kind {
        let Simple { texts, widths, has_encoding } = self;
        Kind::Simple { texts, widths, has_encoding }
    }
}

impl Composite {
    fn id(&self, code: u32) -> u32 {
        match &self.codes {
            Codes::Map(map) => map.id(code).unwrap_or(code),
            _ => code,
        }
    }

    fn width(&self, code: u32, n_bytes: usize) -> f32 {
        match &self.codes {
            // The widths are listed by glyph, which these encodings do not give.
            Codes::Legacy(_) | Codes::Utf16 | Codes::Jis => {
                let is_narrow =
                    n_bytes == 1 || (code < 0x250 && matches!(self.codes, Codes::Utf16));
                if is_narrow { 0.5 } else { self.default_width }
            }
            Codes::TwoBytes | Codes::Map(_) => {
                self.widths.get(&self.id(code)).copied().unwrap_or(self.default_width)
            }
        }
    }

    fn text(&self, code: u32, n_bytes: usize) -> Option<String> {
        let bytes = code.to_be_bytes();
        let bytes = bytes.get(4 - n_bytes..)?;
        match &self.codes {
            Codes::Utf16 => {
                let units: Vec<u16> =
                    bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
                String::from_utf16(&units).ok()
            }
            Codes::Legacy(encoding) => {
                Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
            }
            Codes::Jis => {
                let raised: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
                Some(encoding_rs::EUC_JP.decode_without_bom_handling(&raised).0.into_owned())
            }
            Codes::TwoBytes | Codes::Map(_) => {
                self.by_glyph.get(&self.id(code)).map(char::to_string)
            }
        }
    }
}

fn read_composite(file: &File, dict: &Dict, output: &mut Output) -> Result<(Composite, bool)> {
    let descendants = file.get(dict, "DescendantFonts", output)?;
    let descendant = match descendants.as_array().and_then(<[Object]>::first) {
        Some(descendant) => file.resolved(descendant, output)?,
        None => descendants.clone(),
    };
    let empty = Dict::default();
    let descendant = descendant.as_dict().unwrap_or(&empty);
    let (codes, is_vertical) = match file.get(dict, "Encoding", output)? {
        Object::Name(name) => named_codes(&name),
        Object::Stream(stream) => {
            let mut map = CMap::parse(&file.stream_bytes(&stream, output)?);
            let mode = file.get(&stream.dict, "WMode", output)?;
            map.is_vertical |= mode.as_integer() == Some(1);
            let is_vertical = map.is_vertical;
            match &map.parent {
                Some(parent) if !map.has_spaces() => (named_codes(parent).0, is_vertical),
                _ if !map.has_spaces() => (Codes::TwoBytes, is_vertical),
                _ => (Codes::Map(Box::new(map)), is_vertical),
            }
        }
        _ => (Codes::TwoBytes, false),
    };
    let default_width = file.get(descendant, "DW", output)?.as_number().unwrap_or(1000.0);
    let mut composite = Composite {
        codes,
        widths: read_widths(file, descendant, output)?,
        default_width: default_width as f32 / 1000.0,
        by_glyph: HashMap::new(),
    };
    let needs_table = dict.raw("ToUnicode").is_none()
        && matches!(composite.codes, Codes::TwoBytes | Codes::Map(_));
    if needs_table {
        composite.by_glyph = super::embedded::chars_by_glyph(file, descendant, output)?;
    }
    Ok((composite, is_vertical))
}

/// Tells how a predefined map reads codes, and whether it writes downwards.
fn named_codes(name: &str) -> (Codes, bool) {
    let is_vertical = name.ends_with("-V") || name == "V";
    let codes = if name.starts_with("Identity") {
        Codes::TwoBytes
    } else if name.contains("UCS2") || name.contains("UTF16") {
        Codes::Utf16
    } else if name.contains("RKSJ") {
        Codes::Legacy(encoding_rs::SHIFT_JIS)
    } else if name.starts_with("GB") {
        Codes::Legacy(encoding_rs::GBK)
    } else if name.contains("B5") {
        Codes::Legacy(encoding_rs::BIG5)
    } else if name.starts_with("KSC") {
        Codes::Legacy(encoding_rs::EUC_KR)
    } else if name.starts_with("EUC") {
        Codes::Legacy(encoding_rs::EUC_JP)
    } else if matches!(name, "H" | "V") {
        Codes::Jis
    } else {
        Codes::TwoBytes
    };
    (codes, is_vertical)
}

fn read_widths(file: &File, descendant: &Dict, output: &mut Output) -> Result<HashMap<u32, f32>> {
    let mut widths = HashMap::new();
    let list = file.get(descendant, "W", output)?;
    let mut items = list.as_array().unwrap_or_default().iter();
    while let Some(first) = items.next() {
        let first =
            file.resolved(first, output)?.as_integer().and_then(|id| u32::try_from(id).ok());
        let (Some(first), Some(second)) = (first, items.next()) else { break };
        match file.resolved(second, output)? {
            Object::Array(run) => {
                for (id, width) in (first..).zip(run.iter()) {
                    let width = file.resolved(width, output)?.as_number().unwrap_or_default();
                    widths.insert(id, width as f32 / 1000.0);
                }
            }
            last => {
                let last = last.as_integer().and_then(|id| u32::try_from(id).ok()).unwrap_or(first);
                let width = items.next().and_then(Object::as_number).unwrap_or_default();
                for id in first..=last.min(first.saturating_add(0xffff)) {
                    widths.insert(id, width as f32 / 1000.0);
                }
            }
        }
    }
    Ok(widths)
}

fn is_useful(text: &str) -> bool {
    !text.is_empty() && !text.chars().all(|char| char.is_control() || char == '\u{fffd}')
}

fn with_ligatures_expanded(text: &str) -> Rc<str> {
    if !text.contains(|char| expanded(char).is_some()) {
        return Rc::from(text);
    }
    let mut plain = String::new();
    for char in text.chars() {
        match expanded(char) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(char),
        }
    }
    Rc::from(plain)
}

/// Gives the characters of a byte in the encoding that a font starts from.
pub(super) fn base_text(encoding: Base, byte: u8) -> Option<Rc<str>> {
    let char = match encoding {
        Base::Standard => standard_encoding(byte)?,
        Base::Symbol => symbol_encoding(byte)?,
        Base::WinAnsi | Base::MacRoman => {
            let encoding = if encoding == Base::WinAnsi {
                encoding_rs::WINDOWS_1252
            } else {
                encoding_rs::MACINTOSH
            };
            let bytes = [byte];
            let char = encoding.decode_without_bom_handling(&bytes).0.chars().next()?;
            if char.is_control() {
                return None;
            }
            char
        }
        Base::Nothing => return None,
    };
    Some(expanded(char).map_or_else(|| Rc::from(char.to_string()), Rc::from))
}

/// The encodings that simple fonts start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Standard,
    WinAnsi,
    MacRoman,
    Symbol,
    Nothing,
}

/// Gives the characters of a glyph's name.
pub(super) fn named_text(name: &str) -> Option<Rc<str>> {
    text_of(name).map(Rc::from)
}

/// Gives the width that a font usually has for a byte, in units of its size.
pub(super) fn usual(font_name: &str, byte: u8) -> f32 {
    usual_width(font_name, byte) / 1000.0
}
