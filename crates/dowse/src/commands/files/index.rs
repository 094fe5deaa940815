//! `dowse index`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::files::{IndexAnswer, Indexed, Service};
use anyhow::Context;
use infer::ModelState;
use ingest::{JobProgress, Priority};
use model::{Caller, Deadline};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::commands::host::{COMMANDS_GRACE, Host, Hosting, serve_commands};
use crate::commands::reach::{Form, typed};
use crate::commands::sets::{Need, Set, only_one, open_all, served, serves_no_folders};
use crate::commands::{Outcome, block_on};
use crate::control::Typed;
use crate::files_cli::IndexArgs;
use crate::memory::give_back_code;
use crate::wiring::{
    FOLDER_HINT, MIN_FREE_BYTES, SharedState, failing_embedder, forget_folders_taken_out,
    free_bytes, remember_before_indexing,
};
use crate::{platform, print};

/// How long one wait for a job takes; between two it is seen whether somebody still waits.
const STEP: Duration = Duration::from_secs(2);

/// How long vectors may take; large folders take hours on small machines.
const ALL_VECTORS: Duration = Duration::from_secs(24 * 3600);

/// How often it is looked how far the vectors of a running server are.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long vectors may stand still before their embedder is asked whether it works.
const STALLED_AFTER: Duration = Duration::from_secs(5);

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(120);

/// What is said of a folder in which there was nothing to index.
pub(super) const HOLDS_NOTHING: &str = "holds no file that is read: symbolic links, hidden files, \
                                        and what an ignore rule names are left out";

/// Who makes the vectors that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorMaker {
    ThisCommand,
    Server,
}

/// What became of the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorOutcome {
    LeftToServer,
    Off,
    /// The model was never downloaded, which a first index need not wait for.
    NoModel,
    /// A model or provider that is configured does not work.
    Failed,
    Complete,
}

impl VectorOutcome {
    fn as_str(self) -> &'static str {
        match self {
            VectorOutcome::LeftToServer => "left to the server",
            VectorOutcome::Off => "off",
            VectorOutcome::NoModel => "no model",
            VectorOutcome::Failed => "failed",
            VectorOutcome::Complete => "complete",
        }
    }
}

/// Indexes, while other commands can already search what is there.
pub(crate) fn index(args: &IndexArgs) -> anyhow::Result<Outcome> {
    let set = open_all(&args.files, &args.folders, Need::Nothing, only_one)?.pop();
    match set.context("nothing was opened")?? {
        Set::Running(connection) => Ok(Outcome::of(connection.run(typed(Form::Typed)?)?)),
        Set::Here { shared_state, service, app, .. } => block_on(async move {
            let app = app.context("the application was not opened")?;
            let shared = ::serve::Shared::new(*app);
            let (shutdown, is_stopped) = (CancellationToken::new(), CancellationToken::new());
            platform::shutdown_on_signal(is_stopped.clone())?;
            let commands = serve_commands(Hosting::Index, &shared_state, shared, shutdown.clone())?;
            let (commands, args) = (Arc::new(commands), args.clone());
            let (of_work, ended) = (Arc::clone(&commands), shutdown.clone());
            let work = tokio::task::spawn_blocking(move || {
                // Writing to an engine that is away waits for it; whoever types this would wait
                // without a word.
                let indexed = ensure_engine(&shared_state).and_then(|()| {
                    let configured = service.configured_root_names();
                    // Without folders on the command line, what the file names is all there is.
                    if args.folders.is_empty() && args.files.root.is_empty() {
                        say_what_left(&shared_state, &configured)?;
                    }
                    remember_before_indexing(&shared_state.open_store()?.store, configured)?;
                    give_back_code();
                    let roots = service.roots(&Caller::local_admin());
                    let maker = VectorMaker::ThisCommand;
                    index_roots(&shared_state, &service, &roots, &args, maker, args.json)
                });
                of_work.finish();
                ended.cancel();
                indexed
            });
            tokio::select! {
                biased;
                indexed = work => indexed?,
                () = is_stopped.cancelled() => {
                    shutdown.cancel();
                    let finish = move || commands.finish_within(COMMANDS_GRACE);
                    tokio::task::spawn_blocking(finish).await?;
                    anyhow::bail!(
                        "stopped before everything was indexed; what was indexed is kept\n\
                         hint: run the same command again, and it goes on from there"
                    )
                }
            }
        }),
    }
}

