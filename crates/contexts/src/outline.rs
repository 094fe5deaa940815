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
    pub(crate) is_cut: bool,
    pub(crate) n_shortened: usize,
}

impl Outline {
    /// Reads the container that just began.
    pub(crate) fn read<R: Read>(
        walk: &mut Walk<R>,
        kind: Kind,
        max_chars: usize,
    ) -> Result<Outline> {
        // A little more is read, so that the end of what is shown does not divide an address.
        walk.keep_text(0..STRING_CHARS + LOOK_AHEAD_CHARS);
        let mut outline = Outline::default();
        let mut budget = max_chars;
        let mut open = vec![(kind, 0_usize)];
        outline.text.push(opening(kind));
        while let Some((container, n_members)) = open.last_mut() {
            let Some(event) = walk.next().map_err(in_time)? else { break };
            let mut piece = String::new();
            if !matches!(event, Event::End(_)) {
                if *n_members > 0 {
                    piece.push(',');
                }
                *n_members += 1;
                if *container == Kind::Object {
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
            if n_chars > budget {
                // The member that does not fit is left out; what is open is closed.
                let is_begin = matches!(event, Event::Begin(_));
                if is_begin {
                    open.pop();
                }
                if !matches!(event, Event::End(_)) {
                    outline.is_cut = true;
                    outline.close(&open);
                    return Ok(outline);
                }
            }
            budget = budget.saturating_sub(n_chars);
            outline.text.push_str(&piece);
        }
        Ok(outline)
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
        if self.is_cut {
            let notice = "the members after `…` are left out; read them by their own pointers, \
                          or raise `max_chars`";
            notices.push(notice.to_owned());
        }
        notices
    }

    fn close(&mut self, open: &[(Kind, usize)]) {
        for (depth, (kind, n_members)) in open.iter().enumerate().rev() {
            // Only the innermost container has lost a member that would have come next.
            let is_innermost = depth + 1 == open.len();
            if is_innermost {
                let comma = if *n_members > 1 { "," } else { "" };
                let mark = if *kind == Kind::Object { "\"…\":\"…\"" } else { "\"…\"" };
                self.text.push_str(comma);
                self.text.push_str(mark);
            }
            self.text.push(closing(*kind));
        }
    }
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
