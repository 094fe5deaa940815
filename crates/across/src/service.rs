//! Asks every source and merges what they give.

use std::collections::HashSet;
use std::sync::Arc;

use model::{Caller, Deadline, Warning};

use crate::{Error, Fetched, Hit, Result, Source, id};

/// The most results in one answer.
pub const MAX_RESULTS: usize = 50;

/// What each source is asked for, so that duplicates can be folded without coming up short.
const ASKED_OF_EACH: usize = 20;

/// Letters at the start of a text that decide whether two results say the same.
const COMPARED_CHARS: usize = 300;

/// A hit with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The id that [`Service::fetch`] takes.
    pub id: String,
    /// The family.
    pub source: &'static str,
    /// The hit.
    pub hit: Hit,
}

/// A question over everything.
#[derive(Clone)]
pub struct Service {
    sources: Arc<Vec<Box<dyn Source>>>,
}

impl Service {
    /// Asks these sources.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Service { sources: Arc::new(sources) }
    }

    /// Finds things in every family, best first. Equal scores stand in the order of the
    /// sources, and in each source's own order.
    pub fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> (Vec<Merged>, Vec<Warning>) {
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> = self
                .sources
                .iter()
                .map(|source| {
                    scope.spawn(move || source.search(caller, query, ASKED_OF_EACH, deadline))
                })
                .collect();
            asked.into_iter().map(|answer| answer.join().unwrap_or_default()).collect()
        });
        let mut merged = Vec::new();
        let mut warnings: Vec<Warning> = Vec::new();
        for (source, answer) in self.sources.iter().zip(answers) {
            for warning in answer.warnings {
                // A model that is missing is missing for every family: it is said once.
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            merged.extend(answer.hits.into_iter().map(|hit| Merged {
                id: id::encode(source.name(), &hit.key),
                source: source.name(),
                hit,
            }));
        }
        // The sort is stable, so equal scores keep the order of the sources.
        merged.sort_by_key(|merged| std::cmp::Reverse(merged.hit.score));
        let mut seen = HashSet::new();
        merged.retain(|merged| seen.insert(fingerprint(&merged.hit)));
        merged.truncate(limit.min(MAX_RESULTS));
        (merged, warnings)
    }

    /// Gives a thing by its id.
    ///
    /// Fails with [`Error::NotFound`] for ids that were never given, for things that are gone and
    /// for things that the caller may not see, alike.
    pub fn fetch(&self, caller: &Caller, id: &str) -> Result<(&'static str, Fetched)> {
        let missing = || Error::NotFound { id: id.chars().take(80).collect() };
        let (name, key) = id::decode(id).ok_or_else(missing)?;
        let source =
            self.sources.iter().find(|source| source.name() == name).ok_or_else(missing)?;
        let fetched = source.fetch(caller, &key).ok_or_else(missing)?;
        Ok((source.name(), fetched))
    }
}

/// Two hits whose texts begin with the same letters say the same.
fn fingerprint(hit: &Hit) -> String {
    let text = if hit.snippet.trim().is_empty() { &hit.title } else { &hit.snippet };
    text::fold(text).chars().filter(|char| char.is_alphanumeric()).take(COMPARED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::Score;
    use serde_json::Value;

    use super::*;
    use crate::FoundIn;

    struct Fixed(&'static str, Vec<(&'static str, f64)>);

    impl Source for Fixed {
        fn name(&self) -> &'static str {
            self.0
        }

        fn search(&self, _: &Caller, _: &str, limit: usize, _: &Deadline) -> FoundIn {
            let hits = self.1.iter().take(limit).map(|(text, score)| Hit {
                key: (*text).to_owned(),
                title: String::new(),
                snippet: (*text).to_owned(),
                pointer: None,
                score: Score::new(*score),
                explanation: Value::Null,
            });
            let warning = Warning::new("model_missing", "the model is not there");
            FoundIn { hits: hits.collect(), warnings: vec![warning] }
        }

        fn fetch(&self, _: &Caller, key: &str) -> Option<Fetched> {
            self.1.iter().find(|(text, _)| *text == key).map(|(text, _)| Fetched {
                title: String::new(),
                text: (*text).to_owned(),
                metadata: Value::Null,
            })
        }
    }

    #[test]
    fn sources_are_merged_by_score_without_duplicates() {
        let service = Service::new(vec![
            Box::new(Fixed("one", vec![("alpha", 0.9), ("beta", 0.4)])),
            Box::new(Fixed("two", vec![("Älpha!", 0.8), ("gamma", 0.4)])),
        ]);
        let caller = Caller::local_admin();
        let deadline = Deadline::after(Duration::from_secs(5));
        let (merged, warnings) = service.search(&caller, "x", 10, &deadline);
        let order: Vec<&str> = merged.iter().map(|merged| merged.hit.snippet.as_str()).collect();
        assert_eq!(order, ["alpha", "beta", "gamma"]);
        assert_eq!(warnings.len(), 1);
        let (source, fetched) = service.fetch(&caller, &merged[2].id).unwrap();
        assert_eq!((source, fetched.text.as_str()), ("two", "gamma"));
        assert!(service.fetch(&caller, "AAAA").is_err());
        assert!(service.fetch(&caller, &id::encode("two", "delta")).is_err());
        assert!(service.fetch(&caller, &id::encode("three", "gamma")).is_err());
    }
}
