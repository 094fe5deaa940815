//! How many rows a server is asked for, and which of those that come back are the best.

use std::collections::HashMap;

use model::PassageId;

use crate::Candidate;

/// Rows asked for beyond what is wanted: a server ranks by numbers of its own, and its order among
/// equal scores is not ours.
const MORE_ROWS: usize = 64;
/// How many times more rows are asked for when too few of them fit.
const GROWTH: usize = 4;

/// The rows that one search asks of a server, more each time until enough of them fit.
#[derive(Debug, Clone, Copy)]
pub struct RowsAsked {
    limit: usize,
    n_rows: usize,
    max_rows: usize,
}

/// What follows from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// Nothing: there are enough that fit, or the server has no more.
    Enough,
    /// More rows are to be asked for.
    Ask,
    /// The server gives no more rows at once, although it may have some that fit.
    Cut,
}

impl RowsAsked {
    /// Asks for candidates by words, which are ranked again here.
    pub fn by_words(limit: usize, max_rows: usize) -> Self {
        RowsAsked { limit, n_rows: (limit + limit / 2 + MORE_ROWS).min(max_rows), max_rows }
    }

    /// Asks for candidates by vector, whose order is the server's.
    pub fn by_vector(limit: usize, max_rows: usize) -> Self {
        RowsAsked { limit, n_rows: (limit + MORE_ROWS).min(max_rows), max_rows }
    }

    /// Gives how many rows to ask for now.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Gives how many candidates are wanted.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Says what follows when the server gave so many rows and so many of them fit.
    pub fn after(&mut self, n_given: usize, n_fitting: usize) -> More {
        if n_fitting >= self.limit || n_given < self.n_rows {
            return More::Enough;
        }
        if self.n_rows == self.max_rows {
            return More::Cut;
        }
        self.n_rows = (self.n_rows * GROWTH).min(self.max_rows);
        More::Ask
    }
}

/// A row that came back, with the score that decides.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The number of the passage in its namespace, which decides between equal scores.
    pub number: u32,
    /// As it leaves, where its score is good enough.
    pub candidate: Candidate,
}

/// Gives the best, each passage once: while a document is replaced both versions may be on the
/// server, and the later one counts.
pub fn best(scored: Vec<Scored>, limit: usize) -> Vec<Candidate> {
    let mut latest: HashMap<PassageId, Scored> = HashMap::with_capacity(scored.len());
    for one in scored {
        let passage = one.candidate.passage.clone();
        let is_later = latest.get(&passage).is_none_or(|known| known.number < one.number);
        if is_later {
            latest.insert(passage, one);
        }
    }
    let mut scored: Vec<Scored> = latest.into_values().collect();
    scored.sort_by(|one, other| {
        let by_score = other.candidate.score.total_cmp(&one.candidate.score);
        by_score.then(one.number.cmp(&other.number))
    });
    scored.truncate(limit);
    scored.into_iter().map(|scored| scored.candidate).collect()
}

#[cfg(test)]
mod tests {
    use model::DocumentId;

    use super::*;

    #[test]
    fn more_rows_are_asked_for_until_enough_fit() {
        let mut asked = RowsAsked::by_words(100, 1_000);
        assert_eq!(asked.n_rows(), 214);
        assert_eq!(asked.after(214, 99), More::Ask);
        assert_eq!(asked.n_rows(), 856);
        assert_eq!(asked.after(855, 3), More::Enough, "the server has no more");
        assert_eq!(asked.after(856, 100), More::Enough);
        assert_eq!(asked.after(856, 99), More::Ask);
        assert_eq!((asked.n_rows(), asked.after(1_000, 99)), (1_000, More::Cut));
        assert_eq!(RowsAsked::by_vector(100, 120).n_rows(), 120);
    }

    #[test]
    fn equal_scores_keep_the_order_of_writing_and_the_later_version_counts() {
        let scored = |number: u32, passage: &str, score: f32| Scored {
            number,
            candidate: Candidate {
                document: DocumentId::new("d"),
                passage: PassageId::new(passage),
                score,
            },
        };
        let rows = vec![
            scored(7, "late", 1.0),
            scored(2, "early", 1.0),
            scored(1, "twice", 9.0),
            scored(8, "twice", 0.5),
            scored(3, "first", 2.0),
        ];
        let names = |limit| {
            let best = best(rows.clone(), limit);
            best.iter().map(|one| one.passage.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(9), ["first", "early", "late", "twice"]);
        assert_eq!(names(2), ["first", "early"]);
    }
}
