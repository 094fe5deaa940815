//! The index follows documents and tools:
//!
//! - every long string under a tool's path is found, with exact spans, and nothing else;
//! - a run that has nothing to do changes nothing;
//! - a changed string touches its own chunks alone; what is gone is erased;
//! - tools that overlap share chunks, and a deleted one takes only what no other covers;
//! - a string over a limit is named in `last_error`, and the rest goes on.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::{Fixture, long, member, new_tool, soon};
use crate::json::pointer;
use crate::{ContextsConfig, IndexStatus, NewTool, SearchIndex, ShortStringsUse, Tool};

fn index_of(tool: &Tool) -> &SearchIndex {
    tool.search_index.as_ref().unwrap()
}

#[test]
fn long_strings_under_the_path_are_found_with_their_pointers() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let document = json!({
        "articles": [
            { "title": "short", "content": long("harbour") },
            { "content": long("castle"), "a/b~c": long("lighthouse") },
        ],
        "articles2": { "content": long("harbour") },
    });
    let table = world.table(&ann, project.id.as_str(), &document);
    assert_eq!((table.n_nodes, table.n_strings, table.depth), (10, 5, 3));
    let tool = world.tool(&ann, &table.id, "/articles", "articles");
    let index = index_of(&tool);
    assert_eq!((index.status, index.last_error.as_deref()), (IndexStatus::Ready, None));
    assert_eq!((index.nodes_count, index.chunks_count, index.indexed_chunks_count), (3, 15, 15));
    assert_eq!(world.n_chunks(&table), 15);

    let found = world.search(&ann, &tool.id, "harbour");
    assert_eq!(found.results.len(), 5, "{found:?}");
    for result in &found.results {
        let chunk = &result.chunk;
        assert_eq!(result.json_path, "/0/content");
        assert_eq!(chunk.json_pointer, "/articles/0/content");
        assert_eq!((chunk.total_chunks, chunk.table_id.as_str()), (5, table.id.as_str()));
        let source: Vec<char> = long("harbour").chars().collect();
        let text: String = source[chunk.char_start..chunk.char_end].iter().collect();
        assert_eq!(text, chunk.chunk_text);
        assert_eq!(chunk.content_hash, crate::ids::sha256(long("harbour").as_bytes()));
        let id = format!(
            "{}:%2Farticles%2F0%2Fcontent:{}:chunk_{}",
            table.id,
            &chunk.content_hash[..12],
            chunk.chunk_index
        );
        assert_eq!((&chunk.id, &chunk.turbopuffer_doc_id), (&id, &id));
        let namespace = format!("project_{}_table_{}", project.id, table.id);
        assert_eq!(chunk.turbopuffer_namespace, namespace);
    }
    let found = world.search(&ann, &tool.id, "lighthouse");
    assert_eq!(found.results[0].json_path, "/1/a~1b~0c");
    let found = world.service.search(&ann, &tool.id, "tells", 2, &soon()).unwrap();
    assert_eq!(found.results.len(), 2);
}

#[test]
fn a_document_that_is_one_string_has_the_empty_pointer() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), &json!(long("harbour")));
    let tool = world.tool(&ann, &table.id, "", "all");
    let found = world.search(&ann, &tool.id, "harbour");
    assert_eq!(found.results.len(), 5);
    assert_eq!(found.results[0].json_path, "");
    assert_eq!(found.results[0].chunk.json_pointer, "");
}

