//! What a document says directly around one of its passages, so that whoever shows the passage
//! can tell what reaches over its edges.

use std::collections::BTreeMap;

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
    /// What comes directly before it, with [`text::PASSAGE_EDGE`] where blank space was left out.
    pub before: String,
    /// What comes directly after it, likewise.
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
        Ok(self.surroundings_of(&[(namespace, passage)])?.pop().unwrap_or_default())
    }

    /// Gives the same of many passages, in their order: two queries at most for each namespace.
    pub fn surroundings_of(
        &self,
        passages: &[(&NamespaceId, &Passage)],
    ) -> Result<Vec<Surroundings>> {
        let mut surroundings = vec![Surroundings::default(); passages.len()];
        let mut by_namespace: BTreeMap<&NamespaceId, Vec<usize>> = BTreeMap::new();
        for (idx, (namespace, _)) in passages.iter().enumerate() {
            by_namespace.entry(namespace).or_default().push(idx);
        }
        for (namespace, mut rest) in by_namespace {
            for n_neighbours in [N_NEIGHBOURS, N_NEIGHBOURS_OF_LONG] {
                let asked: Vec<&Passage> = rest.iter().map(|idx| passages[*idx].1).collect();
                let found = self.neighbourhoods(namespace, &asked, n_neighbours)?;
                for (idx, around) in rest.iter().zip(found) {
                    surroundings[*idx] = around;
                }
                rest.retain(|idx| surroundings[*idx].reaches_further(passages[*idx].1));
                if rest.is_empty() {
                    break;
                }
            }
        }
        Ok(surroundings)
    }

    /// Gives, for each passage, those of its document from the last that begins before a
    /// character (in characters of the document's text) up to the passage itself, in order; from
    /// the document's first where none begins so early.
    ///
    /// All are read together, and no more of a document than lies between: one query where
    /// passages are of the usual length, few more where they are short. A passage that is not
    /// named by its number is given alone.
    pub fn passages_back_to(
        &self,
        namespace: &NamespaceId,
        wanted: &[(&Passage, usize)],
    ) -> Result<Vec<Vec<Passage>>> {
        // From the passage itself backwards, until all are read.
        let mut stretches: Vec<Vec<Passage>> =
            wanted.iter().map(|(passage, _)| vec![(*passage).clone()]).collect();
        let mut n_at_once = N_NEIGHBOURS;
        let mut open: Vec<usize> = (0..wanted.len()).collect();
        loop {
            open.retain(|idx| {
                stretches[*idx].last().is_some_and(|p| p.span.start >= wanted[*idx].1)
            });
            let ids: Vec<Vec<PassageId>> = open
                .iter()
                .map(|idx| stretches[*idx].last().map_or(vec![], |p| before(p, n_at_once)))
                .collect();
            if ids.iter().all(Vec::is_empty) {
                break;
            }
            let mut found = self.passages(namespace, &ids.concat())?.into_iter();
            let mut still_open = vec![];
            for (idx, ids) in open.iter().zip(&ids) {
                let read: Vec<Passage> =
                    found.by_ref().take(ids.len()).flatten().map(|one| one.passage).collect();
                // Nothing comes of a document that was replaced meanwhile.
                if read.len() == ids.len() && !ids.is_empty() {
                    still_open.push(*idx);
                }
                let (stretch, (_, from)) = (&mut stretches[*idx], wanted[*idx]);
                for passage in read {
                    if stretch.last().is_some_and(|last| last.span.start >= from) {
                        stretch.push(passage);
                    }
                }
            }
            open = still_open;
            n_at_once = n_at_once.saturating_mul(4);
        }
        for stretch in &mut stretches {
            stretch.reverse();
        }
        Ok(stretches)
    }

    fn neighbourhoods(
        &self,
        namespace: &NamespaceId,
        passages: &[&Passage],
        n_neighbours: u32,
    ) -> Result<Vec<Surroundings>> {
        let ids: Vec<Vec<PassageId>> =
            passages.iter().map(|passage| neighbours_of(passage, n_neighbours)).collect();
        let found = self.passages(namespace, &ids.concat())?;
        let mut found = found.into_iter();
        let mut surroundings = Vec::with_capacity(passages.len());
        for (passage, ids) in passages.iter().zip(&ids) {
            let neighbours: Vec<Passage> =
                found.by_ref().take(ids.len()).flatten().map(|stored| stored.passage).collect();
            let is_named = !ids.is_empty();
            surroundings.push(if is_named {
                around(passage, &neighbours)
            } else {
                Surroundings::default()
            });
        }
        Ok(surroundings)
    }
}

