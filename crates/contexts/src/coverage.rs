//! What a run of the index finds under each tool of a table.

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

/// Counts strings and chunks for every tool, from all threads of a run.
pub(crate) struct Coverage {
    pub(crate) scopes: Scopes,
    /// From how many characters on a string is indexed by itself, for each tool.
    thresholds: Vec<usize>,
    /// Whether short strings are indexed together, for each tool.
    short_strings: Vec<bool>,
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
                .map(|tool| tool.short_strings == ShortStringsUse::Together)
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

    /// Tells whether a tool that covers a string indexes short ones together.
    pub(crate) fn takes_short(&self, tools: &[usize]) -> bool {
        tools.iter().any(|tool_idx| self.short_strings[*tool_idx])
    }

    /// Lets a tool index its short strings together.
    pub(crate) fn take_short(&mut self, tool_idx: usize) {
        self.short_strings[tool_idx] = true;
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

    /// Tells whether a tool finds a string of this length, or short ones.
    fn finds(&self, tool_idx: usize, alone: Option<usize>) -> bool {
        self.short_strings[tool_idx]
            || alone.is_some_and(|n_chars| n_chars >= self.thresholds[tool_idx])
    }

    /// Notes a string with its chunks.
    pub(crate) fn covers(&self, pointer: &str, alone: Option<usize>, n_chunks: u64) {
        let mut counts = self.counts.lock();
        counts.n_nodes += 1;
        for tool_idx in self.scopes.covering(pointer) {
            let covered = &mut counts.covered[tool_idx];
            if self.finds(tool_idx, alone) {
                covered.n_nodes += 1;
                covered.n_chunks += n_chunks;
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
            if !self.finds(tool_idx, alone) {
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
            covered.short_strings = *short_strings;
        }
        (counts.covered, counts.n_nodes, counts.n_left_out)
    }
}
