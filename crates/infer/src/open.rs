//! From a setting to something that answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::Deadline;
use parking_lot::Mutex;

use crate::local::{
    CrossEncoder, E5Embedder, ModernCrossEncoder, ModernEmbedder, OnnxEmbedder, ensure_read,
    is_modern,
};
use crate::models::{self, CHECKPOINT_FILE, CONTAINER_FILE, GRAPH_FILE};
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

/// Which re-ranker the configuration asks for. The builtin one is made in another crate.
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
    ensure_whole(&folder, &id)?;
    let container = folder.join(CONTAINER_FILE);
    if container.exists() {
        return Ok(Arc::new(E5Embedder::open(&container, id)?));
    }
    if is_modern(&folder) {
        return Ok(Arc::new(ModernEmbedder::open(&folder, id)?));
    }
    ensure_read(&folder)?;
    Ok(Arc::new(OnnxEmbedder::open(&folder, id)?))
}

/// Opens a re-ranker.
///
/// Fails as [`open_local_embedder`] does, with [`Error::BadModelFile`] for a folder without a
/// model, or when a provider's address cannot be used.
pub fn open_reranker(choice: &RerankerChoice) -> Result<Arc<dyn Reranker>> {
    match choice {
        RerankerChoice::Local { model, models_dir } => {
            let (folder, id) = locate(model, models_dir)?;
            ensure_whole(&folder, &id)?;
            if is_modern(&folder) {
                return Ok(Arc::new(ModernCrossEncoder::open(&folder, id)?));
            }
            ensure_read(&folder)?;
            Ok(Arc::new(CrossEncoder::open(&folder, id)?))
        }
        RerankerChoice::Http(config) => Ok(Arc::new(HttpReranker::open(config.clone())?)),
    }
}

