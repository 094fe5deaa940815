//! Asks every source and merges what they give.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Caller, Deadline, Warning};
use retrieve::Given;

use crate::duplicates::Content;
use crate::id::{Mark, Read};
use crate::{Error, Fetched, Folding, FoundIn, Hit, Part, Result, Source, StageTook, id};

/// The most results in one answer.
pub const MAX_RESULTS: usize = 50;

/// Results of one question that a walk gives, over all its answers; the families' own tools go
/// further.
pub const MAX_WALKED: usize = 200;

/// Things whose marks are remembered; more begin anew.
const MAX_KNOWN: usize = 50_000;

/// What each source is asked for beyond what is wanted, so that duplicates can be folded without
/// coming up short.
const SPARE: usize = 10;

/// What a source is asked for at most: with more that says the same, a walk ends early.
const MAX_ASKED: usize = 4 * MAX_WALKED;

/// Other places of one result that are named.
const MAX_DUPLICATES: usize = 5;

/// A hit with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The id that [`Service::fetch`] takes.
    pub id: String,
    /// The family.
    pub source: &'static str,
    /// The hit.
    pub hit: Hit,
    /// Its place in the family's own order, from 1.
    pub rank: usize,
    /// Where else the same is said.
    pub duplicates: Vec<Duplicate>,
    /// What a walk knows it by.
    pub name: String,
}

/// Another place that says the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The id that [`Service::fetch`] takes.
    pub id: String,
    /// The family.
    pub source: &'static str,
    /// What a person calls it.
    pub title: String,
    /// What a walk knows it by.
    pub name: String,
}

/// What a question over everything found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Results, best first.
    pub results: Vec<Merged>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What the stages of each family took, in the order of the families.
    pub timings: Vec<(&'static str, StageTook)>,
    /// Whether there are more results than these.
    pub has_more: bool,
    /// Tools that give more of one kind than a question over everything does.
    pub others: Vec<&'static str>,
}

/// A question over everything.
#[derive(Clone)]
pub struct Service {
    sources: Arc<Vec<Box<dyn Source>>>,
    known: Arc<Mutex<HashMap<Mark, String>>>,
}

impl Service {
    /// Asks these sources.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Service { sources: Arc::new(sources), known: Arc::default() }
    }

    /// Finds things in every family, best first: by score, which means the same everywhere.
    ///
    /// Of equal scores the families take turns, in each one's own order, so that none is in
    /// front of the others. What says the same as a better result is named there and left out.
    pub fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> Findings {
        self.search_after(caller, query, &Given::default(), limit, deadline)
    }

    /// Finds what is best without what was given, as [`Service::search`] does.
    pub fn search_after(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> Findings {
        let limit = limit.min(MAX_RESULTS);
        let mut n_asked = given.n_named() + limit + SPARE;
        loop {
            let answers = self.ask_all(caller, query, n_asked, deadline);
            let is_any_full = answers.iter().any(|answer| answer.hits.len() >= n_asked);
            let mut findings = self.merge(answers);
            findings.results.retain(|merged| !given.holds(&merged.name));
            findings.has_more = findings.results.len() > limit || is_any_full;
            let is_short = findings.results.len() < limit && is_any_full;
            if !is_short || n_asked >= MAX_ASKED || deadline.is_over() {
                findings.has_more &= !findings.results.is_empty();
                findings.results.truncate(limit);
                return findings;
            }
            // All that was found may say the same as what was given.
            n_asked = (n_asked * 2).min(MAX_ASKED);
        }
    }

    fn merge(&self, mut answers: Vec<FoundIn>) -> Findings {
        drop_needless_repairs(&mut answers);
        let mut merged = Vec::new();
        let mut warnings: Vec<Warning> = Vec::new();
        let mut timings = Vec::new();
        let mut others = Vec::new();
        for (source, answer) in self.sources.iter().zip(answers) {
            timings.extend(answer.timings.into_iter().map(|took| (source.name(), took)));
            others.extend(answer.others_by);
            for mut warning in answer.warnings {
                // Figures of two families side by side would say nothing without their names.
                if warning.code == ingest::VECTORS_INCOMPLETE {
                    warning.message = format!("{}: {}", source.name(), warning.message);
                }
                // A model that is missing is missing for every family: it is said once.
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            let hits = (1..).zip(answer.hits).map(|(rank, hit)| {
                let mark = id::mark(source.name(), &hit.thing);
                self.remember(mark, &hit.thing);
                let id = id::encode(source.letter(), &mark, hit.position);
                let place = if source.has_many_places() { hit.position } else { 0 };
                let name = id::encode(source.letter(), &mark, place);
                let duplicates = Vec::new();
                Merged { id, source: source.name(), hit, rank, duplicates, name }
            });
            merged.extend(hits.map(|merged| (merged, source.folding())));
        }
        // The sort is stable, so what is equal in score and rank keeps the order of the sources.
        merged.sort_by_key(|(merged, _)| (std::cmp::Reverse(merged.hit.score), merged.rank));
        Findings { results: fold(merged), warnings, timings, has_more: false, others }
    }

    /// Asks all sources side by side; one that ends unexpectedly gives a warning.
    fn ask_all(
        &self,
        caller: &Caller,
        query: &str,
        n_asked: usize,
        deadline: &Deadline,
    ) -> Vec<FoundIn> {
        std::thread::scope(|scope| {
            let asked: Vec<_> = self
                .sources
                .iter()
                .map(|source| scope.spawn(move || source.search(caller, query, n_asked, deadline)))
                .collect();
            let asked = asked.into_iter().zip(self.sources.iter());
            asked
                .map(|(answer, source)| {
                    answer.join().unwrap_or_else(|_| {
                        let message = format!("`{}` could not be searched", source.name());
                        let warnings = vec![Warning::new("source_failed", message)];
                        FoundIn { warnings, ..FoundIn::default() }
                    })
                })
                .collect()
        })
    }

    /// Gives the id of a thing of a family, at its start; nothing for a family that is not asked.
    /// Whether there is such a thing, and who may see it, shows when it is fetched.
    pub fn id_of(&self, source: &str, thing: &str) -> Option<String> {
        let source = self.sources.iter().find(|one| one.name() == source)?;
        let mark = id::mark(source.name(), thing);
        self.remember(mark, thing);
        Some(id::encode(source.letter(), &mark, 0))
    }

    /// Gives a thing by its id.
    ///
    /// Fails with [`Error::NotFound`] for ids that were never given, for things that are gone and
    /// for things that the caller may not see, alike; with [`Error::Failed`] when the family
    /// cannot answer.
    pub fn fetch(&self, caller: &Caller, id: &str, part: &Part) -> Result<(&'static str, Fetched)> {
        let missing = || Error::NotFound { id: id.chars().take(80).collect() };
        let (source, key) = match id::decode(id).ok_or_else(missing)? {
            Read::Long { source, key } => {
                (self.sources.iter().find(|one| one.name() == source).ok_or_else(missing)?, key)
            }
            Read::Short { letter, mark, position } => {
                let source = self.sources.iter().find(|one| one.letter() == letter);
                let source = source.ok_or_else(missing)?;
                let thing = self.thing_of(&**source, caller, &mark)?.ok_or_else(missing)?;
                (source, source.key(&thing, position))
            }
        };
        let fetched = source.fetch(caller, &key, part)?.ok_or_else(missing)?;
        Ok((source.name(), fetched))
    }
}

impl Service {
    /// Finds the thing behind a mark: among those met lately, or else among all that the caller
    /// may see. What is remembered only saves the search; any server finds it again.
    fn thing_of(
        &self,
        source: &dyn Source,
        caller: &Caller,
        mark: &Mark,
    ) -> Result<Option<String>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(mark).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let found = source.find(caller, &|thing| id::mark(source.name(), thing) == *mark)?;
        if let Some(thing) = &found {
            self.remember(*mark, thing);
        }
        Ok(found)
    }

    fn remember(&self, mark: Mark, thing: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(mark, thing.to_owned());
    }
}

