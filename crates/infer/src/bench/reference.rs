//! The other side of the benchmark: a Python program, written at run time, that builds an ONNX
//! graph from the same container and runs it with `onnxruntime`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use model::Deadline;
use serde::{Deserialize, Serialize};

use crate::Result;

/// How often the running program is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const PROGRAM: &str = include_str!("reference.py");

/// What the program is asked to do.
#[derive(Serialize)]
pub(super) struct BenchRequest {
    pub(super) threads: usize,
    pub(super) repeats: usize,
    /// Texts whose vectors are wanted.
    pub(super) texts: Vec<Vec<u32>>,
    /// Batches to be timed, by name; in the order of the lengths.
    #[serde(serialize_with = "as_map")]
    pub(super) batches: Vec<(String, Vec<Vec<u32>>)>,
}

/// What it found.
#[derive(Deserialize)]
pub(super) struct Answer {
    versions: BTreeMap<String, String>,
    pub(super) vectors: Vec<Vec<f32>>,
    pub(super) f32: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) int8: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) int8_vectors: Vec<Vec<f32>>,
}

impl Answer {
    pub(super) fn version(&self) -> &str {
        self.versions.get("onnxruntime").map_or("", String::as_str)
    }
}

/// How the comparison ended.
pub(super) enum Outcome {
    /// With figures.
    Answered(Answer),
    /// Without, for a reason.
    Skipped {
        /// The reason.
        why: String,
    },
}

/// Runs the program; everything that goes wrong with it is a reason, not an error.
pub(super) fn run(container: &Path, asked: &BenchRequest, deadline: &Deadline) -> Result<Outcome> {
    let skipped = |why: &str| Ok(Outcome::Skipped { why: why.to_owned() });
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("reference.py");
    let source = folder.path().join("asked.json");
    let target = folder.path().join("answer.json");
    fs_err::write(&program, PROGRAM)?;
    fs_err::write(&source, serde_json::to_vec(asked).expect("numbers and names"))?;
    let child = Command::new("python3")
        .args([program.as_os_str(), container.as_os_str(), source.as_os_str(), target.as_os_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return skipped("`python3` is not there") };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if deadline.is_over() {
            // Both fail only when the child has ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            return skipped("it took too long");
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    if !status.success() {
        return skipped("python3 has no `onnx`, `onnxruntime` and `numpy`: `pip install` them");
    }
    match serde_json::from_slice(&fs_err::read(&target)?) {
        Ok(answer) => Ok(Outcome::Answered(answer)),
        Err(_) => skipped("its answer could not be read"),
    }
}

fn as_map<S: serde::Serializer>(
    batches: &[(String, Vec<Vec<u32>>)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(batches.iter().map(|(name, texts)| (name, texts)))
}
