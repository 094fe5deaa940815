//! Census names against the register of public entities: hits and confident answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::Report;

use crate::registers::data::{cell, entities, rows};
use crate::registers::variants::Variant;
use lookup::{Index, Request, Result};

/// The threshold and margin that the server ships with.
pub(crate) const THRESHOLD: f64 = 0.85;
pub(crate) const MARGIN: f64 = 0.05;

pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    let entries = entities(folder)?;
    let judged = Judged::read(folder)?;
    let index = Index::build(entries);
    for variant in Variant::ALL {
        measure_variant(&index, &judged, variant, report);
    }
    Ok(())
}

fn measure_variant(index: &Index, judged: &Judged, variant: Variant, report: &mut Report) {
    let (mut n_first, mut n_third, mut n_given, mut n_given_right) = (0, 0, 0, 0);
    for (seed, query) in judged.queries.iter().enumerate() {
        let text = variant.write(&query.text, seed as u64);
        let answer = index.lookup(&Request { text: &text, locale: None, hint: None, limit: 5 });
        let rank = answer
            .matches
            .iter()
            .position(|found| query.accepted.contains(&index.entry(found.entry).value));
        n_first += usize::from(rank == Some(0));
        n_third += usize::from(rank.is_some_and(|rank| rank < 3));
        let top = answer.matches.first().map_or(0.0, |found| found.score.get());
        let second = answer.matches.get(1).map_or(0.0, |found| found.score.get());
        let lead = answer.matches.first().map_or(MARGIN, |found| found.lead_needed(MARGIN));
        if top >= THRESHOLD && top - second >= lead {
            n_given += 1;
            n_given_right += usize::from(rank == Some(0));
        }
    }
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    let n_queries = judged.queries.len();
    let name = variant.name();
    report.add(format!("register hit@1, {name}"), share(n_first, n_queries), "ratio");
    report.add(format!("register hit@3, {name}"), share(n_third, n_queries), "ratio");
    report.add_noted(
        format!("bestMatch precision, {name}"),
        share(n_given_right, n_given),
        "ratio",
        format!("given for {n_given} of {n_queries} queries"),
    );
}

/// Queries with the values that answer them.
pub(crate) struct Judged {
    pub(crate) queries: Vec<JudgedQuery>,
}

pub(crate) struct JudgedQuery {
    pub(crate) text: String,
    pub(crate) accepted: BTreeSet<String>,
}

impl Judged {
    /// Reads the judged lookups; every unit of the same name is a right answer.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in rows(&folder.join("uat/uat_cif_pop_2021.csv"), ',')? {
            by_name.entry(bare_name(cell(&row, 2))).or_default().insert(cell(&row, 6).to_owned());
        }
        let queries = rows(&folder.join("entities/uat_name_to_cif.tsv"), '\t')?
            .iter()
            .map(|row| {
                let text = cell(row, 0).to_owned();
                let mut accepted = by_name.get(&bare_name(&text)).cloned().unwrap_or_default();
                accepted.insert(cell(row, 3).to_owned());
                JudgedQuery { text, accepted }
            })
            .collect();
        Ok(Judged { queries })
    }
}

pub(crate) fn bare_name(name: &str) -> String {
    let folded = lookup::folded(name);
    let bare = folded.strip_prefix("municipiul ").or_else(|| folded.strip_prefix("oras "));
    bare.unwrap_or(&folded).to_owned()
}
