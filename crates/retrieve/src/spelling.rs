//! A second try when words find nothing: words that begin alike and differ by a typing error.
//!
//! The index cannot be asked for words that are nearly right, but for words that begin with a
//! text. So the first half of each word brings up passages, and the nearest of their words takes
//! the place of the one that was typed. An error in the first letters is not mended.

use std::collections::BTreeSet;

use store::{Clause, Filter, Form, Store, WordsQuery};
use text::{Analyzer, LanguageSet, QueryWord, TokenKind, fold};

use crate::candidates::{List, by_words};
use crate::question::{Question, analyse};
use crate::{Request, Result};

/// The code of the warning that the words of a query were replaced.
pub const QUERY_CORRECTED: &str = "query_corrected";

/// Shorter words are not mended: too much is near them.
const MIN_CHARS: usize = 4;
/// Words of one query that are mended.
const MAX_WORDS: usize = 8;
/// A longer question none of whose words are anywhere is in another language rather than
/// mistyped: where the search by vector has found something, that is left alone.
const MAX_WORDS_BESIDE_VECTORS: usize = 3;
/// Passages whose words are looked at for each word of the query.
const MAX_PASSAGES: usize = 100;
/// Different words that are compared.
const MAX_COMPARED: usize = 4_096;

/// Searches once more with the nearest words that the passages hold; nothing when there are none.
/// `has_semantic` tells whether the search by vector has found something already.
pub(crate) fn second_try(
    store: &Store,
    request: &Request<'_>,
    question: &Question,
    has_semantic: bool,
) -> Result<Option<(Question, List)>> {
    let mut mended = Vec::new();
    let mut is_mended = false;
    let wanted = question.words.iter().filter(|word| word.kind == TokenKind::Word);
    if has_semantic && wanted.clone().count() > MAX_WORDS_BESIDE_VECTORS {
        return Ok(None);
    }
    for word in wanted.take(MAX_WORDS) {
        let is_long = word.folded.chars().count() >= MIN_CHARS;
        let nearest = if is_long && !request.deadline.is_over() && !is_known(store, request, word)?
        {
            nearest_word(store, request, &word.folded)?
        } else {
            None
        };
        is_mended |= nearest.is_some();
        mended.push(nearest.unwrap_or_else(|| word.exact.clone()));
    }
    if !is_mended {
        return Ok(None);
    }
    let corrected = analyse(&mended.join(" "), request.pipeline, LanguageSet::all());
    let list = by_words(store, request, &corrected.for_words, &question.filter)?;
    Ok((!list.found.is_empty()).then_some((corrected, list)))
}

/// Tells whether a passage of the namespaces that are searched has the word, whatever the filter:
/// a word that only the filter kept out is no typing error.
fn is_known(store: &Store, request: &Request<'_>, word: &QueryWord) -> Result<bool> {
    let mut query = WordsQuery::new(request.pipeline.bm25, request.pipeline.title_boost);
    query.should.push(Clause::any_term(Form::Folded, word.terms.clone()));
    for scope in request.scopes {
        let found = store.by_words(&scope.namespace, &query, &Filter::All, 1, request.deadline)?;
        if !found.hits.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds the nearest word of the passages that the caller may see; what the query itself filters by
/// does not count, since a word is spelt the same in every file.
fn nearest_word(store: &Store, request: &Request<'_>, word: &str) -> Result<Option<String>> {
    let n_kept = (word.chars().count() / 2).clamp(2, 4);
    let start: String = word.chars().take(n_kept).collect();
    let mut query = WordsQuery::new(request.pipeline.bm25, request.pipeline.title_boost);
    query.should.push(Clause::prefix(Form::Folded, start));
    let found = by_words(store, request, &query, &Filter::All)?.found;
    let mut words = BTreeSet::new();
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let own = found.iter().filter(|found| found.scope_idx == scope_idx).take(MAX_PASSAGES);
        let ids: Vec<_> = own.map(|found| found.passage.clone()).collect();
        for stored in store.passages(&scope.namespace, &ids)?.into_iter().flatten() {
            let text = format!("{}\n{}", stored.title, stored.passage.text);
            let tokens = Analyzer::new().analyze(&text);
            let plain = tokens.into_iter().filter(|token| token.kind == TokenKind::Word);
            words.extend(plain.map(|token| fold(&token.exact)));
        }
        if words.len() >= MAX_COMPARED {
            break;
        }
    }
    let words: Vec<&str> = words.iter().take(MAX_COMPARED).map(String::as_str).collect();
    Ok(text::nearest(word, &words).map(str::to_owned))
}
