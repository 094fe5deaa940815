//! A folder that feeds a collection: its files are documents, and new, changed and gone files
//! follow. Documents that were added in other ways stay as they are.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use ingest::new_id;
use model::{Caller, Clearance, Identity, TenantId};
use store::{ObjectPage, TypedObject};

use crate::intake::Intake;
use crate::new_document::{Content, NewDocument};
use crate::objects::{Collection, Document, SourceFile};
use crate::{Error, Result, Service, limits};

/// Files that are added in one step.
const FILES_PER_STEP: usize = 100;

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// Its path below the folder, which names it.
    pub path: String,
    /// Its size and when it was changed last.
    pub stamp: String,
    /// Where it is.
    pub place: PathBuf,
}

/// What is in the folder now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// Every file.
    pub files: Vec<FolderFile>,
    /// The volume that the folder is on, where the system tells.
    pub volume: Option<u64>,
}

/// What a look at the folder changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Followed {
    /// Files that were added.
    pub n_added: usize,
    /// Files whose content replaced the one before.
    pub n_replaced: usize,
    /// Documents whose files are gone.
    pub n_removed: usize,
    /// Files that could not be taken, which the next look tries again.
    pub n_failed: usize,
}

/// What is known of a file that a document follows.
struct Source {
    document: String,
    stamp: String,
    volume: Option<u64>,
}

impl Service {
    /// Brings the documents of a collection up to the files of a folder.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such collection, [`Error::BadRequest`] when the folder
    /// looks empty and is not known to be on the volume that its files were on: it is taken for one
    /// that is not mounted. [`Error::TooLarge`] when too many of its files wait already: the rest
    /// can follow later.
    pub fn follow_folder(&self, collection: &str, listing: &FolderListing) -> Result<Followed> {
        let files = &listing.files;
        let found = Collection::load(&*self.0.catalogue, collection)?;
        let (collection, _) = found.ok_or_else(|| Error::missing("Collection", collection))?;
        let caller = administrator(&collection.tenant);
        let known = self.followed_in(&collection)?;
        let is_mounted = listing.volume.is_some()
            && known.values().all(|source| source.volume == listing.volume);
        if files.is_empty() && known.len() > 1 && !is_mounted {
            let problem = format!(
                "the folder looks empty, {} documents come from it, and it may not be mounted: \
                 nothing is removed",
                known.len()
            );
            return Err(Error::BadRequest { problem });
        }
        let mut followed = Followed::default();
        let mut new = vec![];
        for file in files {
            match known.get(&file.path) {
                Some(source) if source.stamp == file.stamp => {}
                Some(source) => {
                    let changed = self.received(file, listing.volume).and_then(|content| {
                        self.replace_document(&caller, &source.document, content).map(|_| ())
                    });
                    match changed {
                        Ok(()) => followed.n_replaced += 1,
                        Err(error) => followed.fail(file, &error),
                    }
                }
                None => match self.received(file, listing.volume) {
                    Ok(document) => new.push(document),
                    Err(error) => followed.fail(file, &error),
                },
            }
            if new.len() == FILES_PER_STEP {
                followed.n_added += new.len();
                self.add_documents(&caller, &collection.id, std::mem::take(&mut new))?;
            }
        }
        if !new.is_empty() {
            followed.n_added += new.len();
            self.add_documents(&caller, &collection.id, new)?;
        }
        let present: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        for (path, source) in &known {
            if !present.contains(path.as_str()) {
                self.delete_document(&caller, &source.document)?;
                followed.n_removed += 1;
            }
        }
        Ok(followed)
    }

    /// Lists the documents that follow files, by path.
    fn followed_in(&self, collection: &Collection) -> Result<BTreeMap<String, Source>> {
        let mut known = BTreeMap::new();
        let mut page = ObjectPage {
            parent: Some(collection.id.clone()),
            limit: limits::MAX_PAGE,
            ..ObjectPage::of(Document::KIND)
        };
        loop {
            let documents = Document::list(&*self.0.catalogue, &page)?;
            let Some(last) = documents.last() else { return Ok(known) };
            page.after = Some(last.id.clone());
            for document in documents {
                if let Some(SourceFile { path, stamp, volume }) = document.source {
                    known.insert(path, Source { document: document.id, stamp, volume });
                }
            }
        }
    }

    /// Copies a file, so that it may change or go while it waits for its job.
    fn received(&self, file: &FolderFile, volume: Option<u64>) -> Result<NewDocument> {
        let copy = Intake::into_folder(self.0.uploads.arrivals()?).file();
        fs_err::copy(&file.place, copy.path()).map_err(Error::Upload)?;
        let name = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
        let (path, stamp) = (file.path.clone(), file.stamp.clone());
        let source = SourceFile { path, stamp, volume };
        Ok(NewDocument {
            content: Content::Received { file: copy, name: Some(name) },
            source: Some(source),
            ..NewDocument::text("", "")
        })
    }
}

impl Followed {
    /// Tells whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Followed::default()
    }

    fn fail(&mut self, file: &FolderFile, error: &Error) {
        let cause = model::with_causes(error);
        tracing::warn!(path = file.path, cause, "a file of a folder could not be taken");
        self.n_failed += 1;
    }
}

/// Whoever the configuration speaks for: it names the folder and the collection.
fn administrator(tenant: &TenantId) -> Caller {
    Caller {
        subject: format!("folder-{}", new_id()),
        tenant: tenant.clone(),
        department: None,
        clearance: Clearance::TopSecret,
        roles: [Caller::ADMIN.to_owned()].into(),
        identity: Identity::Local,
    }
}
