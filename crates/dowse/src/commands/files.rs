//! `dowse index`, `dowse search` and `dowse open`: the files family at a terminal.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ::files::{IndexAnswer, SearchRequest};
use anyhow::Context;
use ingest::{Priority, TerminalBar};
use model::{Caller, Deadline};
use serde_json::{Value, json};

use crate::cli::{FilesArgs, IndexArgs, OpenArgs, SearchArgs};
use crate::commands::serve::{add_folders, choose_model};
use crate::commands::variable;
use crate::config::{Config, Remembered, UserData, load, place_data};
use crate::print;
use crate::wiring::{SharedState, app};

/// How long a command may wait for one step.
const STEP: Duration = Duration::from_secs(24 * 3600);

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(120);

pub(super) fn index(args: &IndexArgs) -> anyhow::Result<()> {
    let caller = Caller::local_admin();
    let (shared_state, service) = open(&args.files, &args.folders)?;
    let roots = service.roots(&caller);
    for root in &roots {
        let indexed = follow(&service, root, args.full)?;
        print::line(done(root, &indexed));
        for warning in indexed.warnings.iter().take(args.warnings) {
            print::note(format!("  {}: {}", warning.code, warning.message));
        }
        if indexed.n_warnings > args.warnings {
            print::note(format!(
                "  {} warnings in all; see more with `--warnings N`",
                indexed.n_warnings
            ));
        }
    }
    if args.no_vectors {
        return Ok(());
    }
    if let Err(state) = shared_state.embedder.get(&Deadline::after(MODEL_WAIT)) {
        if let Some(warning) = state.warning() {
            print::note(format!("note: {}", warning.message));
        }
        return Ok(());
    }
    print::note("words can be searched; vectors follow, and go on later when stopped here");
    let bar = TerminalBar::new();
    let begun = Instant::now();
    service.finish_vectors(&Deadline::after(STEP), &|progress| bar.show(progress))?;
    bar.clear();
    print::line(format!("vectors are complete after {:.1} s", begun.elapsed().as_secs_f64()));
    Ok(())
}

/// Shows on the terminal how far the indexing of every root is, and what it did, while a server
/// that has just started goes on with it.
pub(super) fn show_indexing(service: ::files::Service) {
    std::thread::spawn(move || {
        for root in service.roots(&Caller::local_admin()) {
            match follow(&service, &root, false) {
                Ok(indexed) => print::note(done(&root, &indexed)),
                Err(error) => tracing::warn!(%error, root, "indexing failed"),
            }
        }
    });
}

/// Indexes a root, or joins whoever does, and shows how far it is.
fn follow(
    service: &::files::Service,
    root: &str,
    full: bool,
) -> Result<::files::Indexed, ::files::Error> {
    let caller = Caller::local_admin();
    let bar = TerminalBar::new();
    loop {
        let deadline = Deadline::after(STEP);
        let show = |progress: &ingest::JobProgress| bar.show(progress);
        match service.index(&caller, root, full, Priority::High, &deadline, &show)? {
            IndexAnswer::Running { progress, .. } => bar.show(&progress),
            IndexAnswer::Done(indexed) => {
                bar.clear();
                return Ok(indexed);
            }
        }
    }
}

fn done(root: &str, indexed: &::files::Indexed) -> String {
    format!(
        "{root}: {} indexed, {} skipped, {} removed in {} ms",
        indexed.indexed, indexed.skipped, indexed.removed, indexed.duration_ms
    )
}

/// Searches; the exit code says whether something was found.
pub(super) fn search(args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let opened = open_all(&args.files, &[])?;
    let request = SearchRequest {
        query: args.query.join(" "),
        k: args.k,
        offset: 0,
        after: None,
        exts: (!args.ext.is_empty()).then(|| args.ext.clone()),
        years: (!args.year.is_empty()).then(|| args.year.clone()),
        roots: None,
    };
    let deadline = Deadline::after(Duration::from_secs(60));
    let mut found: Option<::files::SearchResults> = None;
    for (_, service) in &opened {
        let more = service.search(&Caller::local_admin(), &request, &deadline)?;
        found = Some(match found {
            None => more,
            Some(found) => merged(found, more, request.k),
        });
    }
    let found = found.context("nothing was opened")?;
    for warning in &found.warnings {
        print::note(format!("note: {}", warning.message));
    }
    let code = if found.items.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS };
    if args.json {
        let items: Vec<Value> = found
            .items
            .iter()
            .map(|item| {
                json!({
                    "score": item.score,
                    "path": item.path,
                    "pointer": item.pointer,
                    "snippet": text::redact(&item.snippet).text,
                })
            })
            .collect();
        let warnings: Vec<&str> =
            found.warnings.iter().map(|warning| warning.message.as_str()).collect();
        let whole = json!({
            "query": request.query,
            "items": items,
            "total_estimate": found.pagination.total_estimate,
            "warnings": warnings,
        });
        print::line(serde_json::to_string_pretty(&whole)?);
        return Ok(code);
    }
    for item in &found.items {
        let snippet = text::redact(&item.snippet).text;
        let snippet = snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        let snippet: String = snippet.chars().take(160).collect();
        print::line(format!(
            "{:.2}  {}  ({})\n      {snippet}",
            item.score, item.path, item.pointer
        ));
    }
    if !found.exts.is_empty() || !found.years.is_empty() {
        let filters = [found.exts.join(", "), found.years.join(", ")];
        let filters: Vec<&str> =
            filters.iter().map(String::as_str).filter(|some| !some.is_empty()).collect();
        print::note(format!("filters: {}", filters.join("; ")));
    }
    let total = found.pagination.total_estimate;
    print::note(format!("{} of {total} results", found.items.len()));
    Ok(code)
}

