//! From a setting to something that answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::Deadline;
use parking_lot::Mutex;

use crate::local::{CrossEncoder, E5Embedder, OnnxEmbedder};
use crate::models::{self, CONTAINER_FILE, GRAPH_FILE};
use crate::providers::{HttpEmbedder, HttpEmbedderConfig, HttpReranker, HttpRerankerConfig};
use crate::{CachedEmbedder, Embedder, EmbedderId, Error, ModelState, Reranker, Result};

/// How long a model that could not be used is left alone before it is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Which embedder the configuration asks for.
#[derive(Debug, Clone)]
pub enum EmbedderChoice {
    /// None: search works on words.
    Off,
    /// A model in this process.
    Local {
        /// A known name, a name of the hub, or a folder.
        model: String,
        /// The folder that holds pulled models.
        models_dir: PathBuf,
    },
    /// A provider.
    Http(HttpEmbedderConfig),
}

/// Which re-ranker the configuration asks for. The builtin one is made in another room.
#[derive(Debug, Clone)]
pub enum RerankerChoice {
    /// A cross-encoder in this process.
    Local {
        /// A known name, a name of the hub, or a folder.
        model: String,
        /// The folder that holds pulled models.
        models_dir: PathBuf,
    },
    /// A provider.
    Http(HttpRerankerConfig),
}

/// Opens a local embedder by name or folder.
///
/// Fails with [`Error::ModelMissing`] when it was not pulled, and otherwise when its files cannot
/// be used.
pub fn open_local_embedder(model: &str, models_dir: &Path) -> Result<Arc<dyn Embedder>> {
    let (folder, id) = locate(model, models_dir)?;
    let container = folder.join(CONTAINER_FILE);
    if container.exists() {
        return Ok(Arc::new(E5Embedder::open(&container, id)?));
    }
    Ok(Arc::new(OnnxEmbedder::open(&folder, id)?))
}

/// Opens a re-ranker.
///
/// Fails as [`open_local_embedder`] does, or when a provider's address cannot be used.
pub fn open_reranker(choice: &RerankerChoice) -> Result<Arc<dyn Reranker>> {
    match choice {
        RerankerChoice::Local { model, models_dir } => {
            let (folder, id) = locate(model, models_dir)?;
            Ok(Arc::new(CrossEncoder::open(&folder, id)?))
        }
        RerankerChoice::Http(config) => Ok(Arc::new(HttpReranker::open(config.clone())?)),
    }
}

/// Finds the folder of a model, and the id that its vectors carry.
fn locate(model: &str, models_dir: &Path) -> Result<(PathBuf, EmbedderId)> {
    let folder = models::folder_of(models_dir, model);
    if let Ok(manifest) = models::read_manifest(&folder) {
        return Ok((folder, EmbedderId::new(manifest.name, manifest.version)));
    }
    let own = PathBuf::from(model);
    let is_model = own.join(GRAPH_FILE).exists() || own.join(CONTAINER_FILE).exists();
    if is_model {
        let name = own.file_name().unwrap_or(own.as_os_str()).to_string_lossy().into_owned();
        return Ok((own, EmbedderId::new(name, "folder")));
    }
    Err(Error::ModelMissing { model: model.to_owned(), folder: models_dir.to_owned() })
}

/// The embedder that search and indexing share: it may arrive late, go away and come back.
///
/// Asking never waits for a download. A model that is missing, still being pulled or down is tried
/// again now and then, so pulling it while the server runs is enough.
pub struct EmbedderSlot {
    choice: EmbedderChoice,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    embedder: Option<Arc<dyn Embedder>>,
    problem: Option<(Instant, ModelState)>,
}

impl EmbedderSlot {
    /// Prepares a slot; nothing is loaded yet.
    pub fn new(choice: EmbedderChoice) -> Self {
        EmbedderSlot { choice, inside: Mutex::default() }
    }

    /// Gives the embedder, loading it when that has not happened; queries are cached.
    ///
    /// When it cannot be had, gives the state to be turned into a warning.
    pub fn get(&self, deadline: &Deadline) -> std::result::Result<Arc<dyn Embedder>, ModelState> {
        let mut inside = self.inside.lock();
        if let Some(embedder) = &inside.embedder {
            return Ok(Arc::clone(embedder));
        }
        if let Some((at, state)) = &inside.problem
            && at.elapsed() < RETRY_INTERVAL
        {
            return Err(state.clone());
        }
        match self.open(deadline) {
            Ok(embedder) => {
                inside.problem = None;
                inside.embedder = Some(Arc::clone(&embedder));
                Ok(embedder)
            }
            Err(state) => {
                inside.problem = Some((Instant::now(), state.clone()));
                Err(state)
            }
        }
    }

    /// Tells the state without loading anything.
    pub fn state(&self) -> ModelState {
        let inside = self.inside.lock();
        if let Some(embedder) = &inside.embedder {
            return ModelState::Ready { model: embedder.id().name.clone() };
        }
        match (&inside.problem, &self.choice) {
            (
                Some((_, state @ (ModelState::ProviderDown { .. } | ModelState::Broken { .. }))),
                _,
            ) => state.clone(),
            (_, EmbedderChoice::Off) => ModelState::Off,
            (_, EmbedderChoice::Local { model, models_dir }) => match locate(model, models_dir) {
                Ok((_, id)) => ModelState::Ready { model: id.name },
                Err(_) => models::state(models_dir, model),
            },
            (_, EmbedderChoice::Http(config)) => ModelState::Ready { model: config.model.clone() },
        }
    }

    fn open(&self, deadline: &Deadline) -> std::result::Result<Arc<dyn Embedder>, ModelState> {
        let (name, opened) = match &self.choice {
            EmbedderChoice::Off => return Err(ModelState::Off),
            EmbedderChoice::Local { model, models_dir } => {
                let opened = open_local_embedder(model, models_dir);
                if matches!(opened, Err(Error::ModelMissing { .. })) {
                    return Err(models::state(models_dir, model));
                }
                (model, opened)
            }
            EmbedderChoice::Http(config) => {
                let opened = HttpEmbedder::open(config.clone(), deadline)
                    .map(|embedder| Arc::new(embedder) as Arc<dyn Embedder>);
                (&config.model, opened)
            }
        };
        match opened {
            Ok(embedder) => Ok(Arc::new(CachedEmbedder::new(embedder))),
            Err(error) => Err(ModelState::from_error(name, &error)),
        }
    }
}
