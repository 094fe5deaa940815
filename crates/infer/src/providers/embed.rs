//! Embedders over HTTP: OpenAI-compatible, Text Embeddings Inference (TEI), Ollama.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::Deadline;
use net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, cut};
use crate::local::scale_to_one;
use crate::{Embedder, EmbedderId, Error, Result};

/// The most texts of one request.
const MAX_BATCH_TEXTS: usize = 64;
/// The most texts of one request to TEI, which refuses more unless it is set up otherwise.
const MAX_TEI_BATCH_TEXTS: usize = 32;
/// The most bytes of text of one request.
const MAX_BATCH_BYTES: usize = 256 * 1024;
/// The most requests of one call that are under way at once.
const MAX_IN_FLIGHT: usize = 4;
/// The longest vector that is accepted.
const MAX_DIMENSIONS: usize = 16 * 1024;

/// What language a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedDialect {
    /// `POST /embeddings`, as OpenAI and those compatible with it.
    OpenAi,
    /// `POST /embed`, as Text Embeddings Inference.
    Tei,
    /// `POST /api/embed`, as Ollama.
    Ollama,
}

impl EmbedDialect {
    fn as_str(self) -> &'static str {
        match self {
            EmbedDialect::OpenAi => "openai",
            EmbedDialect::Tei => "tei",
            EmbedDialect::Ollama => "ollama",
        }
    }

    fn max_batch_texts(self) -> usize {
        match self {
            EmbedDialect::Tei => MAX_TEI_BATCH_TEXTS,
            EmbedDialect::OpenAi | EmbedDialect::Ollama => MAX_BATCH_TEXTS,
        }
    }
}

/// Where vectors come from, and how texts are prepared.
#[derive(Debug, Clone)]
pub struct HttpEmbedderConfig {
    /// The provider's language.
    pub dialect: EmbedDialect,
    /// The address before the path of the call.
    pub base_url: String,
    /// The model's name at the provider.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// The length of the vectors; asked of the provider when it is not given.
    pub dimensions: Option<usize>,
    /// What is before a query, such as `query: `.
    pub query_prefix: String,
    /// What is before a passage, such as `passage: `.
    pub passage_prefix: String,
    /// The most tokens that the model reads.
    pub max_tokens: usize,
    /// How long one request may take.
    pub timeout: Duration,
}

/// An embedder at the other end of HTTP.
#[derive(Debug)]
pub struct HttpEmbedder {
    id: EmbedderId,
    endpoint: Endpoint,
    config: HttpEmbedderConfig,
    dimensions: usize,
}

impl HttpEmbedder {
    /// Prepares an embedder, and embeds one word when the length of its vectors is not given.
    ///
    /// Fails when the address cannot be used, or the provider does not answer.
    pub fn open(config: HttpEmbedderConfig, deadline: &Deadline) -> Result<Self> {
        let name = format!("{}/{}", config.dialect.as_str(), config.model);
        let endpoint =
            Endpoint::new(name, &config.base_url, config.api_key.clone(), config.timeout)?;
        let endpoint = match config.dialect {
            EmbedDialect::OpenAi => endpoint.with_version("v1"),
            EmbedDialect::Tei | EmbedDialect::Ollama => endpoint,
        };
        // Prefixes change the vectors, so they are part of the version.
        let version = match (config.query_prefix.as_str(), config.passage_prefix.as_str()) {
            ("", "") => config.dialect.as_str().to_owned(),
            (query, passage) => format!("{}+{query}+{passage}", config.dialect.as_str()),
        };
        let id = EmbedderId::new(config.model.clone(), version);
        let dimensions = config.dimensions.unwrap_or(0);
        let mut embedder = HttpEmbedder { id, endpoint, config, dimensions };
        if dimensions == 0 {
            let probe = embedder.request(&["dimension".to_owned()], deadline)?;
            embedder.dimensions = probe.first().map_or(0, Vec::len);
        }
        Ok(embedder)
    }

