//! Files that hold the same are one result, which names the others.
//!
//! What a file says is known by a hash that is indexed with it, so the other places of a result are
//! looked up wherever they rank, and a walk passes over what it gave under another path.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use model::{AttributeValue, Block, Deadline, DocumentId, Warning};
use sha2::{Digest as _, Sha256};
use store::{Bm25, DocumentInfo, Filter, WordsQuery, limits::MAX_CANDIDATES};

use crate::index::attribute;
use crate::walk::ext_of;
use crate::{Indexer, Result};

/// Places of one result that are named.
const MAX_PLACES: usize = 100;

/// Bytes of the hash that are kept.
const HASH_BYTES: usize = 16;

/// Words of a passage by which its copies are looked up: the longest, which few other files have.
/// One would do, if a passage could not begin within a word and a word could not be private.
const LOOKUP_WORDS: usize = 3;

/// Characters of all of them; where nothing is between words, they are the beginning of a sentence.
const LOOKUP_CHARS: usize = 60;

/// Characters of a passage among which they are chosen.
const CHOSEN_FROM_CHARS: usize = 120;

/// Files whose copies are looked up together: their words make one query, whose terms are limited
/// ([`store::limits::MAX_QUERY_TERMS`]; a character of Chinese gives up to three).
const FOLDED_AT_ONCE: usize = 20;

/// Longer files of an earlier version's index are compared by what was found alone, and so never
/// taken for the same.
const MAX_COMPARED_PASSAGES: usize = 500;

/// Names what a file says, whatever its format and however its white space is; nothing for a file
/// without text.
pub(crate) fn content_of(blocks: &[Block]) -> Option<String> {
    let mut hash = Sha256::new();
    let mut is_empty = true;
    for word in blocks.iter().flat_map(|block| block.text.split_whitespace()) {
        hash.update(word.as_bytes());
        hash.update(b" ");
        is_empty = false;
    }
    let digest = hash.finalize();
    (!is_empty).then(|| model::hex(&digest[..HASH_BYTES]))
}

/// A file that was found, with what says the same.
pub(crate) struct Places {
    pub(crate) ranked: retrieve::Ranked,
    pub(crate) snippet: retrieve::Snippet,
    pub(crate) document: Option<DocumentInfo>,
    /// The paths of other files with the same content.
    pub(crate) duplicates: Vec<String>,
    /// The position among the files that were given, from 0.
    pub(crate) rank: usize,
}

/// What folding works with.
pub(crate) struct Folding<'a> {
    pub(crate) indexer: &'a Indexer,
    /// What the caller may see and asked for.
    pub(crate) filter: &'a Filter,
    pub(crate) deadline: &'a Deadline,
    /// Tells whether a page before this one gave a file.
    pub(crate) is_given: &'a dyn Fn(&str) -> bool,
    /// The contents of files that were read already; nothing for one without any.
    pub(crate) contents: RefCell<HashMap<DocumentId, Option<String>>>,
}

/// Files of a page.
#[derive(Default)]
pub(crate) struct Folded {
    /// Each content once, in the order they were found.
    pub(crate) places: Vec<Places>,
    /// How many of the files that were found are in the page or passed over.
    pub(crate) n_taken: usize,
    /// Whether another content follows.
    pub(crate) has_more: bool,
    /// What is not told.
    pub(crate) warnings: Vec<Warning>,
}

