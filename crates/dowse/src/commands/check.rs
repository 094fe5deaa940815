//! `dowse check`: is the configuration right, what would it serve, and what is wrong with it?
//!
//! The exit code is 1 when something is wrong: a source that cannot be read, rows that do not fit,
//! an engine that does not answer.

use std::time::Duration;

use anyhow::Context;
use model::{Caller, Deadline};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serve::{App, Health};
use store::Repair;

use crate::cli::CheckArgs;
use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, reach_to_read, typed};
use crate::commands::sets::load_placed;
use crate::config::Config;
use crate::print;
use crate::wiring::{SharedState, app, describe_store};

/// How long databases have to say what they hold.
const SOURCES_LIMIT: Duration = Duration::from_secs(30);

/// What is served, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    store: String,
    health: String,
    tools: Vec<String>,
    pub(super) tables: Vec<SourceReport>,
    pub(super) dimensions: Vec<SourceReport>,
    pub(super) problems: Vec<Problem>,
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

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<Outcome> {
    let loaded = load_placed(&args.config, &args.data)?;
    let config = &loaded.config;
    config.check()?;
    let reading = reach_to_read(config)?;
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
            let (app, _) = app(&reading.config, &shared_state)?;
            let mut report = look(&shared_state, &app)?;
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
            print::line("a server is running with this data:");
        }
        show(&report);
    }
    Ok(if report.is_well() { Outcome::Done } else { Outcome::Problems })
}

/// Looks at what a running server serves; the result is JSON for the command to print.
pub(super) fn hosted(host: &Host, _args: &CheckArgs) -> anyhow::Result<Outcome> {
    let mut report = look(&host.shared_state, &host.app())?;
    check_store(&host.shared_state, Repair::No, &mut report)?;
    print::line(serde_json::to_string(&report)?);
    Ok(if report.is_well() { Outcome::Done } else { Outcome::Problems })
}

/// Says for the console what `dowse check` says of this server.
pub(crate) fn examined(shared_state: &SharedState, app: &App) -> Result<serde_json::Value, String> {
    let report = look(shared_state, app).and_then(|mut report| {
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
pub(super) fn health(shared_state: &SharedState, app: &App) -> anyhow::Result<Health> {
    let mut health = (app.readiness)();
    for folder in app.files.iter().flat_map(|files| files.unreachable_roots(&Caller::local_admin()))
    {
        let problem = format!("`{folder}` does not exist or does not answer");
        let hint = "mend its path in `[files] roots`, or make it; what was indexed of it is kept";
        health = health.with("folder", problem, hint);
    }
    let store = &shared_state.kept()?.store;
    let engine = store.engine();
    if !engine.is_far() || health.degraded.iter().any(|degraded| degraded.what == "engine") {
        return Ok(health);
    }
    Ok(match engine.reach() {
        Ok(()) => health,
        Err(error) => {
            let problem =
                format!("{} does not answer: {}", engine.name(), model::with_causes(&error));
            let hint = "check `[store]`, its key and the network; `dowse doctor` says more";
            health.with("engine", problem, hint)
        }
    })
}

/// Gives what does not work as it should.
pub(super) fn problems_of(health: &Health) -> Vec<Problem> {
    let problem = |degraded: &serve::Degraded| Problem {
        what: degraded.what.to_owned(),
        problem: degraded.problem.clone(),
        hint: degraded.hint.clone(),
    };
    health.degraded.iter().map(problem).collect()
}

/// Says what is served and how it is. The operator sees the cells themselves, which no agent does.
pub(super) fn look(shared_state: &SharedState, app: &App) -> anyhow::Result<Report> {
    let caller = Caller::local_admin();
    let health = health(shared_state, app)?;
    let store = &shared_state.kept()?.store;
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
        store: describe_store(store),
        health: health.status().to_owned(),
        problems: problems_of(&health),
        tools: app.tools.list(&caller).iter().map(|listed| listed.spec.name.clone()).collect(),
        tables,
        dimensions: dimensions.collect(),
    })
}

fn table_report(name: &str, report: columns::Result<columns::LoadReport>) -> SourceReport {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let problem = format!("{:#}", anyhow::Error::from(error));
            return SourceReport { name: name.to_owned(), n_rows: None, problems: vec![problem] };
        }
    };
    let mut problems = Vec::new();
    if report.n_misfits > 0 {
        problems.push(format!("{} rows do not fit the schema", report.n_misfit_rows));
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
    for (kind, unit, sources) in
        [("table", "rows", &report.tables), ("dimension", "entries", &report.dimensions)]
    {
        for source in sources {
            match source.n_rows {
                Some(n_rows) => print::line(format!("{kind} `{}`: {n_rows} {unit}", source.name)),
                None => print::line(format!("{kind} `{}` cannot be read", source.name)),
            }
            source.problems.iter().for_each(|problem| print::line(format!("  {problem}")));
        }
    }
}

fn callers(config: &Config) -> String {
    let keys = |n_keys: usize| match n_keys {
        1 => "1 API key".to_owned(),
        n_keys => format!("{n_keys} API keys"),
    };
    match (&config.auth.jwt, config.auth.keys.len()) {
        (None, 0) => "everyone on this machine, as the local administrator".to_owned(),
        (None, n_keys) => keys(n_keys),
        (Some(jwt), 0) => format!("tokens of `{}`", jwt.issuer),
        (Some(jwt), n_keys) => format!("tokens of `{}` and {}", jwt.issuer, keys(n_keys)),
    }
}

/// Reads everything that is kept, compares it with its checksums and indexes with the catalogue,
/// and rebuilds what is damaged where that is asked for.
fn check_store(
    shared_state: &SharedState,
    repair: Repair,
    report: &mut Report,
) -> anyhow::Result<()> {
    let findings = match shared_state.kept()?.store.check(repair) {
        Ok(findings) => findings,
        // That it is away is among the problems already.
        Err(error) if error.is_engine_away() && repair == Repair::No => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if findings.is_empty() && repair == Repair::Yes {
        print::note("everything that is kept is right");
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
    Ok(())
}
