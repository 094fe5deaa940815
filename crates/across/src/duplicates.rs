//! Results that say the same, whatever family they come from and however each was cut.
//!
//! A text is the set of the runs of letters in it. Two texts say the same when nearly all runs
//! of the shorter one are in the longer one; texts that are too short for that, such as names,
//! only when they are equal.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Letters of a run.
const RUN_CHARS: usize = 5;

/// Texts with fewer runs are compared as a whole.
const MIN_RUNS: usize = 40;

/// The part of the shorter text's runs that must be in the longer one.
const SHARED_PART: f64 = 0.85;

/// Letters that are looked at.
const MAX_CHARS: usize = 2_000;

/// A text as far as it is compared.
pub(crate) struct Content {
    letters: String,
    runs: HashSet<u64>,
}

impl Content {
    pub(crate) fn of(text: &str) -> Self {
        let letters: Vec<char> = text::fold(text)
            .chars()
            .filter(|char| char.is_alphanumeric())
            .take(MAX_CHARS)
            .collect();
        let runs = letters.windows(RUN_CHARS).map(|run| {
            // The order of this process alone matters: nothing of it is kept.
            let mut hasher = DefaultHasher::new();
            run.hash(&mut hasher);
            hasher.finish()
        });
        Content { runs: runs.collect(), letters: letters.iter().collect() }
    }

    /// Tells whether two texts say the same.
    pub(crate) fn says_the_same(&self, other: &Content) -> bool {
        if self.letters == other.letters {
            return !self.letters.is_empty();
        }
        let (short, long) = match self.runs.len() <= other.runs.len() {
            true => (self, other),
            false => (other, self),
        };
        if short.runs.len() < MIN_RUNS {
            return false;
        }
        let n_shared = short.runs.intersection(&long.runs).count();
        n_shared as f64 >= SHARED_PART * short.runs.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Remote work is allowed on three days a week. The manager must agree \
        before the first day, and the allowance is paid at the end of each month.";

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        let (one, other) = (Content::of(one), Content::of(other));
        assert_eq!(one.says_the_same(&other), expected);
        assert_eq!(other.says_the_same(&one), expected);
    }

    #[test]
    fn copies_cuts_and_small_changes_say_the_same() {
        check(TEXT, TEXT, true);
        check(TEXT, &TEXT.to_uppercase().replace(' ', "  "), true);
        check(TEXT, &TEXT[10..], true);
        check(TEXT, &format!("Preface of another kind, quite long. {TEXT} And an epilogue."), true);
        check(TEXT, &TEXT.replace("three", "four"), true);
    }

    #[test]
    fn other_texts_and_names_do_not() {
        check(TEXT, "Remote work is a matter of trust, which this text does not speak of.", false);
        check("Cluj", "Cluj-Napoca", false);
        check("Cluj", "CLUJ", true);
        check("", "", false);
        check("...", "!!!", false);
    }
}
