//! What `/readyz` says: whether reads and writes work, and what does not.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

/// Tells how the server is at the moment. It may block for a short while.
pub type Readiness = Arc<dyn Fn() -> Health + Send + Sync>;

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Whether questions can be answered.
    pub reads: bool,
    /// Whether documents, objects and jobs can be taken.
    pub writes: bool,
    /// Changes that are stored and that searches do not see yet.
    pub lag: u64,
    /// For how long what other servers store may have been missing here; nothing where no others
    /// are followed.
    pub follower_lag: Option<Duration>,
    /// What does not work as it should.
    pub degraded: Vec<Degraded>,
}

/// Something that does not work as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Degraded {
    /// Which part: `catalogue`, `disk`, `engine`, `index`, `jobs`, `source`.
    pub what: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// What the operator can do.
    pub hint: String,
}

impl Health {
    /// Everything works.
    pub fn good() -> Self {
        Health { reads: true, writes: true, lag: 0, follower_lag: None, degraded: Vec::new() }
    }

    /// Adds something that does not work, while reads and writes go on.
    #[must_use]
    pub fn with(mut self, what: &'static str, problem: String, hint: &str) -> Self {
        self.degraded.push(Degraded { what, problem, hint: hint.to_owned() });
        self
    }

    /// Nothing can be written.
    #[must_use]
    pub fn without_writes(mut self) -> Self {
        self.writes = false;
        self
    }

    /// Nothing can be read, and nothing written.
    #[must_use]
    pub fn without_reads(mut self) -> Self {
        self.reads = false;
        self.writes = false;
        self
    }

    /// Leaves which parts do not work, and takes away why: for strangers.
    #[must_use]
    pub fn without_details(mut self) -> Self {
        for degraded in &mut self.degraded {
            "does not work as it should".clone_into(&mut degraded.problem);
            "ask with a key or token of role `admin` for more".clone_into(&mut degraded.hint);
        }
        self.degraded.dedup();
        self
    }

    /// Says it in one word.
    pub fn status(&self) -> &'static str {
        match (self.reads, self.degraded.is_empty()) {
            (false, _) => "unavailable",
            (true, false) => "degraded",
            (true, true) => "ready",
        }
    }
}
