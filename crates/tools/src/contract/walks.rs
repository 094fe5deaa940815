//! The law of lists: following `next` to the end gives every element once, at every page size
//! and however small the budget is.

use std::collections::BTreeMap;

use model::Caller;
use serde_json::{Map, Value, json};
use testkit::Folder;
use text::Budget;

use super::Fixture;
use super::fixture::soon;
use crate::everywhere::{Fetch, Search};
use crate::files::{OpenFile, SearchFiles};
use crate::filters::SearchFiltersBatch;
use crate::tables::QueryTable;
use crate::{Call, Tool, accept};

/// More pages than any walk here has; one that goes in circles ends here.
const MAX_PAGES: usize = 2_000;

#[track_caller]
pub(super) fn call(tool: &dyn Tool, arguments: &Map<String, Value>, budget: Budget) -> Value {
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let accepted = accept(&spec, arguments.clone()).unwrap();
    let call = Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &soon(),
        budget,
        progress: &|_| {},
    };
    let answer = tool.call(&call).unwrap();
    spec.check_output(&answer.value).unwrap();
    answer.value
}

/// Follows `next` (at a JSON pointer) into an argument, and gives the elements of every page.
#[track_caller]
pub(super) fn walk(
    tool: &dyn Tool,
    arguments: &Value,
    budget: Budget,
    (next_at, argument): (&str, &str),
    items: impl Fn(&Value) -> Vec<String>,
) -> Vec<String> {
    let mut arguments = arguments.as_object().unwrap().clone();
    let mut seen = Vec::new();
    for _ in 0..MAX_PAGES {
        let page = call(tool, &arguments, budget);
        let given = items(&page);
        if given.len() > 1 {
            assert!(budget.fits(&page.to_string()), "a page is over its budget");
        }
        seen.extend(given);
        match page.pointer(next_at).filter(|next| !next.is_null()) {
            Some(next) => {
                assert!(next.is_string(), "`next` is text, not {next}");
                arguments.insert(argument.to_owned(), next.clone());
            }
            None => return seen,
        }
    }
    panic!("the walk does not end");
}

pub(super) fn budgets() -> [Budget; 3] {
    [4_000, 12_000, 100_000].map(|chars| Budget { chars, tokens: chars / 2 })
}

fn field<'a>(list: &'a str, name: &'a str) -> impl Fn(&Value) -> Vec<String> + 'a {
    move |page| {
        let items = page[list].as_array().unwrap();
        items
            .iter()
            .map(|item| item[name].as_str().map_or_else(|| item[name].to_string(), str::to_owned))
            .collect()
    }
}

