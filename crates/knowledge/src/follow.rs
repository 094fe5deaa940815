//! A folder that feeds a collection: its files are documents, and new, changed and gone files
//! follow. Documents that were added in other ways stay as they are.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use ingest::new_id;
use model::{Caller, Clearance, Identity, TenantId};
use store::{ObjectPage, TypedObject};

use crate::documents::{Content, NewDocument};
use crate::intake::Intake;
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

impl Service {
    /// Brings the documents of a collection up to the files of a folder.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such collection, [`Error::BadRequest`] when the folder
    /// looks empty and the collection has several of its files: it is taken for one that is not
    /// mounted.
    pub fn follow_folder(&self, collection: &str, files: &[FolderFile]) -> Result<Followed> {
        let found = Collection::load(&*self.0.catalogue, collection)?;
        let (collection, _) = found.ok_or_else(|| Error::missing("Collection", collection))?;
        let caller = administrator(&collection.tenant);
        let known = self.followed_in(&collection)?;
        if files.is_empty() && known.len() > 1 {
            let problem = format!(
                "the folder looks empty and {} documents come from it: nothing is removed",
                known.len()
            );
            return Err(Error::BadRequest { problem });
        }
        let mut followed = Followed::default();
        let mut new = vec![];
        for file in files {
            match known.get(&file.path) {
                Some((_, stamp)) if *stamp == file.stamp => {}
                Some((document, _)) => {
                    let changed = self.received(file).and_then(|content| {
                        self.replace_document(&caller, document, content).map(|_| ())
                    });
                    match changed {
                        Ok(()) => followed.n_replaced += 1,
                        Err(error) => followed.fail(file, &error),
                    }
                }
                None => match self.received(file) {
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
        for (path, (document, _)) in &known {
            if !present.contains(path.as_str()) {
                self.delete_document(&caller, document)?;
                followed.n_removed += 1;
            }
        }
        Ok(followed)
    }

    /// Lists the documents that follow files, by path: the id and the stamp of each.
    fn followed_in(&self, collection: &Collection) -> Result<BTreeMap<String, (String, String)>> {
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
                if let Some(SourceFile { path, stamp }) = document.source {
                    known.insert(path, (document.id, stamp));
                }
            }
        }
    }

    /// Copies a file, so that it may change or go while it waits for its job.
    fn received(&self, file: &FolderFile) -> Result<NewDocument> {
        let copy = Intake::into_folder(self.0.uploads.arrivals()?).file();
        fs_err::copy(&file.place, copy.path()).map_err(Error::Upload)?;
        let name = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
        let source = SourceFile { path: file.path.clone(), stamp: file.stamp.clone() };
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
