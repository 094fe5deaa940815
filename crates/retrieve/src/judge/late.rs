//! Evidence by late interaction: the tokens of the query against the tokens of each candidate.

use std::collections::HashMap;

use model::{PassageId, Warning};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::{CANDIDATES_AT_ONCE, Judged};
use crate::fuse::Fused;
use crate::scopes::each_scope;
use crate::semantic::Semantic;
use crate::{Request, Retriever};

/// Stored tokens that were read before anybody knew which candidates have vectors.
pub(super) type Tokens = store::Result<HashMap<(usize, PassageId), Vec<u8>>>;

/// Reads the stored tokens of candidates. Needs nothing but their ids, so that it can be done while
/// they are read; nothing where no tokens are compared.
pub(super) fn read(
    retriever: &Retriever,
    request: &Request<'_>,
    semantic: &Semantic,
    fused: &[Fused],
) -> Tokens {
    if semantic.late.is_none() {
        return Ok(HashMap::new());
    }
    let store = &retriever.store;
    let of_scopes = each_scope(store, request.scopes, |scope_idx, scope| -> Tokens {
        let own = fused.iter().filter(|fused| fused.scope_idx == scope_idx);
        let ids: Vec<PassageId> = own.map(|fused| fused.passage.clone()).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let blobs = store.blobs(&scope.namespace, &ids)?;
        let known = ids.into_iter().zip(blobs).filter_map(|(id, blob)| Some((id, blob?)));
        Ok(known.map(|(id, blob)| ((scope_idx, id), blob)).collect())
    });
    let of_scopes = of_scopes.into_iter().collect::<store::Result<Vec<_>>>()?;
    Ok(of_scopes.into_iter().flatten().collect())
}

/// Compares the tokens of the query with the stored tokens of each candidate; says why not.
///
/// All candidates are compared or none is: a deadline in the middle leaves none with a figure.
pub(super) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    semantic: &Semantic,
    tokens: Option<Tokens>,
    judged: &mut [Judged],
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    let Some((matcher, background)) = &semantic.late else {
        let why = semantic.skipped.as_deref().unwrap_or("the model has no token vectors");
        return Some(why.to_owned());
    };
    let mut tokens = tokens;
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let own: Vec<usize> = (0..judged.len())
            .filter(|idx| judged[*idx].fused.scope_idx == scope_idx)
            .filter(|idx| judged[*idx].evidence.vector.is_some())
            .collect();
        let ids: Vec<PassageId> =
            own.iter().map(|idx| judged[*idx].fused.passage.clone()).collect();
        let blobs = match &mut tokens {
            None => retriever.store.blobs(&scope.namespace, &ids),
            Some(Ok(tokens)) => {
                let ids = ids.into_iter();
                Ok(ids.map(|id| tokens.remove(&(scope_idx, id))).collect())
            }
            Some(Err(_)) => tokens.take().map_or(Ok(vec![]), |tokens| tokens.map(|_| vec![])),
        };
        let blobs = match blobs {
            Ok(blobs) => blobs,
            Err(error) => {
                let message = format!("late interaction was skipped: {error}");
                warnings.push(Warning::new("rerank_skipped", message.clone()));
                judged.iter_mut().for_each(|judged| judged.evidence.late = None);
                return Some(message);
            }
        };
        let scores: Option<Vec<Option<(f64, usize)>>> = blobs
            .into_par_iter()
            .with_min_len(CANDIDATES_AT_ONCE)
            .map(|blob| {
                let score = |blob: Vec<u8>| {
                    let n_tokens = infer::n_packed_tokens(&blob)?;
                    Some((matcher.score(&blob)?, n_tokens))
                };
                (!request.deadline.is_over()).then(|| blob.and_then(score))
            })
            .collect();
        let Some(scores) = scores else {
            let message = "late interaction was skipped: the deadline came first";
            warnings.push(Warning::new("degraded", message));
            judged.iter_mut().for_each(|judged| judged.evidence.late = None);
            return Some(message.to_owned());
        };
        for (idx, score) in own.into_iter().zip(scores) {
            let language = judged[idx].passage.language;
            if let Some((late, n_tokens)) = score {
                judged[idx].evidence.late = Some(background.nearness(language, late));
                judged[idx].evidence.n_tokens = n_tokens;
            }
        }
    }
    None
}
