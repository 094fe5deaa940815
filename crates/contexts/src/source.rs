//! The long strings of a JSON document, and its short ones together, as a source of the write path.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ingest::{Item, ItemContent, Source};
use model::{AttributeValue, Attributes, Block, BlockKind, Pointer, Warning};
use serde_json::{Value, json};
use text::{JsonHeadings, LateNames, Verdict};

use crate::coverage::{Coverage, LongPlaces};
use crate::ids::{node_id, sha256};
use crate::json::{Event, Kind, Walk, pointer};
use crate::object_ids::TableId;
use crate::objects::{ShortStringsUse, Table, Tool};
use crate::reader::Reader;
use crate::seek::{LocatedNode, OpenDocument};
use crate::short::{Gathering, PRIVATE, ShortStrings};
use crate::{ContextsConfig, Error, headings, limits};

/// Characters of a title: the end of a string's path.
const TITLE_CHARS: usize = 200;

/// The attribute with the length of a string that is indexed by itself, in characters; 0 for short
/// strings, together or not.
pub(crate) const CHARS: &str = "chars";

/// Going to a node costs as much as walking over so many bytes.
const BYTES_PER_SEEK: u64 = 256 * 1024;

/// Walks a document and gives every long string that a tool covers.
pub(crate) struct StringSource {
    document: OpenDocument,
    table: TableId,
    settings: ContextsConfig,
    coverage: Arc<Coverage>,
    /// Nodes that are still to be walked, the next one last.
    places: Vec<String>,
    current: Option<Subtree>,
    gathering: Gathering,
    text: String,
    n_given: usize,
    /// Why the walk ended before its end.
    pub(crate) failed: Option<Error>,
}

/// A node that is being walked.
struct Subtree {
    path: String,
    walk: Walk<Reader>,
    next: Option<Event>,
    headings: JsonHeadings,
}

impl StringSource {
    pub(crate) fn new(
        document: OpenDocument,
        table: &Table,
        settings: &ContextsConfig,
        coverage: Arc<Coverage>,
    ) -> Self {
        let mut places = places(&coverage, document.document.n_bytes);
        places.reverse();
        StringSource {
            document,
            table: table.id.clone(),
            settings: settings.clone(),
            coverage,
            places,
            current: None,
            gathering: Gathering::default(),
            text: String::new(),
            n_given: 0,
            failed: None,
        }
    }

    /// Goes on to the next string, or to the end.
    fn advance(&mut self) -> crate::Result<Option<Item>> {
        loop {
            let Some(subtree) = &mut self.current else {
                let Some(path) = self.places.pop() else { return Ok(None) };
                if let Some(LocatedNode { event, walk }) = self.document.find(&path)? {
                    let late = late_names(&self.document, &path)?;
                    let headings = headings::at(&self.document, &path, late)?;
                    self.current = Some(Subtree { path, walk, next: Some(event), headings });
                }
                continue;
            };
            let event = match subtree.next.take() {
                Some(event) => Some(event),
                None => subtree.walk.next()?,
            };
            let Some(event) = event else {
                self.current = None;
                continue;
            };
            let verdict = headings::see(event, &subtree.walk, &mut subtree.headings);
            let pointer = subtree.walk.pointer();
            // What follows the node is not looked at.
            let is_end = !matches!(event, Event::Begin(_)) && pointer == subtree.path;
            let mut found = None;
            match event {
                Event::End(_) => found = self.gathering.end(pointer),
                Event::Begin(_) => {
                    self.coverage.passes(pointer);
                    self.gathering.begin();
                }
                Event::Leaf(kind) => {
                    self.coverage.passes(pointer);
                    let tools = match kind {
                        Kind::String => self.coverage.scopes.covering(pointer),
                        Kind::Object | Kind::Array | Kind::Number | Kind::Boolean | Kind::Null => {
                            vec![]
                        }
                    };
                    let text = open_part(subtree.walk.text(), &verdict);
                    let is_private = verdict == Verdict::Whole;
                    if self.coverage.is_long(&tools, subtree.walk.n_chars()) && !is_private {
                        let (pointer, text) = (pointer.to_owned(), text.into_owned());
                        let n_chars = subtree.walk.n_chars();
                        match refusal(&pointer, n_chars, self.n_given, &self.settings) {
                            Some(problem) => {
                                self.coverage.leaves_out(&pointer, Some(n_chars), &problem);
                            }
                            None => {
                                found = Some(ShortStrings { pointer, text, alone: Some(n_chars) });
                            }
                        }
                    } else if self.coverage.takes_short(&tools, pointer) {
                        let pointer = pointer.to_owned();
                        found = match self.coverage.scopes.at(&pointer).is_empty() {
                            true => self.gathering.take(&pointer, &text),
                            // A tool covers this string alone, and not the object it is in.
                            false => {
                                let text = text.into_owned();
                                Some(ShortStrings { pointer, text, alone: None })
                            }
                        };
                    }
                }
            }
            if is_end {
                self.current = None;
            }
            if let Some(ShortStrings { pointer, text, alone }) = found {
                let n_chars = text.chars().count();
                match refusal(&pointer, n_chars, self.n_given, &self.settings) {
                    Some(problem) => self.coverage.leaves_out(&pointer, alone, &problem),
                    None => {
                        self.n_given += 1;
                        let item = item_of(&self.table, &pointer, &text, alone, &self.settings);
                        self.text = text;
                        return Ok(Some(item));
                    }
                }
            }
        }
    }
}

