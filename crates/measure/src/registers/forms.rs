//! Names with the words that people put around them: the county, the kind, the town hall, in any
//! order and with a slip of the hand.

use std::path::Path;

use model::Report;

use crate::registers::data::{cell, entry, rows};
use crate::registers::register::{Judged, JudgedQuery, MARGIN, THRESHOLD, bare_name};
use crate::registers::variants::with_typo;
use lookup::{Index, Request, Result};

/// Ways to say which of several places is meant. `{name}` is the bare name, `{typo}` the name with
/// one slip, `{kind}` its kind, `{kinds}` its kind in the genitive.
const FORMS: [&str; 17] = [
    "{name}, jud. {county}",
    "{name} județul {county}",
    "{name} {county}",
    "{name} ({county})",
    "{county} {name}",
    "jud. {county}, {name}",
    "{kind} {name}, jud. {county}",
    "{name} {kind} {county}",
    "{typo}, jud. {county}",
    "{kind} {typo}, județul {county}",
    "Primăria {name}",
    "Primăria {name}, jud. {county}",
    "{name} primăria",
    "Primăria {kinds} {name}",
    "primaria {kinds} {name} judetul {county}",
    "Primăria {typo}",
    "Primăria {typo}, jud. {county}",
];

/// Asks the register, with counties and units as its context.
pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    let register = rows(&folder.join("entities/ent_pub_2025.csv"), ';')?;
    let entries = register.iter().map(|row| {
        let mut entry = entry(cell(row, 1), cell(row, 2));
        entry.traits = vec![format!("County: {} | Unit: {}", cell(row, 0), cell(row, 3))];
        entry
    });
    let index = Index::build(entries.collect());
    let judged = Judged::read(folder)?;
    let asked = rows(&folder.join("entities/uat_name_to_cif.tsv"), '\t')?;
    for form in FORMS {
        measure_form(&index, &judged, &asked, form, report);
    }
    Ok(())
}

fn measure_form(
    index: &Index,
    judged: &Judged,
    asked: &[Vec<String>],
    form: &str,
    report: &mut Report,
) {
    let (mut n_first, mut n_empty, mut n_given, mut n_given_right) = (0, 0, 0, 0);
    let names_county = form.contains("{county}");
    for (seed, (row, query)) in asked.iter().zip(&judged.queries).enumerate() {
        let text = write(form, query, cell(row, 1), seed as u64);
        let is_right = |value: &String| {
            if names_county { value == cell(row, 3) } else { query.accepted.contains(value) }
        };
        let answer = index.lookup(&Request { text: &text, locale: None, hint: None, limit: 5 });
        let first = answer.matches.first();
        let is_first = first.is_some_and(|found| is_right(&index.entry(found.entry).value));
        n_first += usize::from(is_first);
        n_empty += usize::from(first.is_none());
        let top = first.map_or(0.0, |found| found.score.get());
        let second = answer.matches.get(1).map_or(0.0, |found| found.score.get());
        let lead = first.map_or(MARGIN, |found| found.lead_needed(MARGIN));
        let is_given = top >= THRESHOLD && top - second >= lead;
        n_given += usize::from(is_given);
        n_given_right += usize::from(is_given && is_first);
        // The misses are what a change of the weights is made from.
        if !is_first && std::env::var_os(MISSES).is_some() {
            let found = first.map_or("nothing", |found| index.entry(found.entry).value.as_str());
            let name = first.map_or("", |found| found.matched.as_str());
            let given = if is_given { "GIVEN" } else { "" };
            eprintln!(
                "{given}\t{form}\t{text}\t{}\t{found}\t{name}\t{top:.3}\t{second:.3}",
                cell(row, 4)
            );
        }
    }
    let n_queries = asked.len();
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    report.add_noted(
        format!("hit@1, `{form}`"),
        share(n_first, n_queries),
        "ratio",
        format!("{n_empty} of {n_queries} found nothing"),
    );
    report.add_noted(
        format!("bestMatch precision, `{form}`"),
        share(n_given_right, n_given),
        "ratio",
        format!("given for {n_given} of {n_queries} queries"),
    );
}

/// The environment variable that has every miss printed.
pub(crate) const MISSES: &str = "DOWSE_BENCH_MISSES";

fn write(form: &str, query: &JudgedQuery, county: &str, seed: u64) -> String {
    let name = bare_name(&query.text).to_uppercase();
    let (kind, kinds) = match lookup::folded(&query.text) {
        folded if folded.starts_with("municipiul ") => ("Municipiul", "Municipiului"),
        folded if folded.starts_with("oras ") => ("Orașul", "Orașului"),
        _ => ("Comuna", "Comunei"),
    };
    form.replace("{typo}", &with_typo(&name, seed))
        .replace("{name}", &name)
        .replace("{kinds}", kinds)
        .replace("{kind}", kind)
        .replace("{county}", county)
}
