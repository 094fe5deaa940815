//! Folders that feed collections of knowledge bases: looked at when the server starts, when the
//! system says that something changed, and now and then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ingest::FolderWatch;
use knowledge::{FolderConfig, FolderFile, FolderListing, KnowledgeConfig};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::SharedState;

/// How often folders are looked at although nothing was heard: the safety net.
const LOOK_EVERY: Duration = Duration::from_secs(600);

/// How often they are looked at where nobody tells the changes of one: it is on a network, or the
/// system has no events or no watches left.
const LOOK_OFTEN: Duration = Duration::from_secs(15);

/// Looks that are made so often take at most one part in so many of the time.
const OFTEN_SHARE: u32 = 50;

/// How soon folders are looked at again of which not everything could be taken.
const RETRY: Duration = Duration::from_secs(15);

/// How soon another configuration's folders are looked at, and those that are away.
const RELOAD_STEP: Duration = Duration::from_secs(1);

/// The next look waits for so many times as long as the last one took, so that a folder that
/// changes all the time takes a third of it.
const PAUSE_FACTOR: u32 = 2;

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long a collection is brought up to its folder by one look; the next one goes on, and sees what
/// has changed meanwhile.
const LONGEST_STEP: Duration = Duration::from_millis(500);

/// What is said of a folder that is away.
const NOT_THERE: &str = "it does not exist, or may not be read";

/// Files that are named when they are left out.
const MAX_NAMED: usize = 5;

/// Why folders cannot be followed at the moment, by their paths.
#[derive(Clone, Default)]
pub(crate) struct FeedProblems(Arc<Mutex<BTreeMap<PathBuf, String>>>);

impl FeedProblems {
    /// Lists them.
    pub(crate) fn all(&self) -> Vec<String> {
        let problems = self.0.lock();
        problems.iter().map(|(path, problem)| format!("`{}`: {problem}", path.display())).collect()
    }

    /// Looks which folders of the moment cannot be followed at all, for a process that follows none
    /// itself; what is known already stays as it is said.
    pub(crate) fn look(shared_state: &SharedState) {
        let Some(feeds) = shared_state.feeds.load_full() else { return };
        let Some(service) = shared_state.knowledge.get() else { return };
        for config in &feeds.knowledge.folders {
            let folder = feeds.place_of(config);
            let problem = match service.ensure_can_follow(&config.collection) {
                _ if !folder.is_dir() => NOT_THERE.to_owned(),
                Ok(()) => continue,
                Err(error) => model::with_causes(&error),
            };
            shared_state.feed_problems.0.lock().entry(folder).or_insert(problem);
        }
    }

    /// Notes how a look at a folder went; tells whether that is another problem than before.
    fn set(&self, folder: &Path, problem: Option<&str>) -> bool {
        let mut problems = self.0.lock();
        let before = match problem {
            Some(problem) => problems.insert(folder.to_owned(), problem.to_owned()),
            None => problems.remove(folder),
        };
        problem.is_some() && before.as_deref() != problem
    }
}

/// The folders of a configuration, with what lists their files.
#[derive(Clone, PartialEq)]
pub(crate) struct Feeds {
    pub(crate) knowledge: KnowledgeConfig,
    pub(crate) files: files::FilesConfig,
    pub(crate) base: PathBuf,
}

impl Feeds {
    /// Gives where a folder is, from the root of the file system on: the system tells changes by
    /// such paths, also of a folder that was named from the working directory.
    fn place_of(&self, folder: &FolderConfig) -> PathBuf {
        let named = self.base.join(&folder.path);
        std::path::absolute(&named).unwrap_or(named)
    }
}

