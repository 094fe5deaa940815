//! Vectors and token bits of a dataset, kept between runs.
//!
//! One file for each embedder and corpus, only ever added to: a record is the hash of the text,
//! the vector and the token bits. A file that ends in the middle of a record is read up to there.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use infer::{Embedder, PassageVectors};
use model::Deadline;
use sha2::{Digest, Sha256};

use super::Result;

/// Texts embedded in one step.
const TEXTS_PER_STEP: usize = 32;
/// How long one step may take.
const STEP_TIME: Duration = Duration::from_secs(600);
/// The most numbers or bytes that one record may claim.
const MAX_RECORD: usize = 1 << 24;

type Key = [u8; 32];

/// The vectors of one corpus under one embedder.
pub struct StoredVectors {
    file: PathBuf,
    stored: HashMap<Key, PassageVectors>,
}

impl StoredVectors {
    /// Opens what is kept in a folder; nothing is there at first.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made or the file cannot be read.
    pub fn open(folder: &Path, embedder: &dyn Embedder, corpus: &str) -> Result<Self> {
        let safe = |text: &str| text.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        fs_err::create_dir_all(folder)?;
        let name = format!("{}.{}.vectors", safe(corpus), safe(&embedder.id().to_string()));
        let file = folder.join(name);
        let stored = if file.exists() { read(&file)? } else { HashMap::new() };
        Ok(StoredVectors { file, stored })
    }

    /// Gives what is kept of a text.
    pub fn get(&self, text: &str) -> Option<&PassageVectors> {
        self.stored.get(&key(text))
    }

    /// Embeds the texts that are not kept yet, a few at a time, and keeps them; `tell` hears how
    /// many are done, and of how many.
    ///
    /// # Errors
    ///
    /// When the embedder fails or the file cannot be written; what was embedded before is kept.
    pub fn embed_missing(
        &mut self,
        embedder: &dyn Embedder,
        texts: &[String],
        tell: &dyn Fn(usize, usize),
    ) -> Result<()> {
        let missing: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| self.get(text).is_none()).collect();
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&self.file)?;
        for (step_idx, step) in missing.chunks(TEXTS_PER_STEP).enumerate() {
            tell(step_idx * TEXTS_PER_STEP, missing.len());
            let deadline = Deadline::after(STEP_TIME);
            let embedded = PassageVectors::make(embedder, step, &deadline)?;
            let mut record = Vec::new();
            for (text, stored) in step.iter().zip(embedded) {
                write(&mut record, &key(text), &stored);
                self.stored.insert(key(text), stored);
            }
            file.write_all(&record)?;
        }
        Ok(())
    }
}

fn key(text: &str) -> Key {
    Sha256::digest(text.as_bytes()).into()
}

fn write(record: &mut Vec<u8>, key: &Key, stored: &PassageVectors) {
    record.extend(key);
    record.extend((stored.vector.len() as u32).to_le_bytes());
    record.extend((stored.blob.len() as u32).to_le_bytes());
    for value in &stored.vector {
        record.extend(value.to_le_bytes());
    }
    record.extend(&stored.blob);
}

fn read(file: &Path) -> Result<HashMap<Key, PassageVectors>> {
    let mut reader = BufReader::new(fs_err::File::open(file)?);
    let mut stored = HashMap::new();
    while let Some((key, record)) = read_one(&mut reader) {
        stored.insert(key, record);
    }
    Ok(stored)
}

fn read_one(reader: &mut impl Read) -> Option<(Key, PassageVectors)> {
    let mut key = [0; 32];
    let (mut n_numbers, mut n_bytes) = ([0; 4], [0; 4]);
    reader.read_exact(&mut key).ok()?;
    reader.read_exact(&mut n_numbers).ok()?;
    reader.read_exact(&mut n_bytes).ok()?;
    let n_numbers = u32::from_le_bytes(n_numbers) as usize;
    let n_bytes = u32::from_le_bytes(n_bytes) as usize;
    if n_numbers.max(n_bytes) > MAX_RECORD {
        return None;
    }
    let mut numbers = vec![0; n_numbers * 4];
    let mut blob = vec![0; n_bytes];
    reader.read_exact(&mut numbers).ok()?;
    reader.read_exact(&mut blob).ok()?;
    let (numbers, _) = numbers.as_chunks::<4>();
    let vector = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    Some((key, PassageVectors { vector, blob }))
}
