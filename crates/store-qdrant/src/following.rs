//! How the engine follows the catalogue: the log becomes points and deletions, and what was sent
//! once can be sent again.

use std::collections::BTreeSet;

use model::NamespaceId;
use qdrant_client::qdrant::{
    DeletePointsBuilder, Filter as ServerFilter, PointId, PointStruct, PointVectors, PointsIdsList,
    UpdatePointVectorsBuilder, UpsertPointsBuilder,
};
use store::{
    Catalogue, Error, LogEntry, LogKind, NamespaceState, PassageSource, Result, SourceParts,
};

use crate::client::Client;
use crate::collection::{self, Collections};
use crate::ledger::{self, Entry, Erasure};
use crate::namespace::{Turn, Turns};
use crate::{QdrantConfig, condition, point};

/// Entries of the log that are read at once.
const ENTRIES_PER_PAGE: usize = 1_000;
/// Points that are sent at once.
const POINTS_PER_WRITE: usize = 256;
/// Vectors that are sent at once, to points that are there.
const VECTORS_PER_WRITE: usize = 1_024;
/// Points that are deleted at once.
const IDS_PER_DELETE: usize = 4_096;

/// Brings Qdrant to the last change of the catalogue.
pub(crate) struct Follower<'a> {
    pub(crate) catalogue: &'a dyn Catalogue,
    pub(crate) client: &'a Client,
    pub(crate) collections: &'a Collections,
    pub(crate) config: &'a QdrantConfig,
    pub(crate) turns: &'a Turns,
}

