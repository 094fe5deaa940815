//! `dowse search`: the exit code says whether something was found, and whether everything that
//! should have looked did.

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use ::files::{SearchRequest, SearchResults, Service};
use anyhow::{Context, bail};
use ingest::JobState;
use model::{Caller, Deadline};
use serde::{Deserialize, Serialize};

use crate::commands::Outcome;
use crate::commands::check::Providers;
use crate::commands::host::Host;
use crate::commands::reach::{Form, may_not_enter, typed};
use crate::commands::sets::{
    NO_INDEX, Need, SEARCHES_BASES, Set, everything, is_no_folders, is_no_index, names_bases,
    open_all, remembered, served, serves_no_folders,
};
use crate::commands::words::{add_failing_embedder, error_in_flags, failures, in_flags};
use crate::control::Typed;
use crate::files_cli::SearchArgs;
use crate::print::{self, Look};
use crate::wiring::{SharedState, files_by_words};

/// The command that indexes, as a server says it.
const INDEX: &str = "dowse index";

/// How long a search may take.
const SEARCH_WAIT: Duration = Duration::from_secs(60);

/// Characters of a snippet on a terminal; whoever reads a pipe gets all of it.
const SNIPPET_CHARS: usize = 160;

/// What `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Answer {
    query: String,
    items: Vec<Item>,
    total_estimate: usize,
    /// Extensions and years that were asked for or read out of the query.
    exts: Vec<String>,
    years: Vec<String>,
    warnings: Vec<String>,
    /// Those of the warnings that say that a configured embedder, re-ranker or engine failed.
    #[serde(default)]
    failures: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Item {
    score: f64,
    path: String,
    pointer: String,
    snippet: String,
    /// Other files with the same content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<String>,
    /// Why there is no text of it, where it was found by its name alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_text: Option<String>,
}

pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<Outcome> {
    let mut opened = vec![];
    let sets = open_all(&args.files, &[], Need::Index, remembered)?;
    let (mut answer, mut unindexed) = answer_of_all(sets, args, &mut opened)?;
    // Knowledge bases that were made here are no reason not to search what was indexed elsewhere.
    let of_bases = unindexed.iter().any(names_bases);
    if answer.is_none() && unindexed.iter().any(is_no_folders) {
        let sets = match open_all(&args.files, &[], Need::Index, everything) {
            Err(error) if of_bases && is_no_index(&error) => bail!(
                "{NO_INDEX}: no folders are configured, and none was indexed before\n\
                 hint: {SEARCHES_BASES}; `dowse index FOLDER` indexes a folder"
            ),
            sets => sets?,
        };
        (answer, unindexed) = answer_of_all(sets, args, &mut opened)?;
    }
    let Some(mut answer) = answer else {
        return Err(unindexed.into_iter().next().context("nothing was opened")?);
    };
    let said = unindexed.iter().map(|error| format!("{error:#}").replace("\nhint: ", "; "));
    answer.warnings.extend(said);
    if of_bases {
        answer.warnings.push(format!("what is kept here was not searched: {SEARCHES_BASES}"));
    }
    let is_terminal = std::io::stdout().is_terminal();
    let outcome = show(&answer, args.json, is_terminal)?;
    answer.failures.iter().for_each(|failure| print::failure(failure));
    for shared_state in opened {
        shared_state.open_store()?.pay_asked();
    }
    Ok(outcome)
}

