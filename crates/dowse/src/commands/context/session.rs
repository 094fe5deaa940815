//! What every command of the family needs: the service, whose objects they are, names and jobs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use contexts::{Endpoint, Project, Service, Table, Tool};
use ingest::{Job, JobState};
use model::{Caller, Deadline};
use serde_json::{Value, json};

use crate::print;
use crate::wiring::SharedState;

/// How long a command waits between two looks at its job.
const JOB_WAIT: Duration = Duration::from_secs(1);

/// How long one piece of work may take; large documents take a while on slow disks.
const WORK_WAIT: Duration = Duration::from_secs(3_600);

pub(super) struct Session {
    pub(super) service: Service,
    pub(super) caller: Caller,
    /// What addresses of endpoints begin with.
    pub(super) links: String,
    pub(super) shared_state: SharedState,
    /// The folder that the command was typed in, when that is not the one of this process.
    pub(super) folder: PathBuf,
    /// Whether the output goes to a terminal, which has only so much room.
    pub(super) is_terminal: bool,
    pub(super) is_json: bool,
}

impl Session {
    pub(super) fn made(&self, id: &str) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id }));
        }
        print::line(id);
        Ok(())
    }

    /// Says what became of an object that is there or was: its id to a program, a sentence to a
    /// person.
    pub(super) fn done(&self, id: &str, sentence: impl AsRef<str>) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id }));
        }
        print::note(sentence);
        Ok(())
    }

    /// Says what a job did to the chunks of a table, where one was needed.
    pub(super) fn indexed(&self, id: &str, changes: Option<Value>) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id, "index": changes }));
        }
        let Some(changes) = changes else { return Ok(()) };
        let count = |name: &str| changes[name].as_u64().unwrap_or_default() as usize;
        let kept = print::counted(count("kept"), "chunk", "chunks");
        let (added, removed) = (count("added"), count("removed"));
        print::line(format!("{kept} kept, {added} added, {removed} removed"));
        Ok(())
    }

    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after(WORK_WAIT)
    }

    /// Finds a project by id or name.
    pub(super) fn project(&self, wanted: &str) -> anyhow::Result<Project> {
        let projects = self.service.list_projects(&self.caller)?;
        only("project", wanted, projects, |project| (project.id.as_str(), &project.name))
    }

    /// Finds a table by id or name.
    pub(super) fn table(&self, wanted: &str) -> anyhow::Result<Table> {
        let mut tables = vec![];
        for project in self.service.list_projects(&self.caller)? {
            tables.extend(self.service.list_tables(&self.caller, project.id.as_str())?);
        }
        only("table", wanted, tables, |table| (table.id.as_str(), &table.name))
    }

    /// Finds a tool by id or name.
    pub(super) fn tool(&self, wanted: &str) -> anyhow::Result<Tool> {
        let mut tools = vec![];
        for project in self.service.list_projects(&self.caller)? {
            tools.extend(self.service.list_tools(&self.caller, project.id.as_str())?);
        }
        only("tool", wanted, tools, |tool| (tool.id.as_str(), &tool.name))
    }

    /// Finds an endpoint by id or name.
    pub(super) fn endpoint(&self, wanted: &str) -> anyhow::Result<Endpoint> {
        let mut endpoints = vec![];
        for project in self.service.list_projects(&self.caller)? {
            endpoints.extend(self.service.list_endpoints(&self.caller, project.id.as_str())?);
        }
        only("endpoint", wanted, endpoints, |endpoint| (endpoint.id.as_str(), &endpoint.name))
    }

    /// Waits for a job, however long it takes, and gives its result.
    pub(super) fn wait(&self, job: &Job) -> anyhow::Result<Value> {
        let queue = &self.shared_state.open_store()?.queue;
        let bar = print::Bar::new();
        loop {
            print::ensure_reader()?;
            let job = queue.wait(&job.id, &Deadline::after(JOB_WAIT))?;
            match job.state {
                JobState::Done => return Ok(job.result),
                JobState::Failed => bail!(
                    "{}",
                    job.error.unwrap_or_else(|| format!("the job `{}` failed", job.kind))
                ),
                JobState::Queued | JobState::Running => bar.show(&job.progress),
            }
        }
    }
}

/// Takes the one with this id, or the only one with this name.
fn only<T>(
    what: &str,
    wanted: &str,
    mut all: Vec<T>,
    of: impl Fn(&T) -> (&str, &str),
) -> anyhow::Result<T> {
    if let Some(found) = all.iter().position(|one| of(one).0 == wanted) {
        return Ok(all.swap_remove(found));
    }
    all.retain(|one| of(one).1 == wanted);
    match (all.pop(), all.len()) {
        (Some(found), 0) => Ok(found),
        (Some(_), n_others) => bail!(
            "{} {what}s are called `{wanted}`\nhint: use the id, `dowse context {what} list` \
             prints it",
            n_others + 1
        ),
        (None, _) => bail!(
            "no {what} has the id or name `{wanted}`\nhint: `dowse context {what} list` prints \
             those that are there"
        ),
    }
}