/// Gives what of a string may be found: marks are in the place of what is private by names
/// elsewhere in the document.
fn open_part<'a>(string: &'a str, verdict: &Verdict) -> Cow<'a, str> {
    match verdict {
        Verdict::Open => Cow::Borrowed(string),
        Verdict::Whole => Cow::Borrowed(PRIVATE.mark()),
        Verdict::Parts(parts) => {
            let mut open = String::with_capacity(string.len());
            let mut at = 0;
            for part in parts {
                open.push_str(string.get(at..part.start).unwrap_or_default());
                open.push_str(PRIVATE.mark());
                at = part.end;
            }
            open.push_str(string.get(at..).unwrap_or_default());
            Cow::Owned(open)
        }
    }
}

/// Reads a node to its end for names that come behind what they name.
fn late_names(document: &OpenDocument, path: &str) -> crate::Result<LateNames> {
    let mut headings = headings::at(document, path, LateNames::default())?;
    let Some(LocatedNode { event, mut walk }) = document.find(path)? else {
        return Ok(LateNames::default());
    };
    walk.keep_text(0..headings::NAME_CHARS);
    let mut next = Some(event);
    while let Some(event) = next {
        headings::see(event, &walk, &mut headings);
        let is_end = !matches!(event, Event::Begin(_)) && walk.pointer() == path;
        next = if is_end { None } else { walk.next()? };
    }
    Ok(headings.into_late())
}

/// Short strings beside each long one that count as its labels: a title, a date, an address. Where
/// there are more, all of them are content of their own.
const LABELS: usize = 8;

/// What a tool covers of a document.
#[derive(Debug, Default)]
struct Share {
    long: LongPlaces,
    n_long: usize,
    n_long_chars: usize,
    n_short: usize,
    n_short_chars: usize,
}

impl Share {
    /// Tells whether short strings are more than labels of the long ones.
    fn is_short_content(&self) -> bool {
        self.n_short > LABELS * self.n_long || self.n_short_chars > self.n_long_chars
    }
}

/// Lets the tools that leave it to us index their short strings together: all of them where a tool
/// covers no long string, or more short ones than labels of the long ones, else those that are not
/// beside a long one. For that the document is walked once.
pub(crate) fn choose_short(
    document: &mut OpenDocument,
    tools: &[Tool],
    coverage: &mut Coverage,
) -> crate::Result<()> {
    let mut shares: BTreeMap<usize, Share> = (0..tools.len())
        .filter(|tool_idx| tools[*tool_idx].short_strings == ShortStringsUse::Auto)
        .map(|tool_idx| (tool_idx, Share::default()))
        .collect();
    if shares.is_empty() {
        return Ok(());
    }
    for path in places(coverage, document.document.n_bytes) {
        let Some(LocatedNode { event, mut walk }) = document.find(&path)? else { continue };
        let mut next = Some(event);
        while let Some(event) = next {
            let n_chars = walk.n_chars();
            if event == Event::Leaf(Kind::String) && n_chars > 0 {
                for tool_idx in coverage.scopes.covering(walk.pointer()) {
                    let Some(share) = shares.get_mut(&tool_idx) else { continue };
                    let is_long = coverage.is_long(&[tool_idx], n_chars);
                    if is_long {
                        share.long.add(walk.pointer());
                    }
                    let (n, n_all_chars) = match is_long {
                        true => (&mut share.n_long, &mut share.n_long_chars),
                        false => (&mut share.n_short, &mut share.n_short_chars),
                    };
                    *n += 1;
                    *n_all_chars += n_chars;
                }
            }
            let is_end = !matches!(event, Event::Begin(_)) && walk.pointer() == path;
            next = if is_end { None } else { walk.next()? };
        }
    }
    for (tool_idx, share) in shares {
        match share.n_long == 0 || share.is_short_content() {
            true => coverage.take_short(tool_idx),
            false => coverage.take_content(tool_idx, share.long),
        }
    }
    Ok(())
}

