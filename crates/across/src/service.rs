//! Asks every source and merges what they give.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Caller, Deadline, Warning};
use retrieve::{Given, StageTiming};

use crate::duplicates::Content;
use crate::id::{Mark, Read};
use crate::{Error, Fetched, Folding, Hit, Part, Result, Same, Source, SourceHits, id};

/// The most results in one answer.
pub const MAX_RESULTS: usize = 50;

/// Things whose marks are remembered; more begin anew.
const MAX_KNOWN: usize = 50_000;

/// What each source is asked for beyond the largest page, so that duplicates can be folded without
/// coming up short. Every page asks for as many: a family's own order is not that of all families
/// together, so that what it is asked for decides which results there are.
const SPARE: usize = 10;

/// The first of each family, among which those that say the same are folded.
const FOLDED: usize = 20;

/// What a source is asked for at most by rank: with more that says the same, a walk goes on in its
/// fixed order early.
const MAX_ASKED: usize = 800;

/// What families say of pages behind the first ones.
const SORTED_BY_PAGE: &str = "sorted_by_page";

/// Other places of one result that are named.
const MAX_DUPLICATES: usize = 5;

/// A hit with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The id that [`Service::fetch`] takes.
    pub id: String,
    /// The family.
    pub source: &'static str,
    /// What its family gave, explained by the stages that it passed there.
    pub hit: Hit,
    /// Its place in the family's own order, from 1.
    pub rank: usize,
    /// Where else the same is said.
    pub duplicates: Vec<Duplicate>,
    /// Other places with the same content that are not named.
    pub n_unnamed: usize,
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
    pub timings: Vec<(&'static str, StageTiming)>,
    /// What is behind these results.
    pub rest: Rest,
    /// Tools that give more of one kind than a question over everything does.
    pub others: Vec<&'static str>,
}

/// What is behind a page of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rest {
    /// Nothing.
    #[default]
    None,
    /// Others, best first.
    ByRank,
    /// Others, in an order that never moves: for a walk that is closed ([`Given::closed`]).
    InOrder,
}

/// In which order results of several families are put together.
#[derive(Debug, Clone, Copy)]
enum Order {
    BestFirst,
    /// By [`Given::place_of`], the first so many.
    Fixed {
        limit: usize,
    },
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

