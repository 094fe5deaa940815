//! Where the contents of uploads are: in a folder, or in pieces in the catalogue.
//!
//! A file has a name below its collection (`{collection}/{document}~{id}`). In the catalogue it is
//! readable by every server that shares it; in a folder it is readable by those that see the folder.
//! A server with a catalogue and a folder of its own has small contents in the catalogue: a new
//! file that must survive a crash costs the disk ten times as much as a row.
//! Bytes that arrive are always in a local folder first.

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err::File;
use sha2::{Digest, Sha256};
use store::{Catalogue, Change, limits};

use crate::hold::{self, UploadsHold};
use crate::intake::{Intake, ReceivedFile, is_arriving};
use crate::object_ids::CollectionId;
use crate::{Error, Result};

/// What names of uploads begin with among the files of a catalogue.
const PREFIX: &str = "upload/";

/// Bytes that are read at once.
const READ_BYTES: usize = 256 << 10;

/// Contents up to this size are small, in bytes.
const SMALL_BYTES: u64 = 64 << 10;

/// The contents of uploads. Cheap to clone.
#[derive(Clone)]
pub struct UploadFiles {
    folder: PathBuf,
    place: UploadStorage,
    /// Where small contents are, beside a folder.
    small: Option<Arc<dyn Catalogue>>,
}

#[derive(Clone)]
enum UploadStorage {
    /// In the folder, which belongs to this server.
    OwnFolder,
    /// In the folder, which other servers see as well.
    SharedFolder,
    /// In pieces; what arrives is in the folder until it is whole.
    Catalogue(Arc<dyn Catalogue>),
}

/// A content before it is stored.
pub(crate) enum Bytes {
    InMemory(Vec<u8>),
    OnDisk(ReceivedFile),
}

/// What became of a content.
pub(crate) struct Stored {
    /// SHA-256 of it, in hexadecimal.
    pub(crate) sha256: String,
    pub(crate) n_bytes: u64,
    /// What stores it, where it is not stored yet: a change of the catalogue that has small contents,
    /// which is the one with the row that names this one.
    pub(crate) with_row: Option<Change>,
}

impl Bytes {
    fn n_bytes(&self) -> std::io::Result<u64> {
        match self {
            Bytes::InMemory(bytes) => Ok(bytes.len() as u64),
            Bytes::OnDisk(file) => file.n_bytes(),
        }
    }
}

impl From<PathBuf> for UploadFiles {
    fn from(folder: PathBuf) -> Self {
        UploadFiles { folder, place: UploadStorage::OwnFolder, small: None }
    }
}

impl UploadFiles {
    /// Stores files in a folder that several servers see.
    pub fn in_shared_folder(folder: PathBuf) -> Self {
        UploadFiles { folder, place: UploadStorage::SharedFolder, small: None }
    }

    /// Stores files in a folder of this server's own, and small ones in its own catalogue.
    pub fn in_own_folder(folder: PathBuf, catalogue: Arc<dyn Catalogue>) -> Self {
        UploadFiles { folder, place: UploadStorage::OwnFolder, small: Some(catalogue) }
    }

    /// Stores files in the catalogue; `folder` is local and takes what arrives.
    pub fn in_catalogue(folder: PathBuf, catalogue: Arc<dyn Catalogue>) -> Self {
        UploadFiles { folder, place: UploadStorage::Catalogue(catalogue), small: None }
    }

    /// Tells whether other servers store files in the same place, so that a file that nobody here
    /// knows may be one that is arriving there.
    pub fn is_shared(&self) -> bool {
        !matches!(self.place, UploadStorage::OwnFolder)
    }

    /// Gives the local folder for bytes that arrive, making it where it is missing.
    pub(crate) fn arrivals(&self) -> Result<PathBuf> {
        fs_err::create_dir_all(&self.folder).map_err(Error::Upload)?;
        Ok(self.folder.clone())
    }

