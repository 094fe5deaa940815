//! What a run of the index finds under each tool of a table.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;

use crate::objects::{ShortStringsUse, Tool};
use crate::scopes::Scopes;
use crate::{ContextsConfig, limits};

/// Characters of a pointer that a problem names.
const SHOWN_CHARS: usize = 200;

/// What a run found under one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Covered {
    pub(crate) n_nodes: u64,
    pub(crate) n_chunks: u64,
    /// Whether its path exists in the document.
    pub(crate) is_there: bool,
    /// Whether its short strings are indexed together.
    pub(crate) short_strings: bool,
    /// Whether the index holds strings under its path that are indexed for other tools alone.
    pub(crate) has_others: bool,
    pub(crate) problems: Vec<String>,
    pub(crate) n_problems: usize,
}

/// What becomes of the short strings that a tool covers.
#[derive(Debug)]
enum ShortStringsOf {
    /// They are left out.
    Nothing,
    /// They are indexed together, but for labels of long strings: those of the same object or list,
    /// and of the objects and lists right inside it.
    Content(LongPlaces),
    /// They are indexed together.
    All,
}

/// The objects and lists that a long string is right inside, by hashes of their pointers.
#[derive(Debug, Default)]
pub(crate) struct LongPlaces {
    hasher: RandomState,
    places: HashSet<u64>,
}

impl LongPlaces {
    /// Notes a long string.
    pub(crate) fn add(&mut self, pointer: &str) {
        if let Some((around, _)) = pointer.rsplit_once('/') {
            self.places.insert(self.hasher.hash_one(around));
        }
    }

    /// Tells whether a short string is a label of a long one.
    fn has_label(&self, pointer: &str) -> bool {
        pointer.rsplit_once('/').is_some_and(|(around, _)| self.has_labels(around))
    }

    /// Tells whether the short strings right inside an object or list are labels of a long one.
    fn has_labels(&self, place: &str) -> bool {
        let outer = place.rsplit_once('/').map(|(outer, _)| outer);
        let mut both = std::iter::once(place).chain(outer);
        both.any(|place| self.places.contains(&self.hasher.hash_one(place)))
    }
}

/// Counts strings and chunks for every tool, from all threads of a run.
pub(crate) struct Coverage {
    pub(crate) scopes: Scopes,
    /// From how many characters on a string is indexed by itself, for each tool.
    thresholds: Vec<usize>,
    short_strings: Vec<ShortStringsOf>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    covered: Vec<Covered>,
    n_nodes: u64,
    n_left_out: u64,
}

impl Coverage {
    /// Begins to count for the tools of a table.
    pub(crate) fn new(tools: &[Tool], settings: &ContextsConfig) -> Self {
        let covered = vec![Covered::default(); tools.len()];
        let usual = settings.chunk_threshold_chars;
        Coverage {
            scopes: Scopes::new(tools.iter().map(|tool| tool.json_path.as_str())),
            thresholds: tools
                .iter()
                .map(|tool| tool.chunk_threshold_chars.unwrap_or(usual))
                .collect(),
            short_strings: tools
                .iter()
                .map(|tool| match tool.short_strings {
                    ShortStringsUse::Together => ShortStringsOf::All,
                    ShortStringsUse::Auto | ShortStringsUse::Ignore => ShortStringsOf::Nothing,
                })
                .collect(),
            counts: Mutex::new(Counts { covered, ..Counts::default() }),
        }
    }

    /// Tells whether a tool that covers a string indexes it by itself. Tools that overlap share
    /// their chunks: the lowest threshold of them decides what is indexed, and that of each what
    /// it finds.
    pub(crate) fn is_long(&self, tools: &[usize], n_chars: usize) -> bool {
        tools.iter().any(|tool_idx| n_chars >= self.thresholds[*tool_idx])
    }

    /// Tells whether a tool that covers a short string indexes it together with others.
    pub(crate) fn takes_short(&self, tools: &[usize], pointer: &str) -> bool {
        tools.iter().any(|tool_idx| match &self.short_strings[*tool_idx] {
            ShortStringsOf::Nothing => false,
            ShortStringsOf::Content(long) => !long.has_label(pointer),
            ShortStringsOf::All => true,
        })
    }

    /// Lets a tool index its short strings together.
    pub(crate) fn take_short(&mut self, tool_idx: usize) {
        self.short_strings[tool_idx] = ShortStringsOf::All;
    }

    /// Lets a tool index its short strings together, but for labels of long ones.
    pub(crate) fn take_content(&mut self, tool_idx: usize, long: LongPlaces) {
        self.short_strings[tool_idx] = ShortStringsOf::Content(long);
    }

    /// Notes that the document has a node.
    pub(crate) fn passes(&self, pointer: &str) {
        let tools = self.scopes.at(pointer);
        if tools.is_empty() {
            return;
        }
        let mut counts = self.counts.lock();
        for tool_idx in tools {
            counts.covered[*tool_idx].is_there = true;
        }
    }

    /// Tells whether a tool finds a string of this length, or the short ones of this place.
    fn finds(&self, tool_idx: usize, pointer: &str, alone: Option<usize>) -> bool {
        let is_long = || alone.is_some_and(|n_chars| n_chars >= self.thresholds[tool_idx]);
        match &self.short_strings[tool_idx] {
            ShortStringsOf::Nothing => is_long(),
            ShortStringsOf::Content(long) if alone.is_none() => !long.has_labels(pointer),
            // One that is short for this tool may be long for another.
            ShortStringsOf::Content(long) => is_long() || !long.has_label(pointer),
            ShortStringsOf::All => true,
        }
    }

    /// Notes a string with its chunks.
    pub(crate) fn covers(&self, pointer: &str, alone: Option<usize>, n_chunks: u64) {
        let mut counts = self.counts.lock();
        counts.n_nodes += 1;
        for tool_idx in self.scopes.covering(pointer) {
            let covered = &mut counts.covered[tool_idx];
            if self.finds(tool_idx, pointer, alone) {
                covered.n_nodes += 1;
                covered.n_chunks += n_chunks;
                covered.short_strings |=
                    alone.is_none_or(|n_chars| n_chars < self.thresholds[tool_idx]);
            } else {
                covered.has_others = true;
            }
        }
    }

    /// Notes a string that is left out, and why.
    pub(crate) fn leaves_out(&self, pointer: &str, alone: Option<usize>, problem: &str) {
        self.covers(pointer, alone, 0);
        let shown: String = pointer.chars().take(SHOWN_CHARS).collect();
        let mut counts = self.counts.lock();
        counts.n_left_out += 1;
        for tool_idx in self.scopes.covering(pointer) {
            if !self.finds(tool_idx, pointer, alone) {
                continue;
            }
            let covered = &mut counts.covered[tool_idx];
            covered.n_problems += 1;
            if covered.problems.len() < limits::MAX_NAMED_PROBLEMS {
                covered.problems.push(format!("`{shown}`: {problem}"));
            }
        }
    }

    /// Gives what was counted for each tool, and how many strings were covered and left out.
    pub(crate) fn finish(&self) -> (Vec<Covered>, u64, u64) {
        let mut counts = std::mem::take(&mut *self.counts.lock());
        for (covered, short_strings) in counts.covered.iter_mut().zip(&self.short_strings) {
            covered.short_strings |= matches!(short_strings, ShortStringsOf::All);
        }
        (counts.covered, counts.n_nodes, counts.n_left_out)
    }
}
