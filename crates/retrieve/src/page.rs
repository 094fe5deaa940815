//! Page: which candidates a page needs, and which of what was judged it gives.

use model::{DocumentId, Warning};

use crate::fuse::Fused;
use crate::judge::{Judged, rank_of};
use crate::pipeline::FixedOrder;
use crate::{Grouping, Ranked, Request};

/// Threshold, grouping and paging, in this order.
pub(crate) fn finish(request: &Request<'_>, judged: Vec<Judged>) -> Vec<Ranked> {
    let mut seen = std::collections::BTreeSet::new();
    judged
        .into_iter()
        .filter(|judged| request.threshold.is_none_or(|least| judged.score.reaches(least)))
        .filter(|judged| match request.grouping {
            Grouping::Passages => true,
            Grouping::Documents => {
                seen.insert((judged.fused.scope_idx, judged.fused.document.clone()))
            }
        })
        .skip(request.offset)
        .take(request.limit)
        .map(|judged| judged.into_ranked(request))
        .collect()
}

/// Passages of one document that are judged, where documents are asked for.
const PASSAGES_PER_DOCUMENT: usize = 3;

/// Leaves the candidates of a page in a fixed order, and gives the place of the last of them where
/// others are behind it.
pub(crate) fn page_in_order(
    fused: Vec<Fused>,
    order: &FixedOrder<'_>,
    request: &Request<'_>,
) -> (Vec<Fused>, Option<u64>) {
    let mut items: std::collections::BTreeMap<(u64, String), Vec<Fused>> =
        std::collections::BTreeMap::new();
    for fused in fused {
        let Some(place) = order(&fused.document, &fused.passage) else { continue };
        let item = match request.grouping {
            Grouping::Documents => fused.document.to_string(),
            Grouping::Passages => fused.passage.to_string(),
        };
        let of_item = items.entry((place, item)).or_default();
        if of_item.len() < PASSAGES_PER_DOCUMENT {
            of_item.push(fused);
        }
    }
    let end = request.offset.saturating_add(request.limit);
    let last = end.checked_sub(1).and_then(|last| items.keys().nth(last));
    let looked_to = last.filter(|_| items.len() > end).map(|(place, _)| *place);
    let page = items.into_values().skip(request.offset).take(request.limit).flatten().collect();
    (page, looked_to)
}

/// Gives how many fused candidates a page needs. Every one is judged by the same kinds of evidence,
/// so that no score depends on this.
pub(crate) fn n_asked(request: &Request<'_>) -> usize {
    let n_asked = request.offset.saturating_add(request.limit);
    match request.grouping {
        Grouping::Passages => n_asked,
        Grouping::Documents => n_asked.saturating_mul(PASSAGES_PER_DOCUMENT),
    }
}

/// Says where passages are given that were judged for a page alone: those of the pages before were
/// sorted without them.
pub(crate) fn beyond(hits: &[Ranked], depth: usize) -> Option<Warning> {
    hits.iter().any(|ranked| rank_of(&ranked.hit.explanation) > depth).then(|| {
        let message = format!(
            "the best {depth} candidates are sorted by score; those behind them come page by page, \
             and may score higher than what was given before: narrow the query"
        );
        Warning::new("sorted_by_page", message)
    })
}

pub(crate) fn count(fused: &[Fused], grouping: Grouping) -> usize {
    match grouping {
        Grouping::Passages => fused.len(),
        Grouping::Documents => {
            let documents: std::collections::HashSet<&DocumentId> =
                fused.iter().map(|fused| &fused.document).collect();
            documents.len()
        }
    }
}