    /// Stores a content under a name as [`UploadFiles::put`] does, or gives the change that does so
    /// for a small one.
    pub(crate) fn put_with_row(&self, name: &str, bytes: Bytes) -> Result<Stored> {
        let is_small = bytes.n_bytes().map_err(Error::Upload)? <= SMALL_BYTES;
        if !is_small || self.catalogue().is_none() {
            let (sha256, n_bytes) = self.put(name, &bytes)?;
            return Ok(Stored { sha256, n_bytes, with_row: None });
        }
        let bytes = match bytes {
            Bytes::InMemory(bytes) => bytes,
            Bytes::OnDisk(file) => fs_err::read(file.path()).map_err(Error::Upload)?,
        };
        let mut hash = Sha256::new();
        hash.update(&bytes);
        Ok(Stored {
            sha256: hexadecimal(hash),
            n_bytes: bytes.len() as u64,
            with_row: Some(Change::PutPiece { file: in_catalogue(name), piece: 0, bytes }),
        })
    }

    /// Stores a content under a name, so that it survives the death of the process, and gives its
    /// SHA-256 and its size. Nothing of that name stays behind when this fails.
    pub(crate) fn put(&self, name: &str, bytes: &Bytes) -> Result<(String, u64)> {
        let is_small = bytes.n_bytes().map_err(Error::Upload)? <= SMALL_BYTES;
        let small = self.small.as_ref().filter(|_| is_small);
        let stored = match (&self.place, small) {
            (UploadStorage::Catalogue(catalogue), _) | (_, Some(catalogue)) => match bytes {
                Bytes::InMemory(bytes) => put_pieces(&**catalogue, name, &mut bytes.as_slice()),
                Bytes::OnDisk(file) => File::open(file.path())
                    .map_err(Error::Upload)
                    .and_then(|mut file| put_pieces(&**catalogue, name, &mut file)),
            },
            (UploadStorage::OwnFolder | UploadStorage::SharedFolder, None) => {
                self.put_file(name, bytes)
            }
        };
        if stored.is_err() {
            // What stays is swept later.
            let _ = self.remove(name);
        }
        stored
    }

