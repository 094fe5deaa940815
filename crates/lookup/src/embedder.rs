//! NameEmbedder from the embedder that the whole server shares.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderSlot, ModelState};
use model::Deadline;

use crate::name_embedder::{NameEmbedder, NameEmbedderError};

/// How long a query may wait for its vector; afterwards letters must do.
const QUERY_LIMIT: Duration = Duration::from_millis(500);

/// How long one group of names may take.
const NAMES_LIMIT: Duration = Duration::from_secs(120);

/// Makes vectors of names by the embedder of a slot, as soon as the slot has one.
#[derive(Clone)]
pub struct ModelNameEmbedder {
    slot: Arc<EmbedderSlot>,
}

impl ModelNameEmbedder {
    /// Asks this slot.
    pub fn new(slot: Arc<EmbedderSlot>) -> Self {
        ModelNameEmbedder { slot }
    }

    fn embed_within(&self, query: &str, limit: Duration) -> Result<Vec<f32>, NameEmbedderError> {
        let deadline = Deadline::after(limit);
        let embedder = self.slot.get(&deadline).map_err(|state| not_ready(&state))?;
        embedder
            .embed_query(query, &deadline)
            .map_err(|error| NameEmbedderError { reason: error.to_string() })
    }
}

impl fmt::Debug for ModelNameEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelNameEmbedder")
    }
}

impl NameEmbedder for ModelNameEmbedder {
    fn id(&self) -> Option<String> {
        let embedder = self.slot.get(&Deadline::after(QUERY_LIMIT)).ok()?;
        Some(embedder.id().to_string())
    }

    fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
        let deadline = Deadline::after(NAMES_LIMIT);
        let embedder = self.slot.get(&deadline).map_err(|state| not_ready(&state))?;
        embedder
            .embed_passages(names, &deadline)
            .map_err(|error| NameEmbedderError { reason: error.to_string() })
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, NameEmbedderError> {
        self.embed_within(query, QUERY_LIMIT)
    }

    fn embed_background(&self, queries: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
        queries.iter().map(|query| self.embed_within(query, NAMES_LIMIT)).collect()
    }
}

fn not_ready(state: &ModelState) -> NameEmbedderError {
    let warning = state.warning();
    let reason =
        warning.map_or_else(|| "no embedder is configured".to_owned(), |said| said.message);
    NameEmbedderError { reason }
}
