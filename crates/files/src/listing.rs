//! What a folder holds, by the walk and the rules of an index: for whoever follows it in another way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::DirEntry;
use model::Timestamp;

use crate::name::text_of;
use crate::walk::{Met, builder_for, normal_ext};
use crate::{FilesConfig, platform};

/// A file of a folder that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its path below the folder, with `/` between its parts.
    pub relative: String,
    /// Its size.
    pub n_bytes: u64,
    /// When it was changed last, in milliseconds since the Unix epoch.
    pub modified_millis: i64,
    /// When it was changed last, exactly, as far as the system tells.
    pub exact_times: String,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderContent {
    /// The files that an index would hold: not hidden, ignored or linked ones, nor those that are
    /// too large.
    pub files: Vec<ListedFile>,
    /// Files that are too large, by their paths below it.
    pub too_large: Vec<String>,
    /// Files and folders inside that cannot be read for another reason, by their paths below it: of
    /// what is in them nothing is known.
    pub unread: BTreeSet<String>,
    /// Why something is not among the files that may be there.
    pub problems: Vec<String>,
    /// Folders inside that nobody lets us read, by their paths below it with `/` at the end: what
    /// is in them is not among the files.
    pub forbidden: BTreeSet<String>,
}

/// Lists the files of a folder that an index would hold.
///
/// # Errors
///
/// When the folder itself cannot be read, or goes meanwhile: a list that is not whole is none.
pub fn list_files(folder: &Path, config: &FilesConfig) -> Result<FolderContent, String> {
    let exts: Vec<String> = config.exts.iter().map(|ext| normal_ext(ext)).collect();
    // A folder that is not there is not an empty one.
    fs_err::read_dir(folder).map_err(|error| error.to_string())?;
    let identity = platform::identity(folder);
    let mut content = FolderContent::default();
    let relative_of = |path: &Path| {
        let relative = path.strip_prefix(folder).ok().filter(|inner| *inner != Path::new(""));
        relative.map(|inner| text_of(inner).into_owned())
    };
    for entry in builder_for(folder, config, |_| true).build() {
        let (path, metadata) = match Met::of(entry, &exts) {
            Met::File(path, metadata) => (path, metadata),
            Met::Forbidden(inner) => {
                let inner = relative_of(&inner).map(|inner| format!("{inner}/"));
                let nothing = || format!("`{}`: permission denied", folder.display());
                content.forbidden.insert(inner.ok_or_else(nothing)?);
                continue;
            }
            Met::Unnamed(warning) => {
                content.problems.push(warning.message);
                continue;
            }
            Met::Problem(place, warning) => {
                let place = place.and_then(|place| relative_of(&place));
                content.unread.insert(place.ok_or_else(|| warning.message.clone())?);
                content.problems.push(warning.message);
                continue;
            }
            Met::Folder(_) | Met::Nothing => continue,
        };
        let Some(relative) = relative_of(&path) else { continue };
        if metadata.len() > config.max_file_bytes {
            content.too_large.push(relative);
            continue;
        }
        let modified =
            metadata.modified().map(Timestamp::from).map_err(|error| error.to_string())?;
        content.files.push(ListedFile {
            relative,
            path,
            n_bytes: metadata.len(),
            modified_millis: modified.millis(),
            exact_times: platform::exact_times(&metadata).unwrap_or_default(),
        });
    }
    // What went with it was not deleted from it.
    match platform::identity(folder) == identity {
        true => Ok(content),
        false => Err(format!("`{}` went while it was listed", folder.display())),
    }
}

/// Lists a folder and those below it whose files [`list_files`] would list, each before those in
/// it; what cannot be read is left out.
pub fn list_folders(folder: &Path, config: &FilesConfig) -> impl Iterator<Item = PathBuf> {
    let entries = builder_for(folder, config, |_| true).build().flatten();
    // The folder itself may be named by a link.
    let is_folder = |entry: &DirEntry| match entry.depth() {
        0 => entry.path().is_dir(),
        _ => entry.file_type().is_some_and(|kind| kind.is_dir()),
    };
    entries.filter(is_folder).map(DirEntry::into_path)
}

/// Gives the number of the volume that a folder is on, where the system tells.
pub fn volume_of(folder: &Path) -> Option<u64> {
    platform::device(&fs_err::metadata(folder).ok()?)
}
