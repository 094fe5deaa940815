//! Whether a model's files are what its manifest says, without reading all of them each time.
//!
//! Every file is read and compared once. What the system said of it then (its length, number and
//! times) is remembered in this process, and beside the manifest for the next one; a file of which
//! the system says something else is read again. A disk that loses bits without a word is found by
//! [`verify`](super::verify), which remembers nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::Manifest;
use super::folder::sum_of;
use crate::platform;

/// What was right when it was read last, beside the manifest.
const CHECKED_FILE: &str = "checked.json";

/// What was found in this process, also in folders that cannot be written.
static FOUND: Mutex<Option<HashMap<PathBuf, CheckedFiles>>> = Mutex::new(None);

/// What the files looked like, and what was wrong with them then.
#[derive(Debug, Clone)]
struct CheckedFiles {
    looks: BTreeMap<String, Look>,
    problem: Option<String>,
}

/// A file as the system tells of it, and the sum that it must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    sha256: String,
    n_bytes: u64,
    /// Times and numbers, which another content cannot keep by chance.
    marks: Vec<String>,
}

/// Says what is wrong with the files of a model, where something is.
pub(super) fn problem(folder: &Path, manifest: &Manifest) -> Option<String> {
    let looks = match looks(folder, manifest) {
        Ok(looks) => looks,
        Err(problem) => return Some(problem),
    };
    // Who asks meanwhile waits: reading the same files twice at once would take longer.
    let mut found = FOUND.lock();
    let known = found.get_or_insert_default();
    if let Some(known) = known.get(folder).filter(|known| known.looks == looks) {
        return known.problem.clone();
    }
    let problem = match remembered(folder).is_some_and(|remembered| remembered == looks) {
        true => None,
        false => compared(folder, manifest),
    };
    if problem.is_none() {
        write(folder, &looks);
    }
    known.insert(folder.to_owned(), CheckedFiles { looks, problem: problem.clone() });
    problem
}

/// Remembers of files that were just compared that they are right, or that they are not.
pub(super) fn remember(folder: &Path, manifest: &Manifest, is_right: bool) {
    if let Some(known) = FOUND.lock().as_mut() {
        known.remove(folder);
    }
    match looks(folder, manifest) {
        Ok(looks) if is_right => write(folder, &looks),
        // What cannot be taken away is in a folder that nobody can write: nothing was remembered.
        Ok(_) | Err(_) => drop(fs_err::remove_file(folder.join(CHECKED_FILE))),
    }
}

/// Looks at the files; the first that is not there or has another length is what is wrong.
fn looks(folder: &Path, manifest: &Manifest) -> Result<BTreeMap<String, Look>, String> {
    let look = |(file, expected): (&String, &super::FileSum)| {
        let found =
            fs_err::metadata(folder.join(file)).map_err(|_| format!("`{file}` is not there"))?;
        if found.len() != expected.n_bytes {
            let (has, wanted) = (found.len(), expected.n_bytes);
            return Err(format!("`{file}` has {has} bytes, expected {wanted}"));
        }
        let (sha256, marks) = (expected.sha256.clone(), platform::marks(&found));
        Ok((file.clone(), Look { sha256, n_bytes: found.len(), marks }))
    };
    manifest.files.iter().map(look).collect()
}

/// Reads every file.
fn compared(folder: &Path, manifest: &Manifest) -> Option<String> {
    let wrong = |(file, expected): (&String, &super::FileSum)| match sum_of(
        &folder.join(file),
        &mut |_| {},
    ) {
        Ok(sum) if sum == *expected => None,
        Ok(_) => Some(format!("`{file}` is damaged: it does not have the sha256 of its manifest")),
        Err(error) => Some(format!("`{file}` cannot be read: {}", model::with_causes(&error))),
    };
    manifest.files.iter().find_map(wrong)
}

fn remembered(folder: &Path) -> Option<BTreeMap<String, Look>> {
    serde_json::from_slice(&fs_err::read(folder.join(CHECKED_FILE)).ok()?).ok()
}

/// Writes down what is right; in a folder that cannot be written it is found again each time.
fn write(folder: &Path, looks: &BTreeMap<String, Look>) {
    if remembered(folder).is_some_and(|remembered| remembered == *looks) {
        return;
    }
    let text = serde_json::to_vec_pretty(looks).expect("a look is plain data");
    // Another process reads the old file or the new one, and never half of one.
    let aside = folder.join(format!("{CHECKED_FILE}.{}", std::process::id()));
    let written = fs_err::write(&aside, text)
        .and_then(|()| fs_err::rename(&aside, folder.join(CHECKED_FILE)));
    if written.is_err() {
        drop(fs_err::remove_file(&aside));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FileSum, Purpose};
    use super::*;

    fn manifest(files: &[(&str, &[u8])], folder: &Path) -> Manifest {
        let sum = |(name, content): &(&str, &[u8])| {
            fs_err::write(folder.join(name), content).unwrap();
            let sum: FileSum = sum_of(&folder.join(name), &mut |_| {}).unwrap();
            ((*name).to_owned(), sum)
        };
        Manifest {
            name: "m".to_owned(),
            version: "1".to_owned(),
            purpose: Purpose::Embedder,
            source: "test".to_owned(),
            files: files.iter().map(sum).collect(),
        }
    }

    fn forget() {
        FOUND.lock().take();
    }

    /// A model with flipped bytes and the right length made vectors, and nobody said a word.
    #[test]
    fn whatever_byte_is_flipped_is_found_and_what_is_whole_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let manifest = manifest(&[("a", b"graph"), ("b", b"words")], folder);
        assert_eq!(problem(folder, &manifest), None);
        let checked = fs_err::read(folder.join(CHECKED_FILE)).unwrap();
        for (name, whole) in [("a", b"graph"), ("b", b"words")] {
            for at in 0..whole.len() {
                let mut flipped = *whole;
                flipped[at] ^= 1;
                // Another file, so that no clock is fine enough to miss it.
                fs_err::write(folder.join("new"), flipped).unwrap();
                fs_err::rename(folder.join("new"), folder.join(name)).unwrap();
                for _ in 0..2 {
                    let said = problem(folder, &manifest).unwrap_or_default();
                    assert!(said.contains(&format!("`{name}` is damaged")), "{said}");
                }
                forget();
                assert!(problem(folder, &manifest).is_some(), "by another process too");
            }
            fs_err::write(folder.join("new"), whole).unwrap();
            fs_err::rename(folder.join("new"), folder.join(name)).unwrap();
            assert_eq!(problem(folder, &manifest), None);
        }
        assert_ne!(fs_err::read(folder.join(CHECKED_FILE)).unwrap(), checked, "other files");
        // What another process wrote down is believed, as long as the files look the same.
        forget();
        let wrong = Manifest { files: BTreeMap::new(), ..manifest.clone() };
        assert_eq!(problem(folder, &wrong), None);
        remember(folder, &manifest, false);
        assert!(!folder.join(CHECKED_FILE).exists());
        remember(folder, &manifest, true);
        assert_eq!(problem(folder, &manifest), None);
    }

    #[test]
    fn a_file_that_is_short_or_gone_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let manifest = manifest(&[("a", b"graph")], folder);
        fs_err::write(folder.join("a"), b"gra").unwrap();
        assert_eq!(problem(folder, &manifest).unwrap(), "`a` has 3 bytes, expected 5");
        fs_err::remove_file(folder.join("a")).unwrap();
        assert_eq!(problem(folder, &manifest).unwrap(), "`a` is not there");
    }
}
