//! `dowse check`: is the configuration right, and what would it serve?

use std::io::Read as _;
use std::time::Duration;

use model::{Caller, Deadline};
use serve::App;
use store::Repair;

use crate::cli::CheckArgs;
use crate::commands::variable;
use crate::config::{Config, load};
use crate::wiring::{Families, SharedState, app, describe_store};
use crate::{control, print};

/// How long databases have to say what they hold.
const SOURCES_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let config = &loaded.config;
    config.check()?;
    let running = control::ask(&config.data_dir, control::Command::Check)?;
    if running.is_some() && args.repair {
        anyhow::bail!(
            "a server has `{}` open\nhint: stop it before `dowse check --repair`",
            config.data_dir.display()
        );
    }
    match &loaded.file {
        Some(file) => print::line(format!("{}: valid", file.display())),
        None => print::line("no configuration: the defaults are used"),
    }
    print::line(print::table(&[
        vec!["listen".to_owned(), format!("http://{}", config.server.listen)],
        vec!["data".to_owned(), config.data_dir.display().to_string()],
        vec!["callers".to_owned(), callers(config)],
    ]));
    if let Some(mut running) = running {
        let mut lines = String::new();
        running.read_to_string(&mut lines)?;
        print::line("a server is running with this data:");
        lines.lines().for_each(|line| print::line(format!("  {line}")));
        return Ok(());
    }
    let shared_state = SharedState::open(config)?;
    let (app, families) = app(config, &shared_state)?;
    for line in of_running(&shared_state, &app)? {
        print::line(line);
    }
    sources(&families);
    if args.repair {
        repair(&shared_state)?;
    }
    Ok(())
}

/// Says what a server serves and how it is, in lines.
pub(super) fn of_running(shared_state: &SharedState, app: &App) -> anyhow::Result<Vec<String>> {
    let names: Vec<String> = app
        .tools
        .list(&Caller::local_admin())
        .iter()
        .map(|listed| listed.spec.name.clone())
        .collect();
    let health = (app.readiness)();
    let mut lines: Vec<String> = print::table(&[
        vec!["store".to_owned(), describe_store(&shared_state.kept()?.store)],
        vec!["health".to_owned(), health.status().to_owned()],
        vec!["tools".to_owned(), names.join(", ")],
    ])
    .lines()
    .map(str::to_owned)
    .collect();
    lines.extend(health.degraded.iter().map(|degraded| {
        format!("{}: {} (hint: {})", degraded.what, degraded.problem, degraded.hint)
    }));
    Ok(lines)
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

/// Says what tables and dimensions hold, and what of their sources does not fit. The operator
/// sees the cells themselves, which no agent does.
fn sources(families: &Families) {
    let caller = Caller::local_admin();
    let deadline = Deadline::after(SOURCES_LIMIT);
    for (name, report) in families.tables.iter().flat_map(|it| it.load_reports(&caller, &deadline))
    {
        match report {
            Ok(report) => {
                print::line(format!("table `{name}`: {} rows", report.n_rows));
                if report.n_misfits > 0 {
                    print::line(format!("  {} rows do not fit the schema", report.n_misfit_rows));
                }
                for misfit in &report.misfits {
                    let place = match &misfit.key {
                        Some(key) => format!("row {key}"),
                        None => format!("line {}", misfit.line),
                    };
                    let column = misfit.column.as_deref().unwrap_or("the whole row");
                    let found = misfit.found.as_ref().map(|found| format!(": `{found}`"));
                    let found = found.unwrap_or_default();
                    print::line(format!("  {place}, {column}: {}{found}", misfit.problem));
                }
            }
            Err(error) => print::line(format!("table `{name}`: {:#}", anyhow::Error::from(error))),
        }
    }
    for info in families.filters.iter().flat_map(|filters| filters.dimensions(&caller)) {
        print::line(format!("dimension `{}`: {} entries", info.category, info.n_entries));
        // Vectors come while the server runs; here nothing waits for them.
        let is_lasting = |warning: &&model::Warning| warning.code != "meaning_unavailable";
        for warning in info.warnings.iter().filter(is_lasting) {
            print::line(format!("  {}", warning.message));
        }
    }
}

/// Checks what is kept, and rebuilds what is damaged.
fn repair(shared_state: &SharedState) -> anyhow::Result<()> {
    let findings = shared_state.kept()?.store.check(Repair::Yes)?;
    if findings.is_empty() {
        print::line("everything that is kept is right");
    }
    for finding in &findings {
        let place = finding.namespace.as_ref().map_or("catalogue", |name| name.as_str());
        let state = if finding.is_repaired { "repaired" } else { "NOT repaired" };
        print::line(format!("{place}: {} ({state})", finding.problem));
    }
    let n_left = findings.iter().filter(|finding| !finding.is_repaired).count();
    anyhow::ensure!(n_left == 0, "{n_left} findings could not be repaired: restore a backup");
    Ok(())
}
