//! A safe preview of a file: text from the index around a place, never the file itself.

use std::path::Path;

use model::{Around, Caller, Passage, Pointer, Warning};
use serde::Serialize;

use crate::{Error, Indexer, Result};

/// The longest preview, in characters.
pub const MAX_PREVIEW_CHARS: usize = 2_000;

/// What is said of a file whose text is not in the index.
const NO_TEXT: &str = "no text of this file is in the index: it holds none, could not be read, or \
                       has not been indexed since it came; `indexFolder` takes it in";

/// What a file says at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The file.
    pub path: String,
    /// The place.
    pub pointer: String,
    /// What stands there.
    pub preview: String,
    /// Whether the file says more than this.
    pub truncated: bool,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What stands around the preview, for redaction; it does not leave.
    #[serde(skip)]
    pub around: Around,
}

/// Opens a preview.
pub(crate) fn preview(
    indexer: &Indexer,
    caller: &Caller,
    path: &str,
    pointer: Option<&str>,
    around: (usize, usize),
) -> Result<Preview> {
    let (root, resolved) = indexer.roots().locate(caller, path)?;
    if resolved.is_dir() {
        return Err(Error::BadPath { path: path.to_owned(), problem: "is a folder, not a file" });
    }
    let missing = || Error::NotFound { path: path.to_owned() };
    let relative = resolved.strip_prefix(&root.path).map_err(|_| missing())?;
    // The index may be older than the disk: a file that cannot be opened beneath its root now
    // is not shown, whatever the index remembers of it.
    root.open_beneath(relative).map_err(|_| missing())?;
    let passages = passages(indexer, &resolved)?;
    if passages.is_empty() {
        return Ok(Preview {
            path: path.to_owned(),
            pointer: pointer.unwrap_or("whole").to_owned(),
            preview: String::new(),
            truncated: false,
            warnings: vec![Warning::new("no_text", NO_TEXT)],
            around: Around::default(),
        });
    }
    let place = match pointer {
        None => None,
        Some(text) => Some(text.parse::<Pointer>()?),
    };
    let first = match &place {
        None => 0,
        Some(place) => {
            position(&passages, place).ok_or_else(|| no_place(path, place, &passages))?
        }
    };
    Ok(cut(path, &passages, first, place.as_ref(), around))
}

/// Gives the whole text of a file as the index has it, up to a number of characters, and
/// whether it was cut.
pub(crate) fn whole(
    indexer: &Indexer,
    caller: &Caller,
    path: &str,
    max_chars: usize,
) -> Result<(String, bool)> {
    let (root, resolved) = indexer.roots().locate(caller, path)?;
    let missing = || Error::NotFound { path: path.to_owned() };
    let relative = resolved.strip_prefix(&root.path).map_err(|_| missing())?;
    root.open_beneath(relative).map_err(|_| missing())?;
    let text = whole_text(&passages(indexer, &resolved)?);
    let is_cut = text.chars.len() > max_chars;
    Ok((text.chars.into_iter().take(max_chars).collect(), is_cut))
}

fn passages(indexer: &Indexer, path: &Path) -> Result<Vec<Passage>> {
    let Some(path) = path.to_str() else { return Ok(Vec::new()) };
    let document = model::DocumentId::new(path);
    Ok(indexer.config().store.passages_of(indexer.namespace(), &document)?)
}

fn no_place(path: &str, place: &Pointer, passages: &[Passage]) -> Error {
    let shown = |passage: Option<&Passage>| {
        passage.map(|passage| passage.pointer.to_string()).unwrap_or_default()
    };
    Error::NoPlace {
        path: path.to_owned(),
        pointer: place.to_string(),
        first: shown(passages.first()),
        last: shown(passages.last()),
    }
}

/// Finds the passage that a pointer names: the same place, or the last one before a line.
fn position(passages: &[Passage], place: &Pointer) -> Option<usize> {
    if let Some(exact) = passages.iter().position(|passage| passage.pointer == *place) {
        return Some(exact);
    }
    match place {
        Pointer::Whole => Some(0),
        Pointer::Line(wanted) => passages.iter().rposition(
            |passage| matches!(&passage.pointer, Pointer::Line(line) if line <= wanted),
        ),
        Pointer::Sheet { name, .. } => passages.iter().position(
            |passage| matches!(&passage.pointer, Pointer::Sheet { name: other, .. } if other == name),
        ),
        Pointer::Inner { path, .. } => passages.iter().position(
            |passage| matches!(&passage.pointer, Pointer::Inner { path: other, .. } if other == path),
        ),
        Pointer::Page(_) | Pointer::Slide(_) | Pointer::Message(_) | Pointer::Json(_) => None,
    }
}

/// Puts the text of the place together, with what stands before and after it, up to the cap.
fn cut(
    path: &str,
    passages: &[Passage],
    first: usize,
    place: Option<&Pointer>,
    (before, after): (usize, usize),
) -> Preview {
    let text = whole_text(passages);
    let start_of_place = passages[first].span.start - text.start;
    let last = passages[first..]
        .iter()
        .take_while(|passage| place.is_none() || passage.pointer == passages[first].pointer)
        .map(|passage| passage.span.end)
        .max()
        .unwrap_or(passages[first].span.end)
        - text.start;
    let before = before.min(MAX_PREVIEW_CHARS / 2);
    let start = start_of_place.saturating_sub(before);
    let end = (last + after.min(MAX_PREVIEW_CHARS)).min(start + MAX_PREVIEW_CHARS);
    let end = end.min(text.chars.len());
    let preview: String = text.chars[start..end].iter().collect();
    let n_context = text::REDACTION_CONTEXT_CHARS;
    let around = Around {
        at: "/preview".to_owned(),
        name: None,
        before: text.chars[start.saturating_sub(n_context)..start].iter().collect(),
        after: text.chars[end..].iter().take(n_context).collect(),
    };
    Preview {
        path: path.to_owned(),
        pointer: passages[first].pointer.to_string(),
        preview,
        truncated: start > 0 || end < text.chars.len(),
        warnings: Vec::new(),
        around,
    }
}

/// The document's text as its passages have it.
struct WholeText {
    /// Where the first passage begins in the source.
    start: usize,
    chars: Vec<char>,
}

/// Joins passages by their spans: overlaps are counted once, gaps become blank.
fn whole_text(passages: &[Passage]) -> WholeText {
    let start = passages.iter().map(|passage| passage.span.start).min().unwrap_or(0);
    let end = passages.iter().map(|passage| passage.span.end).max().unwrap_or(0);
    let mut chars = vec![' '; end - start];
    let mut covered = start;
    for passage in passages {
        if passage.span.start > covered {
            // What was left out between two passages is blank: a paragraph ends there.
            for gap in covered..passage.span.start {
                chars[gap - start] = '\n';
            }
        }
        for (offset, char) in passage.text.chars().enumerate() {
            if let Some(slot) = chars.get_mut(passage.span.start - start + offset) {
                *slot = char;
            }
        }
        covered = covered.max(passage.span.end);
    }
    WholeText { start, chars }
}
