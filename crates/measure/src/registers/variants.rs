//! The same query as people write it: other letters, no diacritics, a slip of the hand.

use model::SplitMix64;

/// A way to write a query.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Variant {
    AsGiven,
    Cedilla,
    CommaBelow,
    NoDiacritics,
    LowerCase,
    OneTypo,
}

impl Variant {
    pub(crate) const ALL: [Variant; 6] = [
        Variant::AsGiven,
        Variant::Cedilla,
        Variant::CommaBelow,
        Variant::NoDiacritics,
        Variant::LowerCase,
        Variant::OneTypo,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::AsGiven => "as given",
            Variant::Cedilla => "cedilla",
            Variant::CommaBelow => "comma below",
            Variant::NoDiacritics => "no diacritics",
            Variant::LowerCase => "lower case",
            Variant::OneTypo => "one typo",
        }
    }

    pub(crate) fn write(self, query: &str, seed: u64) -> String {
        match self {
            Variant::AsGiven => query.to_owned(),
            Variant::Cedilla => {
                query.replace('Ș', "Ş").replace('Ț', "Ţ").replace('ș', "ş").replace('ț', "ţ")
            }
            Variant::CommaBelow => {
                query.replace('Ş', "Ș").replace('Ţ', "Ț").replace('ş', "ș").replace('ţ', "ț")
            }
            Variant::NoDiacritics => text::fold(query).to_uppercase(),
            Variant::LowerCase => query.to_lowercase(),
            Variant::OneTypo => with_typo(query, seed),
        }
    }
}

/// Loses, doubles, changes or swaps one inner letter of the longest word, by the seed.
pub(crate) fn with_typo(query: &str, seed: u64) -> String {
    let Some(word) = query.split([' ', '-', '.']).max_by_key(|word| word.chars().count()) else {
        return query.to_owned();
    };
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < 4 {
        return query.to_owned();
    }
    let mut random = Random::new(seed);
    let at = 1 + random.below(letters.len() - 2);
    match random.below(4) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = char::from(b'A' + random.below(26) as u8),
        _ => letters.swap(at, at + 1),
    }
    query.replacen(word, &letters.into_iter().collect::<String>(), 1)
}

/// Repeatable numbers.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(SplitMix64(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit as u64) as usize
    }
}
