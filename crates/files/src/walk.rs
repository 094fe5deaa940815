//! Walks a root and gives its files to the write path, in a fixed order.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, Walk, WalkBuilder};
use ingest::{Counter, Item, ItemContent, OpenFile, Source};
use model::{DocumentId, ReadOutcome, Timestamp, Warning};
use serde_json::json;

use crate::index::attribute;
use crate::platform;
use crate::{FilesConfig, Root};

/// Files up to this size are read before they wait for an extractor, in bytes; the rest of them
/// only when it is their turn.
const MAX_READ_BYTES: u64 = 1 << 20;

/// Which files of a root are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All in a folder: the root itself, or one below it.
    Folder(PathBuf),
    /// Those at or below some paths.
    Paths(BTreeSet<PathBuf>),
}

/// The files of a root that are to be indexed.
pub(crate) struct FileSource {
    root: Root,
    start: PathBuf,
    builder: WalkBuilder,
    walk: Walk,
    max_file_bytes: u64,
    exts: Vec<String>,
    /// Written into fingerprints, so that a file that another root takes over is written anew.
    owner: String,
    n_seen: usize,
    is_readable: bool,
    is_counted: bool,
    /// Whether an empty folder means that a file system is not mounted.
    pub(crate) may_be_unmounted: bool,
}

impl FileSource {
    /// Starts a walk that leaves some folders out: other roots, and this program's own data.
    pub(crate) fn new(
        root: Root,
        selection: &Selection,
        config: &FilesConfig,
        left_out: Vec<PathBuf>,
        is_inside_another: bool,
    ) -> Self {
        let start = match selection {
            Selection::Folder(folder) => folder.clone(),
            Selection::Paths(_) => root.path.clone(),
        };
        let mut builder = builder_for(&start, config);
        let paths = match selection {
            Selection::Folder(_) => None,
            Selection::Paths(paths) => Some(paths.clone()),
        };
        let is_counted = paths.is_none();
        builder.filter_entry(only(paths, left_out));
        FileSource {
            owner: if is_inside_another { format!(" {}", root.name) } else { String::new() },
            root,
            start,
            walk: builder.build(),
            builder,
            max_file_bytes: config.max_file_bytes,
            exts: config.exts.iter().map(|ext| normal_ext(ext)).collect(),
            n_seen: 0,
            is_readable: true,
            is_counted,
            may_be_unmounted: false,
        }
    }

    fn item(&mut self, path: &Path) -> Result<Option<Item>, Warning> {
        let unreadable = |error: std::io::Error| {
            Warning::new("unreadable", format!("`{}`: {error}", path.display()))
        };
        let Some(name) = path.to_str() else {
            let shown = path.display();
            return Err(Warning::new("bad_name", format!("`{shown}`: the name is not Unicode")));
        };
        let ext = ext_of(path);
        if !self.exts.is_empty() && !self.exts.contains(&ext) {
            return Ok(None);
        }
        let metadata = match fs_err::symlink_metadata(path) {
            // It went while the walk was under way.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata.map_err(unreadable)?,
        };
        let modified = metadata.modified().map(Timestamp::from).map_err(unreadable)?.millis();
        let title = path.file_name().and_then(|name| name.to_str()).unwrap_or(name);
        let mut item = Item::new(DocumentId::new(name), title);
        self.n_seen += 1;
        item.attributes.insert(attribute::ROOT.to_owned(), self.root.name.as_str().into());
        item.attributes.insert(attribute::EXT.to_owned(), ext.into());
        let device = platform::device(&metadata);
        item.metadata = json!({ "modified": modified, "bytes": metadata.len(), "device": device });
        item.fingerprint = format!("{}-{modified}{}", metadata.len(), self.owner);
        Ok(Some(item))
    }
}

impl FileSource {
    /// Reads a small file; a large one goes from the disk to the extractor.
    fn read(&self, relative: &Path, name: &str) -> std::io::Result<ItemContent> {
        let file = self.root.open_beneath(relative)?;
        let n_bytes = file.metadata()?.len();
        if n_bytes > self.max_file_bytes {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        if n_bytes > MAX_READ_BYTES {
            let name = name.to_owned();
            return Ok(ItemContent::File { file: OpenFile::new(file), name });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default());
        file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
        Ok(ItemContent::bytes(bytes, name))
    }
}

impl Source for FileSource {
    fn next_item(&mut self) -> Option<Result<Item, Warning>> {
        loop {
            let entry = match self.walk.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    self.is_readable = false;
                    return Some(Err(Warning::new("unreadable", error.to_string())));
                }
            };
            if !is_file(&entry) {
                continue;
            }
            match self.item(entry.path()) {
                Ok(Some(item)) => return Some(Ok(item)),
                Ok(None) => {}
                Err(warning) => return Some(Err(warning)),
            }
        }
    }

    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning> {
        let path = PathBuf::from(item.id.as_str());
        let relative = path
            .strip_prefix(&self.root.path)
            .map_err(|error| Warning::new("outside_root", error.to_string()))?;
        match self.read(relative, &item.title) {
            Ok(content) => Ok(content),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                let message =
                    format!("it is larger than `files.max_file_bytes`, {}", self.max_file_bytes);
                let warning = Warning::new("too_large", message);
                Ok(ItemContent::Nothing(ReadOutcome::TooLarge, warning))
            }
            Err(error) => Err(Warning::new("unreadable", error.to_string())),
        }
    }

    fn counter(&self) -> Option<Counter> {
        if !self.is_counted {
            return None;
        }
        let (builder, exts) = (self.builder.clone(), self.exts.clone());
        Some(Box::new(move || {
            let entries = builder.build().flatten();
            let files = entries.filter(is_file);
            files.filter(|file| exts.is_empty() || exts.contains(&ext_of(file.path()))).count()
        }))
    }

    fn is_complete(&self) -> bool {
        let is_unmounted = self.n_seen == 0 && self.may_be_unmounted;
        self.is_readable && self.start.is_dir() && !is_unmounted
    }
}

