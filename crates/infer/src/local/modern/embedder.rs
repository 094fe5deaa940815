//! A ModernBERT folder as an embedder.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::config::ModernConfig;
use super::encoder::ModernEncoder;
use super::weights::Checkpoint;
use crate::local::kernels::Level;
use crate::local::product::DEPTH_PADDING;
use crate::local::runner::{Runner, Urgency, default_threads};
use crate::local::sentence::SentenceFolder;
use crate::local::vectorised::Bf16;
use crate::{EmbeddedText, Embedder, EmbedderId, Result};

/// The encoder for the instructions of this machine.
#[derive(Debug)]
pub(super) enum Engine {
    Plain(Runner<ModernEncoder<f32>>),
    Tiles(Runner<ModernEncoder<Bf16>>),
}

impl Engine {
    /// Loads the encoder of a folder.
    pub(super) fn load(
        checkpoint: &Checkpoint,
        config: &ModernConfig,
        max_tokens: usize,
        level: Level,
    ) -> Result<Self> {
        let tensors = checkpoint.tensors()?;
        Ok(if level.has_tiles() {
            Engine::Tiles(Runner::new(ModernEncoder::load(&tensors, config, level, max_tokens)?))
        } else {
            Engine::Plain(Runner::new(ModernEncoder::load(&tensors, config, level, max_tokens)?))
        })
    }

    /// Runs texts on all threads; `finish` gets the states of each.
    pub(super) fn run<R: Send>(
        &self,
        texts: &[&[u32]],
        urgency: Urgency,
        deadline: &Deadline,
        finish: impl Fn(usize, &[f32]) -> R + Sync,
    ) -> Result<Vec<R>> {
        let n_threads = default_threads();
        match self {
            Engine::Plain(runner) => runner.run(texts, n_threads, urgency, deadline, finish),
            Engine::Tiles(runner) => runner.run(texts, n_threads, urgency, deadline, finish),
        }
    }
}

/// Gives the fastest level that fits the model: tiles read the columns of a head in whole steps.
pub(super) fn best_level(config: &ModernConfig) -> Level {
    let fits_tiles = (config.hidden / config.n_heads).is_multiple_of(DEPTH_PADDING);
    if fits_tiles { Level::best() } else { Level::best_without_tiles() }
}

/// A local ModernBERT embedder.
#[derive(Debug)]
pub struct ModernEmbedder {
    text: SentenceFolder,
    engine: Engine,
    dimensions: usize,
}

impl ModernEmbedder {
    /// Loads a folder.
    ///
    /// Fails when a file is missing, damaged or of a shape that is not supported.
    pub fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let config = ModernConfig::read(folder)?;
        let level = best_level(&config);
        ModernEmbedder::open_at(folder, id, &config, level)
    }

    pub(super) fn open_at(
        folder: &Path,
        id: EmbedderId,
        config: &ModernConfig,
        level: Level,
    ) -> Result<Self> {
        let text = SentenceFolder::open(folder, id)?;
        let engine = Engine::load(&Checkpoint::open(folder)?, config, text.max_tokens, level)?;
        Ok(ModernEmbedder { text, engine, dimensions: config.hidden })
    }

    fn embed(
        &self,
        prefix: &str,
        texts: &[&str],
        urgency: Urgency,
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let encoded = texts
            .iter()
            .map(|text| self.text.encode(prefix, text))
            .collect::<Result<Vec<(Encoding, usize)>>>()?;
        let ids: Vec<&[u32]> = encoded.iter().map(|(text, _)| text.get_ids()).collect();
        self.engine.run(&ids, urgency, deadline, |text_idx, states| {
            let (text, n_before) = &encoded[text_idx];
            self.text.pool(states, self.dimensions, text, *n_before)
        })
    }

    fn embed_one(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        let mut embedded =
            self.embed(&self.text.query_prefix, &[query], Urgency::Interactive, deadline)?;
        Ok(embedded.pop().expect("one text gives one vector"))
    }
}

impl Embedder for ModernEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.text.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.text.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        Ok(self.embed_one(query, deadline)?.pooled)
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let embedded =
            self.embed(&self.text.passage_prefix, passages, Urgency::Background, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn has_token_vectors(&self) -> bool {
        true
    }

    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        self.embed_one(query, deadline)
    }

    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.embed(&self.text.passage_prefix, passages, Urgency::Background, deadline)
    }

    fn embed_passages_first(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.embed(&self.text.passage_prefix, passages, Urgency::Interactive, deadline)
    }
}
