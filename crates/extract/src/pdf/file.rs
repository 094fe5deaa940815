//! The objects of a PDF file: where each is, read when asked for, decrypted, unpacked.
//!
//! References that go round, streams that claim wrong lengths and tables that lie are expected:
//! every chain of references is followed a limited number of steps.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::Format;
use crate::error::{Error, Result};
use crate::output::Output;

use super::crypt::Key;
use super::filters::{Predictor, unfiltered};
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object, ObjectNumber, Stream};
use super::xref::{ObjectPlace, Table};

/// How many references are followed from one to the next.
const MAX_STEPS: usize = 16;

/// How deep loading an object may need another one to be loaded first.
const MAX_NESTED_LOADS: usize = 24;

/// How many filters a stream may be behind.
const MAX_FILTERS: usize = 8;

/// Unpacked streams are kept up to this many bytes, since forms and fonts are used on many pages.
const KEPT_BYTES: usize = 32 << 20;

/// A file with its table of objects.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    table: Table,
    key: Option<Key>,
    objects: RefCell<HashMap<ObjectNumber, Object>>,
    containers: RefCell<HashMap<ObjectNumber, Rc<Container>>>,
    unpacked: RefCell<HashMap<usize, Rc<[u8]>>>,
    n_kept: Cell<usize>,
    n_nested: Cell<usize>,
}

/// An object stream, unpacked.
struct Container {
    bytes: Rc<[u8]>,
    offsets: HashMap<ObjectNumber, usize>,
}

impl<'a> File<'a> {
    /// Opens a file by its table, or by searching it when the table is of no use.
    pub(super) fn open(bytes: &'a [u8], output: &mut Output) -> Result<Self> {
        let mut file = File::with_table(bytes, Table::default());
        file.table = Table::read(bytes, &file, output)?;
        file.start_decrypting(output)?;
        if !file.has_pages(output)? {
            file.forget();
            file.key = None;
            file.table = Table::searched(bytes, &file, output)?;
            file.forget();
            file.start_decrypting(output)?;
            output.warn(
                crate::warning::REPAIRED,
                "the table of objects is damaged: objects were searched",
            );
        }
        Ok(file)
    }

    pub(super) fn trailer(&self) -> &Dict {
        &self.table.trailer
    }

    pub(super) fn numbers(&self) -> Vec<ObjectNumber> {
        self.table.numbers()
    }

    /// Gives an object by its number; null when there is none.
    pub(super) fn object(&self, number: ObjectNumber, output: &mut Output) -> Result<Object> {
        if let Some(object) = self.objects.borrow().get(&number) {
            return Ok(object.clone());
        }
        if self.n_nested.get() >= MAX_NESTED_LOADS {
            return Ok(Object::Null);
        }
        self.n_nested.set(self.n_nested.get() + 1);
        let loaded = self.load(number, output);
        self.n_nested.set(self.n_nested.get() - 1);
        let object = loaded?;
        self.objects.borrow_mut().insert(number, object.clone());
        Ok(object)
    }

    /// Follows references to a value.
    pub(super) fn resolved(&self, object: &Object, output: &mut Output) -> Result<Object> {
        let mut object = object.clone();
        for _ in 0..MAX_STEPS {
            match object {
                Object::Reference(number) => object = self.object(number, output)?,
                _ => return Ok(object),
            }
        }
        Ok(Object::Null)
    }

    /// Gives an entry of a dictionary with references followed; null when it is missing.
    pub(super) fn get(&self, dict: &Dict, name: &str, output: &mut Output) -> Result<Object> {
        match dict.raw(name) {
            Some(object) => self.resolved(object, output),
            None => Ok(Object::Null),
        }
    }

    /// Unpacks a stream; empty when it is a picture. What is used again is not counted again.
    pub(super) fn stream_bytes(&self, stream: &Stream, output: &mut Output) -> Result<Rc<[u8]>> {
        if let Some(bytes) = self.unpacked.borrow().get(&stream.start) {
            return Ok(Rc::clone(bytes));
        }
        let bytes: Rc<[u8]> = self.unpack(stream, output)?.into();
        let n_kept = self.n_kept.get() + bytes.len();
        if n_kept <= KEPT_BYTES {
            self.n_kept.set(n_kept);
            self.unpacked.borrow_mut().insert(stream.start, Rc::clone(&bytes));
        }
        Ok(bytes)
    }

