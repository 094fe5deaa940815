//! Answers as they left, kept for some days so that a person can see what an agent saw.
//!
//! A server of its own keeps them in a folder; servers that share a catalogue keep them there, so
//! that none of them has text of a source on its disk, and an erasure is one for all.

mod catalogue;
mod epochs;
mod folder;
mod rows;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use model::{Caller, Clearance, Clock, Identity, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use store::Objects;

use crate::AuditConfig;
use catalogue::CatalogueAnswers;
use folder::FolderAnswers;

/// Ids of results that remain of one answer.
const MAX_IDS: usize = 100;

/// What remains of answers that are gone takes at most this many bytes.
const MAX_REMAINS_BYTES: u64 = 32 * 1024 * 1024;

/// The rights that a call was made with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRights {
    /// The department of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department: Option<String>,
    /// How far the caller was trusted.
    pub clearance: Clearance,
    /// The roles of the caller.
    #[serde(default)]
    pub roles: BTreeSet<String>,
    /// Whether it was made with the key of an endpoint, which has tools of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_endpoint: bool,
}

impl CallRights {
    /// Gives the rights of a caller.
    pub fn of(caller: &Caller) -> Self {
        CallRights {
            department: caller.department.clone(),
            clearance: caller.clearance,
            roles: caller.roles.clone(),
            is_endpoint: caller.identity == Identity::Endpoint,
        }
    }
}

/// What was deleted, as far as answers tell.
pub struct Erasure<'a> {
    /// Whose it was; nothing for what every tenant may have seen.
    pub tenant: Option<&'a str>,
    /// When it was made: no earlier answer holds text of it.
    pub since: Timestamp,
    /// Now: an answer that is still being made for an earlier call is not kept.
    pub at: Timestamp,
    /// An answer that holds text of it has one of these in its JSON, so that others need not be
    /// parsed; any may, where this is empty.
    pub marks: &'a [String],
    /// Tells whether an answer may hold text of it.
    pub may_hold: &'a (dyn Fn(&StoredAnswer) -> bool + Sync),
}

/// A call with what was answered, for replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// When the call arrived, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The request's id, as in the audit.
    pub request: String,
    /// By the name under which it was called.
    pub tool: String,
    /// The tenant of the caller.
    pub tenant: String,
    /// By the name that is in the audit.
    pub caller: String,
    /// With which rights; answers of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<CallRights>,
    /// What was asked; nothing when it is over its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// What was answered, redacted and cut; nothing when it is over its time or was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Whether it was erased together with a source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erased: bool,
    /// The ids of its results.
    #[serde(default)]
    pub ids: Vec<String>,
    /// SHA-256 of the answer's text, in hexadecimal.
    pub hash: String,
    /// How many changes the store had seen when it was made; the same number means that no
    /// document has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// An answer as it leaves: what a [`StoredAnswer`] is read back from, without a copy of its text.
#[derive(Debug, Serialize)]
pub struct LeavingAnswer<'a> {
    /// When the call arrived, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The request's id, as in the audit.
    pub request: &'a str,
    /// By the name under which it was called.
    pub tool: &'a str,
    /// The tenant of the caller.
    pub tenant: &'a str,
    /// By the name that is in the audit.
    pub caller: &'a str,
    /// Nothing for calls whose rights are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<CallRights>,
    /// What was asked, as JSON.
    pub arguments: &'a RawValue,
    /// What was answered, as JSON, redacted and cut.
    pub answer: &'a RawValue,
    /// The ids of its results.
    pub ids: Vec<&'a str>,
    /// SHA-256 of the answer's text, in hexadecimal.
    pub hash: &'a str,
    /// How many changes the store had seen when it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// The answers of some days.
pub struct Answers {
    config: AuditConfig,
    place: AnswerStorage,
}

enum AnswerStorage {
    /// Shared with the instances of other configurations, which write the same files.
    Folder(Arc<FolderAnswers>),
    Catalogue(CatalogueAnswers),
}

impl Answers {
    /// Keeps answers in a folder, as the configuration says; nothing is opened before the first.
    pub fn new(folder: &Path, config: &AuditConfig) -> Self {
        let place = AnswerStorage::Folder(Arc::new(FolderAnswers::new(folder)));
        Answers { config: config.clone(), place }
    }

    /// Gives the answers of the same folder under another configuration: both write its files by
    /// turns. Nothing where a catalogue has them, whose instances need not know of each other.
    #[must_use]
    pub fn with_config(&self, config: &AuditConfig) -> Option<Self> {
        let AnswerStorage::Folder(folder) = &self.place else { return None };
        Some(Answers { config: config.clone(), place: AnswerStorage::Folder(Arc::clone(folder)) })
    }

