//! The table that says where each object of a file is: as the file gives it, or as a search
//! through the whole file finds it.

use std::collections::{HashMap, HashSet};

use crate::Format;
use crate::error::{Error, Result};
use crate::output::Output;

use super::file::{File, dict_after};
use super::lexer::{Lexer, is_white};
use super::object::{Dict, Object, ObjectNumber};

/// How far from the end of a file its start of the table is named.
const TAIL_BYTES: usize = 4096;

/// How many earlier versions of a table are read.
const MAX_VERSIONS: usize = 512;

/// More objects than this are not listed.
const MAX_OBJECTS: usize = 8 << 20;

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectPlace {
    Offset(usize),
    /// In the object stream of this number.
    Inside(ObjectNumber),
}

/// Places by number, and what the file says about itself.
#[derive(Debug, Default)]
pub(super) struct Table {
    places: HashMap<ObjectNumber, Option<ObjectPlace>>,
    pub(super) trailer: Dict,
}

impl Table {
    pub(super) fn place(&self, number: ObjectNumber) -> Option<ObjectPlace> {
        self.places.get(&number).copied().flatten()
    }

    pub(super) fn numbers(&self) -> Vec<ObjectNumber> {
        let mut numbers: Vec<ObjectNumber> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// Reads the table that the end of the file points at, and the versions before it. Empty
    /// when there is none that can be read.
    pub(super) fn read(bytes: &[u8], file: &File, output: &mut Output) -> Result<Table> {
        let mut table = Table::default();
        let tail_at = bytes.len().saturating_sub(TAIL_BYTES);
        let tail = bytes.get(tail_at..).unwrap_or_default();
        let Some(named_at) = memchr::memmem::rfind(tail, b"startxref") else { return Ok(table) };
        let start = Lexer::new(tail, named_at + 9).unsigned();
        // What is before the header shifts every place.
        let header = bytes.get(..1024).unwrap_or(bytes);
        let shift = memchr::memmem::find(header, b"%PDF-").unwrap_or_default();
        let mut next: Vec<usize> =
            start.and_then(|start| usize::try_from(start).ok()).into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(at) = next.pop() {
            if !seen.insert(at) || seen.len() > MAX_VERSIONS {
                continue;
            }
            output.check_time()?;
            let Some(trailer) = table.read_version(bytes, at, shift, file, output)? else {
                continue;
            };
            let earlier = |name: &str| {
                let at = trailer.raw(name).and_then(Object::as_integer)?;
                usize::try_from(at).ok()
            };
            next.extend(earlier("Prev"));
            next.extend(earlier("XRefStm"));
            table.keep_trailer(&trailer);
        }
        Ok(table)
    }

    /// Searches the whole file for objects.
    pub(super) fn searched(bytes: &[u8], file: &File, output: &mut Output) -> Result<Table> {
        let mut table = Table::default();
        let mut containers = Vec::new();
        for at in memchr::memmem::find_iter(bytes, b"obj") {
            let Some((number, start)) = object_before(bytes, at) else { continue };
            table.places.insert(number, Some(ObjectPlace::Offset(start)));
            let head = bytes.get(at..at + 200.min(bytes.len() - at)).unwrap_or_default();
            if memchr::memmem::find(head, b"ObjStm").is_some()
                || memchr::memmem::find(head, b"XRef").is_some()
                || memchr::memmem::find(head, b"Catalog").is_some()
            {
                containers.push((number, start));
            }
            if table.places.len() > MAX_OBJECTS {
                break;
            }
        }
        for at in memchr::memmem::find_iter(bytes, b"trailer") {
            output.check_time()?;
            if let Some(trailer) = dict_after(&mut Lexer::new(bytes, at + 7)) {
                table.keep_later(&trailer);
            }
        }
        table.add_containers(&containers, file, output)?;
        if table.places.is_empty() {
            return Err(Error::broken(Format::Pdf, "no object can be found in it"));
        }
        Ok(table)
    }

    fn add_containers(
        &mut self,
        containers: &[(ObjectNumber, usize)],
        file: &File,
        output: &mut Output,
    ) -> Result<()> {
        let mut catalog = None;
        for (number, at) in containers {
            output.check_time()?;
            let Some((_, object)) = file.object_at(*at, output)? else { continue };
            let Some(dict) = object.as_dict() else { continue };
            match dict.raw("Type").and_then(Object::as_name) {
                Some("XRef") => self.keep_later(dict),
                Some("Catalog") => catalog = Some(*number),
                Some("ObjStm") => {
                    let Some(stream) = object.as_stream() else { continue };
                    let unpacked = file.stream_bytes(stream, output)?;
                    let n_objects = dict.raw("N").and_then(Object::as_integer).unwrap_or_default();
                    let mut lexer = Lexer::new(&unpacked, 0);
                    for _ in 0..n_objects {
                        let Some((inner, _)) = lexer.unsigned().zip(lexer.unsigned()) else {
                            break;
                        };
                        let inner = u32::try_from(inner).unwrap_or(u32::MAX);
                        self.places.entry(inner).or_insert(Some(ObjectPlace::Inside(*number)));
                    }
                }
                _ => {}
            }
        }
        if self.trailer.raw("Root").is_none()
            && let Some(catalog) = catalog
        {
            self.trailer.push("Root".into(), Object::Reference(catalog));
        }
        Ok(())
    }

    /// Reads one version; gives its trailer.
    fn read_version(
        &mut self,
        bytes: &[u8],
        at: usize,
        shift: usize,
        file: &File,
        output: &mut Output,
    ) -> Result<Option<Dict>> {
        for at in [at, at.saturating_add(shift)] {
            let mut lexer = Lexer::new(bytes, at);
            if lexer.skip_word(b"xref") {
                let shift = if at == 0 { 0 } else { shift };
                return Ok(self.read_plain(&mut lexer, shift));
            }
            if let Some((_, Object::Stream(stream))) = file.object_at(at, output)? {
                let unpacked = file.stream_bytes(&stream, output)?;
                self.read_packed(&stream.dict, &unpacked, shift);
                return Ok(Some(stream.dict.clone()));
            }
            if shift == 0 {
                break;
            }
        }
        Ok(None)
    }

    fn read_plain(&mut self, lexer: &mut Lexer, shift: usize) -> Option<Dict> {
        while !lexer.skip_word(b"trailer") {
            let first = lexer.unsigned()?;
            let n_entries = lexer.unsigned()?;
            for entry_idx in 0..n_entries {
                let at = lexer.unsigned()?;
                lexer.unsigned()?;
                lexer.skip_white();
                let is_used = lexer.peek() == Some(b'n');
                lexer.set_at(lexer.at() + 1);
                let number = u32::try_from(first.checked_add(entry_idx)?).ok()?;
                let at = usize::try_from(at).ok()?.checked_add(shift)?;
                self.insert(number, is_used.then_some(ObjectPlace::Offset(at)));
            }
        }
        dict_after(lexer)
    }

    fn read_packed(&mut self, dict: &Dict, unpacked: &[u8], shift: usize) {
        let numbers = |name: &str| -> Vec<usize> {
            let list = dict.raw(name).and_then(Object::as_array).unwrap_or_default();
            list.iter()
                .filter_map(Object::as_integer)
                .filter_map(|number| usize::try_from(number).ok())
                .collect()
        };
        let widths = numbers("W");
        let &[kind_len, second_len, third_len] = widths.as_slice() else { return };
        let n_entry = kind_len.saturating_add(second_len).saturating_add(third_len);
        if n_entry == 0 || n_entry > 64 {
            return;
        }
        let mut sections = numbers("Index");
        if sections.is_empty() {
            let size = dict.raw("Size").and_then(Object::as_integer).unwrap_or_default();
            sections = vec![0, usize::try_from(size).unwrap_or_default()];
        }
        let mut entries = unpacked.chunks_exact(n_entry);
        for section in sections.as_chunks::<2>().0 {
            for number in (section[0]..).take(section[1]) {
                let Some(entry) = entries.next() else { return };
                let (kind, rest) = entry.split_at(kind_len);
                let (second, third) = rest.split_at(second_len);
                let kind = if kind_len == 0 { 1 } else { big_endian(kind) };
                let (second, _third) = (big_endian(second), big_endian(third));
                let place = match kind {
                    1 => Some(ObjectPlace::Offset(second.saturating_add(shift))),
                    2 => u32::try_from(second).ok().map(ObjectPlace::Inside),
                    _ => None,
                };
                if let Ok(number) = u32::try_from(number) {
                    self.insert(number, place);
                }
            }
        }
    }

    /// Keeps the newest place of an object, which is met first.
    fn insert(&mut self, number: ObjectNumber, place: Option<ObjectPlace>) {
        if self.places.len() < MAX_OBJECTS {
            self.places.entry(number).or_insert(place);
        }
    }

    fn keep_trailer(&mut self, trailer: &Dict) {
        for (name, value) in trailer.iter() {
            if self.trailer.raw(name).is_none() {
                self.trailer.push(name.into(), value.clone());
            }
        }
    }

    /// Takes a trailer that is later in the file, when it leads to a document.
    fn keep_later(&mut self, trailer: &Dict) {
        for (name, value) in trailer.iter() {
            if matches!(name, "Root" | "Info" | "Encrypt" | "ID") {
                self.trailer.push(name.into(), value.clone());
            }
        }
    }
}

fn big_endian(bytes: &[u8]) -> usize {
    bytes.iter().fold(0_usize, |value, byte| value.wrapping_shl(8) | usize::from(*byte))
}

/// Reads backwards from the word `obj` to the number of the object.
fn object_before(bytes: &[u8], word_at: usize) -> Option<(ObjectNumber, usize)> {
    let mut at = word_at;
    let back = |at: &mut usize, test: fn(u8) -> bool| {
        let end = *at;
        while let Some(byte) = at.checked_sub(1).and_then(|before| bytes.get(before))
            && test(*byte)
            && end - *at < 20
        {
            *at -= 1;
        }
        end - *at
    };
    let is_digit: fn(u8) -> bool = |byte| byte.is_ascii_digit();
    let white: fn(u8) -> bool = is_white;
    (back(&mut at, white) > 0).then_some(())?;
    (back(&mut at, is_digit) > 0).then_some(())?;
    (back(&mut at, white) > 0).then_some(())?;
    let end = at;
    (back(&mut at, is_digit) > 0).then_some(())?;
    let number = std::str::from_utf8(bytes.get(at..end)?).ok()?.parse().ok()?;
    Some((number, at))
}
