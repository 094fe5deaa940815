//! Knowledge bases, collections and documents as the catalogue keeps them.

use model::{Caller, Clearance, DocumentId, Identity, NamespaceId, PassageId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Lookup, TypedObject};

use crate::new_document::OcrRepair;
use crate::object_ids::{CollectionId, KnowledgeBaseId, KnowledgeDocumentId};

/// Who inside the tenant may read a knowledge base.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Its owner and administrators.
    #[default]
    Private,
    /// Everyone in the tenant.
    Public,
}

/// Users and groups of the tenant that something is shared with by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// Names of keys and subjects of tokens; `key:` or `token:` in front says which is meant.
    pub users: Vec<String>,
    /// Groups that callers belong to.
    pub groups: Vec<String>,
}

impl Sharing {
    /// Tells whether nobody is named.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    /// Tells whether a caller of the same tenant is named.
    pub fn names(&self, caller: &Caller) -> bool {
        self.users.iter().any(|name| caller.is_meant_by(name))
            || self.groups.iter().any(|group| caller.is_in_group(group))
    }
}

/// Collections of documents that are searched and summarised together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeBase {
    /// A UUID.
    pub id: KnowledgeBaseId,
    /// The tenant of whoever made it.
    pub tenant: TenantId,
    /// Whoever made it.
    pub owner: String,
    /// How they proved who they are; an earlier version did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_identity: Option<Identity>,
    /// What people call it.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Who may read it.
    pub visibility: Visibility,
    /// Who may read it although it is private.
    #[serde(default, skip_serializing_if = "Sharing::is_empty")]
    pub shared_with: Sharing,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl TypedObject for KnowledgeBase {
    type Id = KnowledgeBaseId;

    const KIND: &'static str = "knowledge_base";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }
}

/// A part of a knowledge base with one department and one clearance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// A UUID.
    pub id: CollectionId,
    /// The knowledge base it belongs to.
    pub knowledge_base_id: KnowledgeBaseId,
    /// The tenant of the knowledge base.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The department it is for; all when absent.
    pub department: Option<String>,
    /// How far a reader must be trusted.
    pub clearance: Clearance,
    /// Who sees it from other departments; their clearance must reach it all the same.
    #[serde(default, skip_serializing_if = "Sharing::is_empty")]
    pub shared_with: Sharing,
    /// Documents that are indexed. Changed together with them, so that it is always exact.
    pub n_documents: usize,
    /// Passages of those documents, counted in the same transaction.
    pub n_chunks: usize,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Collection {
    /// Gives the namespace that holds its passages.
    ///
    /// Collections of one knowledge base with the same department and clearance share one, apart
    /// from those that are shared with somebody by name. What
    /// a reader may not see never is in a namespace that they search, so that not even the
    /// statistics behind a score depend on it.
    pub(crate) fn namespace(&self) -> NamespaceId {
        let department = match &self.department {
            None => "all".to_owned(),
            Some(name) => model::hex(name),
        };
        let prefix = namespace_prefix(&self.knowledge_base_id);
        let namespace = format!("{prefix}{}_{department}", self.clearance);
        NamespaceId::new(match self.shared_with.is_empty() {
            true => namespace,
            // Its readers do not see the other collections of its department.
            false => format!("{namespace}_{}", self.id),
        })
    }

    /// Gives the beginning of the ids of its documents in the store.
    pub(crate) fn document_prefix(&self) -> String {
        format!("{}/", self.id)
    }
}

impl TypedObject for Collection {
    type Id = CollectionId;

    const KIND: &'static str = "knowledge_collection";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.knowledge_base_id.to_string())
    }
}

/// Where a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// Waits for its first indexing.
    Pending,
    /// Can be found.
    Ready,
    /// Can be found as it was; a new version waits.
    Replacing,
    /// Nothing could be read from it.
    Failed,
}

impl DocumentState {
    /// Tells whether the document counts and can be found.
    pub fn is_indexed(self) -> bool {
        matches!(self, DocumentState::Ready | DocumentState::Replacing)
    }
}

/// A content that waits to be indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Upload {
    /// The file in the folder of uploads; no other upload has the same.
    pub(crate) staged: String,
    /// The name of the uploaded file; `text.txt` for text.
    pub(crate) name: String,
    pub(crate) ocr: OcrRepair,
    /// Its size; 0 where an earlier version took it.
    #[serde(default)]
    pub(crate) n_bytes: u64,
}

/// The file that a document was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// The file in the folder of uploads.
    pub(crate) file: String,
    /// Its size.
    pub n_bytes: u64,
}

