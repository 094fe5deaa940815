//! Questions that the catalogue answers by itself: documents, passages, blobs and counts.

use model::{DocumentId, NamespaceId, Passage, PassageId};
use rusqlite::{Connection, OptionalExtension, params};

use super::database::Database;
use super::rows;
use super::texts::Reader;
use crate::{
    DocumentCount, DocumentInfo, DocumentPage, Error, Fingerprint, Result, StoredPassage, limits,
};

impl Database {
    /// Reads inside one namespace.
    pub(crate) fn read_in<T>(
        &self,
        namespace: &NamespaceId,
        read: impl FnOnce(&Connection, u32) -> Result<T>,
    ) -> Result<T> {
        self.read(|connection| {
            let row = rows::namespace(connection, namespace)?
                .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.clone() })?;
            read(connection, row.number)
        })
    }

    /// Lists documents in the order of their ids.
    pub(crate) fn documents(
        &self,
        namespace: &NamespaceId,
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        self.list(namespace, "", vec![], page)
    }

    /// Lists documents whose attribute has one of some values, in the order of their ids.
    pub(crate) fn documents_with(
        &self,
        namespace: &NamespaceId,
        attribute: &str,
        values: &[Option<&str>],
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        if values.is_empty() {
            return Ok(vec![]);
        }
        let condition = |(idx, value): (usize, &Option<&str>)| {
            let parameter = idx + 5;
            // Few documents have a value, and its letters are looked for before any JSON is read.
            let is_escaped = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
            let is_verbatim = value.is_some_and(|value| !value.contains(is_escaped));
            let there = if is_verbatim {
                format!("instr(attributes, ?{parameter}) AND ")
            } else {
                String::new()
            };
            format!("({there}{} IS ?{parameter})", word_at(4))
        };
        let conditions: Vec<String> = values.iter().enumerate().map(condition).collect();
        let bound = std::iter::once(path_of(attribute).into())
            .chain(values.iter().map(|value| value.map(str::to_owned).into()))
            .collect();
        self.list(namespace, &format!("AND ({})", conditions.join(" OR ")), bound, page)
    }

    /// Lists documents that meet a condition, whose parameters are numbered from 4.
    fn list(
        &self,
        namespace: &NamespaceId,
        condition: &str,
        bound: Vec<rusqlite::types::Value>,
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        let after = page.after.as_ref().map(|id| id.as_str().to_owned());
        let limit = page.limit.min(limits::MAX_PAGE);
        self.read_in(namespace, |connection, number| {
            let mut statement = connection.prepare_cached(&format!(
                "{} WHERE namespace = ?1 AND id >= ?2 AND (?3 IS NULL OR id > ?3) {condition}
                 ORDER BY id",
                rows::DOCUMENT_INFO
            ))?;
            let first = [i64::from(number).into(), page.prefix.clone().into(), after.into()];
            let mut found =
                statement.query(rusqlite::params_from_iter(first.into_iter().chain(bound)))?;
            let mut documents = vec![];
            while documents.len() < limit
                && let Some(row) = found.next()?
            {
                let document = rows::finish_document_info(rows::read_document_info(row)?)?;
                // Ids are sorted, so the first one without the prefix ends the listing.
                if !document.id.as_str().starts_with(&page.prefix) {
                    break;
                }
                documents.push(document);
            }
            Ok(documents)
        })
    }

    /// Counts documents by the values of some attributes, by one query; what was counted stays
    /// known until something is written, since every document has to be looked at.
    pub(crate) fn count_documents(
        &self,
        namespace: &NamespaceId,
        attributes: &[&str],
    ) -> Result<Vec<DocumentCount>> {
        let columns: String =
            (0..attributes.len()).map(|idx| format!("{}, ", word_at(idx + 2))).collect();
        let groups: String = (0..=attributes.len()).map(|idx| format!("{}, ", idx + 1)).collect();
        let groups = groups.trim_end_matches(", ");
        let sql = format!(
            "SELECT {columns}n_passages > 0, COUNT(*) FROM documents WHERE namespace = ?1
             GROUP BY {groups} ORDER BY {groups}"
        );
        self.read_in(namespace, |connection, number| {
            let changes = "SELECT value FROM about WHERE key = 'changes'";
            let n_changes: u64 =
                connection.prepare_cached(changes)?.query_row([], |row| row.get(0))?;
            let of = (number, attributes.iter().map(|name| (*name).to_owned()).collect());
            if let Some(known) = self.counted.get(n_changes, &of) {
                return Ok(known);
            }
            let mut statement = connection.prepare_cached(&sql)?;
            let paths = attributes.iter().map(|name| path_of(name));
            let bound: Vec<rusqlite::types::Value> = std::iter::once(i64::from(number).into())
                .chain(paths.map(rusqlite::types::Value::from))
                .collect();
            let counts = statement.query_map(rusqlite::params_from_iter(bound), |row| {
                let values = (0..attributes.len())
                    .map(|idx| row.get::<_, Option<String>>(idx))
                    .collect::<rusqlite::Result<_>>()?;
                Ok(DocumentCount {
                    values,
                    has_passages: row.get(attributes.len())?,
                    n_documents: row.get::<_, i64>(attributes.len() + 1)?.unsigned_abs() as usize,
                })
            })?;
            let counts: Vec<DocumentCount> = counts.collect::<rusqlite::Result<_>>()?;
            self.counted.put(n_changes, of, &counts);
            Ok(counts)
        })
    }

    /// Gives the fingerprints of documents in the order of their ids.
    pub(crate) fn fingerprints(
        &self,
        namespace: &NamespaceId,
        prefix: &str,
    ) -> Result<Vec<Fingerprint>> {
        self.read_in(namespace, |connection, number| {
            let mut statement = connection.prepare_cached(
                "SELECT id, fingerprint, n_passages FROM documents
                 WHERE namespace = ? AND id >= ? ORDER BY id",
            )?;
            let mut found = statement.query(params![number, prefix])?;
            let mut fingerprints = vec![];
            while let Some(row) = found.next()? {
                let id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                if !id.starts_with(prefix) {
                    break;
                }
                fingerprints.push(Fingerprint {
                    id: DocumentId::new(id),
                    fingerprint: row.get(1)?,
                    n_passages: row.get(2)?,
                });
            }
            Ok(fingerprints)
        })
    }

    /// Gives documents by id, in the order asked: one statement of one transaction, run for each.
    pub(crate) fn documents_by_id(
        &self,
        namespace: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<DocumentInfo>>> {
        self.read_in(namespace, |connection, number| {
            let mut statement = connection.prepare_cached(&format!(
                "{} WHERE namespace = ? AND id = ?",
                rows::DOCUMENT_INFO
            ))?;
            let mut one = |document: &DocumentId| {
                let found = statement
                    .query_row(params![number, document.as_str()], rows::read_document_info)
                    .optional()?;
                found.map(rows::finish_document_info).transpose()
            };
            documents.iter().map(&mut one).collect()
        })
    }

    /// Gives the passages of a document in order.
    pub(crate) fn passages_of(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Vec<Passage>> {
        self.read_in(namespace, |connection, number| {
            let Some(found) = rows::document_row(connection, number, document.as_str())? else {
                return Ok(vec![]);
            };
            let first = rows::row_of(number, found.first_passage);
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {} FROM passages WHERE row BETWEEN ? AND ? ORDER BY row",
                rows::PASSAGE
            ))?;
            let last = first + i64::from(found.n_passages) - 1;
            let found = statement.query_map(params![first, last], rows::read_passage)?;
            let mut texts = Reader::new(connection);
            found.map(|passage| rows::finish_passage(passage?, &mut texts)).collect()
        })
    }

    /// Gives passages by id, in the order asked.
    pub(crate) fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        self.read_in(namespace, |connection, number| {
            rows::living_passages(connection, &self.blocks, number, passages)
        })
    }

    /// Gives passages that have no vector yet, the longest waiting first.
    pub(crate) fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        self.read_in(namespace, |connection, number| {
            let (first, last) = rows::rows_of(number);
            let mut statement = connection.prepare_cached(
                "SELECT row FROM awaiting_vectors WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?",
            )?;
            let limit = limit.min(limits::MAX_PAGE);
            let awaiting = statement.query_map(params![first, last, limit], |row| row.get(0))?;
            let mut passages = vec![];
            for row in awaiting {
                passages.extend(rows::stored_passage(connection, row?)?);
            }
            Ok(passages)
        })
    }

    /// Gives those of some passages that have no vector yet.
    pub(crate) fn without_vectors(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<StoredPassage>> {
        self.read_in(namespace, |connection, number| {
            let mut has_vector =
                connection.prepare_cached("SELECT 1 FROM vectors WHERE row = ? LIMIT 1")?;
            let mut found = vec![];
            for id in passages {
                if let Some(row) = rows::living_row(connection, number, id)?
                    && !has_vector.exists([row])?
                {
                    found.extend(rows::stored_passage(connection, row)?);
                }
            }
            Ok(found)
        })
    }

    /// Gives the blobs of passages, in the order asked.
    pub(crate) fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_in(namespace, |connection, number| {
            let mut statement =
                connection.prepare_cached("SELECT blob FROM blobs WHERE row = ?")?;
            let mut one = |id: &PassageId| match rows::living_row(connection, number, id)? {
                Some(row) => Ok(statement.query_row([row], |row| row.get(0)).optional()?),
                None => Ok(None),
            };
            passages.iter().map(&mut one).collect()
        })
    }
}

/// The value of an attribute whose path is a parameter; nothing where it is no word. Names are
/// bound, not written: they may hold anything.
fn word_at(parameter: usize) -> String {
    format!(
        "CASE json_type(attributes, ?{parameter}) WHEN 'text' \
         THEN json_extract(attributes, ?{parameter}) END"
    )
}

/// Where an attribute is in the JSON of a document.
fn path_of(attribute: &str) -> String {
    format!("$.\"{}\"", attribute.replace('"', ""))
}
