//! `dowse check`: is the configuration right, what would it serve, and what is wrong with it?
//!
//! The exit code is 1 when something is wrong: a source that cannot be read, rows that do not fit,
//! an engine, an embedder or a re-ranker that does not answer, a job that nobody goes on with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use infer::ModelState;
use ingest::Job;
use model::{Caller, Deadline};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serve::{App, Health};
use store::{Repair, Store};

use crate::cli::CheckArgs;
use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, reach_to_read, typed};
use crate::commands::sets::{index_command, indexed_roots, load_placed};
use crate::commands::status::model_state;
use crate::commands::words::callers;
use crate::config::{Config, Purpose, is_without_model};
use crate::control::Typed;
use crate::print;
use crate::wiring::{
    FOLDER_HINT, FeedProblems, Jobs, SharedState, app, describe_store, failing_embedder,
    failing_llm, failing_reranker, folder_away,
};

/// How long databases have to say what they hold.
const SOURCES_LIMIT: Duration = Duration::from_secs(30);

/// What is served, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    /// Where the running server answers; nothing where none runs, or it listens nowhere.
    #[serde(default)]
    address: Option<String>,
    store: String,
    health: String,
    tools: Vec<String>,
    pub(super) tables: Vec<SourceReport>,
    pub(super) dimensions: Vec<SourceReport>,
    pub(super) problems: Vec<Problem>,
    /// What works as it should and may surprise.
    #[serde(default)]
    notes: Vec<String>,
}

/// What a table or a dimension holds, and what of it does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SourceReport {
    pub(super) name: String,
    /// Rows or entries; nothing where the source cannot be read.
    n_rows: Option<u64>,
    pub(super) problems: Vec<String>,
}

/// Something that does not work as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) problem: String,
    pub(super) hint: String,
}

/// How everything is looked at.
#[derive(Debug, Clone)]
pub(super) struct CheckOptions {
    pub(super) providers: Providers,
    /// The command that goes on with an index that was stopped, as it has to be typed.
    pub(super) index_command: String,
}

/// Whether models elsewhere are asked how they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Providers {
    Ask,
    /// `--no-model` was typed, which holds beside a server that has one, too.
    Leave,
}

impl Providers {
    /// For a command that has the data open itself.
    pub(crate) fn here() -> Self {
        if is_without_model() { Providers::Leave } else { Providers::Ask }
    }

    /// For a command that a running server does.
    pub(crate) fn of(typed: &Typed) -> Self {
        if typed.is_without_model { Providers::Leave } else { Providers::Ask }
    }
}

impl CheckOptions {
    /// For a command that a running server does.
    pub(super) fn hosted(typed: &Typed) -> Self {
        CheckOptions { providers: Providers::of(typed), index_command: "dowse index".to_owned() }
    }

