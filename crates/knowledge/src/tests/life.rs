//! The life of objects: made, found, replaced, moved, deleted, counted.

use ingest::{JobService as _, ObjectError};
use model::{Clearance, Stage};

use super::{Fixture, admin, member, open_collection, request, soon};
use crate::{
    BaseChange, CollectionChange, Content, DocumentState, Error, NewCollection, NewDocument,
    OcrRepair, Visibility,
};

#[test]
fn text_is_found_with_the_scores_of_its_stages() {
    let world = Fixture::new();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "規程集", Visibility::Private);
    let collection = world.collection(&owner, &base, open_collection("人事"));
    world.add(
        &owner,
        &collection,
        &[
            "リモートワーク手当は月額五千円です。申請は人事部に提出してください。",
            "副業は事前に申請し、承認を受ける必要があります。",
            "The travel expense policy asks for receipts.",
        ],
    );
    let found = world.search(&owner, &base, "リモートワーク手当の金額は？");
    let first = &found.results[0];
    assert!(first.content.contains("五千円"), "{found:?}");
    assert!(first.stage(Stage::Sparse).is_some());
    assert_eq!(first.stage(Stage::Dense), None);
    assert!(first.score.get() > 0.0);
    assert_eq!(first.chunk_index, 0);
    assert_eq!(first.collection_id, collection);
    assert_eq!(found.timings[0].stage, "atlas");
    let chunk = world.service.get_chunk(&owner, &first.chunk_id).unwrap();
    assert_eq!(chunk.text, first.content);
    assert_eq!(chunk.document.id, first.document_id);

    let strict = crate::SearchRequest { threshold: 1.0, ..request(&base, "量子力学の講義") };
    let nothing = world.service.search(&owner, &strict, &soon()).unwrap();
    assert!(nothing.results.is_empty());
    assert!(nothing.warnings.iter().any(|warning| warning.message == "No results found"));
}

#[test]
fn counts_follow_every_change() {
    let world = Fixture::new();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Rules", Visibility::Private);
    let counted = || {
        let statistics = world.service.summary(&owner, &base).unwrap().statistics;
        (statistics.total_collections, statistics.total_documents, statistics.total_chunks)
    };
    let warned = || -> Vec<String> {
        let summary = world.service.summary(&owner, &base).unwrap();
        summary.warnings.into_iter().map(|warning| warning.message).collect()
    };
    assert_eq!(counted(), (0, 0, 0));
    assert_eq!(warned(), ["No collections found", "No documents found"]);
    let collection = world.collection(&owner, &base, open_collection("All"));
    assert_eq!(warned(), ["No documents found"]);
    let accepted = world.add(&owner, &collection, &["One rule.", "Another rule."]);
    assert_eq!(counted(), (1, 2, 2));
    let id = &accepted.documents[0].id;
    let long = "A rule about cats. ".repeat(100);
    let replaced =
        world.service.replace_document(&owner, id, NewDocument::text("Cats", long)).unwrap();
    assert_eq!(replaced.documents[0].state, DocumentState::Replacing);
    world.done(&replaced.job);
    let (_, n_documents, n_chunks) = counted();
    assert_eq!(n_documents, 2);
    assert!(n_chunks > 3, "{n_chunks}");
    assert_eq!(world.service.get_document(&owner, id).unwrap().version, 2);
    let found = world.search(&owner, &base, "rule");
    assert!(found.results.iter().all(|chunk| chunk.content != "One rule."));

    let job = world.service.delete_document(&owner, id).unwrap();
    assert_eq!(counted(), (1, 1, 1));
    assert!(world.search(&owner, &base, "cats").results.is_empty());
    world.done(&job);
    world.settle();
    let job = world.service.delete_collection(&owner, &collection).unwrap();
    assert_eq!(counted(), (0, 0, 0));
    world.done(&job);
    let job = world.service.delete_base(&owner, &base).unwrap();
    world.done(&job);
    assert!(matches!(world.service.get_base(&owner, &base), Err(Error::BaseNotFound { .. })));
    assert!(matches!(
        world.service.get_chunk(&owner, &model::PassageId::new("x:0")),
        Err(Error::Object(ObjectError::NotFound { .. }))
    ));
}

