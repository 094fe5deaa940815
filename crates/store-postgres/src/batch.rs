//! The changes of one transaction to the documents of one namespace, with the log of what engines
//! have to follow. Statements take many rows at a time: a batch costs a dozen round trips however
//! many documents it has.

use std::collections::{HashMap, HashSet};

use model::{DocumentId, Timestamp};
use store::{
    Document, Error, LogKind, Result, Upserted, VersionChange, Written, bounds, language_of,
};

use crate::batch_rows::{DocumentRows, LogRows, PassageRows};
use crate::connection::Connection;
use crate::rows::{self, NamespaceRow, key};

/// The changes of one transaction to one namespace, whose row is locked.
pub(crate) struct Batch<'a> {
    connection: &'a mut Connection,
    row: NamespaceRow,
    sequence_before: u64,
    log: LogRows,
    versions: Vec<VersionChange>,
    upserted: Upserted,
}

/// A version of a document that is there.
#[derive(Debug, Clone)]
struct Version {
    title: String,
    first: i64,
    n_passages: i64,
}

impl Version {
    fn count(&self) -> u32 {
        u32::try_from(self.n_passages).unwrap_or(u32::MAX)
    }
}

/// A passage of an earlier version whose vector or blob may be used again.
struct EarlierPassage {
    number: i64,
    content: Vec<u8>,
    has_vector: bool,
}

impl<'a> Batch<'a> {
    /// Begins the changes to a namespace.
    pub(crate) fn begin(connection: &'a mut Connection, row: NamespaceRow) -> Self {
        Batch {
            connection,
            sequence_before: row.last_sequence,
            log: LogRows::after(row.last_sequence),
            row,
            versions: vec![],
            upserted: Upserted::default(),
        }
    }

    /// Writes documents; one that occurs twice is written twice, the later after the earlier.
    pub(crate) async fn upsert(
        &mut self,
        documents: &[Document],
        times: &[Timestamp],
    ) -> Result<()> {
        let mut start = 0;
        while start < documents.len() {
            let mut seen = HashSet::new();
            let end = documents[start..]
                .iter()
                .position(|document| !seen.insert(&document.id))
                .map_or(documents.len(), |at| start + at);
            self.upsert_run(start, &documents[start..end], times).await?;
            start = end;
        }
        Ok(())
    }

    /// Writes documents with ids of their own.
    async fn upsert_run(
        &mut self,
        start: usize,
        documents: &[Document],
        times: &[Timestamp],
    ) -> Result<()> {
        let keys: Vec<Vec<u8>> =
            documents.iter().map(|document| key(document.id.as_str())).collect();
        let earlier = self.versions_of(&keys).await?;
        self.refuse_taken(documents, &keys).await?;
        let with_title: Vec<(&Vec<u8>, &Version)> = documents
            .iter()
            .zip(&keys)
            .filter_map(|(document, key)| {
                let version = earlier.get(key)?;
                (version.title == document.title).then_some((key, version))
            })
            .collect();
        let reusable = self.reusable(&with_title).await?;
        let removed: Vec<&Version> = keys.iter().filter_map(|key| earlier.get(key)).collect();
        let n_vectors_before = self.n_vectors_of(&removed).await?;

        let mut document_rows = DocumentRows::default();
        let mut passage_rows = PassageRows::default();
        let (mut moved_from, mut moved_to, mut kept) = (vec![], vec![], HashSet::new());
        let mut awaiting = vec![];
        for (idx, (document, document_key)) in documents.iter().zip(&keys).enumerate() {
            let first = self.row.state.next_passage;
            let after = bounds::number_after(first, document.passages.len())?;
            let n_passages = after - first;
            let language = language_of(&document.title, &document.passages);
            self.row.state.languages.insert(language);
            let written_at =
                times.get(start + idx).or(times.last()).map_or(0, |time| time.millis());
            document_rows.push(document, document_key, language, first, written_at)?;
            let mut kept_here = vec![];
            for (number, passage) in (first..after).zip(&document.passages) {
                let passage_key = key(passage.id.as_str());
                let content = rows::content(passage);
                let before = reusable.get(&(document_key.clone(), passage_key.clone()));
                if let Some(before) = before.filter(|before| before.content == content) {
                    moved_from.push(before.number);
                    moved_to.push(i64::from(number));
                    if before.has_vector {
                        kept_here.push(number);
                        kept.insert(number);
                    }
                }
                if !kept.contains(&number) {
                    awaiting.push(i64::from(number));
                }
                passage_rows.push(number, document_key, passage_key, content, passage);
            }
            match earlier.get(document_key) {
                None => {
                    self.row.state.counts.n_documents += 1;
                    self.upserted.n_new += 1;
                }
                Some(version) => {
                    self.upserted.n_replaced += 1;
                    self.remove_version(version);
                }
            }
            if n_passages > 0 {
                self.log.push(LogKind::Added, first, n_passages);
                let document_idx = start + idx;
                self.versions.push(VersionChange::Added { document_idx, first, language });
            }
            self.log.push_vectors(kept_here.clone());
            self.row.state.next_passage = after;
            self.row.state.counts.n_passages += n_passages as usize;
            self.upserted.n_passages += n_passages as usize;
            self.upserted.n_vectors_kept += kept_here.len();
        }
        let counts = &mut self.row.state.counts;
        counts.n_vectors = (counts.n_vectors + kept.len()).saturating_sub(n_vectors_before);

        let number = self.row.number();
        self.forget_awaiting(&removed).await?;
        document_rows.write(self.connection, number).await?;
        passage_rows.write(self.connection, number).await?;
        for table in ["vectors", "blobs"] {
            self.hand_on(table, &moved_from, &moved_to).await?;
        }
        if self.row.state.info.manifest.vectors.is_some() && !awaiting.is_empty() {
            self.connection
                .execute(
                    "INSERT INTO awaiting_vectors SELECT $1, number FROM unnest($2::bigint[]) number",
                    &[&number, &awaiting],
                )
                .await?;
        }
        Ok(())
    }

