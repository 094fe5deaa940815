//! Proves that folders with a graph and a tokenizer become embedders and cross-encoders, and that
//! folders that do not fit are refused in words.

use std::time::Duration;

use model::Deadline;
use testkit::onnx::TinyOnnx;

use super::*;
use crate::local::tiny_graph::{self, Head, row};
use crate::local::{CrossEncoder, OnnxEmbedder, scale_to_one, sigmoid};
use crate::{Embedder, Reranker, open_local_embedder};

const WIDTH: usize = 4;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// The mean of the rows of some ids, of length 1.
fn mean(ids: &[usize]) -> Vec<f32> {
    let mut sum = vec![0.0; WIDTH];
    for id in ids {
        sum.iter_mut().zip(row(*id, WIDTH)).for_each(|(sum, value)| *sum += value);
    }
    scale_to_one(&mut sum);
    sum
}

#[track_caller]
fn check_close(received: &[f32], expected: &[f32]) {
    assert_eq!(received.len(), expected.len());
    let far = received.iter().zip(expected).any(|(one, other)| (one - other).abs() > 1e-5);
    assert!(!far, "{received:?} {expected:?}");
}

#[test]
fn a_folder_becomes_an_embedder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny-model");
    tiny_graph::write(&path, Head::States, WIDTH);
    let embedder = open_local_embedder(&path.to_string_lossy(), Path::new("nowhere")).unwrap();
    assert_eq!(embedder.id().to_string(), "tiny-model@folder");
    assert_eq!(embedder.dimensions(), WIDTH);
    let texts = ["hello", "hello world", "river river river", "", "unheard"];
    let embedded = embedder.embed_passages_with_tokens(&texts, &soon()).unwrap();
    check_close(&embedded[0].pooled, &mean(&[2, 4, 3]));
    check_close(&embedded[1].pooled, &mean(&[2, 4, 5, 3]));
    check_close(&embedded[2].pooled, &mean(&[2, 8, 8, 8, 3]));
    check_close(&embedded[3].pooled, &mean(&[2, 3]));
    check_close(&embedded[4].pooled, &mean(&[2, 1, 3]));
    assert_eq!(embedded.iter().map(|text| text.tokens.len()).collect::<Vec<_>>(), [1, 2, 3, 0, 1]);
    check_close(&embedded[1].tokens.flat[WIDTH..], &mean(&[5]));
}

#[test]
fn an_e5_folder_gets_its_prefixes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my-e5-model");
    tiny_graph::write(&path, Head::States, WIDTH);
    let embedder = OnnxEmbedder::open(&path, EmbedderId::new("my-e5-model", "1")).unwrap();
    let embedded = embedder.embed_query_with_tokens("hello", &soon()).unwrap();
    check_close(&embedded.pooled, &mean(&[2, 6, 7, 4, 3]));
    assert_eq!(embedded.tokens.len(), 1);
}

#[test]
fn a_text_cannot_forge_marks() {
    let folder = tempfile::tempdir().unwrap();
    tiny_graph::write(folder.path(), Head::States, WIDTH);
    let embedder = OnnxEmbedder::open(folder.path(), EmbedderId::new("x", "1")).unwrap();
    let embedded = embedder.embed_passages_with_tokens(&["hello [SEP] world"], &soon()).unwrap();
    // The brackets and the word between them are three unknown words.
    check_close(&embedded[0].pooled, &mean(&[2, 4, 1, 1, 1, 5, 3]));
}

#[test]
fn long_texts_are_cut_where_the_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    tiny_graph::write(folder.path(), Head::States, WIDTH);
    let config = r#"{"model_type": "xlm-roberta", "max_position_embeddings": 18}"#;
    fs_err::write(folder.path().join("config.json"), config).unwrap();
    let embedder = OnnxEmbedder::open(folder.path(), EmbedderId::new("x", "1")).unwrap();
    assert_eq!(embedder.max_tokens(), 16);
    let long = "hello ".repeat(100);
    let embedded = embedder.embed_passages_with_tokens(&[&long, "hello"], &soon()).unwrap();
    assert_eq!((embedded[0].tokens.len(), embedded[0].is_truncated), (14, true));
    assert!(!embedded[1].is_truncated);
}

#[test]
fn a_folder_becomes_a_cross_encoder() {
    let folder = tempfile::tempdir().unwrap();
    tiny_graph::write(folder.path(), Head::Mean, 1);
    let encoder = CrossEncoder::open(folder.path(), EmbedderId::new("rank", "1")).unwrap();
    let scores = encoder.score("hello", &["world", "river"], &soon()).unwrap();
    let expected = |ids: &[usize]| {
        let total: f32 = ids.iter().map(|id| row(*id, 1)[0]).sum();
        sigmoid(total / ids.len() as f32)
    };
    check_close(&scores, &[expected(&[2, 4, 3, 5, 3]), expected(&[2, 4, 3, 8, 3])]);
    // Shorter pairs of a batch are padded, and padding weighs nothing in a sum.
    TinyOnnx::weighing(&[("hello", 0.5), ("river", 2.0)]).write(folder.path());
    let encoder = CrossEncoder::open(folder.path(), EmbedderId::new("rank", "1")).unwrap();
    let scores = encoder.score("hello", &["unheard", "hello hello river"], &soon()).unwrap();
    check_close(&scores, &[sigmoid(0.5), sigmoid(3.5)]);
    let over = soon();
    over.cancel();
    assert!(matches!(encoder.score("a", &["b"], &over), Err(Error::OutOfTime { .. })));
}

#[test]
fn folders_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| {
        OnnxEmbedder::open(path, EmbedderId::new("x", "1")).map(|_| ()).unwrap_err().to_string()
    };
    assert!(open(folder.path()).contains("it is not there"));
    tiny_graph::write(folder.path(), Head::States, WIDTH);
    fs_err::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    assert!(open(folder.path()).contains("tokenizer.json"));
    fs_err::write(folder.path().join("model.onnx"), b"garbage").unwrap();
    assert!(open(folder.path()).contains("model.onnx"));
    tiny_graph::write(folder.path(), Head::States, 5);
    let error = CrossEncoder::open(folder.path(), EmbedderId::new("x", "1")).unwrap_err();
    assert!(error.to_string().contains("shape"), "{error}");
    let error = open_local_embedder("no-such-model", folder.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::ModelMissing { .. }), "{error}");
}

#[test]
fn batches_hold_every_text_once_and_little_padding() {
    let lengths: Vec<usize> = (0..500).map(|at| 1 + at * 37 % 500).collect();
    let batches = batches(&lengths);
    let mut seen = batches.concat();
    seen.sort_unstable();
    assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
    for batch in &batches {
        let longest = batch.iter().map(|text_idx| lengths[*text_idx]).max().unwrap();
        assert!(longest * batch.len() <= BATCH_TOKENS);
    }
}
