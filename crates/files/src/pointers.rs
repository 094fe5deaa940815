//! The places of hits, as `openFile` takes them.

use model::Passage;

use crate::hooks::LINES;
use crate::lines::Lines;
use crate::place::{self, FilePlace};
use crate::preview::MAX_PREVIEW_CHARS;
use crate::same::Places;
use crate::{Indexer, Result};

/// The longest snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 400;

/// Names the places of hits so that `openFile` shows them: the line that holds most of what was
/// asked for, where the file has lines. A unit that is longer than one preview is followed by the
/// character in the file where the hit begins.
///
/// Of each file no more is read than one preview before the hit, and of all files together: a unit
/// that begins further above is a long one, wherever that is.
pub(crate) fn exact_pointers(indexer: &Indexer, hits: &[Places]) -> Result<Vec<String>> {
    let shown = MAX_PREVIEW_CHARS - MAX_SNIPPET_CHARS;
    let start_of = |hit: &Places| hit.ranked.passage.passage.span.start + hit.snippet.span.start;
    let wanted: Vec<(&Passage, usize)> = hits
        .iter()
        .map(|hit| {
            // A unit begins behind the start of the file, so a hit near that needs no look back.
            let from = start_of(hit).checked_sub(shown).unwrap_or(usize::MAX);
            (&hit.ranked.passage.passage, from)
        })
        .collect();
    let store = &indexer.config().store;
    let stretches = store.passages_back_to(indexer.namespace(), &wanted)?;
    let named = hits.iter().zip(stretches).map(|(hit, stretch)| {
        let (passage, snippet) = (&hit.ranked.passage.passage, &hit.snippet);
        let lines = hit
            .document
            .as_ref()
            .map_or_else(Lines::default, |document| Lines::from_json(&document.metadata[LINES]));
        let pointer = match lines.at(passage, snippet.span.start + snippet.focus) {
            Some(line) => passage.pointer.on_line(line),
            None => passage.pointer.clone(),
        };
        let path = hit.ranked.hit.document.as_str();
        let found = place::find(path, &pointer.to_string(), &stretch, &lines);
        let unit = found.ok().and_then(|(_, covered)| stretch.get(covered.start));
        let unit_start = unit.map_or(0, |passage| passage.span.start);
        let start = start_of(hit);
        let is_shown = (unit_start..=unit_start + shown).contains(&start);
        FilePlace { pointer: Some(pointer), char_start: (!is_shown).then_some(start) }.to_string()
    });
    Ok(named.collect())
}
