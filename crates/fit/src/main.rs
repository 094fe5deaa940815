//! Fits the coefficients of the score on judged sets, and writes them into `crates/retrieve`.
//!
//! `cargo xtask fit --cache FOLDER DATA…` asks every set for evidence, once (`rows.rs`), fits one
//! logistic curve for each kind of evidence on the half of the queries that is not held out
//! (`newton.rs`), prints what each collection would get from coefficients fitted on all others
//! (`report.rs`), and writes `coefficients.rs` with its provenance (`write.rs`). `--level` keeps
//! what the coefficients say of the order and moves how many off-topic queries pass. The product
//! does not depend on this program.

mod newton;
mod queries;
mod report;
mod rows;
mod write;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use model::Deadline;
use retrieve::eval::{EvalConfig, RecordedEmbedder};
use retrieve::{Background, EvidenceKind, Pipeline};

/// How long the background may take.
const BACKGROUND_TIME: Duration = Duration::from_secs(3_600);

/// What is asked for on the command line.
struct Args {
    cache: PathBuf,
    models: PathBuf,
    rows: Option<PathBuf>,
    n_queries: usize,
    makes_background: bool,
    moves_level: bool,
    writes: bool,
    data: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let args = read_args()?;
    if args.makes_background {
        let embedder = infer::open_local_embedder("multilingual-e5-small", &args.models)?;
        let deadline = Deadline::after(BACKGROUND_TIME);
        let background = Background::make(&*embedder, usize::MAX, &deadline)?;
        let mut json = serde_json::to_string(&background)?;
        json.push('\n');
        fs_err::write(write::project_file("crates/retrieve/data/background.json"), json)?;
        return Ok(());
    }
    let rows = match args.rows.as_deref().filter(|file| file.exists()) {
        Some(file) => rows::read(file)?,
        None => {
            let embedder = infer::open_local_embedder("multilingual-e5-small", &args.models)?;
            fs_err::create_dir_all(&args.cache)?;
            let file = args.cache.join("queries.recorded");
            let recorded = RecordedEmbedder::recording(embedder, &file)?;
            let config = EvalConfig {
                embedder: Some(Arc::new(recorded)),
                cache_folder: args.cache.clone(),
                limit_queries: args.n_queries,
                pipeline: Pipeline::default(),
                tell: &|name, done, all| eprintln!("{name}: {done} of {all}"),
                vector_share: 1.0,
            };
            let rows = rows::gather(&args.data, args.n_queries, &config)?;
            if let Some(file) = &args.rows {
                rows::write(file, &rows)?;
            }
            rows
        }
    };
    let mut fitted = Vec::new();
    for kind in EvidenceKind::ALL {
        let curve = match args.moves_level {
            true => newton::move_level(&rows, kind),
            false => newton::fit(&rows, kind, None),
        };
        report::print(&rows, kind, &curve)?;
        fitted.push((kind, curve));
    }
    if args.moves_level {
        return if args.writes { write::level(&fitted) } else { Ok(()) };
    }
    // Before the long part, which says how good they are and changes nothing in them.
    if args.writes {
        write::coefficients(&rows, &fitted)?;
    }
    report::leave_one_out(&rows)
}

fn read_args() -> anyhow::Result<Args> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let mut args = Args {
        cache: PathBuf::from("target/fit"),
        models: home.join(".local/share/dowse/models"),
        rows: None,
        n_queries: 200,
        makes_background: false,
        moves_level: false,
        writes: true,
        data: vec![],
    };
    let mut given = std::env::args().skip(1);
    while let Some(arg) = given.next() {
        let mut value = || given.next().with_context(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--cache" => args.cache = value()?.into(),
            "--models" => args.models = value()?.into(),
            "--rows" => args.rows = Some(value()?.into()),
            "--queries" => args.n_queries = value()?.parse()?,
            "--background" => args.makes_background = true,
            "--level" => args.moves_level = true,
            "--dry-run" => args.writes = false,
            other if other.starts_with('-') => bail!(
                "unknown option `{other}`; there are --cache FOLDER, --models FOLDER, --rows FILE, \
                 --queries N, --background, --level, --dry-run, and the paths of judged sets"
            ),
            path => args.data.push(path.to_owned()),
        }
    }
    if args.data.is_empty() && !args.makes_background && args.rows.is_none() {
        bail!(
            "name the judged sets: folders in BEIR layout, files of our own lines, or QUERIES@CORPUS"
        );
    }
    Ok(args)
}