/// Erases what was read from folders that were taken out of the configuration file, and says so.
fn say_what_left(shared_state: &SharedState, configured: &BTreeSet<String>) -> anyhow::Result<()> {
    if configured.is_empty() {
        return Ok(());
    }
    for folder in forget_folders_taken_out(shared_state, configured)? {
        print::note(format!(
            "note: `{folder}` was removed from the configuration: its index was erased"
        ));
    }
    Ok(())
}

/// Indexes what a running server serves.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &IndexArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let service = app.files.as_ref().ok_or_else(|| serves_no_folders(&host.shared_state))?;
    let named: Vec<_> = args.folders.iter().chain(&args.files.root).collect();
    let roots = match named.is_empty() {
        true => service.roots(&Caller::local_admin()),
        false => served(service, &typed.folder, &named)?,
    };
    let is_json = args.json || typed.is_json;
    // The server makes them by its own configuration; who wants no model does not wait for that.
    let no_vectors = args.no_vectors || typed.is_without_model;
    let args = &IndexArgs { no_vectors, ..args.clone() };
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
    let mut n_unreachable = 0_usize;
    for root in roots {
        let (indexed, missing) = match index_root(shared_state, service, root, args.full) {
            Ok(indexed) => (indexed, None),
            // The other roots are indexed all the same.
            Err(error) if is_missing(&error) => (Indexed::default(), Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let unreachable = missing.or_else(|| indexed.why_unreachable().map(str::to_owned));
        if let Some(why) = &unreachable {
            print::failure(&unreachable_folder(why));
            n_unreachable += 1;
        } else if !is_json {
            print::line(done(root, &indexed));
        }
        let is_empty = indexed.indexed + indexed.skipped == 0 && indexed.n_warnings == 0;
        if is_empty && unreachable.is_none() {
            print::note(format!("  it {HOLDS_NOTHING}"));
        }
        let shown = if unreachable.is_some() { 0 } else { args.warnings };
        for warning in indexed.warnings.iter().take(shown) {
            print::note(format!("  {}: {}", warning.code, warning.message));
        }
        let (n_all, n_kept) = (indexed.n_warnings, indexed.warnings.len());
        if unreachable.is_none() && n_all > args.warnings.min(n_kept) {
            let more = match args.warnings < n_kept {
                true => format!("`--warnings {n_kept}` prints {n_kept} of them, and "),
                false => String::new(),
            };
            print::note(format!(
                "  {} in all; {more}`dowse status --missing` lists every file \
                 without text and why",
                print::counted(n_all, "warning", "warnings")
            ));
        }
        reports.push(json!({
            "root": root,
            "indexed": indexed.indexed,
            "skipped": indexed.skipped,
            "removed": indexed.removed,
            "duration_ms": indexed.duration_ms,
            "warnings": indexed.n_warnings,
            "unreachable": unreachable,
        }));
    }
    // Words can be searched only when the engine has them; one that does not answer is no success.
    ensure_engine(shared_state)?;
    let vectors = match args.no_vectors {
        true => VectorOutcome::LeftToServer,
        false => finish_vectors(shared_state, service, maker, is_json)?,
    };
    if is_json {
        print::json(&json!({ "roots": reports, "vectors": vectors.as_str() }))?;
    }
    if n_unreachable > 0 {
        return Ok(Outcome::Failed);
    }
    Ok(match vectors {
        VectorOutcome::Failed => Outcome::Problems,
        VectorOutcome::LeftToServer
        | VectorOutcome::Off
        | VectorOutcome::NoModel
        | VectorOutcome::Complete => Outcome::Done,
    })
}

/// Indexes a root, and tells what that did with an index that it went on with.
fn index_root(
    shared_state: &SharedState,
    service: &Service,
    root: &str,
    full: bool,
) -> anyhow::Result<Indexed> {
    let when_stalled = &|| ensure_space(shared_state);
    // A job that runs already, or that was stopped and goes on now, may have passed a file by
    // before it changed: what is there when the command is typed is found when it ends.
    let queue = &shared_state.open_store()?.queue;
    let running = queue.active(::files::INDEX_JOB, root)?;
    let (mut is_read, mut before) = (false, None);
    if let Some(job) = running {
        let is_full = job.arguments["full"] == true;
        before = Some(follow(service, root, is_full, when_stalled)?);
        // What a full one of everything has just read is not read a second time.
        is_read = is_full && job.arguments["paths"].is_null();
    }
    let indexed = follow(service, root, full && !is_read, when_stalled)?;
    // Whoever waited for both is told what both did.
    Ok(match before {
        Some(before) => indexed.after(&before),
        None => indexed,
    })
}

/// Tells whether a folder is not there.
fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<::files::Error>(), Some(::files::Error::NotFound { .. }))
}