    /// Erases documents and gives how many there were.
    pub(crate) async fn delete(&mut self, documents: &[DocumentId]) -> Result<usize> {
        let keys: Vec<Vec<u8>> = documents.iter().map(|id| key(id.as_str())).collect();
        let mut found = self.versions_of(&keys).await?;
        // In the order in which they were named, so that the log does not depend on a hash.
        let mut removed = vec![];
        for key in &keys {
            removed.extend(found.remove(key));
        }
        let removed: Vec<&Version> = removed.iter().collect();
        let n_vectors = self.n_vectors_of(&removed).await?;
        for version in &removed {
            self.remove_version(version);
        }
        self.forget_awaiting(&removed).await?;
        self.connection
            .execute(
                "DELETE FROM documents WHERE namespace = $1 AND id_key = ANY($2)",
                &[&self.row.number(), &keys],
            )
            .await?;
        let counts = &mut self.row.state.counts;
        counts.n_documents = counts.n_documents.saturating_sub(removed.len());
        counts.n_vectors = counts.n_vectors.saturating_sub(n_vectors);
        Ok(removed.len())
    }

    /// Writes the counts and the log, and gives what engines have to follow.
    pub(crate) async fn finish(self) -> Result<Written> {
        let number = self.row.number();
        let sequence = self.log.last();
        self.log.write(self.connection, number).await?;
        let counts = self.row.state.counts;
        let as_number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.connection
            .execute(
                "UPDATE namespaces SET next_passage = $2, n_documents = $3, n_passages = $4,
                     n_vectors = $5, languages = $6, last_sequence = $7 WHERE number = $1",
                &[
                    &number,
                    &i64::from(self.row.state.next_passage),
                    &as_number(counts.n_documents),
                    &as_number(counts.n_passages),
                    &as_number(counts.n_vectors),
                    &(self.row.state.languages.bits() as i64),
                    &(sequence as i64),
                ],
            )
            .await?;
        Ok(Written {
            upserted: self.upserted,
            sequence_before: self.sequence_before,
            sequence,
            versions: self.versions,
        })
    }

    /// Lets a version go: its rows stay until every follower has taken in that it went.
    fn remove_version(&mut self, version: &Version) {
        if version.n_passages == 0 {
            return;
        }
        let first = u32::try_from(version.first).unwrap_or(u32::MAX);
        self.log.push(LogKind::Removed, first, version.count());
        self.versions.push(VersionChange::Removed { first });
        let counts = &mut self.row.state.counts;
        counts.n_passages = counts.n_passages.saturating_sub(version.count() as usize);
    }

