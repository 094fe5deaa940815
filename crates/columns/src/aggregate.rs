//! Aggregates: measures over the rows that pass, by group. The question and the answer, and
//! what every engine does in the same way after it has grouped: having, order, limit, names.

use std::cmp::Ordering;

use crate::query::{AnyGroup, Direction, Filter, Range, Test};
use crate::{Calendar, ColumnInfo, Decimal, Error, Kind, Result, Value, Zone, decimal};

/// The most groups that are formed; more is an error that says so.
pub const MAX_AGGREGATE_GROUPS: usize = 1_000_000;
/// The most groups that are taken from a database.
pub const MAX_DATABASE_GROUPS: usize = 200_000;

/// What is asked: rows that pass, in groups, measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aggregate {
    /// All of these must hold.
    pub filters: Vec<Filter>,
    /// And one alternative of each of these.
    pub any: Vec<AnyGroup>,
    /// What makes a group; one group of all rows without any.
    pub group_by: Vec<Grouping>,
    /// What is measured of each group.
    pub measures: Vec<Measure>,
    /// Groups must pass all of these.
    pub having: Vec<Having>,
    /// The order of groups, most significant first; ties and the rest ascend by group.
    pub sort: Vec<OutputSort>,
    /// The most groups of the answer.
    pub limit: usize,
}

/// One part of what makes a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouping {
    /// Whose cells are grouped by; its name in the schema.
    pub column: String,
    /// How its values become groups.
    pub by: GroupBy,
}

/// How values become groups. Null is a group of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupBy {
    /// Each value; a cell with several values counts in each of their groups.
    Value,
    /// Buckets of the calendar in a zone.
    Calendar(Calendar, Zone),
    /// Ranges of numbers of this width, from a multiple of it; positive and finite.
    Width(f64),
}

/// One figure of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// What is computed.
    pub op: Op,
    /// Of which column; `Count` without one counts rows. Null cells are left out.
    pub column: Option<String>,
}

/// What is computed of a group. Without a value to compute from, all but counts are null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Rows, or cells that are not null.
    Count,
    /// Different values.
    CountDistinct,
    /// Null where no cell is left to add.
    Sum,
    /// The mean.
    Avg,
    /// The lowest value.
    Min,
    /// The highest value.
    Max,
    /// The value below which this many percent lie, between two neighbours where it must be
    /// (`percentile_cont` in SQL). The median is 50.
    Percentile(u8),
}

/// A condition on a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Having {
    /// The place of the measure.
    pub measure_idx: usize,
    /// The condition.
    pub test: Test,
}

/// A part of the order of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSort {
    /// By which column of the answer: groupings first, then measures.
    pub output: Output,
    /// Which end comes first; nulls are last in both.
    pub direction: Direction,
}

/// A column of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A part of the group, by its place.
    Group(usize),
    /// A measure, by its place.
    Measure(usize),
}

/// What a table answers.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateAnswer {
    /// Groupings, then measures. Buckets of time are text, `2024-03` for a month.
    pub rows: Vec<Vec<Value>>,
    /// Groups that pass `having`, before the limit.
    pub total_groups: u64,
    /// Rows that pass the filters.
    pub total_rows: u64,
}

impl Op {
    /// Gives the name used in calls: `median` for the 50th percentile.
    pub fn name(self) -> String {
        match self {
            Op::Count => "count".to_owned(),
            Op::CountDistinct => "count_distinct".to_owned(),
            Op::Sum => "sum".to_owned(),
            Op::Avg => "avg".to_owned(),
            Op::Min => "min".to_owned(),
            Op::Max => "max".to_owned(),
            Op::Percentile(50) => "median".to_owned(),
            Op::Percentile(percent) => format!("p{percent}"),
        }
    }

    /// Tells whether a column of this kind can be measured so.
    fn takes(self, kind: Kind) -> bool {
        match self {
            Op::Count | Op::CountDistinct => true,
            Op::Min | Op::Max => kind != Kind::Boolean,
            Op::Sum | Op::Avg | Op::Percentile(_) => kind == Kind::Number,
        }
    }
}

