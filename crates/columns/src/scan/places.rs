//! The place of each group in the lists of what is collected, where its id is a small number.

use crate::aggregate::MAX_AGGREGATE_GROUPS;
use crate::{Error, Result};

/// The most possible groups of which each has a bit: 16 MiB for each thread.
pub(super) const MAX_MARKED_GROUPS: u128 = 1 << 27;

/// Which place each possible group has.
pub(super) enum Places {
    /// Its own: there are so many.
    All(usize),
    /// Its rank among those that rows have.
    Marked(Marks),
}

impl Places {
    pub(super) fn len(&self) -> usize {
        match self {
            Places::All(n_places) => *n_places,
            Places::Marked(marks) => marks.n_marked,
        }
    }

    /// Puts places where the ids of groups are.
    pub(super) fn put(&self, ids: &mut [u32]) {
        match self {
            Places::All(_) => {}
            Places::Marked(marks) => ids.iter_mut().for_each(|id| *id = marks.rank(*id)),
        }
    }

    /// The ids of groups at these places, which ascend.
    pub(super) fn ids(&self, present: &[usize]) -> Vec<u128> {
        match self {
            Places::All(_) => present.iter().map(|place| *place as u128).collect(),
            Places::Marked(marks) => marks.ids().collect(),
        }
    }
}

/// The groups that rows have, among very many possible ones.
pub(super) struct Marks {
    bits: Vec<u64>,
    /// How many are marked before each word of bits.
    n_before: Vec<u32>,
    n_marked: usize,
}

impl Marks {
    /// Counts what is marked: a bit for each possible group.
    pub(super) fn of(bits: Vec<u64>) -> Result<Self> {
        let mut n_marked = 0;
        let n_before = bits
            .iter()
            .map(|word| {
                let n_before = n_marked;
                n_marked += word.count_ones();
                n_before
            })
            .collect();
        let n_marked = n_marked as usize;
        if n_marked > MAX_AGGREGATE_GROUPS {
            return Err(Error::TooManyGroups { limit: MAX_AGGREGATE_GROUPS });
        }
        Ok(Marks { bits, n_before, n_marked })
    }

    fn rank(&self, id: u32) -> u32 {
        let word = id as usize / 64;
        let below = self.bits[word] & ((1 << (id % 64)) - 1);
        self.n_before[word] + below.count_ones()
    }

    fn ids(&self) -> impl Iterator<Item = u128> {
        self.bits.iter().enumerate().flat_map(|(word, bits)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            set.map(move |bit| (word * 64 + bit) as u128)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_marked_groups_ascend_without_gaps() {
        let ids = [0_u32, 1, 63, 64, 130, 191, 192];
        let mut bits = vec![0_u64; 4];
        ids.iter().for_each(|id| bits[*id as usize / 64] |= 1 << (id % 64));
        let marks = Marks::of(bits).unwrap();
        let ranks: Vec<u32> = ids.iter().map(|id| marks.rank(*id)).collect();
        assert_eq!(ranks, [0, 1, 2, 3, 4, 5, 6]);
        let all: Vec<u128> = ids.iter().map(|id| u128::from(*id)).collect();
        assert_eq!(marks.ids().collect::<Vec<u128>>(), all);
    }
}
