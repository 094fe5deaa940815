//! How the engine follows the catalogue: the log becomes writes, each of them whole documents, and
//! what was sent once can be sent again.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use rusqlite::{Connection, params};
use turbopuffer::types::Row;

use super::engine::{Change, Engine};
use super::ledger::{self, Entry};
use super::namespace::{Following, Namespace};
use super::row::{self, Schema, Source};
use super::{TurbopufferConfig, naming};
use crate::truth::rows::{self, DocumentRow, LogEntry, LogKind};
use crate::truth::{Database, log_starts_after};
use crate::{Result, VectorSpace};

/// Rows gathered for one write, about, in bytes. A single document is never split.
const WRITE_BYTES: usize = 16 << 20;

/// Brings the engine to the last change of the catalogue.
pub(super) struct Follower<'a> {
    pub(super) database: &'a Database,
    pub(super) engine: &'a Engine,
    pub(super) config: &'a TurbopufferConfig,
    /// Names that are being filled and not in use yet, so that nobody erases them meanwhile.
    pub(super) filling: &'a Mutex<BTreeSet<String>>,
}

impl Follower<'_> {
    /// Lets the engine follow; when it cannot go on from where it is, its namespace is made anew
    /// under another name, and searches go on with the earlier one meanwhile.
    pub(super) fn catch_up(&self, namespace: &Namespace, following: &mut Following) -> Result<()> {
        let number = namespace.number;
        let (starts_after, last) = self.database.read(|connection| {
            Ok((log_starts_after(connection, number)?, rows::last_sequence(connection, number)?))
        })?;
        let space = self.database.row_of(&namespace.id)?.info.manifest.vectors;
        let Some(entry) = following.entry.clone() else {
            if last == 0 {
                return Ok(());
            }
            return self.make_anew(namespace, following);
        };
        if entry.seen < starts_after || entry.space != space {
            return self.make_anew(namespace, following);
        }
        if entry.seen == last {
            return Ok(());
        }
        let entries =
            self.database.read(|connection| rows::log_after(connection, number, entry.seen))?;
        let mut batch = Batch::new(self.engine, &entry.name, space.as_ref());
        for (idx, log_entry) in entries.iter().enumerate() {
            let is_replacing = idx > 0
                && log_entry.kind == LogKind::Added
                && entries[idx - 1].kind == LogKind::Removed;
            if !is_replacing {
                batch.flush_if_large()?;
            }
            self.take_in(number, log_entry, &mut batch)?;
        }
        batch.flush()?;
        // A search may filter by an attribute only once the engine knows it.
        let attributes = batch.attributes();
        if !namespace.view().attributes.is_superset(&attributes) {
            ledger::add_attributes(self.database, &entry.name, &attributes)?;
            namespace.publish(&entry.name, attributes);
        }
        let seen = entries.last().map_or(entry.seen, |entry| entry.sequence);
        ledger::note_seen(self.database, number, seen)?;
        following.entry = Some(Entry { seen, ..entry });
        Ok(())
    }

    /// Makes the namespace anew from the rows of the catalogue.
    pub(super) fn make_anew(&self, namespace: &Namespace, following: &mut Following) -> Result<()> {
        let space = self.database.row_of(&namespace.id)?.info.manifest.vectors;
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
        ledger::note_unfinished(self.database, name)?;
        let seen = self.database.read(|connection| rows::last_sequence(connection, number))?;
        let versions: Vec<(u32, u32)> = self.database.read(|connection| {
            let (first, last) = rows::rows_of(number);
            let mut statement = connection.prepare(
                "SELECT first_passage, n_passages FROM documents WHERE row BETWEEN ? AND ?
                 ORDER BY row",
            )?;
            let found =
                statement.query_map(params![first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })?;
        let mut batch = Batch::new(self.engine, name, space.as_ref());
        for (first, count) in versions {
            batch.flush_if_large()?;
            let sources =
                self.database.read(|connection| living(connection, number, first, count))?;
            batch.upsert(&sources);
        }
        batch.flush()?;
        let attributes = batch.attributes();
        let entry = Entry { name: name.to_owned(), seen, space };
        ledger::add_attributes(self.database, name, &attributes)?;
        ledger::put(self.database, number, &entry)?;
        following.entry = Some(entry);
        namespace.publish(name, attributes);
        Ok(())
    }

    /// Erases namespaces of the engine that are not in use any more; what fails is tried again
    /// the next time.
    pub(super) fn erase_leftovers(&self) {
        let names = ledger::erasures(self.database).unwrap_or_default();
        for name in names {
            if self.filling.lock().contains(&name) {
                continue;
            }
            let erased =
                self.engine.erase(&name).and_then(|()| ledger::forget(self.database, &name));
            if let Err(error) = erased {
                tracing::warn!(
                    namespace = name,
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
            if !ledger::is_taken(self.database, &name)? {
                if self.engine.attributes(&name)?.is_none() {
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
                let ids = self
                    .database
                    .read(|connection| engine_ids(connection, number, entry.first, entry.count))?;
                batch.delete(ids);
            }
            LogKind::Added | LogKind::Vectors => {
                let sources = self
                    .database
                    .read(|connection| living(connection, number, entry.first, entry.count))?;
                batch.upsert(&sources);
            }
        }
        Ok(())
    }
}

/// Rows and ids that go to the engine together.
struct Batch<'a> {
    engine: &'a Engine,
    name: &'a str,
    schema: Schema,
    upserts: BTreeMap<String, Row>,
    deletes: BTreeSet<String>,
    n_bytes: usize,
    is_written: bool,
}

impl<'a> Batch<'a> {
    fn new(engine: &'a Engine, name: &'a str, space: Option<&VectorSpace>) -> Self {
        Batch {
            engine,
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

    fn upsert(&mut self, sources: &[Source]) {
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
        self.engine.write(self.name, &change, &self.schema)?;
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

/// Gives those passages of a range that belong to the present version of their document.
fn living(connection: &Connection, namespace: u32, first: u32, count: u32) -> Result<Vec<Source>> {
    if count == 0 {
        return Ok(vec![]);
    }
    let first = rows::row_of(namespace, first);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, passages.row, passages.document, vectors.vector
         FROM passages JOIN documents ON documents.row = passages.document
         LEFT JOIN vectors ON vectors.row = passages.row
         WHERE passages.row BETWEEN ? AND ?
         AND passages.row - (documents.namespace << 32) - documents.first_passage
             BETWEEN 0 AND documents.n_passages - 1
         ORDER BY passages.row",
        rows::PASSAGE
    ))?;
    let mut found = statement.query(params![first, first + i64::from(count) - 1])?;
    let mut sources: Vec<Source> = vec![];
    let mut document: Option<DocumentRow> = None;
    while let Some(row) = found.next()? {
        let passage = rows::finish_passage(rows::read_passage(row)?)?;
        let (passage_row, document_row): (i64, i64) = (row.get(7)?, row.get(8)?);
        let vector: Option<Vec<u8>> = row.get(9)?;
        if document.as_ref().is_none_or(|document| document.row != document_row) {
            document = rows::document_row_at(connection, document_row)?;
        }
        let Some(document) = &document else { continue };
        sources.push(Source {
            number: rows::number_of(passage_row),
            document: document.clone(),
            passage,
            vector: vector.map(|bytes| {
                let (chunks, _) = bytes.as_chunks::<4>();
                chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
            }),
        });
    }
    Ok(sources)
}

/// Gives the ids in the engine of the passages of a range, living or not.
fn engine_ids(
    connection: &Connection,
    namespace: u32,
    first: u32,
    count: u32,
) -> Result<Vec<String>> {
    let first = rows::row_of(namespace, first);
    let mut statement =
        connection.prepare_cached("SELECT id, pointer FROM passages WHERE row BETWEEN ? AND ?")?;
    let found = statement.query_map(params![first, first + i64::from(count) - 1], |row| {
        let (id, pointer): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok((id, pointer))
    })?;
    let whole = model::Pointer::Whole.to_string();
    let mut ids = vec![];
    for found in found {
        let (id, pointer) = found?;
        ids.push(naming::passage_id(&id, pointer.as_deref().unwrap_or(&whole)));
    }
    Ok(ids)
}