impl Aggregate {
    /// Checks everything that does not depend on rows, so that every engine refuses the same.
    pub(crate) fn check(&self, columns: &[ColumnInfo]) -> Result<()> {
        let find = |name: &str| {
            columns.iter().find(|column| column.name == name).ok_or_else(|| Error::UnknownColumn {
                column: name.to_owned(),
                known: columns.iter().map(|column| column.name.clone()).collect(),
            })
        };
        let wrong = |column: &ColumnInfo, test: &'static str| Error::WrongTest {
            column: column.name.clone(),
            kind: column.kind.as_str(),
            test,
        };
        for grouping in &self.group_by {
            let column = find(&grouping.column)?;
            match &grouping.by {
                GroupBy::Value => {}
                GroupBy::Calendar(..) if column.kind == Kind::Timestamp => {}
                GroupBy::Calendar(..) => return Err(wrong(column, "a bucket of time")),
                GroupBy::Width(width) => {
                    if column.kind != Kind::Number {
                        return Err(wrong(column, "a width"));
                    }
                    if !(width.is_finite() && *width > 0.0) {
                        return Err(Error::BadWidth { received: *width });
                    }
                }
            }
        }
        for measure in &self.measures {
            let Some(name) = &measure.column else {
                if measure.op == Op::Count {
                    continue;
                }
                return Err(Error::NoMeasuredColumn { op: measure.op.name() });
            };
            let column = find(name)?;
            if !measure.op.takes(column.kind) {
                return Err(Error::WrongMeasure {
                    op: measure.op.name(),
                    column: column.name.clone(),
                    kind: column.kind.as_str(),
                    allowed: match column.kind {
                        Kind::Boolean => "`count` and `count_distinct`",
                        Kind::Text | Kind::Number | Kind::Timestamp => {
                            "`count`, `count_distinct`, `min` and `max`"
                        }
                    },
                });
            }
            if column.has_lists && !matches!(measure.op, Op::Count) {
                return Err(wrong(column, "a measure, since its cells hold several values"));
            }
        }
        Ok(())
    }
}

/// Chooses the groups of an answer and their order. `compare_groups` compares two groups by one
/// part of their key in a direction, null last in both; `measures` holds one list for each measure.
pub(crate) fn arrange(
    aggregate: &Aggregate,
    n_groups: usize,
    measures: &[Vec<Value>],
    compare_groups: impl Fn(usize, usize, usize, Direction) -> Ordering,
) -> (Vec<usize>, u64) {
    let mut order: Vec<usize> = (0..n_groups)
        .filter(|group| {
            aggregate
                .having
                .iter()
                .all(|having| passes(&measures[having.measure_idx][*group], &having.test))
        })
        .collect();
    let total_groups = order.len() as u64;
    let compare = |left: &usize, right: &usize| {
        for sort in &aggregate.sort {
            let by = match sort.output {
                Output::Group(place) => compare_groups(place, *left, *right, sort.direction),
                Output::Measure(place) => {
                    directed(&measures[place][*left], &measures[place][*right], sort.direction)
                }
            };
            if by.is_ne() {
                return by;
            }
        }
        (0..aggregate.group_by.len())
            .map(|place| compare_groups(place, *left, *right, Direction::Ascending))
            .find(|by| by.is_ne())
            .unwrap_or(left.cmp(right))
    };
    if order.len() > aggregate.limit && aggregate.limit > 0 {
        order.select_nth_unstable_by(aggregate.limit - 1, compare);
    }
    order.truncate(aggregate.limit);
    order.sort_unstable_by(compare);
    (order, total_groups)
}

/// Compares two values in a direction; nulls are last in both.
pub(crate) fn directed(left: &Value, right: &Value, direction: Direction) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Greater,
        (_, Value::Null) => Ordering::Less,
        (left, right) => match direction {
            Direction::Ascending => compare(left, right),
            Direction::Descending => compare(right, left),
        },
    }
}

fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right))
        | (Value::Timestamp(left), Value::Timestamp(right)) => left.cmp(right),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Decimal(_), _) | (_, Value::Decimal(_)) => decimal::compare(left, right),
        (left, right) => {
            left.as_f64().unwrap_or(f64::MAX).total_cmp(&right.as_f64().unwrap_or(f64::MAX))
        }
    }
}

/// Tells whether a measure passes a condition.
fn passes(value: &Value, test: &Test) -> bool {
    match test {
        Test::AnyOf(values) => values.iter().any(|wanted| {
            (*value == Value::Null) == (*wanted == Value::Null) && compare(value, wanted).is_eq()
        }),
        Test::Within(ranges) => ranges.iter().any(|range: &Range| {
            *value != Value::Null
                && (range.low == Value::Null || compare(value, &range.low).is_ge())
                && (range.high == Value::Null || compare(value, &range.high).is_le())
        }),
        Test::Not(inner) => !passes(value, inner),
        Test::Contains { text, .. } => value.as_str().is_some_and(|cell| cell.contains(text)),
        Test::HasPrefix(prefixes) => value
            .as_str()
            .is_some_and(|cell| prefixes.iter().any(|prefix| cell.starts_with(prefix.as_str()))),
        Test::HoldsAll(_) => false,
    }
}

/// The number of the last range of a width on either side, which takes everything beyond it: what
/// an integer of 64 bits holds.
pub const LAST_RANGE: f64 = 9e18;

/// Gives the number of the bar that holds a value.
pub(crate) fn width_number(value: f64, width: f64) -> i64 {
    (value / width).floor().clamp(-LAST_RANGE, LAST_RANGE) as i64
}

/// Gives the number of the range that holds a value: the last one that does not start behind it.
///
/// The quotient alone puts 0.3 into the range from 0.2 to 0.3, for 0.3 / 0.1 is a little less
/// than 3 in binary.
pub(crate) fn range_number(value: f64, width: f64) -> i64 {
    let number = width_number(value, width);
    if start_of_range(number.saturating_add(1), width) <= value {
        number.saturating_add(1)
    } else if start_of_range(number, width) > value {
        number.saturating_sub(1)
    } else {
        number
    }
}

/// Gives a width as a whole number, where it is one: whole numbers are then divided as such, for
/// beyond 2^53 a float no longer tells neighbours apart.
pub(crate) fn whole_width(width: f64) -> Option<i64> {
    (width.fract() == 0.0 && (1.0..LAST_RANGE).contains(&width)).then_some(width as i64)
}

/// Gives the number of the range that holds a value of a column.
pub(crate) fn range_number_of(value: &Value, width: f64) -> i64 {
    match (value, whole_width(width)) {
        (Value::Integer(number), Some(width)) => number.div_euclid(width),
        (Value::Decimal(number), _) => Decimal::of_real(width)
            .and_then(|width| number.range_of(width))
            .unwrap_or_else(|| range_number(number.as_f64(), width)),
        (value, _) => range_number(value.as_f64().unwrap_or_default(), width),
    }
}

/// Gives the whole number of ranges in one, for widths like 0.1.
pub(crate) fn ranges_in_one(width: f64) -> Option<f64> {
    let inverse = (1.0 / width).round();
    (inverse >= 1.0 && (inverse * width - 1.0).abs() < 1e-12).then_some(inverse)
}

/// Gives the lower end of a range. Widths like 0.1 are divided by their inverse, so that the
/// third range starts at 0.3 and not at 0.30000000000000004.
fn start_of_range(number: i64, width: f64) -> f64 {
    ranges_in_one(width).map_or(number as f64 * width, |inverse| number as f64 / inverse)
}

