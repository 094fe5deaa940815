//! Several namespaces in one search: a large one does not crowd out a small one.
//!
//! A word is worth more where there are many passages, so that BM25 of two namespaces cannot be
//! compared as it is: half matches in the large one would take all places among the candidates.

use std::sync::Arc;
use std::time::Duration;

use infer::ModelState;
use model::{
    Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp,
};
use retrieve::{Grouping, Pipeline, Request, Retriever, Scope};
use store::{Config, Document, Filter, Manifest, Store};

fn document(id: &str, title: &str, text: &str) -> Document {
    Document {
        id: DocumentId::new(id),
        title: title.to_owned(),
        attributes: [].into(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: vec![Passage {
            id: PassageId::new(format!("{id}#0")),
            ordinal: 0,
            text: text.to_owned(),
            span: Span::new(0, text.chars().count()),
            pointer: Pointer::Line(1),
            headings: vec![],
        }],
    }
}

#[test]
fn a_whole_match_in_a_small_namespace_is_among_the_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::fixed(Timestamp(0));
    let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
    let (large, small) = (NamespaceId::new("large"), NamespaceId::new("small"));
    for namespace in [&large, &small] {
        store.create_namespace(namespace, &Manifest::current(None)).unwrap();
    }
    let many: Vec<Document> = (0..300)
        .map(|idx| {
            let text = match idx % 10 {
                0 => "The canteen keeps its hours, and the hours suit the canteen.",
                _ => "Gears and bolts are counted in the second store room.",
            };
            document(&format!("page-{idx}"), "", text)
        })
        .collect();
    store.upsert(&large, &many).unwrap();
    let few = [
        document("rule", "Canteen opening hours", "The canteen opening hours are on the door."),
        document("lunch", "Lunch", "The canteen serves lunch."),
        document("tickets", "Tickets", "Tickets for lunch are sold during office hours."),
    ];
    store.upsert(&small, &few).unwrap();
    let retriever = Retriever::new(Arc::new(store), Arc::new(|| Err(ModelState::Off)));
    let scopes = [large, small].map(|namespace| Scope { namespace, filter: Filter::All });
    let pipeline = Pipeline { n_by_words: 20, n_lexical: 10, ..Pipeline::default() };
    let response = retriever
        .search(&Request {
            query: "canteen opening hours",
            scopes: &scopes,
            limit: 3,
            offset: 0,
            threshold: None,
            grouping: Grouping::Passages,
            pipeline: &pipeline,
            deadline: &Deadline::after(Duration::from_secs(60)),
        })
        .unwrap();
    let found: Vec<&str> =
        response.hits.iter().map(|ranked| ranked.hit.document.as_str()).collect();
    assert_eq!(found.first(), Some(&"rule"), "{found:?}");
}
