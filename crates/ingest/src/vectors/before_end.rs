//! What a process without a worker makes before it ends: the vectors of what it was asked for, and
//! of what it wrote.

use model::{Deadline, NamespaceId};
use store::NamespaceInfo;

use super::{MODEL_WAIT, VectorDebt, Vectors};
use crate::{Embedding, Progress, Result};

impl Vectors {
    /// Tells the worker that passages of a namespace were written, or looked at again.
    pub fn written(&self, namespace: NamespaceId) {
        self.written.lock().insert(namespace);
        self.wake();
    }

    /// Counts what [`Vectors::pay_written`] would make, were the model there.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn debt_of_written(&self) -> Result<VectorDebt> {
        let written = self.written.lock().clone();
        self.debt(&written)
    }

    /// Makes the vectors of the namespaces that this process wrote to and no others, and gives how
    /// many: what a process does that ends when its work is done. Namespaces with the vectors of
    /// another model are left to a server, which makes all of them anew.
    ///
    /// # Errors
    ///
    /// When the store or the embedder fails; what was made before stays.
    pub fn pay_written(&self, progress: &Progress) -> Result<usize> {
        if self.are_off() || self.debt_of_written()?.n_without == 0 {
            return Ok(0);
        }
        let Ok(embedder) = self.embedder.get(&Deadline::after(MODEL_WAIT)) else { return Ok(0) };
        let space = Embedding::space_of(&*embedder);
        let written = self.written.lock().clone();
        let is_ours = |known: &NamespaceInfo| {
            written.contains(&known.id)
                && known.manifest.vectors.as_ref().is_none_or(|own| *own == space)
        };
        self.pay_in(is_ours, &embedder, &mut self.paying.lock(), progress)
    }

    /// Makes the vectors that people asked for and no others, and gives how many: what a process does
    /// that ends with its answer. Namespaces with the vectors of another model are left to a server,
    /// which makes all of them anew.
    ///
    /// # Errors
    ///
    /// When the store or the embedder fails; what was made before stays.
    pub fn pay_asked(&self) -> Result<usize> {
        if self.wanted.lock().is_empty() {
            return Ok(0);
        }
        let Ok(embedder) = self.embedder.get(&Deadline::after(MODEL_WAIT)) else { return Ok(0) };
        let space = Embedding::space_of(&*embedder);
        let mut others = self.store.namespaces()?;
        others.retain(|known| known.manifest.vectors.as_ref().is_some_and(|own| *own != space));
        let is_other = |wanted: &NamespaceId| others.iter().any(|other| other.id == *wanted);
        self.wanted.lock().retain(|(namespace, _)| !is_other(namespace));
        let mut remembered = self.paying.lock();
        let mut n_made = 0;
        while !self.wanted.lock().is_empty() {
            n_made += self.pay_wanted(&embedder, &mut remembered)?;
        }
        Ok(n_made)
    }
}
