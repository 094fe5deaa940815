//! A picture over time in the calendar of a time zone.
//!
//! Engines count in UTC; where a call names another zone, groups of its calendar are counted in
//! their place, and periods between the first and the last one without rows are zero, as they are
//! in UTC.

use std::collections::BTreeMap;

use columns::{
    Aggregate, Bucket, Calendar, Error, GroupBy, Grouping, MAX_POINTS, Measure, Op, Query, Result,
    SeriesAnswer, SeriesPoint, Table, TimeSeries, Value, Zone,
};
use model::Deadline;

/// Counts or sums by time in a zone. `in_utc` is the answer of the engine, which chose the width.
pub(crate) fn zoned(
    engine: &dyn Table,
    query: &Query,
    wanted: &TimeSeries,
    in_utc: &SeriesAnswer,
    zone: &Zone,
    deadline: &Deadline,
) -> Result<SeriesAnswer> {
    let bucket = in_utc.bucket;
    // Minutes are the same everywhere.
    let Some(calendar) = calendar_of(bucket).filter(|_| !in_utc.points.is_empty()) else {
        return Ok(in_utc.clone());
    };
    let measure = |op: Op, column: Option<&String>| Measure { op, column: column.cloned() };
    let mut measures = vec![measure(Op::Count, None)];
    measures.extend(wanted.sum.as_ref().map(|sum| measure(Op::Sum, Some(sum))));
    let aggregate = Aggregate {
        filters: query.filters.clone(),
        any: query.any.clone(),
        group_by: vec![Grouping {
            column: wanted.column.clone(),
            by: GroupBy::Calendar(calendar, zone.clone()),
        }],
        measures,
        limit: MAX_POINTS + 1,
        ..Aggregate::default()
    };
    let answer = engine.aggregate(&aggregate, deadline)?;
    let mut values: BTreeMap<i64, f64> = BTreeMap::new();
    for row in &answer.rows {
        let start = row[0].as_str().and_then(|label| start_of(label, zone));
        let value = row.last().and_then(Value::as_f64).unwrap_or(0.0);
        if let Some(start) = start {
            values.insert(start, value);
        }
    }
    let points = filled(&values, bucket, zone)?;
    Ok(SeriesAnswer { bucket, points, n_without_time: in_utc.n_without_time })
}

fn calendar_of(bucket: Bucket) -> Option<Calendar> {
    match bucket {
        Bucket::Minute => None,
        Bucket::Hour => Some(Calendar::Hour),
        Bucket::Day => Some(Calendar::Day),
        Bucket::Week => Some(Calendar::Week),
        Bucket::Month => Some(Calendar::Month),
        Bucket::Year => Some(Calendar::Year),
    }
}

/// The first millisecond of a bucket, by its name.
fn start_of(label: &str, zone: &Zone) -> Option<i64> {
    zone.span_of_date(label).map(|(start, _)| start).or_else(|| zone.moment_of(label))
}

/// Puts zeros between the first and the last period.
fn filled(values: &BTreeMap<i64, f64>, bucket: Bucket, zone: &Zone) -> Result<Vec<SeriesPoint>> {
    let (Some((first, _)), Some((last, _))) = (values.first_key_value(), values.last_key_value())
    else {
        return Ok(Vec::new());
    };
    let mut points = Vec::new();
    let mut start = *first;
    while start <= *last {
        let value = values.get(&start).copied().unwrap_or(0.0);
        points.push(SeriesPoint { start, value });
        if points.len() > MAX_POINTS {
            return Err(Error::TooManyPoints {
                bucket: bucket.as_str().to_owned(),
                n_points: points.len() as u64,
                limit: MAX_POINTS,
            });
        }
        start = zone.next_start(bucket, start);
    }
    Ok(points)
}
