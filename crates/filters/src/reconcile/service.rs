//! The services of the protocol: candidates, suggestions, properties, one entity.

use std::collections::BTreeSet;
use std::sync::Arc;

use lookup::{EntryIdx, Request};
use model::Caller;

use super::request::{
    PropertyValue, ReconcileCandidate, ReconcileEvidence, ReconcileQuery, WantedProperty,
};
use crate::dimension::Dimension;
use crate::request::MAX_QUERY_CHARS;
use crate::{Error, Result, SearchResult, Service};

/// The most queries of one batch.
pub const MAX_RECONCILE_QUERIES: usize = 200;

/// The most ids of one extension.
pub const MAX_EXTENDED: usize = 1000;

/// Candidates given for a query at most, and names in one list of suggestions.
const MAX_CANDIDATES: usize = 50;

/// The most entries of one dimension that a query without a name is compared with.
const MAX_COMPARED: usize = 50_000;

/// The score of an entry that has every property asked for and no name to be compared.
const BY_PROPERTIES_ALONE: f64 = 0.8;

/// What is left of a score for each property that a candidate contradicts.
const CONTRADICTED: f64 = 0.8;

/// The reconciliation service over the dimensions of a [`Service`].
#[derive(Debug, Clone)]
pub struct Reconciliation {
    service: Service,
}

impl Reconciliation {
    /// Reconciles with what a service finds and its callers may see.
    pub fn new(service: Service) -> Self {
        Reconciliation { service }
    }

    /// Gives the candidates of each query, the best first; one that names what does not exist for
    /// the caller has none.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`] when there are more than [`MAX_RECONCILE_QUERIES`], and those of a
    /// source that cannot be read.
    pub fn candidates(
        &self,
        caller: &Caller,
        queries: &[ReconcileQuery],
    ) -> Result<Vec<Vec<ReconcileCandidate>>> {
        check_batch(queries.len(), MAX_RECONCILE_QUERIES)?;
        queries.iter().map(|query| self.candidates_of(caller, query)).collect()
    }

    /// Suggests entities for what a person has typed so far.
    pub fn suggested(&self, caller: &Caller, prefix: &str) -> Vec<ReconcileCandidate> {
        let query = ReconcileQuery {
            text: prefix.to_owned(),
            limit: MAX_CANDIDATES,
            ..ReconcileQuery::default()
        };
        self.candidates_of(caller, &query).unwrap_or_default()
    }

    /// Gives the categories that the caller may see and that hold a text.
    pub fn types(&self, caller: &Caller, part: &str) -> Vec<String> {
        let wanted = text::fold(part);
        let mut categories = self.service.categories(caller);
        categories.retain(|category| text::fold(category).contains(&wanted));
        categories
    }

    /// Gives the properties of all visible categories that hold a text.
    pub fn properties(&self, caller: &Caller, part: &str) -> Vec<String> {
        let wanted = text::fold(part);
        let mut names: BTreeSet<String> = BTreeSet::new();
        for category in self.types(caller, "") {
            if let Ok(dimension) = self.service.dimension(caller, &category, "") {
                names.extend(dimension.properties());
            }
        }
        names
            .into_iter()
            .filter(|name| text::fold(name).contains(&wanted))
            .take(MAX_CANDIDATES)
            .collect()
    }

    /// Gives properties with which entities of a category can be extended, 50 at most.
    ///
    /// # Errors
    ///
    /// When the category does not exist for the caller.
    pub fn properties_of(
        &self,
        caller: &Caller,
        category: &str,
        limit: usize,
    ) -> Result<Vec<String>> {
        let mut properties = self.service.dimension(caller, category, "")?.properties();
        properties.truncate(limit.clamp(1, MAX_CANDIDATES));
        Ok(properties)
    }

    /// Gives the properties of entities: for each id what it has of each, in the order asked for.
    /// What does not exist for the caller has none.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`] when there are more than [`MAX_EXTENDED`] ids.
    pub fn extend(
        &self,
        caller: &Caller,
        ids: &[String],
        properties: &[String],
    ) -> Result<Vec<Vec<Option<PropertyValue>>>> {
        check_batch(ids.len(), MAX_EXTENDED)?;
        let row = |id: &String| {
            let found = self.find(caller, id);
            let value = |property: &String| {
                let (dimension, entry) = found.as_ref()?;
                value_of(dimension, *entry, property)
            };
            properties.iter().map(value).collect()
        };
        Ok(ids.iter().map(row).collect())
    }

    /// Gives one entity as it is shown to people.
    ///
    /// # Errors
    ///
    /// When it does not exist for the caller.
    pub fn entity(&self, caller: &Caller, id: &str) -> Result<SearchResult> {
        let (dimension, entry) = self
            .find(caller, id)
            .ok_or_else(|| Error::NotFound { kind: "entity", id: id.chars().take(60).collect() })?;
        Ok(dimension.show(entry, None))
    }

    fn find(&self, caller: &Caller, id: &str) -> Option<(Arc<Dimension>, EntryIdx)> {
        let (category, value) = id.split_once('/')?;
        let dimension = self.service.dimension(caller, category, value).ok()?;
        let entry = dimension.find_value(value)?;
        Some((dimension, entry))
    }

