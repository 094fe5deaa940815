//! Evaluates datasets with the default model:
//! `evaluate MODELS_DIR CACHE_DIR LIMIT EVIDENCE_FILE|- DATASET…`, words alone where the models
//! folder is `-`.

use std::error::Error;
use std::path::{Path, PathBuf};

use retrieve::Pipeline;
use retrieve::eval::{Dataset, EvalConfig, EvalReport, evaluate};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [models, cache, limit, evidence, datasets @ ..] = arguments.as_slice() else {
        return Err("expected MODELS_DIR CACHE_DIR LIMIT EVIDENCE_FILE|- DATASET…".into());
    };
    let embedder = match models.as_str() {
        "-" => None,
        folder => {
            let name = infer::models::DEFAULT_EMBEDDER;
            Some(infer::open_local_embedder(name, Path::new(folder))?)
        }
    };
    let config = EvalConfig {
        embedder,
        cache_folder: PathBuf::from(cache),
        limit_queries: limit.parse()?,
        pipeline: Pipeline::default(),
        tell: &|name, n_done, n_all| eprintln!("{name}: {n_done} of {n_all} embedded"),
        evidence_file: (evidence != "-").then(|| PathBuf::from(evidence)),
    };
    let mut report = EvalReport::default();
    for path in datasets {
        let dataset = Dataset::read(path)?;
        report.datasets.push(evaluate(&dataset, &config)?);
        let newest = EvalReport { datasets: report.datasets.last().cloned().into_iter().collect() };
        eprintln!("{}", newest.table());
    }
    eprintln!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
