//! Texts in JSON, read without ever holding more than one large one of them: each `text` goes to a
//! file of its own as it is met. Small ones stay in memory, within bounds: a file for each costs
//! more than everything else that is done with them.
//!
//! `{title, text, metadata, tags, normalize_ocr}` is one document, `{documents: [...]}` are many.

use std::io::{BufReader, Read};
use std::path::Path;

use knowledge::{Content, Intake, NewDocument, limits};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tools::{Code, ToolError};

use super::body;
use super::upload::{ocr, too_many_documents};
use crate::http::body::MAX_JSON_VALUES;

/// Members of one document.
const MEMBERS: &[&str] = &["title", "text", "metadata", "tags", "normalize_ocr"];

/// Texts of one upload that stay in memory, in bytes of all of them.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Values of metadata and tags in one upload, of all its documents: a value costs far more memory
/// than the two bytes it may be written in.
const MAX_SMALL_VALUES: usize = 100_000;

pub(super) fn read_file(file: &Path, intake: &Intake) -> Result<Vec<NewDocument>, ToolError> {
    let open = |error: std::io::Error| ToolError::internal(error.to_string());
    read(fs_err::File::open(file).map_err(open)?, intake)
}

pub(super) fn read(from: impl Read, intake: &Intake) -> Result<Vec<NewDocument>, ToolError> {
    let reader = BufReader::new(Bounded::new(from));
    let mut json = serde_json::Deserializer::from_reader(reader);
    let mut state = State { intake, room: MAX_HELD_BYTES, n_small_values: 0, refusal: None };
    let documents = Whole(&mut state).deserialize(&mut json);
    let documents = documents.and_then(|documents| json.end().map(|()| documents));
    documents.map_err(|error| match state.refusal.take() {
        Some(refusal) => refusal,
        None => unreadable(&error),
    })
}

fn unreadable(error: &serde_json::Error) -> ToolError {
    let is_too_long = std::error::Error::source(error)
        .and_then(|cause| cause.downcast_ref::<std::io::Error>())
        .is_some_and(|error| error.kind() == std::io::ErrorKind::FileTooLarge)
        || error.io_error_kind() == Some(std::io::ErrorKind::FileTooLarge);
    if is_too_long {
        let allowed = limits::MAX_TEXT_BYTES;
        return ToolError::new(Code::TooLarge, format!("a text is larger than {allowed} bytes"))
            .with_detail("allowed", allowed)
            .with_hint("send a text of this size as a file: `multipart/form-data`, part `file`");
    }
    body::unfit(error)
}

/// What the parts of the reader share; a refusal of ours is kept beside the parser's error.
struct State<'a> {
    intake: &'a Intake,
    /// Bytes of texts that may still stay in memory.
    room: usize,
    /// Values of metadata and tags of the documents before this one.
    n_small_values: usize,
    refusal: Option<ToolError>,
}

impl State<'_> {
    fn refuse<E: serde::de::Error>(&mut self, refusal: ToolError) -> E {
        let error = E::custom(&refusal.message);
        self.refusal = Some(refusal);
        error
    }
}

/// The whole body: one document or many.
struct Whole<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for Whole<'_, '_> {
    type Value = Vec<NewDocument>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_, '_> {
    type Value = Vec<NewDocument>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with `text`, or with `documents`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Some(first) = members.next_key::<String>()? else {
            return Err(A::Error::missing_field("text"));
        };
        if first != "documents" {
            return Ok(vec![document(self.0, Some(first), members)?]);
        }
        let documents = members.next_value_seed(Many(self.0))?;
        match members.next_key::<String>()? {
            None => Ok(documents),
            Some(other) => Err(A::Error::unknown_field(&other, &["documents"])),
        }
    }
}

struct Many<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for Many<'_, '_> {
    type Value = Vec<NewDocument>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Many<'_, '_> {
    type Value = Vec<NewDocument>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of documents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut documents = Vec::new();
        while let Some(document) = elements.next_element_seed(One(self.0))? {
            documents.push(document);
            if documents.len() > limits::MAX_DOCUMENTS_PER_UPLOAD {
                return Err(self.0.refuse(too_many_documents()));
            }
        }
        Ok(documents)
    }
}

struct One<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for One<'_, '_> {
    type Value = NewDocument;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for One<'_, '_> {
    type Value = NewDocument;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document: an object with `text`")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        document(self.0, None, members)
    }
}

/// Reads the members of a document, the first of which may have been read already.
fn document<'de, A: MapAccess<'de>>(
    state: &mut State<'_>,
    first: Option<String>,
    mut members: A,
) -> Result<NewDocument, A::Error> {
    let (mut title, mut content, mut metadata, mut tags, mut repair) =
        (None, None, None, None, None);
    let mut next = match first {
        Some(first) => Some(first),
        None => members.next_key::<String>()?,
    };
    while let Some(name) = next {
        match name.as_str() {
            "title" if title.is_none() => title = Some(members.next_value::<String>()?),
            "text" if content.is_none() => content = Some(members.next_value_seed(Text(state))?),
            "metadata" if metadata.is_none() => {
                metadata = Some(small(state, &mut members, "metadata")?);
            }
            "tags" if tags.is_none() => {
                let given = small(state, &mut members, "tags")?;
                let given = serde_json::from_value::<Vec<String>>(given);
                tags = Some(given.map_err(|_| A::Error::custom("`tags` must be a list of words"))?);
            }
            "normalize_ocr" if repair.is_none() => repair = Some(members.next_value::<bool>()?),
            "title" => return Err(A::Error::duplicate_field("title")),
            "text" => return Err(A::Error::duplicate_field("text")),
            "metadata" => return Err(A::Error::duplicate_field("metadata")),
            "tags" => return Err(A::Error::duplicate_field("tags")),
            "normalize_ocr" => return Err(A::Error::duplicate_field("normalize_ocr")),
            other => return Err(A::Error::unknown_field(other, MEMBERS)),
        }
        next = members.next_key::<String>()?;
    }
    let Some(content) = content else { return Err(A::Error::missing_field("text")) };
    let (title, tags) = (title.unwrap_or_default(), tags.unwrap_or_default());
    let metadata = metadata.unwrap_or(Value::Null);
    // Now and not when all are here: a thousand titles may each be as long as a text.
    if let Err(refusal) = knowledge::check_description(&title, &metadata, &tags) {
        return Err(state.refuse(tools::knowledge::error(refusal)));
    }
    Ok(NewDocument {
        title,
        content,
        metadata,
        tags,
        ocr: ocr(repair.unwrap_or(false)),
        source: None,
    })
}

