//! No upload stays on disk that no document knows of.

use ingest::{JobService as _, ObjectError};

use super::{Fixture, admin, member, open_collection};
use crate::{DocumentState, Error, NewDocument, Visibility, limits};

/// An answer says that documents are on their way, empty or not: a wrong one was given without a word
/// while the right document was being read.
#[test]
fn what_is_being_indexed_is_said() {
    let mut world = Fixture::idle();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let new = vec![NewDocument::text("", "Giraffes are fed at noon.")];
    world.service.add_documents(&ann, &collection, new).unwrap();
    let is_said = |found: &crate::SearchResults| {
        found.warnings.iter().any(|warning| warning.code == "indexing")
    };
    let found = world.search(&ann, &base, "giraffes");
    assert!(found.results.is_empty() && is_said(&found), "{:?}", found.warnings);
    world.start_workers();
    world.settle();
    let found = world.search(&ann, &base, "giraffes");
    assert!(found.results.len() == 1 && !is_said(&found), "{:?}", found.warnings);
    world.stop_workers();
    let new = vec![NewDocument::text("", "Giraffes drink at noon.")];
    world.service.add_documents(&ann, &collection, new).unwrap();
    let found = world.search(&ann, &base, "giraffes");
    assert!(found.results.len() == 1 && is_said(&found), "{:?}", found.warnings);
}

/// Accepting a document cost a commit for its content, one for its row and one for a job.
#[test]
fn documents_are_accepted_by_one_commit() {
    let world = Fixture::idle_as_served();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let texts = |n: usize| (0..n).map(|at| NewDocument::text("", format!("Rule {at}."))).collect();
    let before = world.n_commits();
    let first = world.service.add_documents(&ann, &collection, texts(1)).unwrap();
    assert_eq!(world.n_commits() - before, 2, "the document, and the job");
    let before = world.n_commits();
    let many = world.service.add_documents(&ann, &collection, texts(100)).unwrap();
    assert_eq!((world.n_commits() - before, many.job.id == first.job.id), (1, true));
    let before = world.n_commits();
    let replaced = NewDocument::text("", "Another rule.");
    world.service.replace_document(&ann, &first.documents[0].id, replaced).unwrap();
    // The content before goes by a commit of its own.
    assert_eq!(world.n_commits() - before, 2);
    assert_eq!(world.uploads(), [""; 0]);
}

/// Documents that came one by one had a job each.
#[test]
fn documents_that_come_while_a_job_runs_join_it() {
    const N_DOCUMENTS: usize = 60;
    let mut world = Fixture::idle_as_served();
    world.start_workers();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let mut jobs = vec![];
    for at in 0..N_DOCUMENTS {
        let new = vec![NewDocument::text("", format!("Rule {at} of giraffes."))];
        jobs.push(world.service.add_documents(&ann, &collection, new).unwrap().job);
    }
    // Whoever waits for the job that was named finds the document.
    for job in &jobs {
        world.done(job);
    }
    let found = world.service.get_collection(&ann, &collection).unwrap();
    assert_eq!(found.n_documents, N_DOCUMENTS);
    let n_indexed: u64 = jobs
        .iter()
        .map(|job| job.id.clone())
        .collect::<std::collections::BTreeSet<_>>()
        .iter()
        .map(|id| world.queue.get(id).unwrap().result["documents"].as_u64().unwrap())
        .sum();
    assert!(n_indexed >= N_DOCUMENTS as u64, "{n_indexed}");
    world.settle();
}

#[test]
fn uploads_go_with_their_job() {
    let mut world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let read = world.add(&ann, &collection, &["One rule.", "Another."]);
    world.settle();
    // What was read is the original of its document, and nothing waits.
    assert_eq!(world.uploads().len(), 2);
    for document in &read.documents {
        world.done(&world.service.delete_document(&ann, &document.id).unwrap());
    }
    assert_eq!(world.uploads(), [""; 0]);

    // A job that is cancelled before it began.
    world.stop_workers();
    let new = vec![NewDocument::text("", "Never read.")];
    let accepted = world.service.add_documents(&ann, &collection, new).unwrap();
    assert_eq!(world.uploads().len(), 1);
    world.service.cancel_job(&ann, &accepted.job.id).unwrap();
    assert_eq!(world.uploads(), [""; 0]);
    let document = world.service.get_document(&ann, &accepted.documents[0].id).unwrap();
    assert_eq!(document.state, DocumentState::Failed);
    assert!(document.error.unwrap().contains("cancelled before"));
}

