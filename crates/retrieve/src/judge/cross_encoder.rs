//! Evidence by a cross-encoder, which reads query and passage together, for the best candidates.

use std::time::Instant;

use model::{Stage, Warning};

use super::{Judged, explain};
use crate::breaker::Outcome;
use crate::question::Question;
use crate::{Request, Retriever};

/// Lets a cross-encoder read the best candidates; `judged` is sorted. Says why it did not.
pub(super) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
    judged: &mut [Judged],
    warnings: &mut Vec<Warning>,
) -> Result<(), String> {
    let reranker = retriever.reranker.as_deref().filter(|_| request.pipeline.model_rerank);
    let Some(reranker) = reranker else { return Err("no cross-encoder is configured".to_owned()) };
    if !retriever.reranker_breaker.may_try(Instant::now()) {
        let message = "the re-ranker is left out for a while: it failed repeatedly";
        warnings.push(Warning::new("circuit_open", message));
        return Err("the circuit is open".to_owned());
    }
    let n_read = request.pipeline.n_model.min(judged.len());
    // A score must not tell what the answer hides, nor a model elsewhere read it.
    let texts: Vec<String> = judged[..n_read]
        .iter()
        .map(|judged| text::redact(&judged.passage.passage.text).text)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = match reranker.score(&question.plain, &texts, &request.deadline.for_upstream()) {
        Ok(scores) if scores.len() == n_read => scores,
        outcome => {
            retriever.reranker_breaker.record(Outcome::Failed, Instant::now());
            let why = match outcome {
                Ok(scores) => format!("it gave {} scores for {n_read} passages", scores.len()),
                Err(error) => error.to_string(),
            };
            let message = format!("the re-ranker was skipped, the order before it is used: {why}");
            warnings.push(Warning::new("rerank_skipped", message));
            return Err(why);
        }
    };
    retriever.reranker_breaker.record(Outcome::Worked, Instant::now());
    for (judged, score) in judged.iter_mut().zip(scores) {
        judged.evidence.cross_encoder = Some(f64::from(score).clamp(0.0, 1.0));
    }
    explain(judged, Stage::CrossEncoder, |judged| judged.evidence.cross_encoder);
    Ok(())
}