/// Holds that the files of a model are those that were got; a folder of somebody's own has no
/// manifest to say so.
fn ensure_whole(folder: &Path, id: &EmbedderId) -> Result<()> {
    match models::problem_in(folder) {
        Ok(Some(problem)) => Err(Error::DamagedModel { model: id.name.clone(), problem }),
        Ok(None) | Err(Error::ModelMissing { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Finds the folder of a model, and the id that its vectors carry.
fn locate(model: &str, models_dir: &Path) -> Result<(PathBuf, EmbedderId)> {
    let folder = models::folder_of(models_dir, model);
    if let Ok(manifest) = models::read_manifest(&folder) {
        return Ok((folder, EmbedderId::new(manifest.name, manifest.version)));
    }
    let own = PathBuf::from(model);
    let files = [GRAPH_FILE, CONTAINER_FILE, CHECKPOINT_FILE];
    if files.iter().any(|file| own.join(file).exists()) {
        let name = own.file_name().unwrap_or(own.as_os_str()).to_string_lossy().into_owned();
        return Ok((own, EmbedderId::new(name, "folder")));
    }
    if own.is_dir() && models::known(model).is_none() {
        // Nobody can pull a folder of one's own.
        let problem = format!("it is not there, nor is `{CHECKPOINT_FILE}`");
        return Err(Error::BadModelFile { path: own.join(GRAPH_FILE), problem });
    }
    Err(Error::ModelMissing { model: model.to_owned(), folder: models_dir.to_owned() })
}

/// The embedder that search and indexing share: it may arrive late, go away and come back.
///
/// Asking never waits for a download, and for loading only as long as the deadline allows. A model that is missing, still being pulled or down is tried
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

    /// Prepares a slot that holds an embedder already.
    pub fn holding(embedder: Arc<dyn Embedder>) -> Self {
        let inside = Inside { embedder: Some(embedder), problem: None };
        EmbedderSlot { choice: EmbedderChoice::Off, inside: Mutex::new(inside) }
    }

    /// Gives the embedder, loading it when that has not happened; queries are cached.
    ///
    /// When it cannot be had, gives the state to be turned into a warning.
    pub fn get(&self, deadline: &Deadline) -> std::result::Result<Arc<dyn Embedder>, ModelState> {
        let Some(mut inside) = self.inside.try_lock_for(deadline.remaining()) else {
            return Err(self.loading());
        };
        if let Some(embedder) = &inside.embedder {
            return Ok(Arc::clone(embedder));
        }
        if let Some(damage) = self.damage() {
            return Err(damage);
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
        let Some(inside) = self.inside.try_lock() else { return self.loading() };
        if let Some(embedder) = &inside.embedder {
            return ModelState::Ready { model: embedder.id().name.clone() };
        }
        if let Some(damage) = self.damage() {
            return damage;
        }
        match (&inside.problem, &self.choice) {
            (
                Some((_, state @ (ModelState::ProviderDown { .. } | ModelState::Broken { .. }))),
                _,
            ) => state.clone(),
            (_, EmbedderChoice::Off) => ModelState::Off,
            (_, EmbedderChoice::Local { model, models_dir }) => match locate(model, models_dir) {
                Ok((_, id)) => ModelState::Ready { model: id.name },
                Err(error @ Error::BadModelFile { .. }) => ModelState::from_error(model, &error),
                Err(_) => models::state(models_dir, model),
            },
            (_, EmbedderChoice::Http(config)) => ModelState::Ready { model: config.model.clone() },
        }
    }

    /// Says that the files of a local model are not those that were got: seen before the first
    /// search needs them, and not remembered, since they may be got again at any time.
    fn damage(&self) -> Option<ModelState> {
        let EmbedderChoice::Local { model, models_dir } = &self.choice else { return None };
        let (folder, id) = locate(model, models_dir).ok()?;
        let damaged = ensure_whole(&folder, &id).err()?;
        Some(ModelState::from_error(model, &damaged))
    }

    /// Someone else is opening it right now.
    fn loading(&self) -> ModelState {
        match &self.choice {
            EmbedderChoice::Off => ModelState::Off,
            EmbedderChoice::Local { model, .. } => ModelState::Loading { model: model.clone() },
            EmbedderChoice::Http(config) => ModelState::Loading { model: config.model.clone() },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::tiny::Tiny;

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(60))
    }

    #[test]
    fn a_model_that_arrives_late_is_picked_up() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let slot = EmbedderSlot::new(EmbedderChoice::Local {
            model: late.to_string_lossy().into_owned(),
            models_dir: folder.path().join("models"),
        });
        assert!(matches!(slot.get(&soon()), Err(ModelState::Missing { .. })));
        assert!(matches!(slot.state(), ModelState::Missing { .. }));
        fs_err::create_dir_all(&late).unwrap();
        Tiny::new(1, 64, 2).write(&late.join(CONTAINER_FILE));
        assert!(slot.state().is_ready());
        // Not before the interval is over is the folder looked at again.
        assert!(slot.get(&soon()).is_err());
        slot.inside.lock().problem = None;
        assert_eq!(slot.get(&soon()).ok().unwrap().dimensions(), 64);
        assert_eq!(slot.state(), ModelState::Ready { model: "late".into() });
    }

    #[test]
    fn a_damaged_model_and_a_silent_provider_are_named() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(CONTAINER_FILE), b"E5S1 and nothing more").unwrap();
        let broken = EmbedderSlot::new(EmbedderChoice::Local {
            model: folder.path().to_string_lossy().into_owned(),
            models_dir: folder.path().to_owned(),
        });
        assert!(matches!(broken.get(&soon()), Err(ModelState::Broken { .. })));
        assert!(matches!(broken.state(), ModelState::Broken { .. }));

        let port = testkit::free_port();
        let down = EmbedderSlot::new(EmbedderChoice::Http(HttpEmbedderConfig {
            dialect: crate::providers::EmbedDialect::Tei,
            base_url: format!("http://127.0.0.1:{port}"),
            model: "bge".to_owned(),
            api_key: None,
            dimensions: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens: 512,
            timeout: Duration::from_secs(5),
        }));
        assert!(matches!(down.get(&soon()), Err(ModelState::ProviderDown { .. })));
        assert_eq!(down.state().warning().unwrap().code, "provider_down");
        assert_eq!(EmbedderSlot::new(EmbedderChoice::Off).state(), ModelState::Off);
    }

    /// A folder without a model was `not there`, and every folder that lacked a graph was told so, also
    /// where it had the weights of a model that is not read, or a broken configuration: with the advice
    /// to pull what nobody can pull.
    #[test]
    fn a_folder_of_ones_own_says_which_of_its_files_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        fs_err::create_dir_all(&own).unwrap();
        let choice = || EmbedderChoice::Local {
            model: own.to_string_lossy().into_owned(),
            models_dir: folder.path().join("models"),
        };
        let check = |file: &str, part: &str| {
            let slot = EmbedderSlot::new(choice());
            let warning = slot.get(&soon()).err().unwrap().warning().unwrap();
            let reranker = RerankerChoice::Local {
                model: own.to_string_lossy().into_owned(),
                models_dir: folder.path().join("models"),
            };
            let refused = open_reranker(&reranker).err().unwrap().to_string();
            for said in [&warning.message, &refused] {
                assert!(said.contains(&own.join(file).display().to_string()), "{said}");
                assert!(said.contains(part) && !said.contains("models pull"), "{said}");
            }
        };
        check(GRAPH_FILE, "it is not there, nor is `model.safetensors`");
        assert!(matches!(EmbedderSlot::new(choice()).state(), ModelState::Broken { .. }));
        fs_err::write(own.join(CHECKPOINT_FILE), "weights").unwrap();
        check("config.json", "it is not there, or is not JSON");
        fs_err::write(own.join("config.json"), "not JSON").unwrap();
        check("config.json", "it is not there, or is not JSON");
        fs_err::write(own.join("config.json"), r#"{"model_type": "bert"}"#).unwrap();
        check("config.json", "`model_type` is `bert`, and `model.safetensors` is read where");
    }

    /// A model with flipped bytes and the right length made vectors, and nobody said a word.
    #[test]
    fn a_model_whose_files_changed_is_refused_until_they_are_whole_again() {
        let folder = tempfile::tempdir().unwrap();
        let models_dir = folder.path().join("models");
        let pulled = models_dir.join("tiny");
        let container = pulled.join(CONTAINER_FILE);
        fs_err::create_dir_all(&pulled).unwrap();
        Tiny::new(1, 64, 2).write(&container);
        let whole = fs_err::read(&container).unwrap();
        let sum = models::FileSum {
            n_bytes: whole.len() as u64,
            sha256: model::hex(<sha2::Sha256 as sha2::Digest>::digest(&whole)),
        };
        let manifest = models::Manifest {
            name: "tiny".to_owned(),
            version: "1".to_owned(),
            purpose: models::Purpose::Embedder,
            source: "test".to_owned(),
            files: [(CONTAINER_FILE.to_owned(), sum)].into(),
        };
        let text = serde_json::to_vec(&manifest).unwrap();
        fs_err::write(pulled.join("manifest.json"), text).unwrap();
        let put = |content: &[u8]| {
            fs_err::write(folder.path().join("new"), content).unwrap();
            fs_err::rename(folder.path().join("new"), &container).unwrap();
        };
        // By the name under which it was pulled, and as a folder of somebody's own.
        for model in ["tiny", pulled.to_str().unwrap()] {
            let choice =
                EmbedderChoice::Local { model: model.to_owned(), models_dir: models_dir.clone() };
            let mut flipped = whole.clone();
            *flipped.last_mut().unwrap() ^= 1;
            put(&flipped);
            let slot = EmbedderSlot::new(choice);
            for state in [slot.state(), slot.get(&soon()).err().unwrap(), slot.state()] {
                let warning = state.warning().unwrap();
                assert_eq!(warning.code, "model_broken");
                assert!(warning.message.contains("is damaged"), "{}", warning.message);
                let mends = warning.message.contains("dowse models pull tiny");
                assert_eq!(mends, model == "tiny", "{}", warning.message);
            }
            assert!(open_local_embedder(model, &models_dir).is_err());
            put(&whole);
            assert!(slot.state().is_ready());
            assert!(slot.get(&soon()).is_ok());
        }
        fs_err::write(pulled.join("manifest.json"), "{").unwrap();
        let state = models::state(&models_dir, "tiny");
        assert!(matches!(state, ModelState::Broken { .. }), "{state:?}");
    }
}