/// Lists the folders at or below some paths whose files are indexed, each before those in it.
pub(crate) fn folders(
    root: &Root,
    paths: BTreeSet<PathBuf>,
    config: &FilesConfig,
    left_out: Vec<PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    let mut builder = builder_for(&root.path, config);
    builder.filter_entry(only(Some(paths.clone()), left_out));
    let folders = builder.build().flatten().filter(move |entry| {
        entry.file_type().is_some_and(|kind| kind.is_dir()) && is_at_or_below(&paths, entry.path())
    });
    folders.map(DirEntry::into_path)
}

/// Lets a walk come to some paths and what is below them, or everywhere, but not into folders that
/// are left out.
fn only(
    paths: Option<BTreeSet<PathBuf>>,
    left_out: Vec<PathBuf>,
) -> impl Fn(&DirEntry) -> bool + Send + Sync + 'static {
    move |entry| {
        let path = entry.path();
        let is_on_the_way = |paths: &BTreeSet<PathBuf>| {
            // Paths are in the order of their components: what is below one follows it at once.
            let next = paths.range::<Path, _>((Bound::Included(path), Bound::Unbounded)).next();
            next.is_some_and(|next| next.starts_with(path)) || is_at_or_below(paths, path)
        };
        paths.as_ref().is_none_or(is_on_the_way) && !left_out.iter().any(|folder| path == folder)
    }
}

fn is_at_or_below(paths: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|folder| paths.contains(folder))
}

/// Sets a walk up as the configuration says.
fn builder_for(start: &Path, config: &FilesConfig) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    builder
        .hidden(!config.hidden)
        .follow_links(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .sort_by_file_path(Path::cmp);
    if let Ok(overrides) = overrides(start, &config.ignore) {
        builder.overrides(overrides);
    }
    builder
}

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
}

/// Lists the files of a folder that an index would hold: not hidden, ignored or linked ones, nor
/// those that are too large.
///
/// # Errors
///
/// When the folder, or something below it, cannot be read: a list that is not whole is none.
pub fn list_files(folder: &Path, config: &FilesConfig) -> Result<Vec<ListedFile>, String> {
    let exts: Vec<String> = config.exts.iter().map(|ext| normal_ext(ext)).collect();
    let mut files = vec![];
    for entry in builder_for(folder, config).build() {
        let entry = entry.map_err(|error| error.to_string())?;
        if !is_file(&entry) || (!exts.is_empty() && !exts.contains(&ext_of(entry.path()))) {
            continue;
        }
        let metadata = entry.metadata().map_err(|error| error.to_string())?;
        let relative = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
        let Some(relative) = relative else { continue };
        if metadata.len() > config.max_file_bytes {
            continue;
        }
        let modified =
            metadata.modified().map(Timestamp::from).map_err(|error| error.to_string())?;
        files.push(ListedFile {
            relative: relative.to_owned(),
            path: entry.path().to_owned(),
            n_bytes: metadata.len(),
            modified_millis: modified.millis(),
        });
    }
    Ok(files)
}

/// Lists a folder and those below it whose files [`list_files`] would list, each before those in
/// it; what cannot be read is left out.
pub fn list_folders(folder: &Path, config: &FilesConfig) -> impl Iterator<Item = PathBuf> {
    let entries = builder_for(folder, config).build().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    folders.map(DirEntry::into_path)
}

/// Reads the patterns of `[files] ignore`.
///
/// # Errors
///
/// The pattern that is none, and why.
pub(crate) fn overrides(start: &Path, patterns: &[String]) -> Result<Override, (String, String)> {
    let mut builder = OverrideBuilder::new(start);
    for pattern in patterns {
        // In an override a plain pattern means "only these"; ours mean "not these".
        let added = builder.add(&format!("!{pattern}"));
        added.map_err(|error| (pattern.clone(), error.to_string()))?;
    }
    builder.build().map_err(|error| (patterns.join(", "), error.to_string()))
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Gives the number of the volume that a folder is on, where the system tells.
pub fn volume_of(folder: &Path) -> Option<u64> {
    platform::device(&fs_err::symlink_metadata(folder).ok()?)
}

/// Gives a file's extension in lower case with its point; empty when it has none.
pub(crate) fn ext_of(path: &Path) -> String {
    path.extension().and_then(|ext| ext.to_str()).map(normal_ext).unwrap_or_default()
}

/// Writes an extension as the index has it: `.pdf`.
pub(crate) fn normal_ext(ext: &str) -> String {
    format!(".{}", ext.trim().trim_start_matches('.').to_lowercase())
}
