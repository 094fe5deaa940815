//! How a server follows the log of a namespace: what the next step is, and passages in parts.

use std::ops::Range;

use super::ledger::{Entry, OUTDATED, ServerNamespace};
use crate::{Catalogue, Error, LogEntry, NamespaceState, PassageSource, Result, SourceParts};

/// What a server needs to come to the last change of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing: it has every change.
    Current,
    /// All rows anew: it has none, or it cannot go on from where it is.
    Anew,
    /// What these entries of the log say, in order.
    Send(Vec<LogEntry>),
}

/// Says what the next step is, with at most `limit` entries of the log.
///
/// # Errors
///
/// [`Error::CatalogueBehind`] when the server has seen more than the catalogue has, and those of
/// the catalogue.
pub fn next_step<N: ServerNamespace>(
    catalogue: &dyn Catalogue,
    state: &NamespaceState,
    entry: Option<&Entry<N>>,
    limit: usize,
) -> Result<Step> {
    let (number, seen) = (state.number, entry.map_or(0, |entry| entry.seen));
    let page = catalogue.log(number, seen, limit)?;
    if page.last < seen {
        return Err(Error::CatalogueBehind { number, seen, last: page.last });
    }
    if page.last == 0 {
        return Ok(Step::Current);
    }
    let can_go_on = |entry: &Entry<N>| {
        entry.seen != OUTDATED
            && entry.seen >= page.starts_after
            && entry.space == state.info.manifest.vectors
    };
    Ok(match entry.is_some_and(can_go_on) {
        false => Step::Anew,
        true if page.entries.is_empty() => Step::Current,
        true => Step::Send(page.entries),
    })
}

/// Reads passages with their vectors, so many at once, and gives them on in the order of their
/// numbers.
///
/// # Errors
///
/// The first failure, of the catalogue or of `take`.
pub fn each_source(
    catalogue: &dyn Catalogue,
    number: u32,
    mut passages: Range<u32>,
    n_at_once: usize,
    mut take: impl FnMut(Vec<PassageSource>) -> Result<()>,
) -> Result<()> {
    while !passages.is_empty() {
        let parts = SourceParts::WithVector;
        let sources = catalogue.sources(number, passages.clone(), n_at_once, parts)?;
        let Some(last) = sources.last() else { break };
        passages.start = last.number.saturating_add(1);
        let is_last = sources.len() < n_at_once;
        take(sources)?;
        if is_last {
            break;
        }
    }
    Ok(())
}
