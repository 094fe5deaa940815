//! The head of a vector file: which generation is the file, how far it reaches, what it has seen.

use std::path::Path;

use roaring::RoaringBitmap;

use crate::Result;

const MAGIC: &[u8; 4] = b"DWSV";
/// The format of the file, which another format of the catalogue leaves as it is.
const FORMAT: u32 = 2;

/// What is known about the slots of a generation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) dimensions: usize,
    pub(super) generation: u64,
    pub(super) n_slots: usize,
    pub(super) sequence: u64,
    pub(super) checksums: [u32; 3],
    pub(super) mean: Vec<f32>,
    pub(super) dead: RoaringBitmap,
}

impl Head {
    /// Describes a generation without slots.
    pub(super) fn empty(dimensions: usize, generation: u64) -> Self {
        Head {
            dimensions,
            generation,
            n_slots: 0,
            sequence: 0,
            checksums: [0; 3],
            mean: vec![],
            dead: RoaringBitmap::new(),
        }
    }

    /// Replaces the head of a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        for number in [self.dimensions as u64, self.generation, self.n_slots as u64, self.sequence]
        {
            bytes.extend(number.to_le_bytes());
        }
        self.checksums.iter().for_each(|checksum| bytes.extend(checksum.to_le_bytes()));
        bytes.extend((self.mean.len() as u32).to_le_bytes());
        self.mean.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        self.dead.serialize_into(&mut bytes)?;
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        write_whole(folder, "head", &bytes)
    }

    /// Reads a head; nothing when it is broken.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (bytes, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(bytes) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = bytes.strip_prefix(MAGIC)?;
        if take_u32(&mut rest)? != FORMAT {
            return None;
        }
        let dimensions = take_u64(&mut rest)? as usize;
        let generation = take_u64(&mut rest)?;
        let n_slots = take_u64(&mut rest)? as usize;
        let sequence = take_u64(&mut rest)?;
        let checksums = [take_u32(&mut rest)?, take_u32(&mut rest)?, take_u32(&mut rest)?];
        let n_mean = take_u32(&mut rest)?;
        let mean =
            (0..n_mean).map(|_| take_u32(&mut rest).map(f32::from_bits)).collect::<Option<_>>()?;
        let dead = RoaringBitmap::deserialize_from(rest).ok()?;
        Some(Head { dimensions, generation, n_slots, sequence, checksums, mean, dead })
    }
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*bytes))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_le_bytes(*bytes))
}

/// Replaces a file by a rename, so that it is never seen half-written.
fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    let temporary = folder.join(format!("{name}.new"));
    let mut file = fs_err::File::create(&temporary)?;
    file.write_all(bytes)?;
    file.file().sync_data()?;
    fs_err::rename(&temporary, folder.join(name))?;
    fs_err::File::open(folder)?.file().sync_all()?;
    Ok(())
}
