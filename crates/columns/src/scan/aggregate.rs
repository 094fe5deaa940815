//! Groups and measures over columns in memory.
//!
//! The group of a row follows from its codes, so buckets of time are computed once for each
//! distinct moment. While the possible groups are few, each has a place in a list; while a bit
//! for each of them is little memory, those that rows have are marked first, and only they have a
//! place. A measured column with few values is counted by group and value, from which every
//! measure follows exactly. Otherwise groups are found by hashing, and the rows of each are
//! brought together. What is asked of the whole table alone is known without looking at rows.

use std::cmp::Ordering;

use ahash::AHashMap;
use model::Deadline;
use rayon::prelude::*;

use super::measure::{Collected, Plan};
use super::places::{MAX_MARKED_GROUPS, Marks, Places};
use super::select::{Conditions, Selected};
use super::{compile, fold_parts};
use crate::aggregate::{self, MAX_AGGREGATE_GROUPS, arrange};
use crate::column::{Distinct, NULL_CODE};
use crate::query::Direction;
use crate::zone::Numbering;
use crate::{
    Aggregate, AggregateAnswer, Calendar, Column, Dataset, Error, GroupBy, Grouping, Result, Value,
    Zone,
};

/// The most possible groups that have a place each.
const MAX_DENSE_GROUPS: u128 = 1 << 16;

/// Answers an aggregate that was checked.
pub(crate) fn aggregate(
    dataset: &Dataset,
    wanted: &Aggregate,
    deadline: &Deadline,
) -> Result<AggregateAnswer> {
    let conditions = compile(dataset, &wanted.filters, &wanted.any)?;
    let keys = Keys::new(dataset, &wanted.group_by)?;
    let groups = if let Some(groups) = whole_table(dataset, wanted, &conditions, &keys)? {
        groups
    } else if keys.n_possible <= MAX_DENSE_GROUPS {
        let places = Places::All(keys.n_possible as usize);
        dense(dataset, wanted, &conditions, &keys, &places, deadline)?
    } else if keys.n_possible <= MAX_MARKED_GROUPS.min(64 * dataset.n_rows() as u128) {
        let places = Places::Marked(mark(dataset, &conditions, &keys, deadline)?);
        dense(dataset, wanted, &conditions, &keys, &places, deadline)?
    } else {
        sparse(dataset, wanted, &conditions, &keys, deadline)?
    };
    let compare = |place: usize, left: usize, right: usize, direction: Direction| {
        let slot = |group: usize| keys.slot(groups.ids[group], place);
        let last = keys.parts[place].n_slots - 1;
        compare_slots(slot(left), slot(right), last, direction)
    };
    let (order, total_groups) = arrange(wanted, groups.ids.len(), &groups.measures, compare);
    let rows = order
        .into_iter()
        .map(|group| {
            let key = (0..keys.parts.len())
                .map(|place| keys.parts[place].value(keys.slot(groups.ids[group], place)));
            key.chain(groups.measures.iter().map(|values| values[group].clone())).collect()
        })
        .collect();
    Ok(AggregateAnswer { rows, total_groups, total_rows: groups.n_rows })
}

/// The groups that rows have, in ascending order of their ids.
struct Groups {
    ids: Vec<u128>,
    /// One list for each measure.
    measures: Vec<Vec<Value>>,
    n_rows: u64,
}

/// Compares two slots, of which the last is null.
fn compare_slots(left: u32, right: u32, last: u32, direction: Direction) -> Ordering {
    match (left == last, right == last, direction) {
        (true, true, _) => Ordering::Equal,
        (true, false, _) => Ordering::Greater,
        (false, true, _) => Ordering::Less,
        (false, false, Direction::Ascending) => left.cmp(&right),
        (false, false, Direction::Descending) => right.cmp(&left),
    }
}