/// At an offset, a page had other rows and another `next`, and short cells were empty.
#[test]
fn long_cells_are_read_to_their_end_beside_the_same_rows() {
    let folder = Folder::new();
    let note = |n: usize| format!("{n}:{}", "ab\"é".repeat((n * 911) % 2_600));
    let csv: String =
        (0..60).map(|n| format!("row-{n:04},\"{}\"\n", note(n).replace('"', "\"\""))).collect();
    folder.write("rows.csv", format!("name,note\n{csv}"));
    let service = tables::Service::open(tables::ServiceConfig {
        tables: vec![
            serde_json::from_value(json!({
                "name": "rows", "source": "rows.csv",
                "fields": { "name": { "type": "string" }, "note": { "type": "string" } },
            }))
            .unwrap(),
        ],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap();
    let tool = QueryTable::new(service);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    for (page_size, budget) in
        [(1, budgets()[2]), (7, budgets()[1]), (50, budgets()[0]), (500, budgets()[2])]
    {
        let mut read: BTreeMap<String, String> = BTreeMap::new();
        let mut arguments = json!({ "pageSize": page_size }).as_object().unwrap().clone();
        let mut n_calls = 0;
        loop {
            arguments.shift_remove("offset");
            let first = call(&tool, &arguments, budget);
            let names: Vec<String> =
                first["rows"].as_array().unwrap().iter().map(|row| text(row, "name")).collect();
            let mut page = first.clone();
            let is_cut: Vec<bool> = first["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| text(row, "note").ends_with('…'))
                .collect();
            loop {
                n_calls += 1;
                assert!(budget.fits(&page.to_string()), "a page is over its budget");
                assert_eq!(page.get("next"), first.get("next"));
                let rows = page["rows"].as_array().unwrap();
                assert_eq!(rows.len(), names.len());
                for ((row, name), is_cut) in rows.iter().zip(&names).zip(&is_cut) {
                    assert_eq!(text(row, "name"), *name);
                    let piece = text(row, "note");
                    let whole = read.entry(name.clone()).or_default();
                    if *is_cut {
                        whole.push_str(piece.trim_end_matches('…'));
                    } else {
                        *whole = piece;
                    }
                }
                let Some(offset) = page.get("next_offset").cloned() else { break };
                arguments.insert("offset".to_owned(), offset);
                page = call(&tool, &arguments, budget);
            }
            let Some(next) = first.get("next").cloned() else { break };
            arguments.insert("cursor".to_owned(), next);
        }
        let expected: BTreeMap<String, String> =
            (0..60).map(|n| (format!("row-{n:04}"), note(n))).collect();
        assert!(read == expected, "{page_size}");
        // A row that was asked for alone is shown in as few pieces as there is room for.
        assert!(page_size > 1 || n_calls == 60, "{n_calls} calls");
    }
}

#[test]
fn rows_of_a_table_in_every_format() {
    let folder = Folder::new();
    let rows: Vec<String> =
        (0..700).map(|n| format!("row-{n:04},{}", "y".repeat(n % 90))).collect();
    folder.write("rows.csv", format!("name,text\n{}\n", rows.join("\n")));
    let service = tables::Service::open(tables::ServiceConfig {
        tables: vec![
            serde_json::from_value(json!({
                "name": "rows", "source": "rows.csv",
                "fields": { "name": { "type": "string" }, "text": { "type": "string" } },
            }))
            .unwrap(),
        ],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap();
    let tool = QueryTable::new(service);
    let expected: Vec<String> = (0..700).map(|n| format!("row-{n:04}")).collect();
    let names = |page: &Value| -> Vec<String> {
        let text = page.to_string();
        let found = text.match_indices("row-");
        found.map(|(at, _)| text[at..at + 8].to_owned()).collect()
    };
    for format in ["json", "stats", "markdown", "csv"] {
        for page_size in [7, 50, 500] {
            for budget in budgets() {
                // Facets list the first values of every field: rows are counted without them.
                let rows_of = |page: &Value| match page.get("rows") {
                    Some(rows) => names(rows),
                    None => names(page),
                };
                if format == "stats" && budget.chars < 100_000 {
                    continue;
                }
                let arguments = json!({ "pageSize": page_size, "format": format });
                let seen = walk(&tool, &arguments, budget, ("/next", "cursor"), rows_of);
                assert_eq!(seen, expected, "{format} {page_size} {budget:?}");
            }
        }
    }
}

/// Every query was given its first three results, and nothing led to the others.
#[test]
fn every_result_of_a_batch() {
    let folder = Folder::new();
    let row = |n: usize| format!("{n},Place {n} of many,{},{}\n", "hill ".repeat(n % 9), n * 7);
    let rows: String = (0..90).map(row).collect();
    folder.write("places.csv", format!("id,name,about,size\n{rows}"));
    let service = filters::Service::open(filters::Settings {
        folder: folder.path().to_owned(),
        filters: filters::FiltersConfig::default(),
        dimensions: vec![
            serde_json::from_value(json!({
                "category": "place", "source": "places.csv", "value": "id",
                "filter_key": "places", "name": "name", "context": "About: {about}",
                "metadata": { "size": "size" },
            }))
            .unwrap(),
        ],
        name_embedder: None,
    })
    .unwrap();
    let queries: Vec<Value> = (0..100)
        .map(|n| match n % 10 {
            // Nothing has this name: its answer comes once, too.
            4 => json!({ "category": "place", "query": "quixotic" }),
            6 | 7 => json!({ "category": "place", "query": "of many", "limit": n % 7 + 44 }),
            _ => json!({ "category": "place", "query": format!("Place {n} of many"), "limit": 14 }),
        })
        .collect();
    let single = crate::filters::SearchFilters::new(service.clone());
    let values = |response: &Value| -> Vec<String> {
        let results = response["results"].as_array().into_iter().flatten();
        results.map(|one| one["filterValue"].as_str().unwrap().to_owned()).collect()
    };
    let alone = |query: &Value| values(&call(&single, query.as_object().unwrap(), budgets()[2]));
    let expected: Vec<Vec<String>> = queries.iter().map(alone).collect();
    let n_results = expected.iter().map(Vec::len).sum::<usize>();
    assert!(n_results > 900, "{n_results}");
    let tool = SearchFiltersBatch::new(service);
    for budget in budgets() {
        let mut arguments = json!({ "queries": queries }).as_object().unwrap().clone();
        let mut seen: Vec<Vec<String>> = vec![Vec::new(); queries.len()];
        let mut n_answers = vec![0; queries.len()];
        for page_idx in 0.. {
            let page = call(&tool, &arguments, budget);
            assert!(budget.fits(&page.to_string()), "a page is over its budget");
            let responses = page["responses"].as_array().unwrap();
            assert!(page_idx > 0 || budget.chars < 100_000 || responses.len() == 100, "{budget:?}");
            for (at, response) in responses.iter().enumerate() {
                let at = response["index"].as_u64().map_or(at, |index| index as usize);
                seen[at].extend(values(response));
                n_answers[at] += 1;
                assert_eq!(response["ok"], true, "{response}");
            }
            match page.get("next") {
                Some(next) => arguments.insert("cursor".to_owned(), next.clone()),
                None => break,
            };
        }
        assert_eq!(seen, expected, "{budget:?}");
        assert!(n_answers.iter().all(|n| *n > 0), "{budget:?}: {n_answers:?}");
    }
}

#[test]
fn files_of_a_search_and_the_text_of_one() {
    let mut fixture = Fixture::new();
    for n in 0..40 {
        fixture.folder.write(
            format!("shelf/note-{n:02}.txt"),
            format!("lighthouse number {n} stands alone\n"),
        );
    }
    let long: String =
        (0..900).map(|n| format!("paragraph {n} of the lighthouse keeper\n\n")).collect();
    fixture.folder.write("shelf/long.txt", &long);
    let root = fixture.path("shelf");
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    call(&index, json!({ "root": root }).as_object().unwrap(), budgets()[2]);
    fixture.work();
    let search = SearchFiles::new(fixture.files.clone());
    for k in [1, 7, 100] {
        for budget in budgets() {
            let arguments = json!({ "query": "lighthouse", "k": k });
            let next = ("/pagination/next", "offset");
            let seen = walk(&search, &arguments, budget, next, field("items", "path"));
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            seen.iter().for_each(|path| *counts.entry(path).or_default() += 1);
            let first = call(&search, arguments.as_object().unwrap(), budget);
            assert_eq!(counts.len(), 42, "{k} {budget:?} {first}");
            assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        }
    }
    // Reading on reaches every character that was extracted.
    let open = OpenFile::new(fixture.files.clone());
    let path = fixture.path("shelf/long.txt");
    let text = |page: &Value| vec![page["preview"].as_str().unwrap().to_owned()];
    let read = walk(&open, &json!({ "path": path }), budgets()[2], ("/next", "offset"), text);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The window may end inside a line, so pieces are joined as they are.
    assert_eq!(squeezed(&read.concat()), squeezed(&long));
    // The hit is shown at its own pointer, wherever it is.
    let words = json!({ "query": "\"paragraph 733\"" });
    let hit = call(&search, words.as_object().unwrap(), budgets()[2]);
    let pointer = hit["items"][0]["pointer"].as_str().unwrap();
    let at = json!({ "path": path, "pointer": pointer });
    let shown = call(&open, at.as_object().unwrap(), budgets()[2]);
    assert!(shown["preview"].as_str().unwrap().contains("paragraph 733"), "{pointer}: {shown}");

    let links = "http://127.0.0.1:7700".to_owned();
    let everywhere = Search::new(fixture.across.clone(), links.clone());
    let found = call(&everywhere, words.as_object().unwrap(), budgets()[2]);
    let id = found["results"][0]["id"].as_str().unwrap();
    assert!(id.len() <= 24, "{id}");
    let fetch = Fetch::new(fixture.across.clone(), links);
    for budget in budgets() {
        let whole = |page: &Value| vec![page["text"].as_str().unwrap().to_owned()];
        let begin = json!({ "id": id, "offset": 0 });
        let read = walk(&fetch, &begin, budget, ("/next", "offset"), whole);
        assert_eq!(squeezed(&read.concat()), squeezed(&long), "{budget:?}");
        // Without an offset the hit is in what is shown.
        let shown = call(&fetch, json!({ "id": id }).as_object().unwrap(), budget);
        assert!(shown["text"].as_str().unwrap().contains("paragraph 733"), "{budget:?}");
    }
}

/// Numbers counted files: where the first results had copies, the next page gave some of them again.
#[test]
fn numbers_count_results_and_those_behind_the_end_say_so() {
    let mut fixture = Fixture::new();
    for n in 0..11 {
        for copy in 0..=n % 4 {
            let text = format!("lighthouse number {n} of the coast, {}\n", "white ".repeat(n));
            fixture.folder.write(format!("shelf/copy-{copy}/note-{n:02}.txt"), text);
        }
    }
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    let root = json!({ "root": fixture.path("shelf") });
    call(&index, root.as_object().unwrap(), budgets()[2]);
    fixture.work();
    let search = SearchFiles::new(fixture.files.clone());
    let page = |offset: usize, k: usize| {
        let arguments = json!({ "query": "lighthouse", "k": k, "offset": offset });
        call(&search, arguments.as_object().unwrap(), budgets()[2])
    };
    let all = field("items", "path")(&page(0, 100));
    assert_eq!(all.len(), 12, "{all:?}");
    for k in [1, 2, 3, 5, 7, 100] {
        let mut seen = Vec::new();
        for offset in (0..all.len()).step_by(k) {
            let page = page(offset, k);
            seen.extend(field("items", "path")(&page));
            let next = page["pagination"].get("next");
            assert_eq!(next.is_some(), offset + k < all.len(), "{offset} {k}: {page}");
        }
        assert_eq!(seen, all, "{k}");
    }
    for offset in [12, 13, 299, 300, 5_000] {
        let page = page(offset, 3);
        assert_eq!(page["items"], json!([]), "{offset}");
        let said = page["warnings"].to_string();
        assert!(said.contains("behind the last") && said.contains("leave it out"), "{said}");
    }
    let open = OpenFile::new(fixture.files.clone());
    let path = fixture.path("shelf/copy-0/note-01.txt");
    let far = json!({ "path": path, "offset": 9_000 });
    let said = call(&open, far.as_object().unwrap(), budgets()[2]);
    assert!(said["warnings"][0].as_str().unwrap().contains("leave it out"), "{said}");
    assert_eq!(said.get("next"), None);
}

/// A walk of `search` ended at two hundred results, and so did one of `search_documents`.
#[test]
fn everything_that_all_sources_find_and_all_chunks_of_a_base() {
    let mut fixture = Fixture::new();
    for n in 0..130 {
        let text = format!("lighthouse {n} is built of {}\n", "stone ".repeat(n % 7 + 1));
        fixture.folder.write(format!("shelf/note-{n:03}.txt"), text);
    }
    let caller = Caller::local_admin();
    let base = fixture.base_of(&caller);
    let collection: knowledge::NewCollection =
        serde_json::from_value(json!({ "name": "rules" })).unwrap();
    let collection = fixture
        .knowledge
        .create_collection(&caller, &knowledge::KnowledgeBaseId::new(&base), &collection)
        .unwrap()
        .id;
    let documents = (0..240).map(|n| {
        // Short texts that differ are never taken for the same.
        let text = format!("rule {n}: the lamp burns in a lighthouse");
        knowledge::NewDocument::text(format!("Rule {n}"), text)
    });
    let documents: Vec<knowledge::NewDocument> = documents.collect();
    for some in documents.chunks(20) {
        fixture.knowledge.add_documents(&caller, &collection, some.to_vec()).unwrap();
    }
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    let root = json!({ "root": fixture.path("shelf") });
    call(&index, root.as_object().unwrap(), budgets()[2]);
    fixture.work();
    let search = Search::new(fixture.across.clone(), "http://127.0.0.1:7700".to_owned());
    for (limit, budget) in [(3, budgets()[2]), (50, budgets()[2]), (50, budgets()[0])] {
        let arguments = json!({ "query": "lighthouse", "limit": limit });
        // What says the same as a better result is named there.
        let named = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let titles = |page: &Value| {
            let results = page["results"].as_array().unwrap().iter();
            let title = |one: &Value| one["title"].as_str().unwrap().to_owned();
            for result in results.clone() {
                let others = result["duplicates"].as_array().into_iter().flatten().map(title);
                named.borrow_mut().extend(others.chain([title(result)]));
            }
            results.map(title).collect()
        };
        let seen = walk(&search, &arguments, budget, ("/next", "cursor"), titles);
        each_once(&seen, &format!("search {limit} {budget:?}"));
        // The note that every fixture has is about the lighthouse, too.
        assert_eq!(named.borrow().len(), 130 + 240 + 1, "search {limit} {budget:?}");
    }
    let search = crate::knowledge::SearchDocuments::new(fixture.knowledge.clone());
    for (max_results, budget) in [(7, budgets()[2]), (50, budgets()[2]), (50, budgets()[0])] {
        let arguments = json!({
            "query": "lighthouse", "knowledge_base_id": base, "max_results": max_results,
            "threshold": 0,
        });
        let chunks = |page: &Value| {
            let results = page["results"].as_array().unwrap().iter();
            results.map(|one| one["metadata"]["chunk_id"].as_str().unwrap().to_owned()).collect()
        };
        let seen = walk(&search, &arguments, budget, ("/next", "cursor"), chunks);
        let said = format!("search_documents {max_results} {budget:?}");
        each_once(&seen, &said);
        assert_eq!(seen.len(), 240, "{said}");
    }
}

#[track_caller]
pub(super) fn each_once(seen: &[String], said: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    seen.iter().for_each(|one| *counts.entry(one).or_default() += 1);
    counts.retain(|_, count| *count > 1);
    assert!(counts.is_empty(), "{said}: {counts:?}");
}