    /// Asks for the vectors of one batch.
    fn request(&self, texts: &[String], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let model = &self.config.model;
        let vectors = match self.config.dialect {
            EmbedDialect::OpenAi => {
                let mut body = json!({"model": model, "input": texts, "encoding_format": "float"});
                if let Some(dimensions) = self.config.dimensions {
                    body["dimensions"] = dimensions.into();
                }
                let answer: OpenAiAnswer = match self.endpoint.ask("/embeddings", &body, deadline) {
                    // Most compatible servers know no `dimensions`, and some refuse it.
                    Err(Error::Provider {
                        source: net::Error::Status { status: 400 | 422, .. },
                        ..
                    }) if self.config.dimensions.is_some() => {
                        body.as_object_mut().expect("made above").remove("dimensions");
                        self.endpoint.ask("/embeddings", &body, deadline)?
                    }
                    other => other?,
                };
                self.in_order(answer, texts.len())?
            }
            EmbedDialect::Tei => {
                let body = json!({"inputs": texts, "normalize": true, "truncate": true});
                self.endpoint.ask("/embed", &body, deadline)?
            }
            EmbedDialect::Ollama => {
                let body = json!({"model": model, "input": texts, "truncate": true});
                let answer: OllamaAnswer = self.endpoint.ask("/api/embed", &body, deadline)?;
                answer.embeddings
            }
        };
        self.checked(vectors, texts.len())
    }

    fn in_order(&self, answer: OpenAiAnswer, n_asked: usize) -> Result<Vec<Vec<f32>>> {
        let mut vectors = vec![Vec::new(); n_asked];
        for (position, item) in answer.data.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            let slot = vectors
                .get_mut(index)
                .ok_or_else(|| self.endpoint.bad_answer(format!("vector {index} of {n_asked}")))?;
            if !item.embedding.is_array() {
                return Err(self.endpoint.bad_answer("a vector is not a list of numbers"));
            }
            *slot = serde_json::from_value(item.embedding)
                .map_err(|_| self.endpoint.bad_answer("a vector is not made of numbers"))?;
        }
        Ok(vectors)
    }

    fn checked(&self, mut vectors: Vec<Vec<f32>>, n_asked: usize) -> Result<Vec<Vec<f32>>> {
        let bad = |problem: String| Err(self.endpoint.bad_answer(problem));
        if vectors.len() != n_asked {
            return bad(format!("{} vectors for {n_asked} texts", vectors.len()));
        }
        let expected = match self.dimensions {
            0 => vectors.first().map_or(0, Vec::len),
            known => known,
        };
        if expected == 0 || expected > MAX_DIMENSIONS {
            return bad(format!(
                "vectors of {expected} dimensions, allowed are 1 to {MAX_DIMENSIONS}"
            ));
        }
        for vector in &mut vectors {
            if vector.len() != expected {
                return bad(format!(
                    "a vector of {} dimensions, expected {expected}",
                    vector.len()
                ));
            }
            if vector.iter().any(|value| !value.is_finite()) {
                return bad("a vector with a number that is not finite".to_owned());
            }
            scale_to_one(vector);
        }
        Ok(vectors)
    }

    fn embed(&self, prefix: &str, texts: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<String> =
            texts.iter().map(|text| format!("{prefix}{}", cut(text))).collect();
        let batches = batches(&texts, self.config.dialect.max_batch_texts());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((batch_idx, batch)) = {
                let batch_idx = next.fetch_add(1, Ordering::Relaxed);
                batches.get(batch_idx).map(|batch| (batch_idx, batch))
            } {
                let vectors = self.request(batch, deadline);
                let has_failed = vectors.is_err();
                done.push((batch_idx, vectors));
                if has_failed {
                    // The call fails as a whole, so no further batch is worth its price.
                    next.store(batches.len(), Ordering::Relaxed);
                }
            }
            done
        };
        let mut done = std::thread::scope(|scope| {
            let n_helpers = MAX_IN_FLIGHT.min(batches.len()).saturating_sub(1);
            let helpers: Vec<_> = (0..n_helpers).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for helper in helpers {
                done.extend(helper.join().expect("a request does not panic"));
            }
            done
        });
        done.sort_by_key(|(batch_idx, _)| *batch_idx);
        let mut vectors = Vec::with_capacity(texts.len());
        for (_, batch) in done {
            vectors.extend(batch?);
        }
        Ok(vectors)
    }
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.config.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        let mut vectors = self.embed(&self.config.query_prefix, &[query], deadline)?;
        vectors.pop().ok_or_else(|| self.endpoint.bad_answer("no vector"))
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        self.embed(&self.config.passage_prefix, passages, deadline)
    }
}

/// Cuts texts into requests, keeping their order.
fn batches(texts: &[String], max_texts: usize) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let mut start = 0;
    let mut n_bytes = 0;
    for (at, text) in texts.iter().enumerate() {
        let is_full = at - start >= max_texts || n_bytes + text.len() > MAX_BATCH_BYTES;
        if is_full && at > start {
            batches.push(&texts[start..at]);
            start = at;
            n_bytes = 0;
        }
        n_bytes += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    batches
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: Value,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}
