//! The texts of passages, several of one version of a document in a compressed block.
//!
//! A block is found by the row of its first passage, and never spans two versions, so that it is
//! erased with its version. Office text takes an eleventh of its size in blocks of 4 KiB (39.3 MB
//! became 3.5 MB) and a sixth passage by passage with a trained dictionary; blocks of 16 KiB would
//! save another fifth and cost every search four times the time to unpack.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Error, Result, limits};

/// A block is closed when its texts have this many bytes.
const BLOCK_BYTES: usize = 4_096;
/// The level of the compression: a higher one takes more time for little less space.
const LEVEL: i32 = 3;
/// The longest block: one passage of the greatest length after some shorter ones.
const MAX_BLOCK_BYTES: usize = limits::MAX_PASSAGE_BYTES + 64 * BLOCK_BYTES;

/// Blocks that are remembered, about 5 kB each: those of the candidates of one search, whose
/// neighbours are looked at next.
const MAX_REMEMBERED: usize = 256;

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Writes the texts of neighbouring passages, whose first one has this row.
pub(super) fn write<'a>(
    connection: &Connection,
    first_row: i64,
    texts: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let mut writer = Writer { connection, first_row, lengths: vec![], bytes: vec![] };
    for text in texts {
        writer.push(text)?;
    }
    writer.flush()
}

/// Puts texts together until a block is full.
pub(super) struct Writer<'a> {
    connection: &'a Connection,
    first_row: i64,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.lengths.push(text.len() as u32);
        self.bytes.extend_from_slice(text.as_bytes());
        if self.bytes.len() < BLOCK_BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        if self.lengths.is_empty() {
            return Ok(());
        }
        let mut block = (self.lengths.len() as u32).to_le_bytes().to_vec();
        block.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        block.append(&mut self.bytes);
        let mut packed = (block.len() as u32).to_le_bytes().to_vec();
        packed.append(&mut compress(&block)?);
        self.connection
            .prepare_cached("INSERT INTO texts (row, block) VALUES (?, ?)")?
            .execute(params![self.first_row, packed])?;
        self.first_row += self.lengths.len() as i64;
        self.lengths.clear();
        Ok(())
    }
}

/// Blocks that were unpacked lately. A row never has another text, so that they stay right for as
/// long as somebody asks for them.
#[derive(Default)]
pub(super) struct Blocks(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    /// By the row of the first text, each with when it was asked for last.
    blocks: BTreeMap<i64, (Arc<Block>, u64)>,
    now: u64,
}

impl Blocks {
    fn of(&self, row: i64) -> Option<Arc<Block>> {
        let mut remembered = self.0.lock();
        remembered.now += 1;
        let now = remembered.now;
        let (_, (block, used)) = remembered.blocks.range_mut(..=row).next_back()?;
        block.text(row)?;
        *used = now;
        Some(Arc::clone(block))
    }

    fn remember(&self, block: &Arc<Block>) {
        let mut remembered = self.0.lock();
        let Remembered { blocks, now } = &mut *remembered;
        if blocks.len() >= MAX_REMEMBERED {
            // The older half goes at once: looking for the oldest each time would cost as much as
            // unpacking.
            let mut used: Vec<u64> = blocks.values().map(|(_, used)| *used).collect();
            let middle = used.len() / 2;
            let (_, middle, _) = used.select_nth_unstable(middle);
            let middle = *middle;
            blocks.retain(|_, (_, used)| *used >= middle);
        }
        blocks.insert(block.first_row, (Arc::clone(block), *now));
    }

    /// Forgets all of them, since what they hold was erased.
    pub(super) fn forget(&self) {
        self.0.lock().blocks.clear();
    }
}

/// Reads texts; neighbours are unpacked once.
pub(super) struct Reader<'a> {
    connection: &'a Connection,
    blocks: Option<&'a Blocks>,
    block: Option<Arc<Block>>,
}

impl<'a> Reader<'a> {
    /// Reads with a connection.
    pub(super) fn new(connection: &'a Connection) -> Self {
        Reader { connection, blocks: None, block: None }
    }

    /// Reads with a connection what was not read lately.
    pub(super) fn remembering(connection: &'a Connection, blocks: &'a Blocks) -> Self {
        Reader { connection, blocks: Some(blocks), block: None }
    }

    /// Gives the text of the passage in a row.
    ///
    /// # Errors
    ///
    /// [`Error::CatalogueDamaged`] when there is none or it cannot be unpacked.
    pub(super) fn text(&mut self, row: i64) -> Result<String> {
        if let Some(text) = self.block.as_ref().and_then(|block| block.text(row)) {
            return Ok(text.to_owned());
        }
        if let Some(block) = self.blocks.and_then(|blocks| blocks.of(row))
            && let Some(text) = block.text(row).map(str::to_owned)
        {
            self.block = Some(block);
            return Ok(text);
        }
        let damaged = || Error::CatalogueDamaged {
            reason: format!("the text of passage row `{row}` is missing or cannot be unpacked"),
            source: None,
        };
        let found = self
            .connection
            .prepare_cached(
                "SELECT row, block FROM texts WHERE row <= ? ORDER BY row DESC LIMIT 1",
            )?
            .query_row([row], |found| {
                let packed = found.get_ref(1)?.as_blob()?;
                Ok(Block::unpack(found.get(0)?, packed))
            })
            .optional()?;
        let block = Arc::new(found.flatten().ok_or_else(damaged)?);
        let text = block.text(row).ok_or_else(damaged)?.to_owned();
        if let Some(blocks) = self.blocks {
            blocks.remember(&block);
        }
        self.block = Some(block);
        Ok(text)
    }
}

