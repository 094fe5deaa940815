//! Walks a root and gives its files to the write path, in a fixed order.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{ErrorKind, Read as _};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Walk, WalkBuilder};
use ingest::{Counter, Item, ItemContent, OpenFile, Source};
use model::{DocumentId, ReadOutcome, Timestamp, Warning};
use serde_json::json;

use crate::index::attribute;
use crate::name::{path_of, text_of};
use crate::own::{is_data_folder, is_own_in};
use crate::platform;
use crate::recent::Recent;
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
    /// Of those below some folders, what changed since a moment, and what is gone.
    Recent(BTreeSet<PathBuf>, Timestamp),
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
    /// Paths that are said to have changed.
    named: BTreeSet<PathBuf>,
    /// Folders that nobody lets us read, each of which was given as an item.
    forbidden: BTreeSet<PathBuf>,
    /// What cannot be read for another reason: of what it holds nothing is known.
    unread: BTreeSet<PathBuf>,
    /// What is to be compared, where that is not everything.
    recent: Option<Recent>,
    n_seen: usize,
    is_readable: bool,
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
            Selection::Paths(_) | Selection::Recent(..) => root.path.clone(),
        };
        let (paths, named) = match selection {
            Selection::Folder(folder) if *folder == root.path => (None, BTreeSet::new()),
            // A folder inside is come to from the root, whose rules hold for it as well.
            Selection::Folder(folder) => (Some([folder.clone()].into()), BTreeSet::new()),
            Selection::Paths(paths) | Selection::Recent(paths, _) => {
                (Some(paths.clone()), paths.clone())
            }
        };
        let recent = match selection {
            Selection::Recent(_, since) => Some(Recent::since(*since)),
            Selection::Folder(_) | Selection::Paths(_) => None,
        };
        let builder = builder_for(&root.path, config, only(paths, left_out));
        FileSource {
            owner: if is_inside_another { format!(" {}", root.name) } else { String::new() },
            root,
            start,
            walk: builder.build(),
            builder,
            max_file_bytes: config.max_file_bytes,
            exts: config.exts.iter().map(|ext| normal_ext(ext)).collect(),
            named,
            forbidden: BTreeSet::new(),
            unread: BTreeSet::new(),
            recent,
            n_seen: 0,
            is_readable: true,
            may_be_unmounted: false,
        }
    }

    /// Gives the folder that nobody lets us read, in place of what may be in it: what it held is
    /// gone from the index, and the folder itself says why. Nothing when it was given already, or
    /// when this walk was not asked about it.
    fn forbidden_folder(&mut self, path: &Path) -> Result<Option<Item>, Warning> {
        for folder in path.ancestors().take_while(|folder| *folder != self.root.path) {
            let Ok(metadata) = fs_err::symlink_metadata(folder) else { continue };
            if !folder.starts_with(&self.start) {
                // The folder that was asked about is behind one that nobody may look into.
                self.is_readable = false;
                return Err(Warning::new(
                    "unreadable",
                    format!("`{}`: permission denied", folder.display()),
                ));
            }
            let is_asked_for = self.named.is_empty() || is_at_or_below(&self.named, folder);
            if !is_asked_for || !self.forbidden.insert(folder.to_owned()) {
                return Ok(None);
            }
            let mut item = self.item_of(folder, &metadata)?;
            item.metadata["folder"] = json!(true);
            item.metadata["bytes"] = json!(null);
            return Ok(Some(item));
        }
        // The root itself: who may use it has not changed, only we cannot look into it.
        self.is_readable = false;
        let message = format!("`{}`: permission denied", self.root.path.display());
        Err(Warning::new("unreadable", message))
    }

    fn item_of(&mut self, path: &Path, metadata: &Metadata) -> Result<Item, Warning> {
        let modified = metadata.modified().map(Timestamp::from);
        let modified = modified.map_err(|error| unreadable(path, &error))?.millis();
        let name = text_of(path);
        let title = path.file_name().map_or_else(|| name.clone(), |name| text_of(Path::new(name)));
        let mut item = Item::new(DocumentId::new(name), title);
        self.n_seen += 1;
        if let Some(recent) = &mut self.recent {
            recent.meet_file(path, metadata);
        }
        item.attributes.insert(attribute::ROOT.to_owned(), self.root.name.as_str().into());
        item.attributes.insert(attribute::EXT.to_owned(), ext_of(path).into());
        let device = platform::device(metadata);
        item.metadata = json!({ "modified": modified, "bytes": metadata.len(), "device": device });
        // A file that is too large is looked at again when the limit is another one, and one that
        // was not is too large now without any change of its own.
        let is_over = metadata.len() > self.max_file_bytes;
        let over = if is_over { format!(" over {}", self.max_file_bytes) } else { String::new() };
        let coarse = format!("{}-{modified}{}{over}", metadata.len(), self.owner);
        item.fingerprint = match platform::exact_times(metadata) {
            Some(times) => format!("{coarse} {times}"),
            None => coarse.clone(),
        };
        // An index of an earlier version is not read anew; what the system says has changed is.
        item.earlier_fingerprint = (!self.named.contains(path)).then_some(coarse);
        Ok(item)
    }
}

