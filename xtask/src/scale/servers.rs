//! What a second server costs the first: whole servers over one PostgreSQL, each pinned to a core,
//! and the processor time of each for one search.
//!
//! Processor time is compared, not the clock: the clients, PostgreSQL and Qdrant share the same
//! cores, so that the clock would show their work as well.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::{Folder, Http, Postgres, Qdrant, Server};

use super::{binary_of, configuration, read};
use crate::{testbed, usage};

/// How long the documents may take until all are indexed, with their vectors.
const READY_WITHIN: Duration = Duration::from_secs(3600);
/// How often it is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Searches before the first that counts.
const N_WARM: usize = 20;

/// Measures one server, two at once, and one again.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = read(arguments)?;
    let binary = binary_of(&options)?;
    testbed::prepare()?;
    let postgres = Postgres::start().context("the test bed has no PostgreSQL")?;
    let qdrant = match options.engine.as_str() {
        "embedded" => None,
        "qdrant" => Some(Qdrant::start(1).context("the test bed has no Qdrant")?),
        other => anyhow::bail!("`--engine` is `embedded` or `qdrant`, received `{other}`"),
    };
    let set = &options.sets[0];
    let mut documents = lines(&set.join("corpus.jsonl"))?;
    documents.truncate(options.n_documents);
    let questions: Vec<String> = lines(&set.join("queries.jsonl"))?
        .iter()
        .map(|line| line["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    let folder = Folder::new();
    let config = folder.write("dowse.toml", configuration(&options, &postgres, qdrant.as_ref()));
    let start = |core: usize| -> anyhow::Result<Server> {
        let mut command = Command::new("taskset");
        command.args(["-c", &core.to_string()]).arg(&binary);
        command.arg("serve").arg("--config").arg(&config);
        command.arg("--data-dir").arg(folder.join(format!("data{core}")));
        command.args(["--listen", "127.0.0.1:0"]);
        Server::try_start(command).map_err(anyhow::Error::msg)
    };
    let first = start(0)?;
    first.wait_until_ready();
    let base = fill(first.http(), &documents, &questions)?;

    let lasts = Duration::from_secs(options.seconds);
    warm(first.http(), &base, &questions);
    // Work that the intake left behind (summaries, maintenance) would count as the searches' own.
    phase(&[&first], &base, &questions, lasts)?;
    let alone = phase(&[&first], &base, &questions, lasts)?;
    let second = start(1)?;
    second.wait_until_ready();
    wait_for_vectors(second.http(), &base, &questions)?;
    warm(second.http(), &base, &questions);
    let together = phase(&[&first, &second], &base, &questions, lasts)?;
    drop(second);
    let again = phase(&[&first], &base, &questions, lasts)?;

    let show = |name: &str, one: &Figures| {
        eprintln!(
            "{name:<32} {:>8.2} ms of a core a search {:>8.1} searches/s",
            one.cpu_millis, one.rate
        );
    };
    show("first server alone", &alone[0]);
    show("first server beside the second", &together[0]);
    show("second server beside the first", &together[1]);
    show("first server alone again", &again[0]);
    let before = (alone[0].cpu_millis + again[0].cpu_millis) / 2.0;
    let beside = (together[0].cpu_millis + together[1].cpu_millis) / 2.0;
    eprintln!("beside another by alone: {:.3} times", beside / before);
    let rate = together[0].rate + together[1].rate;
    eprintln!("searches of both by those of one: {:.2} times", rate / alone[0].rate);
    Ok(())
}

/// What one server did in a phase.
struct Figures {
    cpu_millis: f64,
    rate: f64,
}

/// Reads a file of one JSON object on each line.
fn lines(file: &Path) -> anyhow::Result<Vec<Value>> {
    fs_err::read_to_string(file)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Makes a base with the documents, and waits until all are indexed.
fn fill(http: &Http, documents: &[Value], questions: &[String]) -> anyhow::Result<String> {
    let made = |path: &str, body: serde_json::Value| -> anyhow::Result<String> {
        let answer = http.post_json(path, &body);
        ensure!(answer.status < 300, "`{path}` answered {}: {}", answer.status, answer.text());
        Ok(answer.json()["id"].as_str().unwrap_or_default().to_owned())
    };
    let base = made("/v1/knowledge-bases", json!({ "name": "measure" }))?;
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = made(&path, json!({ "name": "measure" }))?;
    let path = format!("/v1/collections/{collection}/documents");
    let mut ids = vec![];
    for document in documents {
        ids.push(made(&path, json!({ "title": document["title"], "text": document["text"] }))?);
    }
    for id in &ids {
        let path = format!("/v1/documents/{id}");
        let is_ready =
            testkit::wait_until(READY_WITHIN, || http.get(&path).json()["status"] == "ready");
        ensure!(is_ready, "document `{id}` is not ready");
    }
    wait_for_vectors(http, &base, questions)?;
    Ok(base)
}

/// Waits until a search says nothing of vectors that are missing.
fn wait_for_vectors(http: &Http, base: &str, questions: &[String]) -> anyhow::Result<()> {
    let question = questions.first().context("the set has no questions")?;
    let is_whole = testkit::wait_until(READY_WITHIN, || {
        std::thread::sleep(LOOK_AGAIN);
        let answer = search(http, base, question);
        answer["results"].is_array() && !answer["warnings"].to_string().contains("vectors")
    });
    ensure!(is_whole, "vectors are still missing: {}", search(http, base, question));
    Ok(())
}

fn search(http: &Http, base: &str, question: &str) -> Value {
    let path = format!("/v1/knowledge-bases/{base}/search");
    http.post_json(&path, &json!({ "query": question, "threshold": 0.0 })).json()
}

fn warm(http: &Http, base: &str, questions: &[String]) {
    for question in questions.iter().rev().take(N_WARM) {
        search(http, base, question);
    }
}

/// Searches all servers at once, one client each, and gives what each search took of the processor.
fn phase(
    servers: &[&Server],
    base: &str,
    questions: &[String],
    lasts: Duration,
) -> anyhow::Result<Vec<Figures>> {
    let is_over = AtomicBool::new(false);
    let counts: Vec<AtomicUsize> = servers.iter().map(|_| AtomicUsize::new(0)).collect();
    let cpu = |server: &&Server| usage::cpu_seconds(server.id());
    let before = servers.iter().map(cpu).collect::<anyhow::Result<Vec<f64>>>()?;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for (server, count) in servers.iter().zip(&counts) {
            let is_over = &is_over;
            scope.spawn(move || {
                for question in questions.iter().cycle() {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    search(server.http(), base, question);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
    });
    let seconds = begun.elapsed().as_secs_f64();
    servers
        .iter()
        .zip(&before)
        .zip(&counts)
        .map(|((server, before), count)| {
            let n_searches = count.load(Ordering::Relaxed).max(1) as f64;
            let used = cpu(server)? - before;
            Ok(Figures { cpu_millis: used * 1000.0 / n_searches, rate: n_searches / seconds })
        })
        .collect()
}
