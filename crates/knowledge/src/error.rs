//! What can go wrong in this family. Where the contract gives a sentence, it is here word
//! for word.

use ingest::{FamilyError, ObjectError};

use crate::object_ids::{KnowledgeBaseId, KnowledgeDocumentId};

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What any family with objects of its own refuses: an id that does not exist for the caller
    /// (`Collection`, `Document`, `Chunk`, `Job`), a bad request, a limit, an object that others
    /// change, a queue that fails.
    #[error(transparent)]
    Object(ObjectError),

    // The caller can fix these.
    /// There is no such knowledge base for this caller's tenant.
    #[error("Knowledge base not found")]
    BaseNotFound {
        /// The id as it was given, shortened. The contract's sentence has no place for it.
        id: String,
    },
    /// The object belongs to the caller's tenant, and they have no right to it.
    #[error("Access denied to this knowledge base")]
    Denied,
    /// The caller may see the document and not the file it was made from.
    #[error("the original may be downloaded with {}", roles_in_words(.roles))]
    OriginalDenied {
        /// The roles, one of which is needed.
        roles: Vec<String>,
    },
    /// The file that a document was made from is gone or damaged.
    #[error("the original of document `{id}` is damaged: {problem}")]
    OriginalDamaged {
        /// The document.
        id: KnowledgeDocumentId,
        /// What is wrong with the file.
        problem: String,
    },
    /// The document is what a file of a folder says: another content, or none, would be undone by
    /// the next look at the folder.
    #[error("the document follows the file `{path}` of a folder")]
    FollowsFile {
        /// The file's path below the folder.
        path: String,
    },
    /// An OCR text over the limit.
    #[error("Text too long (max 10000 chars)")]
    TextTooLong,

    // The operator can fix these.
    /// The store cannot be reached; the contract has a sentence of its own for it.
    #[error("Failed to connect to api-admin service")]
    Unavailable(#[source] store::Error),
    /// The search failed.
    #[error("Failed to connect to api-admin service")]
    Search(#[from] retrieve::Error),
    /// The language model is down.
    #[error("LLM service unavailable")]
    LlmUnavailable(#[source] infer::Error),
    /// An upload could not be kept until its job runs.
    #[error("the upload could not be kept")]
    Upload(#[source] std::io::Error),
}

impl Error {
    /// Says that nothing with this id exists for the caller.
    pub(crate) fn missing(what: &'static str, id: &(impl std::fmt::Display + ?Sized)) -> Self {
        ObjectError::missing(what, id).into()
    }

    /// Says that there is no such knowledge base for the caller.
    pub(crate) fn no_base(id: &KnowledgeBaseId) -> Self {
        Error::BaseNotFound { id: ingest::shown_id(id.as_str()) }
    }
}

impl FamilyError for Error {
    fn object(&self) -> Option<&ObjectError> {
        let Error::Object(error) = self else { return None };
        Some(error)
    }

    fn may_pass(&self) -> bool {
        match self {
            Error::Object(error) => error.may_pass(),
            Error::Unavailable(_)
            | Error::Search(_)
            | Error::Upload(_)
            | Error::LlmUnavailable(_) => true,
            Error::BaseNotFound { .. }
            | Error::Denied
            | Error::OriginalDenied { .. }
            | Error::OriginalDamaged { .. }
            | Error::FollowsFile { .. }
            | Error::TextTooLong => false,
        }
    }
}

fn roles_in_words(roles: &[String]) -> String {
    match roles {
        [] => "no role: `knowledge.originals.roles` names none".to_owned(),
        roles => {
            let names: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
            format!("one of the roles {}", names.join(", "))
        }
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        let ObjectError::Unavailable(error) = error else { return Error::Object(error) };
        Error::Unavailable(error)
    }
}

ingest::by_object_error!(Error);

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
