//! Which element of its lists a value is in, counted while the values of a block go by.
//!
//! A list is known to be one where the pointer of the block says so. Elsewhere it is told by a value
//! that comes again: the first value of an element begins another one. Which of the names before it
//! is the list is not always told: then the number counts for any of them.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::forms::Step;

/// The label of the first value below each path, by the path's keys: elements of one list mostly
/// begin with the same.
#[derive(Default)]
pub(super) struct Firsts(HashMap<Vec<String>, String>);

impl Firsts {
    fn learn(&mut self, steps: &[Step], label: &str) {
        let mut path = Vec::new();
        for step in steps {
            path.push(step.key.clone());
            self.0.entry(path.clone()).or_insert_with(|| label.to_owned());
        }
    }

    /// Tells whether a label is that of the first value below a path.
    fn is_first(&self, steps: &[Step], label: &str) -> bool {
        let path: Vec<String> = steps.iter().map(|step| step.key.clone()).collect();
        self.0.get(&path).is_some_and(|first| first == label)
    }
}

/// An element of a list that is one of some steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// The steps of which one is the list.
    pub(super) steps: RangeInclusive<usize>,
    pub(super) number: usize,
}

/// Counts the elements of lists while their values go by.
pub(super) struct Counted<'f> {
    /// The value that went by last.
    pub(super) steps: Vec<Step>,
    /// The number of an element in a list that is not known to be one.
    pub(super) elsewhere: Option<Elsewhere>,
    /// The labels that went by in this block, each with where it was last.
    seen: Vec<CountedElement>,
    firsts: &'f mut Firsts,
}

struct CountedElement {
    steps: Vec<Step>,
    elsewhere: Option<Elsewhere>,
    label: String,
}

impl<'f> Counted<'f> {
    /// Begins with the first value of a block, whose pointer is known.
    pub(super) fn begin(first: Vec<Step>, label: String, firsts: &'f mut Firsts) -> Self {
        firsts.learn(&first, &label);
        let seen = CountedElement { steps: first.clone(), elsewhere: None, label };
        Counted { steps: first, elsewhere: None, seen: vec![seen], firsts }
    }

    /// Goes on to the next value of a list that has nothing but values; false when it is none.
    pub(super) fn step_alone(&mut self) -> bool {
        let [only] = self.steps.as_mut_slice() else { return false };
        let Some(number) = only.numbers.last_mut().filter(|_| only.key.is_empty()) else {
            return false;
        };
        *number += 1;
        true
    }

    /// Goes on to the next value, by the keys in its line; false when they cannot follow.
    pub(super) fn step(&mut self, keys: &[String], label: &str) -> bool {
        let has_no_key = self.steps.first().is_some_and(|step| step.key.is_empty());
        let n_before = usize::from(has_no_key);
        let same = self.steps.iter().skip(n_before).zip(keys);
        let n_common = n_before + same.take_while(|(step, key)| step.key == **key).count();
        let mut next: Vec<Step> = self.steps.iter().take(n_common).cloned().collect();
        let fresh = keys.iter().skip(n_common - n_before);
        next.extend(fresh.map(|key| Step { key: key.clone(), numbers: Vec::new() }));
        let mut elsewhere = self.elsewhere.clone().filter(|one| *one.steps.start() < n_common);
        if let Some(elsewhere) = &mut elsewhere {
            let (first, last) = (*elsewhere.steps.start(), *elsewhere.steps.end());
            elsewhere.steps = first..=last.min(n_common - 1);
        }
        self.begin_element(&mut next, &mut elsewhere, n_common, label);
        self.firsts.learn(&next, label);
        self.seen.retain(|seen| seen.label != label);
        let seen = CountedElement {
            steps: next.clone(),
            elsewhere: elsewhere.clone(),
            label: label.to_owned(),
        };
        self.seen.push(seen);
        (self.steps, self.elsewhere) = (next, elsewhere);
        true
    }

    /// Counts another element where a value begins one: it is the first of its elements, or it went
    /// by in this element already.
    fn begin_element(
        &self,
        next: &mut [Step],
        elsewhere: &mut Option<Elsewhere>,
        n_common: usize,
        label: &str,
    ) {
        let is_first =
            |idx: &usize| next.get(..=*idx).is_some_and(|path| self.firsts.is_first(path, label));
        let is_list = |idx: &usize| next.get(*idx).is_some_and(|step| !step.numbers.is_empty());
        let begun: Vec<usize> = (0..n_common).filter(is_first).collect();
        let is_seen = self.seen.iter().any(|seen| {
            seen.label == label
                && n_common > 0
                && seen.elsewhere == *elsewhere
                && seen.steps.iter().zip(&*next).take(n_common).all(|(a, b)| a == b)
        });
        if begun.is_empty() && !is_seen {
            return;
        }
        let known = begun.iter().copied().rfind(is_list);
        let known = match begun.is_empty() {
            true => known.or_else(|| (0..n_common).rfind(is_list)),
            false => known,
        };
        if let Some(list) = known {
            if let Some(number) = next.get_mut(list).and_then(|step| step.numbers.last_mut()) {
                *number += 1;
            }
            // The lists inside begin again.
            let inner = next.iter_mut().take(n_common).skip(list + 1);
            inner.for_each(|step| step.numbers.clear());
            *elsewhere = None;
            return;
        }
        let first = begun.first().copied().unwrap_or(n_common - 1);
        let last = begun.last().copied().unwrap_or(n_common - 1);
        if first == last && elsewhere.is_none() {
            // The list was not known to be one: its first element went by.
            if let Some(step) = next.get_mut(first) {
                step.numbers.push(1);
            }
            return;
        }
        let number = match elsewhere {
            Some(known) if *known.steps.end() >= first => known.number + 1,
            _ => 1,
        };
        *elsewhere = Some(Elsewhere { steps: first..=last, number });
    }
}
