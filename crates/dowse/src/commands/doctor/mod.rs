//! `dowse doctor`: finds what is wrong, and says the remedy of each.
//!
//! What needs the data folder is asked of the process that has it open, where there is one. The
//! exit code is 1 when a problem was found.

mod clients;
mod endpoint;
mod machine;
mod settings;
mod store;

use std::path::PathBuf;

use ::store::Verify;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::DoctorArgs;
use crate::commands::Outcome;
use crate::commands::check::{CheckOptions, folders_away};
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, holds_data, reach_to_read, typed};
use crate::commands::sets::{Located, Need, index_command, locate, remembered};
use crate::commands::user_data::user_data;
use crate::config::UserData;
use crate::control::{self, Connection, Typed};
use crate::print::{self, Look};
use crate::wiring::{Jobs, app};

/// What is looked at of the machine, and alike for every set of folders.
const OF_MACHINE: [&str; 8] =
    ["configuration", "disk", "port", "model", "variable", "embedder", "reranker", "llm"];

/// What one look came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finding {
    /// The folders that it is about, where several sets were looked at; none for what is of the
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// What was looked at.
    check: String,
    state: State,
    /// What is so.
    what: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Nothing is wrong, but there is more to be had.
    Note,
    Problem,
}

impl Finding {
    fn ok(check: &str, what: impl Into<String>) -> Self {
        let check = check.to_owned();
        Finding { of: None, check, state: State::Ok, what: what.into(), remedy: None }
    }

    fn note(check: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { state: State::Note, ..Finding::problem(check, what, remedy) }
    }

    fn problem(check: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        // What a message says itself is nearer to it than what holds for all of its kind.
        let (what, own_hint) = print::apart(&what.into());
        let remedy = Some(own_hint.unwrap_or_else(|| remedy.into()));
        let check = check.to_owned();
        Finding { of: None, check, state: State::Problem, what, remedy }
    }
}

pub(super) fn run(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let mut findings = Vec::new();
    match locate(&args.files, &[], Need::Index, remembered) {
        Err(error) => findings.push(Finding::problem(
            "configuration",
            format!("{error:#}"),
            "fix the line that the message shows; docs/reference/configuration.md has every key",
        )),
        Ok(located) if located.is_empty() => {
            findings.push(Finding::ok(
                "configuration",
                "none, and no folder was indexed before: `dowse index FOLDER` begins",
            ));
            let user_data = user_data();
            let folder = user_data.as_ref().and_then(UserData::folder);
            findings.extend(folder.map(machine::data_folder));
        }
        Ok(located) => {
            let is_one = located.len() == 1;
            for mut one in located {
                let of = Some(folders_of(&one)).filter(|_| !is_one);
                add_findings(&mut findings, examine(&mut one), of.as_deref());
            }
            // What is of the machine comes first.
            findings.sort_by(|one, other| one.of.cmp(&other.of));
        }
    }
    let begin = findings.iter().take_while(|finding| finding.of.is_none()).count();
    findings.splice(begin..begin, clients::findings());
    let n_problems = findings.iter().filter(|finding| finding.state == State::Problem).count();
    if args.json {
        print::json(&json!({ "findings": findings, "problems": n_problems }))?;
    } else {
        show(&findings, n_problems);
    }
    Ok(if n_problems == 0 { Outcome::Done } else { Outcome::Problems })
}

/// Names the folders of a set, or its data where it has none.
fn folders_of(located: &Located) -> String {
    let folders: Vec<String> =
        located.config.files.roots.iter().map(|root| root.path().display().to_string()).collect();
    match folders.is_empty() {
        true => located.config.data_dir.display().to_string(),
        false => folders.join(", "),
    }
}

/// Adds what was found of one set of several; what the machine has is said once.
fn add_findings(findings: &mut Vec<Finding>, more: Vec<Finding>, of: Option<&str>) {
    for mut finding in more {
        let check = finding.check.as_str();
        let is_of_machine = OF_MACHINE.contains(&check);
        if is_of_machine && findings.contains(&finding) {
            continue;
        }
        if !is_of_machine {
            finding.of = of.map(str::to_owned);
        }
        findings.push(finding);
    }
}

