//! Cross-encoders over HTTP: `/rerank` in the shapes of TEI, Jina and Cohere.

use std::time::Duration;

use model::Deadline;
use net::Secret;
use serde::Deserialize;
use serde_json::json;

use super::endpoint::{Endpoint, cut};
use crate::{EmbedderId, Reranker, Result};

/// The most passages of one request: TEI refuses more unless it is set up otherwise.
const MAX_RERANK_PASSAGES: usize = 32;

/// What language a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankDialect {
    /// `POST /rerank {query, texts}`, as Text Embeddings Inference.
    Tei,
    /// `POST /rerank {model, query, documents}`, as Jina; base address up to `/v1`.
    Jina,
    /// `POST /rerank {model, query, documents}`, as Cohere; base address up to `/v2`.
    Cohere,
}

impl RerankDialect {
    fn as_str(self) -> &'static str {
        match self {
            RerankDialect::Tei => "tei",
            RerankDialect::Jina => "jina",
            RerankDialect::Cohere => "cohere",
        }
    }
}

/// Where relevance comes from.
#[derive(Debug, Clone)]
pub struct HttpRerankerConfig {
    /// The provider's language.
    pub dialect: RerankDialect,
    /// The address before `/rerank`.
    pub base_url: String,
    /// The model's name at the provider.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// How long one request may take.
    pub timeout: Duration,
}

/// A cross-encoder at the other end of HTTP.
#[derive(Debug)]
pub struct HttpReranker {
    id: EmbedderId,
    endpoint: Endpoint,
    config: HttpRerankerConfig,
}

impl HttpReranker {
    /// Prepares a re-ranker; nothing is sent yet.
    ///
    /// Fails when the address cannot be used.
    pub fn open(config: HttpRerankerConfig) -> Result<Self> {
        let name = format!("{}/{}", config.dialect.as_str(), config.model);
        let endpoint =
            Endpoint::new(name, &config.base_url, config.api_key.clone(), config.timeout)?;
        let endpoint = match config.dialect {
            RerankDialect::Tei => endpoint,
            RerankDialect::Jina => endpoint.with_version("v1"),
            RerankDialect::Cohere => endpoint.with_version("v2"),
        };
        let id = EmbedderId::new(config.model.clone(), config.dialect.as_str());
        Ok(HttpReranker { id, endpoint, config })
    }

    fn request(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>> {
        let texts: Vec<&str> = passages.iter().map(|passage| cut(passage)).collect();
        let query = cut(query);
        let ranked: Vec<Ranked> = match self.config.dialect {
            RerankDialect::Tei => {
                let body =
                    json!({"query": query, "texts": texts, "truncate": true, "raw_scores": false});
                self.endpoint.ask("/rerank", &body, deadline)?
            }
            RerankDialect::Jina | RerankDialect::Cohere => {
                let mut body = json!({
                    "model": self.config.model,
                    "query": query,
                    "documents": texts,
                    "top_n": texts.len(),
                });
                if self.config.dialect == RerankDialect::Jina {
                    body["return_documents"] = false.into();
                }
                let answer: Results = self.endpoint.ask("/rerank", &body, deadline)?;
                answer.results
            }
        };
        self.in_order(&ranked, passages.len())
    }

    fn in_order(&self, ranked: &[Ranked], n_asked: usize) -> Result<Vec<f32>> {
        let mut scores = vec![f32::NAN; n_asked];
        for item in ranked {
            let slot = scores.get_mut(item.index).ok_or_else(|| {
                self.endpoint.bad_answer(format!("a score for passage {} of {n_asked}", item.index))
            })?;
            *slot = item.score;
        }
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            return Err(self
                .endpoint
                .bad_answer(format!("no score for passage {at} of {n_asked}")));
        }
        Ok(scores)
    }
}

impl Reranker for HttpReranker {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn score(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>> {
        let mut scores = Vec::with_capacity(passages.len());
        for part in passages.chunks(MAX_RERANK_PASSAGES) {
            scores.extend(self.request(query, part, deadline)?);
        }
        // Some servers give logits whatever they are asked for.
        let are_logits = scores.iter().any(|score| !(0.0..=1.0).contains(score));
        if are_logits {
            scores.iter_mut().for_each(|score| *score = crate::local::sigmoid(*score));
        }
        Ok(scores)
    }
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Ranked>,
}

#[derive(Deserialize)]
struct Ranked {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f32,
}
