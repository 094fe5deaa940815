//! Runs that read the files of folders: how far those are that go on, and what the last one did.

use std::path::Path;

use files::RootOutcomes;
use maud::{Markup, html};
use model::ReadOutcome;
use serde_json::Value;

use super::jobs::{self, short_time};
use super::time::thousands;

/// What a run takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope<'a> {
    /// Every file, wherever it lies below.
    Root,
    /// A folder in a root.
    Folder(&'a str),
    /// What the system said had changed.
    Changes,
}

/// A run over files of a root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    job: &'a Value,
    scope: Scope<'a>,
}

impl<'a> Run<'a> {
    fn is_open(&self) -> bool {
        jobs::is_open(self.job)
    }

    fn finished_at(&self) -> Option<&'a str> {
        self.job["finished_at"].as_str()
    }
}

/// Gives the runs over files of a root, in the order of the jobs.
pub(super) fn of_root<'a>(jobs: &'a [Value], root: &str, roots: &[String]) -> Vec<Run<'a>> {
    let runs = jobs.iter().filter(|job| is_run(job)).filter_map(|job| {
        let scope = scope_in(job["subject"].as_str()?, root, roots)?;
        Some(Run { job, scope })
    });
    runs.collect()
}

fn is_run(job: &Value) -> bool {
    job["kind"].as_str() == Some(files::INDEX_JOB)
}

/// Tells what a run takes in of a root; nothing where it is about another one.
fn scope_in<'a>(subject: &'a str, root: &str, roots: &[String]) -> Option<Scope<'a>> {
    let is_root = |name: &str| roots.iter().any(|root| root == name);
    if is_root(subject) {
        return (subject == root).then_some(Scope::Root);
    }
    if let Some(changed) = subject.strip_suffix(files::CHANGES)
        && is_root(changed)
    {
        return (changed == root).then_some(Scope::Changes);
    }
    // A root may lie in another one: the innermost has the folder.
    let holding = roots.iter().filter(|root| Path::new(subject).starts_with(root.as_str()));
    let owner = holding.max_by_key(|root| root.len())?;
    (owner == root).then_some(Scope::Folder(subject))
}

/// Tells whether files are still being read, or wait for it.
pub(super) fn is_reading(runs: &[Run<'_>]) -> bool {
    runs.iter().any(Run::is_open)
}

/// Says that the text of every file was read, where it was and nothing goes on; without jobs,
/// nobody knows.
pub(super) fn of_all(outcomes: &[RootOutcomes], jobs: Option<&[Value]>) -> Markup {
    let Some(jobs) = jobs else { return html! {} };
    let is_reading = jobs.iter().any(|job| is_run(job) && jobs::is_open(job));
    let n_files: usize = outcomes.iter().flat_map(|root| root.counts.values()).sum();
    let mut known = outcomes.iter().flat_map(|root| root.counts.keys());
    let is_whole = n_files > 0 && known.all(|outcome| *outcome == ReadOutcome::Indexed);
    html! {
        @if is_reading { p .note { "Files are still being read: these counts are not final." } }
        @else if is_whole { p .note { "The text of every file was read: none failed, none was skipped." } }
    }
}

/// How far the runs over a root are, and what the last one did that is over.
pub(super) fn shown(runs: &[Run<'_>]) -> Markup {
    html! {
        @for run in runs.iter().filter(|run| run.is_open()) { p .note { (how_far(run)) } }
        @match last(runs) {
            Some(run) => { p .note { (what_it_did(&run)) } },
            None if is_reading(runs) => {},
            None => { p .note { "Not indexed since the jobs were last cleared." } },
        }
    }
}

/// Gives the run that ended last.
fn last<'a>(runs: &[Run<'a>]) -> Option<Run<'a>> {
    // The newest jobs come first: of two that ended at once, the newer is taken.
    let over = runs.iter().rev().filter(|run| !run.is_open() && run.finished_at().is_some());
    over.max_by_key(|run| run.finished_at()).copied()
}

fn how_far(run: &Run<'_>) -> Markup {
    let status = jobs::status(run.job);
    let number = |name: &str| run.job["progress"][name].as_u64().map(|count| count as usize);
    let (done, total) = (number("done").unwrap_or_default(), number("total"));
    let what = if run.scope == Scope::Changes { "changes" } else { "files" };
    html! {
        span class=(format!("badge {status}")) { (status) } " Files are still being read"
        @match total {
            Some(total) => { ": " (thousands(done)) " of " (thousands(total)) " " (what) " read so far" },
            None if done > 0 => { ": " (thousands(done)) " " (what) " read so far" },
            None => {},
        }
    }
}

