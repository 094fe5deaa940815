//! One commit of a vector file, as searches read it.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::file::SLOT_BYTES;
use super::kernels::Mapping;
use super::quantise::words_for;

/// In the list of slots by number: no vector.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// One commit of the file, searched by any number of threads.
#[derive(Clone)]
pub(crate) struct VectorView {
    pub(super) dimensions: usize,
    pub(super) n_slots: usize,
    pub(super) mean: Vec<f32>,
    pub(super) dead: RoaringBitmap,
    pub(super) slot_of: Arc<Vec<u32>>,
    pub(super) codes: Option<Arc<Mapping>>,
    pub(super) slots: Option<Arc<Mapping>>,
    pub(super) bits: Option<Arc<Mapping>>,
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
        // An empty slice that is no map has no alignment to cast.
        if self.bits.is_none() {
            return &[];
        }
        bytemuck::cast_slice(self.bit_bytes())
    }

    pub(super) fn code_bytes(&self) -> &[u8] {
        mapped(self.codes.as_ref(), self.n_slots * self.dimensions)
    }

    /// Gives the bytes of all numbers and scales.
    pub(super) fn slot_bytes(&self) -> &[u8] {
        mapped(self.slots.as_ref(), self.n_slots * SLOT_BYTES)
    }

    pub(super) fn bit_bytes(&self) -> &[u8] {
        mapped(self.bits.as_ref(), self.n_slots * words_for(self.dimensions) * 8)
    }

    /// Gives the codes of one slot.
    pub(super) fn code_row(&self, slot: usize) -> &[u8] {
        &self.code_bytes()[slot * self.dimensions..][..self.dimensions]
    }

    /// Gives the number and scale of one slot.
    pub(super) fn slot_row(&self, slot: usize) -> &[u8] {
        &self.slot_bytes()[slot * SLOT_BYTES..][..SLOT_BYTES]
    }

    /// Gives the vector of one slot, as its codes remember it.
    pub(super) fn values(&self, slot: usize) -> impl Iterator<Item = f32> + '_ {
        let scale = self.scale(slot);
        self.code_row(slot).iter().map(move |code| f32::from(*code as i8) * scale)
    }

    /// Gives the mean of some vectors.
    pub(super) fn mean_of(&self, slots: &[usize]) -> Vec<f32> {
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