/// A text on its way to a file, unless it is small.
struct Text<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for Text<'_, '_> {
    type Value = Content;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_, '_> {
    type Value = Content;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.len() <= self.0.room {
            self.0.room -= text.len();
            return Ok(Content::Text(text.to_owned()));
        }
        let file = self.0.intake.file();
        match fs_err::write(file.path(), text) {
            Ok(()) => Ok(Content::Received { file, name: None }),
            Err(error) => {
                let refusal = tools::disk_full(&error);
                let refusal = refusal.unwrap_or_else(|| ToolError::internal(error.to_string()));
                Err(self.0.refuse(refusal))
            }
        }
    }
}

/// Reads what is small of a document: its metadata, its tags.
fn small<'de, A: MapAccess<'de>>(
    state: &mut State<'_>,
    members: &mut A,
    name: &'static str,
) -> Result<Value, A::Error> {
    let mut counts = SmallCounts { name, ..SmallCounts::default() };
    let value = members.next_value_seed(Small(&mut counts))?;
    state.n_small_values += counts.n_values;
    if state.n_small_values > MAX_SMALL_VALUES {
        let message = format!(
            "the documents of an upload hold at most {MAX_SMALL_VALUES} values of `metadata` and `tags`"
        );
        let refusal = ToolError::new(Code::TooLarge, message)
            .with_detail("allowed", MAX_SMALL_VALUES)
            .with_hint("send the rest in another upload");
        return Err(state.refuse(refusal));
    }
    Ok(value)
}

/// What was read of one value that has to be small.
#[derive(Default)]
struct SmallCounts {
    name: &'static str,
    n_values: usize,
    /// Bytes of its strings and names of members.
    n_bytes: usize,
}

/// A value that is built only as far as metadata may go: it is counted as it comes.
struct Small<'a>(&'a mut SmallCounts);

impl Small<'_> {
    fn count<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.0.n_values += 1;
        if self.0.n_values > MAX_JSON_VALUES {
            let name = self.0.name;
            return Err(E::custom(format!("`{name}` holds more than {MAX_JSON_VALUES} values")));
        }
        Ok(())
    }

    fn measure<E: serde::de::Error>(&mut self, text: &str) -> Result<(), E> {
        self.0.n_bytes += text.len();
        if self.0.n_bytes > limits::MAX_METADATA_BYTES {
            let (name, allowed) = (self.0.name, limits::MAX_METADATA_BYTES);
            return Err(E::custom(format!("`{name}` is longer than {allowed} bytes")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Small<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Small<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> Result<Value, E> {
        self.measure(value)?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Small(self.0))? {
            self.count()?;
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut object = serde_json::Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.count()?;
            self.measure(&name)?;
            object.insert(name, members.next_value_seed(Small(self.0))?);
        }
        Ok(Value::Object(object))
    }
}

/// The longest number, in characters; that of the largest `f64` with all its digits has 309.
const MAX_NUMBER_CHARS: usize = 1_000;

/// A reader that fails when a string of the JSON it gives is longer than any text may be, or a
/// number longer than any that means something: the parser holds both whole before anybody sees
/// them.
struct Bounded<R> {
    inner: R,
    is_in_string: bool,
    is_escaped: bool,
    /// Bytes of the string, or of the number, that is being read.
    n_bytes: usize,
}

impl<R> Bounded<R> {
    fn new(inner: R) -> Self {
        Bounded { inner, is_in_string: false, is_escaped: false, n_bytes: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n_read = self.inner.read(into)?;
        for byte in into.iter().take(n_read) {
            if !self.is_in_string {
                self.is_in_string = *byte == b'"';
                let is_in_number = matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                self.n_bytes = if is_in_number { self.n_bytes + 1 } else { 0 };
                if self.n_bytes > MAX_NUMBER_CHARS {
                    let problem = format!("a number has more than {MAX_NUMBER_CHARS} characters");
                    return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, problem));
                }
            } else if self.is_escaped {
                self.is_escaped = false;
                // `\u` and four digits give at most three bytes: three of the six do not count.
                self.n_bytes = self.n_bytes.saturating_sub(if *byte == b'u' { 3 } else { 0 });
            } else if *byte == b'\\' {
                self.is_escaped = true;
                self.n_bytes += 1;
            } else if *byte == b'"' {
                self.is_in_string = false;
            } else {
                self.n_bytes += 1;
                if self.n_bytes > limits::MAX_TEXT_BYTES {
                    return Err(std::io::ErrorKind::FileTooLarge.into());
                }
            }
        }
        Ok(n_read)
    }
}

#[cfg(test)]
#[path = "upload_json_tests.rs"]
mod tests;
