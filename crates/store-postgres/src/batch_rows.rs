//! Rows that are gathered and written together, column by column.

use std::borrow::Cow;

use model::{Passage, Pointer};
use store::{Document, Error, LogKind, Result};
use text::Language;

use crate::connection::Connection;
use crate::escape::spell;
use crate::rows;

/// Passages written by one statement.
const PASSAGES_PER_STATEMENT: usize = 4_096;
/// Text written by one statement, about, in bytes: a message of the protocol is at most 1 GB.
const BYTES_PER_STATEMENT: usize = 64 << 20;

#[derive(Default)]
pub(crate) struct DocumentRows<'a> {
    keys: Vec<&'a [u8]>,
    ids: Vec<Cow<'a, str>>,
    titles: Vec<Cow<'a, str>>,
    attributes: Vec<String>,
    metadata: Vec<String>,
    fingerprints: Vec<Cow<'a, str>>,
    languages: Vec<&'static str>,
    firsts: Vec<i64>,
    counts: Vec<i64>,
    times: Vec<i64>,
}

impl<'a> DocumentRows<'a> {
    /// Adds a document.
    pub(crate) fn push(
        &mut self,
        document: &'a Document,
        key: &'a [u8],
        language: Language,
        first: u32,
        now: i64,
    ) -> Result<()> {
        let bad = |source| Error::BadObject {
            kind: "document".to_owned(),
            id: document.id.to_string(),
            source,
        };
        self.keys.push(key);
        self.ids.push(spell(document.id.as_str()));
        self.titles.push(spell(&document.title));
        self.attributes.push(serde_json::to_string(&document.attributes).map_err(bad)?);
        self.metadata.push(serde_json::to_string(&document.metadata).map_err(bad)?);
        self.fingerprints.push(spell(&document.fingerprint));
        self.languages.push(language.code());
        self.firsts.push(i64::from(first));
        self.counts.push(i64::try_from(document.passages.len()).unwrap_or(i64::MAX));
        self.times.push(now);
        Ok(())
    }

    /// Writes them over those that are there.
    pub(crate) async fn write(self, connection: &mut Connection, namespace: i32) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        connection
            .execute(
                "INSERT INTO documents (namespace, id_key, id, title, attributes, metadata,
                     fingerprint, language, first_passage, n_passages, updated_at)
                 SELECT $1, * FROM unnest($2::bytea[], $3::text[], $4::text[], $5::text[],
                     $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[],
                     $11::bigint[])
                 ON CONFLICT (namespace, id_key) DO UPDATE SET title = excluded.title,
                     attributes = excluded.attributes, metadata = excluded.metadata,
                     fingerprint = excluded.fingerprint, language = excluded.language,
                     first_passage = excluded.first_passage, n_passages = excluded.n_passages,
                     updated_at = excluded.updated_at",
                &[
                    &namespace,
                    &self.keys,
                    &texts(&self.ids),
                    &texts(&self.titles),
                    &self.attributes,
                    &self.metadata,
                    &texts(&self.fingerprints),
                    &self.languages,
                    &self.firsts,
                    &self.counts,
                    &self.times,
                ],
            )
            .await?;
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct PassageRows<'a> {
    rows: Vec<PassageRow<'a>>,
}

struct PassageRow<'a> {
    number: i64,
    document: &'a [u8],
    key: Vec<u8>,
    content: Vec<u8>,
    passage: &'a Passage,
}

impl<'a> PassageRows<'a> {
    /// Adds a passage.
    pub(crate) fn push(
        &mut self,
        number: u32,
        document: &'a [u8],
        key: Vec<u8>,
        content: Vec<u8>,
        passage: &'a Passage,
    ) {
        let number = i64::from(number);
        self.rows.push(PassageRow { number, document, key, content, passage });
    }

    /// Writes them in statements of bounded size.
    pub(crate) async fn write(self, connection: &mut Connection, namespace: i32) -> Result<()> {
        let mut rest = self.rows.as_slice();
        while !rest.is_empty() {
            let mut n_bytes = 0;
            let n_rows = rest
                .iter()
                .take(PASSAGES_PER_STATEMENT)
                .position(|row| {
                    n_bytes += row.passage.text.len();
                    n_bytes > BYTES_PER_STATEMENT
                })
                .unwrap_or(rest.len().min(PASSAGES_PER_STATEMENT))
                .max(1);
            let (now, later) = rest.split_at(n_rows);
            write_some(connection, namespace, now).await?;
            rest = later;
        }
        Ok(())
    }
}

