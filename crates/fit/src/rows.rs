//! Evidence of judged queries, and of queries that nothing answers, gathered once and kept.

use std::path::Path;

use anyhow::Context;
use retrieve::Evidence;
use retrieve::eval::{Dataset, EvalConfig, JudgedCandidate, is_held_out, load};
use serde::{Deserialize, Serialize};

use crate::queries::{self, Kind};

/// Candidates kept of one query: the relevant ones and the first of the others.
const N_KEPT: usize = 100;

/// Queries of other collections that each collection is asked.
const N_FOREIGN_QUERIES: usize = 10;

/// One query with the evidence of its candidates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The judged set.
    pub(crate) set: String,
    /// What kind of query it is.
    pub(crate) kind: Kind,
    /// The id of the query in its set.
    pub(crate) id: String,
    /// The text, to look at what went wrong.
    pub(crate) query: String,
    /// Whether coefficients may not be chosen on it.
    pub(crate) is_held_out: bool,
    /// Relevant documents in the collection.
    pub(crate) n_relevant: usize,
    pub(crate) candidates: Vec<Candidate>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub(crate) document: String,
    /// Whether it answers the query.
    pub(crate) is_relevant: bool,
    /// What there is to judge it by.
    pub(crate) evidence: Evidence,
}

/// Asks every set its own queries and some that it cannot answer.
pub(crate) fn gather(
    paths: &[String],
    n_queries: usize,
    config: &EvalConfig<'_>,
) -> anyhow::Result<Vec<Row>> {
    let sets: Vec<Dataset> = paths
        .iter()
        .map(|path| Dataset::read(path).with_context(|| path.clone()))
        .collect::<anyhow::Result<_>>()?;
    let mut rows = Vec::new();
    for set in &sets {
        eprintln!("{}", set.name);
        let loaded = load(set, config)?;
        let mut asked = queries::judged(set, n_queries);
        if !set.name.contains('@') {
            asked.extend(queries::titles(set, n_queries / 4));
            asked.extend(queries::short(set, n_queries / 3));
            // The documents of a pair of sets are those of its second set, asked already.
            asked.extend(queries::function_words());
            asked.extend(queries::private_matters());
            if is_our_own(set) {
                asked.extend(queries::off_topic());
            }
            let is_other = |other: &&Dataset| !other.name.contains('@') && !is_related(set, other);
            for other in sets.iter().filter(is_other) {
                asked.extend(queries::unanswerable(set, other, N_FOREIGN_QUERIES));
            }
        }
        for query in asked {
            let found = loaded.candidates(&query.text, config)?;
            // One or two words that a document has, stemmed or not, are answered by it.
            let covers = |candidate: &JudgedCandidate| candidate.evidence.words.coverage > 0.3;
            let is_short = query.text.split(' ').count() <= 2 || query.text.chars().count() <= 8;
            if query.kind == Kind::Unanswerable && is_short && found.iter().any(covers) {
                continue;
            }
            let mut n_others = 0;
            let mut candidates = Vec::new();
            for candidate in found {
                let is_relevant = query.relevant.contains(&candidate.document);
                if !is_relevant && query.unjudged.contains(&candidate.document) {
                    continue;
                }
                n_others += usize::from(!is_relevant);
                if is_relevant || n_others <= N_KEPT {
                    let JudgedCandidate { document, evidence, .. } = candidate;
                    candidates.push(Candidate { document, is_relevant, evidence });
                }
            }
            rows.push(Row {
                set: set.name.clone(),
                kind: query.kind,
                is_held_out: is_held_out(&query.id),
                n_relevant: query.relevant.len(),
                id: query.id,
                query: query.text,
                candidates,
            });
        }
    }
    Ok(rows)
}

/// Rule books and handbooks of our own writing.
fn is_our_own(set: &Dataset) -> bool {
    set.corpus_name.starts_with("rulebook") || set.corpus_name.starts_with("handbook")
}

/// Two sets are related when their documents are the same in two languages, or about everyday
/// matters both, so that one may half answer the questions of the other.
fn is_related(one: &Dataset, other: &Dataset) -> bool {
    if is_our_own(one) && is_our_own(other) {
        return true;
    }
    // Abstracts about computing, and an encyclopaedia with articles about it.
    let is_computing = |set: &Dataset| {
        ["adi", "cacm"].contains(&set.corpus_name.as_str()) || set.corpus_name.starts_with("xquad")
    };
    if is_computing(one) && is_computing(other) {
        return true;
    }
    let family =
        |set: &Dataset| set.corpus_name.split(['-', '_']).next().unwrap_or_default().to_owned();
    family(one) == family(other) || one.name == other.name
}

/// Reads rows that an earlier run has kept.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<Row>> {
    let text = fs_err::read_to_string(file)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Keeps rows for a later run.
pub(crate) fn write(file: &Path, rows: &[Row]) -> anyhow::Result<()> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row)?);
        text.push('\n');
    }
    Ok(fs_err::write(file, text)?)
}