#[test]
fn a_refused_upload_leaves_nothing_behind() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let new = vec![
        NewDocument::text("", "fine"),
        NewDocument::text("", "x".repeat(limits::MAX_TEXT_BYTES + 1)),
    ];
    let refused = world.service.add_documents(&ann, &collection, new).unwrap_err();
    assert!(matches!(refused, Error::Object(ObjectError::TooLarge { .. })));
    assert_eq!(world.uploads(), [""; 0]);
    assert!(world.service.list_documents(&ann, &collection, None, 10).unwrap().is_empty());
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let mut world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    world.stop_workers();
    let new = |text: &str| NewDocument::text("t", text);
    let orphan = world.folder.path().join("uploads").join("no-such-document.1");
    let waits = world.service.add_documents(&ann, &collection, vec![new("It waits.")]).unwrap();
    fs_err::write(&orphan, "nobody waits for this").unwrap();
    // Its job is gone, as after a crash between the two; what was accepted is not.
    let key = store::ObjectKey::new("job", waits.job.id.as_str());
    world.service.0.catalogue.apply(&[store::Change::Delete(key)]).unwrap();

    assert_eq!(world.uploads().len(), 2);
    assert_eq!(world.sweep(), 1);
    assert_eq!(world.uploads().len(), 1);
    let document = world.service.get_document(&ann, &waits.documents[0].id).unwrap();
    assert_eq!(document.state, DocumentState::Pending);
    let again = world.queue.active(crate::ADD_JOB, collection.as_str()).unwrap();
    assert!(again.is_some_and(|job| job.id != waits.job.id), "another job indexes it");
    assert_eq!(world.sweep(), 0);
}

/// Two contents of one document were kept in one file; the one who came second failed, and took
/// the content of the first away with its own.
#[test]
fn contents_that_come_at_the_same_time_are_all_kept_until_one_is_the_last() {
    let mut world = Fixture::idle();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let first = vec![NewDocument::text("t", "The first rule.")];
    let added = world.service.add_documents(&ann, &collection, first).unwrap();
    let id = &added.documents[0].id;
    let versions: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (service, ann) = (&world.service, &ann);
                scope.spawn(move || {
                    let new = NewDocument::text("t", format!("Rule number{number} holds."));
                    let accepted = service.replace_document(ann, id, new).unwrap();
                    accepted.documents[0].version
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let last = versions.iter().position(|version| *version == 9).unwrap();
    assert_eq!(world.uploads().len(), 1, "only the last content waits");
    world.start_workers();
    world.settle();
    let text = world.service.document_text(&ann, id, 1_000).unwrap();
    assert_eq!(text.text, format!("Rule number{last} holds."));
    assert_eq!(text.document.state, DocumentState::Ready);
    assert_eq!(world.uploads().len(), 1, "the last content is the original");
}

#[test]
fn uploads_one_by_one_share_jobs() {
    let mut world = Fixture::idle();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let jobs: std::collections::BTreeSet<String> = (0..300)
        .map(|number| {
            let new = vec![NewDocument::text("", format!("Rule {number}."))];
            world.service.add_documents(&ann, &collection, new).unwrap().job.id.to_string()
        })
        .collect();
    assert_eq!(jobs.len(), 1);
    world.start_workers();
    world.settle();
    let collection = world.service.get_collection(&ann, &collection).unwrap();
    assert_eq!((collection.n_documents, collection.n_chunks), (300, 300));
}

/// Rows of documents that arrived while their collection was deleted belonged to nobody.
#[test]
fn a_collection_that_is_deleted_takes_what_arrives_with_it() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    for _ in 0..5 {
        let collection = world.collection(&ann, &base, open_collection("All"));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for number in 0..20 {
                        let new = vec![NewDocument::text("", format!("Rule {number}."))];
                        if world.service.add_documents(&ann, &collection, new).is_err() {
                            break;
                        }
                    }
                });
            }
            scope.spawn(|| world.service.delete_collection(&ann, &collection).unwrap());
        });
    }
    world.settle();
    let rows =
        world.service.0.catalogue.list(&store::ObjectPage::of("knowledge_document")).unwrap();
    assert_eq!(rows.len(), 0, "{rows:?}");
    assert_eq!(world.uploads(), [""; 0]);
}

