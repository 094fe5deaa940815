//! Presentations before 2007: a tree of records, with a directory of where the slides are.

use std::collections::{HashMap, HashSet};

use model::{BlockKind, Pointer, ReadOutcome};

use crate::error::{Error, Result};
use crate::ole::bytes::{u16_at, u32_at, usize_at, utf16};
use crate::ole::{open, stream};
use crate::output::Output;
use crate::{Format, warning};

const DOCUMENT: u16 = 0x03e8;
const SLIDE_ATOM: u16 = 0x03ef;
const SLIDE_PERSIST: u16 = 0x03f3;
const SLIDE_LIST: u16 = 0x0ff0;
const USER_EDIT: u16 = 0x0ff5;
const PERSIST_DIRECTORY: u16 = 0x1772;
const TEXT_HEADER: u16 = 0x0f9f;
const TEXT_CHARS: u16 = 0x0fa0;
const TEXT_BYTES: u16 = 0x0fa8;
const COMMENT: u16 = 0x2ee0;
const STRING: u16 = 0x0fba;
const HEADERS_FOOTERS: u16 = 0x0fd9;

/// What the stream `Current User` holds when the document is encrypted.
const ENCRYPTED_TOKEN: u32 = 0xf3d1_c4df;

/// How deep records may hold records.
const MAX_DEPTH: usize = 64;

/// How many saved versions are followed back.
const MAX_VERSIONS: usize = 1024;

pub(crate) fn read_ppt(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut file = open(bytes).map_err(|error| Error::broken(Format::Ppt, error))?;
    let user = stream(&mut file, "/Current User", output)?.unwrap_or_default();
    if u32_at(&user, 12) == Some(ENCRYPTED_TOKEN) {
        return Err(Error::Encrypted { format: Format::Ppt });
    }
    let Some(document) = stream(&mut file, "/PowerPoint Document", output)? else {
        return Err(Error::broken(Format::Ppt, "the stream `PowerPoint Document` is missing"));
    };
    let places = persist_places(&document, usize_at(&user, 16));
    let slides = listed_slides(&document, &places, 0);
    if slides.is_empty() {
        output.warn(warning::REPAIRED, "the list of slides is missing: all text was searched");
        return push_texts(&document, &Pointer::Whole, output);
    }
    let notes: HashMap<u32, usize> = listed_slides(&document, &places, 2)
        .into_iter()
        .filter_map(|slide| Some((slide.id, slide.place?)))
        .collect();
    let mut margins = HashSet::new();
    for (number, slide) in (1_u32..).zip(&slides) {
        let pointer = Pointer::Slide(number);
        for (text_idx, (kind, text)) in slide.texts.iter().enumerate() {
            let is_title = matches!(kind, 0 | 6) && text_idx == 0;
            push_text(text, is_title, &pointer, output)?;
        }
        let Some(record) = slide.place.and_then(|place| record_at(&document, place)) else {
            continue;
        };
        push_texts(record.body, &pointer, output)?;
        let notes_id = records(record.body)
            .find(|inner| inner.kind == SLIDE_ATOM)
            .and_then(|atom| u32_at(atom.body, 16));
        let notes_place = notes_id.and_then(|id| notes.get(&id));
        if let Some(record) = notes_place.and_then(|place| record_at(&document, *place)) {
            push_notes(record.body, &pointer, output)?;
        }
        push_margins(record.body, &pointer, &mut margins, output)?;
    }
    if let Some(main) = main_record(&document, &places) {
        push_margins(main.body, &Pointer::Whole, &mut margins, output)?;
    }
    if file.entry("/Pictures").is_ok_and(|pictures| !pictures.is_empty()) {
        output.explain_no_text(ReadOutcome::Scan, "it holds pictures and no text: run OCR first");
    }
    Ok(())
}

/// Pushes dates, headers and footers that somebody wrote, each once in the whole document.
fn push_margins(
    bytes: &[u8],
    pointer: &Pointer,
    seen: &mut HashSet<String>,
    output: &mut Output,
) -> Result<()> {
    let margins = records(bytes).filter(|record| record.kind == HEADERS_FOOTERS);
    for text in margins.flat_map(|record| records(record.body).collect::<Vec<_>>()) {
        let text = if text.kind == STRING { utf16(text.body) } else { continue };
        if !text.trim().is_empty() && seen.insert(text.clone()) {
            output.push(BlockKind::Other, pointer, text)?;
        }
    }
    Ok(())
}

struct Record<'a> {
    kind: u16,
    instance: u16,
    is_container: bool,
    body: &'a [u8],
}

struct Slide {
    id: u32,
    place: Option<usize>,
    /// The outline's texts with the kind that the header before each gives.
    texts: Vec<(u32, String)>,
}

fn record_at(bytes: &[u8], at: usize) -> Option<Record<'_>> {
    let head = u16_at(bytes, at)?;
    let length = usize_at(bytes, at + 4)?;
    let body = bytes.get(at + 8..)?;
    Some(Record {
        kind: u16_at(bytes, at + 2)?,
        instance: head >> 4,
        is_container: head & 0xf == 0xf,
        body: body.get(..length).unwrap_or(body),
    })
}

fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let record = record_at(bytes, at)?;
        at += 8 + record.body.len();
        Some(record)
    })
}