    /// Looks in the types asked for, or in all; the best of all types come first.
    fn candidates_of(
        &self,
        caller: &Caller,
        query: &ReconcileQuery,
    ) -> Result<Vec<ReconcileCandidate>> {
        let name: String = query.text.chars().take(MAX_QUERY_CHARS).collect();
        let wanted: Vec<Wanted<'_>> = query.properties.iter().map(Wanted::of).collect();
        let filters = self.service.filters_config();
        let margin = filters.best_match_margin;
        let mut found: Vec<Ranked> = Vec::new();
        for category in self.service.categories(caller) {
            if !query.types.is_empty() && !query.types.contains(&category) {
                continue;
            }
            let dimension = self.service.dimension(caller, &category, &name)?;
            if text::is_blank(&name) {
                found.extend(by_properties(&dimension, &category, &wanted, margin));
                continue;
            }
            let answer = dimension.lookup(&Request {
                text: &name,
                locale: None,
                hint: None,
                limit: MAX_CANDIDATES,
            });
            for matched in answer.matches {
                let n_contradicted = wanted
                    .iter()
                    .filter(|one| one.is_had_by(&dimension, matched.entry) == Some(false))
                    .count();
                let score = matched.score.get() * CONTRADICTED.powi(n_contradicted as i32);
                let evidence = ReconcileEvidence::Name {
                    score: matched.score.rounded(),
                    trigram_similarity: (matched.trigram_similarity * 1e4).round() / 1e4,
                };
                let shown = dimension.show(matched.entry, None);
                let lead = matched.lead_needed(margin);
                found.push((candidate(&category, shown, score, evidence), lead));
            }
        }
        found.sort_by(|(left, _), (right, _)| {
            right.score.total_cmp(&left.score).then_with(|| left.id.cmp(&right.id))
        });
        let second = found.get(1).map_or(0.0, |(candidate, _)| candidate.score);
        if let Some((best, lead)) = found.first_mut() {
            best.is_match = filters.is_sure(best.score, second, *lead);
        }
        found.truncate(query.limit.clamp(1, MAX_CANDIDATES));
        Ok(found.into_iter().map(|(candidate, _)| candidate).collect())
    }
}

/// A candidate, and by how much it must lead the second to be taken without asking.
type Ranked = (ReconcileCandidate, f64);

/// A property that is asked for, folded once for all entries that are compared.
struct Wanted<'a> {
    name: &'a str,
    folded: Vec<String>,
}

impl<'a> Wanted<'a> {
    fn of(property: &'a WantedProperty) -> Self {
        let folded = property.values.iter().map(|value| text::fold(value)).collect();
        Wanted { name: &property.name, folded }
    }

    /// Tells whether an entry has it; nothing where the entry does not say.
    fn is_had_by(&self, dimension: &Dimension, entry: EntryIdx) -> Option<bool> {
        let value = value_of(dimension, entry, self.name)?;
        Some(self.folded.contains(&value.folded()))
    }
}

fn check_batch(n_received: usize, most: usize) -> Result<()> {
    if n_received > most {
        return Err(Error::BadBatch { n_received, most });
    }
    Ok(())
}

fn candidate(
    category: &str,
    shown: SearchResult,
    score: f64,
    evidence: ReconcileEvidence,
) -> ReconcileCandidate {
    ReconcileCandidate {
        id: format!("{category}/{}", shown.filter_value),
        name: shown.name,
        description: shown.context.unwrap_or_default(),
        category: category.to_owned(),
        score,
        is_match: false,
        evidence,
    }
}

/// Finds entries that have every property of a query without a name.
fn by_properties(
    dimension: &Dimension,
    category: &str,
    wanted: &[Wanted<'_>],
    margin: f64,
) -> Vec<Ranked> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let n_entries = dimension.index.len().min(MAX_COMPARED) as u32;
    let has_all =
        |entry: &EntryIdx| wanted.iter().all(|one| one.is_had_by(dimension, *entry) == Some(true));
    let fitting = (0..n_entries).map(EntryIdx).filter(has_all).take(MAX_CANDIDATES);
    let evidence = ReconcileEvidence::Properties { n_wanted: wanted.len() };
    fitting
        .map(|entry| {
            let shown = dimension.show(entry, None);
            (candidate(category, shown, BY_PROPERTIES_ALONE, evidence), margin)
        })
        .collect()
}

/// Gives what a property of an entry says; nothing where it says nothing.
fn value_of(dimension: &Dimension, entry: EntryIdx, property: &str) -> Option<PropertyValue> {
    use serde_json::Value;

    match dimension.property(entry, property)? {
        Value::Null => None,
        Value::Number(number) => Some(match number.as_i128() {
            Some(whole) => PropertyValue::Whole(whole),
            None => PropertyValue::Number(number.as_f64()?),
        }),
        Value::String(value) => Some(PropertyValue::Text(value)),
        other @ (Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            Some(PropertyValue::Text(other.to_string()))
        }
    }
}