/// Lets collections follow the folders of the moment until `shutdown`.
pub(crate) fn follow_folders(shared_state: SharedState, shutdown: CancellationToken) {
    tokio::spawn(async move {
        let mut current: Option<Arc<Feeds>> = None;
        // Held as long as its folders are the ones of the moment.
        let mut watch: Option<FolderWatch> = None;
        let changed = Arc::new(Notify::new());
        let mut next_look = tokio::time::Instant::now();
        let mut places = Places::default();
        loop {
            let wanted = shared_state.feeds.load_full();
            let is_same = match (&current, &wanted) {
                (Some(one), Some(other)) => one == other,
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                current.clone_from(&wanted);
                shared_state.feed_problems.0.lock().clear();
                watch = wanted.as_deref().and_then(|feeds| started(feeds, &changed));
                places = Places::default();
                changed.notify_one();
            }
            tokio::select! {
                () = tokio::time::sleep(RELOAD_STEP) => {
                    let is_due = tokio::time::Instant::now() >= next_look;
                    if !is_due && !places.have_changed().await {
                        continue;
                    }
                }
                () = changed.notified() => {}
                () = shutdown.cancelled() => return,
            }
            next_look = tokio::time::Instant::now() + LOOK_EVERY;
            let Some(feeds) = current.clone() else { continue };
            let begun = Instant::now();
            let (shared_state, mut watched) = (shared_state.clone(), watch.take());
            let mut looked_at = std::mem::take(&mut places);
            let looked = tokio::task::spawn_blocking(move || {
                // Folders that came are watched before they are looked at.
                looked_at.is_told = watched.as_mut().is_some_and(|watch| watch_all(watch, &feeds));
                let looked = look(&shared_state, &feeds, &mut looked_at);
                (watched, looked, looked_at)
            });
            match looked.await {
                Ok((watched, looked, looked_at)) => {
                    (watch, places) = (watched, looked_at);
                    let often = LOOK_OFTEN.max(begun.elapsed() * OFTEN_SHARE);
                    let wait = match looked {
                        Looked::InPart => RETRY,
                        Looked::Begun => Duration::ZERO,
                        Looked::Whole if places.is_told => LOOK_EVERY,
                        Looked::Whole => often,
                    };
                    next_look = tokio::time::Instant::now() + wait;
                    if looked == Looked::Begun {
                        changed.notify_one();
                        continue;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "looking at the folders of collections failed");
                    current = None;
                }
            }
            // What changes meanwhile is taken in by one look.
            let pause = (begun.elapsed() * PAUSE_FACTOR).min(LONGEST_PAUSE);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = shutdown.cancelled() => return,
            }
        }
    });
}

/// Where the folders were found when they were looked at.
#[derive(Default)]
struct Places {
    /// Whether the system tells the changes of all of them.
    is_told: bool,
    /// By its path, the folder that was there; nothing when there was none. Folders on a network are
    /// not among them: asking for one could hang, and they are looked at often anyway.
    found: BTreeMap<PathBuf, Option<files::FolderIdentity>>,
}

impl Places {
    /// Tells whether one of the folders has gone or come back, or another one is in its place:
    /// somebody moved it there, or turned a link to it. Nothing is written for that, however often
    /// it is asked.
    async fn have_changed(&self) -> bool {
        if self.found.is_empty() {
            return false;
        }
        let found = self.found.clone();
        let is_other =
            |(path, before): (&PathBuf, &Option<_>)| files::folder_identity(path) != *before;
        let asked = tokio::task::spawn_blocking(move || found.iter().any(is_other));
        asked.await.unwrap_or(false)
    }

    /// Notes where a folder is now; tells whether there is one.
    fn note(&mut self, folder: &Path) -> bool {
        let identity = files::folder_identity(folder);
        let is_there = identity.is_some();
        if is_there && files::is_on_network(folder) {
            self.is_told = false;
            self.found.remove(folder);
        } else {
            self.found.insert(folder.to_owned(), identity);
        }
        is_there
    }
}

fn started(feeds: &Feeds, changed: &Arc<Notify>) -> Option<FolderWatch> {
    if feeds.knowledge.folders.is_empty() {
        return None;
    }
    let told = Arc::clone(changed);
    let files = feeds.files.clone();
    let paths = feeds.knowledge.folders.iter().map(|folder| feeds.place_of(folder));
    let folders: Vec<PathBuf> = paths.collect();
    let is_ignored =
        move |path: &Path| !folders.iter().any(|folder| files::may_concern(folder, &files, path));
    let on_change = move |_| {
        told.notify_one();
        Duration::ZERO
    };
    match FolderWatch::start(is_ignored, on_change) {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(%error, "folders of collections cannot be watched");
            None
        }
    }
}

/// Asks the system to tell the changes of the folders; tells whether it will for all of them.
fn watch_all(watch: &mut FolderWatch, feeds: &Feeds) -> bool {
    let mut is_told = true;
    for folder in &feeds.knowledge.folders {
        let root = feeds.place_of(folder);
        let n_added = if FolderWatch::is_recursive() { 1 } else { usize::MAX };
        let folders = || files::list_folders(&root, &feeds.files).take(n_added);
        is_told &= watch.add_all(folders, |folder, error| {
            let is_no_loss = !error.has_no_watches_left() && folder != root;
            let (path, error) = (folder.display(), model::with_causes(&error));
            tracing::debug!(%path, error, "a folder of a collection cannot be watched");
            is_no_loss
        });
    }
    is_told
}

/// Whether everything of the folders could be taken; the worst of them counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Looked {
    Whole,
    InPart,
    /// There is more to do, and nothing to wait for.
    Begun,
}