async fn write_some(
    connection: &mut Connection,
    namespace: i32,
    rows: &[PassageRow<'_>],
) -> Result<()> {
    let passages = || rows.iter().map(|row| row.passage);
    let numbers: Vec<i64> = rows.iter().map(|row| row.number).collect();
    let documents: Vec<&[u8]> = rows.iter().map(|row| row.document).collect();
    let keys: Vec<&[u8]> = rows.iter().map(|row| row.key.as_slice()).collect();
    let contents: Vec<&[u8]> = rows.iter().map(|row| row.content.as_slice()).collect();
    let ids: Vec<Cow<'_, str>> = passages().map(|passage| spell(passage.id.as_str())).collect();
    let ordinals: Vec<i64> = passages().map(|passage| i64::from(passage.ordinal)).collect();
    let end = |position: usize| i64::try_from(position).unwrap_or(i64::MAX);
    let starts: Vec<i64> = passages().map(|passage| end(passage.span.start)).collect();
    let ends: Vec<i64> = passages().map(|passage| end(passage.span.end)).collect();
    let pointers: Vec<Option<String>> = passages()
        .map(|passage| {
            let is_whole = passage.pointer == Pointer::Whole;
            (!is_whole).then(|| spell(&passage.pointer.to_string()).into_owned())
        })
        .collect();
    let headings: Vec<Option<String>> = passages()
        .map(|passage| match passage.headings.is_empty() {
            true => None,
            false => serde_json::to_string(&passage.headings).ok(),
        })
        .collect();
    let written: Vec<Cow<'_, str>> = passages().map(|passage| spell(&passage.text)).collect();
    connection
        .execute(
            "INSERT INTO passages (namespace, number, document, id_key, id, ordinal, span_start,
                 span_end, pointer, headings, text, content)
             SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::text[],
                 $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[],
                 $12::bytea[])",
            &[
                &namespace,
                &numbers,
                &documents,
                &keys,
                &texts(&ids),
                &ordinals,
                &starts,
                &ends,
                &pointers,
                &headings,
                &texts(&written),
                &contents,
            ],
        )
        .await?;
    Ok(())
}

/// Entries of a namespace's log, each with the next sequence number.
pub(crate) struct LogRows {
    sequences: Vec<i64>,
    kinds: Vec<i16>,
    firsts: Vec<i64>,
    counts: Vec<i64>,
    last: u64,
}

impl LogRows {
    /// Begins after the last entry that is there.
    pub(crate) fn after(last: u64) -> Self {
        LogRows { sequences: vec![], kinds: vec![], firsts: vec![], counts: vec![], last }
    }

    /// Gives the last sequence number.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, kind: LogKind, first: u32, count: u32) {
        self.last += 1;
        self.sequences.push(self.last as i64);
        self.kinds.push(rows::code_of(kind));
        self.firsts.push(i64::from(first));
        self.counts.push(i64::from(count));
    }

    /// Adds that passages got vectors, neighbours together.
    pub(crate) fn push_vectors(&mut self, mut numbers: Vec<u32>) {
        numbers.sort_unstable();
        numbers.dedup();
        for run in numbers.chunk_by(|left, right| left + 1 == *right) {
            self.push(LogKind::Vectors, run[0], run.len() as u32);
        }
    }

    /// Writes the entries.
    pub(crate) async fn write(self, connection: &mut Connection, namespace: i32) -> Result<()> {
        if self.sequences.is_empty() {
            return Ok(());
        }
        connection
            .execute(
                "INSERT INTO log (namespace, sequence, kind, first, count)
                 SELECT $1, * FROM unnest($2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[])",
                &[&namespace, &self.sequences, &self.kinds, &self.firsts, &self.counts],
            )
            .await?;
        Ok(())
    }
}

fn texts<'a>(spelt: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    spelt.iter().map(AsRef::as_ref).collect()
}
