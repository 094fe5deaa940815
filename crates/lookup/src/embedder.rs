//! Meaning from the embedder that the whole server shares.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderSlot, ModelState};
use model::Deadline;

use crate::meaning::{Meaning, MeaningError};

/// How long a query may wait for its vector; afterwards letters must do.
const QUERY_LIMIT: Duration = Duration::from_millis(500);

/// How long one group of names may take.
const NAMES_LIMIT: Duration = Duration::from_secs(120);

/// Gives meaning by the embedder of a slot, as soon as the slot has one.
#[derive(Clone)]
pub struct EmbedderMeaning {
    slot: Arc<EmbedderSlot>,
}

impl EmbedderMeaning {
    /// Asks this slot.
    pub fn new(slot: Arc<EmbedderSlot>) -> Self {
        EmbedderMeaning { slot }
    }
}

impl fmt::Debug for EmbedderMeaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmbedderMeaning")
    }
}

impl Meaning for EmbedderMeaning {
    fn id(&self) -> Option<String> {
        let embedder = self.slot.get(&Deadline::after(QUERY_LIMIT)).ok()?;
        Some(embedder.id().to_string())
    }

    fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, MeaningError> {
        let deadline = Deadline::after(NAMES_LIMIT);
        let embedder = self.slot.get(&deadline).map_err(|state| not_ready(&state))?;
        embedder
            .embed_passages(names, &deadline)
            .map_err(|error| MeaningError { reason: error.to_string() })
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, MeaningError> {
        let deadline = Deadline::after(QUERY_LIMIT);
        let embedder = self.slot.get(&deadline).map_err(|state| not_ready(&state))?;
        embedder
            .embed_query(query, &deadline)
            .map_err(|error| MeaningError { reason: error.to_string() })
    }
}

fn not_ready(state: &ModelState) -> MeaningError {
    let warning = state.warning();
    let reason =
        warning.map_or_else(|| "no embedder is configured".to_owned(), |said| said.message);
    MeaningError { reason }
}
