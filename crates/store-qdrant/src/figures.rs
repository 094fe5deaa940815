//! What BM25 has to know of a namespace, counted over its own points alone.

use std::collections::{BTreeMap, HashMap};

use model::Deadline;
use parking_lot::Mutex;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{
    CountPointsBuilder, FacetCountsBuilder, Filter as ServerFilter, facet_value,
};
use store::remote::{Counted, Field, Statistics, coded_length, fields_of};
use store::{Clause, Result, WordsQuery};

use crate::client::Client;
use crate::condition::{self, of_tenant};
use crate::ledger::Entry;
use crate::point::{TEXT_LENGTH, TITLE_LENGTH};
use crate::terms::{self, Term};
use crate::word_memory::Shared;

/// Namespaces whose figures are remembered.
const MAX_REMEMBERED: usize = 256;
/// Words that are remembered of one namespace, about 10 MB of them.
const MAX_COUNTS: usize = 100_000;
/// Lengths that are told apart.
const MAX_LENGTHS: u64 = 100_000;

/// How many points a namespace has, and how many words they have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) n_passages: f64,
    pub(crate) mean_text: f64,
    pub(crate) mean_title: f64,
    /// The mean of the lengths of texts as BM25 counts with them.
    pub(crate) mean_coded: f64,
}

/// Figures of namespaces, each for the last change that Qdrant has.
#[derive(Default)]
pub(crate) struct Figures {
    remembered: Mutex<HashMap<String, OfTenant>>,
}

struct OfTenant {
    seen: u64,
    totals: Totals,
    holding: HashMap<Vec<Term>, f64>,
}

impl Figures {
    /// Gives the totals and how many points hold one of each list of terms: from the table where there
    /// is one, else from what is remembered, else from Qdrant.
    pub(crate) fn count(
        &self,
        client: &Client,
        entry: &Entry,
        table: Option<&Shared>,
        wanted: &[Vec<Term>],
        deadline: &Deadline,
    ) -> Result<(Totals, Vec<f64>)> {
        if let Some(counted) = table.and_then(|table| from_table(entry, table, wanted)) {
            return Ok(counted);
        }
        let (totals, mut known) = self.known(entry, wanted);
        let mut missing: Vec<Vec<Term>> = wanted
            .iter()
            .filter(|key| !key.is_empty() && !known.contains_key(*key))
            .cloned()
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let totals = match totals {
            Some(totals) if missing.is_empty() => totals,
            totals => {
                let (collection, tenant) = (entry.at.collection.clone(), entry.at.tenant.clone());
                let (asked, needs_totals) = (missing.clone(), totals.is_none());
                let (counted, counts) = client.ask("count", deadline, move |peer| {
                    ask(peer, collection.clone(), tenant.clone(), asked.clone(), needs_totals)
                })?;
                let totals = totals.or(counted).unwrap_or_default();
                let counted: Vec<_> = missing.into_iter().zip(counts).collect();
                self.remember(entry, totals, &counted);
                known.extend(counted);
                totals
            }
        };
        let holding = wanted.iter().map(|key| match key.is_empty() {
            // A beginning that is too short to be indexed may be in every passage.
            true => totals.n_passages,
            false => known.get(key).copied().unwrap_or(0.0),
        });
        Ok((totals, holding.collect()))
    }

    /// Gives the figures that a question by words needs.
    pub(crate) fn of_query(
        &self,
        client: &Client,
        entry: &Entry,
        table: Option<&Shared>,
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
        let (counted, mut wanted): (Vec<Counted>, Vec<Vec<Term>>) = counted.into_iter().unzip();
        // What judges the hits afterwards asks for each form of a word by itself: asked along, it
        // needs no second round.
        for clause in query.must.iter().chain(&query.should) {
            if let Clause::Word { form, terms, .. } = clause
                && terms.len() > 1
            {
                let one = |term: &String| {
                    [Field::Text, Field::Title].map(|field| vec![Term::word(field, *form, term)])
                };
                wanted.extend(terms.iter().flat_map(one));
            }
        }
        let (totals, holding) = self.count(client, entry, table, &wanted, deadline)?;
        Ok(Statistics {
            n_passages: totals.n_passages,
            mean_text: totals.mean_text,
            mean_title: totals.mean_title,
            holding: counted.into_iter().zip(holding).collect(),
        })
    }

    /// Gives what is remembered of the wanted figures.
    fn known(
        &self,
        entry: &Entry,
        wanted: &[Vec<Term>],
    ) -> (Option<Totals>, HashMap<Vec<Term>, f64>) {
        let remembered = self.remembered.lock();
        let Some(known) = remembered.get(&entry.at.tenant).filter(|known| known.seen == entry.seen)
        else {
            return (None, HashMap::new());
        };
        let counts = wanted.iter().filter_map(|key| Some((key.clone(), *known.holding.get(key)?)));
        (Some(known.totals), counts.collect())
    }