impl FileSource {
    /// Reads a small file; a large one goes from the disk to the extractor.
    fn read(&self, relative: &Path, name: &str) -> std::io::Result<ItemContent> {
        let file = self.root.open_beneath(relative)?;
        let n_bytes = file.metadata()?.len();
        if n_bytes > self.max_file_bytes {
            return Err(ErrorKind::FileTooLarge.into());
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
            let item = match Met::of(self.walk.next()?, &self.exts) {
                Met::File(path, metadata) => self.item_of(&path, &metadata).map(Some),
                Met::Forbidden(folder) => self.forbidden_folder(&folder),
                Met::Unnamed(warning) => Err(warning),
                Met::Problem(place, warning) => {
                    match place.filter(|place| *place != self.root.path) {
                        Some(place) => drop(self.unread.insert(place)),
                        None => self.is_readable = false,
                    }
                    Err(warning)
                }
                Met::Folder(entry) => {
                    if let Some(recent) = &mut self.recent {
                        recent.meet_folder(&entry);
                    }
                    Ok(None)
                }
                Met::Nothing => Ok(None),
            };
            if let Some(item) = item.transpose() {
                return Some(item);
            }
        }
    }

    fn is_wanted(&self) -> bool {
        self.recent.as_ref().is_none_or(Recent::is_wanted)
    }

    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning> {
        let path = path_of(item.id.as_str());
        let relative = path
            .strip_prefix(&self.root.path)
            .map_err(|error| Warning::new("outside_root", error.to_string()))?;
        if self.forbidden.contains(&path) {
            let message = "the folder may not be read: permission denied";
            let warning = Warning::new("unreadable", message);
            return Ok(ItemContent::Nothing(ReadOutcome::Unreadable, warning));
        }
        match self.read(relative, &item.title) {
            Ok(content) => Ok(content),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                let message =
                    format!("it is larger than `files.max_file_bytes`, {}", self.max_file_bytes);
                let warning = Warning::new("too_large", message);
                Ok(ItemContent::Nothing(ReadOutcome::TooLarge, warning))
            }
            // Who may read it is known with its times: it is tried again when that changes, and
            // what it said before is not given away meanwhile.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let warning = Warning::new("unreadable", error.to_string());
                Ok(ItemContent::Nothing(ReadOutcome::Unreadable, warning))
            }
            Err(error) => Err(Warning::new("unreadable", error.to_string())),
        }
    }

    fn counter(&self) -> Option<Counter> {
        let (builder, exts, named) = (self.builder.clone(), self.exts.clone(), self.named.clone());
        Some(Box::new(move || {
            let is_wanted = |path: &Path| exts.is_empty() || exts.contains(&ext_of(path));
            // Single files are not looked for in folders that may be large.
            if !named.is_empty() && !named.iter().any(|path| path.is_dir()) {
                return named.iter().filter(|path| path.is_file() && is_wanted(path)).count();
            }
            let entries = builder.build().flatten();
            entries.filter(|entry| is_file(entry) && is_wanted(entry.path())).count()
        }))
    }

    fn is_complete(&self) -> bool {
        let is_unmounted = self.n_seen == 0 && self.may_be_unmounted;
        self.is_readable && self.start.is_dir() && !is_unmounted
    }

    fn unread(&self) -> Vec<String> {
        self.unread.iter().map(|path| text_of(path).into_owned()).collect()
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Warning {
    Warning::new("unreadable", format!("`{}`: {error}", path.display()))
}

/// What a walk comes to.
pub(crate) enum Met {
    /// A file of a wanted kind.
    File(PathBuf, Metadata),
    Folder(DirEntry),
    /// A folder that nobody lets us read.
    Forbidden(PathBuf),
    /// A file that cannot be told from another one by its name as text.
    Unnamed(Warning),
    /// Something that cannot be read for another reason: what it holds is not known. Where it is
    /// not said, that may be anything.
    Problem(Option<PathBuf>, Warning),
    /// A link, a file of another kind, or one that went while the walk was under way.
    Nothing,
}

impl Met {
    pub(crate) fn of(entry: Result<DirEntry, ignore::Error>, exts: &[String]) -> Self {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                return match refused(&error) {
                    Some((_, ErrorKind::NotFound)) => Met::Nothing,
                    Some((path, ErrorKind::PermissionDenied)) => Met::Forbidden(path.to_owned()),
                    place => {
                        let place = place.map(|(path, _)| path.to_owned());
                        Met::Problem(place, Warning::new("unreadable", error.to_string()))
                    }
                };
            }
        };
        if !is_file(&entry) {
            return Met::Folder(entry);
        }
        let path = entry.path();
        let name = text_of(path);
        if path.to_str().is_none() && fs_err::symlink_metadata(&*name).is_ok() {
            // Two files cannot have one id, and the other one is really called so.
            let message = format!("`{name}`: the name is not Unicode, and another file has it");
            return Met::Unnamed(Warning::new("bad_name", message));
        }
        if !exts.is_empty() && !exts.contains(&ext_of(path)) {
            return Met::Nothing;
        }
        match fs_err::symlink_metadata(path) {
            Ok(metadata) => Met::File(path.to_owned(), metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => Met::Nothing,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Met::Forbidden(path.parent().unwrap_or(path).to_owned())
            }
            Err(error) => Met::Problem(Some(path.to_owned()), unreadable(path, &error)),
        }
    }
}