impl Follower<'_> {
    /// Follows to the end, and gives the last change that Qdrant has.
    pub(crate) fn catch_up(&self, id: &NamespaceId, turn: &Turn<'_>) -> Result<u64> {
        loop {
            turn.renew()?;
            let state = state_of(self.catalogue, id)?;
            let number = state.number;
            let entry = ledger::entry(self.catalogue, number)?;
            let seen = entry.as_ref().map_or(0, |entry| entry.seen);
            let page = self.catalogue.log(number, seen, ENTRIES_PER_PAGE)?;
            if page.last < seen {
                return Err(Error::CatalogueBehind { number, seen, last: page.last });
            }
            if page.last == 0 && entry.is_none() {
                return Ok(0);
            }
            let space = &state.info.manifest.vectors;
            let can_go_on = entry.filter(|entry| {
                entry.seen > 0
                    && entry.seen >= page.starts_after
                    && entry.space == *space
                    && entry.is_current(&self.config.prefix)
            });
            let Some(mut entry) = can_go_on else {
                self.make_anew(&state, turn)?;
                continue;
            };
            let Some(last) = page.entries.last() else { return Ok(seen) };
            self.send(&mut entry, &page.entries, turn)?;
            entry.seen = last.sequence;
            ledger::put(self.catalogue, &entry)?;
        }
    }

    /// Sends what a part of the log says: what came first, then what went, so that a document is
    /// never without both versions.
    fn send(&self, entry: &mut Entry, entries: &[LogEntry], turn: &Turn<'_>) -> Result<()> {
        let mut gone: Vec<u32> = vec![];
        let mut sent: BTreeSet<u32> = BTreeSet::new();
        for log_entry in entries {
            match log_entry.kind {
                LogKind::Removed => gone.extend(log_entry.passages()),
                LogKind::Added => self.send_passages(entry, log_entry, turn, &mut sent)?,
                LogKind::Vectors => {
                    match self.send_vectors(entry, log_entry, turn, &sent) {
                        // A point is missing, or all of them: whole points mend the first and say
                        // the second.
                        Err(Error::EngineMissing { .. }) => {
                            self.send_passages(entry, log_entry, turn, &mut sent)?;
                        }
                        done => done?,
                    }
                }
            }
        }
        let ids: Vec<PointId> =
            gone.into_iter().map(|number| point::id_of(&entry.tenant, number)).collect();
        for ids in ids.chunks(IDS_PER_DELETE) {
            self.delete_ids(&entry.collection, ids.to_vec())?;
        }
        Ok(())
    }

    /// Sends the passages that an entry of the log names, as they are now; what a page names twice
    /// is sent once.
    fn send_passages(
        &self,
        entry: &mut Entry,
        log_entry: &LogEntry,
        turn: &Turn<'_>,
        sent: &mut BTreeSet<u32>,
    ) -> Result<()> {
        let mut passages = log_entry.passages();
        while !passages.is_empty() {
            turn.renew()?;
            let parts = SourceParts::WithVector;
            let sources =
                self.catalogue.sources(entry.number, passages.clone(), POINTS_PER_WRITE, parts)?;
            let Some(last) = sources.last() else { break };
            passages.start = last.number + 1;
            let is_last = sources.len() < POINTS_PER_WRITE;
            let new: Vec<PassageSource> =
                sources.into_iter().filter(|one| sent.insert(one.number)).collect();
            self.upsert(entry, &new)?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Sends the vectors that an entry of the log names: the words of these passages are there
    /// already, and need not be indexed again.
    fn send_vectors(
        &self,
        entry: &Entry,
        log_entry: &LogEntry,
        turn: &Turn<'_>,
        sent: &BTreeSet<u32>,
    ) -> Result<()> {
        let mut passages = log_entry.passages();
        while !passages.is_empty() {
            turn.renew()?;
            let vectors =
                self.catalogue.vectors(entry.number, passages.clone(), VECTORS_PER_WRITE)?;
            let Some((last, _)) = vectors.last() else { break };
            passages.start = last + 1;
            let is_last = vectors.len() < VECTORS_PER_WRITE;
            let points: Vec<PointVectors> = vectors
                .into_iter()
                .filter(|(number, _)| !sent.contains(number))
                .map(|(number, vector)| point::vector_of(&entry.tenant, number, vector))
                .collect();
            if !points.is_empty() {
                let request =
                    UpdatePointVectorsBuilder::new(&entry.collection, points).wait(true).build();
                self.client.write("write of vectors", move |peer| {
                    let request = request.clone();
                    async move { peer.update_vectors(request).await.map(|_| ()) }
                })?;
            }
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Makes the namespace anew from the passages as another tenant; searches go on with the earlier
    /// one meanwhile.
    pub(crate) fn make_anew(&self, state: &NamespaceState, turn: &Turn<'_>) -> Result<()> {
        let space = state.info.manifest.vectors.clone();
        let collection = collection::name_of(&self.config.prefix, space.as_ref());
        let identity = self.catalogue.identity()?;
        let drawn: u64 = rand::random();
        let tenant =
            format!("{}-{}-{drawn:016x}", &identity[..identity.len().min(16)], state.number);
        let erasure = Erasure { collection: collection.clone(), tenant: tenant.clone() };
        self.fill(state, turn, &erasure)?;
        self.erase_leftovers(Some(state.number));
        Ok(())
    }

    fn fill(&self, state: &NamespaceState, turn: &Turn<'_>, erasure: &Erasure) -> Result<()> {
        let number = state.number;
        // From here on points of this tenant may exist, whatever happens.
        ledger::note_unfinished(self.catalogue, erasure)?;
        // What changes while the passages are read is sent again from the log.
        let seen = self.catalogue.log(number, 0, 0)?.last;
        let mut entry = Entry {
            number,
            collection: erasure.collection.clone(),
            tenant: erasure.tenant.clone(),
            seen,
            space: state.info.manifest.vectors.clone(),
            integers: BTreeSet::new(),
        };
        self.ensure(&entry, &BTreeSet::new())?;
        let mut passages = 0..u32::MAX;
        loop {
            turn.renew()?;
            let parts = SourceParts::WithVector;
            let sources =
                self.catalogue.sources(number, passages.clone(), POINTS_PER_WRITE, parts)?;
            self.upsert(&mut entry, &sources)?;
            match sources.last() {
                Some(last) if sources.len() == POINTS_PER_WRITE => passages.start = last.number + 1,
                _ => break,
            }
        }
        ledger::replace(self.catalogue, &entry)
    }

    fn ensure(&self, entry: &Entry, integers: &BTreeSet<String>) -> Result<()> {
        let space = entry.space.as_ref();
        self.collections.ensure(self.client, self.config, &entry.collection, space, integers)
    }

    fn upsert(&self, entry: &mut Entry, sources: &[PassageSource]) -> Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        // A field is indexed before a point has it, and searched only once the ledger says so.
        let integers = point::integer_fields(sources);
        self.ensure(entry, &integers)?;
        entry.integers.extend(integers);
        let points: Vec<PointStruct> =
            sources.iter().map(|source| point::of(&entry.tenant, source)).collect();
        let request = UpsertPointsBuilder::new(entry.collection.clone(), points).wait(true).build();
        let written = self.client.write("write", move |peer| {
            let request = request.clone();
            async move { peer.upsert_points(request).await.map(|_| ()) }
        });
        if matches!(written, Err(Error::EngineMissing { .. })) {
            self.collections.forget(&entry.collection);
        }
        written
    }

    fn delete_ids(&self, collection: &str, ids: Vec<PointId>) -> Result<()> {
        let request =
            DeletePointsBuilder::new(collection).points(PointsIdsList { ids }).wait(true).build();
        self.delete(request)
    }

    fn delete(&self, request: qdrant_client::qdrant::DeletePoints) -> Result<()> {
        let deleted = self.client.write("deletion", move |peer| {
            let request = request.clone();
            async move { peer.delete_points(request).await.map(|_| ()) }
        });
        match deleted {
            // What is not there is gone as it should be.
            Err(Error::EngineMissing { .. }) => Ok(()),
            deleted => deleted,
        }
    }

    /// Erases tenants that are not in use any more; what fails is tried again the next time. `own`
    /// is the namespace whose turn the caller has. A namespace that somebody else follows is passed
    /// over: a tenant of it may be one that is being filled, here or by another server.
    pub(crate) fn erase_leftovers(&self, own: Option<u32>) {
        for erasure in ledger::erasures(self.catalogue).unwrap_or_default() {
            if let Err(error) = self.erase_leftover(&erasure, own) {
                tracing::warn!(
                    tenant = erasure.tenant,
                    error = &error as &dyn std::error::Error,
                    "points in Qdrant that are not in use any more could not be erased"
                );
            }
        }
    }

    fn erase_leftover(&self, erasure: &Erasure, own: Option<u32>) -> Result<()> {
        let number = erasure.namespace();
        let lock = self.turns.lock_of(number);
        let turn = match own == Some(number) {
            true => None,
            false => match self.turns.try_take(self.catalogue, number, &lock)? {
                Some(turn) => Some(turn),
                None => return Ok(()),
            },
        };
        // It may have come into use, or have been erased, before the turn was taken.
        if !ledger::is_noted(self.catalogue, erasure)? {
            return Ok(());
        }
        let filter = ServerFilter::must([condition::of_tenant(&erasure.tenant)]);
        let request =
            DeletePointsBuilder::new(&erasure.collection).points(filter).wait(true).build();
        self.delete(request)?;
        ledger::forget(self.catalogue, erasure)?;
        drop(turn);
        Ok(())
    }
}

/// Gives what a catalogue knows of a namespace.
pub(crate) fn state_of(catalogue: &dyn Catalogue, id: &NamespaceId) -> Result<NamespaceState> {
    catalogue.namespace(id)?.ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })
}
