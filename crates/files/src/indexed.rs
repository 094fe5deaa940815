//! What indexing a root did, for whoever asked for it.

use std::path::Path;

use model::Warning;
use serde::{Deserialize, Serialize};

/// The code of the warning that a root could not be looked into.
const UNREACHABLE: &str = "root_unreachable";

/// What indexing a root did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexed {
    /// Files that were new or changed.
    pub indexed: usize,
    /// Those of them that have no text: searches find them by their names alone.
    #[serde(default)]
    pub without_text: usize,
    /// Files that had not changed, or could not be read.
    pub skipped: usize,
    /// Files that are gone.
    pub removed: usize,
    /// How long it took.
    pub duration_ms: u64,
    /// What could not be read, or only in part.
    pub warnings: Vec<Warning>,
    /// How many warnings there were.
    pub n_warnings: usize,
}

impl Indexed {
    /// Says that a root could not be looked into.
    pub(crate) fn unreachable(root: &Path, duration_ms: u64) -> Self {
        let message = format!(
            "`{}` does not exist, may not be read or does not answer: nothing of it was indexed now",
            root.display()
        );
        Indexed {
            duration_ms,
            warnings: vec![Warning::new(UNREACHABLE, message)],
            n_warnings: 1,
            ..Indexed::default()
        }
    }

    /// Gives why the root could not be looked into, where that is so.
    pub fn why_unreachable(&self) -> Option<&str> {
        let found = self.warnings.iter().find(|warning| warning.code == UNREACHABLE);
        found.map(|warning| warning.message.as_str())
    }

    /// Gives what this run and the one that ended just before it did together: a file that the first
    /// one took in had not changed for the second.
    #[must_use]
    pub fn after(self, first: &Indexed) -> Self {
        // A folder that came back in between is not away.
        let is_over =
            |warning: &Warning| warning.code == UNREACHABLE && self.why_unreachable().is_none();
        let n_all = first.n_warnings + self.n_warnings;
        let mut warnings: Vec<Warning> = Vec::new();
        let mut n_dropped = 0;
        for warning in first.warnings.iter().filter(|it| !is_over(it)).chain(&self.warnings) {
            if warnings.contains(warning) {
                n_dropped += 1;
            } else {
                warnings.push(warning.clone());
            }
        }
        n_dropped += first.warnings.iter().filter(|it| is_over(it)).count();
        Indexed {
            indexed: first.indexed + self.indexed,
            without_text: first.without_text + self.without_text,
            skipped: self.skipped.saturating_sub(first.indexed),
            removed: first.removed + self.removed,
            duration_ms: first.duration_ms.saturating_add(self.duration_ms),
            warnings,
            n_warnings: n_all.saturating_sub(n_dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_are_told_as_one() {
        let warning = |code: &str| Warning::new(code, "why");
        let first = Indexed {
            indexed: 8,
            without_text: 1,
            skipped: 2,
            removed: 1,
            duration_ms: 900,
            warnings: vec![warning("a"), warning("b")],
            n_warnings: 2,
        };
        let second = Indexed {
            indexed: 1,
            skipped: 10,
            duration_ms: 10,
            warnings: vec![warning("b")],
            n_warnings: 1,
            ..Indexed::default()
        };
        let both = second.after(&first);
        assert_eq!((both.indexed, both.without_text, both.skipped, both.removed), (9, 1, 2, 1));
        assert_eq!((both.duration_ms, both.n_warnings), (910, 2));
        assert_eq!(both.warnings, [warning("a"), warning("b")]);
        assert_eq!(both.why_unreachable(), None);
        let away = Indexed::unreachable(Path::new("/away"), 3);
        assert!(away.why_unreachable().is_some_and(|why| why.contains("`/away`")));
        assert_eq!(away.clone().after(&Indexed::default()), away);
        assert_eq!(Indexed::default().after(&away).n_warnings, 0);
    }
}
