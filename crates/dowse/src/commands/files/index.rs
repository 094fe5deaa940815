//! `dowse index`.

use std::time::{Duration, Instant};

use ::files::{IndexAnswer, Indexed, Service};
use anyhow::Context;
use ingest::Priority;
use model::{Caller, Deadline};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::commands::host::{Host, Hosting, serve_commands};
use crate::commands::reach::{Form, typed};
use crate::commands::sets::{Need, Set, open_all, served};
use crate::commands::{Outcome, block_on};
use crate::control::Typed;
use crate::files_cli::IndexArgs;
use crate::print;
use crate::wiring::SharedState;

/// How long one wait for a job takes; between two it is seen whether somebody still waits.
const STEP: Duration = Duration::from_secs(2);

/// How long vectors may take; large folders take hours on small machines.
const ALL_VECTORS: Duration = Duration::from_secs(24 * 3600);

/// How often it is looked how far the vectors of a running server are.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(120);

/// Who makes the vectors that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorMaker {
    ThisCommand,
    Server,
}

/// Indexes, while other commands can already search what is there.
pub(crate) fn index(args: &IndexArgs) -> anyhow::Result<Outcome> {
    let set = open_all(&args.files, &args.folders, Need::Nothing, |sets| sets)?.pop();
    match set.context("nothing was opened")? {
        Set::Running(connection) => Ok(Outcome::of(connection.run(typed(Form::Typed)?)?)),
        Set::Here { shared_state, service, app } => block_on(async move {
            let app = app.context("the application was not opened")?;
            let shared = ::serve::Shared::new(*app);
            serve_commands(Hosting::Index, &shared_state, shared, CancellationToken::new())?;
            let args = args.clone();
            tokio::task::spawn_blocking(move || {
                // Writing to an engine that is away waits for it; whoever types this would wait
                // without a word.
                ensure_engine(&shared_state)?;
                let roots = service.roots(&Caller::local_admin());
                let maker = VectorMaker::ThisCommand;
                index_roots(&shared_state, &service, &roots, &args, maker, args.json)
            })
            .await?
        }),
    }
}

/// Indexes what a running server serves.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &IndexArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let service = app.files.as_ref().context(super::open::NO_FOLDERS)?;
    let named: Vec<_> = args.folders.iter().chain(&args.files.root).collect();
    let roots = match named.is_empty() {
        true => service.roots(&Caller::local_admin()),
        false => served(service, &typed.folder, &named)?,
    };
    let is_json = args.json || typed.is_json;
    index_roots(&host.shared_state, service, &roots, args, VectorMaker::Server, is_json)
}

fn index_roots(
    shared_state: &SharedState,
    service: &Service,
    roots: &[String],
    args: &IndexArgs,
    maker: VectorMaker,
    is_json: bool,
) -> anyhow::Result<Outcome> {
    let mut reports = Vec::new();
    for root in roots {
        // A job that runs already may have passed a file by before it changed: what is there when
        // the command is typed is found when it ends.
        if shared_state.kept()?.queue.active(::files::INDEX_JOB, root)?.is_some() {
            follow(service, root, false)?;
        }
        let indexed = follow(service, root, args.full)?;
        if !is_json {
            print::line(done(root, &indexed));
        }
        for warning in indexed.warnings.iter().take(args.warnings) {
            print::note(format!("  {}: {}", warning.code, warning.message));
        }
        if indexed.n_warnings > args.warnings {
            print::note(format!(
                "  {} warnings in all; see more with `--warnings N`",
                indexed.n_warnings
            ));
        }
        reports.push(json!({
            "root": root,
            "indexed": indexed.indexed,
            "skipped": indexed.skipped,
            "removed": indexed.removed,
            "duration_ms": indexed.duration_ms,
            "warnings": indexed.n_warnings,
        }));
    }
    // Words can be searched only when the engine has them; one that does not answer is no success.
    ensure_engine(shared_state)?;
    let vectors = if args.no_vectors {
        json!("left to the server")
    } else {
        finish_vectors(shared_state, service, maker, is_json)?
    };
    if is_json {
        print::json(&json!({ "roots": reports, "vectors": vectors }))?;
    }
    Ok(Outcome::Done)
}

