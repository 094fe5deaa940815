//! What followers read: the log, passages and vectors by number, and names for what they found.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use model::{DocumentId, PassageId, Pointer};
use rusqlite::{OptionalExtension, params};

use super::database::Database;
use super::log::log_starts_after;
use super::rows;
use super::texts::Reader;
use crate::{DocumentSource, LogPage, NamespaceHead, PassageSource, Result, SourceParts};

/// The condition that a passage belongs to the present version of its document.
const IS_LIVING: &str = "passages.row - (documents.namespace << 32) - documents.first_passage
    BETWEEN 0 AND documents.n_passages - 1";

impl Database {
    /// Gives a part of a namespace's log, all of one moment.
    pub(super) fn log_page(&self, number: u32, after: u64, limit: usize) -> Result<LogPage> {
        self.read(|connection| {
            Ok(LogPage {
                starts_after: log_starts_after(connection, number)?,
                last: rows::last_sequence(connection, number)?,
                entries: rows::log_after(connection, number, after, limit)?,
            })
        })
    }

    /// Gives every namespace with its last sequence number.
    pub(super) fn heads(&self) -> Result<Vec<NamespaceHead>> {
        self.read(|connection| {
            let head = |row: rows::NamespaceRow| {
                let sequence = rows::last_sequence(connection, row.number)?;
                Ok(NamespaceHead { id: row.info.id, number: row.number, sequence })
            };
            rows::namespaces(connection)?.into_iter().map(head).collect()
        })
    }

    /// Gives passages of present versions.
    pub(super) fn sources(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
        with: SourceParts,
    ) -> Result<Vec<PassageSource>> {
        let (column, join) = match with {
            SourceParts::WithoutVector => ("NULL", ""),
            SourceParts::WithVector => {
                ("vectors.vector", "LEFT JOIN vectors ON vectors.row = passages.row")
            }
        };
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {}, passages.document, {column}
                 FROM passages JOIN documents ON documents.row = passages.document {join}
                 WHERE passages.row >= ? AND passages.row < ? AND {IS_LIVING}
                 ORDER BY passages.row LIMIT ?",
                rows::PASSAGE
            ))?;
            let (first, end) = bounds(number, &passages);
            let mut found = statement.query(params![first, end, limit])?;
            let mut texts = Reader::new(connection);
            let mut sources: Vec<PassageSource> = vec![];
            let mut document: Option<(i64, Arc<DocumentSource>)> = None;
            while let Some(row) = found.next()? {
                let raw = rows::read_passage(row)?;
                let (passage_row, document_row): (i64, i64) = (raw.row, row.get(7)?);
                let passage = rows::finish_passage(raw, &mut texts)?;
                if document.as_ref().is_none_or(|(at, _)| *at != document_row) {
                    document = rows::document_row_at(connection, document_row)?
                        .map(|found| (document_row, Arc::new(source_of(found))));
                }
                let Some((_, document)) = &document else { continue };
                let vector = row.get_ref(8)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
                sources.push(PassageSource {
                    number: rows::number_of(passage_row),
                    document: document.clone(),
                    passage,
                    vector: vector.map(floats),
                });
            }
            Ok(sources)
        })
    }

    /// Gives vectors of passages of present versions.
    pub(super) fn vectors(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<f32>)>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT vectors.row, vector FROM vectors
                 JOIN passages ON passages.row = vectors.row
                 JOIN documents ON documents.row = passages.document
                 WHERE vectors.row >= ? AND vectors.row < ? AND {IS_LIVING}
                 ORDER BY vectors.row LIMIT ?"
            ))?;
            let (first, end) = bounds(number, &passages);
            let mut found = statement.query(params![first, end, limit])?;
            let mut vectors = vec![];
            while let Some(row) = found.next()? {
                let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
                vectors.push((rows::number_of(row.get(0)?), floats(bytes)));
            }
            Ok(vectors)
        })
    }

    /// Gives the ids of passages by number.
    pub(super) fn names(
        &self,
        number: u32,
        passages: &[u32],
    ) -> Result<Vec<Option<(DocumentId, PassageId)>>> {
        self.read(|connection| {
            let mut passage_at =
                connection.prepare_cached("SELECT document, id FROM passages WHERE row = ?")?;
            let mut document_at =
                connection.prepare_cached("SELECT id FROM documents WHERE row = ?")?;
            // Hundreds of passages are often of a few documents.
            let mut documents: HashMap<i64, Option<DocumentId>> = HashMap::new();
            let name = |passage: &u32| {
                let row = rows::row_of(number, *passage);
                let found = passage_at.query_row([row], |row| {
                    Ok((row.get::<_, i64>(0)?, PassageId::new(row.get::<_, String>(1)?)))
                });
                let Some((document, passage)) = found.optional()? else { return Ok(None) };
                let document = match documents.entry(document) {
                    Entry::Occupied(known) => known.get().clone(),
                    Entry::Vacant(unknown) => {
                        let id = document_at.query_row([document], |row| row.get::<_, String>(0));
                        unknown.insert(id.optional()?.map(DocumentId::new)).clone()
                    }
                };
                Ok(document.map(|document| (document, passage)))
            };
            passages.iter().map(name).collect()
        })
    }

    /// Gives ids and pointers of passages, of removed versions too.
    pub(super) fn labels(
        &self,
        number: u32,
        passages: Range<u32>,
    ) -> Result<Vec<(PassageId, Pointer)>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, pointer FROM passages WHERE row >= ? AND row < ? ORDER BY row",
            )?;
            let (first, end) = bounds(number, &passages);
            let found = statement.query_map(params![first, end], |row| {
                let pointer: Option<String> = row.get(1)?;
                Ok((PassageId::new(row.get::<_, String>(0)?), rows::pointer_of(pointer)))
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
    }
}

fn bounds(number: u32, passages: &Range<u32>) -> (i64, i64) {
    (rows::row_of(number, passages.start), rows::row_of(number, passages.end))
}

fn source_of(row: rows::DocumentRow) -> DocumentSource {
    DocumentSource {
        id: row.id,
        title: row.title,
        attributes: row.attributes,
        language: row.language,
        first_passage: row.first_passage,
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
