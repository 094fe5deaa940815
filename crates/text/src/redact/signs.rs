//! What a text has signs of, seen in one walk over it.
//!
//! Most texts have nothing private, and most of what finders do is to see that. The words and signs
//! without which a finder finds nothing are therefore looked for together: one step for each byte,
//! where each finder alone took as many.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, StartKind};

use super::{
    commands, cookies, credentials, hashes, key_block, plain, provider_keys, secret_words,
};

/// Which of the constants below a text has: a finder whose sign is missing need not look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signs(u16);

/// Something was escaped, or is written in words: see [`plain`].
const ESCAPES: u16 = 1;
/// A block of a key, or a secret in an address.
const BLOCKS: u16 = 1 << 1;
/// A word that announces a secret, with ASCII letters alone.
const ANNOUNCED: u16 = 1 << 2;
/// A program that is given a password, as a word.
const PROGRAMS: u16 = 1 << 3;
const COOKIES: u16 = 1 << 4;
const HASHES: u16 = 1 << 5;
/// A sign between a name and a value.
const EQUALS: u16 = 1 << 6;
const AT: u16 = 1 << 7;
/// The name of a code that is secret, as a word.
const CODES: u16 = 1 << 8;
/// What is looked for in any case; the other signs are written in one way.
const IN_ANY_CASE: u16 = ANNOUNCED | PROGRAMS | COOKIES | CODES;

static FINDER: LazyLock<Finder> = LazyLock::new(Finder::new);

/// All signs, and what each is one of.
struct Finder {
    automaton: DFA,
    signs: Vec<(Vec<u8>, u16)>,
}

impl Finder {
    fn new() -> Self {
        let mut signs: Vec<(Vec<u8>, u16)> = vec![];
        let mut add = |sign: &str, kind: u16| signs.push((sign.as_bytes().to_vec(), kind));
        plain::signs().for_each(|sign| add(sign, ESCAPES));
        key_block::SIGNS.iter().chain(provider_keys::SIGNS).for_each(|sign| add(sign, BLOCKS));
        secret_words::CODES.iter().for_each(|sign| add(sign, CODES));
        credentials::hints().iter().for_each(|sign| add(sign, ANNOUNCED));
        commands::programs().for_each(|sign| add(sign, PROGRAMS));
        add(cookies::HEADER, COOKIES);
        hashes::signs().for_each(|sign| add(sign, HASHES));
        add("=", EQUALS);
        ["@", "\u{ff20}"].iter().for_each(|sign| add(sign, AT));
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(signs.iter().map(|(sign, _)| sign))
            .expect("a few hundred constant words build an automaton");
        Finder { automaton, signs }
    }
}

impl Signs {
    /// Every finder is asked.
    #[cfg(test)]
    pub(super) const ALL: Signs = Signs(u16::MAX);

    /// Looks at a text.
    pub(super) fn of(text: &str) -> Self {
        let Finder { automaton, signs } = &*FINDER;
        let mut seen = 0_u16;
        let Ok(mut state) = automaton.start_state(Anchored::No) else { return Signs(u16::MAX) };
        for (at, byte) in text.bytes().enumerate() {
            state = automaton.next_state(Anchored::No, state, byte);
            if !automaton.is_special(state) || !automaton.is_match(state) {
                continue;
            }
            for match_idx in 0..automaton.match_len(state) {
                let pattern = automaton.match_pattern(state, match_idx);
                let Some((sign, kind)) = signs.get(pattern.as_usize()) else { continue };
                if seen & kind != 0 {
                    continue;
                }
                let place = at + 1 - sign.len()..at + 1;
                let is_as_written = || text.as_bytes().get(place.clone()) == Some(sign);
                let is_seen = match *kind {
                    PROGRAMS => commands::is_word(text, place),
                    CODES => is_part(text, &place),
                    kind => kind & IN_ANY_CASE != 0 || is_as_written(),
                };
                if is_seen {
                    seen |= kind;
                }
            }
        }
        Signs(seen)
    }

    pub(super) fn has_escapes(self) -> bool {
        self.0 & ESCAPES != 0
    }

