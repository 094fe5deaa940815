//! Why the index has no text of a file that is there: what became of it when it was read, or why
//! nobody reads it.

use std::collections::BTreeSet;
use std::path::Path;

use ingest::Source as _;
use model::{DocumentId, ReadOutcome, Timestamp};
use store::DocumentInfo;

use crate::name::text_of;
use crate::outcomes::outcome_of;
use crate::own::is_data_folder;
use crate::walk::{FileSource, Selection, ext_of};
use crate::{FilesConfig, Indexer, Result, Root};

/// Why there is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithoutText {
    /// It was read, and that came to this.
    Read {
        /// What became of it.
        outcome: ReadOutcome,
        /// Why it has no text.
        reason: String,
        /// Whether it is now as it was then.
        state: FileState,
    },
    /// It, or a folder that it is in, is hidden.
    Hidden,
    /// An ignore rule leaves it out.
    Ignored,
    /// Files of its extension are not indexed.
    OtherExtension(String),
    /// It is in the data folder of a Dowse.
    InDataFolder,
    /// It came after its folder was indexed.
    NotYet,
}

/// Whether a file is as it was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Size and time are the same.
    Same,
    /// It was written since.
    Changed,
}

impl WithoutText {
    /// Says it in a sentence.
    pub fn message(&self) -> String {
        match self {
            WithoutText::Read { outcome, reason, state } => {
                let then = match state {
                    FileState::Same => "searches find it by its name alone",
                    FileState::Changed => "it has changed since, and is not indexed anew yet",
                };
                format!("no text of this file is in the index: {outcome} ({reason}); {then}")
            }
            WithoutText::Hidden => "this file is not indexed: it is hidden, or in a hidden folder; \
                                    `[files] hidden = true` takes such files in"
                .to_owned(),
            WithoutText::Ignored => "this file is not indexed: an ignore rule leaves it out, of a \
                                     `.gitignore` or `.ignore` in its folders or of `[files] ignore`"
                .to_owned(),
            WithoutText::OtherExtension(ext) if ext.is_empty() => {
                "this file is not indexed: it has no extension, and `[files] exts` names which are"
                    .to_owned()
            }
            WithoutText::OtherExtension(ext) => {
                format!("this file is not indexed: `{ext}` is not among `[files] exts`")
            }
            WithoutText::InDataFolder => {
                "this file is not indexed: it is in a data folder of Dowse".to_owned()
            }
            WithoutText::NotYet => "this file is not indexed yet".to_owned(),
        }
    }

    /// Tells whether it is known as a file that may not be read.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self, WithoutText::Read { outcome: ReadOutcome::Unreadable, .. })
    }

    /// Tells whether indexing its folder changes that.
    pub fn is_passing(&self) -> bool {
        matches!(self, WithoutText::NotYet | WithoutText::Read { state: FileState::Changed, .. })
    }
}

impl Indexer {
    /// Tells why the index has no text of a file of a root.
    pub(crate) fn why_without_text(&self, root: &Root, path: &Path) -> Result<WithoutText> {
        let id = DocumentId::new(text_of(path));
        let known = self.config().store.documents_by_id(self.namespace(), &[id])?;
        if let Some(document) = known.into_iter().flatten().next() {
            return Ok(read(&document, path));
        }
        let files = &self.config().files;
        if self.is_walked(root, path, files) {
            return Ok(WithoutText::NotYet);
        }
        let below_root = |folder: &&Path| folder.starts_with(&root.path) && *folder != root.path;
        let is_data = |folder: &Path| {
            is_data_folder(folder) || self.config().data_dir.as_deref() == Some(folder)
        };
        if self.is_own_data(path) || path.ancestors().skip(1).take_while(below_root).any(is_data) {
            return Ok(WithoutText::InDataFolder);
        }
        // The walk itself says which rule it is: the one without which it comes to the file.
        if !files.hidden
            && self.is_walked(root, path, &FilesConfig { hidden: true, ..files.clone() })
        {
            return Ok(WithoutText::Hidden);
        }
        if self.is_walked(root, path, &FilesConfig { exts: vec![], ..files.clone() }) {
            return Ok(WithoutText::OtherExtension(ext_of(path)));
        }
        Ok(WithoutText::Ignored)
    }

    /// Tells whether a walk of the root comes to a file.
    fn is_walked(&self, root: &Root, path: &Path, files: &FilesConfig) -> bool {
        let selection = Selection::Paths(BTreeSet::from([path.to_owned()]));
        let left_out = self.left_out(root);
        let mut source = FileSource::new(root.clone(), &selection, files, left_out, false);
        std::iter::from_fn(|| source.next_item()).any(|item| item.is_ok())
    }
}

/// Says what became of a file that was read.
fn read(document: &DocumentInfo, path: &Path) -> WithoutText {
    // Text that was read and left no passage is none.
    let outcome = Some(outcome_of(document)).filter(|outcome| !outcome.has_text());
    let outcome = outcome.unwrap_or(ReadOutcome::NoText);
    let reason = document.metadata["reason"].as_str().unwrap_or(outcome.sentence()).to_owned();
    let is_same = fs_err::symlink_metadata(path).is_ok_and(|now| {
        let modified = now.modified().ok().map(|at| Timestamp::from(at).millis());
        document.metadata["bytes"].as_u64() == Some(now.len())
            && document.metadata["modified"].as_i64() == modified
    });
    let state = if is_same { FileState::Same } else { FileState::Changed };
    WithoutText::Read { outcome, reason, state }
}
