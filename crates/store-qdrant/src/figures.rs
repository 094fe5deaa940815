//! What BM25 has to know of a namespace, counted over its own points alone.

use std::collections::{BTreeMap, HashMap};

use model::Deadline;
use parking_lot::Mutex;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{
    CountPointsBuilder, FacetCountsBuilder, Filter as ServerFilter, facet_value,
};
use store::rescoring::{Counted, Statistics, fields_of};
use store::{Result, WordsQuery};

use crate::client::Client;
use crate::condition::{self, of_tenant};
use crate::ledger::Entry;
use crate::point::{TEXT_LENGTH, TITLE_LENGTH};
use crate::terms::{self, Term};

/// Namespaces whose figures are remembered.
const MAX_REMEMBERED: usize = 256;
/// Lengths that are told apart.
const MAX_LENGTHS: u64 = 100_000;

/// How many points a namespace has, and how many words they have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) n_passages: f64,
    pub(crate) mean_text: f64,
    pub(crate) mean_title: f64,
}

/// Figures of namespaces, each for the last change that Qdrant has.
#[derive(Default)]
pub(crate) struct Figures {
    remembered: Mutex<HashMap<String, OfTenant>>,
}

#[derive(Default, Clone)]
struct OfTenant {
    seen: u64,
    totals: Option<Totals>,
    holding: HashMap<Vec<Term>, f64>,
}

impl Figures {
    /// Gives the totals and how many points hold one of each list of terms.
    pub(crate) fn count(
        &self,
        client: &Client,
        entry: &Entry,
        wanted: &[Vec<Term>],
        deadline: &Deadline,
    ) -> Result<(Totals, Vec<f64>)> {
        let mut known = self.known(entry);
        let mut missing: Vec<Vec<Term>> = wanted
            .iter()
            .filter(|key| !key.is_empty() && !known.holding.contains_key(*key))
            .cloned()
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if known.totals.is_none() || !missing.is_empty() {
            let needs_totals = known.totals.is_none();
            let (collection, tenant) = (entry.collection.clone(), entry.tenant.clone());
            let asked = missing.clone();
            let (totals, counts) = client.ask("count", deadline, move |peer| {
                ask(peer, collection.clone(), tenant.clone(), asked.clone(), needs_totals)
            })?;
            known.totals = known.totals.or(totals);
            known.holding.extend(missing.into_iter().zip(counts));
            self.remember(entry, &known);
        }
        let totals = known.totals.unwrap_or_default();
        let holding = wanted.iter().map(|key| match key.is_empty() {
            // A beginning that is too short to be indexed may be in every passage.
            true => totals.n_passages,
            false => known.holding.get(key).copied().unwrap_or(0.0),
        });
        Ok((totals, holding.collect()))
    }

    /// Gives the figures that a question by words needs.
    pub(crate) fn of_query(
        &self,
        client: &Client,
        entry: &Entry,
        query: &WordsQuery,
        deadline: &Deadline,
    ) -> Result<Statistics> {
        let mut counted: BTreeMap<Counted, Vec<Term>> = BTreeMap::new();
        for clause in query.must.iter().chain(&query.should) {
            for (field, _) in fields_of(query) {
                let terms = terms::of_clause(clause, field);
                counted.extend(Counted::of(clause, field).into_iter().zip(terms));
            }
        }
        let (counted, wanted): (Vec<Counted>, Vec<Vec<Term>>) = counted.into_iter().unzip();
        let (totals, holding) = self.count(client, entry, &wanted, deadline)?;
        Ok(Statistics {
            n_passages: totals.n_passages,
            mean_text: totals.mean_text,
            mean_title: totals.mean_title,
            holding: counted.into_iter().zip(holding).collect(),
        })
    }

    fn known(&self, entry: &Entry) -> OfTenant {
        match self.remembered.lock().get(&entry.tenant) {
            Some(known) if known.seen == entry.seen => known.clone(),
            _ => OfTenant { seen: entry.seen, ..OfTenant::default() },
        }
    }

    fn remember(&self, entry: &Entry, known: &OfTenant) {
        let mut remembered = self.remembered.lock();
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(entry.tenant.clone(), known.clone());
    }
}

async fn ask(
    peer: Qdrant,
    collection: String,
    tenant: String,
    wanted: Vec<Vec<Term>>,
    needs_totals: bool,
) -> std::result::Result<(Option<Totals>, Vec<f64>), qdrant_client::QdrantError> {
    let counting: Vec<_> = wanted
        .into_iter()
        .map(|terms| {
            let conditions = [of_tenant(&tenant), condition::holds_any(&terms)];
            let request = CountPointsBuilder::new(&collection)
                .filter(ServerFilter::must(conditions))
                .exact(true)
                .build();
            let peer = peer.clone();
            tokio::spawn(async move { peer.count(request).await })
        })
        .collect();
    let totals = match needs_totals {
        false => None,
        true => {
            let (n_passages, text) = sum(&peer, &collection, &tenant, TEXT_LENGTH).await?;
            let (_, title) = sum(&peer, &collection, &tenant, TITLE_LENGTH).await?;
            let mean = |sum: f64| if n_passages > 0.0 { sum / n_passages } else { 0.0 };
            Some(Totals { n_passages, mean_text: mean(text), mean_title: mean(title) })
        }
    };
    let mut counts = vec![];
    for count in counting {
        let answer = count
            .await
            .map_err(|error| qdrant_client::QdrantError::ConversionError(error.to_string()))??;
        counts.push(answer.result.map_or(0.0, |result| result.count as f64));
    }
    Ok((totals, counts))
}

/// Adds up a field: how many points have each value is counted, exactly.
async fn sum(
    peer: &Qdrant,
    collection: &str,
    tenant: &str,
    field: &str,
) -> std::result::Result<(f64, f64), qdrant_client::QdrantError> {
    let request = FacetCountsBuilder::new(collection, field)
        .filter(ServerFilter::must([of_tenant(tenant)]))
        .limit(MAX_LENGTHS)
        .exact(true)
        .build();
    let answer = peer.facet(request).await?;
    let (mut n_points, mut total) = (0.0, 0.0);
    for hit in answer.hits {
        let value = hit.value.and_then(|value| value.variant);
        if let Some(facet_value::Variant::IntegerValue(value)) = value {
            n_points += hit.count as f64;
            total += hit.count as f64 * value as f64;
        }
    }
    Ok((n_points, total))
}