    fn remember(&self, entry: &Entry, totals: Totals, counted: &[(Vec<Term>, f64)]) {
        let mut remembered = self.remembered.lock();
        if remembered.len() >= MAX_REMEMBERED && !remembered.contains_key(&entry.at.tenant) {
            remembered.clear();
        }
        let new = || OfTenant { seen: entry.seen, totals, holding: HashMap::new() };
        let known = remembered.entry(entry.at.tenant.clone()).or_insert_with(new);
        // Somebody who began earlier may come later.
        if known.seen > entry.seen {
            return;
        }
        if known.seen < entry.seen || known.holding.len() + counted.len() > MAX_COUNTS {
            *known = new();
        }
        known.holding.extend(counted.iter().cloned());
    }
}

/// Counts in memory; nothing where the table has gone on by now, or does not know what is asked.
fn from_table(entry: &Entry, table: &Shared, wanted: &[Vec<Term>]) -> Option<(Totals, Vec<f64>)> {
    let dated = table.read();
    // Beginnings of words are in Qdrant alone.
    let is_word = |key: &Vec<Term>| !key.is_empty() && key.iter().all(|term| !term.is_start);
    if dated.seen != entry.seen || !wanted.iter().all(is_word) {
        return None;
    }
    let holding = wanted.iter().map(|words| dated.table.n_holding(words) as f64);
    Some((dated.table.totals(), holding.collect()))
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
            let text = sum(&peer, &collection, &tenant, TEXT_LENGTH).await?;
            let title = sum(&peer, &collection, &tenant, TITLE_LENGTH).await?;
            let n_passages = text.n_points;
            let mean = |sum: f64| if n_passages > 0.0 { sum / n_passages } else { 0.0 };
            Some(Totals {
                n_passages,
                mean_text: mean(text.length),
                mean_title: mean(title.length),
                mean_coded: mean(text.coded),
            })
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

/// The lengths of a field, added up.
#[derive(Default)]
struct Sum {
    n_points: f64,
    length: f64,
    coded: f64,
}

/// Adds up a field: how many points have each value is counted, exactly.
async fn sum(
    peer: &Qdrant,
    collection: &str,
    tenant: &str,
    field: &str,
) -> std::result::Result<Sum, qdrant_client::QdrantError> {
    let request = FacetCountsBuilder::new(collection, field)
        .filter(ServerFilter::must([of_tenant(tenant)]))
        .limit(MAX_LENGTHS)
        .exact(true)
        .build();
    let answer = peer.facet(request).await?;
    let mut sum = Sum::default();
    for hit in answer.hits {
        let value = hit.value.and_then(|value| value.variant);
        if let Some(facet_value::Variant::IntegerValue(value)) = value {
            let count = hit.count as f64;
            sum.n_points += count;
            sum.length += count * value as f64;
            sum.coded += count * coded_length(usize::try_from(value).unwrap_or(0)) as f64;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use store::Form;

    use crate::ledger::Tenant;

    use super::*;

    fn entry(seen: u64) -> Entry {
        Entry {
            number: 1,
            at: Tenant { collection: "c".to_owned(), tenant: "t".to_owned() },
            seen,
            space: None,
            fields: BTreeSet::new(),
        }
    }

    fn key(word: &str) -> Vec<Term> {
        vec![Term::word(Field::Text, Form::Folded, word)]
    }

    #[test]
    fn figures_are_those_of_the_last_change_and_bounded() {
        let figures = Figures::default();
        let totals = Totals { n_passages: 3.0, ..Totals::default() };
        figures.remember(&entry(5), totals, &[(key("tram"), 2.0)]);
        let known = |seen: u64| figures.known(&entry(seen), &[key("tram"), key("castle")]);
        assert_eq!(known(5), (Some(totals), HashMap::from([(key("tram"), 2.0)])));
        assert_eq!(known(6).0, None);
        // A later change forgets what was counted, and an earlier one adds nothing to it.
        figures.remember(&entry(6), totals, &[(key("castle"), 1.0)]);
        figures.remember(&entry(5), totals, &[(key("tram"), 2.0)]);
        assert_eq!(known(6).1, HashMap::from([(key("castle"), 1.0)]));
        let many: Vec<_> = (0..MAX_COUNTS).map(|at| (key(&at.to_string()), 1.0)).collect();
        figures.remember(&entry(6), totals, &many);
        assert!(known(6).1.is_empty());
        assert_eq!(figures.remembered.lock()["t"].holding.len(), MAX_COUNTS);
    }
}
