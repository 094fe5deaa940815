//! Measurements of the lookup engine on real registers: `dowse bench lookup`. Beside pg_trgm it is
//! measured by `crates/measure`.
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

use model::Report;

use crate::NameEmbedder;

pub use speed::{names, queries};

/// Measures hits, the precision of confident answers, junk and speed.
///
/// Fails when a file of the folder is missing.
pub fn run(folder: &Path) -> crate::Result<Report> {
    let mut report = Report::new("lookup");
    register::measure(folder, &mut report)?;
    forms::measure(folder, &mut report)?;
    typos::measure(folder, &mut report)?;
    classifications::measure(folder, &mut report)?;
    junk::measure(folder, &mut report)?;
    speed::measure(folder, &mut report)?;
    Ok(report)
}

/// Measures what vectors add to keywords that no name holds, and what junk they let in.
///
/// Fails when a file of the folder is missing.
pub fn run_with_vectors(folder: &Path, embedder: &Arc<dyn NameEmbedder>) -> crate::Result<Report> {
    let mut report = Report::new("lookup by vector");
    classifications::measure_vectors(folder, embedder, &mut report)?;
    languages::measure(folder, embedder, &mut report)?;
    languages::measure_register(folder, embedder, &mut report)?;
    Ok(report)
}
