//! An embedder whose queries are kept in a file: an evaluation is repeated in seconds, and a test
//! without a model has the vectors of one.
//!
//! The file begins with the embedder's name, version, vector length and mean token vector. Then
//! one record for each query: the hash of the text, the vector as `f32`, and the token vectors
//! as one byte for each number with a scale for each token (the matcher rounds them the same way).

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbeddedText, Embedder, EmbedderId, TokenVectors};
use model::Deadline;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::{Error, Result};

/// How long the mean token vector may take.
const MEAN_TIME: Duration = Duration::from_secs(600);
/// The most bytes or tokens that a record may claim.
const MAX_PART: usize = 1 << 16;
/// Bytes of a text's hash that a record keeps.
const KEY_BYTES: usize = 16;

type Key = [u8; KEY_BYTES];

/// Gives recorded vectors of queries; asks the embedder inside, if there is one, for the others
/// and records them.
pub struct RecordedEmbedder {
    id: EmbedderId,
    dimensions: usize,
    max_tokens: usize,
    token_mean: Vec<f32>,
    inner: Option<Arc<dyn Embedder>>,
    file: PathBuf,
    queries: Mutex<HashMap<Key, EmbeddedText>>,
}

impl RecordedEmbedder {
    /// Records what an embedder says of queries in a file, which may hold some already.
    ///
    /// Fails when the file is of another embedder or cannot be used, or the embedder fails.
    pub fn recording(inner: Arc<dyn Embedder>, file: &Path) -> Result<Self> {
        if file.exists() {
            let mut recorded = RecordedEmbedder::replaying(file)?;
            if recorded.id != *inner.id() {
                let (found, wanted) = (recorded.id.to_string(), inner.id().to_string());
                return Err(Error::OtherEmbedder { file: file.to_owned(), found, wanted });
            }
            recorded.max_tokens = inner.max_tokens();
            recorded.inner = Some(inner);
            return Ok(recorded);
        }
        let mean = match inner.has_token_vectors() {
            true => infer::token_mean(&*inner, &Deadline::after(MEAN_TIME))?.to_vec(),
            false => vec![],
        };
        let mut head = Vec::new();
        push_text(&mut head, &inner.id().name);
        push_text(&mut head, &inner.id().version);
        head.extend((inner.dimensions() as u32).to_le_bytes());
        head.extend((mean.len() as u32).to_le_bytes());
        mean.iter().for_each(|value| head.extend(value.to_le_bytes()));
        fs_err::write(file, head)?;
        Ok(RecordedEmbedder {
            id: inner.id().clone(),
            dimensions: inner.dimensions(),
            max_tokens: inner.max_tokens(),
            token_mean: mean,
            inner: Some(inner),
            file: file.to_owned(),
            queries: Mutex::default(),
        })
    }

    /// Opens a recording without a model: a query that is not recorded is an error.
    ///
    /// Fails when the file cannot be read or is no recording.
    pub fn replaying(file: &Path) -> Result<Self> {
        let mut reader = BufReader::new(fs_err::File::open(file)?);
        let malformed = || Error::NoRecording { file: file.to_owned() };
        let name = read_text(&mut reader).ok_or_else(malformed)?;
        let version = read_text(&mut reader).ok_or_else(malformed)?;
        let dimensions = read_count(&mut reader).ok_or_else(malformed)?;
        let n_mean = read_count(&mut reader).ok_or_else(malformed)?;
        let token_mean = read_numbers(&mut reader, n_mean).ok_or_else(malformed)?;
        let mut queries = HashMap::new();
        while let Some((key, text)) = read_record(&mut reader, dimensions) {
            queries.insert(key, text);
        }
        Ok(RecordedEmbedder {
            id: EmbedderId::new(name, version),
            dimensions,
            max_tokens: MAX_PART,
            token_mean,
            inner: None,
            file: file.to_owned(),
            queries: Mutex::new(queries),
        })
    }

    fn query(&self, query: &str, deadline: &Deadline) -> infer::Result<EmbeddedText> {
        if let Some(known) = self.queries.lock().get(&key(query)) {
            return Ok(known.clone());
        }
        let Some(inner) = &self.inner else {
            return Err(infer::Error::NoTokenVectors { embedder: format!("recorded {}", self.id) });
        };
        let mut embedded = match inner.has_token_vectors() {
            true => inner.embed_query_with_tokens(query, deadline)?,
            false => {
                let pooled = inner.embed_query(query, deadline)?;
                EmbeddedText { pooled, tokens: TokenVectors::default(), is_truncated: false }
            }
        };
        let record = record_of(&key(query), &mut embedded);
        let mut queries = self.queries.lock();
        // A recording that cannot be written costs time in the next run, not this one's figures.
        if let Ok(mut file) = fs_err::OpenOptions::new().append(true).open(&self.file) {
            let _ = file.write_all(&record);
        }
        queries.insert(key(query), embedded.clone());
        Ok(embedded)
    }
}

impl Embedder for RecordedEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> infer::Result<Vec<f32>> {
        self.query(query, deadline).map(|embedded| embedded.pooled)
    }

    fn embed_passages(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> infer::Result<Vec<Vec<f32>>> {
        match &self.inner {
            Some(inner) => inner.embed_passages(passages, deadline),
            None => Err(infer::Error::NoTokenVectors { embedder: self.id.to_string() }),
        }
    }

    fn has_token_vectors(&self) -> bool {
        !self.token_mean.is_empty()
    }

    fn embed_query_with_tokens(
        &self,
        query: &str,
        deadline: &Deadline,
    ) -> infer::Result<EmbeddedText> {
        self.query(query, deadline)
    }

    /// Without a model, passages are read from where their vectors are kept, and the only one to
    /// come here is the sample that the mean token is taken of: each text is that mean.
    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> infer::Result<Vec<EmbeddedText>> {
        if let Some(inner) = &self.inner {
            return inner.embed_passages_with_tokens(passages, deadline);
        }
        let tokens = TokenVectors { dimensions: self.dimensions, flat: self.token_mean.clone() };
        let mean = EmbeddedText { pooled: vec![0.0; self.dimensions], tokens, is_truncated: false };
        Ok(vec![mean; passages.len()])
    }
}

