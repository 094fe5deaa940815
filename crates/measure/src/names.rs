//! Names beside pg_trgm, in one run: lookups in memory, lookups that start in PostgreSQL
//! (`engine = "postgres"`), and the plain statement that somebody would write with pg_trgm.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use filters::{DimensionConfig, FiltersConfig, SearchRequest, Service, Settings};
use lookup::{Entry, Index, Request};
use model::{Caller, Report};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::registers;

/// Queries that every engine answers.
const N_QUERIES: usize = 200;
/// Names that are inserted at once.
const NAMES_AT_ONCE: usize = 5_000;

/// Times lookups among so many names of the Romanian registers.
///
/// `url` names a database in which a table `dowse_bench_names` may be made and dropped.
pub(crate) fn run(folder: &Path, url: &str, n_names: usize) -> anyhow::Result<Report> {
    let entries = registers::names(folder, n_names)?;
    let mut queries = registers::queries(folder)?;
    queries.truncate(N_QUERIES);
    let database = Database::open(url)?;
    let started = Instant::now();
    database.fill(&entries)?;
    let mut report = Report::new("names beside PostgreSQL");
    report.add("names", entries.len() as f64, "names");
    report.add("filling the table and its index", started.elapsed().as_secs_f64(), "s");

    let dimension: DimensionConfig = serde_json::from_value(serde_json::json!({
        "category": "name", "source": format!("{url}#dowse_bench_names"), "engine": "postgres",
        "value": "id", "filter_key": "ids", "name": "name",
    }))?;
    let service = Service::open(Settings {
        folder: folder.to_owned(),
        filters: FiltersConfig::default(),
        dimensions: vec![dimension],
        name_embedder: None,
    })?;
    let index = Index::build(entries);
    let (mut memory, mut ours, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for text in &queries {
        let started = Instant::now();
        std::hint::black_box(&index.lookup(&Request { text, locale: None, hint: None, limit: 10 }));
        memory.push(millis(started));

        let request: SearchRequest =
            serde_json::from_value(serde_json::json!({ "category": "name", "query": text }))?;
        let started = Instant::now();
        service.search(&Caller::local_admin(), &request)?;
        ours.push(millis(started));

        let started = Instant::now();
        database.look_up(text)?;
        plain.push(millis(started));
    }
    database.run("DROP TABLE dowse_bench_names")?;
    let slowest = ours.iter().copied().fold(0.0, f64::max);
    let (memory, ours, plain) = (middle(&mut memory), middle(&mut ours), middle(&mut plain));
    report.add("lookup in memory", memory, "ms p50");
    report.add("engine = \"postgres\"", ours, "ms p50");
    report.add("engine = \"postgres\", slowest", slowest, "ms");
    report.add("pg_trgm with a GIN index", plain, "ms p50");
    report.add("engine = \"postgres\" over pg_trgm", ours / plain, "ratio");
    report.add("pg_trgm over memory", plain / memory, "ratio");
    Ok(report)
}

/// One connection, for the plain statement.
struct Database {
    runtime: Runtime,
    client: Client,
}

impl Database {
    fn open(url: &str) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (client, connection) = runtime
            .block_on(tokio_postgres::connect(url, NoTls))
            .context("the database cannot be reached")?;
        runtime.spawn(connection);
        Ok(Database { runtime, client })
    }

    fn run(&self, statement: &str) -> anyhow::Result<()> {
        Ok(self.runtime.block_on(self.client.batch_execute(statement))?)
    }

    fn fill(&self, entries: &[Entry]) -> anyhow::Result<()> {
        self.run(
            "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE EXTENSION IF NOT EXISTS unaccent; \
             DROP TABLE IF EXISTS dowse_bench_names; \
             CREATE TABLE dowse_bench_names (id text, name text)",
        )?;
        for group in entries.chunks(NAMES_AT_ONCE) {
            let ids: Vec<&str> = group.iter().map(|entry| entry.value.as_str()).collect();
            let names: Vec<&str> = group.iter().map(|entry| entry.names[0].text.as_str()).collect();
            let statement =
                "INSERT INTO dowse_bench_names SELECT * FROM unnest($1::text[], $2::text[])";
            self.runtime.block_on(self.client.execute(statement, &[&ids, &names]))?;
        }
        self.run(
            "CREATE INDEX ON dowse_bench_names USING gin (name gin_trgm_ops); \
             CREATE INDEX ON dowse_bench_names (id); ANALYZE dowse_bench_names",
        )
    }

    fn look_up(&self, text: &str) -> anyhow::Result<()> {
        let statement = "SELECT id, name FROM dowse_bench_names WHERE name % $1 \
                         ORDER BY similarity(name, $1) DESC, id LIMIT 10";
        self.runtime.block_on(self.client.query(statement, &[&text]))?;
        Ok(())
    }
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
