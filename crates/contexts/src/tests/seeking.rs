//! Nodes of large documents are reached without walking to them:
//!
//! - every node is found as a parser finds it, with marks, without, and with some of them;
//! - a node near the end costs a few parts, whatever is before it;
//! - a tool over a small part of a large document reads that part.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ingest::Progress;
use serde_json::{Value, json};
use store::{Change, Lookup, Object, ObjectPage, Objects, TypedObject};

use super::{Fixture, long, member, soon};
use crate::document::{Document, mark, mark_kept};
use crate::json::{Event, check as check_json, pointer};
use crate::seek::OpenDocument;
use crate::{NodeRequest, Service, ServiceConfig, Table, limits};

/// A catalogue that counts the parts that are read.
struct Counting {
    inner: Arc<dyn Objects>,
    n_parts: AtomicUsize,
}

impl Objects for Counting {
    fn get_many(&self, kind: &str, ids: &[&str]) -> store::Result<Vec<Option<Object>>> {
        if kind == "context_part" {
            self.n_parts.fetch_add(ids.len(), Ordering::Relaxed);
        }
        self.inner.get_many(kind, ids)
    }

    fn list(&self, page: &ObjectPage) -> store::Result<Vec<Object>> {
        self.inner.list(page)
    }

    fn find(&self, kind: &str, lookup: &Lookup) -> store::Result<Vec<Object>> {
        self.inner.find(kind, lookup)
    }

    fn apply(&self, changes: &[Change]) -> store::Result<Vec<u64>> {
        self.inner.apply(changes)
    }
}

/// A world with one table.
fn world_of(document: &Value) -> (Fixture, Table) {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), document);
    (world, table)
}

/// Large containers of every kind, some inside others, with small nodes before and behind them.
fn large() -> Value {
    let filler = "lorem ipsum ".repeat(700);
    let list = |n: usize| (0..n).map(|at| json!([at, filler, { "k": at }])).collect::<Vec<_>>();
    let map = |n: usize| {
        let member = |at: usize| (format!("key/{at}~"), json!({ "v": at, "text": filler }));
        Value::Object((0..n).map(member).collect())
    };
    json!({
        "first": 1,
        "list": list(40),
        "map": map(40),
        "nested": { "a": [map(12), list(12), [list(12)]], "z": "after" },
        "numbers": (0..60_000).collect::<Vec<_>>(),
        "zz": { "last": [true, null] },
    })
}

/// Pointers of all nodes but most of the numbers.
fn pointers(value: &Value, place: &str, all: &mut Vec<String>) {
    all.push(place.to_owned());
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                if index < 100 || index % 4_999 == 0 {
                    pointers(element, &format!("{place}/{index}"), all);
                }
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let mut place = place.to_owned();
                pointer::push_key(&mut place, key);
                pointers(member, &place, all);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Checks every node against the parser, and places where nothing is.
#[track_caller]
fn check(world: &Fixture, table: &Table, document: &Value) {
    let open = OpenDocument::open(&world.store.objects(), &table.document, None, 0..20);
    let open = open.unwrap().unwrap();
    let mut all = vec![];
    pointers(document, "", &mut all);
    for place in &all {
        let found = open.find(place).unwrap().expect(place);
        assert_eq!(found.walk.pointer(), place);
        let value = document.pointer(place).unwrap();
        match found.event {
            Event::Begin(_) => assert!(value.is_object() || value.is_array(), "{place}"),
            Event::Leaf(_) if value.is_string() => {
                assert!(value.as_str().unwrap().starts_with(found.walk.text()), "{place}");
            }
            Event::Leaf(_) => assert_eq!(found.walk.text(), value.to_string(), "{place}"),
            Event::End(_) => panic!("an end is no node"),
        }
    }
    for missing in ["/lisu", "/list/40", "/list/01", "/list/-", "/map/key~140~0", "/numbers/60000"]
    {
        assert!(open.find(missing).unwrap().is_none(), "{missing}");
    }
    assert!(open.find("/first/0").unwrap().is_none());
}

#[test]
fn every_node_is_found_with_and_without_marks() {
    let document = large();
    let (world, table) = world_of(&document);
    check(&world, &table, &document);
    let catalogue = world.store.objects();
    let kept = || Document::load(&*catalogue, &table.document).unwrap().unwrap().0;
    assert!(kept().marks.is_some_and(|marks| marks.is_complete));

    // More keys than can be marked: those without a mark are found by walking.
    let text = document.to_string();
    let (_, mut marks) = check_json(|| Ok(text.as_bytes())).unwrap();
    let mut is_kept = false;
    marks.marks.retain(|_| {
        is_kept = !is_kept;
        is_kept
    });
    assert!(marks.marks.len() > 20, "{}", marks.marks.len());
    marks.is_complete = false;
    mark(&*catalogue, &mut kept(), &marks).unwrap();
    check(&world, &table, &document);

    // Kept by a program that knew no marks; the next index run makes them.
    let mut old = kept();
    old.marks = None;
    old.save(&*catalogue).unwrap();
    check(&world, &table, &document);
    mark_kept(&catalogue, &table.document).unwrap();
    assert!(kept().marks.is_some_and(|marks| marks.is_complete));
    check(&world, &table, &document);
}

/// A service over the same world whose reads are counted.
fn counted(world: &Fixture) -> (Service, Arc<Counting>) {
    let old = &world.service.0;
    let inner = world.store.objects();
    let counting = Arc::new(Counting { inner, n_parts: AtomicUsize::new(0) });
    let service = Service::new(ServiceConfig {
        store: old.store.clone(),
        catalogue: counting.clone(),
        queue: old.queue.clone(),
        retriever: old.retriever.clone(),
        vectors: old.vectors.clone(),
        staging: old.staging.clone(),
        locks: old.locks.clone(),
        settings: old.settings.clone(),
        clock: old.clock.clone(),
    });
    (service, counting)
}

#[test]
fn a_node_near_the_end_costs_a_few_parts() {
    let filler = "lorem ipsum ".repeat(2_000);
    let entry = |at: usize| (format!("k{at:04}"), json!({ "text": filler, "n": at }));
    let document = json!({
        "list": vec![filler.clone(); 120],
        "map": Value::Object((0..120).map(entry).collect()),
        "tail": { "text": long("lighthouse") },
    });
    let (world, table) = world_of(&document);
    let (service, counting) = counted(&world);
    let ann = member("acme", "ann");
    assert!(table.n_bytes > 20 * limits::PART_BYTES as u64);
    for path in ["/list/118", "/map/k0117/n", "/tail/text"] {
        counting.n_parts.store(0, Ordering::Relaxed);
        let request = NodeRequest { json_path: path.to_owned(), offset: 0, max_chars: 100 };
        service.get_node(&ann, &table.id, &request, &soon()).unwrap();
        let n_parts = counting.n_parts.load(Ordering::Relaxed);
        assert!(n_parts <= 5, "{path}: {n_parts}");
    }

    let tools = [world.tool(&ann, &table.id, "/tail", "tail")];
    counting.n_parts.store(0, Ordering::Relaxed);
    let (changes, covered) = service.index(&table, &tools, &Progress::silent()).unwrap();
    assert_eq!((changes.nodes, changes.kept, covered[0].is_there), (1, 5, true));
    let n_parts = counting.n_parts.load(Ordering::Relaxed);
    assert!(n_parts <= 5, "the index read {n_parts} parts");
}
