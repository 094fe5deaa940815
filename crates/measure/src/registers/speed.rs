//! How long a lookup takes among 50,000 and 1,000,000 names.

use std::path::Path;
use std::time::Instant;

use model::Report;

use crate::registers::data::{cell, entities, entry, rows};
use crate::registers::register::Judged;
use crate::registers::variants::{Random, Variant};
use lookup::{Entry, Index, Request, Result};

/// Lookups that are timed for each size.
const N_TIMED: usize = 1500;

pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    let queries = queries(folder)?;
    for (label, n_names) in [("50k", 50_000), ("1M", 1_000_000)] {
        let entries = names(folder, n_names)?;
        let started = Instant::now();
        let index = Index::build(entries);
        report.add(format!("build, {label} names"), started.elapsed().as_secs_f64(), "s");
        let mut times: Vec<f64> = queries
            .iter()
            .map(|text| {
                let request = Request { text, locale: None, hint: None, limit: 10 };
                let started = Instant::now();
                let answer = index.lookup(&request);
                std::hint::black_box(&answer);
                started.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        report.add(format!("lookup, {label} names"), at(0.5), "ms p50");
        report.add(format!("lookup, {label} names"), at(0.99), "ms p99");
        report.add(format!("lookup, {label} names"), at(1.0), "ms max");
    }
    Ok(())
}

/// Gives queries of all kinds: units as given and with a typo, and names of institutions.
///
/// Fails when a file of the folder is missing.
pub(crate) fn queries(folder: &Path) -> Result<Vec<String>> {
    let judged = Judged::read(folder)?;
    let entities = entities(folder)?;
    let mut random = Random::new(11);
    Ok((0..N_TIMED)
        .map(|at| {
            let unit = &judged.queries[random.below(judged.queries.len())].text;
            match at % 3 {
                0 => unit.clone(),
                1 => Variant::OneTypo.write(unit, at as u64),
                _ => entities[random.below(entities.len())].names[0].text.clone(),
            }
        })
        .collect())
}

/// Gives real names first, then institutions combined with places until there are enough.
///
/// Fails when a file of the folder is missing.
pub(crate) fn names(folder: &Path, n_names: usize) -> Result<Vec<Entry>> {
    let mut entries = entities(folder)?;
    let places: Vec<String> = rows(&folder.join("uat/siruta-commabelow.csv"), ';')?
        .iter()
        .map(|row| cell(row, 1).to_owned())
        .collect();
    entries.extend(places.iter().enumerate().map(|(at, place)| entry(&format!("p{at}"), place)));
    let n_real = entries.len();
    let mut random = Random::new(3);
    while entries.len() < n_names {
        let name = entries[random.below(n_real)].names[0].text.clone();
        let place = &places[random.below(places.len())];
        entries.push(entry(&format!("c{}", entries.len()), &format!("{name} {place}")));
    }
    entries.truncate(n_names);
    Ok(entries)
}