/// Answers what follows from how often each value is in the whole table, which is known: measures
/// of all rows, and the rows of each group of one column.
fn whole_table(
    dataset: &Dataset,
    wanted: &Aggregate,
    conditions: &Conditions<'_>,
    keys: &Keys<'_>,
) -> Result<Option<Groups>> {
    if !conditions.is_empty() || keys.has_lists {
        return Ok(None);
    }
    let n_rows = dataset.n_rows() as u64;
    let groups = match keys.parts.as_slice() {
        [] => {
            let plan = Plan::new(dataset, &wanted.measures, 1)?;
            let Some(collected) = Collected::of_table(&plan, dataset.n_rows()) else {
                return Ok(None);
            };
            Groups { ids: vec![0], measures: plan.values(&collected, &[0]), n_rows }
        }
        [part] if wanted.measures.iter().all(|measure| measure.column.is_none()) => {
            let mut counts = vec![0_u64; part.n_slots as usize];
            for (slot, total) in part.slots.iter().zip(part.column.totals()) {
                counts[*slot as usize] += u64::from(*total);
            }
            let present = (0..counts.len()).filter(|slot| counts[*slot] > 0);
            let ids: Vec<u128> = present.map(|slot| slot as u128).collect();
            if ids.len() > MAX_AGGREGATE_GROUPS {
                return Err(Error::TooManyGroups { limit: MAX_AGGREGATE_GROUPS });
            }
            let count = |id: &u128| Value::Integer(counts[*id as usize] as i64);
            let of_measure = |_| ids.iter().map(count).collect();
            let measures = wanted.measures.iter().map(of_measure).collect();
            Groups { ids, measures, n_rows }
        }
        _ => return Ok(None),
    };
    Ok(Some(groups))
}

fn dense(
    dataset: &Dataset,
    wanted: &Aggregate,
    conditions: &Conditions<'_>,
    keys: &Keys<'_>,
    places: &Places,
    deadline: &Deadline,
) -> Result<Groups> {
    let plan = Plan::new(dataset, &wanted.measures, places.len())?;
    let part = fold_parts(
        dataset.n_rows(),
        deadline,
        || Dense { n_rows: 0, block: Block::default(), collected: Collected::new(&plan) },
        |part, selection, start, end| {
            let selected = selection.select(conditions, start, end);
            part.n_rows += selected.len() as u64;
            keys.ids(selected, &mut part.block);
            places.put(&mut part.block.ids);
            match &part.block.rows {
                Some(rows) => part.collected.add(&plan, &part.block.ids, Selected::Some(rows)),
                None => part.collected.add(&plan, &part.block.ids, selected),
            }
        },
        |part, other| {
            part.n_rows += other.n_rows;
            part.collected.merge(other.collected);
        },
    )?;
    let collected = part.collected.finish(&plan, deadline)?;
    // Without a grouping there is one group, even of no rows.
    let is_there = |group: &usize| keys.parts.is_empty() || collected.counts[*group] > 0;
    let present: Vec<usize> = (0..places.len()).filter(is_there).collect();
    if present.len() > MAX_AGGREGATE_GROUPS {
        return Err(Error::TooManyGroups { limit: MAX_AGGREGATE_GROUPS });
    }
    let measures = plan.values(&collected, &present);
    Ok(Groups { ids: places.ids(&present), measures, n_rows: part.n_rows })
}

/// Marks the groups that rows have.
fn mark(
    dataset: &Dataset,
    conditions: &Conditions<'_>,
    keys: &Keys<'_>,
    deadline: &Deadline,
) -> Result<Marks> {
    let n_words = (keys.n_possible as usize).div_ceil(64);
    let (bits, _) = fold_parts(
        dataset.n_rows(),
        deadline,
        || (vec![0_u64; n_words], Block::default()),
        |(bits, block), selection, start, end| {
            keys.ids(selection.select(conditions, start, end), block);
            for id in &block.ids {
                bits[*id as usize / 64] |= 1 << (id % 64);
            }
        },
        |(bits, _), (others, _)| {
            bits.iter_mut().zip(others).for_each(|(bits, others)| *bits |= others);
        },
    )?;
    Marks::of(bits)
}

/// What one thread found of dense groups.
struct Dense {
    n_rows: u64,
    block: Block,
    collected: Collected,
}

/// The groups of the rows of a block.
#[derive(Default)]
struct Block {
    ids: Vec<u32>,
    /// The row of each id, where a row can be in several groups.
    rows: Option<Vec<u32>>,
}

