//! One state of one dimension: how it is loaded, searched and described.

use std::sync::Arc;

use lookup::{How, Match, NameEmbedder, Request, is_same_language};
use model::{Score, Warning};
use serde::Serialize;

use crate::classification::CodeForm;
use crate::config::{DimensionConfig, Engine, FiltersConfig};
use crate::dimension::Dimension;
use crate::postgres::Candidates;
use crate::request::SearchRequest;
use crate::response::{ResultExplanation, SearchResponse};
use crate::service::MAX_EMBEDDED_NAMES;
use crate::source::{Source, Table, Version};
use crate::{Error, Result};

/// How far the second form of a code is behind the first.
const SECOND_FORM: f64 = 0.01;

/// What a caller may know of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DimensionInfo {
    /// The name by which it is asked for.
    pub category: String,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many entries it has.
    pub n_entries: usize,
    /// Languages of its names, the default first; empty when there is one only.
    pub locales: Vec<String>,
    /// Whether it has hierarchical codes.
    pub has_codes: bool,
    /// Whether vectors can find what letters do not.
    pub has_vectors: bool,
    /// What is not perfect about its source.
    pub warnings: Vec<Warning>,
}

/// One state of one dimension; never changes.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// All entries; none when they stay in the database.
    pub(crate) dimension: Arc<Dimension>,
    /// Where entries are found that stay in the database.
    pub(crate) candidates: Option<Arc<Candidates>>,
    pub(crate) version: Option<Version>,
    /// Whether the source has changed into something that cannot be read.
    pub(crate) is_stale: bool,
    /// Why its names have no vectors yet, where they are to have some.
    pub(crate) waits_for_meaning: Option<String>,
    /// Why the source could not be read when the server started; nothing is known of it.
    pub(crate) away: Option<String>,
}

impl Snapshot {
    pub(crate) fn load(
        config: &DimensionConfig,
        source: &Source,
        name_embedder: Option<Arc<dyn NameEmbedder>>,
    ) -> Result<Self> {
        if config.engine == Engine::Postgres {
            let table = Table { columns: config.columns(), rows: Vec::new() };
            return Ok(Snapshot {
                dimension: Arc::new(Dimension::build(config.clone(), table, None)?),
                candidates: Some(Arc::new(Candidates::open(config)?)),
                version: None,
                is_stale: false,
                waits_for_meaning: None,
                away: None,
            });
        }
        // The version is taken first: a change while reading is then seen as one more change.
        let version = source.version();
        let dimension = Arc::new(Dimension::build(
            config.clone(),
            source.read(&config.columns())?,
            name_embedder,
        )?);
        Ok(Snapshot {
            dimension,
            candidates: None,
            version,
            is_stale: false,
            waits_for_meaning: None,
            away: None,
        })
    }

    /// Is for a source that is away.
    pub(crate) fn away(config: &DimensionConfig, error: &Error) -> Result<Self> {
        let table = Table { columns: config.columns(), rows: Vec::new() };
        Ok(Snapshot {
            dimension: Arc::new(Dimension::build(config.clone(), table, None)?),
            candidates: None,
            version: None,
            is_stale: false,
            waits_for_meaning: None,
            away: Some(error.to_string()),
        })
    }

    /// Gives the same entries, with the reason why their names have no vectors yet. Entries that
    /// stay in a database or are too many are searched by letters alone, and wait for nothing.
    pub(crate) fn waiting_for_meaning(&self, reason: &str) -> Self {
        let index = &self.dimension.index;
        let is_to_have_it = self.candidates.is_none()
            && !index.has_vectors()
            && index.n_names() <= MAX_EMBEDDED_NAMES;
        Snapshot {
            dimension: Arc::clone(&self.dimension),
            candidates: self.candidates.clone(),
            version: self.version.clone(),
            is_stale: self.is_stale,
            waits_for_meaning: is_to_have_it.then(|| reason.to_owned()),
            away: self.away.clone(),
        }
    }

    /// Gives the same entries as those of a later state of the source.
    pub(crate) fn at_version(&self, version: Option<Version>) -> Self {
        Snapshot {
            dimension: Arc::clone(&self.dimension),
            candidates: self.candidates.clone(),
            version,
            is_stale: false,
            waits_for_meaning: self.waits_for_meaning.clone(),
            away: None,
        }
    }

    /// Gives the same entries, marked as older than a source that cannot be read.
    pub(crate) fn failed(&self, version: Option<Version>) -> Self {
        Snapshot {
            dimension: Arc::clone(&self.dimension),
            candidates: None,
            version,
            is_stale: true,
            waits_for_meaning: self.waits_for_meaning.clone(),
            away: None,
        }
    }

