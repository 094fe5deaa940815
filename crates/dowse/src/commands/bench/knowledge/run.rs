//! The course of the measurement.

use std::path::Path;
use std::time::{Duration, Instant};

use model::Report;
use serde_json::json;

use super::client::Client;
use super::figures::{latency, quality, thresholds};
use super::set::{LoadedSet, QueryOutcome, read};
use crate::bench_cli::KnowledgeBenchArgs;
use crate::commands::bench::process::Process;
use crate::commands::bench::show;
use crate::print;

/// What half of the searches, and all but one in a hundred, may take with all stages, in ms.
const ALL_STAGES_TARGETS: [f64; 2] = [150.0, 400.0];

/// The same without the stages that need a model.
const WORDS_TARGETS: [f64; 2] = [25.0, 100.0];

/// The same for the summary of a knowledge base.
const SUMMARY_TARGETS: [f64; 2] = [5.0, 20.0];

/// Calls of the summary.
const N_SUMMARIES: usize = 200;

/// Questions before those that count, so that files are mapped and the model is loaded.
const WARM_UP: usize = 5;

pub(crate) fn run(args: &KnowledgeBenchArgs) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("dowse-bench-kb-{}", std::process::id()));
    fs_err::create_dir_all(&folder)?;
    let measured = measure(args, &folder);
    fs_err::remove_dir_all(&folder)?;
    measured?.iter().for_each(show);
    Ok(())
}

fn measure(args: &KnowledgeBenchArgs, folder: &Path) -> anyhow::Result<Vec<Report>> {
    let models = match &args.models_dir {
        Some(models) => format!("models_dir = {:?}\n", std::path::absolute(models)?),
        None => String::new(),
    };
    // No agent reaches this rate; everything else is as shipped.
    let shipped = format!(
        "data_dir = \"data\"\n{models}[limits]\nrate_per_minute = {{ default = 4000000000 }}\n"
    );
    let words_alone = format!("{shipped}[embedder]\nprovider = \"none\"\n");
    let sets = args
        .folders
        .iter()
        .map(|folder| read(folder, args.limit, args.documents))
        .collect::<anyhow::Result<Vec<_>>>()?;

    let server = start(folder, if args.words_alone { &words_alone } else { &shipped })?;
    let mut loaded = vec![];
    let mut reports = vec![];
    for dataset in sets {
        print::note(format!("loading {} documents", dataset.documents.len()));
        let set = LoadedSet::load(&mut Client::connect(&server)?, dataset)?;
        reports.push(report_of(&set, &server, args)?);
        loaded.push(set);
    }
    if args.words_alone {
        return Ok(reports);
    }
    drop(server);
    let server = start(folder, &words_alone)?;
    for (set, report) in loaded.iter().zip(&mut reports) {
        print::note(format!("asking {} without a model", set.name));
        let asked = ask_all(set, &server)?;
        let mut times: Vec<Duration> = asked.iter().map(|asked| asked.took).collect();
        latency(report, "search, words alone", &mut times, Some(WORDS_TARGETS));
    }
    Ok(reports)
}

fn start(folder: &Path, config: &str) -> anyhow::Result<Process> {
    fs_err::write(folder.join("dowse.toml"), config)?;
    Process::start(
        &["serve", "--config", "dowse.toml", "--listen", "127.0.0.1:0", "--log", "error"],
        folder,
        "/readyz",
    )
}

fn report_of(
    set: &LoadedSet,
    server: &Process,
    args: &KnowledgeBenchArgs,
) -> anyhow::Result<Report> {
    let n_documents = set.n_documents as f64;
    let mut report = Report::new(format!(
        "{}: {} documents, {} questions",
        set.name,
        set.n_documents,
        set.queries.len()
    ));
    let per_second = |time: Duration| n_documents / time.as_secs_f64().max(1e-9);
    report.add("ingest, found by words", per_second(set.words_time), "documents/s");
    report.add("ingest, vectors and summary", per_second(set.whole_time), "documents/s");

    print::note(format!("asking {}", set.name));
    let asked = ask_all(set, server)?;
    quality(&mut report, &asked);
    thresholds(&mut report, &asked);
    let mut times: Vec<Duration> = asked.iter().map(|asked| asked.took).collect();
    let (what, targets) = match args.words_alone {
        true => ("search, words alone", WORDS_TARGETS),
        false => ("search, all stages", ALL_STAGES_TARGETS),
    };
    latency(&mut report, what, &mut times, Some(targets));
    together(&mut report, set, server, args.clients)?;

    let mut client = Client::connect(server)?;
    let mut times = vec![];
    for _ in 0..N_SUMMARIES {
        let begun = Instant::now();
        let arguments = json!({ "knowledge_base_id": set.base });
        client.call("get_knowledge_base_summary", &arguments)?;
        times.push(begun.elapsed());
    }
    latency(&mut report, "summary", &mut times, Some(SUMMARY_TARGETS));
    Ok(report)
}

fn ask_all(set: &LoadedSet, server: &Process) -> anyhow::Result<Vec<QueryOutcome>> {
    let mut client = Client::connect(server)?;
    for query in set.queries.iter().rev().take(WARM_UP) {
        set.time(&mut client, query)?;
    }
    set.queries.iter().map(|query| set.ask(&mut client, query)).collect()
}

/// Lets many clients ask at once, each all questions from a place of its own.
fn together(
    report: &mut Report,
    set: &LoadedSet,
    server: &Process,
    n_clients: usize,
) -> anyhow::Result<()> {
    let n_each = set.queries.len().div_ceil(n_clients.max(1)).max(1);
    let begun = Instant::now();
    let answers: Vec<(Vec<Duration>, Vec<String>)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..n_clients)
            .map(|client_idx| {
                scope.spawn(move || {
                    let (mut times, mut errors) = (vec![], vec![]);
                    let mut client = Client::connect(server);
                    for step in 0..n_each {
                        let query = &set.queries[(client_idx * n_each + step) % set.queries.len()];
                        let asked = match &mut client {
                            Ok(client) => set.time(client, query),
                            Err(error) => Err(anyhow::anyhow!("{error}")),
                        };
                        match asked {
                            Ok(took) => times.push(took),
                            Err(error) => {
                                errors.push(error.to_string());
                                client = Client::connect(server);
                            }
                        }
                    }
                    (times, errors)
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap_or_default()).collect()
    });
    let took = begun.elapsed();
    let errors: Vec<&String> = answers.iter().flat_map(|(_, errors)| errors).collect();
    if let Some(first) = errors.first() {
        print::note(format!("the first error: {first}"));
    }
    let n_errors = errors.len() as f64;
    let mut times: Vec<Duration> = answers.iter().flat_map(|(times, _)| times).copied().collect();
    let what = format!("{n_clients} clients at once");
    report.add_noted(format!("{what}, errors"), n_errors, "", "target: 0".to_owned());
    let rate = times.len() as f64 / took.as_secs_f64().max(1e-9);
    report.add(format!("{what}, answers"), rate, "per second");
    latency(report, &what, &mut times, None);
    Ok(())
}
