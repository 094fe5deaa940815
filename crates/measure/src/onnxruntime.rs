//! The other side of the benchmark: a Python program, written at run time, that builds an ONNX
//! graph from the same container and runs it with `onnxruntime`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use infer::bench::Batches;
use model::Deadline;
use serde::{Deserialize, Serialize};

use crate::embedders::{EngineFigures, Outcome};
use crate::rten_engine;

/// How often the running program is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const PROGRAM: &str = include_str!("onnxruntime.py");

/// What the program reads.
#[derive(Serialize)]
struct PythonRequest<'a> {
    threads: usize,
    repeats: usize,
    texts: &'a [Vec<u32>],
    batches: BTreeMap<&'a str, &'a [Vec<u32>]>,
}

/// What it writes.
#[derive(Deserialize)]
struct Answer {
    versions: BTreeMap<String, String>,
    vectors: Vec<Vec<f32>>,
    f32: BTreeMap<String, f64>,
    #[serde(default)]
    int8: BTreeMap<String, f64>,
    #[serde(default)]
    int8_vectors: Vec<Vec<f32>>,
}

/// Runs the program; everything that goes wrong with it is a reason, not an error.
pub(crate) fn run(
    container: &Path,
    request: &Batches,
    deadline: &Deadline,
) -> std::io::Result<Outcome> {
    let skipped = |why: &str| Ok(Outcome::Skipped { why: why.to_owned() });
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("reference.py");
    let source = folder.path().join("asked.json");
    let target = folder.path().join("answer.json");
    fs_err::write(&program, PROGRAM)?;
    let asked = PythonRequest {
        threads: request.threads,
        repeats: request.repeats,
        texts: &request.texts,
        batches: request.batches.iter().map(|(name, ids)| (&name[..], &ids[..])).collect(),
    };
    fs_err::write(&source, serde_json::to_vec(&asked)?)?;
    let child = Command::new(crate::python())
        .args([&program, container, &source, &target, folder.path()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return skipped("Python is not there") };
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
    let Ok(answer) = serde_json::from_slice::<Answer>(&fs_err::read(&target)?) else {
        return skipped("its answer could not be read");
    };
    let mut peers = vec![EngineFigures {
        engine: "onnxruntime".to_owned(),
        version: answer.versions.get("onnxruntime").cloned().unwrap_or_default(),
        vectors: answer.vectors,
        f32: answer.f32,
        int8: answer.int8,
        int8_vectors: answer.int8_vectors,
    }];
    peers.extend(rten_engine::measure(folder.path(), request));
    Ok(Outcome::Answered(peers))
}