impl Source for StringSource {
    fn next_item(&mut self) -> Option<Result<Item, Warning>> {
        match self.advance() {
            Ok(item) => item.map(Ok),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning> {
        let text = std::mem::take(&mut self.text);
        let pointer = Pointer::Json(pointer_of(&item.metadata).to_owned());
        Ok(ItemContent::Blocks(vec![Block::new(text, pointer, BlockKind::Paragraph)]))
    }

    fn is_complete(&self) -> bool {
        self.failed.is_none()
    }
}

/// Gives the nodes to walk: those that the tools cover where they are few for the document, or
/// the whole of it.
fn places(coverage: &Coverage, n_bytes: u64) -> Vec<String> {
    let outermost = coverage.scopes.outermost();
    if outermost.len() as u64 * BYTES_PER_SEEK > n_bytes {
        return vec![String::new()];
    }
    outermost.into_iter().map(str::to_owned).collect()
}

/// Says why a string is left out, if it is.
fn refusal(
    pointer: &str,
    n_chars: usize,
    n_given: usize,
    settings: &ContextsConfig,
) -> Option<String> {
    let max_chars = settings.max_node_chars;
    if n_chars > max_chars {
        return Some(chunk::Error::TooLong { n_chars, max_chars }.to_string());
    }
    if pointer.len() > limits::MAX_POINTER_BYTES {
        let (received, allowed) = (pointer.len(), limits::MAX_POINTER_BYTES);
        return Some(format!("its pointer has `{received}` bytes, the limit is `{allowed}`"));
    }
    let allowed = limits::MAX_INDEXED_NODES;
    (n_given >= allowed)
        .then(|| format!("`{allowed}` strings before it are indexed, which is the limit"))
}

fn item_of(
    table: &TableId,
    pointer: &str,
    text: &str,
    alone: Option<usize>,
    settings: &ContextsConfig,
) -> Item {
    let n_chars = alone.unwrap_or(0);
    let hash = sha256(text.as_bytes());
    let id = node_id(table, pointer, &hash, store::limits::MAX_ID_BYTES);
    Item {
        title: title(pointer),
        attributes: Attributes::from([
            ("table".to_owned(), table.as_str().into()),
            (CHARS.to_owned(), i64::try_from(n_chars).unwrap_or(i64::MAX).into()),
        ]),
        fingerprint: format!("{hash} {} {n_chars}", settings.cut_name()),
        metadata: json!({ "json_pointer": pointer, "content_hash": hash }),
        ..Item::new(id.document(), "")
    }
}

/// Gives the pointer of a string out of its document's metadata.
pub(crate) fn pointer_of(metadata: &Value) -> &str {
    metadata["json_pointer"].as_str().unwrap_or_default()
}

/// Gives the length of a string that is indexed by itself; nothing for short ones.
pub(crate) fn alone(item: &Item) -> Option<usize> {
    match item.attributes.get(CHARS) {
        Some(AttributeValue::Integer(n_chars)) => usize::try_from(*n_chars).ok().filter(|n| *n > 0),
        _ => None,
    }
}

/// Gives the content hash of a string out of its document's metadata.
pub(crate) fn content_hash(metadata: &Value) -> &str {
    metadata["content_hash"].as_str().unwrap_or_default()
}

/// Gives the words of a path, of which the last ones say most.
fn title(path: &str) -> String {
    let words = pointer::components(path).unwrap_or_default().join(" ");
    let n_chars = words.chars().count();
    words.chars().skip(n_chars.saturating_sub(TITLE_CHARS)).collect()
}
