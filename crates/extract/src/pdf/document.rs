//! A document: its pages in order, each with its text, its filled fields and its comments.

use std::collections::{HashMap, HashSet};

use model::{BlockKind, Pointer, ReadOutcome};

use crate::error::{Error, Result};
use crate::markup::{XmlEvent, XmlReader};
use crate::output::Output;
use crate::{Format, warning};

use super::content::{Drawing, Fonts};
use super::file::File;
use super::layout::{PageBlock, blocks_of};
use super::object::{Dict, Object, ObjectNumber, text_string};
use super::page::Page;

/// More pages than this are not read.
const MAX_PAGES: usize = 50_000;

/// How deep the tree of pages may be.
const MAX_TREE_DEPTH: usize = 64;

/// A heading has at most so many rows and characters.
const MAX_HEADING_ROWS: usize = 3;
const MAX_HEADING_CHARS: usize = 200;

pub(crate) fn read(bytes: &[u8], output: &mut Output) -> Result<()> {
    let file = File::open(bytes, output)?;
    note_properties(&file, output)?;
    let mut pages = page_list(&file, output)?;
    if pages.is_empty() {
        pages = searched_pages(&file, output)?;
    }
    if pages.is_empty() {
        return Err(Error::broken(Format::Pdf, "it has no page that can be read"));
    }
    let mut read = ReadPages::default();
    let mut fonts = Fonts::new();
    let mut outcome = Ok(());
    for (number, page) in (1_u32..).zip(&pages) {
        outcome = read.page(&file, number, page, &mut fonts, output);
        match &outcome {
            Err(error) if error.stops_everything() => break,
            Err(error) => output.warn_of(error),
            Ok(()) => {}
        }
        outcome = Ok(());
    }
    read.push(output)?;
    outcome
}

#[derive(Default)]
struct ReadPages {
    blocks: Vec<(u32, PageBlock)>,
    asides: HashMap<u32, Vec<String>>,
    n_glyphs: usize,
    n_unmapped: usize,
    /// Whether characters of fonts that say nothing were told from the numbers of their glyphs.
    has_guessed: bool,
    n_with_pictures: usize,
    n_pages: usize,
}

struct PageEntry {
    dict: Dict,
    resources: Object,
}

impl ReadPages {
    fn page(
        &mut self,
        file: &File,
        number: u32,
        entry: &PageEntry,
        fonts: &mut Fonts,
        output: &mut Output,
    ) -> Result<()> {
        output.check_time()?;
        let contents = contents_of(file, &entry.dict, output)?;
        let mut page = Page::default();
        let empty = Dict::default();
        let resources = entry.resources.as_dict().unwrap_or(&empty);
        let mut drawing = Drawing::new(file, fonts, &mut page);
        let outcome = drawing.draw(&contents, resources, 0, output);
        self.has_guessed |= page.settle(self.has_guessed);
        self.n_glyphs += page.n_glyphs();
        self.n_unmapped += page.n_unmapped;
        self.n_with_pictures += usize::from(page.n_pictures > 0);
        self.n_pages += 1;
        let pieces = page.into_pieces();
        self.blocks.extend(blocks_of(&pieces).into_iter().map(|block| (number, block)));
        outcome?;
        let asides = annotations(file, &entry.dict, resources, fonts, output)?;
        if !asides.is_empty() {
            self.asides.insert(number, asides);
        }
        Ok(())
    }

