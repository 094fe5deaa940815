//! A container as JSON within a budget: long strings are cut short, what follows the budget is
//! left out, and both are said. The text is valid JSON in any case.

use std::io::Read;

use serde::Serialize;

use crate::document::in_time;
use crate::json::{Event, Kind, Walk, pointer};
use crate::{Error, Result};

/// Characters of a string inside a container that are shown.
const STRING_CHARS: usize = 500;

/// Characters after them that are looked at.
const LOOK_AHEAD_CHARS: usize = 500;

/// Characters of a member that a list of members shows.
const MEMBER_CHARS: usize = 160;

/// Bytes that are walked over to count what the members of one list hold: about half a second.
const MAX_WALKED_BYTES: u64 = 64 * 1024 * 1024;

/// How much a member of a container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MemberSize {
    /// What it is: `object`, `array`, `string`, `number`, `boolean`, `null`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Members of a list or object, characters of a string; nothing for others.
    pub size: Option<u64>,
    /// Whether all of it was counted; where not, it has at least so many.
    pub counted: bool,
}

/// A container as text.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) text: String,
    pub(crate) n_shortened: usize,
    /// Members of the container that were begun.
    n_begun: usize,
    /// What each member that is shown holds, in a list of members.
    pub(crate) sizes: Vec<MemberSize>,
    /// Members of the container that were passed over.
    n_before: usize,
    /// How many members there are up to the last that is shown, where others follow.
    pub(crate) next: Option<usize>,
    /// The member that is not shown in full, since it alone is over the budget.
    pub(crate) cut_member: Option<String>,
}

impl Outline {
    /// Reads the container that just began, from its member `offset` on. Members that do not fit
    /// are left out whole; the first one is cut.
    pub(crate) fn read<R: Read>(
        walk: &mut Walk<R>,
        kind: Kind,
        offset: usize,
        max_chars: usize,
    ) -> Result<Outline> {
        // A little more is read, so that the end of what is shown does not divide an address.
        walk.keep_text(0..STRING_CHARS + LOOK_AHEAD_CHARS);
        let mut outline = Outline { n_before: offset, ..Outline::default() };
        let mut budget = max_chars;
        let mut open = vec![(kind, 0_usize)];
        outline.text.push(opening(kind));
        // The members of the container itself, and where the last of them begins in the text.
        let (mut n_members, mut member_at, mut member_path) = (0_usize, 1, String::new());
        while let Some((container, n_in_container)) = open.last() {
            let (container, n_in_container) = (*container, *n_in_container);
            let Some(event) = walk.next().map_err(in_time)? else { break };
            let is_end = matches!(event, Event::End(_));
            if open.len() == 1 && !is_end {
                n_members += 1;
                outline.n_begun = n_members;
                member_at = outline.text.len();
                walk.pointer().clone_into(&mut member_path);
                if n_members <= offset {
                    pass_over(walk, &event)?;
                    continue;
                }
            }
            let mut piece = String::new();
            if !is_end {
                if n_in_container > 0 {
                    piece.push(',');
                }
                if let Some((_, n_shown)) = open.last_mut() {
                    *n_shown += 1;
                }
                if container == Kind::Object {
                    piece.push_str(&quoted(&last_key(walk.pointer()))?);
                    piece.push(':');
                }
            }
            match event {
                Event::End(kind) => {
                    piece.push(closing(kind));
                    open.pop();
                }
                Event::Begin(kind) => {
                    piece.push(opening(kind));
                    open.push((kind, 0));
                }
                Event::Leaf(Kind::String) => {
                    piece.push_str(&outline.string(walk, STRING_CHARS)?);
                }
                Event::Leaf(_) => piece.push_str(walk.text()),
            }
            let n_chars = piece.chars().count();
            if n_chars > budget && !is_end {
                if matches!(event, Event::Begin(_)) {
                    open.pop();
                }
                if n_members > offset + 1 {
                    // It begins the next part.
                    outline.text.truncate(member_at);
                    open.truncate(1);
                    outline.next = Some(n_members - 1);
                } else {
                    outline.next = Some(n_members);
                    outline.cut_member = Some(member_path);
                }
                outline.close(&open);
                return Ok(outline);
            }
            budget = budget.saturating_sub(n_chars);
            outline.text.push_str(&piece);
        }
        Ok(outline)
    }

