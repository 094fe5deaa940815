//! Figures: how fast files load and how fast a table answers. Whoever measures another engine
//! beside it is called after each figure, in the same run.
//!
//! The query is the one an agent asks with `format: "stats"`: a filter, three facets with their
//! extremes, and a sorted page of fifty rows.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Deadline, Report};

use crate::query::{Direction, Filter, Query, Range, Sort, Table, Test};
use crate::{
    Aggregate, Calendar, ColumnSpec, Dataset, GroupBy, Grouping, Kind, LiveTable, Measure, Op,
    Result, TableSpec, Value, Zone,
};

/// How often the query is asked; the figure is the median.
pub const N_RUNS: usize = 25;

/// What was measured last, for another engine to do the same.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'m> {
    /// What figures of this file start with.
    pub name: &'m str,
    /// The file, or the folder of CSV files.
    pub path: &'m Path,
    /// The facets that were counted; none when aggregates were measured.
    pub facets: Option<&'m [String]>,
}

/// Measures the tables of a folder that holds `vega-datasets/flights-3m.parquet` and
/// `nycflights13/flights.csv`; what is not there is left out with a note.
pub fn run(folder: &Path) -> Result<Report> {
    run_beside(folder, &|_, _| ())
}

/// Measures the same, and calls `beside` after each part of it.
pub fn run_beside(folder: &Path, beside: &dyn Fn(&mut Report, Measured<'_>)) -> Result<Report> {
    let mut report = Report::new("columns");
    let copies = three_copies(&folder.join(nycflights().path))?;
    for subject in [flights_3m(), nycflights(), nycflights_1m()] {
        let path = match (&copies, subject.path) {
            (Some(copies), COPIES) => copies.clone(),
            (_, path) => folder.join(path),
        };
        if path.exists() {
            measure(&mut report, &subject, &path)?;
            let (name, path) = (subject.name, path.as_path());
            beside(&mut report, Measured { name, path, facets: Some(&subject.query.facets) });
            if subject.path != COPIES {
                measure_aggregates(&mut report, &subject, path)?;
                beside(&mut report, Measured { name, path, facets: None });
            }
        } else {
            report.add_noted(format!("{} skipped", subject.name), 0.0, "", "the file is not there");
        }
    }
    if let Some(copies) = copies {
        fs_err::remove_dir_all(copies)?;
    }
    Ok(report)
}

/// The place of the flights of New York three times over, a folder of a million rows.
const COPIES: &str = "three copies of nycflights13/flights.csv";

/// Makes a folder with three copies of a file, where the file is there.
fn three_copies(file: &Path) -> Result<Option<PathBuf>> {
    if !file.exists() {
        return Ok(None);
    }
    let folder = std::env::temp_dir().join(format!("dowse-bench-copies-{}", std::process::id()));
    fs_err::create_dir_all(&folder)?;
    for name in ["a.csv", "b.csv", "c.csv"] {
        fs_err::copy(file, folder.join(name))?;
    }
    Ok(Some(folder))
}

/// A file and the query asked of it.
struct Subject {
    name: &'static str,
    path: &'static str,
    columns: Vec<ColumnSpec>,
    query: Query,
}

fn flights_3m() -> Subject {
    let columns = vec![
        ColumnSpec::new("date", Kind::Timestamp),
        ColumnSpec::new("delay", Kind::Number),
        ColumnSpec::new("distance", Kind::Number),
        ColumnSpec::new("origin", Kind::Text),
        ColumnSpec::new("destination", Kind::Text),
    ];
    Subject {
        name: "flights-3m.parquet",
        path: "vega-datasets/flights-3m.parquet",
        query: stats_query(
            &columns,
            "distance",
            (500, 1500),
            &["origin", "destination", "delay"],
            "delay",
        ),
        columns,
    }
}

fn nycflights() -> Subject {
    let text = ["carrier", "tailnum", "origin", "dest"];
    let names = [
        "year",
        "month",
        "day",
        "dep_time",
        "sched_dep_time",
        "dep_delay",
        "arr_time",
        "sched_arr_time",
        "arr_delay",
        "carrier",
        "flight",
        "tailnum",
        "origin",
        "dest",
        "air_time",
        "distance",
        "hour",
        "minute",
        "time_hour",
    ];
    let columns: Vec<ColumnSpec> = names
        .into_iter()
        .map(|name| {
            let kind = match name {
                "time_hour" => Kind::Timestamp,
                name if text.contains(&name) => Kind::Text,
                _ => Kind::Number,
            };
            ColumnSpec::new(name, kind)
        })
        .collect();
    Subject {
        name: "nycflights13.csv",
        path: "nycflights13/flights.csv",
        query: stats_query(
            &columns,
            "distance",
            (500, 1500),
            &["origin", "dest", "arr_delay"],
            "arr_delay",
        ),
        columns,
    }
}

/// A million rows of nineteen columns: a filter and five facets.
fn nycflights_1m() -> Subject {
    let subject = nycflights();
    let facets = ["carrier", "origin", "dest", "month", "arr_delay"];
    Subject {
        name: "nycflights13 x 3, 5 facets",
        path: COPIES,
        query: stats_query(&subject.columns, "distance", (500, 1500), &facets, "arr_delay"),
        ..subject
    }
}

fn stats_query(
    columns: &[ColumnSpec],
    filtered: &str,
    (low, high): (i64, i64),
    facets: &[&str],
    sorted: &str,
) -> Query {
    let range = Range { low: Value::Integer(low), high: Value::Integer(high) };
    Query {
        filters: vec![Filter::new(filtered, Test::Within(vec![range]))],
        sort: vec![Sort { column: sorted.to_owned(), direction: Direction::Descending }],
        facets: facets.iter().map(|name| (*name).to_owned()).collect(),
        ..Query::first(50, columns.iter().map(|column| column.name.clone()).collect())
    }
}

fn measure(report: &mut Report, subject: &Subject, path: &Path) -> Result<()> {
    let name = subject.name;
    let cache = tempfile_folder()?;
    let spec = TableSpec::of(subject.columns.clone());
    let start = Instant::now();
    let table = LiveTable::open(path, spec.clone(), &cache)?;
    report.add_noted(
        format!("{name} load"),
        millis(start.elapsed()),
        "ms",
        "from the source, typed, with the column file written",
    );
    let dataset = table.snapshot();
    let start = Instant::now();
    let again = LiveTable::open(path, spec, &cache)?;
    report.add_noted(
        format!("{name} open again"),
        millis(start.elapsed()),
        "ms",
        "from the memory-mapped column file",
    );
    drop(again);
    report.add_noted(format!("{name} rows"), dataset.n_rows() as f64, "rows", "");
    let plain = plain_arrow_bytes(&dataset) as f64;
    let ours = dataset.n_bytes() as f64;
    report.add_noted(
        format!("{name} memory"),
        ours / plain,
        "ratio",
        format!(
            "{:.1} MB of columns against {:.1} MB as plain Arrow arrays",
            ours / 1e6,
            plain / 1e6
        ),
    );
    let mut times = Vec::new();
    let mut total = 0;
    for _ in 0..N_RUNS {
        let start = Instant::now();
        let answer = table.query(&subject.query, &Deadline::after(Duration::from_secs(60)))?;
        times.push(start.elapsed());
        total = answer.total;
    }
    let best = times.iter().copied().min().unwrap_or_default();
    let n_facets = subject.query.facets.len();
    let note =
        format!("filter, {n_facets} facets with extremes, sorted page of 50; {total} rows pass");
    report.add_noted(format!("{name} query"), millis(median(times)), "ms p50", note);
    report.add_noted(format!("{name} query, best"), millis(best), "ms", "the quickest run");
    fs_err::remove_dir_all(&cache)?;
    Ok(())
}

/// The aggregates that are measured: a name, what is grouped, what is measured.
fn aggregates(subject: &Subject) -> Vec<(&'static str, Aggregate)> {
    let has = |name: &str| subject.columns.iter().any(|column| column.name == name);
    let (delay, destination, time) = if has("delay") {
        ("delay", "destination", "date")
    } else {
        ("arr_delay", "dest", "time_hour")
    };
    let value = |name: &str| Grouping { column: name.to_owned(), by: GroupBy::Value };
    let bucket = |calendar: Calendar| Grouping {
        column: time.to_owned(),
        by: GroupBy::Calendar(calendar, Zone::default()),
    };
    let measure = |op: Op, name: &str| Measure { op, column: Some(name.to_owned()) };
    let count = Measure { op: Op::Count, column: None };
    let asked = |group_by: Vec<Grouping>, measures: Vec<Measure>| Aggregate {
        group_by,
        measures,
        limit: 500,
        ..Aggregate::default()
    };
    vec![
        (
            "count and mean by origin",
            asked(vec![value("origin")], vec![count.clone(), measure(Op::Avg, delay)]),
        ),
        (
            "count and sum by month",
            asked(vec![bucket(Calendar::Month)], vec![count.clone(), measure(Op::Sum, "distance")]),
        ),
        (
            "median and p95 by origin",
            asked(
                vec![value("origin")],
                vec![measure(Op::Percentile(50), delay), measure(Op::Percentile(95), delay)],
            ),
        ),
        (
            "distinct destinations by origin",
            asked(vec![value("origin")], vec![measure(Op::CountDistinct, destination)]),
        ),
        (
            "count and mean by origin and destination",
            asked(
                vec![value("origin"), value(destination)],
                vec![count.clone(), measure(Op::Avg, delay)],
            ),
        ),
        (
            "two sums and the last moment by origin and destination",
            asked(
                vec![value("origin"), value(destination)],
                vec![measure(Op::Sum, delay), measure(Op::Sum, "distance"), measure(Op::Max, time)],
            ),
        ),
        (
            "count by delay and distance",
            asked(vec![value(delay), value("distance")], vec![count.clone()]),
        ),
        ("count by day", asked(vec![bucket(Calendar::Day)], vec![count.clone()])),
        (
            "count and mean by origin and day",
            asked(
                vec![value("origin"), bucket(Calendar::Day)],
                vec![count, measure(Op::Avg, delay)],
            ),
        ),
        (
            "sum, mean and extremes of all rows",
            asked(
                Vec::new(),
                [Op::Sum, Op::Avg, Op::Min, Op::Max].map(|op| measure(op, delay)).into(),
            ),
        ),
        ("distinct moments of all rows", asked(Vec::new(), vec![measure(Op::CountDistinct, time)])),
    ]
}

fn measure_aggregates(report: &mut Report, subject: &Subject, path: &Path) -> Result<()> {
    let dataset = Dataset::read(path, &TableSpec::of(subject.columns.clone()))?;
    for (name, wanted) in aggregates(subject) {
        let mut times = Vec::new();
        let mut n_groups = 0;
        for _ in 0..N_RUNS {
            let start = Instant::now();
            let answer = dataset.aggregate(&wanted, &Deadline::after(Duration::from_secs(60)))?;
            times.push(start.elapsed());
            n_groups = answer.total_groups;
        }
        let best = times.iter().copied().min().unwrap_or_default();
        report.add_noted(
            format!("{} {name}", subject.name),
            millis(median(times)),
            "ms p50",
            format!("{n_groups} groups; the quickest run {:.2} ms", millis(best)),
        );
    }
    Ok(())
}

/// Counts what the same cells take as Arrow arrays without dictionaries: eight bytes for each
/// number and moment, four and its text for each text, one bit for each boolean.
fn plain_arrow_bytes(dataset: &Dataset) -> usize {
    let n_rows = dataset.n_rows();
    dataset
        .all_columns()
        .iter()
        .map(|column| match column.kind() {
            Kind::Number | Kind::Timestamp => 8 * n_rows,
            Kind::Boolean => n_rows / 8,
            Kind::Text => (0..n_rows).map(|row| 4 + column.text(row).map_or(0, str::len)).sum(),
        })
        .sum()
}

fn tempfile_folder() -> Result<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("dowse-bench-{}", std::process::id()));
    fs_err::create_dir_all(&folder)?;
    Ok(folder)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
