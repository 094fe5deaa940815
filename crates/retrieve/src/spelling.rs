//! A second try when words find nothing: words that begin alike and differ by a typing error.
//!
//! The index cannot be asked for words that are nearly right, but for words that begin with a
//! text. So the first half of each word brings up passages, and the nearest of their words takes
//! the place of the one that was typed. An error in the first letters is not mended. What was put
//! in the place of a typed word counts as much as it is like it.

use std::collections::BTreeSet;

use model::NamespaceId;
use store::{Clause, Filter, Form, Store, StoredPassage, WordsQuery};
use text::{
    Analyzer, LanguageSet, PieceContext, QueryWord, TokenKind, content_weight, detect_language,
    fold, is_function_word_anywhere,
};

use crate::candidates::{List, by_words, by_words_in};
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
    let wanted: Vec<&QueryWord> =
        question.words.iter().filter(|word| word.kind == TokenKind::Word).collect();
    if has_semantic && wanted.len() > MAX_WORDS_BESIDE_VECTORS {
        return Ok(None);
    }
    let language = detect_language(&question.plain);
    let mut mended = Vec::with_capacity(wanted.len());
    let (mut n_mended, mut n_unknown, mut likeness) = (0_u32, 0_u32, 0.0);
    for (idx, word) in wanted.into_iter().enumerate() {
        let may_try = idx < MAX_WORDS && !request.deadline.is_over();
        let is_long = word.folded.chars().count() >= MIN_CHARS;
        let mut nearest = None;
        // A small word of any language is as it was meant: `what` is no slip of `wheat`.
        let is_small = is_function_word_anywhere(&word.folded);
        // What is in quotes is meant as it is written.
        let is_quoted = question.quoted.contains(&word.folded);
        if may_try && is_long && !is_small && !is_quoted && !is_known(store, request, word)? {
            n_unknown += u32::from(content_weight(word, language) >= 1.0);
            nearest = nearest_word(store, request, &word.folded)?;
        }
        if let Some((alike, _)) = &nearest {
            n_mended += 1;
            likeness += alike;
        }
        mended.push(nearest.map_or_else(|| word.exact.clone(), |(_, nearest)| nearest));
    }
    // Where most of the words that nobody wrote are like none that somebody did, the query is about
    // something else, and the one that is like another is so by chance.
    if n_mended == 0 || 2 * n_mended < n_unknown {
        return Ok(None);
    }
    let mut corrected = analyse(&mended.join(" "), request.pipeline, LanguageSet::all())
        .over(question.known.clone());
    corrected.likeness = likeness / f64::from(n_mended);
    let limit = request.pipeline.n_by_words;
    corrected.filter.clone_from(&question.filter);
    // Phrases and beginnings have to match and what is left out stays out, whatever was mended.
    corrected.keep_demands_of(question);
    let list = by_words(store, request, &corrected, limit)?;
    Ok((!list.found.is_empty()).then_some((corrected, list)))
}

/// Tells whether a passage that may be found has the word, whatever the query itself filters by: a
/// word that only that kept out is no typing error. What the caller may not see, or does not search,
/// has no part in it.
fn is_known(store: &Store, request: &Request<'_>, word: &QueryWord) -> Result<bool> {
    let mut query = WordsQuery::new(request.pipeline.bm25, request.pipeline.title_boost);
    query.should.push(Clause::any_term(Form::Folded, word.terms.clone()));
    for scope in request.scopes {
        let (namespace, filter) = (&scope.namespace, &scope.filter);
        let found = store.by_words(namespace, &query, filter, 1, request.deadline)?;
        if !found.hits.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds the nearest word of the passages that the caller may see; what the query itself filters by
/// does not count, since a word is spelt the same in every file.
fn nearest_word(store: &Store, request: &Request<'_>, word: &str) -> Result<Option<(f64, String)>> {
    let n_kept = (word.chars().count() / 2).clamp(2, 4);
    let start: String = word.chars().take(n_kept).collect();
    let mut query = WordsQuery::new(request.pipeline.bm25, request.pipeline.title_boost);
    query.should.push(Clause::prefix(Form::Folded, start));
    let limit = request.pipeline.n_by_words;
    let found = by_words_in(store, request, |_| &query, &Filter::All, limit)?.found;
    let mut words = BTreeSet::new();
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let own = found.iter().filter(|found| found.scope_idx == scope_idx).take(MAX_PASSAGES);
        let ids: Vec<_> = own.map(|found| found.passage.clone()).collect();
        let stored: Vec<StoredPassage> =
            store.passages(&scope.namespace, &ids)?.into_iter().flatten().collect();
        for text in shown_texts(store, &scope.namespace, &stored)? {
            let tokens = Analyzer::new().analyze(&text);
            let plain = tokens.into_iter().filter(|token| token.kind == TokenKind::Word);
            words.extend(plain.map(|token| fold(&token.exact)));
        }
        if words.len() >= MAX_COMPARED {
            break;
        }
    }
    let words: Vec<&str> = words.iter().take(MAX_COMPARED).map(String::as_str).collect();
    let nearest = text::nearest_with_likeness(word, &words);
    Ok(nearest.map(|(likeness, word)| (likeness, word.to_owned())))
}

/// Gives titles and texts of passages as callers may see them: the word that is put in the place of
/// a typed one is told.
fn shown_texts(
    store: &Store,
    namespace: &NamespaceId,
    stored: &[StoredPassage],
) -> Result<Vec<String>> {
    let passages: Vec<_> = stored.iter().map(|stored| (namespace, &stored.passage)).collect();
    let surroundings = store.surroundings_of(&passages)?;
    let shown = stored.iter().zip(surroundings).map(|(stored, around)| {
        let context = PieceContext {
            heading: around.heading.as_deref(),
            before: &around.before,
            after: &around.after,
        };
        let text = text::redact_piece(&stored.passage.text, context).text;
        format!("{}\n{text}", text::redact(&stored.title).text)
    });
    Ok(shown.collect())
}