/// Puts the results of two sets of folders into one order: scores mean the same in both.
fn merged(
    mut one: ::files::SearchResults,
    other: ::files::SearchResults,
    k: usize,
) -> ::files::SearchResults {
    one.items.extend(other.items);
    one.items.sort_by(|left, right| right.score.total_cmp(&left.score));
    one.items.truncate(k);
    one.pagination.total_estimate += other.pagination.total_estimate;
    for warning in other.warnings {
        if !one.warnings.contains(&warning) {
            one.warnings.push(warning);
        }
    }
    one
}

pub(super) fn open_file(args: &OpenArgs) -> anyhow::Result<()> {
    let (_lasting, service) = open(&args.files, &[])?;
    let path = std::path::absolute(&args.path)?;
    let path = path.to_str().context("the path is not Unicode")?;
    let request = ::files::PreviewRequest {
        path: path.to_owned(),
        pointer: args.pointer.clone(),
        before: args.before,
        after: args.after,
        ..::files::PreviewRequest::default()
    };
    let preview = service.preview(&Caller::local_admin(), &request)?;
    print::note(format!("{} ({})", preview.path, preview.pointer));
    print::line(text::redact(&preview.preview).text);
    Ok(())
}

/// Opens the family; what lasts has to be kept, since it runs the jobs.
fn open(args: &FilesArgs, folders: &[PathBuf]) -> anyhow::Result<(SharedState, ::files::Service)> {
    let mut opened = open_all(args, folders)?;
    anyhow::ensure!(
        opened.len() == 1,
        "several sets of folders are remembered\nhint: name a folder with `--root`"
    );
    opened.pop().context("nothing was opened")
}

/// Opens the folders that are named or configured, or else everything that was indexed from the
/// working folder or above it, or else everything that is remembered; says which.
fn open_all(
    args: &FilesArgs,
    folders: &[PathBuf],
) -> anyhow::Result<Vec<(SharedState, ::files::Service)>> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let mut config = loaded.config;
    add_folders(&mut config, folders)?;
    add_folders(&mut config, &args.root)?;
    choose_model(&mut config, args.model);
    let data_dir = args.data.data_dir.as_deref();
    place_data(&mut config, loaded.file.as_deref(), data_dir, &variable)?;
    let is_placed = data_dir.is_some() || variable("DOWSE_DATA_DIR").is_some();
    if !config.files.roots.is_empty() || loaded.file.is_some() || is_placed {
        return Ok(vec![open_one(&config)?]);
    }
    let remembered = UserData::find(&variable).map(|data| data.remembered()).unwrap_or_default();
    anyhow::ensure!(
        !remembered.is_empty(),
        "no folders are configured, and none was indexed before\n\
         hint: index one with `dowse index FOLDER`"
    );
    remembered.into_iter().map(|set| open_remembered(&config, &set)).collect()
}

fn open_remembered(
    config: &Config,
    set: &Remembered,
) -> anyhow::Result<(SharedState, ::files::Service)> {
    let mut config = Config { data_dir: set.data_dir.clone(), ..config.clone() };
    let mut folders = set.folders.clone();
    if folders.is_empty() {
        // An earlier version did not write down which folders its data is of.
        let shared_state = SharedState::open(&config)?;
        folders = ::files::indexed_roots(&shared_state.kept()?.store)?
            .into_iter()
            .map(PathBuf::from)
            .collect();
    }
    let shown: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    print::note(format!("in {}", shown.join(", ")));
    config.files.roots = folders.into_iter().map(::files::RootConfig::Path).collect();
    open_one(&config)
}

fn open_one(config: &Config) -> anyhow::Result<(SharedState, ::files::Service)> {
    let shared_state = SharedState::open(config)?;
    let (_, families) = app(config, &shared_state)?;
    let files = families.files.context(
        "no folders are configured\nhint: name one, or add `[files] roots` to the configuration",
    )?;
    Ok((shared_state, files))
}