#[test]
fn a_change_touches_its_own_chunks_alone() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let mut document = json!({ "a": long("harbour"), "b": [long("castle"), long("bridge")] });
    let table = world.table(&ann, project.id.as_str(), &document);
    let tool = world.tool(&ann, &table.id, "", "all");

    let (_, job) = world.service.reindex_tool(&ann, &tool.id).unwrap();
    let again = world.done(&job.unwrap()).result;
    assert_eq!(again, json!({ "nodes": 3, "kept": 15, "added": 0, "removed": 0, "left_out": 0 }));

    document["b"][0] = json!(long("market"));
    let changed = world.replace(&ann, table.id.as_str(), &document);
    assert_eq!(changed, json!({ "nodes": 3, "kept": 10, "added": 5, "removed": 5, "left_out": 0 }));
    assert!(world.search(&ann, &tool.id, "castle").results.is_empty());
    assert_eq!(world.search(&ann, &tool.id, "market").results[0].json_path, "/b/0");

    let changed = world.replace(&ann, table.id.as_str(), &json!({ "a": long("harbour") }));
    assert_eq!(changed, json!({ "nodes": 1, "kept": 5, "added": 0, "removed": 10, "left_out": 0 }));
    assert_eq!(world.n_chunks(&table), 5);
    let index = world.service.get_tool(&ann, &tool.id).unwrap();
    assert_eq!(index_of(&index).chunks_count, 5);
    let documents = world.service.documents_of(&table.id).unwrap();
    assert_eq!(documents.len(), 1, "documents that were replaced are erased");
}

#[test]
fn tools_that_overlap_share_chunks() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let document =
        json!({ "a": { "x": long("harbour"), "y": long("castle") }, "b": long("bridge") });
    let table = world.table(&ann, project.id.as_str(), &document);
    let all = world.tool(&ann, &table.id, "", "all");
    let part = world.tool(&ann, &table.id, "/a", "part");
    let leaf = world.tool(&ann, &table.id, "/a/x", "leaf");
    assert_eq!(world.n_chunks(&table), 15);
    assert_eq!(index_of(&part).chunks_count, 10);
    assert_eq!(world.search(&ann, &leaf.id, "harbour").results[0].json_path, "");

    let job = world.service.delete_tool(&ann, &all.id).unwrap().unwrap();
    assert_eq!(world.done(&job).result["removed"], 5);
    assert_eq!(world.n_chunks(&table), 10);
    let job = world.service.delete_tool(&ann, &leaf.id).unwrap().unwrap();
    assert_eq!(world.done(&job).result["removed"], 0);
    let job = world.service.delete_tool(&ann, &part.id).unwrap().unwrap();
    assert_eq!(world.done(&job).result["removed"], 10);
    assert!(world.store_is_empty());
}

#[test]
fn a_string_over_a_limit_is_named_and_the_rest_goes_on() {
    let world = Fixture::with(ContextsConfig {
        chunk_threshold_chars: 100,
        chunk_chars: 80,
        overlap_chars: 10,
        max_node_chars: 400,
        max_node_chunks: 5,
        ..ContextsConfig::default()
    });
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let document = json!({
        "fits": long("harbour"),
        "long": "x".repeat(401),
        "many": "a\n".repeat(200),
        "blank": " ".repeat(300),
    });
    let table = world.table(&ann, project.id.as_str(), &document);
    let tool = world.tool(&ann, &table.id, "", "all");
    let index = index_of(&tool);
    assert_eq!((index.status, index.nodes_count, index.chunks_count), (IndexStatus::Ready, 4, 5));
    assert_eq!(
        index.last_error.as_deref(),
        Some(
            "`/long`: the text has `401` characters, at most `400` are allowed; \
             `/many`: the text gives more than `5` chunks, `5` are allowed"
        )
    );
    let found = world.search(&ann, &tool.id, "harbour");
    assert_eq!(found.results.len(), 5);
    assert!(found.warnings[0].message.contains("/long"), "{:?}", found.warnings);
}

