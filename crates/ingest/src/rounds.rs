//! One run at a time for each subject, where a run serves everybody who came before its end.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Lets one thread at a time work on a subject. Whoever comes meanwhile goes on at once: the
/// thread at work makes another round for them.
#[derive(Debug, Default)]
pub struct Rounds(Mutex<HashMap<String, Asked>>);

/// What came while a subject was worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nobody,
    Again,
}

impl Rounds {
    /// Works until nobody has come during a round, and gives what the rounds gave; nothing when
    /// another thread is at it.
    ///
    /// # Errors
    ///
    /// Those of the first round that fails; no other is made then.
    pub fn run<T, E>(
        &self,
        subject: &str,
        mut round: impl FnMut() -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        {
            let mut at_work = self.0.lock();
            if let Some(asked) = at_work.get_mut(subject) {
                *asked = Asked::Again;
                return Ok(vec![]);
            }
            at_work.insert(subject.to_owned(), Asked::Nobody);
        }
        let _turn = Turn { rounds: self, subject };
        let mut given = vec![];
        loop {
            given.push(round()?);
            let mut at_work = self.0.lock();
            match at_work.get_mut(subject) {
                Some(asked) if *asked == Asked::Again => *asked = Asked::Nobody,
                _ => {
                    at_work.remove(subject);
                    return Ok(given);
                }
            }
        }
    }
}

/// Ends a turn however it ends.
struct Turn<'a> {
    rounds: &'a Rounds,
    subject: &'a str,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.rounds.0.lock().remove(self.subject);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn whoever_comes_meanwhile_is_served_by_another_round() {
        let rounds = Rounds::default();
        let n_rounds = Cell::new(0);
        let given = rounds.run("a", || {
            n_rounds.set(n_rounds.get() + 1);
            if n_rounds.get() == 1 {
                assert_eq!(rounds.run("a", || Ok::<_, ()>(7)), Ok(vec![]));
                assert_eq!(rounds.run("a", || Ok::<_, ()>(7)), Ok(vec![]));
                assert_eq!(rounds.run("b", || Ok::<_, ()>(8)), Ok(vec![8]));
            }
            Ok::<_, ()>(n_rounds.get())
        });
        assert_eq!(given, Ok(vec![1, 2]));
    }

    #[test]
    fn a_failed_turn_is_over() {
        let rounds = Rounds::default();
        assert_eq!(rounds.run("a", || Err::<(), _>("down")), Err("down"));
        assert_eq!(rounds.run("a", || Ok::<_, ()>(1)), Ok(vec![1]));
    }
}
