//! How the vectors of a namespace lie on disk, and how they are appended, forgotten and read.
//!
//! A folder holds a `head` and, for the generation that the head names, three files of equal
//! slots: `codes` (eight bits a dimension), `slots` (the passage's number and the scale) and,
//! once there are many, `bits`. Slots are appended first and the head is replaced after them by
//! a rename, so a crash leaves the earlier head, which does not know of the new slots.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::kernels::Mapping;
use super::quantise::{to_bits, to_codes, words_for};
use crate::{Error, FORMAT, Result, failpoint};

/// From this many vectors on, one bit a dimension makes the shortlist.
pub(super) const BITS_FROM: usize = 131_072;
/// A generation with more dead slots than this part is written anew.
const MAX_DEAD_PART: f64 = 0.25;
/// Below this many slots nothing is written anew.
const MIN_SLOTS_TO_COMPACT: usize = 1_024;
/// Slots are reserved in steps of this many, so that the map rarely changes.
const SLOTS_PER_STEP: usize = 16_384;
/// The number of a slot takes four bytes, its scale as many.
pub(super) const SLOT_BYTES: usize = 8;
const MAGIC: &[u8; 4] = b"DWSV";
/// In the list of slots by number: no vector.
const NO_SLOT: u32 = u32::MAX;

/// The vector file of one namespace, open for appending.
pub(crate) struct VectorFile {
    folder: PathBuf,
    head: Head,
    codes: Column,
    slots: Column,
    bits: Option<Column>,
    slot_of: Vec<u32>,
}