#[test]
fn no_long_strings_is_success_and_a_missing_path_is_said() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), &json!({ "a": ["short"] }));
    let ignore =
        NewTool { short_strings: ShortStringsUse::Ignore, ..new_tool(&table.id, "/a", "short") };
    let (tool, job) = world.service.create_tool(&ann, &ignore).unwrap();
    world.done(&job.unwrap());
    let tool = world.service.get_tool(&ann, &tool.id).unwrap();
    let index = index_of(&tool);
    assert_eq!((index.status, index.nodes_count, index.chunks_count), (IndexStatus::Ready, 0, 0));
    assert_eq!(index.last_error, None);
    let tool = world.tool(&ann, &table.id, "/b", "missing");
    let reason = index_of(&tool).last_error.as_deref();
    assert_eq!(reason, Some("the document has no node at `/b`"));
    assert!(world.search(&ann, &tool.id, "anything").results.is_empty());
}

#[test]
fn another_path_or_setting_is_indexed_anew() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(
        &ann,
        project.id.as_str(),
        &json!({ "a": long("harbour"), "b": long("castle") }),
    );
    let tool = world.tool(&ann, &table.id, "/a", "moving");
    let change = crate::ToolChange { json_path: Some("/b".to_owned()), ..Default::default() };
    let (_, job) = world.service.update_tool(&ann, &tool.id, &change).unwrap();
    let changes = world.done(&job.unwrap()).result;
    assert_eq!((&changes["added"], &changes["removed"]), (&json!(5), &json!(5)));
    assert!(world.search(&ann, &tool.id, "harbour").results.is_empty());
    assert_eq!(world.search(&ann, &tool.id, "castle").results.len(), 5);
}

#[test]
fn deleting_leaves_nothing_behind() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let kept = world.project(&ann);
    for _ in 0..2 {
        let table = world.table(&ann, project.id.as_str(), &json!({ "a": long("harbour") }));
        world.tool(&ann, &table.id, "", "all");
    }
    let table = world.table(&ann, kept.id.as_str(), &json!({ "a": long("castle") }));
    let tool = world.tool(&ann, &table.id, "", "all");
    let job = world.service.delete_project(&ann, &project.id).unwrap();
    world.done(&job);
    world.settle();
    assert_eq!(world.search(&ann, &tool.id, "castle").results.len(), 5);
    let job = world.service.delete_table(&ann, &table.id).unwrap();
    world.done(&job);
    world.settle();
    assert!(world.store_is_empty());
    assert_eq!(
        world.n_objects(&[
            "context_table",
            "context_tool",
            "context_document",
            "context_part",
            "context_marks",
        ]),
        0
    );
}

#[test]
fn what_a_dead_process_left_is_put_in_order() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), &json!({ "a": long("harbour") }));
    let tool = world.tool(&ann, &table.id, "", "all");
    // An index that was never finished, and a namespace whose table is gone.
    world.service.0.store.drop_namespace(&table.namespace()).unwrap();
    world
        .service
        .change::<Tool>(&tool.id, |tool| {
            tool.search_index.as_mut().unwrap().status = IndexStatus::Indexing;
            Ok(())
        })
        .unwrap();
    let orphan = model::NamespaceId::new("project_x_table_y");
    world.service.0.store.create_namespace(&orphan, &store::Manifest::current(None)).unwrap();
    world.service.recover().unwrap();
    world.settle();
    assert_eq!(world.search(&ann, &tool.id, "harbour").results.len(), 5);
    assert!(world.service.0.store.namespace(&orphan).unwrap().is_none());
}

impl Fixture {
    fn store_is_empty(&self) -> bool {
        self.service.0.store.namespaces().unwrap().is_empty()
    }

    fn n_objects(&self, kinds: &[&str]) -> usize {
        let catalogue = &self.service.0.catalogue;
        kinds.iter().map(|kind| catalogue.list(&store::ObjectPage::of(*kind)).unwrap().len()).sum()
    }
}

/// Documents with a few long strings at random places.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("short")),
        "[a-d]".prop_map(|word| json!(long(&format!("w{word}")))),
        "[a-d]".prop_map(|word| json!(format!("{}{}", long(&format!("w{word}")), long("more")))),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[ab/~]{0,2}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The long strings under a path, by recursion.