/// Fails when an engine elsewhere does not answer.
pub(super) fn ensure_engine(shared_state: &SharedState) -> anyhow::Result<()> {
    let engine = shared_state.open_store()?.store.engine();
    let name = engine.info().name;
    engine.info().reach().with_context(|| {
        format!(
            "the engine `{name}` does not answer: what was read is kept, but cannot be searched\n\
             hint: start it, or fix its address in `[store]`; it catches up by itself when it \
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
) -> anyhow::Result<VectorOutcome> {
    let loading = Instant::now();
    match shared_state.embedder.get(&Deadline::after(MODEL_WAIT)) {
        Err(state) => return Ok(without_vectors(&state)),
        Ok(embedder) => {
            let (model, ms) = (&embedder.id().name, loading.elapsed().as_millis());
            tracing::info!(model, ms, "model loaded");
        }
    }
    if service.vector_debt()?.n_without > 0 {
        print::note("words can be searched; vectors follow, and go on later when stopped here");
    }
    let begun = Instant::now();
    let n_missing = service.vector_debt()?.n_without;
    let (mut fewest, mut progressed_at) = (n_missing, Instant::now());
    let bar = print::Bar::new();
    match maker {
        VectorMaker::ThisCommand => {
            let deadline = Deadline::after(ALL_VECTORS);
            let made = service.finish_vectors(&deadline, &|progress| bar.show(progress));
            if let Err(error) = made {
                drop(bar);
                return match failing(shared_state) {
                    Some(state) => Ok(without_vectors(&state)),
                    None => Err(error.into()),
                };
            }
            // It gives up without an error where the embedder has gone meanwhile.
            if service.vector_debt()?.n_without > 0
                && let Some(state) = failing(shared_state)
            {
                drop(bar);
                return Ok(without_vectors(&state));
            }
        }
        VectorMaker::Server => loop {
            let n_without = service.vector_debt()?.n_without;
            if n_without == 0 {
                break;
            }
            if n_without < fewest {
                (fewest, progressed_at) = (n_without, Instant::now());
            } else if progressed_at.elapsed() > STALLED_AFTER {
                progressed_at = Instant::now();
                if let Some(state) = failing(shared_state) {
                    drop(bar);
                    return Ok(without_vectors(&state));
                }
            }
            print::ensure_reader()?;
            bar.show(&JobProgress {
                stage: ingest::Stage::Embedding.as_str().to_owned(),
                n_done: n_missing.saturating_sub(n_without),
                n_total: Some(n_missing),
                ..JobProgress::default()
            });
            std::thread::sleep(LOOK_EVERY);
        },
    }
    drop(bar);
    if !is_json {
        let took = print::duration(begun.elapsed().as_millis() as u64);
        print::line(format!("vectors are complete after {took}"));
    }
    Ok(VectorOutcome::Complete)
}

/// Says why no vectors were made.
fn without_vectors(state: &ModelState) -> VectorOutcome {
    if let Some(warning) = state.warning() {
        print::note(format!("note: {}", warning.message));
    }
    match state {
        ModelState::Off => VectorOutcome::Off,
        ModelState::ProviderDown { .. } | ModelState::Broken { .. } => VectorOutcome::Failed,
        ModelState::Missing { .. }
        | ModelState::Pulling { .. }
        | ModelState::Loading { .. }
        | ModelState::Ready { .. } => VectorOutcome::NoModel,
    }
}

/// Gives what is wrong with an embedder elsewhere.
fn failing(shared_state: &SharedState) -> Option<ModelState> {
    failing_embedder(&*shared_state.served.load_full()?, &shared_state.embedder)
}

/// Shows on the terminal how far the indexing of every root is, and what it did, while a server
/// that has just started goes on with it.
pub(crate) fn show_indexing(service: Service) {
    std::thread::spawn(move || {
        for root in service.roots(&Caller::local_admin()) {
            match follow(&service, &root, false, &|| Ok(())) {
                Ok(indexed) => match indexed.why_unreachable() {
                    Some(why) => print::failure(&unreachable_folder(why)),
                    None => print::note(done(&root, &indexed)),
                },
                Err(error) if is_missing(&error) => {
                    print::failure(&unreachable_folder(&error.to_string()));
                }
                Err(error) => tracing::warn!(error = format!("{error:#}"), root, "indexing failed"),
            }
        }
    });
}

/// Fails where the disk is too full to go on: a server waits for it, and whoever types a command
/// would wait without a word.
fn ensure_space(shared_state: &SharedState) -> anyhow::Result<()> {
    let data_dir = shared_state.data_dir();
    let n_free = free_bytes(data_dir).filter(|n_free| *n_free < MIN_FREE_BYTES);
    anyhow::ensure!(
        n_free.is_none(),
        "the disk is full: {} are free on the volume of `{}`, and {} are needed; what was indexed is \
         kept\n\
         hint: free space, or name another folder with `--data-dir`, then run the same command again",
        print::bytes(n_free.unwrap_or_default()),
        data_dir.display(),
        print::bytes(MIN_FREE_BYTES)
    );
    Ok(())
}

/// Indexes a root, or joins whoever does, and shows how far it is. Where it did not get on in a
/// step, `when_stalled` says whether to wait on.
fn follow(
    service: &Service,
    root: &str,
    full: bool,
    when_stalled: &dyn Fn() -> anyhow::Result<()>,
) -> anyhow::Result<Indexed> {
    let caller = Caller::local_admin();
    tracing::info!(root, full, "indexing");
    let bar = print::Bar::new();
    let last = RefCell::new(None);
    let mut last_step = None;
    let show = |progress: &JobProgress| {
        bar.show(progress);
        *last.borrow_mut() = Some(progress.clone());
    };
    loop {
        print::ensure_reader()?;
        let deadline = Deadline::after(STEP);
        match service.index(&caller, root, full, Priority::High, &deadline, &show)? {
            IndexAnswer::Running { progress, .. } => {
                let is_stalled = last_step == Some(progress.n_done);
                last_step = Some(progress.n_done);
                show(&progress);
                if is_stalled {
                    when_stalled()?;
                }
            }
            IndexAnswer::Done(indexed) => {
                // The job told how far it was a moment ago; a bar that goes away at 9 of 10 looks
                // as if something was left.
                if let Some(told) = last.take().filter(|told| told.n_total.is_some()) {
                    bar.show(&JobProgress { n_done: told.n_total.unwrap_or_default(), ..told });
                }
                return Ok(indexed);
            }
        }
    }
}

fn unreachable_folder(why: &str) -> String {
    format!("{why}\nhint: {FOLDER_HINT}")
}

fn done(root: &str, indexed: &Indexed) -> String {
    let without_text = match indexed.without_text {
        0 => String::new(),
        n_files => format!(", {n_files} without text"),
    };
    format!(
        "{root}: {} indexed{without_text}, {} skipped, {} removed in {}",
        indexed.indexed.saturating_sub(indexed.without_text),
        indexed.skipped,
        indexed.removed,
        print::duration(indexed.duration_ms)
    )
}

#[cfg(test)]
mod tests {
    use ingest::NewJob;
    use model::TenantId;

    use super::*;
    use crate::cli::{ConfigArgs, DataArgs};
    use crate::config::Config;
    use crate::files_cli::FilesArgs;
    use crate::wiring::{Jobs, close_stores};

    /// After an interrupted `index --full` the same command failed with `is being indexed`, and so
    /// did the one that `status` gave as a hint.
    #[test]
    fn an_index_that_was_stopped_goes_on_however_it_was_begun() {
        for (was_full, full) in [(true, false), (true, true), (false, true), (false, false)] {
            let folder = testkit::Folder::new();
            folder.write("documents/plan.md", "The harbour crane is painted in May.");
            let root = fs_err::canonicalize(folder.join("documents")).unwrap();
            let root = root.to_str().unwrap().to_owned();
            let config = Config { data_dir: folder.join("data"), ..Config::default() };
            let shared_state = SharedState::open(&config).unwrap().with_jobs(Jobs::Leave);
            let queue = std::sync::Arc::clone(&shared_state.open_store().unwrap().queue);
            queue
                .submit(NewJob {
                    kind: ::files::INDEX_JOB.to_owned(),
                    subject: root.clone(),
                    tenant: TenantId::local(),
                    priority: Priority::High,
                    arguments: json!({ "root": root, "folder": root, "full": was_full }),
                })
                .unwrap();
            drop((queue, shared_state));
            close_stores();
            let args = IndexArgs {
                files: FilesArgs {
                    config: ConfigArgs::default(),
                    data: DataArgs { data_dir: Some(folder.join("data")) },
                    root: vec![],
                },
                folders: vec![folder.join("documents")],
                full,
                no_vectors: true,
                warnings: 0,
                json: false,
            };
            assert_eq!(index(&args).unwrap(), Outcome::Done, "{was_full} {full}");
            close_stores();
        }
    }
}
