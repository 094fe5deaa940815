//! `dowse eval`: how good the order is, on judged queries, stage by stage.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use infer::{Embedder, EmbedderSlot};
use model::{Deadline, Report};
use retrieve::Pipeline;
use retrieve::eval::{Dataset, EvalConfig, EvalReport, evaluate, scale};

use crate::bench_cli::SearchBenchArgs;
use crate::cli::{ConfigArgs, EvalArgs};
use crate::commands::variable;
use crate::config::{Config, is_without_model, load};
use crate::print;
use crate::wiring;

/// How long the model may take to load.
const LOAD_WAIT: Duration = Duration::from_secs(120);

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Evaluates every dataset, prints a table, and compares with the baseline where one is given.
pub(super) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if !(0.0..=1.0).contains(&args.vectors) {
        bail!("`--vectors` takes a part from 0 to 1, received `{}`", args.vectors);
    }
    // A baseline that cannot be read is said before the work, not after it.
    let baseline = args.baseline.as_deref().map(read_report).transpose()?;
    let told = Cell::new(None);
    let tell = |name: &str, n_done, n_all| tell(&told, name, n_done, n_all);
    let eval = EvalConfig {
        limit_queries: args.limit,
        vector_share: args.vectors,
        ..config(&args.config, is_without_model(), args.cache.as_deref(), &tell)?
    };
    let mut report = EvalReport::default();
    for path in &args.datasets {
        let dataset = Dataset::read(path)?;
        print::note(format!(
            "{}: {} documents, {} judged queries",
            dataset.name,
            dataset.documents.len(),
            dataset.queries.len()
        ));
        let left_out = left_out(&dataset);
        left_out.into_iter().for_each(|said| print::note(format!("{}: {said}", dataset.name)));
        report.datasets.push(evaluate(&dataset, &eval)?);
    }
    if is_printed(args) {
        print::json(&serde_json::to_value(&report)?)?;
    } else {
        print::line(report.table().trim_end());
    }
    if let Some(file) = args.json.as_ref().filter(|_| !is_printed(args)) {
        let mut json = serde_json::to_string_pretty(&report)?;
        json.push('\n');
        fs_err::write(file, json)?;
    }
    match &baseline {
        Some(baseline) => compare(&report, baseline, args),
        None => Ok(()),
    }
}

/// Documents that are judged and not there, of which so many are named.
const MAX_NAMED: usize = 5;

/// Says what of a dataset tells nothing, or looks worse than it is.
fn left_out(dataset: &Dataset) -> Vec<String> {
    let mut said = Vec::new();
    if dataset.n_unjudged > 0 {
        said.push(format!(
            "queries without a judged document, left out: {}; `\"relevant\": {{ID: 0}}` says which \
             document is wrong for one",
            dataset.n_unjudged
        ));
    }
    let unknown = dataset.unknown_documents();
    if !unknown.is_empty() {
        let named: Vec<String> =
            unknown.iter().take(MAX_NAMED).map(|id| format!("`{id}`")).collect();
        said.push(format!(
            "judged documents that are not there, which count as not found: {} ({})",
            unknown.len(),
            named.join(", ")
        ));
    }
    said
}

/// Measures whole searches over many passages.
pub(super) fn bench(args: &SearchBenchArgs) -> anyhow::Result<Report> {
    let told = Cell::new(None);
    let tell = |name: &str, n_done, n_all| tell(&told, name, n_done, n_all);
    let eval = config(&args.config, args.no_model, args.cache.as_deref(), &tell)?;
    let datasets =
        args.datasets.iter().map(|path| Dataset::read(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(scale(&datasets, args.passages, args.queries, &eval)?)
}

fn config<'a>(
    args: &ConfigArgs,
    no_model: bool,
    cache: Option<&Path>,
    tell: &'a dyn Fn(&str, usize, usize),
) -> anyhow::Result<EvalConfig<'a>> {
    let config = load(args.config.as_deref(), &variable)?.config;
    Ok(EvalConfig {
        embedder: if no_model { None } else { embedder(&config)? },
        cache_folder: cache.map_or_else(|| config.data_dir.join("eval"), Path::to_owned),
        limit_queries: 0,
        pipeline: Pipeline::default(),
        tell,
        vector_share: 1.0,
    })
}

/// Opens the model that the configuration asks for; without one, words are evaluated alone.
fn embedder(config: &Config) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    let slot = EmbedderSlot::new(wiring::embedder(config)?);
    match slot.get(&Deadline::after(LOAD_WAIT)) {
        Ok(embedder) => Ok(Some(embedder)),
        Err(state) => {
            let why = state.warning().map(|said| format!(": {}", said.message));
            print::note(format!("words alone are evaluated{}", why.unwrap_or_default()));
            Ok(None)
        }
    }
}

fn tell(told: &Cell<Option<Instant>>, name: &str, n_done: usize, n_all: usize) {
    if told.get().is_none_or(|at| at.elapsed() >= TELL_EVERY) {
        told.set(Some(Instant::now()));
        print::note(format!("{name}: {n_done} of {n_all} documents embedded"));
    }
}

fn read_report(file: &Path) -> anyhow::Result<EvalReport> {
    let text = fs_err::read_to_string(file)?;
    serde_json::from_str(&text).with_context(|| {
        format!("`{}` is not a report; `dowse eval DATASET --json FILE` writes one", file.display())
    })
}

/// Tells whether the report itself goes to stdout.
fn is_printed(args: &EvalArgs) -> bool {
    args.json.as_deref() == Some(Path::new("-"))
}

fn compare(report: &EvalReport, baseline: &EvalReport, args: &EvalArgs) -> anyhow::Result<()> {
    let tolerance = args.tolerance;
    let difference = report.difference(baseline);
    if difference.is_empty() {
        bail!("the baseline has none of these datasets; compare with a report of the same ones");
    }
    let shown = format!("\nagainst the baseline\n{}", difference.trim_end());
    if is_printed(args) {
        print::note(shown);
    } else {
        print::line(shown);
    }
    let drops = report.drops(baseline, tolerance);
    if !drops.is_empty() {
        bail!("worse than the baseline by more than {tolerance}:\n  {}", drops.join("\n  "));
    }
    Ok(())
}