    /// For a command that has the data open itself; its configuration names no model where none is
    /// wanted.
    pub(super) fn here(config: &Config, file: Option<&Path>) -> Self {
        CheckOptions { providers: Providers::Ask, index_command: index_command(config, file) }
    }
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<Outcome> {
    let loaded = load_placed(&args.config, &args.data, Purpose::Look)?;
    let config = &loaded.config;
    config.check()?;
    let reading = reach_to_read(config, Jobs::Leave)?;
    let reached = reading.reach;
    if matches!(reached, Reach::Running(_)) && args.repair {
        anyhow::bail!(
            "a server has `{}` open\nhint: stop it before `dowse check --repair`",
            config.data_dir.display()
        );
    }
    if !args.json {
        match &loaded.file {
            Some(file) => print::line(format!("{}: valid", file.display())),
            None => print::line("no configuration: the defaults are used"),
        }
        print::line(print::table(&[
            vec!["listen".to_owned(), format!("http://{}", config.server.listen)],
            vec!["data".to_owned(), config.data_dir.display().to_string()],
            vec!["callers".to_owned(), callers(config)],
        ]));
    }
    let (report, is_running) = match reached {
        Reach::Running(connection) => {
            let lines = connection.captured(typed(Form::Json)?)?;
            let report = serde_json::from_str(&lines).context(
                "the running server answered something else\n\
                 hint: it is of another version; restart it",
            )?;
            (report, true)
        }
        Reach::Here(shared_state) => {
            if args.repair {
                shared_state.ensure_writable()?;
            }
            let mut looked_at = reading.config;
            // Data that was named alone knows its folders.
            if looked_at.files.roots.is_empty() && loaded.file.is_none() {
                looked_at.files.roots = indexed_roots(&shared_state)?;
            }
            let (app, _) = app(&looked_at, &shared_state)?;
            let options = CheckOptions::here(&looked_at, loaded.file.as_deref());
            let mut report = look(&shared_state, &app, &options)?;
            let repair = if args.repair { Repair::Yes } else { Repair::No };
            check_store(&shared_state, repair, &mut report)?;
            (report, false)
        }
    };
    if args.json {
        let mut whole = serde_json::to_value(&report)?;
        whole["configuration"] = json!(loaded.file);
        whole["data_dir"] = json!(config.data_dir);
        whole["listen"] = json!(config.server.listen.to_string());
        whole["is_running"] = json!(is_running);
        print::json(&whole)?;
    } else {
        if is_running {
            match &report.address {
                Some(address) => {
                    print::line(format!("a server is running with this data at {address}:"));
                }
                None => print::line("a process has this data open, which listens nowhere:"),
            }
        }
        show(&report);
    }
    Ok(if report.is_well() { Outcome::Done } else { Outcome::Problems })
}

/// Looks at what a running server serves; the result is JSON for the command to print.
pub(super) fn hosted(host: &Host, typed: &Typed) -> anyhow::Result<Outcome> {
    let mut report = look(&host.shared_state, &host.app(), &CheckOptions::hosted(typed))?;
    report.address = host.command.listens().then(|| host.app().server.link_base());
    check_store(&host.shared_state, Repair::No, &mut report)?;
    print::line(serde_json::to_string(&report)?);
    Ok(if report.is_well() { Outcome::Done } else { Outcome::Problems })
}

/// Says for the console what `dowse check` says of this server.
pub(crate) fn examined(shared_state: &SharedState, app: &App) -> Result<serde_json::Value, String> {
    let options =
        CheckOptions { providers: Providers::Ask, index_command: "dowse index".to_owned() };
    let report = look(shared_state, app, &options).and_then(|mut report| {
        check_store(shared_state, Repair::No, &mut report)?;
        Ok(serde_json::to_value(&report)?)
    });
    report.map_err(|error| format!("{error:#}"))
}

impl Report {
    fn is_well(&self) -> bool {
        let is_well = |source: &SourceReport| source.problems.is_empty();
        self.problems.is_empty()
            && self.tables.iter().all(is_well)
            && self.dimensions.iter().all(is_well)
    }
}

/// Looks at how everything is. An engine elsewhere is asked, and one that does not answer is away:
/// whoever looks wants to know before the first search fails.
pub(super) fn health(
    shared_state: &SharedState,
    app: &App,
    options: &CheckOptions,
) -> anyhow::Result<Health> {
    let caller = Caller::local_admin();
    FeedProblems::look(shared_state);
    let mut health = (app.readiness)();
    for folder in app.files.iter().flat_map(|files| files.unreachable_roots(&caller)) {
        let problem = folder_away(&folder);
        // One that was known to be away is named already.
        if health.degraded.iter().all(|degraded| degraded.problem != problem) {
            health = health.with("folder", problem, FOLDER_HINT);
        }
    }
    // Other jobs go on at the next start; a folder that is half indexed is missing answers.
    let is_index = |job: &Job| job.kind == ::files::INDEX_JOB;
    let stopped_jobs = shared_state.stopped_jobs()?;
    let outcomes = match (&app.files, stopped_jobs.is_empty()) {
        (Some(files), false) => files.outcomes(&caller)?,
        _ => vec![],
    };
    for job in stopped_jobs.into_iter().filter(is_index) {
        let known = outcomes.iter().find(|root| root.root == job.subject);
        let n_known = known.map(|root| root.counts.values().sum());
        let hint = format!("`{}` goes on with it, and so does a server", options.index_command);
        health = health.with("job", stopped(&job, n_known), &hint);
    }
    let model = shared_state.embedder.state();
    if let ModelState::Broken { model: name, .. } = &model {
        let hint =
            format!("`dowse models pull {name}` gets it again; words are searched meanwhile");
        health = health.with("model", model_state(&model), &hint);
    }
    if let Some(config) =
        shared_state.served.load_full().filter(|_| options.providers == Providers::Ask)
    {
        if let Some(state) = failing_embedder(&config, &shared_state.embedder) {
            let hint = "see that its server answers, and `embedder.base_url`, its model and its \
                        key; searches work on words meanwhile";
            health = health.with("embedder", model_state(&state), hint);
        }
        for unset in config.unset_variables().iter().filter(|unset| unset.is_of_model) {
            health = health.with("variable", unset.problem(), &unset.remedy());
        }
        if let Some(problem) = failing_llm(&config) {
            let hint = "start that server, or correct `llm.base_url`; answers are written by rules \
                        meanwhile";
            health = health.with("llm", problem, hint);
        }
        if let Some(problem) = failing_reranker(&config) {
            let hint = "see that its server answers, and `reranker.base_url`, its model and its \
                        key; results keep the order of words and vectors meanwhile";
            health = health.with("reranker", problem, hint);
        }
    }
    let store = &shared_state.open_store()?.store;
    let engine = store.engine();
    if !engine.info().is_elsewhere()
        || health.degraded.iter().any(|degraded| degraded.what == "engine")
    {
        return Ok(health);
    }
    Ok(match engine.info().reach() {
        Ok(()) => health,
        Err(error) => {
            let problem =
                format!("{} does not answer: {}", engine.info().name, model::with_causes(&error));
            let hint = "check `[store]`, its key and the network; `dowse doctor` says more";
            health.with("engine", problem, hint)
        }
    })
}

/// Says how far an index came that nobody goes on with. What a job has told of itself is a while
/// old when its process is killed; the files that the catalogue knows are counted.
fn stopped(job: &Job, n_known: Option<usize>) -> String {
    let n_missing = job
        .progress
        .n_total
        .zip(n_known)
        .map(|(n_total, n_known)| (n_total, n_total.saturating_sub(n_known)));
    let far = match n_missing {
        Some((n_total, n_missing)) if n_missing > 0 => {
            format!("{n_missing} of {n_total} files are not indexed yet: it was stopped")
        }
        Some(_) => {
            "it was stopped before it ended; what changed since the files were read is not known"
                .to_owned()
        }
        None => "it was stopped before it ended".to_owned(),
    };
    format!("indexing of `{}`: {far}", job.subject)
}

/// Names the configured folders that cannot be looked into, where no data is open that knows them.
pub(super) fn folders_away(config: &Config) -> Vec<Problem> {
    let folders = config.files.roots.iter().map(|root| config.base.join(root.path()));
    let is_away = |folder: &PathBuf| fs_err::read_dir(folder).is_err();
    let folders = folders.filter(is_away).map(|folder| {
        let shown = std::path::absolute(&folder).unwrap_or(folder);
        let problem = folder_away(&shown.display().to_string());
        Problem { what: "folder".to_owned(), problem, hint: FOLDER_HINT.to_owned() }
    });
    folders.collect()
}

/// Gives what does not work as it should.
pub(super) fn problems_of(health: &Health) -> Vec<Problem> {
    let problem = |degraded: &serve::Degraded| {
        let (problem, own_hint) = print::apart(&degraded.problem);
        let hint = own_hint.unwrap_or_else(|| degraded.hint.clone());
        Problem { what: degraded.what.to_owned(), problem, hint }
    };
    health.degraded.iter().map(problem).collect()
}

/// Says what is served and how it is. The operator sees the cells themselves, which no agent does.
pub(super) fn look(
    shared_state: &SharedState,
    app: &App,
    options: &CheckOptions,
) -> anyhow::Result<Report> {
    let caller = Caller::local_admin();
    let health = health(shared_state, app, options)?;
    let store = &shared_state.open_store()?.store;
    let deadline = Deadline::after(SOURCES_LIMIT);
    let tables = app.tables.iter().flat_map(|tables| tables.load_reports(&caller, &deadline));
    let tables = tables.map(|(name, report)| table_report(name, report)).collect();
    let filters = shared_state.filters.load_full();
    let dimensions = filters.iter().flat_map(|filters| filters.dimensions(&caller));
    let dimensions = dimensions.map(|info| {
        // Vectors come while the server runs; here nothing waits for them.
        let is_lasting = |warning: &&model::Warning| warning.code != "meaning_unavailable";
        let problems = info.warnings.iter().filter(is_lasting);
        SourceReport {
            name: info.category.clone(),
            n_rows: Some(info.n_entries as u64),
            problems: problems.map(|warning| warning.message.clone()).collect(),
        }
    });
    Ok(Report {
        address: None,
        store: describe_store(store),
        health: health.status().to_owned(),
        problems: problems_of(&health),
        notes: app.files.iter().flat_map(notes_of).collect(),
        tools: app.tools.list(&caller).iter().map(|listed| listed.spec.name.clone()).collect(),
        tables,
        dimensions: dimensions.collect(),
    })
}

/// Says of folders that are the data folder, or in it, that not all of them is indexed.
fn notes_of(files: &::files::Service) -> Vec<String> {
    let note = |root: String| {
        format!("`{root}` is in the data folder: what Dowse keeps there itself is not indexed")
    };
    files.roots_in_data().into_iter().map(note).collect()
}

pub(super) fn table_report(
    name: &str,
    report: columns::Result<columns::LoadReport>,
) -> SourceReport {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let problem = format!("{:#}", anyhow::Error::from(error));
            return SourceReport { name: name.to_owned(), n_rows: None, problems: vec![problem] };
        }
    };
    let mut problems = Vec::new();
    if report.n_misfits > 0 {
        let rows = print::counted(report.n_misfit_rows as usize, "row does", "rows do");
        problems.push(format!("{rows} not fit the schema"));
    }
    problems.extend(report.misfits.iter().map(|misfit| {
        let place = match &misfit.key {
            Some(key) => format!("row {key}"),
            None => format!("line {}", misfit.line),
        };
        let column = misfit.column.as_deref().unwrap_or("the whole row");
        let found = misfit.found.as_ref().map(|found| format!(": `{found}`"));
        format!("{place}, {column}: {}{}", misfit.problem, found.unwrap_or_default())
    }));
    SourceReport { name: name.to_owned(), n_rows: Some(report.n_rows as u64), problems }
}

