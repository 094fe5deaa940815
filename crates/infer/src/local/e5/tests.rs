//! Proves that every instruction set of this machine gives the vectors of the definition, alone
//! and in batches, and that limits hold.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::local::tiny::{Tiny, cosine};

fn forever() -> Deadline {
    Deadline::after(Duration::from_secs(600))
}

fn container(tiny: &Tiny) -> Container {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.e5s1");
    tiny.write(&path);
    Container::open(&path).unwrap()
}

fn open(tiny: &Tiny, kernels: Kernels) -> E5Embedder {
    E5Embedder::from_container(container(tiny), EmbedderId::new("tiny", "1"), kernels).unwrap()
}

/// Opens a model with every set of kernels that this machine has for it.
fn all(tiny: &Tiny) -> Vec<E5Embedder> {
    let kernels = Kernels::available(&container(tiny));
    kernels.into_iter().map(|kernels| open(tiny, kernels)).collect()
}

fn fastest(tiny: &Tiny) -> E5Embedder {
    all(tiny).pop().unwrap()
}

/// What the cosine with the definition must exceed.
fn least_cosine(embedder: &E5Embedder) -> f64 {
    match embedder.kernels_name() {
        name if name.ends_with("f32") => 0.999_999,
        name if name.ends_with("bf16") => 0.9995,
        name if name.ends_with("int8") => 0.998,
        name => panic!("{name} has no bound"),
    }
}

#[test]
fn every_level_gives_the_vectors_of_the_definition() {
    for (hidden, n_heads) in [(64, 2), (64, 1), (96, 3), (32, 2), (96, 6)] {
        let tiny = Tiny::new(7, hidden, n_heads);
        for embedder in all(&tiny) {
            for text in ["hello world", "", "東京 hello zzz", &"hello world ".repeat(30)] {
                let ids = embedder.passage_ids(text);
                let expected = tiny.vector(&ids);
                let received = embedder.embed_passages(&[text], &forever()).unwrap();
                let closeness = cosine(&received[0], &expected);
                assert!(
                    closeness > least_cosine(&embedder),
                    "{} {hidden}/{n_heads} `{text}`: {closeness}",
                    embedder.kernels_name()
                );
            }
        }
    }
}

#[test]
fn token_vectors_leave_out_prefix_and_marks() {
    let tiny = Tiny::new(3, 64, 2);
    for embedder in all(&tiny) {
        let embedded = embedder.embed_query_with_tokens("hello world", &forever()).unwrap();
        let ids = embedder.query_ids("hello world");
        // <s> ▁que ry : ▁hello ▁world </s>
        assert_eq!((ids.len(), embedded.tokens.len()), (7, 2));
        let states = tiny.forward(&ids);
        for (token, state) in embedded.tokens.iter().zip(&states[4..6]) {
            let state: Vec<f32> = state.iter().map(|value| *value as f32).collect();
            // One token has no mean over others that evens rounding out.
            let least = if embedder.kernels_name().ends_with("int8") { 0.995 } else { 0.9995 };
            assert!(cosine(token, &state) > least);
            assert!((token.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-4);
        }
        assert_eq!(embedded.pooled, embedder.embed_query("hello world", &forever()).unwrap());
        let empty = embedder.embed_query_with_tokens("", &forever()).unwrap();
        assert!(empty.tokens.is_empty() && !empty.is_truncated);
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let tiny = Tiny::new(5, 64, 2);
    let embedder = fastest(&tiny);
    assert_eq!(embedder.max_tokens(), tiny.n_positions);
    let long = "hello ".repeat(100_000);
    let embedded = embedder.embed_passages_with_tokens(&[&long, "hello"], &forever()).unwrap();
    assert_eq!(embedded.iter().map(|text| text.is_truncated).collect::<Vec<_>>(), [true, false]);
    assert_eq!(embedder.passage_ids(&long).len(), tiny.n_positions);
    assert_eq!(embedded[0].tokens.len(), tiny.n_positions - 4);
}

#[test]
fn a_deadline_that_is_over_stops_the_work() {
    let embedder = fastest(&Tiny::new(1, 64, 2));
    let deadline = forever();
    deadline.cancel();
    let error = embedder.embed_passages(&["a", "b"], &deadline).unwrap_err();
    assert!(matches!(error, Error::OutOfTime { n_done: 0, n_asked: 2, .. }), "{error}");
    assert!(embedder.embed_passages(&[], &deadline).unwrap().is_empty());
}

#[test]
fn kernels_that_are_not_here_are_named_with_those_that_are() {
    let container = container(&Tiny::new(1, 64, 2));
    assert_eq!(Kernels::named(&container, "portable f32").unwrap().name(), "portable f32");
    let error = Kernels::named(&container, "abacus").unwrap_err().to_string();
    assert!(error.contains("`abacus`") && error.contains("`portable f32`"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A text's vector does not depend on its company, its place or the number of threads.
    #[test]
    fn a_batch_gives_what_each_text_alone_gives(
        texts in proptest::collection::vec("[a-z東 ]{0,60}", 1..12),
        n_threads in 1usize..4,
    ) {
        for embedder in all(&Tiny::new(11, 64, 2)) {
            let embedder = E5Embedder { n_threads, ..embedder };
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let together = embedder.embed_passages(&texts, &forever()).unwrap();
            for (text, vector) in texts.iter().zip(&together) {
                let alone = embedder.embed_passages(&[text], &forever()).unwrap();
                prop_assert!(cosine(&alone[0], vector) > 0.999_99);
            }
        }
    }
}
