//! A safe preview of a file: text from the index around a place, never the file itself.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::{Around, Caller, Passage, Warning};
use serde::Serialize;

use crate::hooks::LINES;
use crate::lines::Lines;
use crate::name::text_of;
use crate::place::{self, FilePlace};
use crate::whole_text::WholeText;
use crate::{Error, Indexer, Result, Root, WithoutText};

/// The longest preview, in characters.
pub const MAX_PREVIEW_CHARS: usize = 2_000;

/// Characters before a hit that are shown with it, inside its unit.
const BEFORE_HIT: usize = 600;

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreviewRequest {
    /// The file.
    pub path: String,
    /// A place in it; its start when absent.
    pub pointer: Option<String>,
    /// The character of the file's text to begin at; wins over the pointer.
    pub offset: Option<usize>,
    /// Characters before the place.
    pub before: usize,
    /// Characters behind the place.
    pub after: usize,
    /// The longest preview, where that is less than [`MAX_PREVIEW_CHARS`].
    pub max_chars: Option<usize>,
}

impl PreviewRequest {
    fn most(&self) -> usize {
        self.max_chars.map_or(MAX_PREVIEW_CHARS, |most| most.clamp(1, MAX_PREVIEW_CHARS))
    }
}

/// What a file says at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The file.
    pub path: String,
    /// The place.
    pub pointer: String,
    /// What the file says there.
    pub preview: String,
    /// Whether the file says more than this.
    pub truncated: bool,
    /// The characters of the file's text that are shown.
    #[serde(skip)]
    pub window: Window,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Why the index has no text of it, where it has none.
    #[serde(skip)]
    pub without_text: Option<WithoutText>,
    /// The text around the preview, for redaction; it does not leave.
    #[serde(skip)]
    pub around: Around,
}

/// A stretch of a longer text, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How long the whole text is.
    pub total: usize,
}

impl Window {
    /// Gives where to go on reading; nothing at the end.
    pub fn next(&self) -> Option<usize> {
        (self.end < self.total).then_some(self.end)
    }

    /// Gives where the stretch of so many characters before this one begins; nothing at the start.
    /// This one may be shorter than others, as the last of a text is.
    pub fn prev(&self, n_chars: usize) -> Option<usize> {
        (self.start > 0).then(|| self.start.saturating_sub(n_chars.max(1)))
    }
}

/// A stretch of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Unredacted, with the characters of `window`.
    pub text: String,
    /// Which characters of the file's text it is.
    pub window: Window,
    /// The place of the character that was asked for.
    pub pointer: String,
    /// What the file says around the text; it is looked at and never leaves.
    pub around: Around,
    /// Why the index has no text of it, where it has none.
    pub without_text: Option<WithoutText>,
}

/// Opens a preview.
pub(crate) fn preview(
    indexer: &Indexer,
    caller: &Caller,
    request: &PreviewRequest,
) -> Result<Preview> {
    let path = request.path.as_str();
    let (root, resolved, passages) = opened(indexer, caller, path)?;
    debug_assert!(resolved.is_absolute());
    // A relative path is answered with the absolute one, which other tools take as well.
    let absolute = text_of(&resolved);
    let path = if Path::new(path).is_absolute() { path } else { &absolute };
    if passages.is_empty() {
        let why = indexer.why_without_text(root, &resolved)?;
        let mut message = why.message();
        if why.is_passing() {
            message.push_str("; `indexFolder` takes it in");
        }
        return Ok(Preview {
            path: path.to_owned(),
            pointer: request.pointer.as_deref().unwrap_or("whole").to_owned(),
            preview: String::new(),
            truncated: false,
            window: Window::default(),
            warnings: vec![Warning::new("no_text", message)],
            without_text: Some(why),
            around: Around::default(),
        });
    }
    let lines = lines_of(indexer, &resolved)?;
    let (place, covered) = match &request.pointer {
        None => (FilePlace::default(), 0..passages.len()),
        Some(text) => place::find(path, text, &passages, &lines)?,
    };
    let text = WholeText::of(&passages, &lines);
    let window = match request.offset {
        Some(offset) => {
            let start = offset.min(text.len());
            (start, (start + request.most()).min(text.len()))
        }
        None => window(request, &place, &passages[covered], &text),
    };
    let window = Window { start: window.0, end: window.1, total: text.len() };
    let mut warnings = Vec::new();
    if window.start == window.end {
        let message = format!(
            "nothing is there: the text of this file ends at character {}; give a smaller \
             `offset`, or leave it out to begin again",
            window.total
        );
        warnings.push(Warning::new("offset_too_far", message));
    }
    Ok(Preview {
        path: path.to_owned(),
        pointer: pointer_at(&passages, &text, &window, &place),
        preview: text.shown(window.start..window.end),
        truncated: window.start > 0 || window.end < window.total,
        around: around(&passages, &text, &window, "/preview"),
        window,
        warnings,
        without_text: None,
    })
}

/// Gives the text around a window, so that what is private and reaches over an edge is known.
fn around(passages: &[Passage], text: &WholeText, window: &Window, at: &str) -> Around {
    let from = sheet_start(passages, text, window.start);
    let head = text.shown(from.min(window.start)..window.start);
    let after = text.shown(window.end..window.end.saturating_add(text::REDACTION_CONTEXT_CHARS));
    Around::new(text::context_before(&head), after).at(at)
}