    /// Reads the container that just began member by member, from its member `offset` on: of each
    /// the beginning, and how much it holds.
    pub(crate) fn list<R: Read>(
        walk: &mut Walk<R>,
        kind: Kind,
        offset: usize,
        max_chars: usize,
    ) -> Result<Outline> {
        walk.keep_text(0..STRING_CHARS + LOOK_AHEAD_CHARS);
        let mut outline = Outline { n_before: offset, ..Outline::default() };
        outline.text.push(opening(kind));
        let mut budget = max_chars;
        let mut walked_from = None;
        while let Some(event) = walk.next().map_err(in_time)? {
            let (Event::Begin(member) | Event::Leaf(member)) = event else { break };
            outline.n_begun += 1;
            if outline.n_begun <= offset {
                pass_over(walk, &event)?;
                continue;
            }
            let until = *walked_from.get_or_insert(walk.start()) + MAX_WALKED_BYTES;
            let is_first = outline.n_begun == offset + 1;
            let mut piece = if is_first { String::new() } else { ",".to_owned() };
            if kind == Kind::Object {
                piece.push_str(&quoted(&last_key(walk.pointer()))?);
                piece.push(':');
            }
            let mut counted = true;
            let size = match event {
                Event::Leaf(Kind::String) => {
                    piece.push_str(&outline.string(walk, MEMBER_CHARS)?);
                    Some(walk.n_chars() as u64)
                }
                Event::Leaf(_) | Event::End(_) => {
                    piece.push_str(walk.text());
                    None
                }
                Event::Begin(_) => {
                    let depth = walk.depth();
                    let inner = Outline::read(walk, member, 0, MEMBER_CHARS)?;
                    piece.push_str(&inner.text);
                    let rest = count_rest(walk, depth, until)?;
                    counted = rest.is_ok();
                    Some(inner.n_begun as u64 + rest.unwrap_or_else(|so_far| so_far))
                }
            };
            let n_chars = piece.chars().count();
            if n_chars > budget && !is_first {
                outline.next = Some(outline.n_begun - 1);
                break;
            }
            budget = budget.saturating_sub(n_chars);
            outline.text.push_str(&piece);
            outline.sizes.push(MemberSize { kind: member.as_str(), size, counted });
            if !counted {
                outline.next = Some(outline.n_begun);
                break;
            }
        }
        outline.text.push(closing(kind));
        Ok(outline)
    }

    /// Writes the string of the last event, cut where it is long.
    fn string<R: Read>(&mut self, walk: &Walk<R>, max_chars: usize) -> Result<String> {
        let mut shown = text::cut_outside_private(walk.text(), max_chars).to_owned();
        if walk.n_chars() > max_chars {
            self.n_shortened += 1;
            shown.push_str(&format!("… ({} characters)", walk.n_chars()));
        }
        quoted(&shown)
    }

    /// Tells whether something of the container is not in the text.
    pub(crate) fn is_cut(&self) -> bool {
        self.next.is_some() || self.n_shortened > 0 || self.n_before > 0
    }

    /// Says what is not in the text.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = vec![];
        if self.n_shortened > 0 {
            notices.push(format!(
                "{} strings are cut after {STRING_CHARS} characters; read one by its own pointer",
                self.n_shortened
            ));
        }
        if let Some(member) = &self.cut_member {
            notices.push(format!("`{member}` is not shown in full; read it by this pointer"));
        }
        if let Some(next) = self.next {
            notices.push(format!(
                "members {} to {next} are shown; the next begin at `offset` {next}",
                self.n_before
            ));
        }
        notices
    }

    fn close(&mut self, open: &[(Kind, usize)]) {
        for (depth, (kind, _)) in open.iter().enumerate().rev() {
            // Only the innermost container has lost a member. What follows in the next part is not
            // lost: a mark among the members would be taken for one of them.
            let is_innermost = depth + 1 == open.len();
            if is_innermost && (depth > 0 || self.cut_member.is_some()) {
                let comma = if self.text.ends_with(['[', '{']) { "" } else { "," };
                let mark = if *kind == Kind::Object { "\"…\":\"…\"" } else { "\"…\"" };
                self.text.push_str(comma);
                self.text.push_str(mark);
            }
            self.text.push(closing(*kind));
        }
    }
}

/// Reads to the end of the container at a depth, unless that is behind a place, and counts its
/// members that begin on the way; those so far where its end was not reached.
fn count_rest<R: Read>(
    walk: &mut Walk<R>,
    depth: usize,
    until: u64,
) -> Result<std::result::Result<u64, u64>> {
    let mut n_members = 0;
    while walk.depth() >= depth {
        let Some(event) = walk.next().map_err(in_time)? else { break };
        let inside = match event {
            Event::Begin(_) => walk.depth() - 1,
            Event::Leaf(_) => walk.depth(),
            Event::End(_) => continue,
        };
        n_members += u64::from(inside == depth);
        if walk.start() > until {
            return Ok(Err(n_members));
        }
    }
    Ok(Ok(n_members))
}

/// Reads to the end of a member without showing it.
fn pass_over<R: Read>(walk: &mut Walk<R>, event: &Event) -> Result<()> {
    let mut depth = usize::from(matches!(event, Event::Begin(_)));
    while depth > 0 {
        match walk.next().map_err(in_time)? {
            Some(Event::Begin(_)) => depth += 1,
            Some(Event::End(_)) => depth -= 1,
            Some(Event::Leaf(_)) => {}
            None => return Ok(()),
        }
    }
    Ok(())
}

fn opening(kind: Kind) -> char {
    if kind == Kind::Object { '{' } else { '[' }
}

fn closing(kind: Kind) -> char {
    if kind == Kind::Object { '}' } else { ']' }
}

fn quoted(text: &str) -> Result<String> {
    serde_json::to_string(text).map_err(|error| Error::Document(error.into()))
}

fn last_key(path: &str) -> String {
    pointer::last(path).unwrap_or_default()
}
