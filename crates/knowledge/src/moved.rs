//! Files of a followed folder that have another path: their documents stay, with title, tags,
//! metadata and versions.

use std::collections::BTreeMap;

use crate::follow::{FolderFile, Source};
use crate::new_document::{Content, NewDocument};
use crate::object_ids::KnowledgeDocumentId;
use crate::upload_files::digest_of;

/// Documents whose files are not where they were, by the size of these: the file of each may have
/// come somewhere else.
#[derive(Default)]
pub(crate) struct MissingFiles {
    by_size: BTreeMap<u64, Vec<(String, Source)>>,
}

impl MissingFiles {
    /// Adds the document of a file that is not at its path any more.
    pub(crate) fn add(&mut self, path: &str, source: &Source) {
        let Some(n_bytes) = source.n_bytes else { return };
        self.by_size.entry(n_bytes).or_default().push((path.to_owned(), source.clone()));
    }

    /// Takes the document whose content a new file has; of several that one whose file was called
    /// the same.
    pub(crate) fn take(
        &mut self,
        file: &FolderFile,
        new: &NewDocument,
    ) -> Option<KnowledgeDocumentId> {
        let Content::Received { file: copy, .. } = &new.content else { return None };
        let alike =
            self.by_size.get_mut(&copy.n_bytes().ok()?).filter(|alike| !alike.is_empty())?;
        let (sha256, _) = digest_of(fs_err::File::open(copy.path()).ok()?).ok()?;
        let is_same = |(_, source): &(String, Source)| source.sha256 == sha256;
        let is_called_so = |(path, _): &(String, Source)| name_of(path) == name_of(&file.path);
        let found = alike
            .iter()
            .position(|one| is_same(one) && is_called_so(one))
            .or_else(|| alike.iter().position(is_same))?;
        Some(alike.swap_remove(found).1.document)
    }

    /// Gives the documents whose files came nowhere.
    pub(crate) fn into_documents(self) -> impl Iterator<Item = KnowledgeDocumentId> {
        self.by_size.into_values().flatten().map(|(_, source)| source.document)
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