fn key(text: &str) -> Key {
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..KEY_BYTES]);
    key
}

/// Writes a record, and rounds the tokens to what a reader of it will have.
fn record_of(key: &Key, embedded: &mut EmbeddedText) -> Vec<u8> {
    let mut record = key.to_vec();
    embedded.pooled.iter().for_each(|value| record.extend(value.to_le_bytes()));
    record.extend((embedded.tokens.len() as u32).to_le_bytes());
    let dimensions = embedded.tokens.dimensions.max(1);
    for token in embedded.tokens.flat.chunks_exact_mut(dimensions) {
        let largest = token.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest.max(f32::MIN_POSITIVE) / 127.0;
        record.extend(scale.to_le_bytes());
        for value in token {
            let rounded = (*value / scale).round() as i8;
            record.extend(rounded.to_le_bytes());
            *value = f32::from(rounded) * scale;
        }
    }
    record
}

fn read_record(reader: &mut impl Read, dimensions: usize) -> Option<(Key, EmbeddedText)> {
    let mut key = [0; KEY_BYTES];
    reader.read_exact(&mut key).ok()?;
    let pooled = read_numbers(reader, dimensions)?;
    let n_tokens = read_count(reader)?;
    let mut flat = Vec::with_capacity(n_tokens * dimensions);
    let mut bytes = vec![0; dimensions];
    for _ in 0..n_tokens {
        let scale = *read_numbers(reader, 1)?.first()?;
        reader.read_exact(&mut bytes).ok()?;
        flat.extend(bytes.iter().map(|byte| f32::from(i8::from_le_bytes([*byte])) * scale));
    }
    let tokens = TokenVectors { dimensions: if n_tokens > 0 { dimensions } else { 0 }, flat };
    Some((key, EmbeddedText { pooled, tokens, is_truncated: false }))
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn read_text(reader: &mut impl Read) -> Option<String> {
    let mut bytes = vec![0; read_count(reader)?];
    reader.read_exact(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

fn read_count(reader: &mut impl Read) -> Option<usize> {
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes).ok()?;
    Some(u32::from_le_bytes(bytes) as usize).filter(|count| *count <= MAX_PART)
}

fn read_numbers(reader: &mut impl Read, n_numbers: usize) -> Option<Vec<f32>> {
    let mut bytes = vec![0; n_numbers * 4];
    reader.read_exact(&mut bytes).ok()?;
    let (numbers, _) = bytes.as_chunks::<4>();
    Some(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters(EmbedderId);

    impl Embedder for Letters {
        fn id(&self) -> &EmbedderId {
            &self.0
        }

        fn dimensions(&self) -> usize {
            4
        }

        fn max_tokens(&self) -> usize {
            16
        }

        fn embed_query(&self, query: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
            Ok(vec![query.len() as f32, 0.5, -0.25, 1.0])
        }

        fn embed_passages(
            &self,
            texts: &[&str],
            deadline: &Deadline,
        ) -> infer::Result<Vec<Vec<f32>>> {
            texts.iter().map(|text| self.embed_query(text, deadline)).collect()
        }

        fn has_token_vectors(&self) -> bool {
            true
        }

        fn embed_query_with_tokens(
            &self,
            query: &str,
            deadline: &Deadline,
        ) -> infer::Result<EmbeddedText> {
            let flat = query.bytes().flat_map(|byte| [f32::from(byte), 1.0, -3.0, 0.0]).collect();
            let tokens = TokenVectors { dimensions: 4, flat };
            let pooled = self.embed_query(query, deadline)?;
            Ok(EmbeddedText { pooled, tokens, is_truncated: false })
        }

        fn embed_passages_with_tokens(
            &self,
            texts: &[&str],
            deadline: &Deadline,
        ) -> infer::Result<Vec<EmbeddedText>> {
            texts.iter().map(|text| self.embed_query_with_tokens(text, deadline)).collect()
        }
    }

    #[test]
    fn a_recording_says_what_the_embedder_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("queries");
        let deadline = Deadline::after(Duration::from_secs(60));
        let inner = Arc::new(Letters(EmbedderId::new("letters", "recorded-1")));
        let recording = RecordedEmbedder::recording(inner, &file).unwrap();
        let said = recording.embed_query_with_tokens("one query", &deadline).unwrap();
        let replaying = RecordedEmbedder::replaying(&file).unwrap();
        assert_eq!(replaying.id(), recording.id());
        assert_eq!(replaying.embed_query_with_tokens("one query", &deadline).unwrap(), said);
        assert!(replaying.embed_query("another", &deadline).is_err());
        let mean = infer::token_mean(&recording, &deadline).unwrap();
        let sample = replaying.embed_passages_with_tokens(&["any"], &deadline).unwrap();
        assert_eq!(sample[0].tokens.flat, mean.to_vec());
        let other = Arc::new(Letters(EmbedderId::new("letters", "recorded-2")));
        assert!(matches!(
            RecordedEmbedder::recording(other, &file),
            Err(Error::OtherEmbedder { .. })
        ));
    }
}