/// Gives the lower end of a range as a value.
pub(crate) fn width_start(number: i64, width: f64) -> Value {
    let whole = whole_width(width).and_then(|width| number.checked_mul(width));
    if let Some(start) = whole {
        return Value::Integer(start);
    }
    let start = start_of_range(number, width);
    if start.fract() == 0.0 && start.abs() < 9e15 {
        Value::Integer(start as i64)
    } else {
        Value::Real(start)
    }
}

/// Where a percentile lies among values in order: two neighbours, and how far between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PercentilePlace {
    pub(crate) low_idx: u64,
    pub(crate) high_idx: u64,
    /// How far behind the lower neighbour, in hundredths of the way to the higher one: whole, so
    /// that nothing is lost before the neighbours are known.
    hundredths: u8,
}

impl PercentilePlace {
    /// Finds the place among `n` values.
    pub(crate) fn among(n: u64, percent: u8) -> Self {
        let place = u128::from(n.saturating_sub(1)) * u128::from(percent);
        let low_idx = (place / 100) as u64;
        let hundredths = (place % 100) as u8;
        PercentilePlace { low_idx, high_idx: low_idx + u64::from(hundredths > 0), hundredths }
    }

    /// Gives the value between two neighbours; one of them where it lies on it.
    pub(crate) fn between(self, low: f64, high: f64) -> f64 {
        if self.hundredths == 0 || low == high {
            return low;
        }
        let share = f64::from(self.hundredths) / 100.0;
        let way = high - low;
        if way.is_finite() { low + way * share } else { low * (1.0 - share) + high * share }
    }

    /// Gives the value between two neighbours that are units of one scale.
    pub(crate) fn between_units(self, low: i128, high: i128, scale: u8) -> Value {
        decimal::Total::between(low, high, scale, self.hundredths)
    }

    /// Gives the value between two neighbours that are written with digits.
    pub(crate) fn between_written(self, low: &str, high: &str) -> Option<Value> {
        if self.hundredths == 0 || low == high {
            return Value::number(low);
        }
        decimal::between(low, high, self.hundredths)
    }

    /// Gives the value between two whole neighbours, to the last digit.
    pub(crate) fn between_whole(self, low: i64, high: i64) -> Value {
        let way = i128::from(high) - i128::from(low);
        whole_ratio(i128::from(low) * 100 + way * i128::from(self.hundredths), 100)
    }
}

/// Gives the mean of whole numbers from their sum.
pub(crate) fn whole_mean(sum: i128, n_values: u64) -> Value {
    whole_ratio(sum, i128::from(n_values.max(1)))
}

/// Divides whole numbers. Beyond 2^53 a float is coarser than one, so the nearest whole number is
/// given there, the even one of two.
fn whole_ratio(dividend: i128, divisor: i128) -> Value {
    const EXACT: u128 = 1 << 53;
    let (quotient, rest) = (dividend.div_euclid(divisor), dividend.rem_euclid(divisor));
    if quotient.unsigned_abs() < EXACT {
        return Value::Real(quotient as f64 + rest as f64 / divisor as f64);
    }
    let is_above_half = match (2 * rest).cmp(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => quotient % 2 != 0,
        Ordering::Greater => true,
    };
    whole_sum(quotient + i128::from(is_above_half))
}

/// A sum of whole numbers as a value.
pub(crate) fn whole_sum(sum: i128) -> Value {
    Decimal::new(sum, 0).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_the_range_that_starts_at_it() {
        for (value, width, expected) in [
            (0.3, 0.1, 3),
            (0.7, 0.1, 7),
            (-0.3, 0.1, -3),
            (1.1, 0.1, 11),
            (4.35, 0.05, 87),
            (0.29, 0.1, 2),
            (-0.31, 0.1, -4),
            (29.97, 9.99, 3),
            (250.0, 100.0, 2),
            (-1.0, 64.0, -1),
            (5_500_005_555_555_559.0, 0.5, 11_000_011_111_111_118),
        ] {
            assert_eq!(range_number(value, width), expected, "{value} by {width}");
        }
    }
}