#[test]
fn rights_give_the_sentences_of_the_contract() {
    let world = Fixture::new();
    let (ann, bob, boss) = (member("acme", "ann"), member("acme", "bob"), admin("acme"));
    let stranger = admin("other");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let said = |caller| world.service.get_base(caller, &base).unwrap_err().to_string();
    assert_eq!(said(&stranger), "Knowledge base not found");
    assert_eq!(said(&bob), "Access denied to this knowledge base");
    assert!(world.service.get_base(&boss, &base).is_ok());
    assert!(world.service.list_bases(&bob).unwrap().is_empty());
    let public = BaseChange { visibility: Some(Visibility::Public), ..BaseChange::default() };
    assert!(world.service.update_base(&bob, &base, &public).is_err());
    world.service.update_base(&ann, &base, &public).unwrap();
    assert_eq!(world.service.list_bases(&bob).unwrap().len(), 1);
    let new = open_collection("x");
    let refused = world.service.create_collection(&bob, &base, &new).unwrap_err();
    assert!(matches!(refused, Error::Denied));
    let secret = NewCollection { clearance: Clearance::Secret, ..open_collection("y") };
    let refused = world.service.create_collection(&ann, &base, &secret).unwrap_err();
    assert!(matches!(refused, Error::Object(ObjectError::BadRequest { .. })), "{refused}");
    assert!(world.service.create_collection(&boss, &base, &secret).is_ok());
}

#[test]
fn change_of_clearance_moves_passages_at_once_out_of_sight() {
    let world = Fixture::new();
    let (boss, reader) = (admin("acme"), member("acme", "bob"));
    let base = world.base(&boss, "Rules", Visibility::Public);
    let collection = world.collection(&boss, &base, open_collection("All"));
    let accepted = world.add(&boss, &collection, &["The vault code is a rule about vaults."]);
    let chunk = world.search(&reader, &base, "vault").results[0].chunk_id.clone();
    let secret =
        CollectionChange { clearance: Some(Clearance::Secret), ..CollectionChange::default() };
    let (_, job) = world.service.update_collection(&boss, &collection, &secret).unwrap();
    assert!(world.search(&reader, &base, "vault").results.is_empty());
    // What they may not see any more is not told from what is not there.
    let said =
        |result: Result<(), Error>, id: &str| result.unwrap_err().to_string().replace(id, "ID");
    let of_chunk = |id: &str| {
        said(world.service.get_chunk(&reader, &model::PassageId::new(id)).map(|_| ()), id)
    };
    let of_collection = |id: &str| {
        said(world.service.get_collection(&reader, &crate::CollectionId::new(id)).map(|_| ()), id)
    };
    assert_eq!(of_chunk(chunk.as_str()), of_chunk("3f0c7bd2-0000-4000-8000-000000000000:0"));
    let nobody = "3f0c7bd2-0000-4000-8000-000000000000";
    assert_eq!(of_collection(collection.as_str()), of_collection(nobody));
    let document = chunk.as_str().split(':').next().unwrap();
    let of_document = |id: &str| {
        said(
            world.service.get_document(&reader, &crate::KnowledgeDocumentId::new(id)).map(|_| ()),
            id,
        )
    };
    assert_eq!(of_document(document), of_document(nobody));
    let of_deletion = |id: &str| {
        said(
            world.service.delete_collection(&reader, &crate::CollectionId::new(id)).map(|_| ()),
            id,
        )
    };
    assert_eq!(of_deletion(collection.as_str()), of_deletion(nobody));
    assert_eq!(world.service.summary(&reader, &base).unwrap().statistics.total_chunks, 0);
    world.done(&job.unwrap());
    assert_eq!(world.search(&boss, &base, "vault").results.len(), 1);
    let job = accepted.job.id.as_str();
    let of_job =
        |id: &str| said(world.service.job(&reader, &ingest::JobId::new(id)).map(|_| ()), id);
    assert_eq!(of_job(job), of_job(nobody));
}

