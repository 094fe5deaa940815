//! A job as the catalogue keeps it.

use model::{TenantId, Timestamp, Warning};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Lookup, TypedObject};

use super::crashes::Crashes;

model::object_id! {
    /// Names a job for whoever asked for it.
    JobId
}

impl JobId {
    /// Takes a UUID that no other job has.
    pub fn random() -> Self {
        JobId::new(uuid::Uuid::new_v4().to_string())
    }
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its turn.
    Queued,
    /// Is being run.
    Running,
    /// Ended well.
    Done,
    /// Ended badly, or was cancelled.
    Failed,
}

impl JobState {
    /// Tells whether the job will not change any more.
    pub fn is_final(self) -> bool {
        matches!(self, JobState::Done | JobState::Failed)
    }

    /// Gives the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
        }
    }
}

/// Which of the waiting jobs runs first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// After all others.
    Low,
    /// In the order of arrival.
    #[default]
    Normal,
    /// Before all others.
    High,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    /// What it is doing: `writing`, `embedding`.
    pub stage: String,
    /// Steps done in this stage.
    pub n_done: usize,
    /// Steps in this stage, where that is known.
    pub n_total: Option<usize>,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// How many warnings there were.
    pub n_warnings: usize,
}

/// A job that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Which runner runs it.
    pub kind: String,
    /// What it works on; a family finds its running job by this.
    pub subject: String,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// Which of the waiting jobs runs first.
    pub priority: Priority,
    /// What the runner needs to know.
    pub arguments: Value,
}

/// Work that is stored before it begins, so that a crash does not lose it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// As `GET /v1/jobs/{id}` takes it.
    pub id: JobId,
    /// Which runner runs it.
    pub kind: String,
    /// What it works on.
    pub subject: String,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// Which of the waiting jobs runs first.
    pub priority: Priority,
    /// What the runner needs to know.
    pub arguments: Value,
    /// Where it is.
    pub state: JobState,
    /// How far it is.
    pub progress: JobProgress,
    /// What the runner wrote down to go on from after a restart.
    pub checkpoint: Value,
    /// What the runner gave at the end.
    pub result: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether someone asked to stop it.
    pub is_cancelled: bool,
    /// How often it was begun and came to an end of its own. A process that ended meanwhile is no
    /// fault of the job, so it does not count.
    pub n_attempts: u32,
    /// What is known of the times when the process ended while it ran.
    #[serde(default, skip_serializing_if = "Crashes::is_none")]
    pub crashes: Crashes,
    /// The server that runs it, where several share the catalogue.
    #[serde(default)]
    pub holder: Option<String>,
    /// Counts jobs in the order they were asked for; jobs of two servers may have the same number.
    pub order: u64,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was begun last.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl Job {
    /// Notes that the process ended while the job ran. That alone never makes it fail: what it was
    /// asked to do is still missing, and whoever ends a process may do so as often as they like.
    pub(super) fn note_crash(&mut self) {
        self.n_attempts = self.n_attempts.saturating_sub(1);
        self.crashes.note();
    }
}

impl TypedObject for Job {
    type Id = JobId;

    const KIND: &'static str = "job";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn lookups(&self) -> Vec<Lookup> {
        let mut lookups = vec![Lookup::new("state", self.state.as_str())];
        if !self.state.is_final() {
            lookups.push(Lookup::new("active", format!("{}\u{0}{}", self.kind, self.subject)));
        }
        lookups
    }
}
