//! Measurements of the lookup engine on real registers, beside the formula it replaces.
//!
//! The folder is laid out as `entities/`, `uat/` and `classifications/` of Romanian public
//! data; nothing of it is part of this project.

mod baseline;
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

/// Measures what meaning adds to keywords that no name holds, and what junk it lets in.
///
/// Fails when a file of the folder is missing.
pub fn run_with_meaning(folder: &Path, meaning: &Arc<dyn NameEmbedder>) -> crate::Result<Report> {
    let mut report = Report::new("lookup with meaning");
    classifications::measure_meaning(folder, meaning, &mut report)?;
    languages::measure(folder, meaning, &mut report)?;
    languages::measure_register(folder, meaning, &mut report)?;
    Ok(report)
}
