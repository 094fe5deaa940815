//! What every forward pass over a container begins with: the vectors of tokens and their places.

use super::container::{Container, Shape, Tensor};
use crate::Result;

/// The vectors of tokens, places and the only kind of sentence, and the norm of their sum.
#[derive(Debug)]
pub(crate) struct Embeddings {
    words: Tensor,
    positions: Tensor,
    kind: Vec<f32>,
    pub(crate) norm: Norm,
}

/// The scale and the shift of a layer normalisation.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

impl Embeddings {
    /// Takes them out of a container.
    ///
    /// Fails when a tensor is missing or too small.
    pub(crate) fn load(container: &Container) -> Result<Self> {
        let Shape { hidden, vocabulary, max_positions, .. } = container.shape;
        Ok(Embeddings {
            words: container.tensor("emb.word", vocabulary * hidden)?.detached(),
            positions: container.tensor("emb.pos", max_positions * hidden)?.detached(),
            kind: container.vector("emb.type", hidden)?,
            norm: Norm::load(container, "emb.ln", hidden)?,
        })
    }

    /// Adds the vectors up, a row for every token of every sequence, without the norm.
    ///
    /// Invariant: there is a row for every token.
    pub(crate) fn read(&self, sequences: &[&[u32]], rows: &mut [f32]) {
        let width = self.kind.len();
        let mut place = vec![0.0; width];
        let mut rows = rows.chunks_exact_mut(width);
        for ids in sequences {
            for (position, id) in ids.iter().enumerate() {
                let row = rows.next().expect("there is a row for every token");
                self.words.read_row(*id as usize, row);
                self.positions.read_row(position, &mut place);
                for at in 0..width {
                    row[at] += place[at] + self.kind[at];
                }
            }
        }
    }
}

impl Norm {
    /// Takes it out of a container.
    ///
    /// Fails when a tensor is missing or too small.
    pub(crate) fn load(container: &Container, name: &str, width: usize) -> Result<Self> {
        Ok(Norm {
            scale: container.vector(&format!("{name}.w"), width)?,
            shift: container.vector(&format!("{name}.b"), width)?,
        })
    }
}

/// Loads layers side by side on all cores.
///
/// Fails when one of them does.
pub(crate) fn load_layers<L: Send>(
    n_layers: usize,
    load: impl Fn(usize) -> Result<L> + Sync,
) -> Result<Vec<L>> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let n_per_thread = n_layers.div_ceil(n_threads).max(1);
    std::thread::scope(|scope| {
        let load = &load;
        let workers: Vec<_> = (0..n_layers)
            .step_by(n_per_thread)
            .map(|start| {
                let end = n_layers.min(start + n_per_thread);
                scope.spawn(move || (start..end).map(load).collect::<Vec<_>>())
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("packing weights does not panic"))
            .collect()
    })
}