fn what_it_did(run: &Run<'_>) -> Markup {
    let count =
        |name: &str| thousands(run.job["result"][name].as_u64().unwrap_or_default() as usize);
    let status = jobs::status(run.job);
    html! {
        "Last run, over "
        @match run.scope {
            Scope::Root => { "all files" },
            Scope::Folder(folder) => { (folder) },
            Scope::Changes => { "changes alone" },
        }
        ", " (short_time(run.finished_at().unwrap_or_default())) ": "
        @if status == "done" {
            (count("indexed")) " added or changed, " (count("skipped")) " unchanged, " (count("removed")) " removed"
        } @else { (status) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn roots() -> Vec<String> {
        vec!["/docs".to_owned(), "/docs/inner".to_owned(), "/docs (changes)".to_owned()]
    }

    fn job(subject: &str, status: &str, more: &Value) -> Value {
        let mut job = json!({ "kind": files::INDEX_JOB, "subject": subject, "status": status });
        for (name, value) in more.as_object().unwrap() {
            job[name] = value.clone();
        }
        job
    }

    #[test]
    fn a_run_is_of_one_root() {
        let check = |subject: &str, root: &str, expected: Option<Scope<'_>>| {
            assert_eq!(scope_in(subject, root, &roots()), expected, "{subject} in {root}");
        };
        check("/docs", "/docs", Some(Scope::Root));
        check("/docs/a", "/docs", Some(Scope::Folder("/docs/a")));
        check("/docs/inner", "/docs", None);
        check("/docs/inner/a", "/docs", None);
        check("/docs/inner/a", "/docs/inner", Some(Scope::Folder("/docs/inner/a")));
        check("/docs/inner (changes)", "/docs/inner", Some(Scope::Changes));
        check("/docs/inner (changes)", "/docs", None);
        check("/docs (changes)", "/docs", None);
        check("/docs (changes)", "/docs (changes)", Some(Scope::Root));
        check("/others", "/docs", None);
    }

    /// Changes were being read, and the page said that every file was.
    #[test]
    fn what_goes_on_is_said_beside_the_last_run_of_either_kind() {
        let at = |second: u32| format!("2024-05-01T10:20:{second}.500Z");
        let result = |n: u32| json!({ "indexed": n, "skipped": 7, "removed": 1 });
        let roots = ["/docs".to_owned()];
        let mut jobs = vec![
            job(
                "/docs (changes)",
                "running",
                &json!({ "progress": { "done": 727, "total": 1500 } }),
            ),
            job("/docs", "done", &json!({ "finished_at": at(20), "result": result(3) })),
            job("/docs (changes)", "done", &json!({ "finished_at": at(30), "result": result(5) })),
        ];
        let runs = of_root(&jobs, "/docs", &roots);
        let text = shown(&runs).0;
        assert!(is_reading(&runs), "{text}");
        assert!(text.contains("727 of 1\u{202f}500 changes read so far"), "{text}");
        let last = "Last run, over changes alone, 2024-05-01 10:20:30: 5 added or changed, \
                    7 unchanged, 1 removed";
        assert!(text.contains(last), "{text}");
        let counts = BTreeMap::from([(ReadOutcome::Indexed, 2)]);
        let outcomes = [RootOutcomes { root: "/docs".to_owned(), is_completed: true, counts }];
        assert!(of_all(&outcomes, Some(&jobs)).0.contains("still being read"));
        jobs.remove(0);
        assert!(of_all(&outcomes, Some(&jobs)).0.contains("every file was read"));
        assert_eq!(of_all(&outcomes, None).0, "");
        assert!(!is_reading(&of_root(&jobs, "/docs", &roots)));
    }

    #[test]
    fn a_folder_whose_job_was_cancelled_says_so() {
        let ended = json!({ "error": "cancelled", "finished_at": "2024-05-01T10:20:30.5Z" });
        let jobs = [job("/docs", "failed", &ended)];
        let text = shown(&of_root(&jobs, "/docs", &roots())).0;
        let said = "Last run, over all files, 2024-05-01 10:20:30: cancelled";
        assert!(text.contains(said), "{text}");
    }
}