/// What was uploaded, or follows a file; its text is in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// A UUID.
    pub id: KnowledgeDocumentId,
    /// The collection it belongs to.
    pub collection_id: CollectionId,
    /// The knowledge base of the collection.
    pub knowledge_base_id: KnowledgeBaseId,
    /// The tenant of the knowledge base.
    pub tenant: TenantId,
    /// As answers show it; made from the text where nobody gave one.
    pub title: String,
    /// Whether somebody gave the title: then it stays when a content comes without one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_titled: bool,
    /// The name of the file it came from; empty for text.
    pub file_name: String,
    /// Whatever its owner wants back, and what searches can ask for; `tags` is a list of words.
    pub metadata: Value,
    /// SHA-256 of its newest content, in hexadecimal; empty where an earlier version took it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// The file of a folder that it follows, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceFile>,
    /// The file that the indexed content was made from, where it is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
    /// Where it is.
    pub state: DocumentState,
    /// Passages of the content that is indexed; 0 where none is.
    pub n_chunks: usize,
    /// Counts its contents, from 1.
    pub version: u64,
    /// Why nothing could be read from it.
    pub error: Option<String>,
    /// The content that waits to be indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upload: Option<Upload>,
    /// What it was before the content that waits, which may turn out to have no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Before>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What a document was called before a content that is not indexed yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Before {
    pub(crate) title: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_titled: bool,
    pub(crate) file_name: String,
    pub(crate) metadata: Value,
    pub(crate) sha256: String,
    pub(crate) version: u64,
}

/// The member of a document's metadata that holds its tags.
pub(crate) const TAGS: &str = "tags";

/// A file of a folder that feeds a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path below the folder.
    pub path: String,
    /// Its size and when it was changed last: another stamp is another content.
    pub stamp: String,
    /// The volume that it is on, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<u64>,
}

impl Document {
    /// Gives the tags in its metadata.
    pub fn tags(&self) -> Vec<&str> {
        let tags = self.metadata[TAGS].as_array();
        tags.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Lists the files in the folder of uploads that belong to it.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let original = self.original.as_ref().map(|original| original.file.as_str());
        self.staged().into_iter().chain(original)
    }

    /// Gives the file of the content that waits to be indexed.
    pub(crate) fn staged(&self) -> Option<&str> {
        self.upload.as_ref().map(|upload| upload.staged.as_str())
    }

    /// Remembers what it is, where it can be found: the content that comes may have no text.
    pub(crate) fn remember(&mut self) {
        if self.state.is_indexed() && self.before.is_none() {
            self.before = Some(Before {
                title: self.title.clone(),
                is_titled: self.is_titled,
                file_name: self.file_name.clone(),
                metadata: self.metadata.clone(),
                sha256: self.sha256.clone(),
                version: self.version,
            });
        }
    }

    /// Makes it what it was before the content that has no text. Which file of a folder it follows
    /// stays as it is: the same file is not tried again until it changes.
    pub(crate) fn restore(&mut self) {
        let Some(before) = self.before.take() else { return };
        let Before { title, is_titled, file_name, metadata, sha256, version } = before;
        (self.title, self.file_name, self.metadata) = (title, file_name, metadata);
        (self.is_titled, self.sha256, self.version) = (is_titled, sha256, version);
    }

    /// Gives what the content is called that can be found; nothing where it has no title.
    pub(crate) fn indexed_title(&self) -> Option<String> {
        let title = self.before.as_ref().map_or(&self.title, |before| &before.title);
        Some(title.clone()).filter(|title| !title.is_empty())
    }

    pub(crate) fn store_id(&self) -> DocumentId {
        DocumentId::new(format!("{}/{}", self.collection_id, self.id))
    }
}

impl TypedObject for Document {
    type Id = KnowledgeDocumentId;

    const KIND: &'static str = "knowledge_document";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.collection_id.to_string())
    }

    fn lookups(&self) -> Vec<Lookup> {
        let mut lookups = match &self.upload {
            None => vec![],
            Some(_) => vec![waiting_anywhere(), waiting_in(&self.collection_id)],
        };
        if !self.sha256.is_empty() {
            lookups.push(same_content(&self.tenant, &self.sha256));
        }
        lookups
    }
}

/// Finds documents whose content waits to be indexed.
pub(crate) fn waiting_anywhere() -> Lookup {
    Lookup::new("upload", "waiting")
}

/// Finds documents of a collection whose content waits to be indexed.
pub(crate) fn waiting_in(collection: &CollectionId) -> Lookup {
    Lookup::new("upload_to", collection.as_str())
}

/// Finds documents of a tenant that hold this content.
pub(crate) fn same_content(tenant: &TenantId, sha256: &str) -> Lookup {
    Lookup::new("content", format!("{tenant}:{sha256}"))
}

/// Begins the name of every namespace of a knowledge base.
pub(crate) fn namespace_prefix(base: &KnowledgeBaseId) -> String {
    format!("knowledge_{base}_")
}

/// Gives the document's id inside its id in the store.
pub(crate) fn document_of(store_id: &DocumentId) -> KnowledgeDocumentId {
    let id = store_id.as_str();
    KnowledgeDocumentId::new(id.split_once('/').map_or(id, |(_, document)| document))
}

/// Names a chunk; the id says which document to check before it is given away.
pub(crate) fn chunk_id(document: &KnowledgeDocumentId, ordinal: u32) -> PassageId {
    PassageId::new(format!("{document}:{ordinal}"))
}

/// Gives the document's id inside a chunk's id.
pub(crate) fn document_of_chunk(chunk: &PassageId) -> Option<KnowledgeDocumentId> {
    let (document, ordinal) = chunk.as_str().rsplit_once(':')?;
    ordinal.parse::<u32>().ok()?;
    Some(KnowledgeDocumentId::new(document))
}
