//! The search by meaning: the query's vector, its token vectors, and what is nearest to it.

use std::sync::Arc;
use std::time::Instant;

use infer::{Embedder, ModelState, TokenMatcher};
use model::Warning;

use crate::breaker::Outcome;
use crate::candidates::List;
use crate::question::Question;
use crate::{Request, Retriever};

/// What the search by meaning found.
#[derive(Default)]
pub(crate) struct Meaning {
    pub(crate) list: List,
    /// The tokens of the query, for late interaction.
    pub(crate) late: Option<TokenMatcher>,
    pub(crate) skipped: Option<String>,
    pub(crate) warnings: Vec<Warning>,
}

impl Meaning {
    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Meaning { skipped: Some(why.into()), ..Meaning::default() }
    }

    pub(crate) fn warned(mut self, warning: Warning) -> Self {
        self.warnings.push(warning);
        self
    }
}

/// Gives the embedder, or at once why there is nothing to search by meaning.
pub(crate) fn ready(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
) -> Result<Arc<dyn Embedder>, Box<Meaning>> {
    if request.pipeline.n_by_vector == 0 {
        return Err(Box::new(Meaning::skipped("not asked for")));
    }
    if question.plain.trim().is_empty() {
        return Err(Box::new(Meaning::skipped("the query has no words")));
    }
    let embedder = (retriever.embedder)().map_err(|state| {
        let mut meaning = Meaning::skipped("no model");
        meaning.warnings.extend(state.warning());
        Box::new(meaning)
    })?;
    let counts = |scope: &crate::Scope| retriever.store.counts(&scope.namespace);
    let has_vectors = |scope| counts(scope).map_or(true, |counts| counts.n_vectors > 0);
    if !request.scopes.iter().any(has_vectors) {
        return Err(Box::new(Meaning::skipped("no vectors yet")));
    }
    if !retriever.embedder_breaker.may_try(Instant::now()) {
        let message = "search by meaning is left out for a while: the model failed repeatedly";
        let skipped = Meaning::skipped("the circuit is open");
        return Err(Box::new(skipped.warned(Warning::new("circuit_open", message))));
    }
    Ok(embedder)
}

/// Embeds the question and finds the nearest passages by `search`; says why where it cannot.
pub(crate) fn by_meaning(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
    embedder: &dyn Embedder,
    search: impl FnOnce(&[f32], &mut Vec<Warning>) -> List,
) -> Meaning {
    match embed(embedder, request, question) {
        Ok((vector, late)) => {
            retriever.embedder_breaker.record(Outcome::Worked, Instant::now());
            let mut warnings = Vec::new();
            let list = search(&vector, &mut warnings);
            Meaning { list, late, skipped: None, warnings }
        }
        Err(error) => {
            retriever.embedder_breaker.record(Outcome::Failed, Instant::now());
            let mut meaning = Meaning::skipped(error.to_string());
            let state = ModelState::from_error(&embedder.id().name, &error);
            meaning.warnings.extend(state.warning());
            meaning
        }
    }
}

fn embed(
    embedder: &dyn Embedder,
    request: &Request<'_>,
    question: &Question,
) -> infer::Result<(Vec<f32>, Option<TokenMatcher>)> {
    if !request.pipeline.model_rerank || !embedder.has_token_vectors() {
        return Ok((embedder.embed_query(&question.plain, request.deadline)?, None));
    }
    let mean = infer::token_mean(embedder, request.deadline)?;
    let embedded = embedder.embed_query_with_tokens(&question.plain, request.deadline)?;
    let late = TokenMatcher::new(&embedded.tokens, &mean);
    Ok((embedded.pooled, late))
}
