//! How the vectors of a namespace lie on disk, and how they are appended, forgotten and read.
//!
//! A folder holds a `head` and, for the generation that the head names, three files of equal
//! slots: `codes` (eight bits a dimension), `slots` (the passage's number and the scale) and,
//! once there are many, `bits`. Slots are appended first and the head is replaced after them by
//! a rename, so a crash leaves the earlier head, which does not know of the new slots.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::column::Column;
use super::head::Head;
use super::quantise::{to_bits, to_codes, words_for};
use super::view::{NO_SLOT, VectorView};
use crate::{Access, Error, Result, failpoint};

/// From this many vectors on, one bit a dimension makes the shortlist.
pub(super) const BITS_FROM: usize = 131_072;
/// A generation with more dead slots than this part is written anew.
const MAX_DEAD_PART: f64 = 0.25;
/// Below this many slots nothing is written anew.
const MIN_SLOTS_TO_COMPACT: usize = 1_024;
/// Slots written at once into a new generation.
const SLOTS_PER_STEP: usize = 16_384;
/// The number of a slot takes four bytes, its scale as many.
pub(super) const SLOT_BYTES: usize = 8;

/// The vector file of one namespace, open for appending.
pub(crate) struct VectorFile {
    folder: PathBuf,
    head: Head,
    codes: Column,
    slots: Column,
    bits: Option<Column>,
    slot_of: Vec<u32>,
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
        let head = read_head(folder, dimensions)?;
        remove_other_generations(folder, head.generation)?;
        VectorFile::with(folder, head, Access::Write)
    }

    /// Opens the file in a folder to read it alone; nothing where it has no vectors.
    ///
    /// # Errors
    ///
    /// Those of [`VectorFile::open`].
    pub(crate) fn open_to_read(folder: &Path, dimensions: usize) -> Result<Option<Self>> {
        let head = read_head(folder, dimensions)?;
        let has_vectors = head.n_slots > 0;
        has_vectors.then(|| VectorFile::with(folder, head, Access::Read)).transpose()
    }

    fn with(folder: &Path, head: Head, access: Access) -> Result<Self> {
        let open = |name: &str, slot_bytes: usize| {
            Column::open(folder, name, head.generation, slot_bytes, head.n_slots, access)
        };
        let codes = open("codes", head.dimensions)?;
        let slots = open("slots", SLOT_BYTES)?;
        let bits = match head.mean.is_empty() {
            true => None,
            false => Some(open("bits", words_for(head.dimensions) * 8)?),
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

    /// Forgets every vector at the next commit.
    pub(crate) fn forget_all(&mut self) {
        (0..self.slot_of.len() as u32).for_each(|number| self.forget(number));
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
        self.codes.sync()?;
        self.slots.sync()?;
        if let Some(bits) = &self.bits {
            bits.sync()?;
        }
        failpoint::reach("vectors synced")?;
        self.head.write(&self.folder)?;
        failpoint::reach("vectors committed")?;
        remove_other_generations(&self.folder, self.head.generation)
    }

    /// Writes the living vectors anew where there are dead ones, which stay on disk until then.
    pub(crate) fn drop_dead(&mut self) -> Result<()> {
        if self.head.dead.is_empty() {
            return Ok(());
        }
        let sequence = self.head.sequence;
        self.write_anew(sequence)?;
        self.commit(sequence)
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
                    reason: "its checksum does not match its content".to_owned(),
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

fn extended(checksum: u32, n_before: usize, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial_len(checksum, n_before as u64);
    hasher.update(bytes);
    hasher.finalize()
}

/// Reads what a folder holds; of one that is not there, nothing.
fn read_head(folder: &Path, dimensions: usize) -> Result<Head> {
    let head = match fs_err::read(folder.join("head")) {
        Ok(bytes) => Head::parse(&bytes).ok_or_else(|| Error::Damaged {
            path: folder.join("head"),
            reason: "it cannot be read".to_owned(),
        })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Head::empty(dimensions, 0),
        Err(error) => return Err(error.into()),
    };
    if head.dimensions != dimensions {
        return Err(Error::Damaged {
            path: folder.join("head"),
            reason: format!("it has `{}` dimensions, not `{dimensions}`", head.dimensions),
        });
    }
    Ok(head)
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
