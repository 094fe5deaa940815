//! How the engine follows the catalogue: the log becomes writes, each of them whole documents, and
//! what was sent once can be sent again.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use turbopuffer::types::Row;

use super::client::{Change, Client};
use super::ledger::{Entry, Named};
use super::namespace::{Following, Namespace};
use super::row::{self, Schema};
use super::{TurbopufferConfig, naming};
use crate::remote::{self, Step};
use crate::store::state_of;
use crate::{Catalogue, LogEntry, LogKind, PassageSource, Result, SourceParts, VectorSpace};

/// Entries of the log that are read at once.
const ENTRIES_PER_PAGE: usize = 10_000;
/// Passages that are read at once where they need not go out together.
const PASSAGES_PER_STEP: usize = 1_024;

/// Rows gathered for one write, about, in bytes. A single document is never split.
const WRITE_BYTES: usize = 16 << 20;

/// Brings the engine to the last change of the catalogue.
pub(super) struct Follower<'a> {
    pub(super) catalogue: &'a dyn Catalogue,
    pub(super) client: &'a Client,
    pub(super) config: &'a TurbopufferConfig,
    /// Names that are being filled and not in use yet, so that nobody erases them meanwhile.
    pub(super) filling: &'a Mutex<BTreeSet<String>>,
}

impl Follower<'_> {
    /// Lets the engine follow; when it cannot go on from where it is, its namespace is made anew
    /// under another name, and searches go on with the earlier one meanwhile.
    pub(super) fn catch_up(&self, namespace: &Namespace, following: &mut Following) -> Result<()> {
        loop {
            let state = state_of(self.catalogue, &namespace.id)?;
            let entry = following.entry.clone();
            let step = remote::next_step(self.catalogue, &state, entry.as_ref(), ENTRIES_PER_PAGE)?;
            let (entry, entries) = match (step, entry) {
                (Step::Current, _) => return Ok(()),
                (Step::Send(entries), Some(entry)) => (entry, entries),
                (Step::Anew | Step::Send(_), _) => return self.make_anew(namespace, following),
            };
            let Some(last) = entries.last() else { return Ok(()) };
            let attributes = self.send(&entry, &entries)?;
            // A search may filter by an attribute only once turbopuffer knows it.
            let mut entry = Entry { seen: last.sequence, ..entry };
            let is_known = entry.fields.is_superset(&attributes);
            entry.fields.extend(attributes);
            remote::put(self.catalogue, &entry)?;
            if !is_known {
                namespace.publish(&entry.at.name, entry.fields.clone());
            }
            following.entry = Some(entry);
        }
    }

    /// Sends what a part of the log says, and gives the attributes that were sent.
    fn send(&self, entry: &Entry, entries: &[LogEntry]) -> Result<BTreeSet<String>> {
        let mut batch = Batch::new(self.client, &entry.at.name, entry.space.as_ref());
        for (idx, log_entry) in entries.iter().enumerate() {
            let is_replacing = idx > 0
                && log_entry.kind == LogKind::Added
                && entries[idx - 1].kind == LogKind::Removed;
            if !is_replacing {
                batch.flush_if_large()?;
            }
            self.take_in(entry.number, log_entry, &mut batch)?;
        }
        batch.flush()?;
        Ok(batch.attributes())
    }

    /// Makes the namespace anew from the rows of the catalogue.
    pub(super) fn make_anew(&self, namespace: &Namespace, following: &mut Following) -> Result<()> {
        let space = state_of(self.catalogue, &namespace.id)?.info.manifest.vectors;
        let name = self.free_name(namespace)?;
        self.filling.lock().insert(name.clone());
        let filled = self.fill(namespace, following, &name, space);
        self.filling.lock().remove(&name);
        filled?;
        self.erase_leftovers();
        Ok(())
    }

    fn fill(
        &self,
        namespace: &Namespace,
        following: &mut Following,
        name: &str,
        space: Option<VectorSpace>,
    ) -> Result<()> {
        let number = namespace.number;
        // From here on something may exist under this name, whatever happens.
        let at = Named { name: name.to_owned() };
        remote::note_unfinished(self.catalogue, &at)?;
        // What changes while the passages are read is sent again from the log.
        let seen = self.catalogue.log(number, 0, 0)?.last;
        let mut batch = Batch::new(self.client, name, space.as_ref());
        remote::each_source(self.catalogue, number, 0..u32::MAX, PASSAGES_PER_STEP, |sources| {
            batch.flush_if_large()?;
            batch.upsert(&sources);
            Ok(())
        })?;
        batch.flush()?;
        let attributes = batch.attributes();
        let entry = Entry { number, at, seen, space, fields: attributes.clone() };
        remote::put(self.catalogue, &entry)?;
        following.entry = Some(entry);
        namespace.publish(name, attributes);
        Ok(())
    }

    /// Erases namespaces of the engine that are not in use any more; what fails is tried again
    /// the next time.
    pub(super) fn erase_leftovers(&self) {
        let unused: Vec<Named> = remote::erasures(self.catalogue).unwrap_or_default();
        for at in unused {
            if self.filling.lock().contains(&at.name) {
                continue;
            }
            let erased =
                self.client.erase(&at.name).and_then(|()| remote::forget(self.catalogue, &at));
            if let Err(error) = erased {
                tracing::warn!(
                    namespace = at.name,
                    error = &error as &dyn std::error::Error,
                    "namespace of turbopuffer is not in use any more and could not be erased"
                );
            }
        }
    }

    /// Gives a name that nobody uses: neither this catalogue nor someone else in the engine.
    fn free_name(&self, namespace: &Namespace) -> Result<String> {
        let mut generation = 0;
        loop {
            let prefix = &self.config.namespace_prefix;
            let name = naming::namespace(prefix, namespace.id.as_str(), generation);
            if !remote::is_taken::<Named>(self.catalogue, &name)? {
                if self.client.attributes(&name)?.is_none() {
                    return Ok(name);
                }
                tracing::warn!(name, "turbopuffer has a namespace of this name that is not ours");
            }
            generation += 1;
        }
    }

    fn take_in(&self, number: u32, entry: &LogEntry, batch: &mut Batch<'_>) -> Result<()> {
        match entry.kind {
            LogKind::Removed => {
                let labels = self.catalogue.labels(number, entry.passages())?;
                let id = |(id, pointer): &(model::PassageId, model::Pointer)| {
                    naming::passage_id(id.as_str(), &pointer.to_string())
                };
                batch.delete(labels.iter().map(id).collect());
            }
            LogKind::Added | LogKind::Vectors => {
                // A document goes out as a whole, so that no search sees a part of it.
                let (limit, parts) = (entry.count as usize, SourceParts::WithVector);
                let sources = self.catalogue.sources(number, entry.passages(), limit, parts)?;
                batch.upsert(&sources);
            }
        }
        Ok(())
    }
}