    /// Pushes everything; what is set larger than most of the text is a heading.
    fn push(mut self, output: &mut Output) -> Result<()> {
        let mut chars_by_size: HashMap<u32, usize> = HashMap::new();
        for (_, block) in &self.blocks {
            *chars_by_size.entry((block.size * 2.0).round() as u32).or_default() +=
                block.text.len();
        }
        let body = chars_by_size.into_iter().max_by_key(|(size, n_chars)| (*n_chars, *size));
        let body = body.map_or(1.0, |(size, _)| f64::from(size.max(1)) / 2.0);
        let mut current = 0;
        for (number, block) in std::mem::take(&mut self.blocks) {
            for page in current..number {
                self.push_asides(page, output)?;
            }
            current = number;
            let ratio = block.size / body;
            let may_head = block.n_rows <= MAX_HEADING_ROWS
                && block.text.chars().count() <= MAX_HEADING_CHARS
                && block.text.chars().any(char::is_alphabetic);
            let kind = match ratio {
                _ if !may_head => BlockKind::Paragraph,
                ratio if ratio >= 1.6 => BlockKind::Heading(1),
                ratio if ratio >= 1.3 => BlockKind::Heading(2),
                ratio if ratio >= 1.12 => BlockKind::Heading(3),
                _ => BlockKind::Paragraph,
            };
            output.push(kind, &Pointer::Page(number), &block.text)?;
        }
        let mut rest: Vec<u32> = self.asides.keys().copied().collect();
        rest.sort_unstable();
        for page in rest {
            self.push_asides(page, output)?;
        }
        self.explain_no_text(output);
        if self.n_unmapped > 10 && self.n_unmapped * 10 > self.n_glyphs {
            output.warn(
                warning::UNMAPPED_FONT,
                format!(
                    "{} of {} characters are in fonts without a map to Unicode",
                    self.n_unmapped, self.n_glyphs
                ),
            );
        }
        Ok(())
    }

    /// Says why the pages gave no text, should they have given none.
    fn explain_no_text(&self, output: &mut Output) {
        if self.n_unmapped > 0 {
            let reason =
                format!("its {} characters are in fonts without a map to Unicode", self.n_unmapped);
            output.explain_no_text(ReadOutcome::Noise, reason);
        }
        if self.n_with_pictures > 0 {
            let reason = format!(
                "{} of {} pages are pictures without text: run OCR on the file first",
                self.n_with_pictures, self.n_pages
            );
            output.explain_no_text(ReadOutcome::Scan, reason);
        }
    }

    fn push_asides(&mut self, page: u32, output: &mut Output) -> Result<()> {
        for text in self.asides.remove(&page).unwrap_or_default() {
            output.push(BlockKind::Other, &Pointer::Page(page), text)?;
        }
        Ok(())
    }
}

fn note_properties(file: &File, output: &mut Output) -> Result<()> {
    let info = file.get(file.trailer(), "Info", output)?;
    if let Some(info) = info.as_dict()
        && let Some(title) = file.get(info, "Title", output)?.as_string()
    {
        let title = text_string(title);
        let is_file_name = title.starts_with("Microsoft ") || title.ends_with(".indd");
        if !is_file_name && title.chars().any(char::is_alphanumeric) {
            output.set_title(&title);
        }
    }
    let catalog = file.get(file.trailer(), "Root", output)?;
    if let Some(catalog) = catalog.as_dict()
        && let Some(language) = file.get(catalog, "Lang", output)?.as_string()
    {
        output.set_language(&text_string(language));
    }
    Ok(())
}

/// Walks the tree of pages; what a page does not say, its ancestors do.
fn page_list(file: &File, output: &mut Output) -> Result<Vec<PageEntry>> {
    let mut pages = Vec::new();
    let catalog = file.get(file.trailer(), "Root", output)?;
    let Some(root) = catalog.as_dict().and_then(|catalog| catalog.raw("Pages")) else {
        return Ok(pages);
    };
    let mut seen: HashSet<ObjectNumber> = HashSet::new();
    let mut stack = vec![(root.clone(), Object::Null, 0_usize)];
    while let Some((node, inherited, depth)) = stack.pop() {
        output.check_time()?;
        if let Some(number) = node.as_reference()
            && !seen.insert(number)
        {
            continue;
        }
        let node = file.resolved(&node, output)?;
        let Some(dict) = node.as_dict() else { continue };
        let own = file.get(dict, "Resources", output)?;
        let resources = if own.as_dict().is_some() { own } else { inherited };
        let kids = file.get(dict, "Kids", output)?;
        match kids.as_array() {
            Some(kids) if depth < MAX_TREE_DEPTH => {
                stack.extend(
                    kids.iter().rev().map(|kid| (kid.clone(), resources.clone(), depth + 1)),
                );
            }
            Some(_) => {}
            None => pages.push(PageEntry { dict: dict.clone(), resources }),
        }
        if pages.len() >= MAX_PAGES {
            break;
        }
    }
    Ok(pages)
}

