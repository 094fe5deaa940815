//! The word tables of the namespaces that this server is asked for: read from Qdrant in the
//! background, brought along by the log, bounded, and used only where they are at the very change
//! that Qdrant is at.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use model::{Deadline, NamespaceId};
use parking_lot::{Mutex, RwLock};
use qdrant_client::qdrant::{
    Filter as ServerFilter, GetPointsBuilder, PayloadIncludeSelector, PointId, RetrievedPoint,
    ScrollPointsBuilder,
};
use store::remote;
use store::{Catalogue, LogKind, NamespaceState, Result};

use crate::client::{Client, QUESTION_LIMIT};
use crate::condition::of_tenant;
use crate::ledger::Entry;
use crate::point;
use crate::word_table::{FIELDS, WordTable, id_in};

/// Passages whose words a server keeps in memory, of all namespaces together: about 1 kB each, by
/// computation. A larger namespace is counted in Qdrant.
pub const MAX_PASSAGES_IN_MEMORY: usize = 131_072;
/// Points that are read at once.
const POINTS_PER_PAGE: u32 = 256;
/// Passages that a question brings along; after more of them the table is read anew.
const MAX_NEW: usize = 1_024;
/// Entries of the log that are read at once, and at most.
const MAX_ENTRIES: usize = 1_000;
/// Rows of passages that went, as a part of all rows, from which on a table is read anew.
const MAX_GONE: f64 = 0.25;
/// How long nothing is read after reading failed.
const PAUSE: Duration = Duration::from_secs(5);

/// A table with the last change that it has.
#[derive(Debug, Default)]
pub(crate) struct Dated {
    pub(crate) seen: u64,
    pub(crate) table: WordTable,
}

/// A table that several questions read.
pub(crate) type Shared = Arc<RwLock<Dated>>;

struct OfTenant {
    namespace: NamespaceId,
    table: Shared,
    used_at: Instant,
}

#[derive(Default)]
struct WordTables {
    /// The tables by tenant.
    tables: HashMap<String, OfTenant>,
    /// The tenant whose table is being read: one at a time.
    loading: Option<String>,
    failed: Option<Instant>,
}

/// The tables of this process.
#[derive(Default)]
pub(crate) struct WordMemory {
    known: Arc<Mutex<WordTables>>,
}

impl WordMemory {
    /// Gives the table of a namespace as of its last change in Qdrant. Where there is none, reading
    /// it begins, and the question is answered without.
    pub(crate) fn of(
        &self,
        client: &Arc<Client>,
        catalogue: &dyn Catalogue,
        entry: &Entry,
        state: &NamespaceState,
    ) -> Option<Shared> {
        let shared = {
            let mut known = self.known.lock();
            let found = known.tables.get_mut(&entry.at.tenant);
            found.map(|own| {
                own.used_at = Instant::now();
                Arc::clone(&own.table)
            })
        };
        let Some(shared) = shared else {
            self.begin(client, entry, state);
            return None;
        };
        self.as_of(client, catalogue, entry, shared)
    }

    /// Brings the table of a namespace along, where this process has one: the catalogue may forget
    /// the log once it was followed, and without it the whole table would have to be read again.
    ///
    /// # Errors
    ///
    /// Those of the catalogue. A table that cannot be brought along is read anew when it is needed.
    pub(crate) fn follow(
        &self,
        client: &Client,
        catalogue: &dyn Catalogue,
        number: u32,
    ) -> Result<()> {
        if self.known.lock().tables.is_empty() {
            return Ok(());
        }
        let entry: Option<Entry> = remote::entry(catalogue, number)?;
        let Some(entry) = entry else { return Ok(()) };
        let shared = {
            let known = self.known.lock();
            known.tables.get(&entry.at.tenant).map(|own| Arc::clone(&own.table))
        };
        if let Some(shared) = shared {
            self.as_of(client, catalogue, &entry, shared);
        }
        Ok(())
    }

    /// Gives a table as of the last change in Qdrant, brought along where it is older.
    fn as_of(
        &self,
        client: &Client,
        catalogue: &dyn Catalogue,
        entry: &Entry,
        shared: Shared,
    ) -> Option<Shared> {
        let seen = shared.read().seen;
        if seen >= entry.seen {
            return (seen == entry.seen).then_some(shared);
        }
        match bring_along(client, catalogue, entry, seen, &shared) {
            Ok(true) => {
                let is_there = shared.read().seen == entry.seen;
                is_there.then_some(shared)
            }
            Ok(false) => {
                self.known.lock().tables.remove(&entry.at.tenant);
                None
            }
            // Whatever failed fails for the question too, or is tried again by the next one.
            Err(_) => None,
        }
    }

    /// Tells whether there is a table of a namespace.
    pub(crate) fn has(&self, namespace: &NamespaceId) -> bool {
        self.known.lock().tables.values().any(|own| own.namespace == *namespace)
    }

