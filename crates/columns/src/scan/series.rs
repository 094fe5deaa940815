//! Sums by time and by group. The bucket of a row follows from its code, so dates are taken
//! apart once for each distinct moment.

use ahash::AHashMap;
use model::Deadline;

use super::select::{Selected, Selection};
use crate::column::{Distinct, NULL_CODE};
use crate::query::{Filter, SeriesAnswer, SeriesPoint, TimeSeries};
use crate::{Bucket, Column, Dataset, Error, Kind, Result, Value};

/// The most points of a series.
pub const MAX_POINTS: usize = 2000;
/// The most points when the width is left to the table.
pub const AUTO_POINTS: usize = 200;
/// The most groups of [`series`].
pub const MAX_GROUPS: usize = 1_000_000;

/// A sum by group: the values of some columns, over the rows that pass.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupQuery {
    /// All of these must hold.
    pub filters: Vec<Filter>,
    /// The columns whose values make a group; one or more.
    pub group_by: Vec<String>,
    /// The column of numbers to add up; null cells add nothing. Rows are only counted without
    /// one.
    pub sum: Option<String>,
}

/// The values that its rows share, with their sum.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSum {
    /// The values of the grouping columns, in the order of the query.
    pub keys: Vec<Value>,
    /// Rows in the group.
    pub count: u64,
    /// The sum over its rows.
    pub sum: f64,
}

/// Adds up a column by group, in ascending order of the groups. The same rows give the same
/// sum to the last bit, whatever the number of threads: one thread adds in the order of rows,
/// with its rounding errors kept beside the sum.
///
/// Fails on an unknown column, a sum over what is no number, more than [`MAX_GROUPS`] groups,
/// or a deadline that passes.
pub fn series(dataset: &Dataset, query: &GroupQuery, deadline: &Deadline) -> Result<Vec<GroupSum>> {
    let conditions = super::compile(dataset, &query.filters, &[])?;
    let keys: Vec<&Column> =
        query.group_by.iter().map(|name| dataset.column(name)).collect::<Result<_>>()?;
    let amounts = query.sum.as_ref().map(|name| Amounts::of(dataset.column(name)?)).transpose()?;
    let mut groups: AHashMap<Vec<u32>, (u64, Sum)> = AHashMap::new();
    let mut selection = Selection::new();
    let mut key = Vec::with_capacity(keys.len());
    for (n_done, start) in (0..dataset.n_rows()).step_by(super::BLOCK_ROWS).enumerate() {
        if n_done % super::BLOCKS_PER_CHECK == 0 && deadline.is_over() {
            return Err(Error::TimedOut);
        }
        let end = dataset.n_rows().min(start + super::BLOCK_ROWS);
        selection.select(&conditions, start, end).for_each(|row| {
            key.clear();
            key.extend(keys.iter().map(|column| column.codes.get(column.first_item(row))));
            if !groups.contains_key(&key) {
                groups.insert(key.clone(), (0, Sum::default()));
            }
            let (count, sum) = groups.get_mut(&key).expect("it was put there");
            *count += 1;
            if let Some(amounts) = &amounts {
                sum.add(amounts.get(row));
            }
        });
        if groups.len() > MAX_GROUPS {
            return Err(Error::TooManyPoints {
                bucket: query.group_by.join(", "),
                n_points: groups.len() as u64,
                limit: MAX_GROUPS,
            });
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    Ok(groups
        .into_iter()
        .map(|(codes, (count, sum))| GroupSum {
            keys: codes
                .iter()
                .zip(&keys)
                .map(|(code, column)| column.distinct.value(*code))
                .collect(),
            count,
            sum: sum.value(),
        })
        .collect())
}

/// What a series by time needs to know before the scan.
pub(super) struct SeriesPlan<'d> {
    column: &'d Column,
    bucket: Bucket,
    first: i64,
    /// The point of each code.
    points: Vec<u32>,
    n_points: usize,
    amounts: Option<Amounts<'d>>,
}

/// The sums of one thread.
pub(super) struct Sums {
    sums: Vec<Sum>,
    n_without_time: u64,
}

impl<'d> SeriesPlan<'d> {
    pub(super) fn new(dataset: &'d Dataset, series: &TimeSeries) -> Result<Self> {
        let column = dataset.column(&series.column)?;
        let Distinct::Timestamps(moments) = &column.distinct else {
            return Err(Error::WrongTest {
                column: column.name().to_owned(),
                kind: column.kind().as_str(),
                test: "a series by time",
            });
        };
        let amounts = match &series.sum {
            Some(name) => Some(Amounts::of(dataset.column(name)?)?),
            None => None,
        };
        if moments.len() == 1 {
            let bucket = series.bucket.unwrap_or(Bucket::Day);
            return Ok(SeriesPlan {
                column,
                bucket,
                first: 0,
                points: vec![0],
                n_points: 0,
                amounts,
            });
        }
        let (lowest, highest) = (moments.value(1), moments.value(moments.len() - 1));
        let bucket = series.bucket.unwrap_or_else(|| narrowest(lowest, highest));
        let first = bucket.index_of(lowest);
        let n_points = check_points(bucket, lowest, highest)?;
        let points = std::iter::once(0)
            .chain((1..moments.len()).map(|at| (bucket.index_of(moments.value(at)) - first) as u32))
            .collect();
        Ok(SeriesPlan { column, bucket, first, points, n_points, amounts })
    }
}

impl Sums {
    pub(super) fn new(plan: &SeriesPlan<'_>) -> Self {
        Sums { sums: vec![Sum::default(); plan.n_points], n_without_time: 0 }
    }

    pub(super) fn add(&mut self, plan: &SeriesPlan<'_>, selected: Selected<'_>) {
        selected.for_each(|row| {
            let code = plan.column.codes.get(plan.column.first_item(row));
            if code == NULL_CODE {
                self.n_without_time += 1;
                return;
            }
            let amount = plan.amounts.as_ref().map_or(1.0, |amounts| amounts.get(row));
            self.sums[plan.points[code as usize] as usize].add(amount);
        });
    }

    pub(super) fn merge(&mut self, other: &Sums) {
        self.n_without_time += other.n_without_time;
        for (sum, others) in self.sums.iter_mut().zip(&other.sums) {
            let n_added = sum.n_added + others.n_added;
            sum.merge(*others);
            sum.n_added = n_added;
        }
    }

    /// Leaves out the empty points before the first and after the last row that passed.
    pub(super) fn finish(self, plan: &SeriesPlan<'_>) -> Result<SeriesAnswer> {
        let points = self
            .sums
            .iter()
            .enumerate()
            .map(|(at, sum)| (plan.first + at as i64, sum.value()))
            .collect::<Vec<_>>();
        let used = |sum: &Sum| sum.n_added > 0;
        let start = self.sums.iter().position(used).unwrap_or(points.len());
        let end = self.sums.iter().rposition(used).map_or(start, |last| last + 1);
        Ok(SeriesAnswer {
            bucket: plan.bucket,
            points: points[start..end]
                .iter()
                .map(|(index, value)| SeriesPoint {
                    start: plan.bucket.start_of(*index),
                    value: *value,
                })
                .collect(),
            n_without_time: self.n_without_time,
        })
    }
}

/// Gives the narrowest bucket that keeps a series short.
pub(crate) fn narrowest(lowest: i64, highest: i64) -> Bucket {
    narrowest_of(lowest, highest, AUTO_POINTS as i64)
}

/// Gives the narrowest bucket that makes at most so many points.
pub(crate) fn narrowest_of(lowest: i64, highest: i64, n_points: i64) -> Bucket {
    Bucket::ALL
        .into_iter()
        .find(|bucket| bucket.index_of(highest) - bucket.index_of(lowest) < n_points)
        .unwrap_or(Bucket::Year)
}

/// Puts sums that an engine gave by bucket number in a row without gaps.
pub(crate) fn fill(
    bucket: Bucket,
    sums: &[(i64, f64)],
    n_without_time: u64,
) -> Result<SeriesAnswer> {
    let (Some((first, _)), Some((last, _))) = (sums.first(), sums.last()) else {
        return Ok(SeriesAnswer { bucket, points: Vec::new(), n_without_time });
    };
    check_points(bucket, bucket.start_of(*first), bucket.start_of(*last))?;
    let mut points = Vec::new();
    let mut at = *first;
    for (index, sum) in sums {
        while at < *index {
            points.push(SeriesPoint { start: bucket.start_of(at), value: 0.0 });
            at += 1;
        }
        points.push(SeriesPoint { start: bucket.start_of(at), value: *sum });
        at += 1;
    }
    Ok(SeriesAnswer { bucket, points, n_without_time })
}

/// Counts the points of a series, and refuses too many.
pub(crate) fn check_points(bucket: Bucket, lowest: i64, highest: i64) -> Result<usize> {
    let n_points = (bucket.index_of(highest) - bucket.index_of(lowest) + 1) as u64;
    if n_points > MAX_POINTS as u64 {
        return Err(Error::TooManyPoints {
            bucket: bucket.as_str().to_owned(),
            n_points,
            limit: MAX_POINTS,
        });
    }
    Ok(n_points as usize)
}

/// A column of numbers to add up.
struct Amounts<'d> {
    column: &'d Column,
    values: Vec<f64>,
}

