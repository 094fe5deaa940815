//! Proves that: what a document is called is written while nobody else writes its collection, not
//! another server either; a title that changed while its collection moved is the one that is found.

use std::sync::mpsc;

use store::{EmbeddedEngine, TypedObject};
use store_postgres::{PostgresCatalogue, PostgresConfig};
use testkit::Postgres;

use super::*;
use crate::object_ids::CollectionId;
use crate::{CollectionChange, DocumentChange};

/// How long somebody who must wait is given to do what they must not.
const WHILE: Duration = Duration::from_millis(500);

/// A server with local indexes over a shared catalogue.
fn server(postgres: &Postgres, name: &str) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let config = PostgresConfig::new(postgres.url());
    let catalogue = Arc::new(PostgresCatalogue::open(&config, clock()).unwrap());
    let bounds = store::Config::for_one_machine();
    let engine = EmbeddedEngine::open(folder.path(), &bounds, catalogue.clone(), name).unwrap();
    let store = Arc::new(Store::new(catalogue, Arc::new(engine)).unwrap());
    Fixture::over(&store, folder, None, Contents::AsServed)
}

fn renamed(title: &str) -> DocumentChange {
    DocumentChange { title: Some(title.to_owned()), ..DocumentChange::default() }
}

/// The title that a search names, which is that of the store.
fn stored_title(world: &Fixture, id: &str) -> String {
    let (document, _) =
        crate::Document::load(&*world.service.0.catalogue, &crate::KnowledgeDocumentId::new(id))
            .unwrap()
            .unwrap();
    let collection = document.collection_id.as_str();
    let (collection, _) =
        crate::Collection::load(&*world.service.0.catalogue, &CollectionId::new(collection))
            .unwrap()
            .unwrap();
    let info = world.service.0.store.document(&collection.namespace(), &document.store_id());
    info.unwrap().unwrap().title
}

/// Each server had a lock of its own: a new title wrote the passages that it had read before
/// another server's job wrote the next content, and the acknowledged content was gone.
#[test]
fn two_servers_write_a_collection_in_turn() {
    let Some(postgres) = Postgres::start() else { return };
    let mut one = server(&postgres, "one");
    let ann = super::member("acme", "ann");
    let base = one.base(&ann, "Rules", Visibility::Private);
    let collection = one.collection(&ann, &base, open_collection("All"));
    one.start_workers();
    let added = one.add(&ann, &collection, &["The first rule."]);
    one.settle();
    let id = added.documents[0].id.as_str();
    let other = server(&postgres, "other");
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        one.service
            .in_turn(&collection, || {
                scope.spawn(|| {
                    let changed = other.service.update_document(
                        &ann,
                        &crate::KnowledgeDocumentId::new(id),
                        &renamed("Patched"),
                    );
                    done.send(changed.map(|document| document.title)).unwrap();
                });
                assert!(is_done.recv_timeout(WHILE).is_err(), "it is not its turn");
                Ok(())
            })
            .unwrap();
        assert_eq!(is_done.recv_timeout(soon().remaining()).unwrap().unwrap(), "Patched");
    });
    assert_eq!(stored_title(&other, id), "Patched");
}

/// The move wrote the title that it found with the passages: that of before the change.
#[test]
fn a_title_that_changes_before_its_collection_has_moved_is_found() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let added = world.add(&ann, &collection, &["The first rule."]);
    world.settle();
    let id = added.documents[0].id.as_str();
    let change =
        CollectionChange { clearance: Some(Clearance::Public), ..CollectionChange::default() };
    std::thread::scope(|scope| {
        world
            .service
            .in_turn(&collection, || {
                // The move and the title wait; whichever goes first, the title is the new one.
                world.service.update_collection(&ann, &collection, &change)?;
                scope.spawn(|| {
                    world.service.update_document(
                        &ann,
                        &crate::KnowledgeDocumentId::new(id),
                        &renamed("Patched"),
                    )
                });
                Ok(())
            })
            .unwrap();
    });
    world.settle();
    assert_eq!(stored_title(&world, id), "Patched");
}
