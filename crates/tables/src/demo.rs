//! A made-up request log with the same rows for the same seed, so that everyone can try
//! `query_table` on something.

use std::io::Write;
use std::path::Path;

use model::SplitMix64;

use crate::Result;
use crate::config::{Field, Fields, TableConfig};

/// The seed of the demo's log.
pub const DEMO_SEED: u64 = 20_240_501;

const LEVELS: [&str; 3] = ["success", "warning", "error"];
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
const HOSTS: [&str; 5] = [
    "api.acme.example",
    "www.acme.example",
    "shop.acme.example",
    "edge.globex.example",
    "status.globex.example",
];
const PATHS: [&str; 14] = [
    "/",
    "/about",
    "/pricing",
    "/api/orders",
    "/api/orders/items",
    "/api/users",
    "/api/users/me",
    "/api/search",
    "/blog/launch",
    "/blog/roadmap",
    "/login",
    "/logout",
    "/cart",
    "/health",
];
const REGIONS: [&str; 6] = ["ams", "fra", "gru", "hkg", "iad", "syd"];
/// Midnight of the first of May 2024.
const FIRST_MOMENT: i64 = 1_714_521_600_000;
/// The log covers this many milliseconds: thirty days.
const COVERED_MILLIS: i64 = 30 * columns::DAY_MILLIS;

/// Writes the log as CSV with the columns level, method, host, pathname, latency, status,
/// regions, date; the newest row first.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("requests.csv");
/// tables::demo::requests(7, 3, &path).unwrap();
/// let text = fs_err::read_to_string(&path).unwrap();
/// assert!(text.starts_with("level,method,host,pathname,latency,status,regions,date\n"));
/// assert_eq!(text.lines().count(), 4);
/// ```
pub fn requests(seed: u64, n_rows: usize, path: &Path) -> Result<()> {
    write_requests(seed, n_rows, path)
        .map_err(|cause| crate::Error::Source { table: "requests".to_owned(), cause: cause.into() })
}

/// Gives the configuration of the log as a table.
pub fn table_config(source: &str) -> TableConfig {
    let literals = |values: &[&str]| Field::any_of(Field::string_literal(values.to_vec()));
    let mut latency = Field::range(Field::number());
    latency.unit = Some("ms".to_owned());
    let mut regions = literals(&REGIONS);
    regions.separator = Some(';');
    let fields = Fields::from([
        ("level", literals(&LEVELS)),
        ("method", literals(&METHODS)),
        ("host", Field::string()),
        ("pathname", Field::string()),
        ("latency", latency),
        ("status", Field::any_of(Field::number())),
        ("regions", regions),
        ("date", Field::range(Field::timestamp())),
    ]);
    TableConfig {
        name: "requests".to_owned(),
        source: source.to_owned(),
        description: Some("HTTP requests, one row each".to_owned()),
        allow: model::Access::everyone(),
        null_values: Vec::new(),
        delimiter: None,
        fields,
        relations: Vec::new(),
    }
}

fn write_requests(seed: u64, n_rows: usize, path: &Path) -> std::io::Result<()> {
    let mut numbers = Numbers(SplitMix64(seed));
    let mut file = std::io::BufWriter::new(fs_err::File::create(path)?);
    writeln!(file, "level,method,host,pathname,latency,status,regions,date")?;
    let step = COVERED_MILLIS / (n_rows as i64).max(1);
    for row in 0..n_rows as i64 {
        let jitter = numbers.below(step.max(1) as u64) as i64;
        let date = FIRST_MOMENT + COVERED_MILLIS - row * step - jitter - 1;
        let status = status(&mut numbers);
        let level = match status {
            500.. => LEVELS[2],
            400.. => LEVELS[1],
            _ => LEVELS[0],
        };
        let method = METHODS[[0, 0, 0, 0, 0, 0, 1, 1, 2, 3][numbers.below(10) as usize]];
        let host = HOSTS[numbers.skewed(HOSTS.len())];
        let path = PATHS[numbers.skewed(PATHS.len())];
        // Most requests are quick, some are slow, failing ones are slower.
        let base = 8 + numbers.below(120);
        let tail = if numbers.below(20) == 0 { numbers.below(4000) } else { 0 };
        let latency = base + tail + if status >= 500 { 400 } else { 0 };
        let first = numbers.below(REGIONS.len() as u64) as usize;
        let second = numbers.below(REGIONS.len() as u64) as usize;
        let regions = if numbers.below(8) == 0 && first != second {
            format!("{};{}", REGIONS[first], REGIONS[second])
        } else {
            REGIONS[first].to_owned()
        };
        let date = columns::to_iso(date);
        writeln!(file, "{level},{method},{host},{path},{latency},{status},{regions},{date}")?;
    }
    file.flush()
}

fn status(numbers: &mut Numbers) -> u64 {
    match numbers.below(100) {
        0..=82 => 200,
        83..=86 => 201,
        87..=89 => 304,
        90..=91 => 400,
        92 => 401,
        93..=95 => 404,
        96 => 429,
        97..=98 => 500,
        _ => 503,
    }
}

/// The rows of the demo are the same on every machine and in every version.
struct Numbers(SplitMix64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    /// The first choices are the frequent ones.
    fn skewed(&mut self, limit: usize) -> usize {
        let one = self.below(limit as u64);
        let other = self.below(limit as u64);
        one.min(other) as usize
    }
}