/// Fails when an engine elsewhere does not answer.
pub(super) fn ensure_engine(shared_state: &SharedState) -> anyhow::Result<()> {
    let engine = shared_state.kept()?.store.engine();
    let name = engine.name();
    engine.reach().with_context(|| {
        format!(
            "the engine `{name}` does not answer: what was read is kept, but cannot be searched\n\
             hint: start it, or mend its address in `[store]`; it catches up by itself when it \
             answers"
        )
    })
}

/// Waits until every passage has its vector; says so where there is no model.
fn finish_vectors(
    shared_state: &SharedState,
    service: &Service,
    maker: VectorMaker,
    is_json: bool,
) -> anyhow::Result<Value> {
    if let Err(state) = shared_state.embedder.get(&Deadline::after(MODEL_WAIT)) {
        let why = state.warning().map(|warning| warning.message).unwrap_or_default();
        if !why.is_empty() {
            print::note(format!("note: {why}"));
        }
        return Ok(json!(if why.is_empty() { "off" } else { "no model" }));
    }
    if service.vector_debt()?.n_without > 0 {
        print::note("words can be searched; vectors follow, and go on later when stopped here");
    }
    let begun = Instant::now();
    let n_missing = service.vector_debt()?.n_without;
    let bar = print::Bar::new();
    match maker {
        VectorMaker::ThisCommand => {
            service
                .finish_vectors(&Deadline::after(ALL_VECTORS), &|progress| bar.show(progress))?;
        }
        VectorMaker::Server => loop {
            let n_without = service.vector_debt()?.n_without;
            if n_without == 0 {
                break;
            }
            print::ensure_reader()?;
            bar.show(&ingest::JobProgress {
                stage: ingest::Stage::Embedding.as_str().to_owned(),
                n_done: n_missing.saturating_sub(n_without),
                n_total: Some(n_missing),
                ..ingest::JobProgress::default()
            });
            std::thread::sleep(LOOK_EVERY);
        },
    }
    drop(bar);
    if !is_json {
        let took = print::duration(begun.elapsed().as_millis() as u64);
        print::line(format!("vectors are complete after {took}"));
    }
    Ok(json!("complete"))
}

/// Shows on the terminal how far the indexing of every root is, and what it did, while a server
/// that has just started goes on with it.
pub(crate) fn show_indexing(service: Service) {
    std::thread::spawn(move || {
        for root in service.roots(&Caller::local_admin()) {
            match follow(&service, &root, false) {
                Ok(indexed) => print::note(done(&root, &indexed)),
                Err(error) => tracing::warn!(error = format!("{error:#}"), root, "indexing failed"),
            }
        }
    });
}

/// Indexes a root, or joins whoever does, and shows how far it is.
fn follow(service: &Service, root: &str, full: bool) -> anyhow::Result<Indexed> {
    let caller = Caller::local_admin();
    let bar = print::Bar::new();
    loop {
        print::ensure_reader()?;
        let deadline = Deadline::after(STEP);
        let show = |progress: &ingest::JobProgress| bar.show(progress);
        match service.index(&caller, root, full, Priority::High, &deadline, &show)? {
            IndexAnswer::Running { progress, .. } => bar.show(&progress),
            IndexAnswer::Done(indexed) => return Ok(indexed),
        }
    }
}

fn done(root: &str, indexed: &Indexed) -> String {
    format!(
        "{root}: {} indexed, {} skipped, {} removed in {}",
        indexed.indexed,
        indexed.skipped,
        indexed.removed,
        print::duration(indexed.duration_ms)
    )
}
