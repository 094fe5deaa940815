//! Files that hold the same are one result, which names the others.

use store::DocumentInfo;

use crate::walk::ext_of;
use crate::{Indexer, Result};

/// Longer files are compared by what was found alone, and so never taken for the same.
const MAX_COMPARED_PASSAGES: usize = 500;

/// A file that was found, with what says the same.
pub(crate) struct Places {
    pub(crate) ranked: retrieve::Ranked,
    pub(crate) document: Option<DocumentInfo>,
    /// The paths of other files with the same content, in the order they were found.
    pub(crate) duplicates: Vec<String>,
    /// The position among all files that were found, from 0.
    pub(crate) rank: usize,
}

/// Files in the order they were found, each content once, at most so many; and how many of those
/// that were given are in them.
pub(crate) fn folded(
    indexer: &Indexer,
    found: Vec<retrieve::Ranked>,
    limit: usize,
) -> Result<(Vec<Places>, usize)> {
    let mut places: Vec<Places> = vec![];
    for (rank, ranked) in found.into_iter().enumerate() {
        let document =
            indexer.config().store.document(indexer.namespace(), &ranked.hit.document)?;
        let mut same = None;
        for (idx, one) in places.iter().enumerate() {
            if is_same(indexer, one, &ranked, document.as_ref())? {
                same = Some(idx);
                break;
            }
        }
        if let Some(one) = same.and_then(|idx| places.get_mut(idx)) {
            one.duplicates.push(ranked.hit.document.to_string());
        } else if places.len() == limit {
            return Ok((places, rank));
        } else {
            places.push(Places { ranked, document, duplicates: vec![], rank });
        }
    }
    let n_taken = places.iter().map(|one| 1 + one.duplicates.len()).sum();
    Ok((places, n_taken))
}

/// Files one by one, the same or not.
pub(crate) fn each(
    indexer: &Indexer,
    found: Vec<retrieve::Ranked>,
) -> Result<(Vec<Places>, usize)> {
    let mut places: Vec<Places> = vec![];
    for (rank, ranked) in found.into_iter().enumerate() {
        let document =
            indexer.config().store.document(indexer.namespace(), &ranked.hit.document)?;
        places.push(Places { ranked, document, duplicates: vec![], rank });
    }
    let n_taken = places.len();
    Ok((places, n_taken))
}

fn is_same(
    indexer: &Indexer,
    one: &Places,
    ranked: &retrieve::Ranked,
    document: Option<&DocumentInfo>,
) -> Result<bool> {
    let (Some(known), Some(other)) = (&one.document, document) else { return Ok(false) };
    let (found, passage) = (&one.ranked.passage.passage, &ranked.passage.passage);
    let ext = |document: &DocumentInfo| ext_of(std::path::Path::new(document.id.as_str()));
    let is_like = known.n_passages == other.n_passages
        && (1..=MAX_COMPARED_PASSAGES).contains(&known.n_passages)
        && found.ordinal == passage.ordinal
        && found.text == passage.text
        && ext(known) == ext(other);
    if !is_like || known.n_passages == 1 {
        return Ok(is_like);
    }
    let (store, namespace) = (&indexer.config().store, indexer.namespace());
    let one = store.passages_of(namespace, &known.id)?;
    let other = store.passages_of(namespace, &other.id)?;
    let texts = one.iter().map(|passage| &passage.text);
    Ok(texts.eq(other.iter().map(|passage| &passage.text)))
}