fn sparse(
    dataset: &Dataset,
    wanted: &Aggregate,
    conditions: &Conditions<'_>,
    keys: &Keys<'_>,
    deadline: &Deadline,
) -> Result<Groups> {
    let mut whole = fold_parts(
        dataset.n_rows(),
        deadline,
        Sparse::default,
        |part, selection, start, end| {
            let selected = selection.select(conditions, start, end);
            part.n_rows += selected.len() as u64;
            selected.for_each(|row| keys.each_id(row, |id| part.add(id, row)));
        },
        Sparse::merge,
    )?;
    if whole.ids.len() > MAX_AGGREGATE_GROUPS {
        return Err(Error::TooManyGroups { limit: MAX_AGGREGATE_GROUPS });
    }
    // Groups get their numbers in the order of their ids.
    let mut order: Vec<u32> = (0..whole.ids.len() as u32).collect();
    order.sort_unstable_by_key(|group| whole.ids[*group as usize]);
    let mut place_of = vec![0; order.len()];
    for (place, group) in order.iter().enumerate() {
        place_of[*group as usize] = place as u32;
    }
    whole.groups.par_iter_mut().for_each(|group| *group = place_of[*group as usize]);
    let ids: Vec<u128> = order.iter().map(|group| whole.ids[*group as usize]).collect();
    let plan = Plan::by_rows(dataset, &wanted.measures, ids.len())?;
    let collected = Collected::of_rows(&plan, whole.groups, whole.rows, deadline)?;
    let present: Vec<usize> = (0..ids.len()).collect();
    let measures = plan.values(&collected, &present);
    Ok(Groups { ids, measures, n_rows: whole.n_rows })
}

/// What one thread found of groups that have no place each.
#[derive(Default)]
struct Sparse {
    n_rows: u64,
    group_of: AHashMap<u128, u32>,
    ids: Vec<u128>,
    groups: Vec<u32>,
    rows: Vec<u32>,
}

impl Sparse {
    fn add(&mut self, id: u128, row: usize) {
        // More groups than are allowed are still counted once, and then no more.
        if self.ids.len() > MAX_AGGREGATE_GROUPS {
            return;
        }
        let ids = &mut self.ids;
        let group = *self.group_of.entry(id).or_insert_with(|| {
            ids.push(id);
            ids.len() as u32 - 1
        });
        self.groups.push(group);
        self.rows.push(row as u32);
    }

    fn merge(&mut self, other: Sparse) {
        self.n_rows += other.n_rows;
        let ids = &mut self.ids;
        let group_of: Vec<u32> = other
            .ids
            .iter()
            .map(|id| {
                *self.group_of.entry(*id).or_insert_with(|| {
                    ids.push(*id);
                    ids.len() as u32 - 1
                })
            })
            .collect();
        self.groups.extend(other.groups.into_iter().map(|group| group_of[group as usize]));
        self.rows.extend(other.rows);
    }
}

/// How rows become groups.
struct Keys<'d> {
    parts: Vec<GroupedColumn<'d>>,
    /// By how much one slot of a part moves the id.
    strides: Vec<u128>,
    n_possible: u128,
    has_lists: bool,
}

struct GroupedColumn<'d> {
    column: &'d Column,
    /// The slot of each code; slots ascend with values, and null has the last.
    slots: Vec<u32>,
    n_slots: u32,
    shown: Shown,
}

/// What a slot stands for.
enum Shown {
    Values,
    Calendar { numbers: Vec<i64>, calendar: Calendar, zone: Zone },
    Widths { numbers: Vec<i64>, width: f64 },
}

impl<'d> Keys<'d> {
    fn new(dataset: &'d Dataset, groupings: &[Grouping]) -> Result<Self> {
        let parts: Vec<GroupedColumn<'d>> = groupings
            .iter()
            .map(|grouping| Ok(GroupedColumn::new(dataset.column(&grouping.column)?, &grouping.by)))
            .collect::<Result<_>>()?;
        let mut strides = vec![1; parts.len()];
        let mut n_possible: u128 = 1;
        for (part, stride) in parts.iter().zip(&mut strides).rev() {
            *stride = n_possible;
            // At most four billion slots a part: beyond four parts an id may not fit.
            n_possible = n_possible
                .checked_mul(u128::from(part.n_slots))
                .ok_or(Error::TooManyGroups { limit: MAX_AGGREGATE_GROUPS })?;
        }
        let has_lists = parts.iter().any(|part| part.column.has_lists());
        Ok(Keys { parts, strides, n_possible, has_lists })
    }

    fn slot(&self, id: u128, place: usize) -> u32 {
        (id / self.strides[place] % u128::from(self.parts[place].n_slots)) as u32
    }

