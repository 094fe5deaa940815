//! Particles and endings that Korean writes onto a noun: a question's nouns are looked for without
//! them.
//!
//! A particle goes where it fits the syllable before it and at least two syllables are left, so
//! that nouns that end as a particle does stay whole; those that would not are listed.

use super::words::{KOREAN_ENDINGS, KOREAN_NOUNS, KOREAN_PARTICLES, each};

/// Fewer syllables are more often a word of their own.
const LEAST_SYLLABLES: usize = 2;

/// Gives the noun of a Korean word; any other word as it is.
pub(super) fn without_particle(word: &str) -> &str {
    if !word.chars().all(is_syllable) {
        return word;
    }
    let word = each(KOREAN_ENDINGS).find_map(|ending| rest_of(word, ending)).unwrap_or(word);
    if each(KOREAN_NOUNS).any(|noun| word.ends_with(noun)) {
        return word;
    }
    let fitting = |particle: &'static str| {
        let rest = rest_of(word, particle)?;
        fits(rest.chars().next_back()?, particle).then_some(rest)
    };
    each(KOREAN_PARTICLES).find_map(fitting).unwrap_or(word)
}

fn rest_of<'w>(word: &'w str, ending: &str) -> Option<&'w str> {
    let rest = word.strip_suffix(ending)?;
    (rest.chars().count() >= LEAST_SYLLABLES).then_some(rest)
}

/// Tells whether a particle can follow a syllable: some follow a vowel, others a consonant.
fn fits(last: char, particle: &str) -> bool {
    let ends_in_consonant = (u32::from(last) - u32::from('가')) % 28 != 0;
    match particle {
        "는" | "가" | "를" => !ends_in_consonant,
        "은" | "이" | "을" | "으로" | "이란" => ends_in_consonant,
        _ => true,
    }
}

fn is_syllable(char: char) -> bool {
    ('가'..='힣').contains(&char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_goes_and_a_noun_stays() {
        for (word, noun) in [
            ("등대는", "등대"),
            ("등대가", "등대"),
            ("계약이", "계약"),
            ("등대에서", "등대"),
            ("계약서를", "계약서"),
            ("관리합니까", "관리"),
            ("연차휴가가", "연차휴가"),
            ("연차휴가", "연차휴가"),
            ("정기회의", "정기회의"),
            ("마을", "마을"),
            ("휴가", "휴가"),
            ("어린이", "어린이"),
            ("고속도로", "고속도로"),
            ("contract는", "contract는"),
        ] {
            assert_eq!(without_particle(word), noun, "{word}");
        }
    }
}
