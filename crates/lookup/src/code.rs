//! Hierarchical codes: `20.30`, `20.`, `2030`, and `65.00` whose trailing `.00` means nothing.
//!
//! A code is compared in three strictnesses: as it is written, by its components without
//! trailing zeros, and by its digits alone. Codes under the one asked for match too, less.

use std::collections::BTreeMap;

use crate::entry::EntryIdx;

/// The score of the code as it is written.
const WRITTEN: f32 = 1.0;
/// The score of a code with the same components.
const SAME_COMPONENTS: f32 = 0.97;
/// The score of a code with the same digits.
const SAME_DIGITS: f32 = 0.95;
/// The score of a code one level under the one asked for; each further level costs more.
const UNDER: f32 = 0.80;
/// What each further level costs.
const LEVEL_COST: f32 = 0.04;
/// The score of a code that only continues the digits asked for: `20.3` and `20.30`.
const CONTINUES: f32 = 0.70;
/// The score of the nearest code above, when the one asked for does not exist.
const ABOVE: f32 = 0.60;

/// A code longer than this is none.
const MAX_CODE_CHARS: usize = 64;

/// The codes of a dimension.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// Canonical code to entries, in the order of codes.
    by_canonical: BTreeMap<String, Vec<EntryIdx>>,
    by_digits: BTreeMap<String, Vec<EntryIdx>>,
    written: BTreeMap<EntryIdx, String>,
}

impl Codes {
    pub(crate) fn add(&mut self, code: &str, entry: EntryIdx) {
        let canonical = canonical(code);
        self.by_digits.entry(digits(&canonical)).or_default().push(entry);
        self.by_canonical.entry(canonical).or_default().push(entry);
        self.written.insert(entry, code.trim().to_owned());
    }

    /// Gives the entries that a query in the form of a code means, with their scores.
    pub(crate) fn find(&self, query: &str) -> Vec<(EntryIdx, f32)> {
        let Some(query) = code_in(query) else { return Vec::new() };
        if self.written.is_empty() {
            return Vec::new();
        }
        let wanted = canonical(query);
        let mut found = BTreeMap::new();
        let mut add = |entry: EntryIdx, score: f32| {
            let best = found.entry(entry).or_insert(score);
            *best = best.max(score);
        };
        for entry in self.by_canonical.get(&wanted).into_iter().flatten() {
            let is_written = self.written.get(entry).is_some_and(|written| written == query);
            add(*entry, if is_written { WRITTEN } else { SAME_COMPONENTS });
        }
        let wanted_digits = without_zero_pairs(&digits(query));
        if !query.contains('.') {
            for entry in self.by_digits.get(&wanted_digits).into_iter().flatten() {
                add(*entry, SAME_DIGITS);
            }
        }
        let depth = wanted.split('.').count();
        for (code, entries) in self.by_canonical.range(wanted.clone()..) {
            let Some(rest) = code.strip_prefix(&wanted) else { break };
            let levels = code.split('.').count().saturating_sub(depth);
            let score = match rest.chars().next() {
                None => continue,
                Some('.') => UNDER - LEVEL_COST * levels.saturating_sub(1) as f32,
                Some(_) if query.ends_with('.') => continue,
                Some(_) if wanted.len() < 2 && levels > 0 => continue,
                Some(_) => CONTINUES - LEVEL_COST * levels as f32,
            };
            entries.iter().for_each(|entry| add(*entry, score));
        }
        if found.is_empty() {
            self.nearest_above(&wanted).iter().for_each(|entry| {
                found.insert(*entry, ABOVE);
            });
        }
        found.into_iter().collect()
    }

    fn nearest_above(&self, wanted: &str) -> &[EntryIdx] {
        let mut code = wanted;
        while let Some((parent, _)) = code.rsplit_once('.') {
            if let Some(entries) = self.by_canonical.get(parent) {
                return entries;
            }
            code = parent;
        }
        &[]
    }
}

/// Gives the components of a code without trailing zeros, joined by dots: `65.00.` is `65`.
pub fn canonical(code: &str) -> String {
    let upper = code.trim().to_uppercase();
    let mut components: Vec<&str> =
        upper.split(['.', ' ', '-', '/']).filter(|component| !component.is_empty()).collect();
    while components.len() > 1
        && components.last().is_some_and(|last| last.chars().all(|char| char == '0'))
    {
        components.pop();
    }
    components.join(".")
}

/// Gives the code that a query consists of, if it does: words such as `cod` or `chapter` may
/// are before it.
fn code_in(query: &str) -> Option<&str> {
    let mut parts = query.split_whitespace();
    let last = parts.next_back()?;
    let announced =
        parts.all(|word| ANNOUNCING.contains(&text::fold(word).trim_matches(['.', ':'])));
    (announced && looks_like_code(last)).then_some(last)
}

const ANNOUNCING: [&str; 18] = [
    "art",
    "articol",
    "articolul",
    "cap",
    "capitol",
    "capitolul",
    "chapter",
    "clasificatia",
    "classification",
    "cod",
    "code",
    "codul",
    "paragraf",
    "subcapitol",
    "subchapter",
    "title",
    "titlu",
    "titlul",
];

fn looks_like_code(text: &str) -> bool {
    text.len() <= MAX_CODE_CHARS
        && text.chars().any(|char| char.is_ascii_digit())
        && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '/'))
        && text.chars().filter(char::is_ascii_alphabetic).count() <= 3
}

fn digits(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_uppercase()).collect()
}

fn without_zero_pairs(digits: &str) -> String {
    let mut kept = digits;
    while kept.len() > 2 && kept.len().is_multiple_of(2) && kept.ends_with("00") {
        kept = &kept[..kept.len() - 2];
    }
    kept.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [&str; 9] =
        ["20.", "20.01", "20.30", "20.30.01", "65.", "65.02", "65.02.01", "70.", "70.11.01"];

    #[track_caller]
    fn check(query: &str, expected: &[(&str, f32)]) {
        let mut codes = Codes::default();
        for (at, code) in CODES.iter().enumerate() {
            codes.add(code, EntryIdx(at as u32));
        }
        let mut found: Vec<(&str, f32)> = codes
            .find(query)
            .into_iter()
            .map(|(entry, score)| (CODES[entry.0 as usize], (score * 100.0).round() / 100.0))
            .collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1));
        assert_eq!(found, expected, "`{query}`");
    }

    #[test]
    fn codes_are_found_in_every_spelling() {
        check("20.30", &[("20.30", 1.0), ("20.30.01", 0.8)]);
        check("2030", &[("20.30", 0.95)]);
        check("cod 20.30.01", &[("20.30.01", 1.0)]);
        check("65.00", &[("65.", 0.97), ("65.02", 0.8), ("65.02.01", 0.76)]);
        check("6500", &[("65.", 0.95)]);
        check("70.", &[("70.", 1.0), ("70.11.01", 0.76)]);
        check("70", &[("70.", 0.97), ("70.11.01", 0.76)]);
        check("20.3", &[("20.30", 0.7), ("20.30.01", 0.66)]);
        check("20.99", &[("20.", 0.6)]);
        check("99", &[]);
        check("educație", &[]);
        check("", &[]);
    }
}