    async fn versions_of(&mut self, keys: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, Version>> {
        let found = self
            .connection
            .query(
                "SELECT id_key, title, first_passage, n_passages FROM documents
                 WHERE namespace = $1 AND id_key = ANY($2)",
                &[&self.row.number(), &keys],
            )
            .await?;
        let version = |row: &tokio_postgres::Row| {
            let version =
                Version { title: rows::text(row, 1), first: row.get(2), n_passages: row.get(3) };
            (row.get(0), version)
        };
        Ok(found.iter().map(version).collect())
    }

    /// Refuses a passage id that occurs twice or that a passage of another document has.
    async fn refuse_taken(&mut self, documents: &[Document], keys: &[Vec<u8>]) -> Result<()> {
        let mut ids = HashMap::new();
        for document in documents {
            for passage in &document.passages {
                let taken = || Error::DuplicatePassage {
                    document: document.id.clone(),
                    passage: passage.id.clone(),
                };
                if ids.insert(key(passage.id.as_str()), (document, passage)).is_some() {
                    return Err(taken());
                }
            }
        }
        let passage_keys: Vec<&Vec<u8>> = ids.keys().collect();
        let found = self
            .connection
            .query_opt(
                &format!(
                    "SELECT p.id_key FROM {} WHERE p.namespace = $1 AND p.id_key = ANY($2)
                     AND {} AND NOT p.document = ANY($3) LIMIT 1",
                    rows::WITH_DOCUMENT,
                    rows::IS_LIVING
                ),
                &[&self.row.number(), &passage_keys, &keys],
            )
            .await?;
        match found.and_then(|row| ids.remove(&row.get::<_, Vec<u8>>(0))) {
            Some((document, passage)) => Err(Error::DuplicatePassage {
                document: document.id.clone(),
                passage: passage.id.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Gives the passages of earlier versions by document and id.
    async fn reusable(
        &mut self,
        versions: &[(&Vec<u8>, &Version)],
    ) -> Result<HashMap<(Vec<u8>, Vec<u8>), EarlierPassage>> {
        let (firsts, ends) = ranges(versions.iter().map(|(_, version)| *version));
        if firsts.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self
            .connection
            .query(
                "SELECT p.document, p.id_key, p.number, p.content,
                     EXISTS (SELECT FROM vectors v
                             WHERE v.namespace = p.namespace AND v.number = p.number)
                 FROM unnest($2::bigint[], $3::bigint[]) AS version (first, after)
                 JOIN passages p ON p.namespace = $1
                     AND p.number >= version.first AND p.number < version.after",
                &[&self.row.number(), &firsts, &ends],
            )
            .await?;
        let earlier = |row: &tokio_postgres::Row| {
            let passage =
                EarlierPassage { number: row.get(2), content: row.get(3), has_vector: row.get(4) };
            ((row.get(0), row.get(1)), passage)
        };
        Ok(found.iter().map(earlier).collect())
    }

    async fn n_vectors_of(&mut self, versions: &[&Version]) -> Result<usize> {
        let (firsts, ends) = ranges(versions.iter().copied());
        if firsts.is_empty() {
            return Ok(0);
        }
        let row = self
            .connection
            .query_one(
                "SELECT count(*) FROM unnest($2::bigint[], $3::bigint[]) AS version (first, after)
                 JOIN vectors v ON v.namespace = $1
                     AND v.number >= version.first AND v.number < version.after",
                &[&self.row.number(), &firsts, &ends],
            )
            .await?;
        Ok(rows::count(&row, 0))
    }

    async fn forget_awaiting(&mut self, versions: &[&Version]) -> Result<()> {
        let (firsts, ends) = ranges(versions.iter().copied());
        if firsts.is_empty() {
            return Ok(());
        }
        self.connection
            .execute(
                "DELETE FROM awaiting_vectors a
                 USING unnest($2::bigint[], $3::bigint[]) AS version (first, after)
                 WHERE a.namespace = $1
                     AND a.number >= version.first AND a.number < version.after",
                &[&self.row.number(), &firsts, &ends],
            )
            .await?;
        Ok(())
    }

    /// Gives vectors or blobs of unchanged passages to their new numbers.
    async fn hand_on(&mut self, table: &str, from: &[i64], to: &[i64]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        self.connection
            .execute(
                &format!(
                    "UPDATE {table} t SET number = moved.later
                     FROM unnest($2::bigint[], $3::bigint[]) AS moved (earlier, later)
                     WHERE t.namespace = $1 AND t.number = moved.earlier"
                ),
                &[&self.row.number(), &from, &to],
            )
            .await?;
        Ok(())
    }
}

/// Gives the first numbers of versions and those after their last.
fn ranges<'a>(versions: impl Iterator<Item = &'a Version>) -> (Vec<i64>, Vec<i64>) {
    versions
        .filter(|version| version.n_passages > 0)
        .map(|version| (version.first, version.first + version.n_passages))
        .unzip()
}
