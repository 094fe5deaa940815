//! What is measured of groups: collected row by row, then turned into values.

use model::Deadline;
use rayon::prelude::*;

use super::figures::{Total, of_codes, of_counters};
use super::select::Selected;
use super::series::Sum;
use crate::column::{Distinct, NULL_CODE};
use crate::{Column, Dataset, Error, Measure, Op, Result, Value};

/// The most counters of one measured column by group and value.
const MAX_COUNTERS: usize = 2 << 20;
/// The most groups whose sums and extremes are kept as rows come.
const MAX_RUNNING_GROUPS: usize = 1 << 17;
/// Groups between two looks at the clock.
const GROUPS_PER_CHECK: usize = 1024;

/// How each measure is computed.
pub(super) struct Plan<'d> {
    columns: Vec<Measured<'d>>,
    /// Each measure: what, and of which of the columns.
    measures: Vec<(Op, Option<usize>)>,
    n_groups: usize,
}

/// A measured column.
struct Measured<'d> {
    column: &'d Column,
    way: Way,
}

/// How a column is collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A counter for each group and value.
    Counters,
    /// A sum, the extremes and a count for each group.
    Running,
    /// The rows of each group are brought together afterwards.
    Rows,
}

impl<'d> Plan<'d> {
    /// Plans for groups that have a place each.
    pub(super) fn new(dataset: &'d Dataset, wanted: &[Measure], n_groups: usize) -> Result<Self> {
        Plan::with(dataset, wanted, n_groups, |column, ops| {
            let n_counters = n_groups.saturating_mul(column.distinct.len());
            let is_simple =
                ops.iter().all(|op| !matches!(op, Op::CountDistinct | Op::Percentile(_)));
            let cannot_overflow = match &column.distinct {
                Distinct::Integers(numbers) => {
                    let largest = numbers
                        .values()
                        .iter()
                        .skip(1)
                        .map(|number| number.unsigned_abs())
                        .max()
                        .unwrap_or(0);
                    u128::from(largest) * dataset.n_rows() as u128 <= i64::MAX as u128
                }
                // Sums of decimals are wider than what is kept as rows come.
                Distinct::Decimals(_) => false,
                Distinct::Text(_)
                | Distinct::Reals(_)
                | Distinct::Booleans(_)
                | Distinct::Timestamps(_) => true,
            };
            if n_counters <= MAX_COUNTERS {
                Way::Counters
            } else if is_simple && cannot_overflow && n_groups <= MAX_RUNNING_GROUPS {
                Way::Running
            } else {
                Way::Rows
            }
        })
    }

    /// Plans for groups whose rows are known.
    pub(super) fn by_rows(
        dataset: &'d Dataset,
        wanted: &[Measure],
        n_groups: usize,
    ) -> Result<Self> {
        Plan::with(dataset, wanted, n_groups, |_, _| Way::Rows)
    }

    fn with(
        dataset: &'d Dataset,
        wanted: &[Measure],
        n_groups: usize,
        way: impl Fn(&Column, &[Op]) -> Way,
    ) -> Result<Self> {
        let mut names: Vec<&str> = Vec::new();
        let mut measures = Vec::new();
        for measure in wanted {
            let place = measure.column.as_deref().map(|name| {
                names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })
            });
            measures.push((measure.op, place));
        }
        let columns = names
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let column = dataset.column(name)?;
                let ops: Vec<Op> = measures
                    .iter()
                    .filter(|(_, of)| *of == Some(place))
                    .map(|(op, _)| *op)
                    .collect();
                // Cells with several values are only ever counted, one for each row.
                let way = if column.has_lists() { Way::Rows } else { way(column, &ops) };
                Ok(Measured { column, way })
            })
            .collect::<Result<_>>()?;
        Ok(Plan { columns, measures, n_groups })
    }

    /// Gives one list of values for each measure, for the groups that are there.
    pub(super) fn values(&self, collected: &Collected, present: &[usize]) -> Vec<Vec<Value>> {
        self.measures
            .iter()
            .map(|(op, place)| {
                let Some(place) = place else {
                    let count = |group: &usize| Value::Integer(collected.counts[*group] as i64);
                    return present.iter().map(count).collect();
                };
                let column = self.columns[*place].column;
                match &collected.columns[*place] {
                    Figures::Counters(counters) => {
                        let n_codes = column.distinct.len();
                        present
                            .par_iter()
                            .map(|group| {
                                let counters = &counters[group * n_codes..(group + 1) * n_codes];
                                of_counters(column, *op, counters)
                            })
                            .collect()
                    }
                    Figures::Running(running) => {
                        present.iter().map(|group| running.value(column, *op, *group)).collect()
                    }
                    Figures::Sorted { starts, codes } => present
                        .par_iter()
                        .map(|group| {
                            let codes = &codes[starts[*group]..starts[group + 1]];
                            of_codes(column, *op, codes)
                        })
                        .collect(),
                }
            })
            .collect()
    }
}

