//! How long a batch stays open for more: longer where writing it takes longer, since what is
//! written in small batches is spent on commits.

use std::time::Duration;

/// How long a batch stays open, by what the one before it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWait {
    /// At least.
    pub shortest: Duration,
    /// At most.
    pub longest: Duration,
    /// How often the work of the last batch fits into the wait for the next.
    pub n_batches: u32,
}

impl BatchWait {
    /// Documents of a run that are written by one commit. What arrives is searchable a second
    /// later at the latest.
    pub const FOR_COMMITS: BatchWait = BatchWait {
        shortest: Duration::from_millis(20),
        longest: Duration::from_secs(1),
        n_batches: 4,
    };

    /// Rounds of a job that others join while it runs. Somebody may wait for the end of the job,
    /// so it stays open for less.
    pub const FOR_ROUNDS: BatchWait = BatchWait {
        shortest: Duration::from_millis(50),
        longest: Duration::from_millis(500),
        n_batches: 2,
    };

    /// Gives how long the next batch stays open after one that took so long.
    pub fn after(&self, last: Duration) -> Duration {
        last.saturating_mul(self.n_batches).clamp(self.shortest, self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_commits_make_larger_batches_within_bounds() {
        let wait = BatchWait::FOR_COMMITS;
        assert_eq!(wait.after(Duration::ZERO), wait.shortest);
        assert_eq!(wait.after(Duration::from_millis(100)), Duration::from_millis(400));
        assert_eq!(wait.after(Duration::from_secs(9)), wait.longest);
    }
}
