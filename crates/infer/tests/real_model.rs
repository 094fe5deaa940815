//! The real default model against reference vectors: token ids as the original tokenizer gives
//! them, and vectors of an f32 forward pass of the same weights by another program.
//!
//! The model is not in the repository, so this runs where `DOWSE_TEST_MODELS` names a model folder
//! that holds it (`dowse models pull` makes one), and says so where it does not.

use std::path::PathBuf;
use std::time::Duration;

use infer::local::E5Embedder;
use infer::{Embedder, EmbedderId};
use model::Deadline;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    kind: String,
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

#[test]
fn vectors_and_tokens_are_those_of_the_reference() {
    let Some(models_dir) = std::env::var_os("DOWSE_TEST_MODELS") else {
        eprintln!("DOWSE_TEST_MODELS is not set: the real model was not tested");
        return;
    };
    let container = PathBuf::from(models_dir).join("multilingual-e5-small/model.e5s1");
    let embedder = E5Embedder::open(&container, EmbedderId::new("e5", "1")).unwrap();
    let references: Vec<Reference> =
        serde_json::from_str(include_str!("reference_vectors.json")).unwrap();
    let deadline = Deadline::after(Duration::from_secs(300));
    for Reference { kind, text, ids, vector } in references {
        let (own_ids, own) = if kind == "query" {
            (embedder.query_ids(&text), embedder.embed_query(&text, &deadline).unwrap())
        } else {
            let vectors = embedder.embed_passages(&[&text], &deadline).unwrap();
            (embedder.passage_ids(&text), vectors[0].clone())
        };
        assert_eq!(own_ids, ids, "`{text}`");
        let dot =
            |one: &[f32], other: &[f32]| -> f32 { one.iter().zip(other).map(|(a, b)| a * b).sum() };
        let cosine = dot(&own, &vector) / (dot(&own, &own) * dot(&vector, &vector)).sqrt();
        assert!(cosine > 0.9995, "`{text}`: {cosine}");
    }
}
