//! Our tokenizer of the default model beside the `tokenizers` crate with the same vocabulary: the
//! time of one thread, and how many texts get the same tokens from both.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use infer::EmbedderId;
use infer::bench::pieces;
use infer::local::E5Embedder;
use model::Report;
use tokenizers::Tokenizer;
use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::NFKC;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;

/// Texts of each set.
const N_TEXTS: usize = 1_000;
/// Characters of a text, so that none is cut at the model's longest.
const TEXT_CHARS: usize = 400;
/// How often each engine is timed, in turns; the best counts.
const ROUNDS: usize = 5;

/// Tokenizes documents of judged sets in BEIR's layout.
pub(crate) fn run(container: &Path, sets: &[String]) -> anyhow::Result<Report> {
    let ours = E5Embedder::open(container, EmbedderId::new("default", "measured"))?;
    let theirs = same_vocabulary(container)?;
    let mut report = Report::new("tokens");
    for set in sets {
        let texts = texts_of(Path::new(set))?;
        let (mut ours_best, mut theirs_best) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            ours_best = ours_best.min(seconds(&texts, |text| ours.query_ids(text).len()));
            theirs_best = theirs_best.min(seconds(&texts, |text| ids(&theirs, text).len()));
        }
        // Ours has a mark at either end.
        let is_same = |text: &&String| {
            let own = ours.query_ids(text);
            own.get(1..own.len() - 1) == Some(&ids(&theirs, text)[..])
        };
        let n_same = texts.iter().filter(is_same).count();
        let name = Path::new(set).file_name().unwrap_or_default().to_string_lossy();
        let rate = |seconds: f64| texts.len() as f64 / seconds;
        report.add(format!("{name}, dowse"), rate(ours_best), "texts/s");
        report.add(format!("{name}, tokenizers"), rate(theirs_best), "texts/s");
        report.add(format!("{name}, theirs over ours"), theirs_best / ours_best, "ratio of times");
        report.add(format!("{name}, same tokens"), n_same as f64 / texts.len() as f64, "ratio");
    }
    Ok(report)
}

/// Ours puts its prefix before a query, so theirs gets the same text.
fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let encoded = tokenizer.encode_fast(format!("query: {text}"), false);
    encoded.map(|encoded| encoded.get_ids().to_vec()).unwrap_or_default()
}

fn seconds(texts: &[String], count: impl Fn(&str) -> usize) -> f64 {
    let begun = Instant::now();
    for text in texts {
        black_box(count(black_box(text)));
    }
    begun.elapsed().as_secs_f64()
}

fn same_vocabulary(container: &Path) -> anyhow::Result<Tokenizer> {
    let pieces = pieces(container)?;
    let failed = |error: tokenizers::Error| anyhow::anyhow!(error);
    let model = Unigram::from(pieces.scored, Some(pieces.unknown), false).map_err(failed)?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(NFKC)).map_err(failed)?;
    let words = Sequence::new(vec![
        PreTokenizerWrapper::WhitespaceSplit(WhitespaceSplit),
        PreTokenizerWrapper::Metaspace(Metaspace::new('\u{2581}', PrependScheme::Always, true)),
    ]);
    tokenizer.with_pre_tokenizer(Some(words));
    Ok(tokenizer)
}

fn texts_of(set: &Path) -> anyhow::Result<Vec<String>> {
    let corpus = fs_err::read_to_string(set.join("corpus.jsonl"))?;
    let mut texts = Vec::new();
    for line in corpus.lines().take(N_TEXTS) {
        let document: serde_json::Value = serde_json::from_str(line)?;
        let text = document["text"].as_str().context("a document has no `text`")?;
        texts.push(text.chars().take(TEXT_CHARS).collect());
    }
    Ok(texts)
}