impl Folding<'_> {
    /// Takes files in the order they were found, each content once, at most so many.
    pub(crate) fn page(&self, found: &[&retrieve::Ranked], limit: usize) -> Result<Folded> {
        let mut folded = Folded::default();
        let mut by_content: HashMap<String, Option<usize>> = HashMap::new();
        let mut rank = 0;
        // Few are looked at beyond the page, where thousands were found.
        for found in found.chunks(FOLDED_AT_ONCE) {
            let documents = self.documents(found.iter().copied())?;
            let some: Vec<_> = found.iter().copied().zip(documents).collect();
            let copies = self.copies(&some)?;
            for (ranked, document) in some {
                let path = ranked.hit.document.to_string();
                let content = document.as_ref().and_then(content);
                let known = match content {
                    Some(content) => by_content.get(content).copied(),
                    None => self.same_as(&folded.places, ranked, document.as_ref())?.map(Some),
                };
                if let Some(place_idx) = known {
                    let place = place_idx.and_then(|idx| folded.places.get_mut(idx));
                    if let Some(place) = place.filter(|place| !place.duplicates.contains(&path)) {
                        place.duplicates.push(path);
                    }
                    rank += 1;
                    continue;
                }
                let mut others = content.and_then(|content| copies.get(content)).cloned();
                if let Some(others) = &mut others {
                    others.remove(&path);
                }
                let others = others.unwrap_or_default();
                if others.iter().any(|other| (self.is_given)(other)) {
                    by_content.extend(content.map(|content| (content.to_owned(), None)));
                    rank += 1;
                    continue;
                }
                if folded.places.len() == limit {
                    folded.has_more = true;
                    folded.n_taken = rank;
                    folded.cut();
                    return Ok(folded);
                }
                let place_idx = Some(folded.places.len());
                by_content.extend(content.map(|content| (content.to_owned(), place_idx)));
                let duplicates = others.into_iter().collect();
                let (ranked, snippet) = (ranked.clone(), ranked.snippet());
                folded.places.push(Places { ranked, snippet, document, duplicates, rank });
                rank += 1;
            }
        }
        folded.n_taken = rank;
        folded.cut();
        Ok(folded)
    }

    /// Counts the contents among files that were found.
    pub(crate) fn n_contents(&self, found: &[retrieve::Ranked]) -> Result<usize> {
        let is_new =
            |found: &&retrieve::Ranked| !self.contents.borrow().contains_key(&found.hit.document);
        let unread: Vec<&retrieve::Ranked> = found.iter().filter(is_new).collect();
        self.documents(unread.into_iter())?;
        let (mut contents, mut n_unknown) = (HashSet::new(), 0);
        let known = self.contents.borrow();
        for found in found {
            match known.get(&found.hit.document).and_then(Option::as_ref) {
                Some(content) => {
                    contents.insert(content);
                }
                None => n_unknown += 1,
            }
        }
        Ok(contents.len() + n_unknown)
    }

    fn documents<'r>(
        &self,
        found: impl Iterator<Item = &'r retrieve::Ranked>,
    ) -> Result<Vec<Option<DocumentInfo>>> {
        let (store, namespace) = (&self.indexer.config().store, self.indexer.namespace());
        let ids: Vec<DocumentId> = found.map(|ranked| ranked.hit.document.clone()).collect();
        let documents = store.documents_by_id(namespace, &ids)?;
        let contents =
            documents.iter().map(|document| document.as_ref().and_then(content).map(str::to_owned));
        self.contents.borrow_mut().extend(ids.into_iter().zip(contents));
        Ok(documents)
    }

    /// Looks up the files with the contents of some, by content: those that pass the filter.
    fn copies(
        &self,
        some: &[(&retrieve::Ranked, Option<DocumentInfo>)],
    ) -> Result<HashMap<String, BTreeSet<String>>> {
        let known = some.iter().filter_map(|(_, document)| document.as_ref());
        let known: BTreeMap<&DocumentId, (&str, &DocumentInfo)> = known
            .filter_map(|document| Some((&document.id, (content(document)?, document))))
            .collect();
        let contents: BTreeSet<String> =
            known.values().map(|(content, _)| (*content).to_owned()).collect();
        let mut copies: HashMap<String, BTreeSet<String>> = HashMap::new();
        if contents.is_empty() {
            return Ok(copies);
        }
        let (store, namespace) = (&self.indexer.config().store, self.indexer.namespace());
        let same = Filter::any_of(attribute::CONTENT, contents);
        let filter = Filter::And(vec![self.filter.clone(), same]);
        let same = match store.documents_that_fit(namespace, &filter, self.deadline)? {
            Some(same) => same,
            None => self.same_by_words(some, &filter)?,
        };
        // Most files have no copy: what was found is not read again.
        let (own, others): (Vec<DocumentId>, Vec<DocumentId>) =
            same.into_iter().partition(|id| known.contains_key(id));
        let own = own.iter().filter_map(|id| known.get(id).copied());
        let others = store.documents_by_id(namespace, &others)?;
        let others = others.iter().flatten().filter_map(|other| Some((content(other)?, other)));
        for (content, document) in own.chain(others) {
            copies.entry(content.to_owned()).or_default().insert(document.id.to_string());
        }
        Ok(copies)
    }

    /// Finds the files that pass a filter by content where the engine lists none: it finds by words
    /// alone, so a few of each are given, which all its copies have.
    fn same_by_words(
        &self,
        some: &[(&retrieve::Ranked, Option<DocumentInfo>)],
        filter: &Filter,
    ) -> Result<Vec<DocumentId>> {
        let (mut contents, mut words) = (BTreeSet::new(), String::new());
        for (ranked, document) in some {
            let Some(content) = document.as_ref().and_then(content) else { continue };
            if contents.insert(content) {
                push_lookup_words(&ranked.passage.passage.text, &mut words);
            }
        }
        let (store, namespace) = (&self.indexer.config().store, self.indexer.namespace());
        let query = WordsQuery::from_text(&words, Bm25::PASSAGES, 0.0, 0.0);
        let found = store.by_words(namespace, &query, filter, MAX_CANDIDATES, self.deadline)?;
        let same: BTreeSet<_> = found.hits.into_iter().map(|hit| hit.document).collect();
        Ok(same.into_iter().collect())
    }

    /// Finds a file of the page that says the same, in an index that an earlier version made.
    fn same_as(
        &self,
        places: &[Places],
        ranked: &retrieve::Ranked,
        document: Option<&DocumentInfo>,
    ) -> Result<Option<usize>> {
        for (idx, one) in places.iter().enumerate() {
            if is_same(self.indexer, one, ranked, document)? {
                return Ok(Some(idx));
            }
        }
        Ok(None)
    }
}

