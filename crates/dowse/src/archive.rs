//! A backup as one file: a zip archive with the catalogue, the uploads that jobs wait for, the
//! charts, and a manifest with the size and SHA-256 of each.
//!
//! Indexes, caches and the audit are not in it: the first two are made again from the rest, and
//! the third is a record of this server, not of its data.

use std::io::{Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use fs_err::File;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The name of the catalogue in the archive.
pub(crate) const CATALOGUE: &str = "catalogue";

/// Folders that are in a backup beside the catalogue.
const UPLOADS: &str = "uploads";
const CHARTS: &str = "charts";

/// Where the folders of a backup are: uploads may be in a folder that several servers share.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The data folder.
    pub(crate) data_dir: PathBuf,
    /// Uploads and originals; nothing where the catalogue has them.
    pub(crate) uploads: Option<PathBuf>,
}

impl Places {
    fn folders(&self) -> Vec<(&'static str, PathBuf)> {
        let uploads = self.uploads.iter().map(|folder| (UPLOADS, folder.clone()));
        uploads.chain([(CHARTS, self.data_dir.join(CHARTS))]).collect()
    }
}

const MANIFEST: &str = "manifest.json";

/// The version of the layout.
const FORMAT: u32 = 1;

/// Bytes copied at once.
const COPY_BYTES: usize = 256 * 1024;

/// What a SQLite file begins with: backups of earlier versions are the bare catalogue.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    made_by: String,
    files: Vec<Entry>,
    /// What was damaged before it was copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    path: String,
    bytes: u64,
    sha256: String,
}

/// What kind of file somebody wants to restore.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BackupKind {
    /// An archive as written here.
    Archive,
    /// The catalogue alone, as earlier versions wrote it.
    Catalogue,
}

/// Tells what kind of backup a file is, and refuses what is none.
pub(crate) fn kind_of(file: &Path) -> anyhow::Result<BackupKind> {
    let mut head = Vec::new();
    File::open(file)?.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut head)?;
    if head == SQLITE_MAGIC {
        return Ok(BackupKind::Catalogue);
    }
    if head.starts_with(b"PK\x03\x04") {
        return Ok(BackupKind::Archive);
    }
    let what = if head.is_empty() { "is empty" } else { "is not a backup" };
    bail!("`{}` {what}\nhint: make one with `dowse backup FILE`", file.display())
}

/// Writes an archive from a copy of the catalogue and the folders of a data folder; `damaged` says
/// what of it is damaged.
pub(crate) fn write(
    archive: &Path,
    catalogue: &Path,
    places: &Places,
    damaged: Vec<String>,
) -> anyhow::Result<()> {
    let mut writer = ZipWriter::new(File::create(archive)?);
    let mut files = vec![add(&mut writer, CATALOGUE, &mut File::open(catalogue)?)?];
    for (name, folder) in places.folders() {
        for file in files_below(&folder)? {
            let name = format!("{name}/{}", archive_name(&folder, &file)?);
            // What the copy of the catalogue knows is held; what goes meanwhile belongs to an
            // upload that nobody was told of.
            match File::open(&file) {
                Ok(mut file) => files.push(add(&mut writer, &name, &mut file)?),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    let made_by = format!("dowse {}", env!("CARGO_PKG_VERSION"));
    let manifest = Manifest { format: FORMAT, made_by, files, damaged };
    writer.start_file(MANIFEST, options())?;
    writer.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    writer.finish()?.file().sync_all()?;
    Ok(())
}

/// Reads a whole archive and compares every file with the manifest; gives what was damaged before
/// it was copied.
pub(crate) fn verify(archive: &Path) -> anyhow::Result<Vec<String>> {
    let mut zip = open(archive)?;
    let manifest = manifest(&mut zip, archive)?;
    ensure!(
        manifest.files.iter().any(|entry| entry.path == CATALOGUE),
        "`{}` holds no catalogue",
        archive.display()
    );
    for entry in &manifest.files {
        let mut file = zip.by_name(&entry.path).with_context(|| damaged(archive, &entry.path))?;
        let read = copy(&mut file, &mut std::io::sink());
        let (bytes, sha256) = read.with_context(|| damaged(archive, &entry.path))?;
        ensure!((bytes, &sha256) == (entry.bytes, &entry.sha256), damaged(archive, &entry.path));
    }
    Ok(manifest.damaged)
}

/// Writes the catalogue of an archive to a file.
pub(crate) fn extract_catalogue(archive: &Path, to: &Path) -> anyhow::Result<()> {
    let mut zip = open(archive)?;
    let mut file = zip.by_name(CATALOGUE).with_context(|| damaged(archive, CATALOGUE))?;
    copy(&mut file, &mut File::create(to)?)?;
    Ok(())
}

/// Writes the folders of an archive to their places.
pub(crate) fn extract_folders(archive: &Path, places: &Places) -> anyhow::Result<()> {
    let mut zip = open(archive)?;
    let manifest = manifest(&mut zip, archive)?;
    for entry in manifest.files.iter().filter(|entry| entry.path != CATALOGUE) {
        let relative = Path::new(&entry.path);
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        let place = places.folders().into_iter().filter(|_| is_plain).find_map(|(name, folder)| {
            Some(
                folder
                    .join(relative.strip_prefix(name).ok().filter(|rest| rest.iter().count() > 0)?),
            )
        });
        let place = place
            .with_context(|| format!("`{}` names the file `{}`", archive.display(), entry.path))?;
        if let Some(parent) = place.parent() {
            guard::private::create_folder(parent)?;
        }
        let mut file = zip.by_name(&entry.path).with_context(|| damaged(archive, &entry.path))?;
        let mut placed = File::create(place)?;
        copy(&mut file, &mut placed)?;
        placed.file().sync_all()?;
    }
    Ok(())
}

fn open(archive: &Path) -> anyhow::Result<ZipArchive<File>> {
    ZipArchive::new(File::open(archive)?).with_context(|| {
        format!(
            "`{}` is damaged: its end is missing or cannot be read\nhint: restore another backup",
            archive.display()
        )
    })
}

fn manifest(zip: &mut ZipArchive<File>, archive: &Path) -> anyhow::Result<Manifest> {
    let mut text = String::new();
    let mut file = zip.by_name(MANIFEST).with_context(|| damaged(archive, MANIFEST))?;
    file.read_to_string(&mut text).with_context(|| damaged(archive, MANIFEST))?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| damaged(archive, MANIFEST))?;
    ensure!(
        manifest.format <= FORMAT,
        "`{}` was made by a newer version (`{}`)\nhint: restore it with that version",
        archive.display(),
        manifest.made_by
    );
    Ok(manifest)
}

fn damaged(archive: &Path, entry: &str) -> String {
    format!(
        "`{}` is damaged: `{entry}` is missing or not what was written\n\
         hint: restore another backup",
        archive.display()
    )
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true)
}

fn add(writer: &mut ZipWriter<File>, name: &str, file: &mut File) -> anyhow::Result<Entry> {
    writer.start_file(name, options())?;
    let (bytes, sha256) = copy(file, writer)?;
    Ok(Entry { path: name.to_owned(), bytes, sha256 })
}

/// Copies, counting and hashing.
fn copy(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; COPY_BYTES];
    let mut n_bytes = 0;
    loop {
        let n_read = from.read(&mut buffer)?;
        let Some(piece) = buffer.get(..n_read).filter(|piece| !piece.is_empty()) else { break };
        hash.update(piece);
        to.write_all(piece)?;
        n_bytes += n_read as u64;
    }
    let sha256 = model::hex(hash.finalize());
    Ok((n_bytes, sha256))
}

