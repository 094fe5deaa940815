//! Lookups in memory beside the same names in PostgreSQL, in one run.

use std::path::Path;
use std::time::{Duration, Instant};

use lookup::{Entry, Index, Request};
use model::Report;

use crate::postgres::{Database, Parameter};
use crate::{Error, Result};

/// Names that both engines hold.
const N_NAMES: usize = 50_000;

/// Queries that both engines answer.
const N_QUERIES: usize = 200;

/// Names that are inserted at once.
const NAMES_AT_ONCE: usize = 5_000;

/// How long one statement may take.
const STATEMENT_LIMIT: Duration = Duration::from_secs(120);

/// Times lookups among 50,000 names here and in pg_trgm with its index, and gives the ratio.
///
/// `url` names a database in which a table `dowse_bench_names` may be made and dropped; the
/// folder holds the Romanian registers. Fails when either cannot be read.
pub fn beside_postgres(folder: &Path, url: &str) -> Result<Report> {
    let data = |source| Error::Data { source };
    let entries = lookup::bench::names(folder, N_NAMES).map_err(data)?;
    let mut queries = lookup::bench::queries(folder).map_err(data)?;
    queries.truncate(N_QUERIES);
    let database = Database::open(url)?;
    fill(&database, &entries)?;
    let index = Index::build(entries);
    let mut here = Vec::with_capacity(queries.len());
    let mut there = Vec::with_capacity(queries.len());
    for text in &queries {
        let started = Instant::now();
        let answer = index.lookup(&Request { text, locale: None, hint: None, limit: 10 });
        std::hint::black_box(&answer);
        here.push(started.elapsed().as_secs_f64() * 1000.0);
        let statement = "SELECT id::text FROM dowse_bench_names WHERE name % $1 \
                         ORDER BY similarity(name, $1) DESC, id LIMIT 10";
        let started = Instant::now();
        database.query(
            statement.to_owned(),
            vec![Parameter::Text(text.clone())],
            STATEMENT_LIMIT,
        )?;
        there.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    run(&database, "DROP TABLE dowse_bench_names")?;
    let mut report = Report::new("filters beside PostgreSQL");
    let (here_p50, there_p50) = (middle(&mut here), middle(&mut there));
    report.add("lookup in memory, 50k names", here_p50, "ms p50");
    report.add("pg_trgm with a GIN index, 50k names", there_p50, "ms p50");
    report.add("pg_trgm over memory", there_p50 / here_p50, "ratio");
    Ok(report)
}

fn fill(database: &Database, entries: &[Entry]) -> Result<()> {
    run(database, "CREATE EXTENSION IF NOT EXISTS pg_trgm")?;
    run(database, "DROP TABLE IF EXISTS dowse_bench_names")?;
    run(database, "CREATE TABLE dowse_bench_names (id text, name text)")?;
    for group in entries.chunks(NAMES_AT_ONCE) {
        let ids = group.iter().map(|entry| entry.value.clone()).collect();
        let names = group.iter().map(|entry| entry.names[0].text.clone()).collect();
        database.query(
            "INSERT INTO dowse_bench_names SELECT * FROM unnest($1::text[], $2::text[])".to_owned(),
            vec![Parameter::Texts(ids), Parameter::Texts(names)],
            STATEMENT_LIMIT,
        )?;
    }
    run(database, "CREATE INDEX ON dowse_bench_names USING gin (name gin_trgm_ops)")?;
    run(database, "ANALYZE dowse_bench_names")
}

fn run(database: &Database, statement: &str) -> Result<()> {
    database.query(statement.to_owned(), Vec::new(), STATEMENT_LIMIT).map(drop)
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