impl<'d> Amounts<'d> {
    fn of(column: &'d Column) -> Result<Self> {
        if column.kind() != Kind::Number || column.has_lists() {
            return Err(Error::WrongTest {
                column: column.name().to_owned(),
                kind: column.kind().as_str(),
                test: "a sum",
            });
        }
        let values = (0..column.distinct.len())
            .map(|code| column.distinct.value(code as u32).as_f64().unwrap_or(0.0))
            .collect();
        Ok(Amounts { column, values })
    }

    fn get(&self, row: usize) -> f64 {
        self.values[self.column.codes.get(row) as usize]
    }
}

/// A sum that keeps what rounding loses (Neumaier's summation).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
    n_added: u64,
}

impl Sum {
    /// Adds an amount many times, with what the product loses.
    pub(super) fn add_times(&mut self, amount: f64, times: f64) {
        let product = amount * times;
        self.add(product);
        self.lost += amount.mul_add(times, -product);
    }

    pub(super) fn merge(&mut self, other: Sum) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    pub(super) fn add(&mut self, amount: f64) {
        let total = self.sum + amount;
        self.lost += if self.sum.abs() >= amount.abs() {
            (self.sum - total) + amount
        } else {
            (amount - total) + self.sum
        };
        self.sum = total;
        self.n_added += 1;
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }

    /// Divides the sum before it is rounded: the mean of equal numbers is the number.
    pub(super) fn mean(self, n_values: u64) -> f64 {
        let n_values = n_values as f64;
        let mean = self.value() / n_values;
        let rest = mean.mul_add(-n_values, self.sum) + self.lost;
        if rest.is_finite() { mean + rest / n_values } else { mean }
    }
}
