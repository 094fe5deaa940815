//! The best entries of a segment, a window at a time.
//!
//! Lists are sorted by the most that an entry can score in them. Those whose bounds together cannot
//! lift an entry into the result are *passive*: they are asked about single entries. The entries of
//! the others are added up in one array for each window of neighbours, list by list, which takes
//! a few instructions for each; going from entry to entry over all lists took a comparison with
//! every list for each of them.
//!
//! Scores are whole numbers while they are added up, so that a sum does not depend on its order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use model::Deadline;
use tantivy::TERMINATED;

use super::lists::List;
use crate::bits::Bits;

/// Neighbouring entries that are added up together: their sums stay in the nearest cache.
const WINDOW: u32 = 4_096;
/// How many entries are looked at between two looks at the clock, where each is asked about.
const ENTRIES_PER_LOOK: u32 = 4_096;
/// Asking a list for one entry costs about as much as reading this many in order.
const SEEK_COST: usize = 8;

/// Sums and frequencies of one window.
pub(super) struct Window {
    sums: Marked,
    frequencies: Marked,
}

impl Window {
    /// Makes an empty one.
    pub(super) fn new() -> Self {
        Window { sums: Marked::new(), frequencies: Marked::new() }
    }
}

/// Numbers of the entries of a window, and which have one.
pub(super) struct Marked {
    numbers: Box<[u32; WINDOW as usize]>,
    marks: [u64; WINDOW as usize / 64],
}

impl Marked {
    fn new() -> Self {
        Marked { numbers: Box::new([0; WINDOW as usize]), marks: [0; WINDOW as usize / 64] }
    }

    /// Adds to what the entry at a place of the window has.
    #[inline]
    pub(super) fn add(&mut self, place: u32, number: u32) {
        let place = (place % WINDOW) as usize;
        self.numbers[place] += number;
        self.marks[place / 64] |= 1 << (place % 64);
    }

    /// Gives every entry that has something, in order, and forgets it.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, u32)) {
        for (word_idx, word) in self.marks.iter_mut().enumerate() {
            while *word != 0 {
                let place = word_idx * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                each(place as u32, std::mem::take(&mut self.numbers[place]));
            }
        }
    }
}

/// Visits the entries of one segment; gives false when the deadline came first.
pub(super) fn visit(
    lists: &mut [List],
    allowed: Option<&Bits>,
    best: &mut Best,
    window: &mut Window,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    if lists.is_empty() {
        return true;
    }
    lists.sort_by_key(List::bound);
    let n_allowed = allowed.map_or(usize::MAX, Bits::len);
    let n_occurrences: usize = lists.iter().map(List::len).sum();
    match allowed {
        Some(allowed) if n_allowed.saturating_mul(lists.len() * SEEK_COST) < n_occurrences => {
            visit_allowed(lists, allowed, best, number_of, deadline)
        }
        _ => visit_windows(lists, allowed, best, window, number_of, deadline),
    }
}

/// Asks every list about each allowed entry: the quick way when few are allowed.
fn visit_allowed(
    lists: &mut [List],
    allowed: &Bits,
    best: &mut Best,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    for (n_seen, entry) in (1u32..).zip(allowed.iter()) {
        let mut sum = None;
        for list in lists.iter_mut().filter_map(|list| list.score_of(entry)) {
            sum = Some(sum.unwrap_or(0) + list);
        }
        if let Some(sum) = sum {
            best.offer(sum, || number_of(entry));
        }
        if n_seen.is_multiple_of(ENTRIES_PER_LOOK) && deadline.is_over() {
            return false;
        }
    }
    true
}

fn visit_windows(
    lists: &mut [List],
    allowed: Option<&Bits>,
    best: &mut Best,
    window: &mut Window,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    let bounds_up_to: Vec<u32> = lists
        .iter()
        .scan(0, |total, list| {
            *total += list.bound();
            Some(*total)
        })
        .collect();
    let mut n_passive = 0;
    loop {
        while n_passive < lists.len() && bounds_up_to[n_passive] < best.threshold() {
            n_passive += 1;
        }
        let (passive, active) = lists.split_at_mut(n_passive);
        let next = active.iter().map(List::entry).min().unwrap_or(TERMINATED);
        if next == TERMINATED {
            return true;
        }
        if deadline.is_over() {
            return false;
        }
        let first = next - next % WINDOW;
        let Window { sums, frequencies } = window;
        for list in active {
            list.add_before(first, first.saturating_add(WINDOW), sums, frequencies);
        }
        sums.drain(|place, sum| {
            let entry = first + place;
            if allowed.is_none_or(|allowed| allowed.contains(entry))
                && let Some(sum) = complete(passive, &bounds_up_to, entry, sum, best.threshold())
            {
                best.offer(sum, || number_of(entry));
            }
        });
    }
}

/// Adds what passive lists give an entry; nothing when it cannot enter the result any more.
fn complete(
    passive: &mut [List],
    bounds_up_to: &[u32],
    entry: u32,
    mut sum: u32,
    threshold: u32,
) -> Option<u32> {
    for (list, bound) in passive.iter_mut().zip(bounds_up_to).rev() {
        if sum + bound < threshold {
            return None;
        }
        sum += list.score_of(entry).unwrap_or(0);
    }
    Some(sum)
}

/// The best so far: higher scores first, then lower numbers.
pub(super) struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Scored>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Scored {
    score: u32,
    number: u32,
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl Best {
    /// Keeps as many as the limit says.
    pub(super) fn new(limit: usize) -> Self {
        Best { limit, heap: BinaryHeap::new() }
    }

    /// Gives the score below which nothing can enter any more.
    fn threshold(&self) -> u32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.limit => worst.score,
            _ => 0,
        }
    }

    fn offer(&mut self, score: u32, number: impl FnOnce() -> u32) {
        if score < self.threshold() {
            return;
        }
        self.heap.push(Reverse(Scored { score, number: number() }));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// Gives numbers and scores, best first.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (u32, u32)> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|Reverse(scored)| (scored.number, scored.score))
    }
}
