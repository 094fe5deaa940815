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
use crate::config::load;
use crate::print;
use crate::wiring::{Lasting, app};

/// How long a command may wait for one step.
const STEP: Duration = Duration::from_secs(24 * 3600);

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(120);

pub(super) fn index(args: &IndexArgs) -> anyhow::Result<()> {
    let caller = Caller::local_admin();
    let (lasting, service) = open(&args.files, &args.folders)?;
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
    if let Err(state) = lasting.embedder.get(&Deadline::after(MODEL_WAIT)) {
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
    let (_lasting, service) = open(&args.files, &[])?;
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
    let found = service.search(&Caller::local_admin(), &request, &deadline)?;
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

pub(super) fn open_file(args: &OpenArgs) -> anyhow::Result<()> {
    let (_lasting, service) = open(&args.files, &[])?;
    let path = std::path::absolute(&args.path)?;
    let path = path.to_str().context("the path is not Unicode")?;
    let request = ::files::PreviewRequest {
        path: path.to_owned(),
        pointer: args.pointer.clone(),
        offset: None,
        before: args.before,
        after: args.after,
    };
    let preview = service.preview(&Caller::local_admin(), &request)?;
    print::note(format!("{} ({})", preview.path, preview.pointer));
    print::line(text::redact(&preview.preview).text);
    Ok(())
}

/// Opens the family; what lasts has to be kept, since it runs the jobs.
fn open(args: &FilesArgs, folders: &[PathBuf]) -> anyhow::Result<(Lasting, ::files::Service)> {
    let mut config = load(args.config.config.as_deref(), &variable)?.config;
    add_folders(&mut config, folders)?;
    add_folders(&mut config, &args.root)?;
    choose_model(&mut config, args.model);
    let lasting = Lasting::open(&config)?;
    let (_, families) = app(&config, &lasting)?;
    let files = families.files.context(
        "no folders are configured\nhint: name one, or add `[files] roots` to the configuration",
    )?;
    Ok((lasting, files))
}
