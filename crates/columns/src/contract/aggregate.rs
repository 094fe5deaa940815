//! Proves that every engine measures groups as a plain scan over the rows does: groups by value,
//! by calendar in a zone and by width; every measure; having, order, limit and both totals.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{
    Model, NAMES_OF_COLUMNS, Numbers, column_idx, compare, directed, passes_all, plain, random_any,
    random_filters,
};
use crate::tests::deadline;
use crate::{
    Aggregate, Calendar, Direction, GroupBy, Grouping, Having, Measure, Op, Output, OutputSort,
    Range, Table, Test, Value, Zone,
};

const ZONES: [&str; 4] = ["UTC", "America/New_York", "Europe/Bucharest", "Asia/Kolkata"];

impl Model {
    /// Asks random aggregates of all tables and compares each answer with a plain scan.
    pub(crate) fn check_aggregates(&self, tables: &[&dyn Table], seed: u64, n_queries: usize) {
        let mut numbers = Numbers::new(seed);
        for _ in 0..n_queries {
            let wanted = random_aggregate(&mut numbers);
            let expected = self.aggregated(&wanted);
            for (place, table) in tables.iter().enumerate() {
                let answer = table.aggregate(&wanted, &deadline()).unwrap();
                let context = format!("table {place}: {wanted:#?}");
                assert_eq!(answer.total_rows, expected.total_rows, "{context}");
                assert_eq!(answer.total_groups, expected.total_groups, "{context}");
                assert_eq!(answer.rows.len(), expected.rows.len(), "{context}");
                for (row, wanted_row) in answer.rows.iter().zip(&expected.rows) {
                    for (cell, wanted_cell) in row.iter().zip(wanted_row) {
                        assert!(same(cell, wanted_cell), "{row:?} {wanted_row:?} {context}");
                    }
                }
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "a plain scan keeps what it needs in plain tuples")]
    fn aggregated(&self, wanted: &Aggregate) -> crate::AggregateAnswer {
        let passing: Vec<&Vec<Value>> =
            self.rows.iter().filter(|row| passes_all(row, &wanted.filters, &wanted.any)).collect();
        // Keys are kept beside what orders them.
        let mut groups: BTreeMap<String, (Vec<(Value, Value)>, Vec<&Vec<Value>>)> = BTreeMap::new();
        if wanted.group_by.is_empty() {
            groups.insert("[]".to_owned(), (Vec::new(), Vec::new()));
        }
        for row in &passing {
            let key: Vec<(Value, Value)> = wanted
                .group_by
                .iter()
                .map(|grouping| key_of(&row[column_idx(&grouping.column)], &grouping.by))
                .collect();
            let name = format!("{key:?}");
            groups.entry(name).or_insert_with(|| (key, Vec::new())).1.push(row);
        }
        let mut measured: Vec<(Vec<(Value, Value)>, Vec<Value>)> = groups
            .into_values()
            .map(|(key, rows)| {
                let measures =
                    wanted.measures.iter().map(|measure| measured(&rows, measure)).collect();
                (key, measures)
            })
            .filter(|(_, measures): &(_, Vec<Value>)| {
                wanted.having.iter().all(|having| {
                    let Test::Within(ranges) = &having.test else {
                        panic!("only ranges are asked")
                    };
                    let value = &measures[having.measure_idx];
                    *value != Value::Null && compare(value, &ranges[0].low).is_ge()
                })
            })
            .collect();
        let total_groups = measured.len() as u64;
        measured.sort_by(|(left, left_measures), (right, right_measures)| {
            let explicit = wanted.sort.iter().map(|sort| match sort.output {
                Output::Group(place) => directed(&left[place].0, &right[place].0, sort.direction),
                Output::Measure(place) => {
                    directed(&left_measures[place], &right_measures[place], sort.direction)
                }
            });
            let implicit = left
                .iter()
                .zip(right)
                .map(|(left, right)| directed(&left.0, &right.0, Direction::Ascending));
            explicit.chain(implicit).find(|by| by.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let rows = measured
            .into_iter()
            .take(wanted.limit)
            .map(|(key, measures)| {
                key.into_iter().map(|(_, shown)| shown).chain(measures).collect()
            })
            .collect();
        crate::AggregateAnswer { rows, total_groups, total_rows: passing.len() as u64 }
    }
}

/// Gives what orders a group and what shows it.
fn key_of(value: &Value, by: &GroupBy) -> (Value, Value) {
    if *value == Value::Null {
        return (Value::Null, Value::Null);
    }
    match by {
        GroupBy::Value => (plain(value), plain(value)),
        GroupBy::Width(width) => {
            // The last multiple that is not behind the value, in decimal as people write it.
            let value = value.as_f64().unwrap();
            let near = (value / width).floor() as i64;
            let decimal = |number: i64| {
                let text = format!("{:.6}", number as f64 * width);
                text.parse::<f64>().unwrap()
            };
            let mut starts = (near - 2..=near + 2).map(decimal).filter(|start| *start <= value);
            let start = starts.next_back().unwrap();
            (Value::Real(start), Value::Real(start))
        }
        GroupBy::Calendar(calendar, zone) => {
            let zone = TimeZone::get(zone.name()).unwrap();
            let millis = value.as_f64().unwrap() as i64;
            let zoned = Timestamp::from_millisecond(millis).unwrap().to_zoned(zone);
            let date = zoned.date();
            let order = match calendar {
                Calendar::Weekday => f64::from(zoned.weekday().to_monday_zero_offset()),
                Calendar::Year
                | Calendar::Quarter
                | Calendar::Month
                | Calendar::Week
                | Calendar::Day
                | Calendar::Hour => millis as f64,
            };
            let shown = match calendar {
                Calendar::Year => date.to_string()[..4].to_owned(),
                Calendar::Quarter => format!("{}-Q{}", date.year(), (date.month() - 1) / 3 + 1),
                Calendar::Month => date.to_string()[..7].to_owned(),
                Calendar::Day => date.to_string(),
                Calendar::Week => {
                    let back = i64::from(zoned.weekday().to_monday_zero_offset());
                    date.checked_sub(jiff::Span::new().days(back)).unwrap().to_string()
                }
                Calendar::Hour => zoned.strftime("%Y-%m-%dT%H:00").to_string(),
                Calendar::Weekday => zoned.strftime("%A").to_string(),
            };
            // Members of one bucket must have one order.
            let order = if *calendar == Calendar::Weekday {
                Value::Real(order)
            } else {
                Value::Text(shown.clone())
            };
            (order, Value::Text(shown))
        }
    }
}

fn measured(rows: &[&Vec<Value>], measure: &Measure) -> Value {
    let Some(name) = &measure.column else { return Value::Integer(rows.len() as i64) };
    let mut values: Vec<&Value> = rows
        .iter()
        .map(|row| &row[column_idx(name)])
        .filter(|value| **value != Value::Null)
        .collect();
    values.sort_by(|left, right| compare(left, right));
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
    let n = values.len();
    match measure.op {
        Op::Count => Value::Integer(n as i64),
        Op::CountDistinct => {
            values.dedup_by(|left, right| compare(left, right).is_eq());
            Value::Integer(values.len() as i64)
        }
        _ if n == 0 => Value::Null,
        Op::Sum => Value::Real(numbers.iter().sum()),
        Op::Avg => Value::Real(numbers.iter().sum::<f64>() / n as f64),
        Op::Min => values[0].clone(),
        Op::Max => values[n - 1].clone(),
        Op::Percentile(percent) => {
            let place = (n - 1) as f64 * f64::from(percent) / 100.0;
            let (low, high) = (numbers[place.floor() as usize], numbers[place.ceil() as usize]);
            Value::Real(low + (high - low) * place.fract())
        }
    }
}

fn same(cell: &Value, wanted: &Value) -> bool {
    match (plain(cell), plain(wanted)) {
        (Value::Real(left), Value::Real(right)) => {
            (left - right).abs() < 1e-9 * right.abs().max(1.0)
        }
        // The plain scan writes hours without their offset.
        (Value::Text(left), Value::Text(right)) => {
            left == right || (right.len() == 16 && right.contains('T') && left.starts_with(&right))
        }
        (left, right) => left == right,
    }
}

fn random_aggregate(numbers: &mut Numbers) -> Aggregate {
    let group_by: Vec<Grouping> = (0..numbers.below(4))
        .map(|_| {
            let column = *numbers.pick(&NAMES_OF_COLUMNS);
            let by = match (column, numbers.below(3)) {
                ("at", 1 | 2) => GroupBy::Calendar(
                    *numbers.pick(&Calendar::ALL),
                    Zone::named(ZONES[numbers.below(ZONES.len() as u64) as usize]).unwrap(),
                ),
                ("size" | "ratio", 1) => {
                    GroupBy::Width(*numbers.pick(&[0.1, 0.5, 3.0, 10.0, 64.0]))
                }
                _ => GroupBy::Value,
            };
            Grouping { column: column.to_owned(), by }
        })
        .collect();
    let measures: Vec<Measure> = (0..1 + numbers.below(4))
        .map(|_| {
            let op = *numbers.pick(&[
                Op::Count,
                Op::CountDistinct,
                Op::Sum,
                Op::Avg,
                Op::Min,
                Op::Max,
                Op::Percentile(50),
                Op::Percentile(90),
                Op::Percentile(99),
            ]);
            let columns: &[&str] = match op {
                Op::Count | Op::CountDistinct => &NAMES_OF_COLUMNS,
                Op::Min | Op::Max => &["name", "size", "ratio", "at"],
                Op::Sum | Op::Avg | Op::Percentile(_) => &["size", "ratio"],
            };
            let is_rows = op == Op::Count && numbers.below(2) == 0;
            let column = (!is_rows).then(|| (*numbers.pick(columns)).to_owned());
            Measure { op, column }
        })
        .collect();
    let having = measures
        .iter()
        .enumerate()
        .filter(|(_, measure)| matches!(measure.op, Op::Count | Op::CountDistinct))
        .filter(|_| numbers.below(3) == 0)
        .map(|(measure_idx, _)| Having {
            measure_idx,
            test: Test::Within(vec![Range { low: Value::Integer(2), high: Value::Null }]),
        })
        .collect();
    let n_outputs = (group_by.len() + measures.len()) as u64;
    // Sums of reals may differ in the last digit, so they order nothing here.
    let sort = (0..numbers.below(3))
        .map(|_| {
            let place = numbers.below(n_outputs) as usize;
            let output = match place.checked_sub(group_by.len()) {
                None => Output::Group(place),
                Some(place) => Output::Measure(place),
            };
            let direction = *numbers.pick(&[Direction::Ascending, Direction::Descending]);
            OutputSort { output, direction }
        })
        .filter(|sort| match sort.output {
            Output::Group(_) => true,
            Output::Measure(place) => {
                !matches!(measures[place].op, Op::Sum | Op::Avg | Op::Percentile(_))
            }
        })
        .collect();
    Aggregate {
        filters: random_filters(numbers, 3),
        any: random_any(numbers),
        group_by,
        measures,
        having,
        sort,
        limit: *numbers.pick(&[1, 5, 500]),
    }
}