fn expected(value: &Value, place: &str, path: &str) -> Vec<(String, String)> {
    match value {
        Value::String(text) if text.chars().count() >= 100 && pointer::covers(path, place) => {
            vec![(place.to_owned(), text.clone())]
        }
        Value::Array(elements) => (0..)
            .zip(elements)
            .flat_map(|(index, element)| expected(element, &format!("{place}/{index}"), path))
            .collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, member)| {
                let mut place = place.to_owned();
                pointer::push_key(&mut place, key);
                expected(member, &place, path)
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

proptest! {
    #![proptest_config(Config { cases: 12, ..Config::default() })]

    /// Whatever the documents and paths: the store holds what a naive look at the document
    /// gives, a second run keeps all of it, and a replacement ends where a fresh start would.
    #[test]
    fn the_store_holds_what_the_tools_cover(
        first in documents(),
        second in documents(),
        paths in prop::collection::vec(prop_oneof!["", "/0", "/a", "/a/0", "/~1", "/b/~0"], 1..3),
    ) {
        let world = Fixture::new();
        let ann = member("acme", "ann");
        let project = world.project(&ann);
        let table = world.table(&ann, project.id.as_str(), &first);
        for (number, path) in paths.iter().enumerate() {
            let new = NewTool {
                short_strings: ShortStringsUse::Ignore,
                ..new_tool(&table.id, path, &format!("t{number}"))
            };
            world.service.create_tool(&ann, &new).unwrap();
        }
        world.settle();
        for document in [&first, &second] {
            world.replace(&ann, table.id.as_str(), document);
            let again = world.replace(&ann, table.id.as_str(), document);
            prop_assert_eq!((&again["added"], &again["removed"]), (&json!(0), &json!(0)));
            let mut strings: Vec<(String, String)> = paths
                .iter()
                .flat_map(|path| expected(document, "", path))
                .collect();
            strings.sort();
            strings.dedup();
            let mut held = vec![];
            let namespace = table.namespace();
            let page = store::DocumentPage { limit: 1000, ..Default::default() };
            for info in world.service.0.store.documents(&namespace, &page).unwrap() {
                let place = info.metadata["json_pointer"].as_str().unwrap().to_owned();
                let passages = world.service.0.store.passages_of(&namespace, &info.id).unwrap();
                let (_, text) = strings.iter().find(|(known, _)| *known == place).unwrap();
                let chars: Vec<char> = text.chars().collect();
                for passage in &passages {
                    let span: String = chars[passage.span.start..passage.span.end].iter().collect();
                    prop_assert_eq!(&span, &passage.text);
                }
                held.push((place, text.clone()));
            }
            held.sort();
            prop_assert_eq!(held, strings);
        }
    }
}

/// A tool over a document without long strings was ready with nothing in it, for ever.
#[test]
fn a_list_of_short_answers_is_found_out_of_the_box() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let answers: Vec<Value> = (0..500)
        .map(|n| json!({ "q": format!("What about item{n}?"), "a": "It is blue." }))
        .collect();
    let document = json!({ "faq": answers, "name": "An FAQ", "empty": { "n": 1 } });
    let table = world.table(&ann, world.project(&ann).id.as_str(), &document);
    let tool = world.tool(&ann, &table.id, "", "all");
    let index = tool.search_index.unwrap();
    assert!(index.short_strings);
    // Each pair of question and answer, and the strings of the document itself.
    assert_eq!((index.nodes_count, index.chunks_count), (501, 501));
    let found = world.service.search(&ann, &tool.id, "item321", 5, &soon()).unwrap();
    assert_eq!(found.results[0].json_path, "/faq/321");
    assert_eq!(found.results[0].chunk.chunk_text, "q: What about item321?\na: It is blue.");
    assert!(found.warnings.iter().any(|warning| warning.code == "short_strings"));
    // One string alone, and a part without any.
    let name = world.tool(&ann, &table.id, "/name", "name");
    let found = world.service.search(&ann, &name.id, "FAQ", 5, &soon()).unwrap();
    assert_eq!(found.results[0].chunk.chunk_text, "An FAQ");
    let empty = world.tool(&ann, &table.id, "/empty", "empty");
    let found = world.service.search(&ann, &empty.id, "FAQ", 5, &soon()).unwrap();
    assert!(found.results.is_empty());
    assert!(found.warnings.iter().any(|warning| warning.code == "no_text"), "{found:?}");
}

/// One long string switched off the short ones: hundreds of answers were found by nothing.
#[test]
fn short_answers_are_found_beside_long_texts() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let answers: Vec<Value> = (0..500)
        .map(|n| json!({ "q": format!("What about item{n}?"), "a": "It is blue." }))
        .collect();
    let flat: Vec<String> = (0..500).map(|n| format!("item{n} is blue")).collect();
    let terms = (0..100).map(|_| long("narwhal")).collect::<String>();
    let articles: Vec<Value> = (0..5)
        .map(
            |n| json!({ "title": format!("item{n}"), "tags": ["a", "b"], "text": long("narwhal") }),
        )
        .collect();
    let document = json!({
        "faq": { "answers": answers, "terms": terms },
        "flat": [flat, long("narwhal")],
        "articles": articles,
    });
    let table = world.table(&ann, world.project(&ann).id.as_str(), &document);
    for (path, is_short) in [("/faq", true), ("/flat", true), ("", true), ("/articles", false)] {
        let tool = world.tool(&ann, &table.id, path, &format!("tool{}", path.replace('/', "_")));
        assert_eq!(index_of(&tool).short_strings, is_short, "{path}");
        assert!(!world.search(&ann, &tool.id, "narwhal").results.is_empty(), "{path}");
        let found = world.search(&ann, &tool.id, "item4").results;
        // The titles of articles are labels; they are content beside the answers.
        let is_found = found.iter().any(|hit| hit.chunk.chunk_text.contains("item4"));
        assert_eq!(is_found, is_short, "{path}");
    }
}

