//! How the engine follows the catalogue: the log becomes points and deletions, and what was sent
//! once can be sent again.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use model::{Deadline, NamespaceId};
use qdrant_client::qdrant::{
    DeletePointsBuilder, Filter as ServerFilter, PointId, PointStruct, PointVectors, PointsIdsList,
    UpdatePointVectorsBuilder, UpsertPointsBuilder,
};
use store::remote::{self, Step};
use store::{
    Catalogue, Error, LogEntry, LogKind, NamespaceState, PassageSource, Result, current_state,
};

use crate::client::Client;
use crate::collection::{self, Collections, Missing};
use crate::ledger::{Entry, Tenant, is_current};
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
/// How long is waited for whoever writes a namespace whose collection is gone, and how often is asked.
const OTHERS_LIMIT: Duration = Duration::from_secs(10);
const ASK_AGAIN: Duration = Duration::from_millis(50);

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
            let state = current_state(self.catalogue, id)?;
            let entry: Option<Entry> = remote::entry(self.catalogue, state.number)?;
            let seen = entry.as_ref().map_or(0, |entry| entry.seen);
            let entry = entry.filter(|entry| is_current(entry, &self.config.prefix));
            let step = remote::next_step(self.catalogue, &state, entry.as_ref(), ENTRIES_PER_PAGE)?;
            let (mut entry, entries) = match (step, entry) {
                (Step::Current, _) => return Ok(seen),
                (Step::Send(entries), Some(entry)) => (entry, entries),
                (Step::Anew | Step::Send(_), _) => {
                    self.make_anew(&state, turn)?;
                    continue;
                }
            };
            let Some(last) = entries.last() else { return Ok(seen) };
            match self.send(&mut entry, &entries, turn) {
                // Its collection is gone, and with it what came before: that the rest alone is found
                // would be taken for an answer.
                Err(Error::EngineMissing { .. }) => {
                    tracing::warn!(namespace = %id, "Qdrant lost a collection: it is filled again");
                    self.collections.forget(&entry.at.collection);
                    remote::lost::<Tenant>(self.catalogue, state.number)?;
                    self.make_anew(&state, turn)?;
                    continue;
                }
                sent => sent?,
            }
            entry.seen = last.sequence;
            remote::put(self.catalogue, &entry)?;
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
            gone.into_iter().map(|number| point::id_of(&entry.at.tenant, number)).collect();
        for ids in ids.chunks(IDS_PER_DELETE) {
            self.delete_ids(&entry.at.collection, ids.to_vec())?;
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
        let (number, passages) = (entry.number, log_entry.passages());
        remote::each_source(self.catalogue, number, passages, POINTS_PER_WRITE, |sources| {
            turn.renew()?;
            let new: Vec<PassageSource> =
                sources.into_iter().filter(|one| sent.insert(one.number)).collect();
            self.upsert(entry, &new)
        })
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
                .map(|(number, vector)| point::vector_of(&entry.at.tenant, number, vector))
                .collect();
            if !points.is_empty() {
                let request =
                    UpdatePointVectorsBuilder::new(&entry.at.collection, points).wait(true).build();
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
        self.fill(state, turn, Tenant { collection, tenant })?;
        self.erase_leftovers(Some(state.number));
        Ok(())
    }

    fn fill(&self, state: &NamespaceState, turn: &Turn<'_>, at: Tenant) -> Result<()> {
        let number = state.number;
        // From here on points of this tenant may exist, whatever happens.
        remote::note_unfinished(self.catalogue, &at)?;
        // What changes while the passages are read is sent again from the log.
        let seen = self.catalogue.log(number, 0, 0)?.last;
        let mut entry = Entry {
            number,
            at,
            seen,
            space: state.info.manifest.vectors.clone(),
            fields: BTreeSet::new(),
        };
        let others = || self.forget_others(number, &entry.at.collection);
        self.ensure(&entry, &BTreeSet::new(), Missing::Make(&others))?;
        remote::each_source(self.catalogue, number, 0..u32::MAX, POINTS_PER_WRITE, |sources| {
            turn.renew()?;
            self.upsert(&mut entry, &sources)
        })?;
        remote::put(self.catalogue, &entry)
    }

    /// Forgets what other namespaces had in a collection that is gone, each when nobody writes it:
    /// what is written to the next one would be a part of it.
    fn forget_others(&self, own: u32, collection: &str) -> Result<()> {
        let entries: HashMap<u32, Entry> = remote::entries(self.catalogue)?;
        let others = entries.into_values().filter(|entry| entry.number != own);
        for entry in others.filter(|entry| entry.at.collection == collection) {
            let lock = self.turns.lock_of(entry.number);
            let deadline = Deadline::after(OTHERS_LIMIT);
            let mut turn = self.turns.try_take(self.catalogue, entry.number, &lock)?;
            while turn.is_none() && !deadline.is_over() {
                std::thread::sleep(ASK_AGAIN);
                turn = self.turns.try_take(self.catalogue, entry.number, &lock)?;
            }
            remote::lost::<Tenant>(self.catalogue, entry.number)?;
        }
        Ok(())
    }

    fn ensure(
        &self,
        entry: &Entry,
        integers: &BTreeSet<String>,
        missing: Missing<'_>,
    ) -> Result<()> {
        let (space, name) = (entry.space.as_ref(), &entry.at.collection);
        self.collections.ensure(self.client, self.config, name, space, integers, missing)
    }

    fn upsert(&self, entry: &mut Entry, sources: &[PassageSource]) -> Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        // A field is indexed before a point has it, and searched only once the ledger says so.
        let integers = point::integer_fields(sources);
        self.ensure(entry, &integers, Missing::Say)?;
        entry.fields.extend(integers);
        let points: Vec<PointStruct> =
            sources.iter().map(|source| point::of(&entry.at.tenant, source)).collect();
        let request =
            UpsertPointsBuilder::new(entry.at.collection.clone(), points).wait(true).build();
        let written = self.client.write("write", move |peer| {
            let request = request.clone();
            async move { peer.upsert_points(request).await.map(|_| ()) }
        });
        if matches!(written, Err(Error::EngineMissing { .. })) {
            self.collections.forget(&entry.at.collection);
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
        let unused: Vec<Tenant> = remote::erasures(self.catalogue).unwrap_or_default();
        for at in unused {
            if let Err(error) = self.erase_leftover(&at, own) {
                tracing::warn!(
                    tenant = at.tenant,
                    error = &error as &dyn std::error::Error,
                    "points in Qdrant that are not in use any more could not be erased"
                );
            }
        }
    }

    fn erase_leftover(&self, at: &Tenant, own: Option<u32>) -> Result<()> {
        let number = at.namespace();
        let lock = self.turns.lock_of(number);
        let turn = match own == Some(number) {
            true => None,
            false => match self.turns.try_take(self.catalogue, number, &lock)? {
                Some(turn) => Some(turn),
                None => return Ok(()),
            },
        };
        // It may have come into use, or have been erased, before the turn was taken.
        if !remote::is_noted::<Tenant>(self.catalogue, &at.tenant)? {
            return Ok(());
        }
        let filter = ServerFilter::must([condition::of_tenant(&at.tenant)]);
        let request = DeletePointsBuilder::new(&at.collection).points(filter).wait(true).build();
        self.delete(request)?;
        remote::forget(self.catalogue, at)?;
        drop(turn);
        Ok(())
    }
}