/// Unpacks every block, which compares it with its checksum.
///
/// # Errors
///
/// [`Error::CatalogueDamaged`] names the first row of the first block that is damaged.
pub(super) fn verify(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("SELECT row, block FROM texts")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let first_row = row.get(0)?;
        let packed = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        if Block::unpack(first_row, packed).is_none() {
            let reason = format!("the texts of passage row `{first_row}` cannot be unpacked");
            return Err(Error::CatalogueDamaged { reason, source: None });
        }
    }
    Ok(())
}

/// An unpacked block.
struct Block {
    first_row: i64,
    bytes: Vec<u8>,
}

impl Block {
    fn unpack(first_row: i64, packed: &[u8]) -> Option<Self> {
        let (length, packed) = packed.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_BLOCK_BYTES {
            return None;
        }
        let bytes = decompress(packed, length)?;
        (bytes.len() == length).then_some(Block { first_row, bytes })
    }

    fn text(&self, row: i64) -> Option<&str> {
        let (count, rest) = self.bytes.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let idx = usize::try_from(row.checked_sub(self.first_row)?).ok()?;
        let (lengths, texts) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (lengths, _) = lengths.as_chunks::<4>();
        let length = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
        let start: usize = lengths.get(..idx)?.iter().map(length).sum();
        let end = start + length(lengths.get(idx)?);
        std::str::from_utf8(texts.get(start..end)?).ok()
    }
}

fn compress(block: &[u8]) -> Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => {
                let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
                // SQLite has no checksums of its own in its pages.
                compressor.include_checksum(true)?;
                kept.insert(compressor)
            }
        };
        Ok(compressor.compress(block)?)
    })
}

fn decompress(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        decompressor.decompress(packed, length).ok()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE texts (row INTEGER PRIMARY KEY, block BLOB NOT NULL)")
            .unwrap();
        connection
    }

    proptest! {
        /// Every text reads back, in any order, whatever lies before and behind it.
        #[test]
        fn texts_read_back(
            versions in proptest::collection::vec(
                proptest::collection::vec("\\PC{0,80}|[a-c]{3000,6000}", 0..12), 1..5),
            order in any::<prop::sample::Index>(),
        ) {
            let connection = connection();
            let mut expected = vec![];
            let mut next = 7_i64 << 32;
            for texts in &versions {
                write(&connection, next, texts.iter().map(String::as_str)).unwrap();
                for text in texts {
                    expected.push((next, text));
                    next += 1;
                }
            }
            let mut reader = Reader::new(&connection);
            for (row, text) in &expected {
                prop_assert_eq!(&reader.text(*row).unwrap(), *text);
            }
            if !expected.is_empty() {
                let (row, text) = expected[order.index(expected.len())];
                prop_assert_eq!(&reader.text(row).unwrap(), text);
            }
            prop_assert!(reader.text(next).is_err(), "a text that was never written");
            // What others have unpacked is read as well, and no row is read from another's block.
            let blocks = Blocks::default();
            for step in [1, 3, 7] {
                for (row, text) in expected.iter().step_by(step) {
                    let mut reader = Reader::remembering(&connection, &blocks);
                    prop_assert_eq!(&reader.text(*row).unwrap(), *text);
                }
            }
            let mut reader = Reader::remembering(&connection, &blocks);
            prop_assert!(reader.text(next).is_err() && reader.text(0).is_err());
        }
    }

    #[test]
    fn remembered_blocks_are_bounded_and_can_be_forgotten() {
        let connection = connection();
        let blocks = Blocks::default();
        let n_blocks = 3 * MAX_REMEMBERED as i64;
        for row in 0..n_blocks {
            write(&connection, row, ["text"].into_iter()).unwrap();
            Reader::remembering(&connection, &blocks).text(row).unwrap();
        }
        assert!(blocks.0.lock().blocks.len() <= MAX_REMEMBERED);
        assert!(blocks.of(n_blocks - 1).is_some() && blocks.of(0).is_none());
        blocks.forget();
        assert!(blocks.of(n_blocks - 1).is_none());
    }

    #[test]
    fn a_damaged_block_is_said() {
        let connection = connection();
        write(&connection, 0, ["one", "two"].into_iter()).unwrap();
        let block: Vec<u8> =
            connection.query_row("SELECT block FROM texts", [], |row| row.get(0)).unwrap();
        for end in 0..block.len() {
            connection.execute("UPDATE texts SET block = ?", params![&block[..end]]).unwrap();
            let error = Reader::new(&connection).text(1).unwrap_err();
            assert!(matches!(error, Error::CatalogueDamaged { .. }), "{error}");
        }
    }
}