/// Names the passages on both sides; none where the passage is not named by its number.
fn neighbours_of(passage: &Passage, n_neighbours: u32) -> Vec<PassageId> {
    let first = passage.ordinal.saturating_sub(n_neighbours);
    let last = passage.ordinal.saturating_add(n_neighbours);
    named(passage, (first..=last).filter(|ordinal| *ordinal != passage.ordinal))
}

/// Names the passages before one, the nearest first.
fn before(passage: &Passage, n_neighbours: u32) -> Vec<PassageId> {
    let first = passage.ordinal.saturating_sub(n_neighbours);
    named(passage, (first..passage.ordinal).rev())
}

/// Names passages of the same document; none where its passages are not named by their numbers.
fn named(passage: &Passage, ordinals: impl Iterator<Item = u32>) -> Vec<PassageId> {
    let id = passage.id.as_str();
    let Some(prefix) = id.strip_suffix(&passage.ordinal.to_string()) else { return vec![] };
    ordinals.map(|ordinal| PassageId::new(format!("{prefix}{ordinal}"))).collect()
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
                .filter(|char| !char.is_whitespace() && *char != text::PASSAGE_EDGE)
                .take(LONG_RUN_CHARS)
                .for_each(|_| n_chars += 1);
            n_chars == LONG_RUN_CHARS
        };
        // The row of a table that it is in may begin further above.
        if self.heading.is_some() && !self.before.contains('\n') && !self.before.is_empty() {
            return true;
        }
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
                before.push(text::PASSAGE_EDGE);
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
                after.push(text::PASSAGE_EDGE);
            }
            after.extend(neighbour.text.chars().skip(end_after.saturating_sub(span.start)));
            end_after = end_after.max(span.end);
        }
    }
    if end_before.is_some_and(|end| end < passage.span.start) {
        before.push(text::PASSAGE_EDGE);
    }
    // The cutter gives passages of a table its headings.
    let heading = passage.headings.last().filter(|line| text::is_secret_heading(line)).cloned();
    let is_whole = neighbours
        .iter()
        .any(|other| other.ordinal < passage.ordinal && (other.ordinal == 0 || !is_near(&other)));
    if heading.is_some() && is_whole && !before.is_empty() {
        // The first line of the sheet is known to be a whole one.
        before.insert(0, '\n');
    }
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
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However long passages are and wherever they begin, what is read of a document is what
        /// a look at all of it gives.
        #[test]
        fn what_comes_before_is_a_part_of_the_document(
            lengths in proptest::collection::vec(1_usize..30, 1..60),
            places in proptest::collection::vec((0_usize..60, 0_usize..900), 1..6),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (config, clock) =
                (crate::Config::for_one_machine(), model::Clock::fixed(model::Timestamp(1)));
            let store = Store::open(folder.path(), &config, clock).unwrap();
            let namespace = NamespaceId::new("law");
            store.create_namespace(&namespace, &crate::Manifest::current(None)).unwrap();
            let text: Vec<char> = vec!['x'; lengths.iter().sum()];
            let mut start = 0;
            let passages: Vec<Passage> = (0_u32..)
                .zip(&lengths)
                .map(|(ordinal, length)| {
                    start += length;
                    passage(ordinal, &text, start - length..start)
                })
                .collect();
            let document = crate::Document {
                passages: passages.clone(),
                ..crate::conformance::document("d", &[])
            };
            store.upsert(&namespace, &[document]).unwrap();
            let wanted: Vec<(&Passage, usize)> = places
                .iter()
                .map(|(at, from)| (&passages[at % passages.len()], *from))
                .collect();
            let found = store.passages_back_to(&namespace, &wanted).unwrap();
            for ((of, from), found) in wanted.into_iter().zip(found) {
                let to = of.ordinal as usize;
                let first =
                    passages[..=to].iter().rposition(|one| one.span.start < from).unwrap_or(0);
                prop_assert_eq!(found, &passages[first..=to]);
            }
        }

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