impl Folded {
    /// Names no more places of one result than an answer has space for, and says so.
    fn cut(&mut self) {
        for place in &mut self.places {
            let n_places = place.duplicates.len();
            if n_places > MAX_PLACES {
                place.duplicates.truncate(MAX_PLACES);
                let path = &place.ranked.hit.document;
                let message = format!(
                    "`{path}` has the same content as {n_places} other files: {MAX_PLACES} are named"
                );
                self.warnings.push(Warning::new("places_cut", message));
            }
        }
    }
}

/// Adds the words by which copies of a passage are looked up.
fn push_lookup_words(text: &str, words: &mut String) {
    let end = text.char_indices().nth(CHOSEN_FROM_CHARS).map_or(text.len(), |(at, _)| at);
    let mut by_length: Vec<(usize, &str)> = text[..end]
        .split_inclusive(|char: char| !char.is_alphanumeric())
        // The last one may go on behind the end.
        .filter(|word| end == text.len() || !word.ends_with(char::is_alphanumeric))
        .map(|word| word.trim_end_matches(|char: char| !char.is_alphanumeric()))
        .map(|word| (word.chars().count(), word))
        .filter(|(n_chars, _)| (1..=LOOKUP_CHARS).contains(n_chars))
        .collect();
    by_length.sort_by_key(|(n_chars, _)| std::cmp::Reverse(*n_chars));
    let mut n_left = LOOKUP_CHARS;
    for (n_chars, word) in by_length.into_iter().take(LOOKUP_WORDS) {
        if let Some(left) = n_left.checked_sub(n_chars) {
            n_left = left;
            words.push_str(word);
            words.push('\n');
        }
    }
    if n_left == LOOKUP_CHARS {
        words.extend(text.chars().take(LOOKUP_CHARS));
        words.push('\n');
    }
}

fn content(document: &DocumentInfo) -> Option<&str> {
    match document.attributes.get(attribute::CONTENT) {
        Some(AttributeValue::Keyword(content)) => Some(content),
        _ => None,
    }
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