/// A few answers beside many long texts, and a text that is a little too short among long ones, are
/// found as well; the labels of the long ones are not, wherever in their objects they are.
#[test]
fn few_short_answers_are_found_beside_many_long_texts() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let article = |n: usize| {
        json!({
            "meta": { "author": format!("labelauthor{n}") },
            "title": format!("labeltitle{n}"),
            "text": long("narwhal"),
            "tags": [format!("labeltag{n}")],
        })
    };
    let mut articles: Vec<Value> = (0..9).map(article).collect();
    articles.push(json!({ "title": "Puffins", "text": "The puffin nests in burrows." }));
    let document = json!({
        "faq": [{ "q": "How is the kettle descaled?", "a": "With vinegar." }],
        "articles": articles,
    });
    let table = world.table(&ann, world.project(&ann).id.as_str(), &document);
    let tool = world.tool(&ann, &table.id, "", "all");
    let made = index_of(&tool);
    assert_eq!((made.nodes_count, made.short_strings), (9 + 2, true));
    let pointers = |query: &str| {
        let found = world.search(&ann, &tool.id, query).results;
        found.into_iter().map(|hit| hit.json_path).collect::<Vec<_>>()
    };
    assert_eq!(pointers("descaled kettle"), ["/faq/0"]);
    assert_eq!(pointers("puffin burrows"), ["/articles/9"]);
    for label in ["labelauthor4", "labeltitle4", "labeltag4"] {
        let found = pointers(label);
        assert!(found.iter().all(|pointer| pointer.ends_with("/text")), "{label}: {found:?}");
    }
    // Beside a tool with a lower threshold it finds what it did.
    let low = crate::NewTool { chunk_threshold_chars: Some(20), ..new_tool(&table.id, "", "low") };
    let (_, job) = world.service.create_tool(&ann, &low).unwrap();
    world.done(&job.unwrap());
    assert_eq!(pointers("descaled kettle"), ["/faq/0/q"]);
}

