//! A set of small numbers, one bit each: which documents of a segment fit, which passages live.

/// A set of numbers below a fixed end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    end: u32,
}

impl Bits {
    /// Makes the empty set of numbers below `end`.
    pub(crate) fn none(end: u32) -> Self {
        Bits { words: vec![0; end.div_ceil(64) as usize], end }
    }

    /// Makes the set of all numbers below `end`.
    pub(crate) fn all(end: u32) -> Self {
        let mut bits = Bits { words: vec![u64::MAX; end.div_ceil(64) as usize], end };
        bits.trim();
        bits
    }

    /// Adds a number; one at or past the end is passed over.
    pub(crate) fn insert(&mut self, number: u32) {
        if number < self.end {
            self.words[(number / 64) as usize] |= 1 << (number % 64);
        }
    }

    /// Tells whether the number is in the set.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Counts the numbers.
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Tells whether a number from `start` to before `end` is in the set.
    pub(crate) fn has_in(&self, start: u32, end: u32) -> bool {
        let end = end.min(self.end);
        if start >= end {
            return false;
        }
        let (first, last) = ((start / 64) as usize, ((end - 1) / 64) as usize);
        let from = u64::MAX << (start % 64);
        let to = u64::MAX >> (63 - (end - 1) % 64);
        if first == last {
            return self.words[first] & from & to != 0;
        }
        self.words[first] & from != 0
            || self.words[first + 1..last].iter().any(|word| *word != 0)
            || self.words[last] & to != 0
    }

    /// Keeps what is in both sets.
    pub(crate) fn intersect(&mut self, other: &Bits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Adds what is in the other set.
    pub(crate) fn unite(&mut self, other: &Bits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
        self.trim();
    }

    /// Removes what is in the other set.
    pub(crate) fn subtract(&mut self, other: &Bits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// Swaps what is in the set with what is not.
    pub(crate) fn complement(&mut self) {
        for word in &mut self.words {
            *word = !*word;
        }
        self.trim();
    }

    /// Gives the numbers in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(word_idx, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(word_idx * 64 + bit)
            })
        })
    }

    fn trim(&mut self) {
        let used = self.end % 64;
        if used != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bits(end: u32, numbers: &BTreeSet<u32>) -> Bits {
        let mut bits = Bits::none(end);
        numbers.iter().for_each(|number| bits.insert(*number));
        bits
    }

    proptest! {
        #[test]
        fn behaves_like_a_set(
            end in 1u32..200,
            left in prop::collection::btree_set(0u32..200, 0..60),
            right in prop::collection::btree_set(0u32..200, 0..60),
        ) {
            let left: BTreeSet<u32> = left.into_iter().filter(|number| *number < end).collect();
            let right: BTreeSet<u32> = right.into_iter().filter(|number| *number < end).collect();
            let check = |change: &dyn Fn(&mut Bits, &Bits), expected: Vec<u32>| {
                let mut set = bits(end, &left);
                change(&mut set, &bits(end, &right));
                assert_eq!(set.iter().collect::<Vec<_>>(), expected);
                assert_eq!(set.len(), expected.len());
                assert!(expected.iter().all(|number| set.contains(*number)));
            };
            check(&|a, b| a.intersect(b), left.intersection(&right).copied().collect());
            check(&|a, b| a.unite(b), left.union(&right).copied().collect());
            check(&|a, b| a.subtract(b), left.difference(&right).copied().collect());
            let set = bits(end, &left);
            for (from, to) in right.iter().zip(right.iter().skip(1)) {
                assert_eq!(set.has_in(*from, *to), left.range(*from..*to).next().is_some());
            }
            check(&|a, _| a.complement(), (0..end).filter(|n| !left.contains(n)).collect());
            prop_assert_eq!(Bits::all(end).len(), end as usize);
        }
    }
}