/// Follows the saved versions to where each numbered object is now.
fn persist_places(document: &[u8], current: Option<usize>) -> HashMap<u32, usize> {
    let mut places = HashMap::new();
    let is_edit =
        |at: &usize| record_at(document, *at).is_some_and(|record| record.kind == USER_EDIT);
    let mut at = current.filter(is_edit).or_else(|| last_edit(document));
    let mut seen = HashSet::new();
    while let Some(edit_at) = at {
        if !seen.insert(edit_at) || seen.len() > MAX_VERSIONS {
            break;
        }
        let Some(edit) = record_at(document, edit_at).filter(|edit| edit.kind == USER_EDIT) else {
            break;
        };
        let directory = usize_at(edit.body, 12).and_then(|at| record_at(document, at));
        if let Some(directory) = directory.filter(|record| record.kind == PERSIST_DIRECTORY) {
            let mut rest = directory.body;
            while let Some(head) = u32_at(rest, 0) {
                let first = head & 0x000f_ffff;
                let count = usize::try_from(head >> 20).unwrap_or_default();
                for (number, offset_idx) in (first..).zip(0..count) {
                    let Some(offset) = usize_at(rest, 4 + offset_idx * 4) else { break };
                    places.entry(number).or_insert(offset);
                }
                rest = rest.get(4 + count * 4..).unwrap_or_default();
            }
        }
        at = usize_at(edit.body, 8).filter(|at| *at > 0);
    }
    places
}

fn last_edit(document: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut last = None;
    while let Some(record) = record_at(document, at) {
        if record.kind == USER_EDIT {
            last = Some(at);
        }
        at += 8 + record.body.len();
    }
    last
}

/// Finds the record of the document as it was saved last.
fn main_record<'a>(document: &'a [u8], places: &HashMap<u32, usize>) -> Option<Record<'a>> {
    let current = places.values().filter_map(|place| record_at(document, *place));
    current.chain(records(document)).find(|record| record.kind == DOCUMENT)
}

/// Gives the slides (list 0) or the pages of notes (list 2) in their order.
fn listed_slides(document: &[u8], places: &HashMap<u32, usize>, list: u16) -> Vec<Slide> {
    let mut slides: Vec<Slide> = Vec::new();
    let Some(main) = main_record(document, places) else { return slides };
    let lists =
        records(main.body).filter(|record| record.kind == SLIDE_LIST && record.instance == list);
    for list in lists {
        let mut text_kind = 4;
        for record in records(list.body) {
            match record.kind {
                SLIDE_PERSIST => slides.push(Slide {
                    id: u32_at(record.body, 12).unwrap_or_default(),
                    place: u32_at(record.body, 0).and_then(|id| places.get(&id)).copied(),
                    texts: Vec::new(),
                }),
                TEXT_HEADER => text_kind = u32_at(record.body, 0).unwrap_or(4),
                _ => {
                    if let (Some(slide), Some(text)) = (slides.last_mut(), text_of(&record)) {
                        slide.texts.push((text_kind, text));
                    }
                }
            }
        }
    }
    slides
}

fn text_of(record: &Record) -> Option<String> {
    match record.kind {
        TEXT_CHARS => Some(utf16(record.body)),
        TEXT_BYTES => Some(record.body.iter().copied().map(char::from).collect()),
        _ => None,
    }
}

fn push_texts(bytes: &[u8], pointer: &Pointer, output: &mut Output) -> Result<()> {
    let mut stack: Vec<(Record, usize)> = records(bytes).map(|record| (record, 0)).collect();
    stack.reverse();
    let mut text_kind = 4;
    while let Some((record, depth)) = stack.pop() {
        if record.kind == TEXT_HEADER {
            text_kind = u32_at(record.body, 0).unwrap_or(4);
        }
        if let Some(text) = text_of(&record) {
            push_text(&text, matches!(text_kind, 0 | 6), pointer, output)?;
        } else if record.kind == COMMENT {
            let texts: Vec<String> = records(record.body)
                .filter(|inner| inner.kind == STRING && inner.instance < 2)
                .map(|inner| utf16(inner.body))
                .collect();
            output.push(BlockKind::Other, pointer, texts.join(": "))?;
        } else if record.is_container && depth < MAX_DEPTH {
            let at = stack.len();
            stack.extend(records(record.body).map(|inner| (inner, depth + 1)));
            if let Some(added) = stack.get_mut(at..) {
                added.reverse();
            }
        }
        output.check_time()?;
    }
    Ok(())
}

/// Pushes the text of a page of notes; its numbers and dates are fields and hold no text.
fn push_notes(bytes: &[u8], pointer: &Pointer, output: &mut Output) -> Result<()> {
    let mut stack: Vec<(Record, usize)> = records(bytes).map(|record| (record, 0)).collect();
    stack.reverse();
    while let Some((record, depth)) = stack.pop() {
        if let Some(text) = text_of(&record) {
            let text = plain(&text);
            if text.trim() != "*" {
                output.push(BlockKind::Other, pointer, text)?;
            }
        } else if record.is_container && depth < MAX_DEPTH {
            stack.extend(records(record.body).map(|inner| (inner, depth + 1)));
        }
        output.check_time()?;
    }
    Ok(())
}

fn push_text(text: &str, is_title: bool, pointer: &Pointer, output: &mut Output) -> Result<()> {
    if is_title {
        return output.push(BlockKind::Heading(1), pointer, plain(text).replace('\n', " "));
    }
    for paragraph in text.split('\r') {
        let paragraph = plain(paragraph);
        // A lone star is the place of a field.
        if paragraph.trim() != "*" {
            output.push(BlockKind::Paragraph, pointer, paragraph)?;
        }
    }
    Ok(())
}

fn plain(text: &str) -> String {
    text.replace(['\r', '\u{b}'], "\n").replace('\u{1}', "")
}
