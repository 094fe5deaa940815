//! What a document says directly around one of its passages, so that whoever shows the passage
//! can tell what reaches over its edges.

use model::{Around, NamespaceId, Passage, PassageId};

use super::Store;
use crate::Result;

/// Passages that are looked at on each side.
const N_NEIGHBOURS: u32 = 4;

/// The same where the passage may be inside something long: a key, a token.
const N_NEIGHBOURS_OF_LONG: u32 = 40;

/// A text without a blank for so many characters may be inside something long.
const LONG_RUN_CHARS: usize = 60;

/// The text around a passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The line of headings of the table that the passage is in, where one of its columns holds
    /// secrets.
    pub heading: Option<String>,
    /// What comes directly before it.
    pub before: String,
    /// What comes directly after it.
    pub after: String,
}

impl From<Surroundings> for Around {
    fn from(surroundings: Surroundings) -> Self {
        Around::new(surroundings.before, surroundings.after).with_heading(surroundings.heading)
    }
}

impl Store {
    /// Gives the text of a document around one of its passages: that of a few passages on each
    /// side, without what they share.
    ///
    /// Neighbours are found by their names, which end in the passage's number; of a passage that
    /// is named otherwise nothing is known.
    pub fn surroundings(&self, namespace: &NamespaceId, passage: &Passage) -> Result<Surroundings> {
        let id = passage.id.as_str();
        let Some(prefix) = id.strip_suffix(&passage.ordinal.to_string()) else {
            return Ok(Surroundings::default());
        };
        let mut n_neighbours = N_NEIGHBOURS;
        loop {
            let around = self.neighbourhood(namespace, passage, prefix, n_neighbours)?;
            if n_neighbours > N_NEIGHBOURS || !around.reaches_further(passage) {
                return Ok(around);
            }
            n_neighbours = N_NEIGHBOURS_OF_LONG;
        }
    }

    fn neighbourhood(
        &self,
        namespace: &NamespaceId,
        passage: &Passage,
        prefix: &str,
        n_neighbours: u32,
    ) -> Result<Surroundings> {
        let first = passage.ordinal.saturating_sub(n_neighbours);
        let last = passage.ordinal.saturating_add(n_neighbours);
        let ids: Vec<PassageId> = (first..=last)
            .filter(|ordinal| *ordinal != passage.ordinal)
            .map(|ordinal| PassageId::new(format!("{prefix}{ordinal}")))
            .collect();
        let found = self.passages(namespace, &ids)?;
        let neighbours: Vec<Passage> =
            found.into_iter().flatten().map(|stored| stored.passage).collect();
        Ok(around(passage, &neighbours))
    }
}

impl Surroundings {
    /// Gives what is around a passage where all passages of its document are at hand, in order.
    pub fn among(passage: &Passage, of_document: &[Passage]) -> Self {
        let is_near = |other: &&Passage| {
            other.ordinal != passage.ordinal
                && other.ordinal.abs_diff(passage.ordinal) <= N_NEIGHBOURS_OF_LONG
        };
        let near: Vec<Passage> = of_document.iter().filter(is_near).cloned().collect();
        around(passage, &near)
    }

    /// Tells whether the passage may be inside something that begins before these surroundings
    /// or ends behind them.
    fn reaches_further(&self, passage: &Passage) -> bool {
        let is_long = |text: &mut dyn Iterator<Item = char>| {
            let mut n_chars = 0;
            text.take_while(|char| !matches!(char, ' ' | '\t'))
                .filter(|char| !char.is_whitespace())
                .take(LONG_RUN_CHARS)
                .for_each(|_| n_chars += 1);
            n_chars == LONG_RUN_CHARS
        };
        let is_in_long =
            is_long(&mut passage.text.chars()) || is_long(&mut passage.text.chars().rev());
        is_in_long && (is_long(&mut self.before.chars()) || is_long(&mut self.after.chars().rev()))
    }
}

/// Puts the text of neighbours together, in their order.
fn around(passage: &Passage, neighbours: &[Passage]) -> Surroundings {
    let mut before = String::new();
    let mut end_before = None;
    let mut after = String::new();
    let mut end_after = passage.span.end;
    // What is on another sheet says nothing of this one.
    let is_near = |other: &&Passage| other.pointer.sheet() == passage.pointer.sheet();
    for neighbour in neighbours.iter().filter(is_near) {
        let span = &neighbour.span;
        if neighbour.ordinal < passage.ordinal {
            // What two neighbours share is taken once, and what the passage has itself not at all.
            let from = end_before.unwrap_or(span.start).max(span.start);
            if end_before.is_some_and(|end| end < span.start) {
                before.push('\n');
            }
            before.extend(
                neighbour
                    .text
                    .chars()
                    .skip(from - span.start)
                    .take(passage.span.start.min(span.end).saturating_sub(from)),
            );
            end_before = Some(span.end.max(from));
        } else {
            if end_after < span.start {
                after.push('\n');
            }
            after.extend(neighbour.text.chars().skip(end_after.saturating_sub(span.start)));
            end_after = end_after.max(span.end);
        }
    }
    if end_before.is_some_and(|end| end < passage.span.start) {
        before.push('\n');
    }
    // The cutter gives passages of a table its headings.
    let heading = passage.headings.last().filter(|line| text::is_secret_heading(line)).cloned();
    Surroundings { heading, before, after }
}

#[cfg(test)]
mod tests {
    use model::{Pointer, Span};
    use proptest::prelude::*;

    use super::*;

    fn passage(ordinal: u32, text: &[char], span: std::ops::Range<usize>) -> Passage {
        Passage {
            id: PassageId::new(format!("d:{ordinal}")),
            ordinal,
            text: text[span.clone()].iter().collect(),
            span: Span::new(span.start, span.end),
            pointer: Pointer::Whole,
            headings: vec![],
        }
    }

    proptest! {
        /// However a text is cut, what is around a piece is the text around it.
        #[test]
        fn neighbours_and_passage_give_the_text(
            text in "[a-zé ]{1,200}",
            size in 1_usize..40,
            overlap in 0_usize..20,
        ) {
            let text: Vec<char> = text.chars().collect();
            let step = size.saturating_sub(overlap).max(1);
            let pieces: Vec<Passage> = (0_u32..)
                .zip((0..text.len()).step_by(step))
                .map(|(ordinal, start)| passage(ordinal, &text, start..(start + size).min(text.len())))
                .collect();
            for piece in &pieces {
                let near: Vec<Passage> = pieces
                    .iter()
                    .filter(|other| {
                        let apart = other.ordinal.abs_diff(piece.ordinal);
                        (1..=N_NEIGHBOURS).contains(&apart)
                    })
                    .cloned()
                    .collect();
                let Surroundings { before, after, .. } = around(piece, &near);
                let whole: String = text.iter().collect();
                let seen = format!("{before}{}{after}", piece.text);
                prop_assert!(whole.contains(&seen), "{seen:?} of {whole:?}");
                let is_first = piece.span.start == 0;
                prop_assert_eq!(before.is_empty(), is_first);
            }
        }
    }
}
