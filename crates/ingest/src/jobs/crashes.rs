//! The times when the process ended while a job ran, and what the job worked on then: so that one
//! document that ends the process is found and left out, and nothing else is.

use serde::{Deserialize, Serialize};

use crate::limits;

/// What is known of the times when the process ended while a job ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crashes {
    /// How often it did.
    pub n_crashes: u32,
    /// The documents that are worked on now, where they are written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub working_on: Vec<String>,
    /// The documents that were worked on when the process ended last: one of them may be the
    /// reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<String>,
    /// How often in a row the process ended while the suspects, and no others, were worked on.
    #[serde(default)]
    pub n_of_suspects: u32,
    /// Documents over which alone the process ended [`limits::CRASHES_PER_DOCUMENT`] times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Crashes {
    /// Tells whether there were none.
    pub(super) fn is_none(&self) -> bool {
        self.n_crashes == 0
    }

    /// Tells whether documents have to be taken in groups that are written down.
    pub(super) fn need_groups(&self) -> bool {
        self.n_crashes >= limits::CRASHES_BEFORE_GROUPS
    }

    /// Counts one more.
    pub(super) fn note(&mut self) {
        self.n_crashes = self.n_crashes.saturating_add(1);
        let documents = std::mem::take(&mut self.working_on);
        // Nobody is suspected where nothing was begun.
        if documents.is_empty() {
            return;
        }
        let n_before = if self.suspects == documents { self.n_of_suspects } else { 0 };
        self.n_of_suspects = n_before.saturating_add(1);
        self.suspects = documents;
        if self.suspects.len() == 1 && self.n_of_suspects >= limits::CRASHES_PER_DOCUMENT {
            self.left_out.append(&mut self.suspects);
            self.n_of_suspects = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_document_is_left_out_after_it_was_alone_too_often() {
        let mut crashes = Crashes::default();
        let mut end_over = |documents: &[&str]| {
            crashes.working_on = documents.iter().map(|id| (*id).to_owned()).collect();
            crashes.note();
            crashes.left_out.clone()
        };
        for _ in 0..10 {
            assert_eq!(end_over(&[]), [""; 0]);
            assert_eq!(end_over(&["a", "b"]), [""; 0]);
        }
        assert_eq!(end_over(&["a"]), [""; 0]);
        assert_eq!(end_over(&["b"]), [""; 0]);
        assert_eq!(end_over(&["a"]), [""; 0]);
        // A start that did not come so far says nothing for or against it.
        assert_eq!(end_over(&[]), [""; 0]);
        assert_eq!(end_over(&["a"]), [""; 0]);
        assert_eq!(end_over(&["a"]), ["a"]);
        assert_eq!(end_over(&["b"]), ["a"]);
        assert_eq!(crashes.suspects, ["b"]);
    }
}
