//! A store that cannot be reached: every call says so in the sentence of the contract, and no
//! call says that something does not exist.

use super::{Fixture, member, open_collection, request, soon};
use crate::{Error, NewBase, NewDocument, Visibility};

#[test]
fn every_call_says_that_the_store_is_away() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let accepted = world.add(&ann, &collection, &["One rule."]);
    world.settle();
    let document = &accepted.documents[0].id;
    let chunk = format!("{document}:0");
    world.take_down();
    let service = &world.service;
    let new = || vec![NewDocument::text("", "Another rule.")];
    let failures: Vec<Error> = vec![
        service.get_base(&ann, &base).unwrap_err(),
        service.list_bases(&ann).unwrap_err(),
        service.create_base(&ann, &NewBase { name: "x".into(), ..NewBase::default() }).unwrap_err(),
        service.search(&ann, &request(&base, "rule"), &soon()).unwrap_err(),
        service.search_everywhere(&ann, "rule", 5, &soon()).unwrap_err(),
        service.summary(&ann, &base).unwrap_err(),
        service.get_collection(&ann, &collection).unwrap_err(),
        service.get_document(&ann, document).unwrap_err(),
        service.get_chunk(&ann, &model::PassageId::new(&chunk)).unwrap_err(),
        service.document_text(&ann, document, 100).unwrap_err(),
        service.add_documents(&ann, &collection, new()).unwrap_err(),
        service.delete_document(&ann, document).unwrap_err(),
        service.delete_base(&ann, &base).unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(failure.to_string(), "Failed to connect to api-admin service");
        assert!(matches!(failure, Error::Unavailable(_)), "{failure:?}");
    }
    assert_eq!(world.uploads().len(), 1, "the original of the first document stays alone");
}