/// One commit of the file, searched by any number of threads.
#[derive(Clone)]
pub(crate) struct VectorView {
    pub(super) dimensions: usize,
    pub(super) n_slots: usize,
    pub(super) mean: Vec<f32>,
    pub(super) dead: RoaringBitmap,
    pub(super) slot_of: Arc<Vec<u32>>,
    codes: Option<Arc<Mapping>>,
    slots: Option<Arc<Mapping>>,
    bits: Option<Arc<Mapping>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Head {
    dimensions: usize,
    generation: u64,
    n_slots: usize,
    sequence: u64,
    checksums: [u32; 3],
    mean: Vec<f32>,
    dead: RoaringBitmap,
}

struct Column {
    path: PathBuf,
    file: fs_err::File,
    slot_bytes: usize,
    n_reserved: usize,
    mapping: Option<Arc<Mapping>>,
}

impl VectorFile {
    /// Opens the file in a folder, or makes an empty one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when a file is shorter than the head says, the head is broken, or the
    /// dimensions are others.
    pub(crate) fn open(folder: &Path, dimensions: usize) -> Result<Self> {
        fs_err::create_dir_all(folder)?;
        let head = match fs_err::read(folder.join("head")) {
            Ok(bytes) => Head::parse(&bytes).ok_or_else(|| Error::Damaged {
                path: folder.join("head"),
                reason: "it cannot be read".to_owned(),
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Head::empty(dimensions, 0)
            }
            Err(error) => return Err(error.into()),
        };
        if head.dimensions != dimensions {
            return Err(Error::Damaged {
                path: folder.join("head"),
                reason: format!("it has `{}` dimensions, not `{dimensions}`", head.dimensions),
            });
        }
        let generation = head.generation;
        remove_other_generations(folder, generation)?;
        let codes = Column::open(folder, "codes", generation, dimensions, head.n_slots)?;
        let slots = Column::open(folder, "slots", generation, SLOT_BYTES, head.n_slots)?;
        let bits = if head.mean.is_empty() {
            None
        } else {
            let slot_bytes = words_for(dimensions) * 8;
            Some(Column::open(folder, "bits", generation, slot_bytes, head.n_slots)?)
        };
        let mut file =
            VectorFile { folder: folder.to_owned(), head, codes, slots, bits, slot_of: vec![] };
        file.slot_of = file.read_slot_of();
        Ok(file)
    }

    /// Gives the sequence number of the catalogue that the last commit had seen.
    pub(crate) fn sequence(&self) -> u64 {
        self.head.sequence
    }

    /// Counts the living vectors.
    pub(crate) fn len(&self) -> usize {
        self.head.n_slots - self.head.dead.len() as usize
    }

    /// Appends vectors of length 1 by passage number; an earlier one of the same number dies.
    /// They can be found after the next commit.
    pub(crate) fn append(&mut self, vectors: &[(u32, Vec<f32>)]) -> Result<()> {
        let (mut codes, mut slots, mut bits) = (vec![], vec![], vec![]);
        for (number, vector) in vectors {
            let scale = to_codes(vector, &mut codes);
            slots.extend(number.to_le_bytes());
            slots.extend(scale.to_le_bytes());
            if self.bits.is_some() {
                to_bits(vector.iter().copied(), &self.head.mean, &mut bits);
            }
        }
        let at = self.head.n_slots;
        let n_slots = at + vectors.len();
        self.codes.write(at, &codes, n_slots)?;
        self.slots.write(at, &slots, n_slots)?;
        let bits: Vec<u8> = bits.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Some(column) = &mut self.bits {
            column.write(at, &bits, n_slots)?;
        }
        failpoint::reach("vectors appended")?;
        self.head.checksums = [
            extended(self.head.checksums[0], at * self.codes.slot_bytes, &codes),
            extended(self.head.checksums[1], at * SLOT_BYTES, &slots),
            extended(self.head.checksums[2], at * words_for(self.head.dimensions) * 8, &bits),
        ];
        for (slot, (number, _)) in (at..).zip(vectors) {
            self.forget(*number);
            let number = *number as usize;
            if self.slot_of.len() <= number {
                self.slot_of.resize(number + 1, NO_SLOT);
            }
            self.slot_of[number] = slot as u32;
        }
        self.head.n_slots = n_slots;
        Ok(())
    }

    /// Forgets the vector of a passage, if it has one, at the next commit.
    pub(crate) fn forget(&mut self, number: u32) {
        if let Some(slot) = self.slot_of.get_mut(number as usize)
            && *slot != NO_SLOT
        {
            self.head.dead.insert(*slot);
            *slot = NO_SLOT;
        }
    }

    /// Makes everything since the last commit durable and visible to new views.
    pub(crate) fn commit(&mut self, sequence: u64) -> Result<()> {
        let dead_part = self.head.dead.len() as f64 / self.head.n_slots.max(1) as f64;
        let has_too_many_dead =
            self.head.n_slots >= MIN_SLOTS_TO_COMPACT && dead_part > MAX_DEAD_PART;
        let needs_bits = self.head.n_slots >= BITS_FROM && self.bits.is_none();
        if has_too_many_dead || needs_bits {
            self.write_anew(sequence)?;
        }
        self.head.sequence = sequence;
        self.codes.file.file().sync_data()?;
        self.slots.file.file().sync_data()?;
        if let Some(bits) = &self.bits {
            bits.file.file().sync_data()?;
        }
        failpoint::reach("vectors synced")?;
        self.head.write(&self.folder)?;
        failpoint::reach("vectors committed")?;
        remove_other_generations(&self.folder, self.head.generation)
    }

    /// Gives the present state to search in; later commits do not change it.
    pub(crate) fn view(&mut self) -> Result<VectorView> {
        let bits = match &mut self.bits {
            Some(bits) => bits.mapping()?,
            None => None,
        };
        Ok(VectorView {
            dimensions: self.head.dimensions,
            n_slots: self.head.n_slots,
            mean: self.head.mean.clone(),
            dead: self.head.dead.clone(),
            slot_of: Arc::new(self.slot_of.clone()),
            codes: self.codes.mapping()?,
            slots: self.slots.mapping()?,
            bits,
        })
    }

    /// Reads all slots and compares their checksums.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] names the first file that differs.
    pub(crate) fn verify(&mut self) -> Result<()> {
        let view = self.view()?;
        let parts: [(&Path, &[u8], u32); 3] = [
            (&self.codes.path, view.code_bytes(), self.head.checksums[0]),
            (&self.slots.path, view.slot_bytes(), self.head.checksums[1]),
            (&self.folder, view.bit_bytes(), self.head.checksums[2]),
        ];
        for (path, bytes, checksum) in parts {
            if extended(0, 0, bytes) != checksum {
                return Err(Error::Damaged {
                    path: path.to_owned(),
                    reason: "its checksum does not fit its content".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Writes the living vectors into a new generation, with bits where there are many.
    ///
    /// The new files become the file when the head that names them is written.
    fn write_anew(&mut self, sequence: u64) -> Result<()> {
        let view = self.view()?;
        let dimensions = self.head.dimensions;
        let mut head = Head::empty(dimensions, self.head.generation + 1);
        head.sequence = sequence;
        let living: Vec<usize> =
            (0..view.n_slots).filter(|slot| !view.dead.contains(*slot as u32)).collect();
        if living.len() >= BITS_FROM {
            head.mean = view.mean_of(&living);
        }
        let generation = head.generation;
        let mut codes = Column::create(&self.folder, "codes", generation, dimensions)?;
        let mut slots = Column::create(&self.folder, "slots", generation, SLOT_BYTES)?;
        let bit_bytes = words_for(dimensions) * 8;
        let mut bits = match head.mean.is_empty() {
            true => None,
            false => Some(Column::create(&self.folder, "bits", generation, bit_bytes)?),
        };
        for chunk in living.chunks(SLOTS_PER_STEP) {
            let (mut code_bytes, mut slot_bytes, mut bit_words) = (vec![], vec![], vec![]);
            for slot in chunk {
                code_bytes.extend_from_slice(view.code_row(*slot));
                slot_bytes.extend_from_slice(view.slot_row(*slot));
                if bits.is_some() {
                    to_bits(view.values(*slot), &head.mean, &mut bit_words);
                }
            }
            let (at, n_slots) = (head.n_slots, head.n_slots + chunk.len());
            codes.write(at, &code_bytes, n_slots)?;
            slots.write(at, &slot_bytes, n_slots)?;
            let bit_words: Vec<u8> = bit_words.iter().flat_map(|word| word.to_le_bytes()).collect();
            if let Some(bits) = &mut bits {
                bits.write(at, &bit_words, n_slots)?;
            }
            head.checksums = [
                extended(head.checksums[0], at * dimensions, &code_bytes),
                extended(head.checksums[1], at * SLOT_BYTES, &slot_bytes),
                extended(head.checksums[2], at * bit_bytes, &bit_words),
            ];
            head.n_slots = n_slots;
        }
        (self.head, self.codes, self.slots, self.bits) = (head, codes, slots, bits);
        self.slot_of = self.read_slot_of();
        Ok(())
    }

    fn read_slot_of(&mut self) -> Vec<u32> {
        let mut slot_of = vec![];
        let Ok(view) = self.view() else { return slot_of };
        for slot in 0..view.n_slots as u32 {
            if view.dead.contains(slot) {
                continue;
            }
            let number = view.number(slot as usize) as usize;
            if slot_of.len() <= number {
                slot_of.resize(number + 1, NO_SLOT);
            }
            slot_of[number] = slot;
        }
        slot_of
    }
}

impl VectorView {
    /// Counts the living vectors.
    pub(crate) fn len(&self) -> usize {
        self.n_slots - self.dead.len() as usize
    }

    /// Gives the slot of a passage's vector.
    pub(super) fn slot(&self, number: u32) -> Option<usize> {
        let slot = *self.slot_of.get(number as usize)?;
        (slot != NO_SLOT).then_some(slot as usize)
    }

    /// Gives the passage's number of a slot.
    pub(super) fn number(&self, slot: usize) -> u32 {
        let row = self.slot_row(slot);
        u32::from_le_bytes([row[0], row[1], row[2], row[3]])
    }

    /// Gives the scale of a slot's codes.
    pub(super) fn scale(&self, slot: usize) -> f32 {
        let row = self.slot_row(slot);
        f32::from_le_bytes([row[4], row[5], row[6], row[7]])
    }

    /// Gives all codes, row by row.
    pub(super) fn codes(&self) -> &[i8] {
        bytemuck::cast_slice(self.code_bytes())
    }

    /// Gives all bits, row by row; nothing when there are too few vectors for them.
    pub(super) fn bits(&self) -> &[u64] {
        bytemuck::cast_slice(self.bit_bytes())
    }

    fn code_bytes(&self) -> &[u8] {
        mapped(self.codes.as_ref(), self.n_slots * self.dimensions)
    }

    fn slot_bytes(&self) -> &[u8] {
        mapped(self.slots.as_ref(), self.n_slots * SLOT_BYTES)
    }

    fn bit_bytes(&self) -> &[u8] {
        mapped(self.bits.as_ref(), self.n_slots * words_for(self.dimensions) * 8)
    }

    fn code_row(&self, slot: usize) -> &[u8] {
        &self.code_bytes()[slot * self.dimensions..][..self.dimensions]
    }

    fn slot_row(&self, slot: usize) -> &[u8] {
        &self.slot_bytes()[slot * SLOT_BYTES..][..SLOT_BYTES]
    }

    fn values(&self, slot: usize) -> impl Iterator<Item = f32> + '_ {
        let scale = self.scale(slot);
        self.code_row(slot).iter().map(move |code| f32::from(*code as i8) * scale)
    }

    fn mean_of(&self, slots: &[usize]) -> Vec<f32> {
        let mut sums = vec![0f64; self.dimensions];
        for slot in slots {
            for (sum, value) in sums.iter_mut().zip(self.values(*slot)) {
                *sum += f64::from(value);
            }
        }
        sums.into_iter().map(|sum| (sum / slots.len().max(1) as f64) as f32).collect()
    }
}

fn mapped(mapping: Option<&Arc<Mapping>>, n_bytes: usize) -> &[u8] {
    mapping.map_or(&[], |mapping| mapping.bytes(n_bytes))
}

impl Column {
    fn create(folder: &Path, name: &str, generation: u64, slot_bytes: usize) -> Result<Self> {
        let path = folder.join(format!("{name}.{generation}"));
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        Ok(Column { path, file, slot_bytes, n_reserved: 0, mapping: None })
    }

    fn open(
        folder: &Path,
        name: &str,
        generation: u64,
        slot_bytes: usize,
        n_slots: usize,
    ) -> Result<Self> {
        let path = folder.join(format!("{name}.{generation}"));
        if n_slots == 0 {
            return Column::create(folder, name, generation, slot_bytes);
        }
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| damaged(error.to_string()))?;
        let n_bytes = file.metadata()?.len() as usize;
        if n_bytes < n_slots * slot_bytes {
            return Err(damaged(format!(
                "it has `{n_bytes}` bytes of at least `{}`",
                n_slots * slot_bytes
            )));
        }
        Ok(Column { path, file, slot_bytes, n_reserved: n_bytes / slot_bytes, mapping: None })
    }

    fn write(&mut self, at: usize, bytes: &[u8], n_slots: usize) -> Result<()> {
        let full = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::StorageFull => {
                Error::DiskFull { what: "the vector file", source: Box::new(source) }
            }
            _ => Error::Io(source),
        };
        if n_slots > self.n_reserved {
            let wanted = n_slots + n_slots / 4;
            self.n_reserved = wanted.next_multiple_of(SLOTS_PER_STEP);
            self.file.set_len((self.n_reserved * self.slot_bytes) as u64).map_err(full)?;
            self.mapping = None;
        }
        self.file.file().write_all_at(bytes, (at * self.slot_bytes) as u64).map_err(full)
    }

    fn mapping(&mut self) -> Result<Option<Arc<Mapping>>> {
        if self.mapping.is_none() && self.n_reserved > 0 {
            let n_bytes = self.n_reserved * self.slot_bytes;
            self.mapping = Some(Arc::new(Mapping::new(self.file.file(), n_bytes)?));
        }
        Ok(self.mapping.clone())
    }
}

impl Head {
    fn empty(dimensions: usize, generation: u64) -> Self {
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

    fn write(&self, folder: &Path) -> Result<()> {
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

    fn parse(bytes: &[u8]) -> Option<Self> {
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

fn extended(checksum: u32, n_before: usize, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial_len(checksum, n_before as u64);
    hasher.update(bytes);
    hasher.finalize()
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

fn remove_other_generations(folder: &Path, generation: u64) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.rsplit_once('.')).map(|(_, n)| n)
        else {
            continue;
        };
        if number.parse::<u64>().is_ok_and(|number| number != generation) {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}