/// Searches all of the sets, and gives what those say that have nothing to search.
fn answer_of_all(
    sets: Vec<anyhow::Result<Set>>,
    args: &SearchArgs,
    opened: &mut Vec<SharedState>,
) -> anyhow::Result<(Option<Answer>, Vec<anyhow::Error>)> {
    let mut answer: Option<Answer> = None;
    let mut unindexed = vec![];
    for set in sets {
        let more = match set.and_then(|set| answer_in(set, args, opened)) {
            Ok(more) => more,
            // The others are searched: one that was begun and never indexed, or is another user's, must
            // not hide them.
            Err(error) if is_no_index(&error) || is_no_folders(&error) || may_not_enter(&error) => {
                unindexed.push(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        answer = Some(match answer {
            None => more,
            Some(one) => merged(one, more, args.k),
        });
    }
    Ok((answer, unindexed))
}

/// Searches one of the sets; one that is opened for it stays open.
fn answer_in(set: Set, args: &SearchArgs, opened: &mut Vec<SharedState>) -> anyhow::Result<Answer> {
    match set {
        Set::Running(connection) => {
            let lines = connection.captured(typed(Form::Json)?)?;
            serde_json::from_str(&lines).context(
                "the running server answered something else\n\
                 hint: it is of another version; restart it",
            )
        }
        Set::Here { service, shared_state, index_command, .. } => {
            // Nobody watches them here: the answer says which of them are away.
            service.unreachable_roots(&Caller::local_admin());
            let options = SearchOptions { args, roots: None, providers: Providers::here() };
            let answer = answer_of(&shared_state, &service, options, &index_command)?;
            opened.push(*shared_state);
            Ok(answer)
        }
    }
}

/// Searches what a running server has indexed.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &SearchArgs) -> anyhow::Result<Outcome> {
    let service = match typed.is_without_model {
        true => files_by_words(&host.shared_state)?,
        false => host.app().files.clone(),
    };
    let service = &service.ok_or_else(|| serves_no_folders(&host.shared_state))?;
    let roots = served(service, &typed.folder, &args.files.root.iter().collect::<Vec<_>>())?;
    let roots = Some(roots).filter(|roots| !roots.is_empty());
    let options = SearchOptions { args, roots, providers: Providers::of(typed) };
    let answer = answer_of(&host.shared_state, service, options, INDEX)?;
    show(&answer, args.json || typed.is_json, typed.is_terminal)
}

/// What is searched for, where, and with which models.
struct SearchOptions<'a> {
    args: &'a SearchArgs,
    roots: Option<Vec<String>>,
    providers: Providers,
}

fn answer_of(
    shared_state: &SharedState,
    service: &Service,
    options: SearchOptions<'_>,
    index_command: &str,
) -> anyhow::Result<Answer> {
    let SearchOptions { args, roots, providers } = options;
    let caller = Caller::local_admin();
    let request = SearchRequest {
        query: args.query.join(" "),
        k: args.k,
        offset: 0,
        after: None,
        exts: (!args.ext.is_empty()).then(|| args.ext.clone()),
        years: (!args.year.is_empty()).then(|| args.year.clone()),
        roots,
    };
    let begun = Instant::now();
    let found = service.search(&caller, &request, &Deadline::after(SEARCH_WAIT));
    let mut found = found.map_err(error_in_flags)?;
    add_failing_embedder(shared_state, providers, &mut found.warnings);
    let (ms, n_results) = (begun.elapsed().as_millis(), found.items.len());
    tracing::info!(ms, n_results, exts = ?found.exts, years = ?found.years, "searched");
    if found.items.is_empty() {
        super::index::ensure_engine(shared_state)?;
        let outcomes = service.outcomes(&caller)?;
        if outcomes.iter().all(|root| root.counts.is_empty()) {
            let roots = service.roots(&caller);
            let shown: Vec<String> = roots.iter().map(|root| format!("`{root}`")).collect();
            let shown = shown.join(", ");
            anyhow::ensure!(
                was_indexed(shared_state, &roots)?,
                "{NO_INDEX}: nothing of {shown} is indexed\nhint: run `{index_command}`",
            );
            // Who has just run that command must not be told to run it.
            let message = format!("{shown} {}", super::index::HOLDS_NOTHING);
            found.warnings.push(model::Warning::new("no_files", message));
        }
    }
    Ok(answer(request.query, found, index_command))
}

/// Tells whether one of these folders was looked through to its end.
fn was_indexed(shared_state: &SharedState, roots: &[String]) -> anyhow::Result<bool> {
    let jobs = shared_state.open_store()?.queue.list()?;
    Ok(jobs.iter().any(|job| {
        job.kind == ::files::INDEX_JOB
            && job.state == JobState::Done
            && roots.contains(&job.subject)
    }))
}

fn answer(query: String, found: SearchResults, index_command: &str) -> Answer {
    // `dowse index` alone is another set's where there are several.
    let typed = |message: &str| {
        in_flags(message).replace(&format!("`{INDEX}`"), &format!("`{index_command}`"))
    };
    let said = |warnings: Vec<&model::Warning>| -> Vec<String> {
        warnings.iter().map(|warning| typed(&warning.message)).collect()
    };
    let failures = said(failures(&found.warnings));
    let warnings = said(found.warnings.iter().collect());
    let items = found.items.into_iter().map(|item| Item {
        score: item.score,
        path: item.path,
        pointer: item.pointer,
        snippet: guard::redacted_piece(&item.snippet, &item.around).0,
        duplicates: item.duplicates,
        no_text: item.no_text,
    });
    Answer {
        query,
        items: items.collect(),
        total_estimate: found.pagination.total_estimate,
        exts: found.exts,
        years: found.years,
        warnings,
        failures,
    }
}

/// Puts the results of two sets of folders into one order: scores mean the same in both.
fn merged(mut one: Answer, other: Answer, k: usize) -> Answer {
    one.items.extend(other.items);
    one.items.sort_by(|left, right| right.score.total_cmp(&left.score));
    // A folder may be in several sets, by itself and inside another.
    let mut seen = HashSet::new();
    let n_items = one.items.len();
    one.items.retain(|item| seen.insert(item.path.clone()));
    let n_twice = n_items - one.items.len();
    one.items.truncate(k);
    one.total_estimate = (one.total_estimate + other.total_estimate).saturating_sub(n_twice);
    let add = |to: &mut Vec<String>, more: Vec<String>| {
        for warning in more {
            if !to.contains(&warning) {
                to.push(warning);
            }
        }
    };
    add(&mut one.warnings, other.warnings);
    add(&mut one.failures, other.failures);
    one
}

fn show(answer: &Answer, is_json: bool, is_terminal: bool) -> anyhow::Result<Outcome> {
    let outcome = match (answer.failures.is_empty(), answer.items.is_empty()) {
        (false, _) => Outcome::Failed,
        (true, true) => Outcome::Problems,
        (true, false) => Outcome::Done,
    };
    if is_json {
        print::json(&serde_json::to_value(answer)?)?;
        return Ok(outcome);
    }
    for warning in answer.warnings.iter().filter(|it| !answer.failures.contains(it)) {
        print::note(format!("note: {warning}"));
    }
    for item in &answer.items {
        let said = match &item.no_text {
            Some(why) => format!("found by its name, no text: {why}"),
            None => item.snippet.clone(),
        };
        let snippet = print::on_one_line(&said, is_terminal.then_some(SNIPPET_CHARS));
        let score = print::look(&format!("{:.2}", item.score), Look::Faint);
        let path = print::look(&item.path, Look::Strong);
        let pointer = print::look(&format!("({})", item.pointer), Look::Faint);
        print::line(format!("{score}  {path}  {pointer}\n      {snippet}"));
        for duplicate in &item.duplicates {
            print::line(format!("      the same: {duplicate}"));
        }
    }
    let filters = [answer.exts.join(", "), answer.years.join(", ")];
    let filters: Vec<&str> =
        filters.iter().map(String::as_str).filter(|some| !some.is_empty()).collect();
    if !filters.is_empty() {
        print::note(format!("filters: {}", filters.join("; ")));
    }
    print::note(match answer.items.len() {
        0 => "nothing found".to_owned(),
        n_items => format!("{n_items} of {} results", answer.total_estimate),
    });
    Ok(outcome)
}
