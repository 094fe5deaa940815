//! Keywords against classification codes, with and without aliases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use model::Report;

use crate::registers::data::{cell, rows};
use crate::registers::junk;
use lookup::{Entry, Index, Name, NameEmbedder, Request, Result};

/// Junk that is asked by vector: each query costs a vector.
const N_JUNK: usize = 200;

pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    for classification in ["functional", "economic"] {
        let folder = folder.join("classifications");
        let codes = rows(&folder.join(format!("{classification}.tsv")), '\t')?;
        let pairs: Vec<(String, String)> =
            rows(&folder.join(format!("{classification}_keyword_to_code.tsv")), '\t')?
                .iter()
                .map(|row| (cell(row, 0).to_owned(), cell(row, 1).to_owned()))
                .collect();
        let (aliases, held_out): (Vec<_>, Vec<_>) =
            pairs.iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let aliases: Vec<&(String, String)> = aliases.into_iter().map(|(_, pair)| pair).collect();
        let held_out: Vec<&(String, String)> = held_out.into_iter().map(|(_, pair)| pair).collect();
        let all: Vec<&(String, String)> = pairs.iter().collect();
        let runs = [
            ("names only", &[][..], &all[..]),
            ("half of the keywords as aliases, asked the other half", &aliases, &held_out),
            ("all keywords as aliases", &all, &all),
        ];
        for (label, aliases, asked) in runs {
            measure_run(classification, label, &codes, aliases, asked, report);
        }
    }
    Ok(())
}

/// Keywords that no name holds a word of, with and without vectors, and junk.
pub(crate) fn measure_vectors(
    folder: &Path,
    embedder: &Arc<dyn NameEmbedder>,
    report: &mut Report,
) -> Result<()> {
    for classification in ["functional", "economic"] {
        let folder = folder.join("classifications");
        let codes = rows(&folder.join(format!("{classification}.tsv")), '\t')?;
        let pairs = rows(&folder.join(format!("{classification}_keyword_to_code.tsv")), '\t')?;
        let letters = Index::build(entries(&codes, &mut BTreeMap::new()));
        let mut with_vectors = Index::build(entries(&codes, &mut BTreeMap::new()));
        if let Err(error) = with_vectors.add_vectors(Arc::clone(embedder)) {
            report.add_noted("names by vector", 0.0, "ratio", error.to_string());
            return Ok(());
        }
        let n_right = |index: &Index| {
            pairs.iter().filter(|row| finds(index, cell(row, 0), cell(row, 1))).count()
        };
        let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        report.add_noted(
            format!("{classification} keywords hit@3, names only, by vector too"),
            share(n_right(&with_vectors), pairs.len()),
            "ratio",
            format!("letters alone {:.3}", share(n_right(&letters), pairs.len())),
        );
        let junk = junk::queries(N_JUNK);
        let n_empty = junk
            .iter()
            .filter(|text| {
                let request = Request { text, locale: None, hint: None, limit: 1 };
                with_vectors.lookup(&request).matches.is_empty()
            })
            .count();
        report.add(
            format!("{classification} junk that finds nothing, by vector too"),
            share(n_empty, junk.len()),
            "ratio",
        );
    }
    Ok(())
}

fn finds(index: &Index, keyword: &str, code: &str) -> bool {
    let request = Request { text: keyword, locale: Some("ro"), hint: None, limit: 3 };
    let answer = index.lookup(&request);
    answer.matches.iter().any(|found| index.entry(found.entry).value == code)
}

fn entries(codes: &[Vec<String>], aliases: &mut BTreeMap<&str, Vec<String>>) -> Vec<Entry> {
    codes
        .iter()
        .map(|row| Entry {
            value: cell(row, 0).to_owned(),
            code: Some(cell(row, 0).to_owned()),
            names: [("ro", cell(row, 1)), ("en", cell(row, 2))]
                .into_iter()
                .filter(|(_, name)| !name.is_empty())
                .map(|(locale, name)| Name {
                    locale: Some(locale.to_owned()),
                    text: name.to_owned(),
                })
                .collect(),
            aliases: aliases.remove(cell(row, 0)).unwrap_or_default(),
            ..Entry::default()
        })
        .collect()
}

fn measure_run(
    classification: &str,
    label: &str,
    codes: &[Vec<String>],
    aliases: &[&(String, String)],
    asked: &[&(String, String)],
    report: &mut Report,
) {
    let mut by_code: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (keyword, code) in aliases.iter().copied() {
        by_code.entry(code).or_default().push(keyword.clone());
    }
    let mut accepted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (keyword, code) in asked.iter().copied() {
        accepted.entry(keyword).or_default().push(code);
    }
    let entries = entries(codes, &mut by_code);
    let index = Index::build(entries);
    let (mut n_strict, mut n_any) = (0, 0);
    for (keyword, code) in asked.iter().copied() {
        let request = Request { text: keyword, locale: Some("ro"), hint: None, limit: 3 };
        let answer = index.lookup(&request);
        let found: Vec<&str> =
            answer.matches.iter().map(|found| index.entry(found.entry).value.as_str()).collect();
        n_strict += usize::from(found.contains(&code.as_str()));
        n_any += usize::from(found.iter().any(|code| accepted[keyword.as_str()].contains(code)));
    }
    let share = |n: usize| n as f64 / asked.len().max(1) as f64;
    let name = format!("{classification} keywords hit@3, {label}");
    report.add(name.clone(), share(n_strict), "ratio");
    report.add(format!("{name}, any code of the keyword"), share(n_any), "ratio");
}
