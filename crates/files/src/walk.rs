//! Walks a root and gives its files to the write path, in a fixed order.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ignore::overrides::OverrideBuilder;
use ignore::{Walk, WalkBuilder};
use ingest::{Item, ItemContent, Source};
use model::{DocumentId, Warning};
use serde_json::json;

use crate::index::attribute;
use crate::time::millis;
use crate::{FilesConfig, Root};

/// The files of a root that are to be indexed.
pub(crate) struct FileSource {
    root: Root,
    walk: Walk,
    max_file_bytes: u64,
    exts: Vec<String>,
    /// Every document that is still there; what is indexed and not among these is gone.
    pub(crate) seen: BTreeSet<DocumentId>,
    /// Whether every folder could be read, so that what was not seen is really gone.
    pub(crate) is_complete: bool,
}

impl FileSource {
    /// Starts at a folder of a root: the root itself, or one below it.
    pub(crate) fn new(root: Root, folder: &Path, config: &FilesConfig) -> Self {
        let mut overrides = OverrideBuilder::new(folder);
        for pattern in &config.ignore {
            // In an override a plain pattern means "only these"; ours mean "not these".
            let _ = overrides.add(&format!("!{pattern}"));
        }
        let mut builder = WalkBuilder::new(folder);
        builder
            .hidden(!config.hidden)
            .follow_links(false)
            .require_git(false)
            .git_global(false)
            .git_exclude(false)
            .parents(false)
            .sort_by_file_path(Path::cmp);
        if let Ok(overrides) = overrides.build() {
            builder.overrides(overrides);
        }
        FileSource {
            root,
            walk: builder.build(),
            max_file_bytes: config.max_file_bytes,
            exts: config.exts.iter().map(|ext| normal_ext(ext)).collect(),
            seen: BTreeSet::new(),
            is_complete: true,
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
        let metadata = fs_err::symlink_metadata(path).map_err(unreadable)?;
        let modified = metadata.modified().map(millis).map_err(unreadable)?;
        let title = path.file_name().and_then(|name| name.to_str()).unwrap_or(name);
        let mut item = Item::new(DocumentId::new(name), title);
        self.seen.insert(item.id.clone());
        item.attributes.insert(attribute::ROOT.to_owned(), self.root.name.as_str().into());
        item.attributes.insert(attribute::EXT.to_owned(), ext.into());
        let device = metadata.dev();
        item.metadata = json!({ "modified": modified, "bytes": metadata.len(), "device": device });
        item.fingerprint = format!("{}-{modified}", metadata.len());
        Ok(Some(item))
    }
}

impl Source for FileSource {
    fn next_item(&mut self) -> Option<Result<Item, Warning>> {
        loop {
            let entry = match self.walk.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    self.is_complete = false;
                    return Some(Err(Warning::new("unreadable", error.to_string())));
                }
            };
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !is_file {
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
        let problem = |code: &str, error: &dyn std::fmt::Display| {
            Warning::new(code, format!("`{}`: {error}", path.display()))
        };
        let relative =
            path.strip_prefix(&self.root.path).map_err(|error| problem("outside_root", &error))?;
        match self.root.read_beneath(relative, self.max_file_bytes) {
            Ok(bytes) => Ok(ItemContent::bytes(bytes, item.title.clone())),
            // A file that is too large is still found by its name.
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                Ok(ItemContent::Blocks(Vec::new()))
            }
            Err(error) => Err(problem("unreadable", &error)),
        }
    }
}

/// Gives the number of the file system that a folder is on.
pub(crate) fn device_of(folder: &Path) -> Option<u64> {
    fs_err::symlink_metadata(folder).ok().map(|metadata| metadata.dev())
}

/// Gives a file's extension in lower case with its point; empty when it has none.
pub(crate) fn ext_of(path: &Path) -> String {
    path.extension().and_then(|ext| ext.to_str()).map(normal_ext).unwrap_or_default()
}

/// Writes an extension as the index has it: `.pdf`.
pub(crate) fn normal_ext(ext: &str) -> String {
    format!(".{}", ext.trim().trim_start_matches('.').to_lowercase())
}
