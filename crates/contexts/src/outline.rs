//! A container as JSON within a budget: long strings are cut short, what follows the budget is
//! left out, and both are said. The text is valid JSON in any case.

use std::io::Read;

use crate::document::in_time;
use crate::json::{Event, Kind, Walk, pointer};
use crate::{Error, Result};

/// Characters of a string inside a container that are shown.
const STRING_CHARS: usize = 500;

/// Characters after them that are looked at.
const LOOK_AHEAD_CHARS: usize = 500;

/// A container as text.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) text: String,
    pub(crate) n_shortened: usize,
    /// Members of the container that were passed over.
    n_before: usize,
    /// How many members there are up to the last that is shown, where others follow.
    pub(crate) next: Option<usize>,
    /// The member that is not shown in full, since it alone is over the budget.
    cut_member: Option<String>,
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
                    let mut shown = text::cut_outside_private(walk.text(), STRING_CHARS).to_owned();
                    if walk.n_chars() > STRING_CHARS {
                        outline.n_shortened += 1;
                        shown.push_str(&format!("… ({} characters)", walk.n_chars()));
                    }
                    piece.push_str(&quoted(&shown)?);
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