    /// Keeps answers in a catalogue that several servers share. Those that this server kept in its
    /// folder before are removed.
    ///
    /// Fails when the catalogue does not answer, or the folder cannot be removed.
    pub fn in_catalogue(
        catalogue: Arc<dyn Objects>,
        folder: &Path,
        config: &AuditConfig,
        clock: Clock,
    ) -> std::io::Result<Self> {
        if folder.is_dir() {
            fs_err::remove_dir_all(folder)?;
            tracing::info!("answers in the data folder were removed: the catalogue has them now");
        }
        let place = AnswerStorage::Catalogue(CatalogueAnswers::open(catalogue, config, clock)?);
        Ok(Answers { config: config.clone(), place })
    }

    /// Tells whether answers are kept at all.
    pub fn is_keeping(&self) -> bool {
        self.config.is_keeping_answers()
    }

    /// Keeps an answer. What cannot be written is lost, and the loss is logged. In a catalogue it
    /// is written a moment later, by another thread.
    pub fn keep(&self, answer: &LeavingAnswer<'_>) {
        if !self.is_keeping() {
            return;
        }
        let kept = match &self.place {
            AnswerStorage::Folder(folder) => folder.keep(answer, &self.config),
            AnswerStorage::Catalogue(catalogue) => catalogue.keep(answer),
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "an answer could not be stored for replay");
        }
    }

    /// Finds the answer of a request that arrived at a time.
    ///
    /// Fails when the folder or the catalogue cannot be read.
    pub fn find(&self, request: &str, at: Timestamp) -> std::io::Result<Option<StoredAnswer>> {
        let found = match &self.place {
            AnswerStorage::Folder(folder) => folder.find(request, at),
            AnswerStorage::Catalogue(catalogue) => catalogue.find(request, at),
        }?;
        // Those of an earlier configuration are not shown where none are kept any more.
        let remains = |found: StoredAnswer| StoredAnswer { arguments: None, answer: None, ..found };
        Ok(if self.is_keeping() { found } else { found.map(remains) })
    }

    /// Lets go of answers that are over their time, or of all where none are kept any more: at the
    /// start and now and then, since a server that nobody calls keeps none that would push them
    /// out. Of servers that share a catalogue and are configured differently, the one that keeps
    /// the least decides.
    ///
    /// Fails when the folder or the catalogue cannot be changed.
    pub fn let_old_go(&self, now: Timestamp) -> std::io::Result<()> {
        match &self.place {
            AnswerStorage::Folder(folder) => folder.let_old_go(now, &self.config),
            AnswerStorage::Catalogue(catalogue) => catalogue.let_old_go(now, self.is_keeping()),
        }
    }

    /// Erases the answers of a tenant, or of all, such as when text that they may hold was
    /// deleted; they say so from then on. Where a catalogue has them, those of every server go,
    /// also those that were on their way to it.
    ///
    /// Fails when they cannot be erased now. From a catalogue that is away they are erased when it
    /// is back, while this process lives.
    pub fn erase(&self, tenant: Option<&str>) -> std::io::Result<()> {
        match &self.place {
            AnswerStorage::Folder(folder) => {
                let n_erased = folder.erase(tenant)?;
                if n_erased > 0 {
                    tracing::info!(n_erased, "stored answers were erased with a source");
                }
                Ok(())
            }
            AnswerStorage::Catalogue(catalogue) => catalogue.erase(tenant),
        }
    }

    /// Erases the answers that may hold text of what was just deleted; they say so from then on.
    /// Those in a catalogue that several servers share go all, of that tenant or of every one: what
    /// another server has on its way cannot be looked at.
    ///
    /// Fails when they cannot be erased now, as [`Answers::erase`] does.
    pub fn erase_some(&self, erasure: &Erasure<'_>) -> std::io::Result<()> {
        match &self.place {
            AnswerStorage::Folder(folder) => {
                let n_erased = folder.erase_some(erasure)?;
                if n_erased > 0 {
                    tracing::info!(n_erased, "stored answers were erased with a source");
                }
                Ok(())
            }
            AnswerStorage::Catalogue(catalogue) => catalogue.erase(erasure.tenant),
        }
    }
}

/// Gives the ids of the results of an answer, whatever the tool calls them; its own where it is
/// one document, or a folder whose entries have none.
pub fn ids_of(answer: &Value) -> Vec<&str> {
    let lists = ["results", "items", "rows"].iter().filter_map(|name| answer[*name].as_array());
    let ids: Vec<&str> = lists.flatten().filter_map(id_of).take(MAX_IDS).collect();
    if ids.is_empty() { id_of(answer).into_iter().collect() } else { ids }
}

fn id_of(result: &Value) -> Option<&str> {
    let id = result.get("id").or(result.get("path")).or(result["metadata"].get("chunk_id"));
    id?.as_str()
}

#[cfg(test)]
mod tests;
