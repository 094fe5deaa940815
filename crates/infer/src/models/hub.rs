//! Models from a hub over HTTP: a repository's files by name, resumable.
//!
//! The hub tells the sha256 of large files in a header; where it does, the download must have it.

use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

use net::{Client, Config, Request, RetryPolicy};

use super::folder::sum_of;
use super::pull::Job;
use super::{CHECKPOINT_FILE, GRAPH_FILE, Manifest, Progress, Purpose, TOKENIZER_FILE};
use crate::{Error, Result};

/// The largest file that is downloaded.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Where a repository may keep its graph, the preferred place first.
const GRAPH_PATHS: &[&str] = &["onnx/model.onnx", "model.onnx"];
/// Files that help and may be missing.
const OPTIONAL_PATHS: &[&str] =
    &["config_sentence_transformers.json", "sentence_bert_config.json", "1_Pooling/config.json"];

/// Pulls a repository that the user named; its configuration says what it is for.
pub(crate) fn pull_named_from_hub(job: &mut Job<'_>, repository: &str) -> Result<Manifest> {
    let files = job.files_dir();
    fs_err::create_dir_all(&files)?;
    let source = pull_from_hub(job, repository)?;
    let is_classifier = read_config(&files)["architectures"]
        .as_array()
        .is_some_and(|names| names.iter().any(is_sequence_classifier));
    let purpose = if is_classifier { Purpose::Reranker } else { Purpose::Embedder };
    job.manifest("hub.1".to_owned(), purpose, source)
}

/// Pulls graph, tokenizer and configuration of a repository; gives the words that name the source.
pub(crate) fn pull_from_hub(job: &mut Job<'_>, repository: &str) -> Result<String> {
    let Some(hub_url) = job.config.hub_url.clone() else {
        return Err(Error::CannotPull {
            model: job.model.to_owned(),
            attempts: vec!["the model hub is turned off".to_owned()],
        });
    };
    let client = Client::new(Config {
        connect_timeout: Duration::from_secs(5),
        answer_timeout: Duration::from_secs(30),
        attempt_timeout: Duration::from_secs(3600),
        max_response_bytes: MAX_FILE_BYTES,
        retry: RetryPolicy { max_attempts: 2, ..RetryPolicy::patient() },
        reach: job.config.reach.clone(),
        ..Config::careful()
    });
    let base = format!("{}/{repository}/resolve/main", hub_url.trim_end_matches('/'));
    let files = job.files_dir();
    fetch(job, &client, &format!("{base}/{TOKENIZER_FILE}"), &files.join(TOKENIZER_FILE))?;
    for path in ["config.json"].iter().chain(OPTIONAL_PATHS) {
        match fetch(job, &client, &format!("{base}/{path}"), &files.join(path)) {
            Ok(()) => {}
            Err(error) if is_not_there(&error) => {}
            Err(error) => return Err(error),
        }
    }
    // ModernBERT runs from its checkpoint on our own kernels; everything else from a graph.
    let is_modern = read_config(&files)["model_type"] == "modernbert";
    let (paths, file): (&[&str], &str) =
        if is_modern { (&[CHECKPOINT_FILE], CHECKPOINT_FILE) } else { (GRAPH_PATHS, GRAPH_FILE) };
    let mut last = None;
    for path in paths {
        match fetch(job, &client, &format!("{base}/{path}"), &files.join(file)) {
            Ok(()) => return Ok(format!("hub {repository}")),
            Err(error) if is_not_there(&error) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.expect("there is at least one path"))
}

fn read_config(files: &Path) -> serde_json::Value {
    let config = fs_err::read(files.join("config.json")).unwrap_or_default();
    serde_json::from_slice(&config).unwrap_or_default()
}

fn is_sequence_classifier(name: &serde_json::Value) -> bool {
    name.as_str().is_some_and(|name| name.ends_with("ForSequenceClassification"))
}

fn is_not_there(error: &Error) -> bool {
    matches!(error, Error::Provider { source: net::Error::Status { status: 404, .. }, .. })
}

/// Downloads one file, going on where an earlier pull stopped.
fn fetch(job: &mut Job<'_>, client: &Client, url: &str, target: &Path) -> Result<()> {
    let failed = |source| Error::Provider { provider: "model hub".to_owned(), source };
    job.check_deadline("downloading from the hub")?;
    let parts = job.staging.join("parts");
    fs_err::create_dir_all(&parts)?;
    let relative = target.strip_prefix(job.files_dir()).unwrap_or(target);
    let part = parts.join(relative.to_string_lossy().replace(['/', '\\'], "--"));
    let mut out = fs_err::OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&part)?;
    let n_there = out.seek(std::io::SeekFrom::End(0))?;
    let mut request = Request::get(url).map_err(failed)?;
    if n_there > 0 {
        request = request.header("range", format!("bytes={n_there}-"));
    }
    let mut stream = match client.stream(&request, job.deadline) {
        Ok(stream) => stream,
        Err(net::Error::Status { status: 416, .. }) if n_there > 0 => {
            // Nothing follows what is there, or the file has changed: begin anew.
            drop(out);
            fs_err::remove_file(&part)?;
            return fetch(job, client, url, target);
        }
        Err(error) => return Err(failed(error)),
    };
    let goes_on = stream.status == 206;
    if !goes_on {
        out.file_mut().set_len(0)?;
        out.seek(std::io::SeekFrom::Start(0))?;
    }
    let n_before = if goes_on { n_there } else { 0 };
    let n_announced = stream.header("content-length").and_then(|text| text.parse::<u64>().ok());
    let expected = published_sum(&stream);
    let mut progress = Progress::downloading(job.model, n_before + n_announced.unwrap_or(0));
    progress.n_bytes_done = n_before;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let n_read = stream.read_some(&mut buffer).map_err(failed)?;
        if n_read == 0 {
            break;
        }
        out.write_all(&buffer[..n_read])?;
        progress.n_bytes_done += n_read as u64;
        (job.report)(&progress);
    }
    out.sync_all()?;
    drop(out);
    if let Some(expected) = expected {
        let received = sum_of(&part, &mut |_| {})?.sha256;
        if received != expected {
            fs_err::remove_file(&part)?;
            return Err(Error::WrongChecksum { path: part, expected, received });
        }
    }
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    fs_err::rename(&part, target)?;
    Ok(())
}

/// Reads the sum from the header that the hub sets for large files.
fn published_sum(stream: &net::Streaming) -> Option<String> {
    let text = stream.header_on_the_way("x-linked-etag").or_else(|| stream.header("etag"))?;
    let text = text.trim_start_matches("W/").trim_matches('"').to_ascii_lowercase();
    let is_sum = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then_some(text)
}
