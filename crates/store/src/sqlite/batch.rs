//! The catalogue's side of a write: documents and passages in one transaction, with the log of
//! what the indexes have to follow.

use model::{DocumentId, Passage};
use rusqlite::{Transaction, params};

use super::checksums::Checksum;
use super::rows::{self, NamespaceRow};
use super::texts;
use crate::{Document, Error, LogKind, Result, Upserted, VersionChange, Written, analysis, bounds};

/// The changes of one transaction on one namespace.
pub(crate) struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    row: NamespaceRow,
    sequence_before: u64,
    sequence: u64,
    versions: Vec<VersionChange>,
    upserted: Upserted,
}

impl<'a> Batch<'a> {
    /// Begins the changes to a namespace.
    pub(crate) fn begin(transaction: &'a Transaction<'a>, row: NamespaceRow) -> Result<Self> {
        let sequence_before = rows::last_sequence(transaction, row.number)?;
        Ok(Batch {
            transaction,
            row,
            sequence_before,
            sequence: sequence_before,
            versions: vec![],
            upserted: Upserted::default(),
        })
    }

    /// Writes a document, replacing its earlier version.
    pub(crate) fn upsert(
        &mut self,
        document_idx: usize,
        document: &Document,
        now: i64,
    ) -> Result<()> {
        let number = self.row.number;
        let earlier = rows::document_row(self.transaction, number, document.id.as_str())?;
        let first = self.row.next_passage;
        let after = bounds::number_after(first, document.passages.len())?;
        let n_passages = after - first;
        let document_row = match &earlier {
            Some(earlier) => earlier.row,
            None => rows::row_of(number, self.row.next_document),
        };
        let language = analysis::language_of(&document.title, &document.passages);
        self.row.languages.insert(language);
        let json_of = |value: serde_json::Result<String>| {
            value.map_err(|source| Error::BadObject {
                kind: "document".to_owned(),
                id: document.id.to_string(),
                source,
            })
        };
        let attributes = json_of(serde_json::to_string(&document.attributes))?;
        let metadata = json_of(serde_json::to_string(&document.metadata))?;
        let checksum = Checksum::default()
            .int(document_row)
            .int(number)
            .text(document.id.as_str())
            .text(&document.title)
            .text(&attributes)
            .text(&metadata)
            .text(&document.fingerprint)
            .text(language.code())
            .int(first)
            .int(n_passages)
            .int(now);
        self.transaction
            .prepare_cached("REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                document_row,
                number,
                document.id.as_str(),
                document.title,
                attributes,
                metadata,
                document.fingerprint,
                language.code(),
                first,
                n_passages,
                now,
                checksum.finish()
            ])?;
        self.row.next_passage = after;
        let mut kept = vec![];
        for (passage_number, passage) in (first..).zip(&document.passages) {
            let hash = rows::id_hash(number, passage.id.as_str());
            if self.is_taken(hash, passage)? {
                return Err(Error::DuplicatePassage {
                    document: document.id.clone(),
                    passage: passage.id.clone(),
                });
            }
            self.insert_passage(document_row, hash, passage_number, passage)?;
        }
        let new_texts = document.passages.iter().map(|passage| passage.text.as_str());
        texts::write(self.transaction, rows::row_of(number, first), new_texts)?;
        match &earlier {
            None => {
                self.row.next_document += 1;
                self.row.counts.n_documents += 1;
                self.upserted.n_new += 1;
            }
            Some(earlier) => {
                self.upserted.n_replaced += 1;
                let before = self.earlier_vectors(earlier.first_passage, earlier.n_passages)?;
                self.row.counts.n_vectors -= before;
                if earlier.title == document.title {
                    kept = self.keep_vectors(
                        earlier.first_passage,
                        earlier.n_passages,
                        first,
                        document,
                    )?;
                }
                self.remove_version(earlier.first_passage, earlier.n_passages)?;
            }
        }
        if n_passages > 0 {
            self.log(LogKind::Added, first, n_passages)?;
            self.versions.push(VersionChange::Added { document_idx, first, language });
        }
        if self.row.info.manifest.vectors.is_some() && n_passages > 0 {
            let first_row = rows::row_of(number, first);
            self.transaction
                .prepare_cached(
                    "INSERT INTO awaiting_vectors SELECT row FROM passages
                     WHERE row BETWEEN ? AND ?
                     AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.row = passages.row)",
                )?
                .execute(params![first_row, first_row + i64::from(n_passages) - 1])?;
        }
        self.row.counts.n_passages += n_passages as usize;
        self.row.counts.n_vectors += kept.len();
        self.upserted.n_passages += n_passages as usize;
        self.upserted.n_vectors_kept += kept.len();
        if !kept.is_empty() {
            self.sequence = log_runs(self.transaction, number, kept)?;
        }
        Ok(())
    }

    /// Erases a document; tells whether it was there.
    pub(crate) fn delete(&mut self, document: &DocumentId) -> Result<bool> {
        let number = self.row.number;
        let Some(found) = rows::document_row(self.transaction, number, document.as_str())? else {
            return Ok(false);
        };
        self.row.counts.n_vectors -= self.earlier_vectors(found.first_passage, found.n_passages)?;
        self.remove_version(found.first_passage, found.n_passages)?;
        self.transaction
            .prepare_cached("DELETE FROM documents WHERE row = ?")?
            .execute([found.row])?;
        self.row.counts.n_documents -= 1;
        Ok(true)
    }

    /// Writes down the counts and gives what the indexes have to follow.
    pub(crate) fn finish(self) -> Result<Written> {
        let counts = self.row.counts;
        self.transaction
            .prepare_cached(
                "UPDATE namespaces SET next_passage = ?, next_document = ?, n_documents = ?,
                 n_passages = ?, n_vectors = ?, languages = ? WHERE number = ?",
            )?
            .execute(params![
                self.row.next_passage,
                self.row.next_document,
                counts.n_documents,
                counts.n_passages,
                counts.n_vectors,
                self.row.languages.bits() as i64,
                self.row.number
            ])?;
        Ok(Written {
            sequence_before: self.sequence_before,
            sequence: self.sequence,
            versions: self.versions,
            upserted: self.upserted,
        })
    }

    fn log(&mut self, kind: LogKind, first: u32, count: u32) -> Result<()> {
        self.sequence = rows::append_log(self.transaction, self.row.number, kind, first, count)?;
        Ok(())
    }

    /// Tells whether a living passage has the id; the document's row already names the new
    /// version, so its earlier passages do not count as living.
    fn is_taken(&self, hash: i64, passage: &Passage) -> Result<bool> {
        let mut statement =
            self.transaction.prepare_cached("SELECT 1 FROM passages WHERE id_hash = ? LIMIT 1")?;
        if !statement.exists([hash])? {
            return Ok(false);
        }
        Ok(rows::living_row(self.transaction, self.row.number, &passage.id)?.is_some())
    }

    fn insert_passage(
        &self,
        document_row: i64,
        hash: i64,
        number: u32,
        passage: &Passage,
    ) -> Result<()> {
        let is_whole = passage.pointer == model::Pointer::Whole;
        let pointer = (!is_whole).then(|| passage.pointer.to_string());
        let headings = match passage.headings.is_empty() {
            true => None,
            false => serde_json::to_string(&passage.headings).ok(),
        };
        let row = rows::row_of(self.row.number, number);
        let checksum = Checksum::default()
            .int(row)
            .int(document_row)
            .int(hash)
            .text(passage.id.as_str())
            .int(passage.ordinal)
            .int(passage.span.start as i64)
            .int(passage.span.end as i64)
            .optional_text(pointer.as_deref())
            .optional_text(headings.as_deref());
        self.transaction
            .prepare_cached("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                row,
                document_row,
                hash,
                passage.id.as_str(),
                passage.ordinal,
                passage.span.start,
                passage.span.end,
                pointer,
                headings,
                checksum.finish()
            ])?;
        Ok(())
    }

    fn earlier_vectors(&self, first: u32, count: u32) -> Result<usize> {
        let first = rows::row_of(self.row.number, first);
        let mut statement = self
            .transaction
            .prepare_cached("SELECT count(*) FROM vectors WHERE row BETWEEN ? AND ?")?;
        Ok(statement.query_row(params![first, first + i64::from(count) - 1], |row| row.get(0))?)
    }

    /// Hands the vectors and blobs of unchanged passages on to their new numbers.
    fn keep_vectors(
        &self,
        earlier_first: u32,
        earlier_count: u32,
        first: u32,
        document: &Document,
    ) -> Result<Vec<u32>> {
        let earlier_row = rows::row_of(self.row.number, earlier_first);
        let mut statement = self.transaction.prepare_cached(&format!(
            "SELECT {} FROM passages WHERE row BETWEEN ? AND ? ORDER BY row",
            rows::PASSAGE
        ))?;
        let mut found =
            statement.query(params![earlier_row, earlier_row + i64::from(earlier_count) - 1])?;
        let mut reader = texts::Reader::new(self.transaction);
        let mut earlier = std::collections::HashMap::new();
        while let Some(row) = found.next()? {
            let raw = rows::read_passage(row)?;
            let earlier_row = raw.row;
            let passage = rows::finish_passage(raw, &mut reader)?;
            earlier.insert(passage.id.clone(), (earlier_row, passage));
        }
        let mut kept = vec![];
        for (number, passage) in (first..).zip(&document.passages) {
            let Some((earlier_row, before)) = earlier.get(&passage.id) else { continue };
            if before.text != passage.text || before.headings != passage.headings {
                continue;
            }
            let row = rows::row_of(self.row.number, number);
            let n_moved = self
                .transaction
                .prepare_cached("UPDATE vectors SET row = ? WHERE row = ?")?
                .execute(params![row, earlier_row])?;
            self.transaction
                .prepare_cached("UPDATE blobs SET row = ? WHERE row = ?")?
                .execute(params![row, earlier_row])?;
            if n_moved > 0 {
                kept.push(number);
            }
        }
        Ok(kept)
    }

    /// Lets a version go: its rows stay until no search can see them any more.
    fn remove_version(&mut self, first: u32, count: u32) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let first_row = rows::row_of(self.row.number, first);
        self.transaction
            .prepare_cached("DELETE FROM awaiting_vectors WHERE row BETWEEN ? AND ?")?
            .execute(params![first_row, first_row + i64::from(count) - 1])?;
        self.log(LogKind::Removed, first, count)?;
        self.versions.push(VersionChange::Removed { first });
        self.row.counts.n_passages -= count as usize;
        Ok(())
    }
}

/// Logs that passages got vectors, neighbours together.
pub(crate) fn log_runs(
    transaction: &Transaction<'_>,
    namespace: u32,
    mut numbers: Vec<u32>,
) -> Result<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut sequence = 0;
    for run in numbers.chunk_by(|left, right| left + 1 == *right) {
        sequence =
            rows::append_log(transaction, namespace, LogKind::Vectors, run[0], run.len() as u32)?;
    }
    Ok(sequence)
}