#[test]
fn a_tool_has_its_own_threshold_and_use_of_short_strings() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let document = json!({ "a": { "x": "twelve chars", "y": "short" }, "b": long("tram") });
    let table = world.table(&ann, world.project(&ann).id.as_str(), &document);
    let index = |new: &crate::NewTool| {
        let (tool, job) = world.service.create_tool(&ann, new).unwrap();
        world.done(&job.unwrap());
        let made = world.service.get_tool(&ann, &tool.id).unwrap();
        (tool.id, made.search_index.unwrap())
    };
    // There is a long string: short ones are left alone unless the tool says so.
    let (auto, made) = index(&new_tool(&table.id, "", "auto"));
    assert_eq!((made.nodes_count, made.short_strings), (1, false));
    let change = crate::ToolChange { chunk_threshold_chars: Some(10), ..Default::default() };
    let (_, job) = world.service.update_tool(&ann, &auto, &change).unwrap();
    world.done(&job.unwrap());
    let made = world.service.get_tool(&ann, &auto).unwrap().search_index.unwrap();
    assert_eq!(made.nodes_count, 2);
    let together = crate::NewTool {
        short_strings: crate::ShortStringsUse::Together,
        ..new_tool(&table.id, "/a", "together")
    };
    let (_, made) = index(&together);
    // The first tool makes `twelve chars` long for both; what is left is one text.
    assert_eq!((made.nodes_count, made.short_strings), (2, true));
    let ignore = crate::NewTool {
        short_strings: crate::ShortStringsUse::Ignore,
        chunk_threshold_chars: Some(1_000_000),
        ..new_tool(&table.id, "/b", "ignore")
    };
    assert!(!index(&ignore).1.short_strings);
    let wrong = crate::NewTool { chunk_threshold_chars: Some(0), ..ignore };
    assert!(world.service.create_tool(&ann, &wrong).is_err());
}

/// What another tool has indexed is not found by one whose threshold it does not reach, nor
/// counted for it.
#[test]
fn a_tool_finds_only_what_reaches_its_own_threshold() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let document = json!({
        "items": [{ "v": "narwhal tusk length" }, { "v": "beluga song" }],
        "text": long("narwhal"),
    });
    let table = world.table(&ann, world.project(&ann).id.as_str(), &document);
    let make = |short_strings, chunk_threshold_chars, path: &str, name: &str| {
        let new =
            NewTool { short_strings, chunk_threshold_chars, ..new_tool(&table.id, path, name) };
        let (tool, job) = world.service.create_tool(&ann, &new).unwrap();
        world.done(&job.unwrap());
        tool.id
    };
    let ignore = ShortStringsUse::Ignore;
    let strict = make(ignore, Some(200), "", "strict");
    let nothing = make(ignore, Some(200), "/items", "nothing");
    let low = make(ignore, Some(10), "", "low");
    let together = make(ShortStringsUse::Together, Some(200), "/items", "together");
    let paths = |tool: &str| {
        let found = world.search(&ann, &crate::ToolId::new(tool), "narwhal");
        let mut paths: Vec<String> = found.results.into_iter().map(|hit| hit.json_path).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    assert_eq!(paths(strict.as_str()), ["/text"]);
    assert_eq!(paths(low.as_str()), ["/items/0/v", "/text"]);
    assert_eq!(paths(nothing.as_str()), [""; 0]);
    assert_eq!(paths(together.as_str()), ["/0/v"]);
    let counted = |tool: &str| {
        let tool = world.service.get_tool(&ann, &crate::ToolId::new(tool)).unwrap();
        index_of(&tool).nodes_count
    };
    assert_eq!(
        [&strict, &nothing, &low, &together].map(|tool| counted(tool.as_str())),
        [1, 0, 3, 2]
    );
    let found = world.search(&ann, &nothing, "narwhal");
    assert!(found.warnings.iter().any(|warning| warning.code == "no_text"), "{found:?}");
}