    /// Finds what is best without what was given, as [`Service::search`] does; for a walk that is
    /// closed ([`Given::closed`]), what is next in an order that never moves.
    ///
    /// By rank, the best of each kind are side by side, and each page judges all before it. Behind
    /// them the walk goes through everything that every family finds.
    pub fn search_after(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> Findings {
        let limit = limit.min(MAX_RESULTS);
        if given.is_closed() {
            return self.next_in_order(caller, query, given, limit, deadline);
        }
        let mut n_asked = given.n_named() + MAX_RESULTS + SPARE;
        loop {
            let answers = self.ask_all(&|source| source.search(caller, query, n_asked, deadline));
            let is_any_full = answers.iter().any(|answer| answer.hits.len() >= n_asked);
            let has_others = answers.iter().any(|answer| answer.has_others);
            let mut findings = self.merge(answers, given, Order::BestFirst);
            let is_short = findings.results.len() < limit && is_any_full;
            if !is_short || n_asked >= MAX_ASKED || deadline.is_over() {
                let is_more_by_rank =
                    findings.results.len() > limit || is_any_full && !findings.results.is_empty();
                findings.rest = match is_more_by_rank {
                    true => Rest::ByRank,
                    false if has_others || is_any_full => Rest::InOrder,
                    false => Rest::None,
                };
                findings.results.truncate(limit);
                if given.n_named() == 0 {
                    // It is about what was given before, and nothing was.
                    findings.warnings.retain(|warning| warning.code != SORTED_BY_PAGE);
                }
                return findings.with_cuts();
            }
            // All that was found may say the same as what was given.
            n_asked = (n_asked * 2).min(MAX_ASKED);
        }
    }

    /// Finds what is next in the order that never moves. Every family gives its own next ones, so
    /// that the first of all of them are the next of all.
    fn next_in_order(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> Findings {
        // One more than is wanted tells whether there is more.
        let answers = self
            .ask_all(&|source| source.search_in_order(caller, query, given, limit + 1, deadline));
        self.merge(answers, given, Order::Fixed { limit }).with_cuts()
    }

    fn merge(&self, mut answers: Vec<SourceHits>, given: &Given, order: Order) -> Findings {
        drop_needless_repairs(&mut answers);
        let n_passages = answers.iter().map(|answer| answer.n_passages as u64).sum();
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
            let hits = (1..).zip(answer.hits).map(|(rank, mut hit)| {
                if let Some(chance) = &hit.chance {
                    hit.score = retrieve::relevance_among(chance, n_passages);
                }
                let (id, name) = self.named(&**source, &hit.thing, hit.position);
                let same = std::mem::take(&mut hit.same);
                let n_unnamed = same.len().saturating_sub(MAX_DUPLICATES);
                let duplicates =
                    same.into_iter().take(MAX_DUPLICATES).map(|Same { thing, title }| {
                        let (id, name) = self.named(&**source, &thing, 0);
                        Duplicate { id, source: source.name(), title, name }
                    });
                let duplicates = duplicates.collect();
                Merged { id, source: source.name(), hit, rank, duplicates, n_unnamed, name }
            });
            merged.extend(hits.map(|merged| (merged, source.folding())));
        }
        // What was given takes nothing with it that was not named there.
        merged.retain(|(merged, _)| !given.holds(&merged.name));
        let mut rest = Rest::None;
        match order {
            // The sort is stable: what is equal in score and rank keeps the order of the sources.
            Order::BestFirst => {
                merged.sort_by_key(|(merged, _)| (std::cmp::Reverse(merged.hit.score), merged.rank))
            }
            Order::Fixed { limit } => {
                merged.sort_by_cached_key(|(merged, _)| Given::place_of(&merged.name));
                if merged.len() > limit {
                    rest = Rest::InOrder;
                    merged.truncate(limit);
                }
            }
        }
        let results = match order {
            Order::BestFirst => fold(merged),
            // Each is given by itself: what a page has beside it depends on the size of the page.
            Order::Fixed { .. } => merged.into_iter().map(|(merged, _)| merged).collect(),
        };
        Findings { results, warnings, timings, rest, others }
    }

    /// Gives the id of a place in a thing, and what a walk knows it by.
    fn named(&self, source: &dyn Source, thing: &str, position: u32) -> (String, String) {
        let mark = id::mark(source.name(), thing);
        self.remember(mark, thing);
        let id = id::encode(source.letter(), &mark, position);
        (id, source.walk_name(thing, position))
    }

    /// Asks all sources side by side; one that ends unexpectedly gives a warning.
    fn ask_all(&self, ask: &(dyn Fn(&dyn Source) -> SourceHits + Sync)) -> Vec<SourceHits> {
        std::thread::scope(|scope| {
            let asked: Vec<_> =
                self.sources.iter().map(|source| scope.spawn(move || ask(&**source))).collect();
            let asked = asked.into_iter().zip(self.sources.iter());
            asked
                .map(|(answer, source)| {
                    answer.join().unwrap_or_else(|_| {
                        let message = format!("`{}` could not be searched", source.name());
                        let warnings = vec![Warning::new("source_failed", message)];
                        SourceHits { warnings, ..SourceHits::default() }
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
fn drop_needless_repairs(answers: &mut [SourceHits]) {
    let is_repaired = |answer: &SourceHits| {
        answer.warnings.iter().any(|warning| warning.code == retrieve::QUERY_CORRECTED)
    };
    let has_words =
        |answer: &SourceHits| !is_repaired(answer) && answer.hits.iter().any(|hit| hit.has_words());
    if !answers.iter().any(has_words) {
        return;
    }
    for answer in answers.iter_mut().filter(|answer| is_repaired(answer)) {
        answer.hits.clear();
        answer.warnings.retain(|warning| warning.code != retrieve::QUERY_CORRECTED);
    }
}

impl Findings {
    /// Says of each result whose places are not all named how many there are.
    fn with_cuts(mut self) -> Self {
        for merged in self.results.iter().filter(|merged| merged.n_unnamed > 0) {
            let (title, n_named) = (&merged.hit.title, merged.duplicates.len());
            let n_all = n_named + merged.n_unnamed;
            let message = format!(
                "`{title}` has the same content as {n_all} others: {n_named} are named, and \
                 `searchFiles` names all"
            );
            self.warnings.push(Warning::new("places_cut", message));
        }
        self
    }
}

/// Leaves out what says the same as a better result, and names it there.
fn fold(merged: Vec<(Merged, Folding)>) -> Vec<Merged> {
    let mut kept: Vec<(Merged, Folding, Content)> = Vec::with_capacity(merged.len());
    for (merged, folding) in merged {
        let hit = &merged.hit;
        let text = if hit.snippet.trim().is_empty() { &hit.title } else { &hit.snippet };
        let content = Content::of(&hit.around.before, text, &hit.around.after);
        let may_fold = folding == Folding::ByContent && merged.rank <= FOLDED;
        let same = kept.iter_mut().find(|(other, other_folding, other_content)| {
            let may_hold = *other_folding == Folding::ByContent && other.rank <= FOLDED;
            let n_places = other.duplicates.len() + 1 + merged.duplicates.len();
            may_fold
                && may_hold
                && n_places <= MAX_DUPLICATES
                && other_content.says_the_same(&content)
        });
        match same {
            Some((other, _, _)) => {
                let Merged { id, source, hit, name, duplicates, .. } = merged;
                other.duplicates.push(Duplicate { id, source, title: hit.title, name });
                other.duplicates.extend(duplicates);
            }
            // What can be named nowhere is a result of its own: nothing is left out.
            None => kept.push((merged, folding, content)),
        }
    }
    kept.into_iter().map(|(merged, _, _)| merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Explanation;

    fn answer(title: &str, explanation: Option<Explanation>, is_repaired: bool) -> SourceHits {
        let hit = Hit {
            thing: title.to_owned(),
            position: 0,
            title: title.to_owned(),
            snippet: String::new(),
            around: model::Around::default(),
            pointer: None,
            score: model::Score::new(0.5),
            explanation,
            chance: None,
            same: vec![],
            no_text: None,
        };
        let note = Warning::new(retrieve::QUERY_CORRECTED, "searched for something else");
        SourceHits {
            hits: vec![hit],
            warnings: is_repaired.then_some(note).into_iter().collect(),
            ..SourceHits::default()
        }
    }

    /// One folder had no passage with the typed words and searched for others that look alike,
    /// though a knowledge base had them.
    #[test]
    fn a_spelling_is_repaired_only_where_no_source_has_the_words() {
        let passage = |exact: &[&str]| {
            let exact = exact.iter().map(|word| (*word).to_owned()).collect();
            Some(Explanation::Passage(model::Explanation { exact, ..Default::default() }))
        };
        let (by_words, by_vector) = (passage(&["lorem"]), passage(&[]));
        let left = |first: SourceHits| {
            let mut answers = vec![first, answer("repaired", by_words.clone(), true)];
            drop_needless_repairs(&mut answers);
            (answers[1].hits.len(), answers[1].warnings.len())
        };
        assert_eq!(left(answer("words", by_words.clone(), false)), (0, 0));
        assert_eq!(left(answer("a table explains nothing", None, false)), (0, 0));
        assert_eq!(left(answer("near by vector", by_vector.clone(), false)), (1, 1));
        assert_eq!(left(answer("repaired too", by_words.clone(), true)), (1, 1));
        assert_eq!(left(SourceHits::default()), (1, 1));
    }
}
