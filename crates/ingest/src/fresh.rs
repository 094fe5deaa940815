//! Vectors that a query had to make: kept in memory until the worker has stored them.
//!
//! They are found by model and text, so that a passage that is written anew never gets the vector of
//! its old text.

use std::collections::{HashMap, VecDeque};

use infer::{Embedder, PassageVectors};
use model::Deadline;
use parking_lot::Mutex;

use crate::limits;

/// The vectors that queries made last.
#[derive(Default)]
pub(crate) struct FreshVectors(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_text: HashMap<String, PassageVectors>,
    /// The oldest first.
    order: VecDeque<String>,
}

impl FreshVectors {
    /// Gives what a model makes of some texts, each made once as long as it is remembered.
    ///
    /// Fails when the embedder fails, or the deadline is over first.
    pub(crate) fn make(
        &self,
        embedder: &dyn Embedder,
        texts: &[String],
        deadline: &Deadline,
    ) -> infer::Result<Vec<PassageVectors>> {
        let known =
            texts.iter().filter_map(|text| Some((text.as_str(), self.get(embedder, text)?)));
        let mut made: HashMap<&str, PassageVectors> = known.collect();
        let mut missing: Vec<&str> = texts.iter().map(String::as_str).collect();
        missing.retain(|text| !made.contains_key(text));
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let vectors = PassageVectors::make_first(embedder, &missing, deadline)?;
            for (text, vectors) in missing.into_iter().zip(vectors) {
                self.add(embedder, text, vectors.clone());
                made.insert(text, vectors);
            }
        }
        Ok(texts.iter().filter_map(|text| made.get(text.as_str()).cloned()).collect())
    }

    /// Gives what was made of a text by a model, as long as it is remembered.
    pub(crate) fn get(&self, embedder: &dyn Embedder, text: &str) -> Option<PassageVectors> {
        self.0.lock().by_text.get(&key(embedder, text)).cloned()
    }

    /// Remembers what was made of a text; beyond [`limits::MAX_FRESH_VECTORS`] the oldest is forgotten.
    fn add(&self, embedder: &dyn Embedder, text: &str, made: PassageVectors) {
        let key = key(embedder, text);
        let mut entries = self.0.lock();
        if entries.by_text.insert(key.clone(), made).is_some() {
            return;
        }
        entries.order.push_back(key);
        if entries.order.len() > limits::MAX_FRESH_VECTORS
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.by_text.remove(&oldest);
        }
    }
}

fn key(embedder: &dyn Embedder, text: &str) -> String {
    format!("{}\0{text}", embedder.id())
}