/// Gives where the sheet begins that a character is on: headings of one sheet say nothing of
/// another. A text without sheets begins with its first character.
fn sheet_start(passages: &[Passage], text: &WholeText, at: usize) -> usize {
    let starts_by = |passage: &Passage| passage.span.start <= at + text.start;
    let Some(last) = passages.iter().rposition(starts_by) else { return 0 };
    let sheet_of = |passage: &Passage| passage.pointer.sheet().map(str::to_owned);
    let Some(sheet) = passages.get(last).and_then(sheet_of) else { return 0 };
    let of_sheet =
        passages.iter().take(last + 1).rev().take_while(|one| one.pointer.sheet() == Some(&sheet));
    of_sheet.map(|passage| passage.span.start - text.start).min().unwrap_or(0)
}

/// Gives a stretch of the text of a file as the index has it: from `offset`, or around `at`.
pub(crate) fn stretch(
    indexer: &Indexer,
    caller: &Caller,
    path: &str,
    from: Option<usize>,
    at: usize,
    max_chars: usize,
) -> Result<FileText> {
    let (root, resolved, passages) = opened(indexer, caller, path)?;
    let without_text = match passages.is_empty() {
        true => Some(indexer.why_without_text(root, &resolved)?),
        false => None,
    };
    let lines = lines_of(indexer, &resolved)?;
    let text = WholeText::of(&passages, &lines);
    let total = text.len();
    // A text that is too long for one answer is shown around the hit.
    let around = if total <= max_chars { 0 } else { at.saturating_sub(max_chars / 2) };
    let start = from.unwrap_or(around).min(total);
    let end = (start + max_chars).min(total);
    let place = passages.iter().rfind(|passage| passage.span.start <= at).or(passages.first());
    let pointer = match place {
        None => String::new(),
        Some(passage) => {
            let line = lines.at(passage, at.saturating_sub(passage.span.start));
            match line {
                Some(line) => passage.pointer.on_line(line).to_string(),
                None => passage.pointer.to_string(),
            }
        }
    };
    let window = Window { start, end, total };
    Ok(FileText {
        text: text.shown(start..end),
        around: self::around(&passages, &text, &window, ""),
        window,
        pointer,
        without_text,
    })
}

/// Finds a file that the caller may read: its root, where it is, and its passages.
fn opened<'a>(
    indexer: &'a Indexer,
    caller: &Caller,
    path: &str,
) -> Result<(&'a Root, PathBuf, Vec<Passage>)> {
    let (root, resolved) = indexer.roots().locate(caller, path)?;
    if resolved.is_dir() {
        return Err(Error::IsFolder { path: path.to_owned() });
    }
    let missing = || Error::NotFound { path: path.to_owned() };
    let relative = resolved.strip_prefix(&root.path).map_err(|_| missing())?;
    // The index may be older than the disk: a file that cannot be opened beneath its root now
    // is not shown, whatever the index remembers of it.
    if let Err(error) = root.open_beneath(relative) {
        // Searches show the name of a file that may not be read, and why: it does exist.
        let is_shown = error.kind() == ErrorKind::PermissionDenied
            && indexer.why_without_text(root, &resolved)?.is_unreadable();
        return is_shown.then(|| (root, resolved, Vec::new())).ok_or_else(missing);
    }
    let passages = passages(indexer, &resolved)?;
    Ok((root, resolved, passages))
}

/// Gives where the lines of a file are not those of its text.
fn lines_of(indexer: &Indexer, path: &Path) -> Result<Lines> {
    let document = model::DocumentId::new(text_of(path));
    let documents = indexer.config().store.documents_by_id(indexer.namespace(), &[document])?;
    let document = documents.into_iter().flatten().next();
    Ok(document.map(|document| Lines::from_json(&document.metadata[LINES])).unwrap_or_default())
}

fn passages(indexer: &Indexer, path: &Path) -> Result<Vec<Passage>> {
    let document = model::DocumentId::new(text_of(path));
    Ok(indexer.config().store.passages_of(indexer.namespace(), &document)?)
}

/// Chooses what is shown of a place: the hit with what is before it, or the unit from its start.
fn window(
    request: &PreviewRequest,
    place: &FilePlace,
    unit: &[Passage],
    text: &WholeText,
) -> (usize, usize) {
    let unit_start = unit.iter().map(|passage| passage.span.start).min().unwrap_or(0) - text.start;
    let unit_end = unit.iter().map(|passage| passage.span.end).max().unwrap_or(0) - text.start;
    let hit = place.char_start.map(|start| start.saturating_sub(text.start));
    let begin = match hit {
        Some(hit) => {
            let before = BEFORE_HIT.min(request.most() / 3);
            hit.saturating_sub(before).clamp(unit_start, unit_end)
        }
        None => unit_start,
    };
    let start = begin.saturating_sub(request.before.min(request.most() / 2));
    let end = (unit_end + request.after.min(MAX_PREVIEW_CHARS)).min(start + request.most());
    (start, end.min(text.len()))
}

/// Names the place that is shown: the one that was asked for, or the one at the window's start.
fn pointer_at(
    passages: &[Passage],
    text: &WholeText,
    window: &Window,
    place: &FilePlace,
) -> String {
    if place.pointer.is_some() {
        return place.to_string();
    }
    let at = window.start + text.start;
    let passage = passages.iter().rfind(|passage| passage.span.start <= at).or(passages.first());
    passage.map(|passage| passage.pointer.to_string()).unwrap_or_default()
}