/// Gives the path that a walk was refused, and how.
fn refused(error: &ignore::Error) -> Option<(&Path, ErrorKind)> {
    if let ignore::Error::WithDepth { err, .. } = error {
        return refused(err);
    }
    let ignore::Error::WithPath { path, err } = error else { return None };
    Some((path, err.io_error()?.kind()))
}

/// Lists the folders at or below some paths whose files are indexed, each before those in it.
pub(crate) fn folders(
    root: &Root,
    paths: BTreeSet<PathBuf>,
    config: &FilesConfig,
    left_out: Vec<PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    let only = only(Some(paths.clone()), left_out);
    let builder = builder_for(&root.path, config, only);
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
        paths.as_ref().is_none_or(is_on_the_way)
            && !left_out.iter().any(|folder| path.starts_with(folder))
    }
}

fn is_at_or_below(paths: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|folder| paths.contains(folder))
}

/// Sets a walk of a root up as the configuration says. The walk enters only what passes.
pub(crate) fn builder_for(
    root: &Path,
    config: &FilesConfig,
    passes: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!config.hidden)
        .follow_links(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .sort_by_file_path(Path::cmp);
    // A wrong pattern was refused with the configuration.
    let patterns = ignore_patterns(root, &config.ignore).unwrap_or_else(|_| Gitignore::empty());
    let shows_hidden = config.hidden;
    builder.filter_entry(move |entry| {
        // The walk takes a line such as `!*/` for a wish to see hidden names, `.git` among them.
        if !shows_hidden && is_hidden(entry.file_name()) {
            return false;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_own =
            is_folder && is_data_folder(entry.path()) || is_own_in(entry.path(), is_data_folder);
        !patterns.matched(entry.path(), is_folder).is_ignore() && passes(entry) && !is_own
    });
    builder
}

/// Tells whether a name is one that is hidden: it begins with a point.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Reads the patterns of `[files] ignore`: the lines of a `.gitignore` in the root, one for each,
/// and `{a,b}` for alternatives.
///
/// # Errors
///
/// The pattern that is none, and why.
pub(crate) fn ignore_patterns(
    root: &Path,
    patterns: &[String],
) -> Result<Gitignore, (String, String)> {
    let mut builder = GitignoreBuilder::new(root);
    // A bracket that is not closed is a mistake, not a file's name.
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        if pattern.trim().is_empty() {
            return Err((pattern.clone(), "it is blank, and leaves nothing out".to_owned()));
        }
        let added = builder.add_line(None, pattern);
        added.map_err(|error| (pattern.clone(), error.to_string()))?;
    }
    builder.build().map_err(|error| (patterns.join(", "), error.to_string()))
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Gives a file's extension in lower case with its point; empty when it has none.
pub(crate) fn ext_of(path: &Path) -> String {
    path.extension().and_then(|ext| ext.to_str()).map(normal_ext).unwrap_or_default()
}

/// Writes an extension as the index has it: `.pdf`.
pub(crate) fn normal_ext(ext: &str) -> String {
    format!(".{}", ext.trim().trim_start_matches(['*', '.']).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_gitignore() {
        let check = |patterns: &[&str], path: &str, is_left_out: bool| {
            let owned: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
            let read = ignore_patterns(Path::new("/root"), &owned).unwrap();
            let (path, is_folder) = (path.trim_end_matches('/'), path.ends_with('/'));
            let found = read.matched(Path::new("/root").join(path), is_folder).is_ignore();
            assert_eq!(found, is_left_out, "{patterns:?} {path}");
        };
        check(&["*.tmp"], "a/b.tmp", true);
        check(&["*.tmp", "!keep.tmp"], "keep.tmp", false);
        check(&["*.tmp", "!keep.tmp"], "a/other.tmp", true);
        check(&["!keep.tmp"], "other.txt", false);
        check(&["/build"], "build/", true);
        check(&["/build"], "a/build/", false);
        check(&["logs/"], "logs/", true);
        check(&["logs/"], "logs", false);
        check(&["{a,b}.txt"], "a.txt", true);
        check(&[r"\{a"], "{a", true);
        check(&["[{]x"], "{x", true);
        check(&["**/old/*"], "a/old/b.txt", true);
        check(&["# a remark"], "# a remark", false);
        for wrong in ["", "  ", "a[", "a{b"] {
            assert!(ignore_patterns(Path::new("/root"), &[wrong.to_owned()]).is_err(), "{wrong:?}");
        }
    }
}
