//! What a run of the index finds under each tool of a table.

use parking_lot::Mutex;

use crate::limits;
use crate::objects::Tool;
use crate::scopes::Scopes;

/// Characters of a pointer that a problem names.
const SHOWN_CHARS: usize = 200;

/// What a run found under one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Covered {
    pub(crate) n_nodes: u64,
    pub(crate) n_chunks: u64,
    /// Whether its path exists in the document.
    pub(crate) is_there: bool,
    pub(crate) problems: Vec<String>,
    pub(crate) n_problems: usize,
}

/// Counts strings and chunks for every tool, from all threads of a run.
pub(crate) struct Coverage {
    pub(crate) scopes: Scopes,
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
    pub(crate) fn new(tools: &[Tool]) -> Self {
        let covered = vec![Covered::default(); tools.len()];
        Coverage {
            scopes: Scopes::new(tools.iter().map(|tool| tool.json_path.as_str())),
            counts: Mutex::new(Counts { covered, ..Counts::default() }),
        }
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

    /// Notes a string with its chunks.
    pub(crate) fn covers(&self, pointer: &str, n_chunks: u64) {
        let mut counts = self.counts.lock();
        counts.n_nodes += 1;
        for tool_idx in self.scopes.covering(pointer) {
            counts.covered[tool_idx].n_nodes += 1;
            counts.covered[tool_idx].n_chunks += n_chunks;
        }
    }

    /// Notes a string that is left out, and why.
    pub(crate) fn leaves_out(&self, pointer: &str, problem: &str) {
        self.covers(pointer, 0);
        let shown: String = pointer.chars().take(SHOWN_CHARS).collect();
        let mut counts = self.counts.lock();
        counts.n_left_out += 1;
        for tool_idx in self.scopes.covering(pointer) {
            let covered = &mut counts.covered[tool_idx];
            covered.n_problems += 1;
            if covered.problems.len() < limits::MAX_NAMED_PROBLEMS {
                covered.problems.push(format!("`{shown}`: {problem}"));
            }
        }
    }

    /// Gives what was counted for each tool, and how many strings were covered and left out.
    pub(crate) fn finish(&self) -> (Vec<Covered>, u64, u64) {
        let counts = std::mem::take(&mut *self.counts.lock());
        (counts.covered, counts.n_nodes, counts.n_left_out)
    }
}
