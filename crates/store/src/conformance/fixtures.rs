//! Small documents and vectors for the laws.

use std::time::Duration;

use model::{Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span};

use crate::{
    Bm25, Candidates, Catalogue, Document, Filter, Manifest, Store, VectorSpace, WordsQuery,
};

/// Makes a passage with an id of `document#ordinal`.
pub fn passage(document: &str, ordinal: u32, text: &str) -> Passage {
    Passage {
        id: PassageId::new(format!("{document}#{ordinal}")),
        ordinal,
        text: text.to_owned(),
        span: Span::new(0, text.chars().count()),
        pointer: Pointer::Line(ordinal + 1),
        headings: vec![],
    }
}

/// Makes a document with one passage for each text and no attributes.
pub fn document(id: &str, texts: &[&str]) -> Document {
    Document {
        id: DocumentId::new(id),
        title: String::new(),
        attributes: Default::default(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: (0..).zip(texts).map(|(ordinal, text)| passage(id, ordinal, text)).collect(),
    }
}

/// Gives a space of eight dimensions.
pub fn space() -> VectorSpace {
    VectorSpace { embedder: "test/1".to_owned(), dimensions: 8 }
}

/// Gives a vector of eight dimensions that points mostly along one of them.
pub fn vector(along: usize, tilt: f32) -> Vec<f32> {
    (0..8).map(|at| if at == along % 8 { 1.0 } else { tilt / (at + 1) as f32 }).collect()
}

pub(super) fn made(store: &Store, name: &str, with_vectors: WithVectors) -> NamespaceId {
    let namespace = NamespaceId::new(name);
    store.create_namespace(&namespace, &manifest(with_vectors)).unwrap();
    namespace
}

pub(super) fn made_in(
    catalogue: &dyn Catalogue,
    name: &str,
    with_vectors: WithVectors,
) -> NamespaceId {
    let namespace = NamespaceId::new(name);
    catalogue.create_namespace(&namespace, &manifest(with_vectors)).unwrap();
    namespace
}

fn manifest(with_vectors: WithVectors) -> Manifest {
    match with_vectors {
        WithVectors::Yes => Manifest::current(Some(space())),
        WithVectors::No => Manifest::current(None),
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum WithVectors {
    Yes,
    No,
}

pub(super) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

pub(super) fn words(store: &Store, namespace: &NamespaceId, text: &str) -> Vec<String> {
    let query = WordsQuery::from_text(text, Bm25::PASSAGES, 1.0, 0.0);
    ids(&store.by_words(namespace, &query, &Filter::All, 100, &soon()).unwrap())
}

pub(super) fn ids(candidates: &Candidates) -> Vec<String> {
    candidates.hits.iter().map(|hit| hit.passage.to_string()).collect()
}
