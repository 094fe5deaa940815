//! `dowse bench scale`: the configured store beside SQLite with the embedded engine, on the same
//! passages in one run: ingest, recall of candidates, whole searches.

mod corpus;
mod run;

use std::sync::Arc;

use anyhow::{Context, ensure};
use infer::Embedder;
use model::Report;
use store::{Config, Store};

use self::corpus::Corpus;
use self::run::{Measurement, Pair};
use super::show;
use crate::bench_cli::ScaleBenchArgs;
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{models_dir, name_store, open_store};

/// Passages that get a vector of their own unless more are asked for.
const MAX_REAL: usize = 100_000;

/// Measures both at every size.
pub(super) fn run(args: &ScaleBenchArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let section = &config.store;
    let choice = section.choice()?;
    ensure!(
        !(choice.catalogue == crate::config::CatalogueKind::Sqlite
            && choice.engine == crate::config::EngineKind::Embedded),
        "the configuration names SQLite and the embedded engine, which everything is measured \
         beside\nhint: name another `store.catalogue` or `store.engine`; `dowse bench store` \
         measures these two alone"
    );
    // Without the cache of queries, which would give the second engine its vectors for nothing.
    let embedder: Arc<dyn Embedder> =
        infer::open_local_embedder(infer::models::DEFAULT_EMBEDDER, &models_dir(&config))
            .context("the default model is needed: `dowse models pull`")?;
    let most = args.passages.iter().copied().max().unwrap_or(0);
    let n_real = args.real.unwrap_or(most.min(MAX_REAL));
    let corpus = Corpus::read(&args.sets, n_real, &*embedder, &args.cache)?;
    let mut report = Report::new("scale");
    report.add("real vectors", corpus.n_real() as f64, "");
    for n_passages in &args.passages {
        let clock = crate::clock::system();
        let folder = args.folder.join(format!("embedded-{n_passages}"));
        fs_err::create_dir_all(&folder)?;
        let embedded = Store::open(&folder, &Config::for_one_machine(), clock.clone())?;
        let local = args.folder.join("configured");
        fs_err::create_dir_all(&local)?;
        let configured = open_store(section, &local, clock)?;
        let pairs = [
            Pair { name: "embedded".to_owned(), store: Arc::new(embedded) },
            Pair { name: name_store(&configured), store: Arc::new(configured) },
        ];
        let mut measurement =
            Measurement::new(&mut report, &corpus, &embedder, *n_passages, args.questions);
        for pair in &pairs {
            measurement.fill(pair)?;
        }
        if args.fill {
            continue;
        }
        measurement.wait_for_words(&pairs[1])?;
        measurement.recall(&pairs)?;
        measurement.candidates(&pairs)?;
        measurement.searches(&pairs)?;
    }
    if args.fill {
        print::note("filled; run it again without `--fill` once the engine has settled");
    }
    show(&report);
    Ok(())
}
