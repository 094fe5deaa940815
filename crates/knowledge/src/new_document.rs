//! A document that is to be added, and what is checked of it before anything is written.

use ingest::{ObjectError, bounded};
use serde_json::Value;

use crate::intake::ReceivedFile;
use crate::objects::{SourceFile, TAGS};
use crate::{Error, Result, limits};

/// What a title that is too long is said to be.
const TITLE: &str = "the length of `title`";

/// What a new document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A file in any format that can be read.
    File {
        /// As they came, in memory.
        bytes: Vec<u8>,
        /// Its ending helps to tell the format.
        name: String,
    },
    /// Text or a file that is on disk already, from [`crate::Service::begin_upload`].
    Received {
        /// Where it is.
        file: ReceivedFile,
        /// Its name; without one it is plain text.
        name: Option<String>,
    },
}

/// Whether hyphens that OCR read for a long vowel mark are repaired before indexing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OcrRepair {
    /// The text is taken as it is.
    #[default]
    Off,
    /// The text is repaired by rules.
    On,
}

/// A document that is to be added, or the new content of one.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDocument {
    /// Its title; the file's own, or its name, when empty.
    pub title: String,
    /// What it holds.
    pub content: Content,
    /// Whatever its owner wants back: a JSON object, or nothing.
    pub metadata: Value,
    /// Words that it can be filtered by.
    pub tags: Vec<String>,
    /// Whether OCR is repaired.
    pub ocr: OcrRepair,
    /// The file of a folder that it follows, where it does.
    pub source: Option<SourceFile>,
}

impl NewDocument {
    /// Takes a text.
    pub fn text(title: impl Into<String>, text: impl Into<String>) -> Self {
        NewDocument {
            title: title.into(),
            content: Content::Text(text.into()),
            metadata: Value::Null,
            tags: vec![],
            ocr: OcrRepair::Off,
            source: None,
        }
    }

    /// Tells whether it is a file without a byte.
    pub(crate) fn is_empty_file(&self) -> Result<bool> {
        Ok(match &self.content {
            Content::Text(_) | Content::Received { name: None, .. } => false,
            Content::File { bytes, .. } => bytes.is_empty(),
            Content::Received { file, name: Some(_) } => {
                file.n_bytes().map_err(Error::Upload)? == 0
            }
        })
    }
}

/// Puts tags into metadata, in the place of those that are there; no tags change nothing.
pub(crate) fn with_tags(mut metadata: Value, tags: Vec<String>) -> Value {
    if tags.is_empty() {
        return metadata;
    }
    if !metadata.is_object() {
        metadata = Value::Object(serde_json::Map::new());
    }
    metadata[TAGS] = Value::from(tags);
    metadata
}

/// Checks what is said of a document beside its content. Whoever reads an upload asks this of each
/// document as it comes, so that no more is held of them than they may have.
///
/// # Errors
///
/// As adding the document does.
pub fn check_description(title: &str, metadata: &Value, tags: &[String]) -> Result<()> {
    bounded(TITLE, title, limits::MAX_TITLE_CHARS)?;
    metadata_of(metadata)?;
    tags_of(tags)?;
    Ok(())
}

/// Takes tags: trimmed, each once, in the order given.
pub(crate) fn tags_of(given: &[String]) -> Result<Vec<String>> {
    let (received, allowed) = (given.len(), limits::MAX_TAGS);
    if received > allowed {
        return Err(Error::Object(ObjectError::TooLarge {
            what: "the number of `tags`",
            received,
            allowed,
        }));
    }
    let mut tags: Vec<String> = vec![];
    for tag in given {
        let tag = bounded("the length of a tag", tag, limits::MAX_TAG_CHARS)?;
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

/// Tells whether somebody gave it a title.
pub(crate) fn is_titled(new: &NewDocument) -> bool {
    !new.title.trim().is_empty()
}

/// Gives the title, or the file's name.
pub(crate) fn title_of(new: &NewDocument) -> Result<String> {
    let title = bounded(TITLE, &new.title, limits::MAX_TITLE_CHARS)?;
    Ok(if title.is_empty() { file_name_of(new) } else { title })
}

/// Gives the name of the file without its folders; empty for text.
pub(crate) fn file_name_of(new: &NewDocument) -> String {
    let name = match &new.content {
        Content::File { name, .. } | Content::Received { name: Some(name), .. } => name,
        Content::Text(_) | Content::Received { name: None, .. } => return String::new(),
    };
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(limits::MAX_NAME_CHARS).collect()
}

/// Takes metadata: a JSON object, or nothing.
pub(crate) fn metadata_of(given: &Value) -> Result<Value> {
    if !matches!(given, Value::Null | Value::Object(_)) {
        let problem = "`metadata` must be an object".to_owned();
        return Err(Error::Object(ObjectError::BadRequest { problem }));
    }
    let (received, allowed) = (given.to_string().len(), limits::MAX_METADATA_BYTES);
    if received > allowed {
        return Err(Error::Object(ObjectError::TooLarge {
            what: "the size of `metadata` in bytes",
            received,
            allowed,
        }));
    }
    Ok(given.clone())
}