/// Finds pages without their tree.
fn searched_pages(file: &File, output: &mut Output) -> Result<Vec<PageEntry>> {
    let mut pages = Vec::new();
    for number in file.numbers() {
        let object = file.object(number, output)?;
        let Object::Dict(dict) = &object else { continue };
        if file.get(dict, "Type", output)?.as_name() == Some("Page") {
            let resources = file.get(dict, "Resources", output)?;
            pages.push(PageEntry { dict: Dict::clone(dict), resources });
        }
        if pages.len() >= MAX_PAGES {
            break;
        }
    }
    Ok(pages)
}

fn contents_of(file: &File, page: &Dict, output: &mut Output) -> Result<Vec<u8>> {
    let contents = file.get(page, "Contents", output)?;
    let streams = match contents {
        Object::Array(items) => items.to_vec(),
        object => vec![object],
    };
    let mut bytes = Vec::new();
    for stream in streams {
        if let Object::Stream(stream) = file.resolved(&stream, output)? {
            bytes.extend_from_slice(&file.stream_bytes(&stream, output)?);
            bytes.push(b'\n');
        }
    }
    Ok(bytes)
}

/// Gives the text of fields as they are shown, and of comments.
fn annotations(
    file: &File,
    page: &Dict,
    resources: &Dict,
    fonts: &mut Fonts,
    output: &mut Output,
) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let list = file.get(page, "Annots", output)?;
    for annotation in list.as_array().unwrap_or_default() {
        let annotation = file.resolved(annotation, output)?;
        let Some(annotation) = annotation.as_dict() else { continue };
        let kind = file.get(annotation, "Subtype", output)?;
        let mut text = match kind.as_name() {
            Some("Widget" | "FreeText" | "Stamp") => {
                appearance(file, annotation, resources, fonts, output)?
            }
            _ => String::new(),
        };
        if text.trim().is_empty() {
            let entry = match kind.as_name() {
                Some("Widget") => field_value(file, annotation, output)?,
                Some("Link" | "Popup") | None => Object::Null,
                Some(_) => file.get(annotation, "Contents", output)?,
            };
            text = entry.as_string().map(text_string).unwrap_or_default();
        }
        if text.trim().is_empty() && !matches!(kind.as_name(), Some("Link" | "Popup") | None) {
            let rich = file.get(annotation, "RC", output)?;
            text = rich_text(&rich.as_string().map(text_string).unwrap_or_default(), output)?;
        }
        if !text.trim().is_empty() {
            texts.push(text);
        }
    }
    Ok(texts)
}

/// Gives the words of a comment that is written in XHTML.
fn rich_text(xml: &str, output: &mut Output) -> Result<String> {
    let mut text = String::new();
    let mut reader = XmlReader::new(xml, Format::Pdf, output.caps());
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Text(piece))) => text.push_str(&piece),
            Ok(Some(XmlEvent::End(name))) if name == "p" => text.push('\n'),
            Ok(Some(_)) => {}
            Err(error) if error.stops_everything() => return Err(error),
            Ok(None) | Err(_) => return Ok(text),
        }
    }
}

/// Reads what draws an annotation.
fn appearance(
    file: &File,
    annotation: &Dict,
    resources: &Dict,
    fonts: &mut Fonts,
    output: &mut Output,
) -> Result<String> {
    let appearances = file.get(annotation, "AP", output)?;
    let Some(appearances) = appearances.as_dict() else { return Ok(String::new()) };
    let normal = file.get(appearances, "N", output)?;
    if normal.as_stream().is_none() {
        // A choice of states: buttons, which hold no text of their own.
        return Ok(String::new());
    }
    let mut page = Page::default();
    Drawing::new(file, fonts, &mut page).draw_form_stream(&normal, resources, 0, output)?;
    page.settle(false);
    let blocks = blocks_of(&page.into_pieces());
    Ok(blocks.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n"))
}

fn field_value(file: &File, field: &Dict, output: &mut Output) -> Result<Object> {
    let own = file.get(field, "V", output)?;
    if own != Object::Null {
        return Ok(own);
    }
    let parent = file.get(field, "Parent", output)?;
    match parent.as_dict() {
        Some(parent) => file.get(parent, "V", output),
        None => Ok(Object::Null),
    }
}
