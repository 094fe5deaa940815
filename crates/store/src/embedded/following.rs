//! The single steps by which an index follows the catalogue.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::Result;
use crate::lexical::{Entry, LexicalIndex};
use crate::truth::rows;
use crate::vectors::VectorFile;

/// Vectors read at once while an index catches up.
const VECTORS_PER_STEP: usize = 4_096;

/// Gives how many bytes the files of a folder take; 0 when it is not there.
pub(super) fn folder_bytes(folder: &Path) -> Result<u64> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut n_bytes = 0;
    for entry in entries {
        n_bytes += entry?.metadata()?.len();
    }
    Ok(n_bytes)
}

/// Removes a folder with everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Puts the passages of a document's version into the full-text index.
pub(super) fn add_passages(
    connection: &Connection,
    words: &mut LexicalIndex,
    namespace: u32,
    first: u32,
    count: u32,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let first_row = rows::row_of(namespace, first);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, passages.row, passages.document FROM passages WHERE row BETWEEN ? AND ?",
        rows::PASSAGE
    ))?;
    let mut found = statement.query(params![first_row, first_row + i64::from(count) - 1])?;
    let mut document = None;
    while let Some(row) = found.next()? {
        let passage = rows::finish_passage(rows::read_passage(row)?)?;
        let (passage_row, document_row): (i64, i64) = (row.get(7)?, row.get(8)?);
        if document.is_none() {
            document = rows::document_row_at(connection, document_row)?;
        }
        // A document that is gone by now took its passages with it.
        let Some(document) = &document else { return Ok(()) };
        words.add(&Entry {
            number: rows::number_of(passage_row),
            version: first,
            document: &document.id,
            title: &document.title,
            attributes: &document.attributes,
            language: document.language,
            passage: &passage,
        })?;
    }
    Ok(())
}

/// Appends the vectors of a range of passages.
pub(super) fn append_vectors(
    connection: &Connection,
    vectors: &mut VectorFile,
    first: i64,
    last: i64,
) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT row, vector FROM vectors WHERE row BETWEEN ? AND ? ORDER BY row")?;
    append_rows(statement.query(params![first, last])?, vectors)
}

/// Appends the vectors of all living passages; the rows of removed ones may still be there.
pub(super) fn append_all_vectors(
    connection: &Connection,
    vectors: &mut VectorFile,
    number: u32,
) -> Result<()> {
    let (first, last) = rows::rows_of(number);
    let mut statement = connection.prepare(
        "SELECT vectors.row, vector FROM vectors
         JOIN passages ON passages.row = vectors.row
         JOIN documents ON documents.row = passages.document
         WHERE vectors.row BETWEEN ?1 AND ?2
         AND vectors.row - ?1 - documents.first_passage BETWEEN 0 AND documents.n_passages - 1
         ORDER BY vectors.row",
    )?;
    append_rows(statement.query(params![first, last])?, vectors)
}

fn append_rows(mut found: rusqlite::Rows<'_>, vectors: &mut VectorFile) -> Result<()> {
    let mut step = vec![];
    while let Some(row) = found.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        step.push((rows::number_of(row.get(0)?), floats(bytes)));
        if step.len() == VECTORS_PER_STEP {
            vectors.append(&step)?;
            step.clear();
        }
    }
    if !step.is_empty() {
        vectors.append(&step)?;
    }
    Ok(())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
