//! How long a query's vector takes while passages are embedded on all cores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::{Deadline, Report};

use super::sentences::SENTENCES;
use super::{exact_lengths, millis};
use crate::local::E5Embedder;
use crate::{Embedder, Result};

/// Queries of each measurement.
const N_QUERIES: usize = 300;
/// Between two queries: they come from people and agents, who read the answers.
const GAP: Duration = Duration::from_millis(20);
/// Passages that are embedded in one call, as indexing does.
const N_PASSAGES: usize = 64;
const PASSAGE_TOKENS: usize = 128;

/// Times queries alone, and while passages are embedded.
pub(super) fn measure(
    report: &mut Report,
    embedder: &E5Embedder,
    deadline: &Deadline,
) -> Result<()> {
    let alone = time_queries(embedder, deadline)?;
    let passages = exact_lengths(embedder, PASSAGE_TOKENS, N_PASSAGES);
    let is_over = AtomicBool::new(false);
    let n_done = AtomicUsize::new(0);
    let (busy, indexed) = std::thread::scope(|scope| {
        let indexing = scope.spawn(|| -> Result<Duration> {
            let start = Instant::now();
            while !is_over.load(Ordering::Relaxed) {
                embedder.embed_ids(&passages, deadline)?;
                n_done.fetch_add(passages.len(), Ordering::Relaxed);
            }
            Ok(start.elapsed())
        });
        let busy = time_queries(embedder, deadline);
        is_over.store(true, Ordering::Relaxed);
        (busy, indexing.join().expect("embedding does not panic"))
    });
    let (busy, indexed) = (busy?, indexed?);
    let at = |times: &[f64], percent: usize| times[(times.len() - 1) * percent / 100];
    report.add("query alone", at(&alone, 50), "ms p50");
    report.add("query alone", at(&alone, 99), "ms p99");
    report.add("query while passages are embedded", at(&busy, 50), "ms p50");
    report.add("query while passages are embedded", at(&busy, 99), "ms p99");
    let note = "99th percentile over the median, both while passages are embedded";
    let ratio = at(&busy, 99) / at(&busy, 50);
    report.add_noted("query while passages are embedded", ratio, "p99/p50", note);
    let rate = n_done.into_inner() as f64 / indexed.as_secs_f64();
    let note = format!("{PASSAGE_TOKENS} tokens each, a query every {} ms", GAP.as_millis());
    report.add_noted("passages beside queries", rate, "passages/s", note);
    Ok(())
}

/// Times queries one after another; the fastest comes first.
fn time_queries(embedder: &E5Embedder, deadline: &Deadline) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(N_QUERIES);
    for query_idx in 0..N_QUERIES {
        std::thread::sleep(GAP);
        let query = SENTENCES[query_idx % SENTENCES.len()].question;
        let start = Instant::now();
        embedder.embed_query(query, deadline)?;
        times.push(millis(start.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}