fn show(report: &Report) {
    print::line(print::table(&[
        vec!["store".to_owned(), report.store.clone()],
        vec!["health".to_owned(), report.health.clone()],
        vec!["tools".to_owned(), report.tools.join(", ")],
    ]));
    for Problem { what, problem, hint } in &report.problems {
        print::line(format!("{what}: {problem} (hint: {hint})"));
    }
    report.notes.iter().for_each(|note| print::line(format!("note: {note}")));
    let (rows, entries) = (["row", "rows"], ["entry", "entries"]);
    for (kind, [one, many], sources) in
        [("table", rows, &report.tables), ("dimension", entries, &report.dimensions)]
    {
        for source in sources {
            match source.n_rows.map(|n_rows| print::counted(n_rows as usize, one, many)) {
                Some(rows) => print::line(format!("{kind} `{}`: {rows}", source.name)),
                None => print::line(format!("{kind} `{}` cannot be read", source.name)),
            }
            source.problems.iter().for_each(|problem| print::line(format!("  {problem}")));
        }
    }
}

/// Tells whether an engine elsewhere does not answer. A check of the store would wait for it for
/// minutes, since it first lets it catch up.
pub(super) fn is_engine_away(store: &Store) -> bool {
    store.engine().info().is_elsewhere() && store.engine().info().reach().is_err()
}