/// Looks at what a running server has open; the result is JSON for the command to print.
pub(super) fn hosted(host: &Host, typed: &Typed) -> anyhow::Result<Outcome> {
    let options = CheckOptions::hosted(typed);
    let findings = store::findings(&host.shared_state, &host.app(), &options)?;
    print::line(serde_json::to_string(&findings)?);
    Ok(Outcome::Done)
}

/// Looks at one configuration and its data.
fn examine(located: &mut Located) -> Vec<Finding> {
    let mut findings = vec![configuration(located)];
    let data_dir: PathBuf = located.config.data_dir.clone();
    let is_running = control::connect(&data_dir).is_some();
    findings.push(machine::data_folder(&data_dir));
    findings.push(machine::disk(&data_dir));
    findings.push(machine::port(&located.config, is_running));
    findings.extend(machine::providers(&located.config));
    findings.extend(settings::findings(&located.config, located.file.as_deref(), is_running));
    let has_store = match holds_data(&located.config) {
        Ok(has_store) => is_running || has_store,
        // Whose data it is was said with the folder.
        Err(_) => return findings,
    };
    // A file says which model is wanted, whatever a server of an earlier version of it has open;
    // without one the server knows, since it may have been started with `--no-model`.
    let is_model_configured = located.file.is_some() || !is_running;
    if is_model_configured {
        findings.push(machine::model(&located.config));
    }
    if !has_store {
        findings.push(nothing_yet(located));
    }
    let looked = if has_store { of_store(located) } else { without_store(located) };
    match looked {
        Ok(more) => {
            let is_full =
                findings.iter().any(|it| it.check == "disk" && it.state == State::Problem);
            let is_known = |finding: &Finding| match finding.check.as_str() {
                "model" => is_model_configured,
                "disk" => is_full,
                _ => false,
            };
            // A server that answers may still refuse what it is asked for.
            let is_refused = |check: &str| {
                let is_same = |other: &Finding| other.check == check;
                matches!(check, "embedder" | "reranker" | "llm") && more.iter().any(is_same)
            };
            findings.retain(|finding| !is_refused(&finding.check));
            for finding in more.into_iter().filter(|finding| !is_known(finding)) {
                // A variable that is not set here was named already.
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
        }
        Err(StoreCheckError::Data(error)) => findings.push(Finding::problem(
            "data",
            format!("`{}` cannot be opened: {error:#}", data_dir.display()),
            "do what the message says; where the data is damaged, `dowse check --repair` rebuilds \
             indexes, and `dowse restore FILE` brings back a backup",
        )),
        // What was found in the configuration already has its remedy.
        Err(StoreCheckError::Settings(error)) if is_among(&findings, &error) => {}
        Err(StoreCheckError::Settings(error)) => findings.push(Finding::problem(
            "configuration",
            format!("{error:#}"),
            "fix the setting that the message names; docs/reference/configuration.md has every \
             key with an example",
        )),
    }
    findings
}

/// Why the store could not be checked.
enum StoreCheckError {
    /// It cannot be opened, or the server that has it does not say.
    Data(anyhow::Error),
    /// A server of this configuration would not start.
    Settings(anyhow::Error),
}

/// Tells whether an error is among the findings: the configuration as a whole, or a variable that
/// it names.
fn is_among(findings: &[Finding], error: &anyhow::Error) -> bool {
    let said = format!("{error:#}");
    let is_said = |finding: &Finding| match finding.check.as_str() {
        "configuration" => finding.what == print::apart(&said).0,
        "variable" => finding.what.rsplit('`').nth(1).is_some_and(|name| said.contains(name)),
        _ => false,
    };
    findings.iter().any(|finding| finding.state == State::Problem && is_said(finding))
}

fn of_store(located: &mut Located) -> Result<Vec<Finding>, StoreCheckError> {
    let reached = located.reach(Verify::AtOpening, Jobs::Leave).map_err(StoreCheckError::Data)?;
    let shared_state = match reached {
        Reach::Running(connection) => return of_server(connection).map_err(StoreCheckError::Data),
        Reach::Here(shared_state) => shared_state,
    };
    let (app, _) = app(&located.config, &shared_state).map_err(StoreCheckError::Settings)?;
    let options = CheckOptions::here(&located.config, located.file.as_deref());
    store::findings(&shared_state, &app, &options).map_err(StoreCheckError::Data)
}

/// Says that nothing was indexed, which is wrong where there are folders to index.
fn nothing_yet(located: &Located) -> Finding {
    let what = format!("`{}` holds no index", located.config.data_dir.display());
    if located.config.files.roots.is_empty() {
        return Finding::ok("index", format!("{what}: no folders are configured"));
    }
    let command = index_command(&located.config, located.file.as_deref());
    let remedy = format!("run `{command}`, or start `dowse serve`, which indexes by itself");
    Finding::problem("index", what, remedy)
}

/// Looks at the sources where nothing was ever stored: in an empty store elsewhere, so that nothing
/// is made. An engine elsewhere is only asked whether it answers, since an empty catalogue would
/// have it drop what it holds.
fn without_store(located: &Located) -> Result<Vec<Finding>, StoreCheckError> {
    let config = &located.config;
    if !config.store.is_of_this_machine().map_err(StoreCheckError::Settings)? {
        let mut findings = machine::engine(config);
        let away = folders_away(config).into_iter();
        findings.extend(away.map(|one| Finding::problem(&one.what, one.problem, one.hint)));
        return Ok(findings);
    }
    let reading = reach_to_read(config, Jobs::Leave).map_err(StoreCheckError::Data)?;
    let shared_state = match reading.reach {
        Reach::Running(connection) => return of_server(connection).map_err(StoreCheckError::Data),
        Reach::Here(shared_state) => shared_state,
    };
    let (app, _) = app(&reading.config, &shared_state).map_err(StoreCheckError::Settings)?;
    let options = CheckOptions::here(config, located.file.as_deref());
    let mut findings =
        store::findings(&shared_state, &app, &options).map_err(StoreCheckError::Data)?;
    findings.retain(|finding| finding.check != "index");
    Ok(findings)
}

fn of_server(connection: Connection) -> anyhow::Result<Vec<Finding>> {
    serde_json::from_str(&connection.captured(typed(Form::Json)?)?).context(
        "the running server answered something else\n\
         hint: it is of another version; restart it",
    )
}

fn configuration(located: &Located) -> Finding {
    let file = located.file.as_ref().map_or_else(
        || "none: the defaults are used".to_owned(),
        |file| format!("{} can be read", file.display()),
    );
    match located.config.check() {
        Ok(()) => Finding::ok("configuration", file),
        Err(error) => Finding::problem(
            "configuration",
            format!("{error:#}"),
            "docs/reference/configuration.md has every key with an example",
        ),
    }
}

fn show(findings: &[Finding], n_problems: usize) {
    let mut of = None;
    for finding in findings {
        if finding.of.is_some() && finding.of != of {
            of.clone_from(&finding.of);
            print::line(format!("\nof {}", finding.of.as_deref().unwrap_or_default()));
        }
        let mark = match finding.state {
            State::Ok => print::look("ok      ", Look::Good),
            State::Note => print::look("note    ", Look::Notable),
            State::Problem => print::look("PROBLEM ", Look::Bad),
        };
        print::line(format!("{mark} {}: {}", finding.check, finding.what));
        if let Some(remedy) = &finding.remedy {
            print::line(format!("         remedy: {remedy}"));
        }
    }
    print::note(match n_problems {
        0 => "everything is well".to_owned(),
        1 => "1 problem".to_owned(),
        n_problems => format!("{n_problems} problems"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of several sets every line was there as often as there are sets, and none said whose it is.
    #[test]
    fn what_is_of_the_machine_is_said_once_and_the_rest_with_its_folders() {
        let of_set = |what: &str| {
            vec![Finding::ok("disk", "9 GB are free"), Finding::ok("data folder", what)]
        };
        let mut findings = Vec::new();
        add_findings(&mut findings, of_set("a"), Some("/a"));
        add_findings(&mut findings, of_set("b"), Some("/b"));
        let told: Vec<_> =
            findings.iter().map(|it| (it.check.as_str(), it.of.as_deref())).collect();
        let expected = [("disk", None), ("data folder", Some("/a")), ("data folder", Some("/b"))];
        assert_eq!(told, expected);
    }
}
