//! One file of equal slots, appended to and mapped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kernels::Mapping;
use crate::{Access, Error, Result, positional};

/// Slots are reserved in steps of at least this many, and a quarter more than needed, so that the
/// map rarely changes.
const SLOTS_PER_STEP: usize = 64;

/// A file of equal slots.
pub(super) struct Column {
    pub(super) path: PathBuf,
    file: fs_err::File,
    pub(super) slot_bytes: usize,
    n_reserved: usize,
    mapping: Option<Arc<Mapping>>,
}

impl Column {
    /// Makes an empty file.
    pub(super) fn create(
        folder: &Path,
        name: &str,
        generation: u64,
        slot_bytes: usize,
    ) -> Result<Self> {
        let path = folder.join(format!("{name}.{generation}"));
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        // One that is empty is left as it is: who only reads changes no file.
        if file.metadata()?.len() > 0 {
            file.set_len(0)?;
        }
        Ok(Column { path, file, slot_bytes, n_reserved: 0, mapping: None })
    }

    /// Opens a file that has at least so many slots.
    pub(super) fn open(
        folder: &Path,
        name: &str,
        generation: u64,
        slot_bytes: usize,
        n_slots: usize,
        access: Access,
    ) -> Result<Self> {
        let path = folder.join(format!("{name}.{generation}"));
        if n_slots == 0 {
            return Column::create(folder, name, generation, slot_bytes);
        }
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(access == Access::Write)
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

    /// Writes slots from a position on.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8], n_slots: usize) -> Result<()> {
        let full = |source: std::io::Error| {
            if source.kind() == std::io::ErrorKind::StorageFull {
                return Error::DiskFull { what: "the vector file", source: Box::new(source) };
            }
            Error::Io(source)
        };
        if n_slots > self.n_reserved {
            let wanted = n_slots + n_slots / 4;
            self.n_reserved = wanted.next_multiple_of(SLOTS_PER_STEP);
            self.file.set_len((self.n_reserved * self.slot_bytes) as u64).map_err(full)?;
            self.mapping = None;
        }
        let offset = (at * self.slot_bytes) as u64;
        positional::write_all_at(self.file.file(), bytes, offset).map_err(full)
    }

    /// Maps what is reserved.
    pub(super) fn mapping(&mut self) -> Result<Option<Arc<Mapping>>> {
        if self.mapping.is_none() && self.n_reserved > 0 {
            let n_bytes = self.n_reserved * self.slot_bytes;
            self.mapping = Some(Arc::new(Mapping::new(self.file.file(), n_bytes)?));
        }
        Ok(self.mapping.clone())
    }

    /// Makes the slots durable.
    pub(super) fn sync(&self) -> Result<()> {
        Ok(self.file.file().sync_data()?)
    }
}