/// Reads everything that is kept, compares it with its checksums and indexes with the catalogue,
/// and rebuilds what is damaged where that is asked for.
fn check_store(
    shared_state: &SharedState,
    repair: Repair,
    report: &mut Report,
) -> anyhow::Result<()> {
    let store = &shared_state.open_store()?.store;
    if is_engine_away(store) {
        // A repair cannot be done without it.
        if repair == Repair::Yes {
            store.engine().info().reach()?;
        }
        if let Err(error) = store.catalogue().verify() {
            report.problems.push(Problem {
                what: "catalogue".to_owned(),
                problem: model::with_causes(&error),
                hint: "restore a backup with `dowse restore FILE`".to_owned(),
            });
        }
        return Ok(());
    }
    let findings = match store.check(repair) {
        Ok(findings) => findings,
        // That it is away is among the problems already.
        Err(error) if error.is_engine_away() && repair == Repair::No => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if findings.is_empty() && repair == Repair::Yes {
        print::note("the store is consistent");
    }
    for finding in findings {
        let place = finding.namespace.as_ref().map_or("catalogue", |name| name.as_str());
        if finding.is_repaired {
            print::note(format!("{place}: {} (repaired)", finding.problem));
            continue;
        }
        let hint = match (finding.namespace.is_some(), repair) {
            (true, Repair::No) => "stop the server and run `dowse check --repair`",
            _ => "restore a backup with `dowse restore FILE`",
        };
        let problem = match repair {
            Repair::Yes => format!("{} (NOT repaired)", finding.problem),
            Repair::No => finding.problem,
        };
        report.problems.push(Problem { what: place.to_owned(), problem, hint: hint.to_owned() });
    }
    check_originals(shared_state, report)
}

/// Files of documents that are named one by one; of more only the number is said.
const MAX_NAMED_ORIGINALS: usize = 20;

/// Reads the files that documents were made from, and compares them with what was uploaded.
fn check_originals(shared_state: &SharedState, report: &mut Report) -> anyhow::Result<()> {
    let catalogue = shared_state.open_store()?.store.catalogue();
    let damaged = knowledge::damaged_originals(&*catalogue, &shared_state.uploads()?)?;
    let hint = "restore a backup, or put the document's content in its place again";
    for one in damaged.iter().take(MAX_NAMED_ORIGINALS) {
        let what = format!("document {}", one.document);
        report.problems.push(Problem { what, problem: one.problem.clone(), hint: hint.to_owned() });
    }
    if let Some(n_more) = damaged.len().checked_sub(MAX_NAMED_ORIGINALS).filter(|n| *n > 0) {
        let problem = format!("the files of {n_more} more documents are damaged");
        let what = "documents".to_owned();
        report.problems.push(Problem { what, problem, hint: hint.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ingest::{JobProgress, NewJob, Priority};
    use model::TenantId;

    use super::*;

    /// After an interrupted index `status` said that nothing was missing, and every command that
    /// opened the data went on with the job for as long as it ran.
    #[test]
    fn a_job_that_nobody_runs_is_left_and_said() {
        let folder = testkit::Folder::new();
        let config = Config { data_dir: folder.join("data"), ..Config::default() };
        let shared_state = SharedState::open(&config).unwrap().with_jobs(Jobs::Leave);
        assert_eq!(shared_state.stopped_jobs().unwrap(), []);
        let new = NewJob {
            kind: ::files::INDEX_JOB.to_owned(),
            subject: "/my files".to_owned(),
            tenant: TenantId::new("t"),
            priority: Priority::High,
            arguments: json!({}),
        };
        let job = shared_state.open_store().unwrap().queue.submit(new).unwrap();
        assert_eq!(shared_state.stopped_jobs().unwrap().len(), 1);
        // It had told of 126 files when it was killed, and had written 200.
        let progress = JobProgress { n_done: 126, n_total: Some(1500), ..JobProgress::default() };
        let job = Job { progress, ..job };
        assert_eq!(
            stopped(&job, Some(200)),
            "indexing of `/my files`: 1300 of 1500 files are not indexed yet: it was stopped"
        );
        for n_known in [Some(1500), None] {
            let said = stopped(&job, n_known);
            assert!(said.contains("stopped before it ended"), "{said}");
        }
    }
}