    /// Finds the groups of rows, for groups that have a place each.
    fn ids(&self, selected: Selected<'_>, block: &mut Block) {
        block.ids.clear();
        if self.has_lists {
            let rows = block.rows.get_or_insert_default();
            rows.clear();
            let ids = &mut block.ids;
            selected.for_each(|row| {
                self.each_id(row, |id| {
                    ids.push(id as u32);
                    rows.push(row as u32);
                });
            });
            return;
        }
        block.ids.resize(selected.len(), 0);
        for (part, stride) in self.parts.iter().zip(&self.strides) {
            let stride = *stride as u32;
            let slots = &part.slots;
            part.column.codes.for_each(selected, |at, code| {
                block.ids[at] += slots[code as usize] * stride;
            });
        }
    }

    /// Calls `visit` with the id of each group of a row.
    fn each_id(&self, row: usize, mut visit: impl FnMut(u128)) {
        if !self.has_lists {
            let parts = self.parts.iter().zip(&self.strides);
            visit(
                parts
                    .map(|(part, stride)| {
                        u128::from(part.slots[part.column.codes.get(row) as usize]) * stride
                    })
                    .sum(),
            );
            return;
        }
        let mut ids = vec![0];
        for (part, stride) in self.parts.iter().zip(&self.strides) {
            let items = match &part.column.offsets {
                Some(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
                None => row..row + 1,
            };
            let slot = |item| u128::from(part.slots[part.column.codes.get(item) as usize]) * stride;
            ids = items.flat_map(|item| ids.iter().map(move |id| id + slot(item))).collect();
            // Two values of one cell can be in one bucket; the row is in it once.
            ids.sort_unstable();
            ids.dedup();
        }
        ids.into_iter().for_each(visit);
    }
}

impl<'d> GroupedColumn<'d> {
    fn new(column: &'d Column, by: &GroupBy) -> Self {
        let n_codes = column.distinct.len();
        let numbers_of_codes: Vec<i64> = match by {
            GroupBy::Value => {
                let slots = (0..n_codes as u32)
                    .map(|code| if code == NULL_CODE { n_codes as u32 - 1 } else { code - 1 })
                    .collect();
                return GroupedColumn {
                    column,
                    slots,
                    n_slots: n_codes as u32,
                    shown: Shown::Values,
                };
            }
            GroupBy::Calendar(calendar, zone) => {
                let mut numbering = Numbering::new(*calendar, zone);
                match &column.distinct {
                    Distinct::Timestamps(moments) => {
                        (1..n_codes).map(|code| numbering.next(moments.value(code))).collect()
                    }
                    Distinct::Text(_)
                    | Distinct::Integers(_)
                    | Distinct::Reals(_)
                    | Distinct::Decimals(_)
                    | Distinct::Booleans(_) => Vec::new(),
                }
            }
            GroupBy::Width(width) => (1..n_codes as u32)
                .map(|code| aggregate::range_number_of(&column.distinct.value(code), *width))
                .collect(),
        };
        let mut numbers = numbers_of_codes.clone();
        numbers.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        let null_slot = numbers.len() as u32;
        let mut slots = Vec::with_capacity(n_codes);
        slots.push(null_slot);
        // Numbers ascend nearly always, so the slot before is nearly always right.
        let mut at = 0;
        for number in &numbers_of_codes {
            if numbers[at] != *number {
                at = numbers.binary_search(number).expect("every number is in the list");
            }
            slots.push(at as u32);
        }
        let shown = match by {
            GroupBy::Calendar(calendar, zone) => {
                Shown::Calendar { numbers, calendar: *calendar, zone: zone.clone() }
            }
            GroupBy::Width(width) => Shown::Widths { numbers, width: *width },
            GroupBy::Value => Shown::Values,
        };
        GroupedColumn { column, slots, n_slots: null_slot + 1, shown }
    }

    fn value(&self, slot: u32) -> Value {
        if slot + 1 == self.n_slots {
            return Value::Null;
        }
        match &self.shown {
            Shown::Values => self.column.distinct.value(slot + 1),
            Shown::Calendar { numbers, calendar, zone } => {
                Value::Text(calendar.label(numbers[slot as usize], zone))
            }
            Shown::Widths { numbers, width } => {
                aggregate::width_start(numbers[slot as usize], *width)
            }
        }
    }
}