fn archive_name(folder: &Path, file: &Path) -> anyhow::Result<String> {
    let relative = file.strip_prefix(folder)?;
    let parts: Option<Vec<&str>> = relative.iter().map(|part| part.to_str()).collect();
    let parts = parts.with_context(|| format!("`{}` has an unreadable name", file.display()))?;
    Ok(parts.join("/"))
}

/// Lists the files below a folder, in order; hidden ones are locks and half-written files.
fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs_err::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            let entry = entry?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && !is_hidden {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Copies an archive to somebody who reads it as it comes.
pub(crate) fn send(archive: &Path, to: &mut impl Write) -> std::io::Result<()> {
    let mut file = File::open(archive)?;
    file.rewind()?;
    std::io::copy(&mut file, to).map(|_| ())
}

#[cfg(test)]
mod tests {
    use testkit::Folder;

    use super::*;

    fn places(folder: &Folder, data_dir: &str, uploads: &str) -> Places {
        Places { data_dir: folder.join(data_dir), uploads: Some(folder.join(uploads)) }
    }

    fn archive(folder: &Folder) -> PathBuf {
        let catalogue = folder.write("copy", "what the catalogue holds");
        folder.write("data/uploads/a.1", "an upload");
        folder.write("data/uploads/.hold", "");
        folder.write("data/charts/x/y.json", "{}");
        folder.write("data/tables/cache", "made again");
        let archive = folder.join("backup.zip");
        write(&archive, &catalogue, &places(folder, "data", "data/uploads"), vec![]).unwrap();
        archive
    }

    #[test]
    fn everything_comes_back_as_it_was() {
        let folder = Folder::new();
        let archive = archive(&folder);
        assert_eq!(kind_of(&archive).unwrap(), BackupKind::Archive);
        verify(&archive).unwrap();
        extract_catalogue(&archive, &folder.join("restored")).unwrap();
        extract_folders(&archive, &places(&folder, "again", "shared")).unwrap();
        let read = |path: &str| fs_err::read_to_string(folder.join(path)).unwrap();
        assert_eq!(read("restored"), "what the catalogue holds");
        assert_eq!(
            (read("shared/a.1").as_str(), read("again/charts/x/y.json").as_str()),
            ("an upload", "{}")
        );
        assert!(!folder.join("again/tables").exists() && !folder.join("shared/.hold").exists());
    }

    #[test]
    fn every_damage_is_noticed() {
        let folder = Folder::new();
        let whole = fs_err::read(archive(&folder)).unwrap();
        let broken = folder.join("broken.zip");
        let check = |bytes: &[u8]| {
            fs_err::write(&broken, bytes).unwrap();
            kind_of(&broken).and_then(|_| verify(&broken))
        };
        assert!(check(&whole).is_ok());
        for length in [0, 1, 10, whole.len() / 2, whole.len() - 1] {
            assert!(check(&whole[..length]).is_err(), "cut to {length}");
        }
        let at = whole.windows(9).position(|bytes| bytes == b"an upload").unwrap();
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        let error = format!("{:#}", check(&flipped).unwrap_err());
        assert!(error.contains("is damaged: `uploads/a.1`"), "{error}");
        let error = format!("{:#}", check(b"").unwrap_err());
        assert!(error.contains("is empty") && error.contains("dowse backup"), "{error}");
    }
}
