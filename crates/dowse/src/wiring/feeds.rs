//! Folders that feed collections of knowledge bases: looked at when the server starts, when the
//! system says that something changed, and now and then.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ingest::FolderWatch;
use knowledge::{FolderConfig, FolderFile, KnowledgeConfig};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::SharedState;

/// How often folders are looked at although nothing was heard: the safety net, and the only way
/// for shares that send no events.
const LOOK_EVERY: Duration = Duration::from_secs(600);

/// How soon another configuration's folders are looked at.
const RELOAD_STEP: Duration = Duration::from_secs(1);

/// The folders of a configuration, with what lists their files.
#[derive(Clone, PartialEq)]
pub(crate) struct Feeds {
    pub(crate) knowledge: KnowledgeConfig,
    pub(crate) files: files::FilesConfig,
    pub(crate) base: PathBuf,
}

/// Lets collections follow the folders of the moment until `shutdown`.
pub(crate) fn follow_folders(shared_state: SharedState, shutdown: CancellationToken) {
    tokio::spawn(async move {
        let mut current: Option<Arc<Feeds>> = None;
        // Held as long as its folders are the ones of the moment.
        let mut _watch: Option<FolderWatch> = None;
        let changed = Arc::new(Notify::new());
        let mut looked_at = tokio::time::Instant::now();
        loop {
            let wanted = shared_state.feeds.load_full();
            let is_same = match (&current, &wanted) {
                (Some(one), Some(other)) => one == other,
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                current.clone_from(&wanted);
                _watch = wanted.as_deref().and_then(|feeds| watched(feeds, &changed));
                changed.notify_one();
            }
            tokio::select! {
                () = tokio::time::sleep(RELOAD_STEP) => {
                    if looked_at.elapsed() < LOOK_EVERY {
                        continue;
                    }
                }
                () = changed.notified() => {}
                () = shutdown.cancelled() => return,
            }
            looked_at = tokio::time::Instant::now();
            let Some(feeds) = current.clone() else { continue };
            let shared_state = shared_state.clone();
            let looked = tokio::task::spawn_blocking(move || look(&shared_state, &feeds)).await;
            if let Err(error) = looked {
                tracing::warn!(%error, "looking at the folders of collections failed");
            }
        }
    });
}

fn watched(feeds: &Feeds, changed: &Arc<Notify>) -> Option<FolderWatch> {
    if feeds.knowledge.folders.is_empty() {
        return None;
    }
    let told = Arc::clone(changed);
    let mut watch = match FolderWatch::start(|_| false, move |_| told.notify_one()) {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "folders of collections cannot be watched");
            return None;
        }
    };
    for folder in &feeds.knowledge.folders {
        if let Err(error) = watch.add(&feeds.base.join(&folder.path)) {
            let path = folder.path.display();
            tracing::warn!(%path, %error, "a folder of a collection cannot be watched");
        }
    }
    Some(watch)
}

fn look(shared_state: &SharedState, feeds: &Feeds) {
    let Some(service) = shared_state.knowledge.get() else { return };
    let Ok(kept) = shared_state.kept() else { return };
    for FolderConfig { path, collection } in &feeds.knowledge.folders {
        let folder = feeds.base.join(path);
        // Servers that see the same folder would each add its files.
        let looked = ingest::exclusively(
            &kept.store.catalogue(),
            &format!("folder/{collection}"),
            shared_state.lease(),
            || look_at(&service, collection, &folder, &feeds.files),
        );
        match looked {
            Ok(Some(())) => {}
            Ok(None) => tracing::debug!(folder = %folder.display(), "another server looks at it"),
            Err(error) => {
                let cause = model::with_causes(&error);
                tracing::warn!(folder = %folder.display(), cause, "a folder cannot be followed now");
            }
        }
    }
}

fn look_at(
    service: &knowledge::Service,
    collection: &str,
    folder: &Path,
    config: &files::FilesConfig,
) {
    let files = match list(folder, config) {
        Ok(files) => files,
        Err(problem) => {
            // What cannot be listed whole is not compared: nothing is removed.
            tracing::warn!(folder = %folder.display(), problem, "a folder cannot be read");
            return;
        }
    };
    match service.follow_folder(collection, &files) {
        Ok(followed) if followed.is_empty() => {}
        Ok(followed) => tracing::info!(
            folder = %folder.display(),
            added = followed.n_added,
            replaced = followed.n_replaced,
            removed = followed.n_removed,
            failed = followed.n_failed,
            "a collection followed its folder"
        ),
        Err(error) => {
            let cause = model::with_causes(&error);
            tracing::warn!(folder = %folder.display(), cause, "a collection cannot follow");
        }
    }
}

fn list(folder: &Path, config: &files::FilesConfig) -> Result<Vec<FolderFile>, String> {
    let listed = files::list_files(folder, config)?;
    Ok(listed
        .into_iter()
        .map(|file| FolderFile {
            path: file.relative,
            stamp: format!("{} {}", file.n_bytes, file.modified_millis),
            place: file.path,
        })
        .collect())
}