    fn unpack(&self, stream: &Stream, output: &mut Output) -> Result<Vec<u8>> {
        let packed = self.bytes.get(stream.start..stream.end).unwrap_or_default();
        let filters = list(self.filter_entry(&stream.dict, ["Filter", "F"], output)?);
        let parameters = list(self.filter_entry(&stream.dict, ["DecodeParms", "DP"], output)?);
        let kind = stream.dict.raw("Type").and_then(Object::as_name);
        let is_plain = kind == Some("XRef")
            || filters.first().and_then(Object::as_name) == Some("Crypt")
            || (kind == Some("Metadata")
                && self.key.as_ref().is_some_and(|key| !key.encrypts_metadata));
        let mut bytes = match &self.key {
            Some(key) if !is_plain => key.open_stream(packed, stream.number, stream.generation),
            _ if filters.is_empty() => {
                output.expanded(packed.len() as u64)?;
                packed.to_vec()
            }
            _ => Vec::new(),
        };
        let mut is_fresh = self.key.is_none() || is_plain;
        for (filter_idx, filter) in filters.iter().take(MAX_FILTERS).enumerate() {
            let filter = self.resolved(filter, output)?;
            let Some(name) = filter.as_name() else { continue };
            let parameters = match parameters.get(filter_idx) {
                Some(parameters) => self.resolved(parameters, output)?,
                None => Object::Null,
            };
            let predictor = Predictor::of(parameters.as_dict(), Object::as_integer);
            let input = if is_fresh { packed } else { bytes.as_slice() };
            match unfiltered(name, input, predictor, output)? {
                Some(plain) => bytes = plain,
                None => return Ok(Vec::new()),
            }
            is_fresh = false;
        }
        Ok(bytes)
    }