    fn put_file(&self, name: &str, bytes: &Bytes) -> Result<(String, u64)> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(Error::Upload)?;
        }
        let written = match bytes {
            Bytes::InMemory(bytes) => write_durably(&path, bytes),
            Bytes::OnDisk(file) => file.move_to(&path),
        };
        written.and_then(|()| digest_of(File::open(&path)?)).map_err(Error::Upload)
    }

    /// Opens a content; nothing where there is none of that name.
    pub(crate) fn open(&self, name: &str) -> Result<Option<std::fs::File>> {
        if let Some(catalogue) = self.catalogue()
            && let Some(copy) = self.open_pieces(&**catalogue, name)?
        {
            return Ok(Some(copy));
        }
        match (&self.place, File::open(self.folder.join(name))) {
            (UploadStorage::Catalogue(_), _) => Ok(None),
            (_, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            (_, opened) => Ok(Some(opened.map_err(Error::Upload)?.into_parts().0)),
        }
    }

    /// Reads a content that is one piece of a catalogue; nothing where it is in a file, or larger.
    pub(crate) fn read_small(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(catalogue) = self.catalogue() else { return Ok(None) };
        let first = catalogue.piece(&in_catalogue(name), 0)?;
        Ok(first.filter(|bytes| bytes.len() as u64 <= SMALL_BYTES))
    }

    /// Puts the pieces of a content together in a file without a name, which goes with the last one
    /// who reads it.
    fn open_pieces(&self, catalogue: &dyn Catalogue, name: &str) -> Result<Option<std::fs::File>> {
        if catalogue.piece(&in_catalogue(name), 0)?.is_none() {
            return Ok(None);
        }
        let beside =
            fs_err::create_dir_all(&self.folder).and_then(|()| tempfile::tempfile_in(&self.folder));
        // The folder may be one that is only read.
        let mut copy = beside.or_else(|_| tempfile::tempfile()).map_err(Error::Upload)?;
        let n_pieces = copy_pieces(catalogue, name, &mut copy)?;
        copy.rewind().map_err(Error::Upload)?;
        Ok((n_pieces > 0).then_some(copy))
    }

    /// Gives the catalogue that contents may be in.
    fn catalogue(&self) -> Option<&Arc<dyn Catalogue>> {
        match &self.place {
            UploadStorage::Catalogue(catalogue) => Some(catalogue),
            UploadStorage::OwnFolder | UploadStorage::SharedFolder => self.small.as_ref(),
        }
    }

    /// Tells whether contents may be in the folder.
    fn has_folder(&self) -> bool {
        !matches!(self.place, UploadStorage::Catalogue(_))
    }

    /// Removes a content; one that is gone already is fine.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        if let Some(catalogue) = self.catalogue()
            && catalogue.piece(&in_catalogue(name), 0)?.is_some()
        {
            catalogue.erase_file(&in_catalogue(name))?;
        }
        match self.has_folder() {
            true => gone(fs_err::remove_file(self.folder.join(name))),
            false => Ok(()),
        }
    }

    /// Removes every content of a collection.
    pub(crate) fn remove_collection(&self, collection: &CollectionId) -> Result<()> {
        if let Some(catalogue) = self.catalogue() {
            for name in list_pieces(&**catalogue, &format!("{collection}/"))? {
                catalogue.erase_file(&in_catalogue(&name))?;
            }
        }
        match self.has_folder() {
            true => gone(fs_err::remove_dir_all(self.folder.join(collection.as_str()))),
            false => Ok(()),
        }
    }

    /// Lists the names of all contents.
    pub(crate) fn list(&self) -> Result<Vec<String>> {
        let mut names = match self.catalogue() {
            Some(catalogue) => list_pieces(&**catalogue, "")?,
            None => vec![],
        };
        if self.has_folder() {
            names.extend(self.list_folder()?);
        }
        Ok(names)
    }

    fn list_folder(&self) -> Result<Vec<String>> {
        let mut files = vec![];
        list_files(&self.folder, "", &mut files).map_err(Error::Upload)?;
        files.retain(|name| !hold::is_lock(name));
        Ok(files)
    }

    /// Puts contents that are in the local folder into the catalogue: an earlier version left them
    /// there, or a backup of another server had them. Gives how many there were; what arrived and
    /// was never stored is removed.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or the catalogue fails; the rest stays and is taken next time.
    pub fn take_from_folder(&self) -> Result<usize> {
        let UploadStorage::Catalogue(catalogue) = &self.place else { return Ok(0) };
        let mut n_taken = 0;
        for name in self.list_folder()? {
            let path = self.folder.join(&name);
            if !is_arriving(&name) {
                let mut file = File::open(&path).map_err(Error::Upload)?;
                put_pieces(&**catalogue, &name, &mut file)?;
                n_taken += 1;
            }
            gone(fs_err::remove_file(path))?;
        }
        Ok(n_taken)
    }

    /// Puts contents that are in pieces in a catalogue into the folder and erases the pieces: the
    /// catalogue came from servers that store them there. Gives how many there were.
    ///
    /// # Errors
    ///
    /// When a file cannot be written or the catalogue fails; it may be called again.
    pub fn take_from_catalogue(&self, catalogue: &dyn Catalogue) -> Result<usize> {
        if matches!(self.place, UploadStorage::Catalogue(_)) {
            return Ok(0);
        }
        let names = list_pieces(catalogue, "")?;
        for name in &names {
            let is_plain = Path::new(name)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if is_plain {
                let path = self.folder.join(name);
                if let Some(parent) = path.parent() {
                    fs_err::create_dir_all(parent).map_err(Error::Upload)?;
                }
                let mut file = File::create(&path).map_err(Error::Upload)?;
                copy_pieces(catalogue, name, file.file_mut())?;
                file.sync_all().map_err(Error::Upload)?;
            }
            catalogue.erase_file(&in_catalogue(name))?;
        }
        Ok(names.len())
    }

    /// Copies every content to another place and gives how many there were; what is there already is
    /// written again.
    ///
    /// # Errors
    ///
    /// When a content cannot be read or written; it may be called again.
    pub fn copy_into(&self, other: &UploadFiles) -> Result<usize> {
        let names: Vec<String> =
            self.list()?.into_iter().filter(|name| !is_arriving(name)).collect();
        for name in &names {
            let Some(mut content) = self.open(name)? else { continue };
            match &other.place {
                UploadStorage::Catalogue(catalogue) => {
                    // A longer content of the same name would keep its last pieces.
                    other.remove(name)?;
                    put_pieces(&**catalogue, name, &mut content)?;
                }
                UploadStorage::OwnFolder | UploadStorage::SharedFolder => {
                    let copy = Intake::into_folder(other.arrivals()?).file();
                    let mut file = File::create(copy.path()).map_err(Error::Upload)?;
                    std::io::copy(&mut content, &mut file).map_err(Error::Upload)?;
                    drop(file);
                    other.put_file(name, &Bytes::OnDisk(copy))?;
                }
            }
        }
        Ok(names.len())
    }

    /// Gives leave to remove contents, unless a backup holds them.
    pub(crate) fn may_remove(&self) -> Option<MayRemove> {
        match &self.place {
            // A copy of the catalogue is of one moment: what is removed later is still in it.
            UploadStorage::Catalogue(_) => Some(MayRemove { _file: None }),
            UploadStorage::OwnFolder | UploadStorage::SharedFolder => {
                hold::may_remove(&self.folder).map(|file| MayRemove { _file: Some(file) })
            }
        }
    }

    /// Lets nothing be removed for as long as the value lives, so that a backup can copy the folder
    /// after the catalogue.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn hold(&self) -> Result<Option<UploadsHold>> {
        match &self.place {
            UploadStorage::Catalogue(_) => Ok(None),
            UploadStorage::OwnFolder | UploadStorage::SharedFolder => {
                UploadsHold::take(&self.folder).map(Some)
            }
        }
    }

    /// Gives the folder whose files a backup has to copy beside the catalogue; nothing where the
    /// catalogue has them.
    pub fn folder_to_copy(&self) -> Option<&Path> {
        match &self.place {
            UploadStorage::Catalogue(_) => None,
            UploadStorage::OwnFolder | UploadStorage::SharedFolder => Some(&self.folder),
        }
    }
}