#[test]
fn summaries_are_refreshed_and_keep_their_versions() {
    let world = Fixture::new();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Leave", Visibility::Private);
    let collection = world.collection(&owner, &base, open_collection("All"));
    world.add(&owner, &collection, &["Annual leave is twenty days. It must be asked for early."]);
    world.settle();
    let first = world.service.summary(&owner, &base).unwrap();
    assert!(first.summary.starts_with("Leave"), "{}", first.summary);
    assert!(first.summary.contains("Annual leave is twenty days."), "{}", first.summary);
    assert_eq!(first.engine, "extractive");
    world.add(&owner, &collection, &["Sick leave needs a note from a doctor."]);
    world.settle();
    let second = world.service.summary(&owner, &base).unwrap();
    assert!(second.version > first.version);
    assert!(second.summary.contains("Sick leave"), "{}", second.summary);
    let versions = world.service.summary_versions(&owner, &collection).unwrap();
    assert!(versions.len() >= 2);
    assert!(versions[0].version > versions[1].version);
}

#[test]
fn files_are_read_and_ocr_is_repaired_when_asked() {
    let world = Fixture::new();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Files", Visibility::Private);
    let collection = world.collection(&owner, &base, open_collection("All"));
    let page = "<title>Guide</title><h1>Guide</h1><p>ユ-ザ-マニュアルを読む。</p>";
    let new = |ocr| NewDocument {
        title: String::new(),
        content: Content::File { bytes: page.into(), name: "docs/guide.html".to_owned() },
        metadata: serde_json::json!({ "source": "scan" }),
        ocr,
        ..NewDocument::text("", "")
    };
    for ocr in [OcrRepair::Off, OcrRepair::On] {
        let accepted = world.service.add_documents(&owner, &collection, vec![new(ocr)]).unwrap();
        assert_eq!(accepted.documents[0].title, "guide.html");
        world.done(&accepted.job);
    }
    let found = world.search(&owner, &base, "ユーザーマニュアル");
    assert!(found.results[0].content.contains("ユーザーマニュアル"), "{found:?}");

    let broken = NewDocument {
        content: Content::File { bytes: vec![0, 1, 2], name: "x.pdf".to_owned() },
        ..new(OcrRepair::Off)
    };
    let accepted = world.service.add_documents(&owner, &collection, vec![broken]).unwrap();
    world.settle();
    let job = world.service.job(&owner, &accepted.job.id).unwrap();
    assert_eq!(job.state, ingest::JobState::Failed);
    let document = world.service.get_document(&owner, &accepted.documents[0].id).unwrap();
    assert_eq!(document.state, DocumentState::Failed);
    assert_eq!(world.service.summary(&owner, &base).unwrap().statistics.total_documents, 2);
}

#[test]
fn no_document_is_lost_among_many_collections() {
    let world = Fixture::new();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Many", Visibility::Private);
    let topics = [
        "gardens",
        "rockets",
        "bakery",
        "sailing",
        "chess",
        "beekeeping",
        "glaciers",
        "violins",
        "tractors",
        "lighthouses",
    ];
    for topic in topics {
        let collection = world.collection(&owner, &base, open_collection(topic));
        let text = format!("Everything about {topic} stands here. Hidden word: zz{topic}.");
        world.add(&owner, &collection, &[&text]);
    }
    world.settle();
    let found = world.search(&owner, &base, "beekeeping");
    assert!(found.results[0].content.contains("beekeeping"));
    // A word that no summary needs to hold is found all the same.
    let found = world.search(&owner, &base, "zzviolins");
    assert!(found.results[0].content.contains("violins"), "{found:?}");
}