    /// Reads an object that is at a place of the file; gives its number with it.
    pub(super) fn object_at(
        &self,
        at: usize,
        output: &mut Output,
    ) -> Result<Option<(ObjectNumber, Object)>> {
        let mut lexer = Lexer::new(self.bytes, at);
        let head = lexer.unsigned().zip(lexer.unsigned());
        let Some((number, generation)) = head.filter(|_| lexer.skip_word(b"obj")) else {
            return Ok(None);
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let generation = u16::try_from(generation).unwrap_or_default();
        let Some(object) = lexer.object() else { return Ok(Some((number, Object::Null))) };
        let object = match object {
            Object::Dict(dict) if lexer.skip_word(b"stream") => {
                let start = data_start(self.bytes, lexer.at());
                let end = self.data_end(&dict, start, output)?;
                let dict = Rc::unwrap_or_clone(dict);
                Object::Stream(Rc::new(Stream { dict, start, end, number, generation }))
            }
            object => object,
        };
        Ok(Some((number, self.decrypted(&object, number, generation))))
    }

    fn with_table(bytes: &'a [u8], table: Table) -> Self {
        File {
            bytes,
            table,
            key: None,
            objects: RefCell::default(),
            containers: RefCell::default(),
            unpacked: RefCell::default(),
            n_kept: Cell::new(0),
            n_nested: Cell::new(0),
        }
    }

    fn forget(&mut self) {
        self.objects.borrow_mut().clear();
        self.containers.borrow_mut().clear();
        self.unpacked.borrow_mut().clear();
    }

    fn has_pages(&self, output: &mut Output) -> Result<bool> {
        let catalog = self.get(&self.table.trailer, "Root", output)?;
        let Some(catalog) = catalog.as_dict() else { return Ok(false) };
        let pages = self.get(catalog, "Pages", output)?;
        let Some(pages) = pages.as_dict() else { return Ok(false) };
        let kids = self.get(pages, "Kids", output)?;
        for kid in kids.as_array().unwrap_or_default().iter().take(4) {
            if self.resolved(kid, output)?.as_dict().is_none() {
                return Ok(false);
            }
        }
        Ok(kids.as_array().is_some_and(|kids| !kids.is_empty()))
    }

    fn start_decrypting(&mut self, output: &mut Output) -> Result<()> {
        let encrypt = self.get(&self.table.trailer, "Encrypt", output)?;
        let Some(encrypt) = encrypt.as_dict() else { return Ok(()) };
        // Entries of the dictionary may be references themselves.
        let mut entries = Dict::default();
        for (name, value) in encrypt.iter() {
            entries.push(Rc::from(name), self.resolved(value, output)?);
        }
        let id = self.get(&self.table.trailer, "ID", output)?;
        let first = id.as_array().and_then(<[Object]>::first).cloned().unwrap_or(Object::Null);
        let first = self.resolved(&first, output)?;
        let key = Key::with_empty_password(&entries, first.as_string().unwrap_or_default());
        let Some(key) = key else { return Err(Error::Encrypted { format: Format::Pdf }) };
        self.forget();
        self.key = Some(key);
        Ok(())
    }

    fn load(&self, number: ObjectNumber, output: &mut Output) -> Result<Object> {
        match self.table.place(number) {
            Some(ObjectPlace::Offset(at)) => match self.object_at(at, output)? {
                Some((found, object)) if found == number => Ok(object),
                _ => Ok(Object::Null),
            },
            Some(ObjectPlace::Inside(container)) => self.load_inside(number, container, output),
            None => Ok(Object::Null),
        }
    }

    fn load_inside(
        &self,
        number: ObjectNumber,
        container: ObjectNumber,
        output: &mut Output,
    ) -> Result<Object> {
        let known = self.containers.borrow().get(&container).cloned();
        let container = match known {
            Some(container) => container,
            None => {
                let opened = Rc::new(self.open_container(container, output)?);
                self.containers.borrow_mut().insert(container, Rc::clone(&opened));
                opened
            }
        };
        let Some(at) = container.offsets.get(&number) else { return Ok(Object::Null) };
        Ok(Lexer::new(&container.bytes, *at).object().unwrap_or(Object::Null))
    }

    fn open_container(&self, number: ObjectNumber, output: &mut Output) -> Result<Container> {
        let mut container = Container { bytes: Rc::from([]), offsets: HashMap::new() };
        // A container inside a container would let a file ask for itself.
        let Some(ObjectPlace::Offset(at)) = self.table.place(number) else { return Ok(container) };
        let Some((_, Object::Stream(stream))) = self.object_at(at, output)? else {
            return Ok(container);
        };
        let n_objects = self.get(&stream.dict, "N", output)?.as_integer().unwrap_or_default();
        let first = self.get(&stream.dict, "First", output)?.as_integer().unwrap_or_default();
        let first = usize::try_from(first).unwrap_or_default();
        container.bytes = self.stream_bytes(&stream, output)?;
        let mut lexer = Lexer::new(&container.bytes, 0);
        for _ in 0..n_objects.max(0) {
            let Some((number, offset)) = lexer.unsigned().zip(lexer.unsigned()) else { break };
            let at = usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(first);
            container.offsets.insert(u32::try_from(number).unwrap_or(u32::MAX), at);
        }
        Ok(container)
    }

    fn filter_entry(&self, dict: &Dict, names: [&str; 2], output: &mut Output) -> Result<Object> {
        for name in names {
            if dict.raw(name).is_some() {
                return self.get(dict, name, output);
            }
        }
        Ok(Object::Null)
    }

    /// Finds where a stream ends: where it says, if the word for it is there.
    fn data_end(&self, dict: &Dict, start: usize, output: &mut Output) -> Result<usize> {
        let length = self.get(dict, "Length", output)?.as_integer();
        if let Some(length) = length.and_then(|length| usize::try_from(length).ok()) {
            let end = start.saturating_add(length);
            if end <= self.bytes.len() && Lexer::new(self.bytes, end).skip_word(b"endstream") {
                return Ok(end);
            }
        }
        let rest = self.bytes.get(start..).unwrap_or_default();
        let end = memchr::memmem::find(rest, b"endstream")
            .or_else(|| memchr::memmem::find(rest, b"endobj"))
            .unwrap_or(rest.len());
        let data = rest.get(..end).unwrap_or_default();
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        let data = data.strip_suffix(b"\r").unwrap_or(data);
        Ok(start + data.len())
    }

    fn decrypted(&self, object: &Object, number: ObjectNumber, generation: u16) -> Object {
        let Some(key) = &self.key else { return object.clone() };
        match object {
            Object::String(bytes) => {
                Object::String(key.open_string(bytes, number, generation).into())
            }
            Object::Array(items) => Object::Array(
                items.iter().map(|item| self.decrypted(item, number, generation)).collect(),
            ),
            Object::Dict(dict) => {
                let mut opened = Dict::default();
                for (name, value) in dict.iter() {
                    opened.push(Rc::from(name), self.decrypted(value, number, generation));
                }
                Object::Dict(Rc::new(opened))
            }
            _ => object.clone(),
        }
    }
}

/// Gives a list, also where one value stands for a list of one.
fn list(object: Object) -> Vec<Object> {
    match object {
        Object::Null => Vec::new(),
        Object::Array(items) => items.to_vec(),
        object => vec![object],
    }
}

/// Skips the line break after the word `stream`.
fn data_start(bytes: &[u8], at: usize) -> usize {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => at + 2,
        (Some(b'\r' | b'\n'), _) => at + 1,
        (Some(b' '), Some(b'\n')) => at + 2,
        _ => at,
    }
}

/// Reads the trailer dictionary that is next, if one does.
pub(super) fn dict_after(lexer: &mut Lexer) -> Option<Dict> {
    match lexer.token()? {
        Token::Value(Object::Dict(dict)) => Some(Rc::unwrap_or_clone(dict)),
        Token::Value(_) | Token::Operator(_) => None,
    }
}