    fn begin(&self, client: &Arc<Client>, entry: &Entry, state: &NamespaceState) {
        let n_passages = state.counts.n_passages;
        let mut known = self.known.lock();
        // A namespace that was made anew is another tenant: nobody asks for the earlier one.
        known.tables.retain(|_, own| own.namespace != state.info.id);
        let is_paused = known.failed.is_some_and(|since| since.elapsed() < PAUSE);
        if n_passages == 0
            || n_passages > MAX_PASSAGES_IN_MEMORY
            || known.loading.is_some()
            || is_paused
        {
            return;
        }
        known.loading = Some(entry.at.tenant.clone());
        let (client, entry) = (Arc::clone(client), entry.clone());
        let namespace = state.info.id.clone();
        let weak = Arc::downgrade(&self.known);
        let load = move || {
            let loaded = load(&client, &entry, &weak);
            let Some(known) = weak.upgrade() else { return };
            let mut known = known.lock();
            known.loading = None;
            match loaded {
                Ok(Some(dated)) => keep(&mut known, namespace, &entry.at.tenant, dated),
                Ok(None) => known.failed = Some(Instant::now()),
                Err(error) => {
                    tracing::debug!(tenant = entry.at.tenant, %error, "words could not be read");
                    known.failed = Some(Instant::now());
                }
            }
        };
        let begun = std::thread::Builder::new().name("qdrant-words".to_owned()).spawn(load);
        if begun.is_err() {
            known.loading = None;
        }
    }
}

/// Puts a table among the others; those that were not used for longest are dropped.
fn keep(known: &mut WordTables, namespace: NamespaceId, tenant: &str, dated: Dated) {
    let n_new = dated.table.n_rows();
    let n_rows = |known: &WordTables| {
        let tables = known.tables.values();
        tables.map(|own| own.table.read().table.n_rows()).sum::<usize>()
    };
    while n_rows(known) + n_new > MAX_PASSAGES_IN_MEMORY {
        let oldest = known.tables.iter().min_by_key(|(_, own)| own.used_at);
        let Some(oldest) = oldest.map(|(tenant, _)| tenant.clone()) else { break };
        known.tables.remove(&oldest);
    }
    let table = Arc::new(RwLock::new(dated));
    known.tables.insert(tenant.to_owned(), OfTenant { namespace, table, used_at: Instant::now() });
}

/// Reads all points of a tenant; nothing when they are too many or nobody waits any more. What comes
/// or goes meanwhile is in the log after the change that the table is dated with.
fn load(client: &Client, entry: &Entry, owner: &Weak<Mutex<WordTables>>) -> Result<Option<Dated>> {
    let mut dated = Dated { seen: entry.seen, table: WordTable::default() };
    let mut offset: Option<PointId> = None;
    loop {
        let request = ScrollPointsBuilder::new(&entry.at.collection)
            .filter(ServerFilter::must([of_tenant(&entry.at.tenant)]))
            .limit(POINTS_PER_PAGE)
            .with_payload(fields());
        let request = match offset.take() {
            Some(offset) => request.offset(offset),
            None => request,
        };
        let request = request.build();
        let deadline = Deadline::after(QUESTION_LIMIT);
        let page = client.ask("scroll", &deadline, move |peer| {
            let request = request.clone();
            async move { peer.scroll(request).await }
        })?;
        add(&mut dated.table, &page.result);
        if dated.table.n_rows() > MAX_PASSAGES_IN_MEMORY || owner.strong_count() == 0 {
            return Ok(None);
        }
        match page.next_page_offset {
            Some(next) => offset = Some(next),
            None => return Ok(Some(dated)),
        }
    }
}

/// Takes in what the log says up to the last change in Qdrant; false when reading anew is better.
fn bring_along(
    client: &Client,
    catalogue: &dyn Catalogue,
    entry: &Entry,
    seen: u64,
    shared: &Shared,
) -> Result<bool> {
    let page = catalogue.log(entry.number, seen, MAX_ENTRIES)?;
    let has_all = page.entries.last().is_some_and(|last| last.sequence >= entry.seen);
    if page.starts_after > seen || !has_all {
        return Ok(false);
    }
    let (mut new, mut gone) = (BTreeSet::new(), BTreeSet::new());
    for log_entry in page.entries.iter().filter(|one| one.sequence <= entry.seen) {
        match log_entry.kind {
            LogKind::Added => new.extend(log_entry.passages()),
            LogKind::Removed => gone.extend(log_entry.passages()),
            LogKind::Vectors => {}
        }
        if new.len() > MAX_NEW {
            return Ok(false);
        }
    }
    let ids: Vec<PointId> =
        new.difference(&gone).map(|number| point::id_of(&entry.at.tenant, *number)).collect();
    let points = points(client, entry, ids, fields(), &Deadline::after(QUESTION_LIMIT))?;
    let mut dated = shared.write();
    // Another question may have done it by now.
    if dated.seen == seen {
        for number in gone {
            if let Some(id) = id_in(Some(&point::id_of(&entry.at.tenant, number))) {
                dated.table.remove(id);
            }
        }
        add(&mut dated.table, &points);
        dated.seen = entry.seen;
    }
    let (n_rows, n_gone) = (dated.table.n_rows(), dated.table.n_gone());
    Ok(n_rows <= MAX_PASSAGES_IN_MEMORY
        && (n_gone as f64) <= MAX_GONE * n_rows as f64 + MAX_NEW as f64)
}

/// Reads points by id; those that are gone are left out.
pub(crate) fn points(
    client: &Client,
    entry: &Entry,
    ids: Vec<PointId>,
    fields: PayloadIncludeSelector,
    deadline: &Deadline,
) -> Result<Vec<RetrievedPoint>> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let request = GetPointsBuilder::new(&entry.at.collection, ids).with_payload(fields).build();
    let answer = client.ask("points", deadline, move |peer| {
        let request = request.clone();
        async move { peer.get_points(request).await }
    })?;
    Ok(answer.result)
}

fn add(table: &mut WordTable, points: &[RetrievedPoint]) {
    for point in points {
        if let Some(id) = id_in(point.id.as_ref()) {
            table.add(id, &point.payload);
        }
    }
}

fn fields() -> PayloadIncludeSelector {
    PayloadIncludeSelector { fields: FIELDS.map(str::to_owned).to_vec() }
}
