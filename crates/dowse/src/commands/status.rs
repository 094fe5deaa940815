//! `dowse status`: what is served and indexed, what is missing and why, how far vectors are and how
//! fast they are made.
//!
//! The exit code is 1 when something does not work: then `dowse doctor` says the remedy.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ::files::FileOutcome;
use anyhow::Context;
use infer::ModelState;
use ingest::{JobState, VectorDebt};
use model::{Caller, ReadOutcome, iso};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serve::App;
use store::Verify;

use crate::cli::StatusArgs;
use crate::commands::Outcome;
use crate::commands::check::{CheckOptions, Problem, folders_away, health, problems_of};
use crate::commands::documents_report::{self, DocumentsReport};
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, holds_data, may_not_enter, typed};
use crate::commands::sets::{Located, Need, index_command, locate, of_folders, remembered};
use crate::control::Typed;
use crate::print;
use crate::wiring::{Jobs, SharedState, app_without_callers, describe_store};

/// Over which time the speed is measured.
const SPEED_OVER: Duration = Duration::from_secs(1);

/// Files that are listed at a time.
const FILES_PER_PAGE: usize = 1_000;

/// What is in one data folder, and how it is served.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Report {
    data_dir: PathBuf,
    configuration: Option<PathBuf>,
    /// The process that has the data folder open; nothing when this command opened it.
    server: Option<ServerReport>,
    engine: String,
    health: String,
    /// Changes that are stored and that searches do not see yet.
    lag: u64,
    model: String,
    /// What to do about a model that was never downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model_hint: Option<String>,
    folders: Vec<FolderReport>,
    /// Files without text, each with the reason, where they are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileOutcome>,
    tables: Vec<String>,
    dimensions: Vec<String>,
    knowledge_bases: usize,
    /// The documents in them.
    #[serde(default)]
    documents: DocumentsReport,
    projects: usize,
    vectors: VectorReport,
    jobs: Vec<JobReport>,
    problems: Vec<Problem>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ServerReport {
    /// The command that is running: `serve`, `mcp`, `index`, `demo`.
    command: String,
    /// Where it listens; nothing for one that does not.
    address: Option<String>,
    process: u32,
    started_at: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FolderReport {
    folder: String,
    indexed: usize,
    /// Whether it was ever indexed to its end.
    #[serde(default)]
    complete: bool,
    /// Files that cannot be found by their text, counted by the reason.
    missing: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct VectorReport {
    passages: usize,
    missing: usize,
    /// Nothing when none is missing, or when nobody makes them.
    per_second: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct JobReport {
    kind: String,
    subject: String,
    state: String,
    stage: String,
    done: usize,
    total: Option<usize>,
    per_second: Option<f64>,
}

impl JobReport {
    fn is_running(&self) -> bool {
        self.state == JobState::Running.as_str()
    }
}

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<Outcome> {
    let located = locate(&args.files, &[], Need::Index, remembered)?;
    let (mut reports, mut problems) = (Vec::new(), Vec::new());
    for mut one in located {
        match holds_data(&one.config) {
            Ok(true) => reports.push(report_of(&mut one, args)?),
            Ok(false) => problems.extend(nothing_yet(&one)),
            // The others are told of all the same.
            Err(error) if may_not_enter(&error) => problems.push(closed(&error)),
            Err(error) => return Err(error),
        }
    }
    if args.json {
        print::json(&json!({ "data": reports, "problems": problems }))?;
    } else if reports.is_empty() && problems.is_empty() {
        print::line(
            "nothing is indexed here\nhint: run `dowse index FOLDER` or `dowse serve FOLDER`",
        );
    } else {
        for Problem { problem, hint, .. } in &problems {
            print::line(format!("{problem}\nhint: {hint}"));
        }
    }
    if !args.json {
        for (report_idx, report) in reports.iter().enumerate() {
            if report_idx > 0 {
                print::line("");
            }
            show(report);
        }
    }
    let is_well = problems.is_empty()
        && !reports.is_empty()
        && reports.iter().all(|report| report.problems.is_empty());
    Ok(if is_well { Outcome::Done } else { Outcome::Problems })
}

/// Says that data is another user's.
fn closed(error: &anyhow::Error) -> Problem {
    let said = error.to_string();
    let (problem, hint) = said.split_once("\nhint: ").unwrap_or((&said, ""));
    Problem { what: "data".to_owned(), problem: problem.to_owned(), hint: hint.to_owned() }
}

/// Says of configured folders that they were never indexed, and which of them are not there.
fn nothing_yet(located: &Located) -> Vec<Problem> {
    let config = &located.config;
    if config.files.roots.is_empty() {
        return vec![];
    }
    let (data_dir, folders) = (config.data_dir.display(), of_folders(config));
    let index = index_command(config, located.file.as_deref());
    let serve = index.replacen("dowse index", "dowse serve", 1);
    let mut problems = folders_away(config);
    problems.push(Problem {
        what: "index".to_owned(),
        problem: format!("nothing is indexed here: `{data_dir}` holds no index{folders}"),
        hint: format!("run `{index}` or `{serve}`"),
    });
    problems
}

fn report_of(located: &mut Located, args: &StatusArgs) -> anyhow::Result<Report> {
    let mut report = match located.reach(Verify::AtOpening, Jobs::Leave)? {
        Reach::Running(connection) => {
            serde_json::from_str(&connection.captured(typed(Form::Json)?)?).context(
                "the running server answered something else\n\
                 hint: it is of another version; restart it",
            )?
        }
        Reach::Here(shared_state) => {
            let (app, _) = app_without_callers(&located.config, &shared_state)?;
            let options = CheckOptions::here(&located.config, located.file.as_deref());
            let mut report = look(&shared_state, &app, &options)?;
            report.add_missing(&app, args)?;
            report
        }
    };
    report.configuration.clone_from(&located.file);
    Ok(report)
}

/// Looks at what a running server has; the result is JSON for the command to print.
pub(super) fn hosted(host: &Host, typed: &Typed, args: &StatusArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let mut report = look(&host.shared_state, &app, &CheckOptions::hosted(typed))?;
    report.add_missing(&app, args)?;
    report.server = Some(ServerReport {
        command: host.command.as_str().to_owned(),
        address: host.command.listens().then(|| app.server.link_base()),
        process: std::process::id(),
        started_at: iso(app.console.started_at),
    });
    if report.vectors.missing > 0 {
        std::thread::sleep(SPEED_OVER);
        let n_left = vector_debt(&host.shared_state)?.n_without;
        let n_made = report.vectors.missing.saturating_sub(n_left);
        report.vectors.per_second = Some(n_made as f64 / SPEED_OVER.as_secs_f64());
    }
    print::line(serde_json::to_string(&report)?);
    Ok(Outcome::Done)
}

impl Report {
    /// Adds what cannot be found by its text, in folders and in knowledge bases; each of it by its
    /// name when that is asked for.
    fn add_missing(&mut self, app: &App, args: &StatusArgs) -> anyhow::Result<()> {
        self.files = missing_files(app, args)?;
        if let Some(knowledge) = &app.knowledge {
            self.documents = documents_report::look(knowledge, args.missing)?;
        }
        Ok(())
    }
}

/// Counts the passages without a vector, of every family.
fn vector_debt(shared_state: &SharedState) -> anyhow::Result<VectorDebt> {
    let kept = shared_state.open_store()?;
    let namespaces = kept.store.namespaces()?;
    Ok(kept.vectors.debt(namespaces.iter().map(|namespace| &namespace.id))?)
}

/// Lists the files that cannot be found by their text, when they are asked for.
fn missing_files(app: &App, args: &StatusArgs) -> anyhow::Result<Vec<FileOutcome>> {
    let mut missing: Vec<FileOutcome> = Vec::new();
    let Some(files) = app.files.as_ref().filter(|_| args.missing) else { return Ok(missing) };
    for outcome in ReadOutcome::ALL {
        if outcome == ReadOutcome::Indexed {
            continue;
        }
        let mut after: Option<String> = None;
        loop {
            let caller = Caller::local_admin();
            let page = files.files_with(&caller, outcome, after.as_deref(), FILES_PER_PAGE)?;
            let Some(last) = page.last() else { break };
            after = Some(last.path.clone());
            missing.extend(page);
        }
    }
    missing.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(missing)
}

/// Names the folders that were never indexed to their end, and that nobody indexes: after a start
/// that failed, or beside an engine that did not answer.
pub(super) fn never_indexed(
    shared_state: &SharedState,
    app: &App,
    options: &CheckOptions,
) -> anyhow::Result<Vec<Problem>> {
    let Some(files) = &app.files else { return Ok(vec![]) };
    let caller = Caller::local_admin();
    let queue = &shared_state.open_store()?.queue;
    let away = files.unreachable_roots(&caller);
    let mut problems = vec![];
    for root in files.outcomes(&caller)? {
        // What is away, or is being indexed, is said of it already.
        let is_known =
            away.contains(&root.root) || queue.active(::files::INDEX_JOB, &root.root)?.is_some();
        if root.is_completed || is_known {
            continue;
        }
        let problem = match root.counts.is_empty() {
            true => format!("nothing of `{}` is indexed yet", root.root),
            false => format!("`{}` was never indexed to its end", root.root),
        };
        let hint = format!("run `{}`, or start a server, which does it", options.index_command);
        problems.push(Problem { what: "index".to_owned(), problem, hint });
    }
    Ok(problems)
}

fn look(shared_state: &SharedState, app: &App, options: &CheckOptions) -> anyhow::Result<Report> {
    let caller = Caller::local_admin();
    let health = health(shared_state, app, options)?;
    let kept = shared_state.open_store()?;
    let debt = vector_debt(shared_state)?;
    // Without a model no vectors are wanted, so none is missing.
    let model = shared_state.embedder.state();
    let n_missing = if model == ModelState::Off { 0 } else { debt.n_without };
    let mut folders = Vec::new();
    for root in
        app.files.iter().map(|files| files.outcomes(&caller)).collect::<Result<Vec<_>, _>>()?
    {
        folders.extend(root.into_iter().map(|root| {
            FolderReport {
                folder: root.root,
                complete: root.is_completed,
                indexed: root.counts.get(&ReadOutcome::Indexed).copied().unwrap_or_default(),
                missing: root
                    .counts
                    .iter()
                    .filter(|(outcome, _)| **outcome != ReadOutcome::Indexed)
                    .map(|(outcome, n_files)| (outcome.code().to_owned(), *n_files))
                    .collect(),
            }
        }));
    }
    let filters = shared_state.filters.load_full();
    let now = shared_state.clock.now();
    let jobs = kept.queue.list()?;
    let jobs = jobs.iter().filter(|job| !job.state.is_final()).map(|job| {
        // A job that nobody runs has no speed, whatever it had when it was stopped.
        let is_running = job.state == JobState::Running;
        let since = job.started_at.filter(|_| is_running);
        let seconds = since.map(|at| (now.millis() - at.millis()) as f64 / 1e3);
        JobReport {
            kind: job.kind.clone(),
            subject: job.subject.clone(),
            state: job.state.as_str().to_owned(),
            stage: job.progress.stage.clone(),
            done: job.progress.n_done,
            total: job.progress.n_total,
            per_second: seconds
                .filter(|seconds| *seconds > 0.0)
                .map(|seconds| (job.progress.n_done as f64 / seconds * 10.0).round() / 10.0),
        }
    });
    Ok(Report {
        // As people find it: `.dowse/demo/world/../data` is nobody's name for a folder.
        data_dir: fs_err::canonicalize(shared_state.data_dir())
            .unwrap_or_else(|_| shared_state.data_dir().to_owned()),
        configuration: None,
        server: None,
        engine: describe_store(&kept.store),
        health: health.status().to_owned(),
        lag: health.lag,
        model: match health.degraded.iter().find(|degraded| degraded.what == "embedder") {
            Some(failing) => failing.problem.clone(),
            None => model_state(&model),
        },
        model_hint: model
            .warning()
            .filter(|_| matches!(model, ModelState::Missing { .. }))
            .and_then(|warning| warning.message.split_once(HINT).map(|(_, hint)| hint.to_owned())),
        folders,
        files: Vec::new(),
        tables: app
            .tables
            .iter()
            .flat_map(|tables| tables.schemas(&caller))
            .map(|schema| schema.name.clone())
            .collect(),
        dimensions: filters.iter().flat_map(|filters| filters.categories(&caller)).collect(),
        knowledge_bases: match &app.knowledge {
            Some(knowledge) => knowledge.list_bases(&caller)?.len(),
            None => 0,
        },
        documents: DocumentsReport::default(),
        projects: match &app.contexts {
            Some(contexts) => contexts.list_projects(&caller)?.len(),
            None => 0,
        },
        vectors: VectorReport { passages: debt.n_passages, missing: n_missing, per_second: None },
        jobs: jobs.collect(),
        problems: problems_of(&health)
            .into_iter()
            .chain(never_indexed(shared_state, app, options)?)
            .collect(),
    })
}

/// What is before the hint in a message that carries its own.
const HINT: &str = "; hint: ";

/// Says how a model is, in a few words; what to do about it is said apart.
pub(crate) fn model_state(state: &ModelState) -> String {
    match state {
        ModelState::Ready { model } => format!("{model}, ready"),
        ModelState::Off => "off: search works on words alone".to_owned(),
        ModelState::Loading { model } => format!("{model}, is used when a search needs it"),
        ModelState::Missing { .. }
        | ModelState::Pulling { .. }
        | ModelState::Broken { .. }
        | ModelState::ProviderDown { .. } => {
            let said = state.warning().map(|warning| warning.message).unwrap_or_default();
            said.split(HINT).next().unwrap_or_default().to_owned()
        }
    }
}

fn show(report: &Report) {
    let mut rows = vec![vec!["data".to_owned(), report.data_dir.display().to_string()]];
    let mut row = |name: &str, text: String| rows.push(vec![name.to_owned(), text]);
    if let Some(file) = &report.configuration {
        row("configuration", file.display().to_string());
    }
    row(
        "server",
        match &report.server {
            Some(server) => {
                let what = match &server.address {
                    Some(address) => address.clone(),
                    None => format!("none listens: `dowse {}` has the data open", server.command),
                };
                let since = print::time(&server.started_at);
                format!("{what} (process {}, since {since})", server.process)
            }
            None => "not running".to_owned(),
        },
    );
    row("engine", report.engine.clone());
    row("health", report.health.clone());
    if report.lag > 0 {
        let changes = print::counted(report.lag as usize, "change is", "changes are");
        row("lag", format!("{changes} not searchable yet"));
    }
    row("model", report.model.clone());
    if let Some(hint) = &report.model_hint {
        row("", format!("hint: {hint}"));
    }
    for folder in &report.folders {
        let missing: Vec<String> =
            folder.missing.iter().map(|(reason, n_files)| format!("{n_files} {reason}")).collect();
        let mut notes = Vec::new();
        if !missing.is_empty() {
            notes.push(format!("without text: {}", missing.join(", ")));
        }
        let is_index =
            |job: &&JobReport| job.kind == ::files::INDEX_JOB && job.subject == folder.folder;
        notes.extend(report.jobs.iter().find(is_index).map(|job| match job.total {
            Some(total) if job.is_running() => format!("indexing is at {} of {total}", job.done),
            _ => "indexing has not ended".to_owned(),
        }));
        // That no file is missing is not known of a folder that was not looked through.
        if notes.is_empty() && !folder.complete {
            notes.push("not indexed to its end yet".to_owned());
        }
        if notes.is_empty() {
            notes.push("nothing missing".to_owned());
        }
        let missing = notes.join("; ");
        row("folder", format!("{}: {} indexed, {missing}", folder.folder, folder.indexed));
    }
    if report.vectors.passages > 0 {
        row("vectors", vectors(&report.vectors));
    }
    for (name, names) in [("tables", &report.tables), ("names", &report.dimensions)] {
        if !names.is_empty() {
            row(name, names.join(", "));
        }
    }
    if report.knowledge_bases > 0 {
        let bases = print::counted(report.knowledge_bases, "knowledge base", "knowledge bases");
        row("knowledge", format!("{bases}: {}", report.documents.in_words()));
    }
    if report.projects > 0 {
        row("contexts", print::counted(report.projects, "project", "projects"));
    }
    for job in &report.jobs {
        let mut words = vec![job.state.clone()];
        if let Some(total) = job.total.filter(|_| job.is_running()) {
            words.push(format!("{} {} of {total}", job.stage, job.done));
        }
        words.extend(job.per_second.map(|speed| format!("{speed} a second")));
        row("job", format!("{} {}: {}", job.kind, job.subject, words.join(", ")));
    }
    for problem in &report.problems {
        row("problem", format!("{}: {}", problem.what, problem.problem));
        row("", format!("hint: {}", problem.hint));
    }
    print::line(print::table(&rows));
    for FileOutcome { path, outcome, reason } in &report.files {
        let reason = reason.as_deref().unwrap_or("no reason was kept");
        print::line(format!("{}: {path}: {reason}", outcome.code()));
    }
    report.documents.lines().for_each(print::line);
}

fn vectors(report: &VectorReport) -> String {
    let VectorReport { passages, missing, per_second } = *report;
    match (missing, per_second) {
        (0, _) => format!("none missing of {}", print::counted(passages, "passage", "passages")),
        (_, Some(speed)) if speed > 0.0 => {
            let left = print::duration((missing as f64 / speed * 1e3) as u64);
            format!("{missing} of {passages} missing, {speed:.0} made a second, {left} left")
        }
        (_, Some(_)) => format!("{missing} of {passages} missing, none made in the last second"),
        (_, None) => format!("{missing} of {passages} missing; a server with a model makes them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A problem named two remedies, one in its sentence and one behind it.
    #[test]
    fn what_to_do_about_a_model_is_said_apart() {
        let model = || "small".to_owned();
        for state in [
            ModelState::Missing { model: model() },
            ModelState::Broken { model: model(), problem: "it is short".to_owned() },
            ModelState::ProviderDown { provider: model(), problem: "refused".to_owned() },
        ] {
            let said = model_state(&state);
            assert!(said.contains("`small`") && !said.contains("hint"), "{said}");
        }
    }
}