/// Leaves out what a source found under a repaired spelling, and its note, when another source
/// has the words as they were typed: they were no typing error then.
fn drop_needless_repairs(answers: &mut [FoundIn]) {
    let is_repaired = |answer: &FoundIn| {
        answer.warnings.iter().any(|warning| warning.code == retrieve::QUERY_CORRECTED)
    };
    let has_words =
        |answer: &FoundIn| !is_repaired(answer) && answer.hits.iter().any(|hit| hit.has_words());
    if !answers.iter().any(has_words) {
        return;
    }
    for answer in answers.iter_mut().filter(|answer| is_repaired(answer)) {
        answer.hits.clear();
        answer.warnings.retain(|warning| warning.code != retrieve::QUERY_CORRECTED);
    }
}

/// Leaves out what says the same as a better result, and names it there.
fn fold(merged: Vec<(Merged, Folding)>) -> Vec<Merged> {
    let mut kept: Vec<(Merged, Folding, Content)> = Vec::with_capacity(merged.len());
    for (merged, folding) in merged {
        let hit = &merged.hit;
        let text = if hit.snippet.trim().is_empty() { &hit.title } else { &hit.snippet };
        let content = Content::of(text);
        let same = kept.iter_mut().find(|(_, other_folding, other_content)| {
            let may_fold = folding == Folding::ByContent && *other_folding == Folding::ByContent;
            may_fold && other_content.says_the_same(&content)
        });
        match same {
            Some((other, _, _)) if other.duplicates.len() < MAX_DUPLICATES => {
                let Merged { id, source, hit, name, .. } = merged;
                other.duplicates.push(Duplicate { id, source, title: hit.title, name });
            }
            Some(_) => {}
            None => kept.push((merged, folding, content)),
        }
    }
    kept.into_iter().map(|(merged, _, _)| merged).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(title: &str, explanation: Value, is_repaired: bool) -> FoundIn {
        let hit = Hit {
            thing: title.to_owned(),
            position: 0,
            title: title.to_owned(),
            snippet: String::new(),
            around: model::Around::default(),
            pointer: None,
            score: model::Score::new(0.5),
            explanation,
        };
        let note = Warning::new(retrieve::QUERY_CORRECTED, "searched for something else");
        FoundIn {
            hits: vec![hit],
            warnings: is_repaired.then_some(note).into_iter().collect(),
            ..FoundIn::default()
        }
    }

    /// One folder had no passage with the typed words and searched for others that look alike,
    /// though a knowledge base had them.
    #[test]
    fn a_spelling_is_repaired_only_where_no_source_has_the_words() {
        let by_words = json!({ "exact": ["lorem"], "folded": [] });
        let by_vector = json!({ "exact": [], "folded": [] });
        let left = |first: FoundIn| {
            let mut answers = vec![first, answer("repaired", by_words.clone(), true)];
            drop_needless_repairs(&mut answers);
            (answers[1].hits.len(), answers[1].warnings.len())
        };
        assert_eq!(left(answer("words", by_words.clone(), false)), (0, 0));
        assert_eq!(left(answer("a table explains nothing", Value::Null, false)), (0, 0));
        assert_eq!(left(answer("near by vector", by_vector.clone(), false)), (1, 1));
        assert_eq!(left(answer("repaired too", by_words.clone(), true)), (1, 1));
        assert_eq!(left(FoundIn::default()), (1, 1));
    }
}
