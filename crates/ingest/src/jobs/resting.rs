//! The rest of a job between two attempts: what failed once fails again at once, and attempts that
//! follow each other without a pause are over before what was in the way has passed.

use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::job::Job;
use super::queue::{JobQueue, State, turn_of};
use crate::{Result, limits};

impl JobQueue {
    /// Lets a job wait that failed by something that may pass: its turn comes after a rest.
    pub(super) fn rest(&self, job: &mut Job) -> Result<()> {
        self.keep_waiting(job)?;
        let due = Instant::now() + rest_after(job.n_attempts);
        let mut state = self.state.lock();
        state.running.remove(&job.id);
        state.resting.insert(turn_of(job), due);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until something changes, or a job has rested.
    pub(super) fn wait_for_turn(&self, state: &mut MutexGuard<'_, State>) {
        match state.resting.values().min().copied() {
            Some(due) => drop(self.changed.wait_until(state, due)),
            None => self.changed.wait(state),
        }
    }
}

impl State {
    /// Lets jobs wait for their turn that have rested.
    pub(super) fn wake_rested(&mut self) {
        let now = Instant::now();
        let rested: Vec<_> = self.resting.extract_if(.., |_, due| *due <= now).collect();
        self.waiting.extend(rested.into_iter().map(|(turn, _)| {
            let id = turn.2.clone();
            (turn, id)
        }));
    }

    /// Gives how many jobs wait, those that rest among them.
    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len() + self.resting.len()
    }
}

/// Gives how long a job rests after so many attempts: longer each time.
fn rest_after(n_attempts: u32) -> Duration {
    let factor = limits::REST_GROWTH.saturating_pow(n_attempts.saturating_sub(1));
    limits::FIRST_REST.saturating_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow() {
        assert_eq!(rest_after(1), limits::FIRST_REST);
        assert_eq!(rest_after(2), limits::FIRST_REST * limits::REST_GROWTH);
        assert!(rest_after(u32::MAX) > rest_after(2));
    }
}