#[test]
fn deleting_a_collection_while_documents_arrive_leaves_nothing() {
    use store::{ObjectPage, TypedObject};

    let world = Fixture::new();
    let ann = member("acme", "ann");
    for round in 0..8 {
        let base = world.base(&ann, "Rules", Visibility::Private);
        let collection = world.collection(&ann, &base, open_collection("All"));
        world.add(&ann, &collection, &["The first of them."]);
        let n_accepted = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..4)
                .map(|sender| {
                    let (world, ann, collection) = (&world, &ann, &collection);
                    scope.spawn(move || {
                        let mut n_accepted = 0;
                        for idx in 0..12 {
                            let text = format!("Rule {sender} {idx} of round {round}.");
                            let new = vec![NewDocument::text("", text)];
                            match world.service.add_documents(ann, collection, new) {
                                Ok(_) => n_accepted += 1,
                                Err(
                                    Error::Object(ObjectError::NotFound { .. })
                                    | Error::BaseNotFound { .. },
                                ) => {
                                    return n_accepted;
                                }
                                Err(other) => panic!("{other:?}"),
                            }
                        }
                        n_accepted
                    })
                })
                .collect();
            match round % 2 {
                0 => world.service.delete_collection(&ann, &collection).map(|_| ()).unwrap(),
                _ => world.service.delete_base(&ann, &base).map(|_| ()).unwrap(),
            }
            senders.into_iter().map(|sender| sender.join().unwrap()).sum::<usize>()
        });
        world.settle();
        let page = |parent: &str, kind: &str| ObjectPage {
            parent: Some(parent.to_owned()),
            limit: 100,
            ..ObjectPage::of(kind)
        };
        let catalogue = &*world.service.0.catalogue;
        let rows = catalogue.list(&page(collection.as_str(), crate::Document::KIND)).unwrap();
        assert!(rows.is_empty(), "{n_accepted} accepted, {} rows stay", rows.len());
        let summaries = page(base.as_str(), crate::summary::StoredSummary::KIND);
        assert!(catalogue.list(&summaries).unwrap().is_empty(), "a summary stays");
        assert_eq!(world.uploads(), [""; 0]);
        for namespace in world.service.0.store.namespaces().unwrap() {
            let counts = world.service.0.store.counts(&namespace.id).unwrap();
            assert_eq!(counts.n_documents, 0, "passages stay in `{}`", namespace.id);
        }
    }
}

/// A job that had listed an upload before another one indexed it took the upload for one that was
/// replaced, and removed the file that the document was made from.
#[test]
fn a_file_that_its_document_names_is_not_forgotten() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let added = world.add(&ann, &collection, &["The first rule."]);
    let id = &added.documents[0].id;
    let document = world.service.get_document(&ann, id).unwrap();
    let original = document.original.unwrap().file;
    world.service.forget_uploads([original.as_str()]);
    assert_eq!(world.uploads().len(), 1, "the row names it");
    let strange = original.replace(id.as_str(), "00000000-0000-4000-8000-000000000000");
    world.service.forget_uploads([strange.as_str()]);
    assert_eq!(world.uploads().len(), 1);
    assert!(world.service.original(&admin("acme"), id).is_ok());
}

/// A content whose job could not be asked for was refused, and came with the next one all the same.
#[test]
fn a_content_that_is_refused_does_not_come() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let added = world.add(&ann, &collection, &["Giraffes are fed at noon."]);
    let id = added.documents[0].id.as_str();
    world.settle();
    // As many jobs as may wait are on their way.
    let full: Vec<_> = std::iter::from_fn(|| {
        ingest::QueueSpace::wait(&world.queue, std::time::Duration::ZERO).ok()
    })
    .collect();
    let before = world.service.get_document(&ann, &crate::KnowledgeDocumentId::new(id)).unwrap();
    let put = || {
        world.service.replace_document(
            &ann,
            &crate::KnowledgeDocumentId::new(id),
            NewDocument::text("", "Zebras sleep."),
        )
    };
    assert!(matches!(put(), Err(Error::Object(ObjectError::Queue(_)))));
    assert_eq!(
        world.service.get_document(&ann, &crate::KnowledgeDocumentId::new(id)).unwrap(),
        before
    );
    drop(full);
    world.add(&ann, &collection, &["Lions are fed at night."]);
    world.settle();
    assert_eq!(world.search(&ann, &base, "zebras").results.len(), 0);
    put().unwrap();
    world.settle();
    assert_eq!(world.search(&ann, &base, "zebras").results.len(), 1);
}
