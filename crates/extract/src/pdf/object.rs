//! The values of a PDF file.

use std::rc::Rc;

/// The number of an indirect object.
pub(super) type ObjectNumber = u32;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Name(Rc<str>),
    String(Rc<[u8]>),
    Array(Rc<[Object]>),
    Dict(Rc<Dict>),
    Stream(Rc<Stream>),
    Reference(ObjectNumber),
}

/// Names to values, in the order of the file; the last of two equal names wins.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dict {
    entries: Vec<(Rc<str>, Object)>,
}

/// A dictionary with bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    pub(super) dict: Dict,
    /// Where the packed bytes are in the file.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The object that the stream is, which is what its encryption depends on.
    pub(super) number: ObjectNumber,
    pub(super) generation: u16,
}

impl Dict {
    pub(super) fn push(&mut self, name: Rc<str>, value: Object) {
        self.entries.push((name, value));
    }

    /// Gives the value as it stands, which may be a reference.
    pub(super) fn raw(&self, name: &str) -> Option<&Object> {
        self.entries.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Object)> {
        self.entries.iter().map(|(name, value)| (&**name, value))
    }
}

impl Object {
    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            Object::Integer(number) => Some(*number as f64),
            Object::Real(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Object::Integer(number) => Some(*number),
            Object::Real(number) => Some(*number as i64),
            _ => None,
        }
    }

    pub(super) fn as_name(&self) -> Option<&str> {
        match self {
            Object::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn as_string(&self) -> Option<&[u8]> {
        match self {
            Object::String(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[Object]> {
        match self {
            Object::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Gives the dictionary, of a stream too.
    pub(super) fn as_dict(&self) -> Option<&Dict> {
        match self {
            Object::Dict(dict) => Some(dict),
            Object::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    pub(super) fn as_stream(&self) -> Option<&Rc<Stream>> {
        match self {
            Object::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    pub(super) fn as_reference(&self) -> Option<ObjectNumber> {
        match self {
            Object::Reference(number) => Some(*number),
            _ => None,
        }
    }
}

/// Reads a text string: UTF-16 or UTF-8 with their marks, else the encoding of documents, which
/// is close to Latin-1.
pub(super) fn text_string(bytes: &[u8]) -> String {
    if bytes.starts_with(b"\xfe\xff")
        || bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xef\xbb\xbf")
    {
        return crate::encoding::decode(bytes, None).text;
    }
    bytes
        .iter()
        .map(|byte| match byte {
            0x80 => '•',
            0x84 => '—',
            0x85 => '–',
            0x8d => '“',
            0x8e => '”',
            0x8f => '‘',
            0x90 => '’',
            0x92 => '™',
            0x93 => 'ﬁ',
            0x94 => 'ﬂ',
            0xa0 => '€',
            byte => char::from(*byte),
        })
        .collect()
}