/// While this is there, contents may be removed.
pub(crate) struct MayRemove {
    _file: Option<File>,
}

fn in_catalogue(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Lists contents in a catalogue whose names begin so.
fn list_pieces(catalogue: &dyn Catalogue, prefix: &str) -> Result<Vec<String>> {
    let wanted = in_catalogue(prefix);
    let mut names = vec![];
    let mut after = wanted.clone();
    loop {
        let page = catalogue.files(Some(&after), limits::MAX_PAGE)?;
        let n_found = page.len();
        for (file, _) in page {
            if !file.starts_with(&wanted) {
                return Ok(names);
            }
            names.extend(file.strip_prefix(PREFIX).map(str::to_owned));
            after = file;
        }
        if n_found < limits::MAX_PAGE {
            return Ok(names);
        }
    }
}

fn put_pieces(
    catalogue: &dyn Catalogue,
    name: &str,
    from: &mut impl Read,
) -> Result<(String, u64)> {
    let file = in_catalogue(name);
    let (mut hash, mut n_bytes) = (Sha256::new(), 0);
    let mut buffer = Vec::new();
    for piece in 0_u32.. {
        buffer.clear();
        let n_read = from
            .by_ref()
            .take(limits::MAX_PIECE_BYTES as u64)
            .read_to_end(&mut buffer)
            .map_err(Error::Upload)?;
        // An empty content has one empty piece, so that it can be told from one that is missing.
        if n_read == 0 && piece > 0 {
            break;
        }
        catalogue.put_piece(&file, piece, &buffer)?;
        hash.update(&buffer);
        n_bytes += n_read as u64;
        if n_read < limits::MAX_PIECE_BYTES {
            break;
        }
    }
    Ok((hexadecimal(hash), n_bytes))
}

fn copy_pieces(catalogue: &dyn Catalogue, name: &str, to: &mut impl Write) -> Result<u32> {
    let file = in_catalogue(name);
    let mut n_pieces = 0;
    while let Some(bytes) = catalogue.piece(&file, n_pieces)? {
        to.write_all(&bytes).map_err(Error::Upload)?;
        n_pieces += 1;
    }
    Ok(n_pieces)
}

fn gone(removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::Upload(error)),
        _ => Ok(()),
    }
}