/// Deletions that wait are one job, which erases all of them in its turn: one job of high priority
/// for each held up everybody's uploads.
#[test]
fn many_deletions_are_erased_by_one_job_in_its_turn() {
    let mut world = Fixture::idle();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Rules", Visibility::Private);
    let collection = world.collection(&owner, &base, open_collection("All"));
    let other = world.collection(&owner, &base, open_collection("Other"));
    let new = (0..100).map(|number| NewDocument::text("", format!("Rule {number} on pelicans.")));
    let accepted = world.service.add_documents(&owner, &collection, new.collect()).unwrap();
    let (first, last) = accepted.documents.split_at(50);
    let delete =
        |document: &crate::Document| world.service.delete_document(&owner, &document.id).unwrap();
    let jobs: Vec<ingest::Job> = first.iter().map(delete).collect();
    assert!(jobs.iter().all(|job| job.id == jobs[0].id), "{jobs:?}");
    assert_eq!(jobs[0].priority, ingest::Priority::Normal);
    // What somebody else deletes has a job that they may see.
    let elsewhere = world.service.delete_collection(&owner, &other).unwrap();
    assert_ne!(elsewhere.id, jobs[0].id);
    world.start_workers();
    world.done(&jobs[0]);
    world.done(&elsewhere);
    world.settle();
    let n_passages = || -> usize {
        let store = &world.service.0.store;
        let namespaces = store.namespaces().unwrap();
        namespaces.iter().map(|one| store.counts(&one.id).unwrap().n_passages).sum()
    };
    let n_rows = || {
        let rows = store::ObjectPage::of("knowledge_erasure");
        world.service.0.catalogue.list(&rows).unwrap().len()
    };
    assert_eq!((n_passages(), world.uploads().len(), n_rows()), (50, 50, 0));
    let jobs: Vec<ingest::Job> = last
        .iter()
        .map(|document| world.service.delete_document(&owner, &document.id).unwrap())
        .collect();
    jobs.iter().for_each(|job| drop(world.done(job)));
    assert_eq!((n_passages(), world.uploads().len(), n_rows()), (0, 0, 0));
}

/// A process that dies between a deletion and its job erases at its next start.
#[test]
fn a_deletion_whose_job_was_lost_is_erased_at_the_next_start() {
    let mut world = Fixture::idle();
    let owner = member("acme", "ann");
    let base = world.base(&owner, "Rules", Visibility::Private);
    let collection = world.collection(&owner, &base, open_collection("All"));
    let new = vec![NewDocument::text("", "A rule on pelicans.")];
    let accepted = world.service.add_documents(&owner, &collection, new).unwrap();
    let job = world.service.delete_document(&owner, &accepted.documents[0].id).unwrap();
    world.queue.cancel(&job.id).unwrap();
    let rows = store::ObjectPage::of("knowledge_erasure");
    assert_eq!(world.service.0.catalogue.list(&rows).unwrap().len(), 1);
    world.sweep();
    world.start_workers();
    world.settle();
    assert!(world.service.0.catalogue.list(&rows).unwrap().is_empty());
}

#[test]
fn a_title_that_was_given_stays_with_a_content_that_has_none() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let add = |title: &str| {
        let new = vec![NewDocument::text(title, "The tram climbs.")];
        let added = world.service.add_documents(&ann, &collection, new).unwrap();
        world.settle();
        added.documents[0].id.clone()
    };
    let replace = |id: &str, title: &str, text: &str| {
        world
            .service
            .replace_document(
                &ann,
                &crate::KnowledgeDocumentId::new(id),
                NewDocument::text(title, text),
            )
            .unwrap();
        world.settle();
        world.service.get_document(&ann, &crate::KnowledgeDocumentId::new(id)).unwrap().title
    };
    let given = add("Trams");
    assert_eq!(replace(given.as_str(), "", "The tram descends."), "Trams");
    assert_eq!(replace(given.as_str(), "Ferries", "The ferry crosses."), "Ferries");
    // What a content called itself goes with it.
    let own = add("");
    assert_eq!(replace(own.as_str(), "", "The ferry waits."), "The ferry waits.");
    let title = Some("Boats".to_owned());
    let change = crate::DocumentChange { title, ..crate::DocumentChange::default() };
    world.service.update_document(&ann, &own, &change).unwrap();
    assert_eq!(replace(own.as_str(), "", "The boat leaves."), "Boats");
}