    pub(super) fn has_blocks(self) -> bool {
        self.0 & BLOCKS != 0
    }

    pub(super) fn is_announced(self) -> bool {
        self.0 & (ANNOUNCED | CODES) != 0
    }

    pub(super) fn has_programs(self) -> bool {
        self.0 & PROGRAMS != 0
    }

    pub(super) fn has_cookies(self) -> bool {
        self.0 & COOKIES != 0
    }

    pub(super) fn has_hashes(self) -> bool {
        self.0 & HASHES != 0
    }

    pub(super) fn has_equals(self) -> bool {
        self.0 & EQUALS != 0
    }

    pub(super) fn has_at(self) -> bool {
        self.0 & AT != 0
    }
}

/// Tells whether a place of a text is a word or a part of a name: `pin`, `CARD_PIN`, `cardPin`.
fn is_part(text: &str, place: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let before = place.start.checked_sub(1).and_then(|at| bytes.get(at));
    let first = bytes.get(place.start);
    let starts = before.is_none_or(|before| {
        let is_inner = before.is_ascii_lowercase() && first.is_some_and(u8::is_ascii_uppercase);
        !before.is_ascii_alphabetic() || is_inner
    });
    starts && !bytes.get(place.end).is_some_and(u8::is_ascii_alphabetic)
}

/// Gives the place of the first ASCII digit at or behind a place, eight bytes at a time.
pub(super) fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const HIGH: u64 = !LOW;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    // What has to be added to 10 for the highest bit of a byte.
    const BEYOND_NINE: u64 = 0x7676_7676_7676_7676;
    let rest = bytes.get(from..)?;
    let (words, tail) = rest.as_chunks::<8>();
    for (word_idx, word) in words.iter().enumerate() {
        let value = u64::from_le_bytes(*word) ^ ZEROS;
        let others = (((value & LOW) + BEYOND_NINE) | value) & HIGH;
        let digits = others ^ HIGH;
        if digits != 0 {
            return Some(from + word_idx * 8 + digits.trailing_zeros() as usize / 8);
        }
    }
    let in_tail = tail.iter().position(u8::is_ascii_digit)?;
    Some(bytes.len() - tail.len() + in_tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What each finder asks for, looked for alone.
    fn plainly(text: &str) -> Signs {
        let lower = text.to_ascii_lowercase();
        let mut seen = 0;
        for (sign, kind) in &FINDER.signs {
            let sign = std::str::from_utf8(sign).unwrap();
            let is_seen = match *kind {
                PROGRAMS => lower
                    .match_indices(&sign.to_ascii_lowercase())
                    .any(|(at, sign)| commands::is_word(&lower, at..at + sign.len())),
                CODES => lower
                    .match_indices(sign)
                    .any(|(at, sign)| is_part(text, &(at..at + sign.len()))),
                kind if kind & IN_ANY_CASE != 0 => lower.contains(sign),
                _ => text.contains(sign),
            };
            if is_seen {
                seen |= kind;
            }
        }
        Signs(seen)
    }

    /// Signs in any case, whole and cut, with anything around them.
    fn texts() -> impl Strategy<Value = String> {
        let n_signs = FINDER.signs.len();
        let sign = (0..n_signs, any::<bool>(), 0_usize..3).prop_map(|(idx, is_upper, n_cut)| {
            let sign = String::from_utf8(FINDER.signs[idx].0.clone()).unwrap();
            let sign: String = sign.chars().skip(n_cut).collect();
            if is_upper { sign.to_uppercase() } else { sign }
        });
        let part = prop_oneof!["\\PC{0,6}", "[a-z =:/-]{0,12}", sign];
        proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn one_walk_sees_what_each_finder_asks_for(text in texts()) {
            prop_assert_eq!(Signs::of(&text), plainly(&text), "{}", text);
        }

        #[test]
        fn digits_are_found_where_they_are(text in "[a-c/:;0-9é²]{0,40}", from in 0_usize..45) {
            let bytes = text.as_bytes();
            let plain = (from..bytes.len()).find(|at| bytes[*at].is_ascii_digit());
            prop_assert_eq!(next_digit(bytes, from), plain);
        }
    }
}