/// Gives the SHA-256 and the size of a file.
pub(crate) fn digest_of(mut file: File) -> std::io::Result<(String, u64)> {
    let (mut hash, mut n_bytes, mut buffer) = (Sha256::new(), 0, vec![0; READ_BYTES]);
    loop {
        let n_read = file.read(&mut buffer)?;
        if n_read == 0 {
            return Ok((hexadecimal(hash), n_bytes));
        }
        n_bytes += n_read as u64;
        hash.update(buffer.get(..n_read).unwrap_or_default());
    }
}

fn hexadecimal(hash: Sha256) -> String {
    model::hex(hash.finalize())
}

/// Lists files below a folder, by their names below it.
pub(crate) fn list_files(
    folder: &Path,
    prefix: &str,
    files: &mut Vec<String>,
) -> std::io::Result<()> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list_files(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(name);
        }
    }
    Ok(())
}

/// An upload that was accepted survives the death of the process.
fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use model::{Clock, Timestamp};
    use proptest::prelude::*;
    use store::{Config, Store};

    use super::*;

    fn places(folder: &Path) -> (Arc<dyn Catalogue>, [UploadFiles; 4]) {
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(&folder.join("s"), &Config::for_one_machine(), clock).unwrap();
        let catalogue = store.catalogue();
        let clock = Clock::fixed(Timestamp(0));
        let another = Store::open(&folder.join("t"), &Config::for_one_machine(), clock).unwrap();
        let places = [
            UploadFiles::from(folder.join("own")),
            UploadFiles::in_shared_folder(folder.join("shared")),
            UploadFiles::in_catalogue(folder.join("local"), Arc::clone(&catalogue)),
            UploadFiles::in_own_folder(folder.join("large"), another.catalogue()),
        ];
        (catalogue, places)
    }

    fn read(files: &UploadFiles, name: &str) -> Option<Vec<u8>> {
        let mut bytes = vec![];
        files.open(name).unwrap()?.read_to_end(&mut bytes).unwrap();
        Some(bytes)
    }

    #[test]
    fn every_place_gives_back_what_was_put_and_forgets_what_was_removed() {
        let folder = testkit::Folder::new();
        let (_, places) = places(folder.path());
        let sizes = [0, 1, limits::MAX_PIECE_BYTES - 1, limits::MAX_PIECE_BYTES];
        let small = SMALL_BYTES as usize;
        let sizes = sizes.into_iter().chain([limits::MAX_PIECE_BYTES + 1, small, small + 1]);
        for n_bytes in sizes {
            let bytes: Vec<u8> = (0..n_bytes).map(|idx| (idx % 251) as u8).collect();
            let put = places.each_ref().map(|files| {
                let put = files.put("c/d~1", &Bytes::InMemory(bytes.clone())).unwrap();
                assert_eq!(read(files, "c/d~1").as_ref(), Some(&bytes));
                assert_eq!(files.list().unwrap(), ["c/d~1"]);
                files.remove("c/d~1").unwrap();
                files.remove("c/d~1").unwrap();
                assert_eq!((read(files, "c/d~1"), files.list().unwrap()), (None, vec![]));
                put
            });
            assert!(put.iter().all(|one| *one == put[0] && one.1 == n_bytes as u64));
        }
    }

    #[test]
    fn files_move_between_a_folder_and_the_catalogue() {
        let folder = testkit::Folder::new();
        let (catalogue, [own, _, pieces, both]) = places(folder.path());
        pieces.put("c/d~1", &Bytes::InMemory(b"one".to_vec())).unwrap();
        assert_eq!(own.take_from_catalogue(&*catalogue).unwrap(), 1);
        assert_eq!((read(&own, "c/d~1").unwrap(), read(&pieces, "c/d~1")), (b"one".to_vec(), None));
        assert_eq!(own.take_from_catalogue(&*catalogue).unwrap(), 0);

        folder.write("local/c/d~2", "two");
        folder.write("local/incoming-3", "was never stored");
        assert_eq!(pieces.take_from_folder().unwrap(), 1);
        assert_eq!(read(&pieces, "c/d~2").unwrap(), b"two");
        assert!(!folder.join("local/incoming-3").exists());
        assert_eq!(pieces.take_from_folder().unwrap(), 0);

        for other in [&own, &pieces] {
            assert_eq!(pieces.copy_into(other).unwrap(), 1);
            assert_eq!(own.copy_into(other).unwrap(), own.list().unwrap().len());
        }
        assert_eq!(pieces.copy_into(&both).unwrap(), 2);
        assert_eq!(
            (own.list().unwrap(), pieces.list().unwrap().len(), both.list().unwrap().len()),
            (vec!["c/d~1".to_owned(), "c/d~2".to_owned()], 2, 2)
        );
        // What is small is in the catalogue, and what is large in the folder.
        both.put("c/d~3", &Bytes::InMemory(vec![7; SMALL_BYTES as usize + 1])).unwrap();
        both.put("c/d~4", &Bytes::InMemory(vec![7; SMALL_BYTES as usize])).unwrap();
        assert!(folder.join("large/c/d~3").exists() && !folder.join("large/c/d~4").exists());
        both.remove_collection(&CollectionId::new("c")).unwrap();
        assert_eq!(both.list().unwrap(), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// All places agree with a map, whatever is put and removed in whatever order.
        #[test]
        fn all_places_agree_with_a_map(
            steps in proptest::collection::vec((0..3_u8, 0..3_u8, 0..3_u8, ".{0,9}"), 1..20)
        ) {
            let folder = testkit::Folder::new();
            let (_, places) = places(folder.path());
            let mut model = std::collections::BTreeMap::new();
            for (what, collection, document, text) in steps {
                let name = format!("c{collection}/d{document}~x");
                match what {
                    0 => {
                        for files in &places {
                            files.put(&name, &Bytes::InMemory(text.clone().into_bytes())).unwrap();
                        }
                        model.insert(name, text.into_bytes());
                    }
                    1 => {
                        places.iter().for_each(|files| files.remove(&name).unwrap());
                        model.remove(&name);
                    }
                    _ => {
                        let collection = CollectionId::new(format!("c{collection}"));
                        places.iter().for_each(|files| files.remove_collection(&collection).unwrap());
                        model.retain(|name, _| !name.starts_with(&format!("{collection}/")));
                    }
                }
                for files in &places {
                    let mut names = files.list().unwrap();
                    names.sort();
                    prop_assert_eq!(&names, &model.keys().cloned().collect::<Vec<_>>());
                    for (name, bytes) in &model {
                        let found = read(files, name);
                        prop_assert_eq!(found.as_ref(), Some(bytes));
                    }
                }
            }
        }
    }
}
