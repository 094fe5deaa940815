//! Character maps: codes of a font → characters (or the identifiers of glyphs), and how many
//! bytes a code takes.

use std::collections::HashMap;

use super::lexer::{Lexer, Token};
use super::object::Object;

/// More entries than any font has glyphs.
const MAX_ENTRIES: usize = 1 << 18;

/// A map read from a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct CMap {
    /// For each length of a code in bytes, the ranges of codes that have it.
    spaces: Vec<(usize, u32, u32)>,
    texts: HashMap<u32, String>,
    text_ranges: Vec<(u32, u32, Vec<u16>)>,
    ids: HashMap<u32, u32>,
    id_ranges: Vec<(u32, u32, u32)>,
    pub(super) is_vertical: bool,
    /// The map that this one builds on.
    pub(super) parent: Option<String>,
}

impl CMap {
    pub(super) fn parse(bytes: &[u8]) -> CMap {
        let mut map = CMap::default();
        let mut lexer = Lexer::new(bytes, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Value(value) => operands.push(value),
                Token::Operator(operator) => {
                    map.apply(operator, &operands);
                    operands.clear();
                }
            }
            if operands.len() > MAX_ENTRIES {
                break;
            }
        }
        map.text_ranges.sort_by_key(|(from, ..)| *from);
        map.id_ranges.sort_by_key(|(from, ..)| *from);
        map
    }

    /// Tells whether the map says anything about characters.
    pub(super) fn has_texts(&self) -> bool {
        !self.texts.is_empty() || !self.text_ranges.is_empty()
    }

    /// Gives the characters of a code.
    pub(super) fn text(&self, code: u32) -> Option<String> {
        if let Some(text) = self.texts.get(&code) {
            return Some(text.clone());
        }
        let after = self.text_ranges.partition_point(|(from, ..)| *from <= code);
        let (from, to, units) = self.text_ranges.get(after.checked_sub(1)?)?;
        if code > *to {
            return None;
        }
        let mut units = units.clone();
        let last = units.last_mut()?;
        *last = last.wrapping_add((code - from) as u16);
        Some(String::from_utf16_lossy(&units))
    }

    /// Gives the identifier of a code's glyph.
    pub(super) fn id(&self, code: u32) -> Option<u32> {
        if let Some(id) = self.ids.get(&code) {
            return Some(*id);
        }
        let after = self.id_ranges.partition_point(|(from, ..)| *from <= code);
        let (from, to, id) = self.id_ranges.get(after.checked_sub(1)?)?;
        (code <= *to).then(|| id.wrapping_add(code - from))
    }

    /// Takes the next code off a string; `None` at its end.
    pub(super) fn next_code(&self, bytes: &mut &[u8]) -> Option<(u32, usize)> {
        let mut code = 0_u32;
        for n_bytes in 1..=4_usize {
            let Some(byte) = bytes.get(n_bytes - 1) else { break };
            code = code << 8 | u32::from(*byte);
            let fits = self
                .spaces
                .iter()
                .any(|(length, from, to)| *length == n_bytes && (*from..=*to).contains(&code));
            if fits {
                *bytes = bytes.get(n_bytes..)?;
                return Some((code, n_bytes));
            }
        }
        let shortest = self.spaces.iter().map(|(length, ..)| *length).min().unwrap_or(2);
        take_code(bytes, shortest)
    }

    pub(super) fn has_spaces(&self) -> bool {
        !self.spaces.is_empty()
    }

    fn apply(&mut self, operator: &[u8], operands: &[Object]) {
        match operator {
            b"endcodespacerange" => {
                for pair in operands.as_chunks::<2>().0 {
                    if let (Some(from), Some(to)) = (code_of(&pair[0]), code_of(&pair[1])) {
                        let n_bytes = pair[0].as_string().map_or(1, <[u8]>::len).clamp(1, 4);
                        self.spaces.push((n_bytes, from, to));
                    }
                }
            }
            b"endbfchar" => {
                for pair in operands.as_chunks::<2>().0 {
                    if let (Some(code), Some(units)) = (code_of(&pair[0]), units_of(&pair[1])) {
                        self.texts.insert(code, String::from_utf16_lossy(&units));
                    }
                }
            }
            b"endbfrange" => {
                for range in operands.as_chunks::<3>().0 {
                    let (Some(from), Some(to)) = (code_of(&range[0]), code_of(&range[1])) else {
                        continue;
                    };
                    if let Some(list) = range[2].as_array() {
                        for (code, item) in (from..=to).zip(list) {
                            if let Some(units) = units_of(item) {
                                self.texts.insert(code, String::from_utf16_lossy(&units));
                            }
                        }
                    } else if let Some(units) = units_of(&range[2]) {
                        self.text_ranges.push((from, to, units));
                    }
                }
            }
            b"endcidchar" => {
                for pair in operands.as_chunks::<2>().0 {
                    if let (Some(code), Some(id)) = (code_of(&pair[0]), pair[1].as_integer()) {
                        self.ids.insert(code, id as u32);
                    }
                }
            }
            b"endcidrange" => {
                for range in operands.as_chunks::<3>().0 {
                    if let (Some(from), Some(to), Some(id)) =
                        (code_of(&range[0]), code_of(&range[1]), range[2].as_integer())
                    {
                        self.id_ranges.push((from, to, id as u32));
                    }
                }
            }
            b"usecmap" => {
                self.parent = operands.last().and_then(Object::as_name).map(str::to_owned);
            }
            b"def" => {
                if let [.., Object::Name(name), Object::Integer(value)] = operands
                    && &**name == "WMode"
                {
                    self.is_vertical = *value == 1;
                }
            }
            _ => {}
        }
    }
}

/// Takes a code of a fixed length off a string.
pub(super) fn take_code(bytes: &mut &[u8], n_bytes: usize) -> Option<(u32, usize)> {
    let n_bytes = n_bytes.min(bytes.len());
    if n_bytes == 0 {
        return None;
    }
    let (code, rest) = bytes.split_at(n_bytes);
    *bytes = rest;
    Some((code.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)), n_bytes))
}

fn code_of(object: &Object) -> Option<u32> {
    let bytes = object.as_string()?;
    Some(bytes.iter().fold(0_u32, |code, byte| code << 8 | u32::from(*byte)))
}

fn units_of(object: &Object) -> Option<Vec<u16>> {
    match object {
        Object::String(bytes) if bytes.len() == 1 => Some(vec![u16::from(bytes[0])]),
        Object::String(bytes) => {
            let units: Vec<u16> =
                bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
            (!units.is_empty()).then_some(units)
        }
        Object::Name(name) => {
            let char = super::glyph_names::char_of(name)?;
            Some(char.encode_utf16(&mut [0; 2]).to_vec())
        }
        _ => None,
    }
}
