//! The search by vector: the query's vector, its token vectors, and what is nearest to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use infer::{Embedder, ModelState, TokenMatcher};
use model::Warning;

use crate::background::{Background, CentredQuery, LateBackground};
use crate::breaker::Outcome;
use crate::candidates::{List, QueryVector};
use crate::question::Question;
use crate::{Request, Retriever};

/// The part of a search's time that the query's vector may take: a model that hangs leaves time
/// for the answer by words.
const EMBEDDING_SHARE: f64 = 0.5;

/// The longest that the query's vector may take.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(10);

/// What the search by vector found.
#[derive(Default)]
pub(crate) struct Semantic {
    pub(crate) list: List,
    /// The query's vector, centred by the background.
    pub(crate) query: Option<CentredQuery>,
    /// The tokens of the query, for late interaction.
    pub(crate) late: Option<(TokenMatcher, LateBackground)>,
    /// What the query's vector was made by.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) skipped: Option<String>,
    pub(crate) warnings: Vec<Warning>,
}

/// A query as the model sees it.
struct EmbeddedQuery {
    centred: CentredQuery,
    late: Option<(TokenMatcher, LateBackground)>,
}

impl Semantic {
    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Semantic { skipped: Some(why.into()), ..Semantic::default() }
    }

    pub(crate) fn warned(mut self, warning: Warning) -> Self {
        self.warnings.push(warning);
        self
    }
}

/// Gives the embedder, or at once why there is nothing to search by vector.
pub(crate) fn ready(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
) -> Result<Arc<dyn Embedder>, Box<Semantic>> {
    if request.pipeline.n_by_vector == 0 {
        return Err(Box::new(Semantic::skipped("not asked for")));
    }
    if question.plain.trim().is_empty() {
        return Err(Box::new(Semantic::skipped("the query has no words")));
    }
    let embedder = (retriever.embedder)().map_err(|state| {
        let mut semantic = Semantic::skipped("no model");
        semantic.warnings.extend(state.warning());
        Box::new(semantic)
    })?;
    let counts = |scope_idx| question.known.counts(scope_idx);
    let has_vectors = |scope_idx| counts(scope_idx).is_none_or(|counts| counts.n_vectors > 0);
    if retriever.passage_vectors.is_none() && !(0..request.scopes.len()).any(has_vectors) {
        return Err(Box::new(Semantic::skipped("no vectors yet")));
    }
    if !retriever.embedder_breaker.may_try(Instant::now()) {
        let message = "search by vector is left out for a while: the model failed repeatedly";
        let skipped = Semantic::skipped("the circuit is open");
        return Err(Box::new(skipped.warned(Warning::new("circuit_open", message))));
    }
    Ok(embedder)
}

/// Embeds the question and finds the nearest passages by `search`; says why where it cannot.
pub(crate) fn by_embedding(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
    embedder: &Arc<dyn Embedder>,
    search: impl FnOnce(QueryVector<'_>, &mut Vec<Warning>) -> List,
) -> Semantic {
    match embed(&**embedder, request, question) {
        Ok(EmbeddedQuery { centred, late }) => {
            retriever.embedder_breaker.record(Outcome::Worked, Instant::now());
            let mut warnings = Vec::new();
            let query_vector = QueryVector { embedder: embedder.id(), vector: &centred.vector };
            let list = search(query_vector, &mut warnings);
            let embedder = Some(Arc::clone(embedder));
            Semantic { list, query: Some(centred), late, embedder, skipped: None, warnings }
        }
        Err(error) => {
            retriever.embedder_breaker.record(Outcome::Failed, Instant::now());
            let mut semantic = Semantic::skipped(error.to_string());
            let state = ModelState::from_error(&embedder.id().name, &error);
            semantic.warnings.extend(state.warning());
            semantic
        }
    }
}

fn embed(
    embedder: &dyn Embedder,
    request: &Request<'_>,
    question: &Question,
) -> infer::Result<EmbeddedQuery> {
    let deadline = &request.deadline.part(EMBEDDING_SHARE, MAX_EMBEDDING_TIME);
    if !request.pipeline.model_rerank || !embedder.has_token_vectors() {
        let vector = embedder.embed_query(&question.plain, deadline)?;
        let mut centred = Background::of(embedder)?.centre(&vector);
        centred.function_share = centred.language.map_or(0.0, |own| question.function_share(own));
        return Ok(EmbeddedQuery { centred, late: None });
    }
    let mean = infer::token_mean(embedder, deadline)?;
    let embedded = embedder.embed_query_with_tokens(&question.plain, deadline)?;
    let background = Background::of(embedder)?;
    let late = background.matcher(&embedded.tokens, &mean).map(|matcher| {
        let late = background.late(&matcher);
        (matcher, late)
    });
    let mut centred = background.centre(&embedded.pooled);
    centred.function_share = centred.language.map_or(0.0, |own| question.function_share(own));
    Ok(EmbeddedQuery { centred, late })
}
