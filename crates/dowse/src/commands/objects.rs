//! What `dowse kb` and `dowse context` share: their flags, how they come to the data, answers that
//! are an id, and waiting for jobs.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use infer::ModelState;
use ingest::{Job, JobProgress, JobState, Progress};
use model::{Caller, Deadline, TenantId};
use serde_json::{Value, json};
use store::Access;

use crate::cli::{ConfigArgs, DataArgs};
use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, Reading, reach, reach_to_read, typed};
use crate::commands::sets::load_placed;
use crate::config::{Config, Purpose};
use crate::control::Typed;
use crate::print;
use crate::wiring::{Jobs, SharedState};

/// How long a command waits between two looks at its job.
const JOB_WAIT: Duration = Duration::from_secs(1);

/// How often it is looked how far vectors are.
const VECTOR_STEP: Duration = Duration::from_millis(200);

/// Flags of commands that work on the objects of a tenant.
#[derive(Debug, Clone, Args)]
pub(crate) struct ObjectArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The tenant that owns them
    #[arg(long, global = true, default_value = "local")]
    pub(crate) tenant: String,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Whether a command makes the first object, changes others, or only reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// A data folder is made for it where there is none.
    Makes,
    Changes,
    Reads,
}

impl Effect {
    pub(super) fn of(creates: bool, is_reading: bool) -> Self {
        match (creates, is_reading) {
            (true, _) => Effect::Makes,
            (false, true) => Effect::Reads,
            (false, false) => Effect::Changes,
        }
    }
}

/// Where a command does its work.
pub(super) enum Opened {
    /// It was done by the process that has the data open.
    Elsewhere(Outcome),
    Here(Box<(Config, Session)>),
}

impl ObjectArgs {
    /// Opens the data, or lets the process do the work that has it open.
    pub(super) fn open(&self, effect: Effect) -> anyhow::Result<Opened> {
        let purpose = if effect == Effect::Makes { Purpose::Make } else { Purpose::Look };
        let config = load_placed(&self.config, &self.data, purpose)?.config;
        config.check()?;
        let Reading { reach: reached, config } = match effect {
            Effect::Makes => Reading { reach: reach(&config)?, config },
            Effect::Changes | Effect::Reads => reach_to_read(&config, Jobs::Run)?,
        };
        let shared_state = match reached {
            Reach::Running(connection) => {
                let outcome = Outcome::of(connection.run(typed(Form::Typed)?)?);
                return Ok(Opened::Elsewhere(outcome));
            }
            Reach::Here(shared_state) => *shared_state,
        };
        if effect != Effect::Reads {
            shared_state.ensure_writable()?;
        }
        let session = Session {
            shared_state,
            caller: self.caller(),
            folder: PathBuf::new(),
            is_terminal: std::io::stdout().is_terminal(),
            is_json: self.json,
        };
        Ok(Opened::Here(Box::new((config, session))))
    }

    /// The session of a command that another process was given.
    pub(super) fn hosted(&self, host: &Host, typed: &Typed) -> Session {
        Session {
            shared_state: host.shared_state.clone(),
            caller: self.caller(),
            folder: typed.folder.clone(),
            is_terminal: typed.is_terminal,
            is_json: self.json || typed.is_json,
        }
    }

    /// Whoever can read the data folder owns what is in it.
    fn caller(&self) -> Caller {
        Caller { tenant: TenantId::new(self.tenant.as_str()), ..Caller::local_admin() }
    }
}

/// Who asks, and how they are answered.
pub(super) struct Session {
    pub(super) shared_state: SharedState,
    pub(super) caller: Caller,
    /// The folder that the command was typed in, when that is not the one of this process.
    pub(super) folder: PathBuf,
    /// Whether the output goes to a terminal, which is only so wide.
    pub(super) is_terminal: bool,
    pub(super) is_json: bool,
}

impl Session {
    /// Says which id an object got.
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

    /// Makes the vectors of what the command wrote and of what it found, in a process that ends with
    /// it: nobody else does as long as no server runs. What cannot be made is left to the next one.
    pub(super) fn finish_vectors(&self) -> anyhow::Result<()> {
        let kept = self.shared_state.open_store()?;
        kept.pay_asked();
        let vectors = &kept.vectors;
        let n_missing = vectors.debt_of_written()?.n_without;
        if n_missing == 0 || kept.store.access() == Access::Read {
            return Ok(());
        }
        let (bar, progress) = (print::Bar::new(), Progress::silent());
        let made = std::thread::scope(|scope| {
            let paying = scope.spawn(|| vectors.pay_written(&progress));
            while !paying.is_finished() {
                std::thread::park_timeout(VECTOR_STEP);
                if print::ensure_reader().is_err() {
                    progress.cancel();
                }
                let n_without = vectors.debt_of_written().map_or(n_missing, |debt| debt.n_without);
                bar.show(&JobProgress {
                    stage: ingest::Stage::Embedding.as_str().to_owned(),
                    n_done: n_missing.saturating_sub(n_without),
                    n_total: Some(n_missing),
                    ..JobProgress::default()
                });
            }
            paying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        drop(bar);
        if let Err(error) = made {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "vectors could not be made; a server or the next search tries again"
            );
        }
        // One that was never downloaded is no failure, and searches say it.
        let state = self.shared_state.embedder.state();
        if matches!(state, ModelState::ProviderDown { .. } | ModelState::Broken { .. })
            && let Some(warning) = state.warning()
        {
            print::note(format!("note: {}", warning.message));
        }
        Ok(())
    }

    /// Waits for a job, however long it takes, says how far it is, and gives its result.
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
