//! Measurements of the lookup engine on real registers: `measure registers FOLDER`.
//!
//! The folder is laid out as `entities/`, `uat/` and `classifications/` of Romanian public
//! data; nothing of it is part of this project.

mod classifications;
mod data;
mod forms;
mod junk;
mod languages;
mod register;
mod speed;
mod typos;
mod variants;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use lookup::NameEmbedder;
use model::{Deadline, Report};

pub(crate) use speed::{names, queries};

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// Measures hits, the precision of confident answers, junk and speed.
///
/// Fails when a file of the folder is missing.
pub(crate) fn run(folder: &Path) -> lookup::Result<Report> {
    let mut report = Report::new("lookup");
    register::measure(folder, &mut report)?;
    forms::measure(folder, &mut report)?;
    typos::measure(folder, &mut report)?;
    classifications::measure(folder, &mut report)?;
    junk::measure(folder, &mut report)?;
    speed::measure(folder, &mut report)?;
    Ok(report)
}

/// Measures what vectors of the default model add to keywords that no name holds, and what junk
/// they let in.
///
/// Fails when a file of the folder or the model is missing.
pub(crate) fn by_vector(folder: &Path, models: &Path) -> anyhow::Result<Report> {
    let slot = Arc::new(EmbedderSlot::new(EmbedderChoice::Local {
        model: infer::models::DEFAULT_EMBEDDER.to_owned(),
        models_dir: models.to_owned(),
    }));
    slot.get(&Deadline::after(MODEL_WAIT))
        .map_err(|state| anyhow::anyhow!("the model cannot be used: {state:?}"))?;
    let embedder: Arc<dyn NameEmbedder> = Arc::new(filters::ModelNameEmbedder::new(slot));
    let mut report = Report::new("lookup by vector");
    classifications::measure_vectors(folder, &embedder, &mut report)?;
    languages::measure(folder, &embedder, &mut report)?;
    languages::measure_register(folder, &embedder, &mut report)?;
    Ok(report)
}
