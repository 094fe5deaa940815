//! Random cells, tests and queries over the table of the contract.

use super::*;

pub(super) fn random_value(numbers: &mut Numbers, column: usize) -> Value {
    if numbers.below(8) == 0 {
        return Value::Null;
    }
    match column {
        0 => Value::from(*numbers.pick(&NAMES)),
        1 => Value::Integer(numbers.below(20) as i64 - 5),
        2 => Value::Real(numbers.below(1000) as f64 / 8.0 - 20.0),
        3 => Value::Boolean(numbers.below(2) == 0),
        _ => Value::Timestamp(START - 5_000_000_000 + numbers.below(200) as i64 * 77_777_777),
    }
}

pub(super) fn random_query(numbers: &mut Numbers) -> Query {
    let names: Vec<String> = ["name", "size", "ratio", "ok", "at"].map(str::to_owned).to_vec();
    let filters = random_filters(numbers, 4);
    let any = random_any(numbers);
    let sort = (0..numbers.below(4))
        .map(|_| Sort {
            column: numbers.pick(&names).clone(),
            direction: *numbers.pick(&[Direction::Ascending, Direction::Descending]),
        })
        .collect();
    let series = (numbers.below(4) == 0).then(|| TimeSeries {
        column: "at".to_owned(),
        bucket: *numbers.pick(&[
            None,
            Some(Bucket::Day),
            Some(Bucket::Week),
            Some(Bucket::Month),
            Some(Bucket::Year),
        ]),
        sum: numbers.pick(&[None, Some("size".to_owned()), Some("ratio".to_owned())]).clone(),
    });
    Query {
        filters,
        any,
        sort,
        continuous: names.iter().filter(|_| numbers.below(2) == 0).cloned().collect(),
        offset: *numbers.pick(&[0, 0, 1, 7, 500]),
        limit: *numbers.pick(&[0, 1, 5, 20, 1000]),
        after: None,
        facets: names.iter().filter(|_| numbers.below(2) == 0).cloned().collect(),
        facet_rows: *numbers.pick(&[3, 1000]),
        columns: names,
        series,
    }
}

pub(crate) fn random_filters(numbers: &mut Numbers, below: u64) -> Vec<Filter> {
    (0..numbers.below(below))
        .map(|_| {
            let column = numbers.below(5) as usize;
            Filter::new(NAMES_OF_COLUMNS[column], random_test(numbers, column))
        })
        .collect()
}

pub(crate) fn random_any(numbers: &mut Numbers) -> Vec<AnyGroup> {
    (0..numbers.below(3) / 2)
        .map(|_| AnyGroup {
            alternatives: (0..numbers.below(4)).map(|_| random_filters(numbers, 3)).collect(),
        })
        .collect()
}

/// The plain meaning of filters and alternatives.
pub(crate) fn passes_all(row: &[Value], filters: &[Filter], any: &[AnyGroup]) -> bool {
    let all = |filters: &[Filter]| {
        filters.iter().all(|filter| passes(&row[column_idx(&filter.column)], &filter.test))
    };
    all(filters) && any.iter().all(|group| group.alternatives.iter().any(|list| all(list)))
}

/// Compares in a direction, nulls last.
pub(crate) fn directed(left: &Value, right: &Value, direction: Direction) -> std::cmp::Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => std::cmp::Ordering::Equal,
        (Value::Null, _) => std::cmp::Ordering::Greater,
        (_, Value::Null) => std::cmp::Ordering::Less,
        (left, right) => match direction {
            Direction::Ascending => compare(left, right),
            Direction::Descending => compare(right, left),
        },
    }
}

pub(super) fn random_test(numbers: &mut Numbers, column: usize) -> Test {
    let value = |numbers: &mut Numbers| random_value(numbers, column);
    match numbers.below(if column == 0 { 7 } else { 4 }) {
        0 => Test::AnyOf((0..numbers.below(4)).map(|_| value(numbers)).collect()),
        1 => Test::Within(
            (0..1 + numbers.below(2))
                .map(|_| Range { low: value(numbers), high: value(numbers) })
                .collect(),
        ),
        2 => Test::Not(Box::new(random_test(numbers, column))),
        3 => Test::HoldsAll(
            (0..numbers.below(3))
                .map(|_| (0..numbers.below(3)).map(|_| value(numbers)).collect())
                .collect(),
        ),
        4 => Test::HasPrefix(
            (0..numbers.below(3)).map(|_| (*numbers.pick(&NAMES)).to_owned()).collect(),
        ),
        5 => Test::Contains {
            text: (*numbers.pick(&["a", "b", "ș", "本", "\"", "zzz"])).to_owned(),
            case: Case::Sensitive,
        },
        _ => Test::Contains {
            text: (*numbers.pick(&["a", "B", "Hi", "ș", "Ș", "zzz"])).to_owned(),
            case: Case::Ignored,
        },
    }
}