/// What was collected of all groups.
pub(super) struct Collected {
    /// Rows of each group.
    pub(super) counts: Vec<u32>,
    columns: Vec<Figures>,
    /// The group and the row, in the order of rows, when a column wants them.
    pairs: Option<(Vec<u32>, Vec<u32>)>,
}

/// What was collected of one column.
enum Figures {
    Counters(Vec<u32>),
    Running(Running),
    /// Not null codes of the rows of each group, ascending in each group.
    Sorted {
        starts: Vec<usize>,
        codes: Vec<u32>,
    },
}

/// Sums and extremes by group.
struct Running {
    n_values: Vec<u32>,
    lowest: Vec<u32>,
    highest: Vec<u32>,
    whole: Vec<i64>,
    real: Vec<Sum>,
}

impl Collected {
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let n_groups = plan.n_groups;
        let columns = plan
            .columns
            .iter()
            .map(|measured| match measured.way {
                Way::Counters => {
                    Figures::Counters(vec![0; n_groups * measured.column.distinct.len()])
                }
                Way::Running => Figures::Running(Running::new(measured.column, n_groups)),
                Way::Rows => Figures::Sorted { starts: Vec::new(), codes: Vec::new() },
            })
            .collect();
        let wants_rows = plan.columns.iter().any(|measured| measured.way == Way::Rows);
        let pairs = wants_rows.then(|| (Vec::new(), Vec::new()));
        Collected { counts: vec![0; n_groups], columns, pairs }
    }

    /// Gives what is known of the whole table as one group; nothing where a measured cell can hold
    /// several values, for its values are no rows.
    pub(super) fn of_table(plan: &Plan<'_>, n_rows: usize) -> Option<Self> {
        if plan.columns.iter().any(|measured| measured.column.has_lists()) {
            return None;
        }
        let counters =
            |measured: &Measured<'_>| Figures::Counters(measured.column.totals().to_vec());
        let columns = plan.columns.iter().map(counters).collect();
        Some(Collected { counts: vec![n_rows as u32], columns, pairs: None })
    }

    /// Adds the rows of a block, each with its group.
    pub(super) fn add(&mut self, plan: &Plan<'_>, groups: &[u32], selected: Selected<'_>) {
        for group in groups {
            self.counts[*group as usize] += 1;
        }
        for (figures, measured) in self.columns.iter_mut().zip(&plan.columns) {
            match figures {
                Figures::Counters(counters) => {
                    let n_codes = measured.column.distinct.len();
                    measured.column.codes.for_each(selected, |at, code| {
                        counters[groups[at] as usize * n_codes + code as usize] += 1;
                    });
                }
                Figures::Running(running) => running.add(measured.column, groups, selected),
                Figures::Sorted { .. } => {}
            }
        }
        if let Some((all, rows)) = &mut self.pairs {
            all.extend_from_slice(groups);
            selected.for_each(|row| rows.push(row as u32));
        }
    }

    pub(super) fn merge(&mut self, other: Collected) {
        add_counts(&mut self.counts, &other.counts);
        for (figures, others) in self.columns.iter_mut().zip(other.columns) {
            match (figures, others) {
                (Figures::Counters(counters), Figures::Counters(others)) => {
                    add_counts(counters, &others);
                }
                (Figures::Running(running), Figures::Running(others)) => running.merge(&others),
                _ => {}
            }
        }
        if let (Some((groups, rows)), Some((other_groups, other_rows))) =
            (&mut self.pairs, other.pairs)
        {
            groups.extend(other_groups);
            rows.extend(other_rows);
        }
    }

    /// Brings the rows of each group together for the columns that want them.
    pub(super) fn finish(mut self, plan: &Plan<'_>, deadline: &Deadline) -> Result<Self> {
        if let Some((groups, rows)) = self.pairs.take() {
            self.sort(plan, &groups, &rows, deadline)?;
        }
        Ok(self)
    }

    /// Collects groups whose rows are known.
    #[expect(clippy::needless_pass_by_value, reason = "both are used up here")]
    pub(super) fn of_rows(
        plan: &Plan<'_>,
        groups: Vec<u32>,
        rows: Vec<u32>,
        deadline: &Deadline,
    ) -> Result<Self> {
        let mut counts = vec![0; plan.n_groups];
        for group in &groups {
            counts[*group as usize] += 1;
        }
        let columns =
            plan.columns.iter().map(|_| Figures::Sorted { starts: Vec::new(), codes: Vec::new() });
        let mut collected = Collected { counts, columns: columns.collect(), pairs: None };
        collected.sort(plan, &groups, &rows, deadline)?;
        Ok(collected)
    }

    fn sort(
        &mut self,
        plan: &Plan<'_>,
        groups: &[u32],
        rows: &[u32],
        deadline: &Deadline,
    ) -> Result<()> {
        for (figures, measured) in self.columns.iter_mut().zip(&plan.columns) {
            if let Figures::Sorted { starts, codes } = figures {
                let column = measured.column;
                *starts = vec![0; plan.n_groups + 1];
                let code_of = |row: u32| column.codes.get(column.first_item(row as usize));
                for (group, row) in groups.iter().zip(rows) {
                    starts[*group as usize + 1] += usize::from(code_of(*row) != NULL_CODE);
                }
                for group in 0..plan.n_groups {
                    starts[group + 1] += starts[group];
                }
                let mut next = starts.clone();
                *codes = vec![0; starts[plan.n_groups]];
                for (group, row) in groups.iter().zip(rows) {
                    let code = code_of(*row);
                    if code != NULL_CODE {
                        codes[next[*group as usize]] = code;
                        next[*group as usize] += 1;
                    }
                }
                let mut rest = codes.as_mut_slice();
                let mut slices = Vec::with_capacity(plan.n_groups);
                for group in 0..plan.n_groups {
                    let (slice, behind) = rest.split_at_mut(starts[group + 1] - starts[group]);
                    slices.push(slice);
                    rest = behind;
                }
                slices.par_chunks_mut(GROUPS_PER_CHECK).try_for_each(|slices| {
                    if deadline.is_over() {
                        return Err(Error::TimedOut);
                    }
                    slices.iter_mut().for_each(|slice| slice.sort_unstable());
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

fn add_counts(counts: &mut [u32], others: &[u32]) {
    for (count, other) in counts.iter_mut().zip(others) {
        *count += other;
    }
}

impl Running {
    fn new(column: &Column, n_groups: usize) -> Self {
        let is_whole = matches!(column.distinct, Distinct::Integers(_));
        let is_real = matches!(column.distinct, Distinct::Reals(_));
        Running {
            n_values: vec![0; n_groups],
            lowest: vec![u32::MAX; n_groups],
            highest: vec![0; n_groups],
            whole: vec![0; if is_whole { n_groups } else { 0 }],
            real: vec![Sum::default(); if is_real { n_groups } else { 0 }],
        }
    }

    fn add(&mut self, column: &Column, groups: &[u32], selected: Selected<'_>) {
        let Running { n_values, lowest, highest, whole, real } = self;
        column.codes.for_each(selected, |at, code| {
            if code == NULL_CODE {
                return;
            }
            let group = groups[at] as usize;
            n_values[group] += 1;
            lowest[group] = lowest[group].min(code);
            highest[group] = highest[group].max(code);
            match &column.distinct {
                Distinct::Integers(numbers) => whole[group] += numbers.value(code as usize),
                Distinct::Reals(numbers) => real[group].add(numbers.value(code as usize)),
                Distinct::Decimals(_)
                | Distinct::Text(_)
                | Distinct::Booleans(_)
                | Distinct::Timestamps(_) => {}
            }
        });
    }

    fn merge(&mut self, other: &Running) {
        add_counts(&mut self.n_values, &other.n_values);
        for (lowest, other) in self.lowest.iter_mut().zip(&other.lowest) {
            *lowest = (*lowest).min(*other);
        }
        for (highest, other) in self.highest.iter_mut().zip(&other.highest) {
            *highest = (*highest).max(*other);
        }
        for (sum, other) in self.whole.iter_mut().zip(&other.whole) {
            *sum += other;
        }
        for (sum, other) in self.real.iter_mut().zip(&other.real) {
            sum.merge(*other);
        }
    }

    fn value(&self, column: &Column, op: Op, group: usize) -> Value {
        let n_values = u64::from(self.n_values[group]);
        if op == Op::Count {
            return Value::Integer(n_values as i64);
        }
        if n_values == 0 {
            return Value::Null;
        }
        let total = match self.whole.get(group) {
            Some(sum) => Total::Whole(i128::from(*sum)),
            None => Total::Real(self.real.get(group).copied().unwrap_or_default()),
        };
        match op {
            Op::Sum => total.sum(),
            Op::Avg => total.mean(n_values),
            Op::Min => column.distinct.value(self.lowest[group]),
            Op::Max => column.distinct.value(self.highest[group]),
            Op::Count | Op::CountDistinct | Op::Percentile(_) => Value::Null,
        }
    }
}
