//! Every single slip of the hand in a name must still find something.

use std::path::Path;

use model::Report;

use crate::registers::data::entities;
use crate::registers::forms::MISSES;
use crate::registers::register::Judged;
use crate::registers::variants::Random;
use lookup::{Index, Request, Result};

/// Every so many names are asked with all their slips.
const EVERY: usize = 12;

/// Letters that are typed by mistake; one of them for each place.
const WRONG: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// Asks names with each letter lost, doubled, wrong, added and swapped with the next.
pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    let index = Index::build(entities(folder)?);
    let judged = Judged::read(folder)?;
    let (mut n_asked, mut n_empty, mut n_third) = (0_usize, 0_usize, 0_usize);
    for (seed, query) in judged.queries.iter().enumerate().step_by(EVERY) {
        for text in slips(&query.text, seed as u64) {
            let answer = index.lookup(&Request { text: &text, locale: None, hint: None, limit: 3 });
            n_asked += 1;
            n_empty += usize::from(answer.matches.is_empty());
            if answer.matches.is_empty() && std::env::var_os(MISSES).is_some() {
                eprintln!("EMPTY\t{}\t{text}", query.text);
            }
            let is_right = |value: &String| query.accepted.contains(value);
            n_third += usize::from(
                answer.matches.iter().any(|found| is_right(&index.entry(found.entry).value)),
            );
        }
    }
    let share = |n: usize| n as f64 / n_asked.max(1) as f64;
    report.add_noted(
        "single slips that find nothing",
        share(n_empty),
        "ratio",
        format!("{n_empty} of {n_asked}: every letter lost, doubled, wrong, added, swapped"),
    );
    report.add("single slips, hit@3", share(n_third), "ratio");
    Ok(())
}

/// Gives a text with one slip at each letter of each word of four letters and more.
fn slips(text: &str, seed: u64) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut random = Random::new(seed);
    let mut slips = Vec::new();
    let mut start = 0;
    while start < letters.len() {
        let length = letters[start..].iter().take_while(|letter| letter.is_alphabetic()).count();
        if length < 4 {
            start += length.max(1);
            continue;
        }
        for at in start..start + length {
            let wrong = char::from(WRONG[random.below(WRONG.len())]);
            let mut changes: Vec<Vec<char>> = vec![letters.clone(); 4];
            changes[0].remove(at);
            changes[1].insert(at, letters[at]);
            changes[2][at] = wrong;
            changes[3].insert(at, wrong);
            if at + 1 < start + length {
                let mut swapped = letters.clone();
                swapped.swap(at, at + 1);
                changes.push(swapped);
            }
            slips.extend(changes.into_iter().map(String::from_iter));
        }
        start += length;
    }
    slips
}