/// Looks at every folder, and notes where it was found.
fn look(shared_state: &SharedState, feeds: &Feeds, places: &mut Places) -> Looked {
    let Some(service) = shared_state.knowledge.get() else { return Looked::InPart };
    let Ok(kept) = shared_state.open_store() else { return Looked::InPart };
    let mut all = Looked::Whole;
    for config in &feeds.knowledge.folders {
        let (folder, collection) = (feeds.place_of(config), &config.collection);
        let problems = &shared_state.feed_problems;
        // Nobody tells when it comes back: it is looked for until then.
        if !places.note(&folder) {
            if problems.set(&folder, Some(NOT_THERE)) {
                tracing::warn!(folder = %folder.display(), "the folder of a collection cannot be reached");
            }
            continue;
        }
        // Servers that see the same folder would each add its files.
        let looked = ingest::exclusively(
            &kept.store.catalogue(),
            &format!("folder/{collection}"),
            shared_state.lease(),
            || look_at(&service, collection, &folder, &feeds.files),
        );
        match looked {
            Ok(Some((looked, problem))) => {
                if problems.set(&folder, problem.as_deref()) {
                    let problem = problem.unwrap_or_default();
                    let folder = folder.display();
                    tracing::warn!(%folder, problem, "a part of the folder of a collection is not followed");
                }
                all = all.max(looked);
            }
            Ok(None) => tracing::debug!(folder = %folder.display(), "another server looks at it"),
            Err(error) => {
                let cause = model::with_causes(&error);
                tracing::warn!(folder = %folder.display(), cause, "a folder cannot be followed now");
                all = all.max(Looked::InPart);
            }
        }
    }
    all
}

/// Brings a collection up to its folder; where that cannot be, says why.
fn look_at(
    service: &knowledge::Service,
    collection: &knowledge::CollectionId,
    folder: &Path,
    config: &files::FilesConfig,
) -> (Looked, Option<String>) {
    let (listing, left_out) = match list(folder, config) {
        Ok(listed) => listed,
        // What cannot be listed whole is not compared: nothing is removed.
        Err(problem) => return (Looked::Whole, Some(problem)),
    };
    let open = |file: &FolderFile| {
        let relative = file.place.strip_prefix(folder).map_err(std::io::Error::other)?;
        files::open_beneath(folder, relative)
    };
    match service.follow_folder(collection, &listing, &open, LONGEST_STEP) {
        Ok(followed) if followed.is_empty() => (Looked::Whole, left_out),
        Ok(followed) => {
            tracing::info!(
                folder = %folder.display(),
                added = followed.n_added,
                replaced = followed.n_replaced,
                moved = followed.n_moved,
                removed = followed.n_removed,
                closed = followed.n_closed,
                failed = followed.n_failed,
                "a collection followed its folder"
            );
            let looked = match followed.n_failed {
                _ if followed.is_cut => Looked::Begun,
                0 => Looked::Whole,
                _ => Looked::InPart,
            };
            (looked, left_out)
        }
        // Too many wait already: the rest follows when they are read.
        Err(knowledge::Error::Object(ingest::ObjectError::TooLarge { .. })) => {
            (Looked::InPart, left_out)
        }
        Err(error) => (Looked::Whole, Some(model::with_causes(&error))),
    }
}

/// Lists a folder, and says which of its files are left out.
fn list(
    folder: &Path,
    config: &files::FilesConfig,
) -> Result<(FolderListing, Option<String>), String> {
    let content = files::list_files(folder, config)?;
    let left_out = left_out(&content, config.max_file_bytes);
    let mut files = content.files;
    // What somebody has just changed does not wait for all that was there before.
    files.sort_by_key(|file| std::cmp::Reverse(file.modified_millis));
    let files = files
        .into_iter()
        .map(|file| FolderFile {
            path: file.relative,
            stamp: format!("{} {} {}", file.n_bytes, file.modified_millis, file.exact_times),
            n_bytes: file.n_bytes,
            place: file.path,
        })
        .collect();
    let volume = files::volume_of(folder);
    let (forbidden, unread) = (content.forbidden, content.unread);
    Ok((FolderListing { files, forbidden, unread, volume }, left_out))
}

/// Says which files are not followed: those that are too large, and those that cannot be read; the
/// first few by name.
fn left_out(content: &files::FolderContent, max_bytes: u64) -> Option<String> {
    let files = &content.too_large;
    let (n_files, named) = (files.len(), files.iter().take(MAX_NAMED));
    let named: Vec<String> = named.map(|file| format!("`{file}`")).collect();
    let too_large = (n_files > 0).then(|| {
        let more = if n_files > MAX_NAMED { ", …" } else { "" };
        format!(
            "{n_files} of its files are left out, since they have more than {max_bytes} bytes \
             (`[files] max_file_bytes`): {}{more}",
            named.join(", ")
        )
    });
    let problems = content.problems.iter().take(MAX_NAMED).cloned();
    let parts: Vec<String> = too_large.into_iter().chain(problems).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
