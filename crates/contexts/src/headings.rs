//! What names elsewhere in a document say of one of its values: headings of the table that it is a
//! cell of, the name beside it.
//!
//! Names are looked for in the objects and lists around the value, in the first part of each and
//! where members are that usually hold names.

use model::{HEADING_MEMBERS, SCHEMA_MEMBERS};
use text::{Ended, JsonHeadings, LateNames};

use crate::Result;
use crate::document::in_time;
use crate::json::{Event, Kind, SPACING, Walk, pointer};
use crate::reader::Reader;
use crate::seek::{LocatedNode, OpenDocument};

/// Characters of a string that may be names.
pub(crate) const NAME_CHARS: usize = 8_192;

/// Objects and lists around a value that are looked at.
const MAX_DEPTH: usize = 64;

/// Follows a document to a node, so that the node comes next.
pub(crate) fn at(document: &OpenDocument, node: &str, late: LateNames) -> Result<JsonHeadings> {
    let mut headings = JsonHeadings::with_late(late);
    let inner = node.match_indices('/').map(|(at, _)| at);
    for (depth, at) in inner.enumerate() {
        let (container, rest) = node.split_at(at);
        let child_len = rest[1..].find('/').map_or(rest.len(), |len| len + 1);
        let child = &node[..at + child_len];
        if depth >= MAX_DEPTH {
            break;
        }
        enter(document, container, Some(child), &mut headings)?;
        headings.at(&pointer::last(child).unwrap_or_default());
    }
    Ok(headings)
}

/// Reads the first part of a container for names, all but the child that is wanted.
pub(crate) fn enter(
    document: &OpenDocument,
    container: &str,
    child: Option<&str>,
    headings: &mut JsonHeadings,
) -> Result<()> {
    let Some(LocatedNode { event: Event::Begin(kind), mut walk }) = document.find(container)?
    else {
        return Ok(());
    };
    headings.begin(kind == Kind::Object);
    let start = walk.start();
    let until = start + SPACING;
    loop {
        let Some(event) = walk.next().map_err(in_time)? else { return Ok(()) };
        if matches!(event, Event::End(_)) {
            return Ok(());
        }
        let is_child = child.is_some_and(|child| child == walk.pointer());
        // What names the rows of a list is above them.
        if is_child && kind == Kind::Array {
            return Ok(());
        }
        if is_child {
            if !pass_over(&mut walk, event, until)? {
                break;
            }
            continue;
        }
        let is_whole = take(&mut walk, event, until, headings)?;
        if !is_whole || walk.place() > until {
            break;
        }
    }
    if kind == Kind::Object {
        let mut members = HEADING_MEMBERS.to_vec();
        members.extend(SCHEMA_MEMBERS.iter().filter(|one| !HEADING_MEMBERS.contains(one)));
        for LocatedNode { event, mut walk } in document.far_members(container, start, &members)? {
            let until = walk.start() + SPACING;
            if child != Some(walk.pointer()) {
                take(&mut walk, event, until, headings)?;
            }
        }
    }
    Ok(())
}

/// Tells whether the second of two strings of a list is private since the first names a secret.
pub(crate) fn is_of_pair(document: &OpenDocument, node: &str) -> Result<bool> {
    let Some(list) = node.strip_suffix("/1") else { return Ok(false) };
    let around = list.rsplit_once('/').map_or("", |(around, _)| around);
    let is_list = |node: &str| -> Result<Option<LocatedNode>> {
        let found = document.find(node)?;
        Ok(found.filter(|found| found.event == Event::Begin(Kind::Array)))
    };
    if list.is_empty() || is_list(around)?.is_none() {
        return Ok(false);
    }
    let Some(LocatedNode { mut walk, .. }) = is_list(list)? else { return Ok(false) };
    let mut headings = JsonHeadings::new();
    headings.begin(false);
    headings.begin(false);
    for _ in 0..3 {
        match walk.next().map_err(in_time)? {
            Some(Event::Leaf(Kind::String)) => {
                headings.leaf(Some(walk.text()));
            }
            Some(Event::End(_)) => return Ok(headings.end() == Ended::Pair),
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// Reads an event, and all of what it begins; tells whether that ended before a place.
fn take(
    walk: &mut Walk<Reader>,
    event: Event,
    until: u64,
    headings: &mut JsonHeadings,
) -> Result<bool> {
    let mut n_open = 0_usize;
    let mut event = event;
    loop {
        see(event, walk, headings);
        match event {
            Event::Begin(_) => n_open += 1,
            Event::End(_) => n_open = n_open.saturating_sub(1),
            Event::Leaf(_) => {}
        }
        if n_open == 0 {
            return Ok(true);
        }
        let next = if walk.place() > until { None } else { walk.next().map_err(in_time)? };
        let Some(next) = next else {
            (0..n_open).for_each(|_| _ = headings.end());
            return Ok(false);
        };
        event = next;
    }
}

/// Tells headings what a walk came to; gives what they say of a string.
pub(crate) fn see(event: Event, walk: &Walk<Reader>, headings: &mut JsonHeadings) -> text::Verdict {
    if !matches!(event, Event::End(_)) {
        headings.at(&pointer::last(walk.pointer()).unwrap_or_default());
    }
    match event {
        Event::Begin(kind) => headings.begin(kind == Kind::Object),
        Event::End(_) => _ = headings.end(),
        Event::Leaf(kind) => {
            return headings.leaf((kind == Kind::String).then(|| walk.text()));
        }
    }
    text::Verdict::Open
}

/// Passes over a member; tells whether it ended before a place.
fn pass_over(walk: &mut Walk<Reader>, event: Event, until: u64) -> Result<bool> {
    let mut n_open = usize::from(matches!(event, Event::Begin(_)));
    while n_open > 0 {
        if walk.place() > until {
            return Ok(false);
        }
        match walk.next().map_err(in_time)? {
            Some(Event::Begin(_)) => n_open += 1,
            Some(Event::End(_)) => n_open -= 1,
            Some(Event::Leaf(_)) => {}
            None => return Ok(false),
        }
    }
    Ok(true)
}