/// Rows and ids that go to the engine together.
struct Batch<'a> {
    client: &'a Client,
    name: &'a str,
    schema: Schema,
    upserts: BTreeMap<String, Row>,
    deletes: BTreeSet<String>,
    n_bytes: usize,
    is_written: bool,
}

impl<'a> Batch<'a> {
    fn new(client: &'a Client, name: &'a str, space: Option<&VectorSpace>) -> Self {
        Batch {
            client,
            name,
            schema: Schema::new(space),
            upserts: BTreeMap::new(),
            deletes: BTreeSet::new(),
            n_bytes: 0,
            is_written: false,
        }
    }

    fn delete(&mut self, ids: Vec<String>) {
        for id in ids {
            self.upserts.remove(&id);
            self.deletes.insert(id);
        }
    }

    fn upsert(&mut self, sources: &[PassageSource]) {
        for source in sources {
            let row = self.schema.row(source);
            let id = row.id.to_string();
            self.n_bytes += row::weight(source.passage.text.len(), self.schema.dimensions);
            self.deletes.remove(&id);
            self.upserts.insert(id, row);
        }
    }

    fn flush_if_large(&mut self) -> Result<()> {
        if self.n_bytes < WRITE_BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let change = Change {
            upserts: std::mem::take(&mut self.upserts).into_values().collect(),
            deletes: std::mem::take(&mut self.deletes).into_iter().collect(),
        };
        self.n_bytes = 0;
        self.client.write(self.name, &change, &self.schema)?;
        if !change.upserts.is_empty() {
            self.is_written = true;
        }
        Ok(())
    }

    /// Gives the attributes that the rows sent so far have.
    fn attributes(&self) -> BTreeSet<String> {
        match self.is_written {
            true => self.schema.attributes.keys().cloned().collect(),
            false => BTreeSet::new(),
        }
    }
}