    pub(crate) fn dimension_for(&self, query: &str) -> Result<Arc<Dimension>> {
        if let Some(reason) = &self.away {
            let category = self.dimension.config.category.clone();
            return Err(Error::Away { category, reason: reason.clone() });
        }
        match &self.candidates {
            Some(candidates) => Ok(Arc::new(candidates.find(query)?)),
            None => Ok(Arc::clone(&self.dimension)),
        }
    }

    pub(crate) fn info(&self) -> DimensionInfo {
        let dimension = &self.dimension;
        let counted = self.candidates.as_ref().map(|candidates| candidates.count());
        DimensionInfo {
            category: dimension.config.category.clone(),
            description: dimension.config.description.clone(),
            n_entries: counted.and_then(Result::ok).unwrap_or(dimension.index.len()),
            locales: dimension.locales().into_iter().map(str::to_owned).collect(),
            has_codes: dimension.config.code.is_some(),
            has_vectors: dimension.index.has_vectors(),
            warnings: dimension
                .warnings
                .iter()
                .cloned()
                .chain(self.waits_for_meaning.as_deref().map(no_vectors))
                .collect(),
        }
    }

    pub(crate) fn search(
        &self,
        request: &SearchRequest,
        limit: usize,
        filters: FiltersConfig,
    ) -> Result<SearchResponse> {
        let dimension = self.dimension_for(&request.query)?;
        let answer = dimension.lookup(&Request {
            text: &request.query,
            locale: request.locale.as_deref(),
            hint: request.hint.as_deref(),
            // The margin needs a second match even when one result is asked for.
            limit: limit.max(2),
        });
        let includes_metadata = request.include_metadata.unwrap_or(true);
        let explains = request.explain.unwrap_or(false);
        let locale = request.locale.as_deref();
        let shown = |found: &Match, form: Option<CodeForm>, score: Score| {
            let mut result = dimension.show_form(found.entry, locale, form);
            result.score = score;
            result.metadata = result.metadata.filter(|_| includes_metadata);
            result.explanation = explains.then(|| ResultExplanation {
                matched: found.matched.clone(),
                how: found.how,
                trigram_similarity: (found.trigram_similarity * 1e4).round() / 1e4,
            });
            result
        };
        let mut results = Vec::new();
        let mut n_second_forms = 0;
        for (place, found) in answer.matches.iter().enumerate() {
            let is_code = matches!(found.how, How::Code | How::Value);
            match dimension.forms(found.entry, &request.query, is_code) {
                None => results.push(shown(found, None, found.score)),
                Some([first, second]) => {
                    results.push(shown(found, Some(first), found.score));
                    // The forms stay side by side, and the list sorted: what follows may be as good.
                    let next = answer.matches.get(place + 1).map_or(0.0, |next| next.score.get());
                    let behind = (found.score.get() - SECOND_FORM).max(next);
                    results.push(shown(found, Some(second), Score::new(behind)));
                    n_second_forms += 1;
                }
            }
        }
        // Two forms of one code are one answer: only another entry can make it ambiguous.
        let score_of =
            |place: usize| answer.matches.get(place).map_or(0.0, |found| found.score.rounded());
        let margin = filters.best_match_margin;
        let needed = answer.matches.first().map_or(margin, |found| found.lead_needed(margin));
        let is_sure = filters.is_sure(score_of(0), score_of(1), needed);
        let best_match = results.first().filter(|_| is_sure).cloned();
        results.truncate(limit);
        Ok(SearchResponse {
            ok: true,
            best_match,
            total_matches: (!results.is_empty()).then_some(answer.n_total + n_second_forms),
            results,
            warnings: self.warnings(request, &answer),
        })
    }

    fn warnings(&self, request: &SearchRequest, answer: &lookup::Answer) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let locales = self.dimension.locales();
        if let Some(locale) = &request.locale
            && !locales.is_empty()
            && !locales.iter().any(|known| is_same_language(known, locale))
        {
            let message = format!(
                "category `{}` has no names in locale `{locale}`: it has {}",
                request.category,
                locales.join(", ")
            );
            warnings.push(Warning::new("unknown_locale", message));
        }
        if !answer.is_total_exact && !answer.matches.is_empty() {
            let message = "totalMatches is an estimate: the query fits very many names";
            warnings.push(Warning::new("total_estimate", message));
        }
        let missing = self.waits_for_meaning.as_ref().filter(|_| answer.wanted_meaning);
        if let Some(reason) = answer.vectors_failed.as_ref().or(missing) {
            warnings.push(no_vectors(reason));
        }
        if self.is_stale {
            let message = format!(
                "the source of category `{}` changed and cannot be read: its last good state is used",
                request.category
            );
            warnings.push(Warning::new("stale_dimension", message));
        }
        warnings
    }
}

/// Says that names were not compared by vector. The code is on the wire and keeps its name.
fn no_vectors(reason: &str) -> Warning {
    Warning::new("meaning_unavailable", format!("looked up by letters alone: {reason}"))
}
