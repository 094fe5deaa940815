//! The law of lists where lists are long: a walk goes on behind what is ranked, to the end; a
//! cursor goes on with its own list alone; and reading back passes over nothing.

use std::time::Duration;

use contexts::{NewProject, NewTool};
use model::{Caller, Deadline};
use serde_json::{Map, Value, json};
use testkit::Folder;

use super::Fixture;
use super::walks::{budgets, call, each_once, walk};
use crate::everywhere::{Fetch, Search};
use crate::files::{ListFiles, SearchFiles};
use crate::filters::SearchFilters;
use crate::knowledge::SearchDocuments;
use crate::{Tool, accept};

/// More than any family ranks for one walk.
const N_ITEMS: usize = 560;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Makes a knowledge base of so many documents of one chunk, half of them marked.
fn base_of_many(fixture: &Fixture) -> String {
    let caller = Caller::local_admin();
    let base = fixture.base_of(&caller);
    let collection: knowledge::NewCollection =
        serde_json::from_value(json!({ "name": "rules" })).unwrap();
    let collection = fixture
        .knowledge
        .create_collection(&caller, &knowledge::KnowledgeBaseId::new(&base), &collection)
        .unwrap()
        .id;
    let documents: Vec<knowledge::NewDocument> = (0..N_ITEMS)
        .map(|n| {
            let text =
                format!("rule {n}: the lamp burns in a lighthouse{}", " of stone".repeat(n % 4));
            let metadata = json!({ "half": n % 2 });
            let document = knowledge::NewDocument::text(format!("Rule {n}"), text);
            knowledge::NewDocument { metadata, ..document }
        })
        .collect();
    for some in documents.chunks(20) {
        fixture.knowledge.add_documents(&caller, &collection, some.to_vec()).unwrap();
    }
    base
}

/// A walk ended at 500 of 1,500 chunks, and said so on its last page alone.
#[test]
fn all_chunks_of_a_base() {
    let mut fixture = Fixture::new();
    let base = base_of_many(&fixture);
    fixture.work();
    let tool = SearchDocuments::new(fixture.knowledge.clone());
    let chunks = |page: &Value| {
        let results = page["results"].as_array().unwrap().iter();
        results.map(|one| one["metadata"]["chunk_id"].as_str().unwrap().to_owned()).collect()
    };
    let asked = |max_results: usize, threshold: f64, filters: Value| {
        json!({
            "query": "lighthouse", "knowledge_base_id": base, "max_results": max_results,
            "threshold": threshold, "filters": filters,
        })
    };
    let all = json!({});
    for (max_results, budget) in [(13, budgets()[2]), (50, budgets()[2]), (50, budgets()[1])] {
        let arguments = asked(max_results, 0.0, all.clone());
        let seen = walk(&tool, &arguments, budget, ("/next", "cursor"), chunks);
        each_once(&seen, "all");
        assert_eq!(seen.len(), N_ITEMS, "{max_results} {budget:?}");
    }
    let half = asked(50, 0.0, json!({ "half": 1 }));
    let seen = walk(&tool, &half, budgets()[2], ("/next", "cursor"), chunks);
    each_once(&seen, "half");
    assert_eq!(seen.len(), N_ITEMS / 2);
    // With a threshold that parts them, what is above it comes once, wherever it is in the order.
    let mut scores: Vec<f64> = Vec::new();
    walk(&tool, &asked(50, 0.0, all.clone()), budgets()[2], ("/next", "cursor"), |page| {
        let results = page["results"].as_array().unwrap();
        results.iter().map(|one| one["score"].to_string()).collect()
    })
    .iter()
    .for_each(|score| scores.push(score.parse().unwrap()));
    scores.sort_by(f64::total_cmp);
    let middle = (scores[N_ITEMS / 4] + scores[3 * N_ITEMS / 4]) / 2.0;
    let n_above = scores.iter().filter(|score| **score >= middle).count();
    assert!(n_above > 110 && n_above < N_ITEMS - 110, "{n_above} {scores:?}");
    let seen = walk(&tool, &asked(7, middle, all), budgets()[2], ("/next", "cursor"), chunks);
    each_once(&seen, "threshold");
    assert_eq!(seen.len(), n_above);
}

#[test]
fn all_chunks_of_a_document() {
    let mut fixture = Fixture::new();
    let owner = Caller::local_admin();
    let new = NewProject { name: "Cranes".to_owned(), members: vec![] };
    let project = fixture.contexts.create_project(&owner, &new).unwrap();
    let part = |n: usize| format!("part {n} of the crane: {}", "the hook is greased. ".repeat(8));
    let parts: Vec<String> = (0..N_ITEMS).map(part).collect();
    let file = fixture.folder.write("manual.json", json!({ "parts": parts }).to_string());
    let soon = Deadline::after(Duration::from_secs(60));
    let table = fixture.contexts.create_table(&owner, &project.id, "Manual", &file, &soon).unwrap();
    let new = NewTool {
        json_path: "/parts".to_owned(),
        chunk_threshold_chars: Some(100),
        ..NewTool::of(&table.id, "search_manual")
    };
    let made = fixture.contexts.create_tool(&owner, &new).unwrap().0;
    fixture.work();
    let tool = crate::contexts::tool(&fixture.contexts, &made);
    let chunks = |page: &Value| {
        let results = page["results"].as_array().unwrap().iter();
        results.map(|one| one["chunk"]["id"].as_str().unwrap().to_owned()).collect()
    };
    for (top_k, budget) in [(7, budgets()[2]), (20, budgets()[1])] {
        let arguments = json!({ "query": "hook", "top_k": top_k });
        let seen = walk(&*tool, &arguments, budget, ("/next", "cursor"), chunks);
        each_once(&seen, "parts");
        assert_eq!(seen.len(), N_ITEMS, "{top_k} {budget:?}");
    }
}

fn many_names(folder: &Folder) -> filters::Service {
    let row = |n: usize| format!("{n},School {n} of the town{}\n", " hall".repeat(n % 3));
    let rows: String = (0..N_ITEMS).map(row).collect();
    folder.write("places.csv", format!("id,name\n{rows}"));
    let places = json!({
        "category": "place", "source": "places.csv", "value": "id", "filter_key": "places",
        "name": "name",
    });
    let service = filters::Service::open(filters::Settings {
        folder: folder.path().to_owned(),
        filters: filters::FiltersConfig::default(),
        dimensions: vec![serde_json::from_value(places).unwrap()],
        name_embedder: None,
    });
    service.unwrap()
}

/// Two hundred of four thousand names were given.
#[test]
fn all_names() {
    let folder = Folder::new();
    let tool = SearchFilters::new(many_names(&folder));
    let values = |page: &Value| {
        let results = page["results"].as_array().unwrap().iter();
        results.map(|one| one["filterValue"].as_str().unwrap().to_owned()).collect()
    };
    for (limit, budget) in [(7, budgets()[2]), (50, budgets()[2]), (50, budgets()[0])] {
        let arguments = json!({ "category": "place", "query": "school town", "limit": limit });
        let seen = walk(&tool, &arguments, budget, ("/next", "cursor"), values);
        each_once(&seen, "names");
        assert_eq!(seen.len(), N_ITEMS, "{limit} {budget:?}");
    }
}

/// The cursor of another question or tool was taken, and what is before it in the own list was
/// never given.
#[test]
fn a_cursor_of_another_list_is_refused() {
    let mut fixture = Fixture::new();
    let base = base_of_many(&fixture);
    for n in 0..20 {
        fixture.folder.write(format!("shelf/a{n}.txt"), format!("lighthouse keeper {n}"));
        fixture.folder.write(format!("shelf/inner/b{n}.txt"), format!("lighthouse oil {n}"));
    }
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    call(&index, &object(&json!({ "root": fixture.path("shelf") })), budgets()[2]);
    fixture.work();
    let names = Folder::new();
    let files = SearchFiles::new(fixture.files.clone());
    let folders = ListFiles::new(fixture.files.clone());
    let search = Search::new(fixture.across.clone(), "http://127.0.0.1:7700".to_owned());
    let documents = SearchDocuments::new(fixture.knowledge.clone());
    let filters = SearchFilters::new(many_names(&names));
    let shelf = fixture.path("shelf");
    let inner = fixture.path("shelf/inner");
    let lists: [(&dyn Tool, Value, Value, &str, &str); 5] = [
        (
            &files,
            json!({ "query": "lighthouse", "k": 3 }),
            json!({ "query": "keeper", "k": 3 }),
            "/pagination/next",
            "offset",
        ),
        (
            &search,
            json!({ "query": "lighthouse", "limit": 3 }),
            json!({ "query": "keeper", "limit": 3 }),
            "/next",
            "cursor",
        ),
        (
            &documents,
            json!({ "query": "lighthouse", "threshold": 0, "knowledge_base_id": base }),
            json!({ "query": "lamp", "threshold": 0, "knowledge_base_id": base }),
            "/next",
            "cursor",
        ),
        (
            &filters,
            json!({ "category": "place", "query": "school", "limit": 3 }),
            json!({ "category": "place", "query": "town", "limit": 3 }),
            "/next",
            "cursor",
        ),
        (
            &folders,
            json!({ "path": shelf, "limit": 3 }),
            json!({ "path": inner, "limit": 3 }),
            "/next",
            "cursor",
        ),
    ];
    let cursors: Vec<Value> = lists
        .iter()
        .map(|(tool, arguments, _, next, _)| {
            let page = call(*tool, &object(arguments), budgets()[2]);
            page.pointer(next).unwrap_or_else(|| panic!("{page}")).clone()
        })
        .collect();
    for (at, (tool, own, other, _, argument)) in lists.iter().enumerate() {
        for (from, cursor) in cursors.iter().enumerate() {
            for (arguments, is_own) in [(own, from == at), (other, false)] {
                let mut arguments = object(arguments);
                arguments.insert((*argument).to_owned(), cursor.clone());
                let said = refusal(*tool, arguments);
                let is_clear = said.as_ref().is_some_and(|said| said.contains("other arguments"));
                assert_eq!(is_clear, !is_own, "{at} {from}: {said:?}");
            }
        }
    }
}

fn refusal(tool: &dyn Tool, arguments: Map<String, Value>) -> Option<String> {
    let caller = Caller::local_admin();
    let accepted = accept(&tool.spec(&caller).unwrap(), arguments).unwrap();
    let call = crate::Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &Deadline::after(Duration::from_secs(60)),
        budget: budgets()[2],
        progress: &|_| {},
    };
    tool.call(&call).err().map(|error| error.message)
}

/// A step back was as long as the page, and the page there shorter: where letters cost more tokens,
/// thousands of characters between the two were never shown.
#[test]
fn reading_back_passes_over_nothing() {
    let mut fixture = Fixture::new();
    let line = |n: usize| match n / 400 % 4 {
        0 => format!("{n}: the keeper of the lighthouse wrote line after line\n"),
        1 => format!("{n}: ሰላም ለዓለም ሁሉ የኢትዮጵያ ሕዝብ መብት ነው\n"),
        2 => format!("{n}: មនុស្សទាំងអស់កើតមកមានសេរីភាព និងសមភាព\n"),
        _ => format!("{n}: 😀🚀✨ {}\n", n * 7_919),
    };
    let text: String = (0..3_200).map(line).collect();
    fixture.folder.write("shelf/long.txt", &text);
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    call(&index, &object(&json!({ "root": fixture.path("shelf") })), budgets()[2]);
    fixture.work();
    let links = "http://127.0.0.1:7700".to_owned();
    let search = Search::new(fixture.across.clone(), links.clone());
    let found = call(&search, &object(&json!({ "query": "keeper lighthouse line" })), budgets()[2]);
    let id = found["results"][0]["id"].as_str().unwrap();
    let fetch = Fetch::new(fixture.across.clone(), links);
    for budget in [budgets()[1], budgets()[2]] {
        for start in [1, 7_001, 40_003, 61_007, 90_000] {
            let mut offset = json!(start);
            let mut read = Vec::new();
            loop {
                let page = call(&fetch, &object(&json!({ "id": id, "offset": offset })), budget);
                assert!(budget.fits(&page.to_string()));
                read.push(page["text"].as_str().unwrap().to_owned());
                match page.get("prev") {
                    Some(prev) => offset = prev.clone(),
                    None => break,
                }
                assert!(read.len() < 1_000, "reading back never ends");
            }
            // Neither more nor less than the file has up to where the first page ends.
            read.reverse();
            assert!(text.starts_with(&read.concat()), "from {start} {budget:?}");
        }
    }
}

/// `openFile` gave the first two thousand characters again to whoever read back to the start, and two
/// line breaks where a text without a blank line was cut into blocks.
#[test]
fn a_file_is_read_exactly_forwards_and_backwards() {
    let mut fixture = Fixture::new();
    let line = |n: usize| format!("{n:04}: {}\n", "the keeper wrote ".repeat(n % 5 + 1).trim_end());
    let log: String = (0..700).map(line).collect();
    let gaps: String = (0..200).map(|n| line(n) + &"\n".repeat(n % 4)).collect();
    let code: String =
        (0..200).map(|n| format!("def f{n}(x):\n    if x:\n\n        return {n}\n\n\n")).collect();
    let files = [("log.txt", &log), ("gaps.txt", &gaps), ("code.py", &code)];
    for (name, text) in files {
        fixture.folder.write(format!("shelf/{name}"), text);
    }
    let index = crate::files::IndexFolder::new(fixture.files.clone());
    call(&index, &object(&json!({ "root": fixture.path("shelf") })), budgets()[2]);
    fixture.work();
    let open = crate::files::OpenFile::new(fixture.files.clone());
    for (name, text) in files {
        let path = fixture.path(&format!("shelf/{name}"));
        for start in [0, 1_700, 2_900, 5_001] {
            for towards in ["next", "prev"] {
                let mut offset = json!(start);
                let mut read = Vec::new();
                loop {
                    let asked = json!({ "path": path, "offset": offset });
                    let page = call(&open, &object(&asked), budgets()[2]);
                    read.push(page["preview"].as_str().unwrap().to_owned());
                    match page.get(towards) {
                        Some(place) => offset = place.clone(),
                        None => break,
                    }
                    assert!(read.len() < 1_000, "reading never ends");
                }
                let is_back = towards == "prev";
                if is_back {
                    read.reverse();
                }
                let read = read.concat();
                let said = format!("{name} {towards} from {start}");
                match is_back {
                    true => assert!(text.starts_with(&read), "{said}"),
                    false => assert!(text.trim_end().ends_with(&read), "{said}"),
                }
            }
        }
    }
    // A place is of one file, and a number that somebody counts is taken.
    let of = |name: &str| fixture.path(&format!("shelf/{name}"));
    let page = call(&open, &object(&json!({ "path": of("log.txt") })), budgets()[2]);
    let asked = object(&json!({ "path": of("gaps.txt"), "offset": page["next"] }));
    let caller = Caller::local_admin();
    let accepted = accept(&open.spec(&caller).unwrap(), asked).unwrap();
    let refused = open.call(&crate::Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &Deadline::after(Duration::from_secs(60)),
        budget: budgets()[2],
        progress: &|_| {},
    });
    assert!(refused.unwrap_err().message.contains("other arguments"));
    call(&open, &object(&json!({ "path": of("gaps.txt"), "offset": "2000" })), budgets()[2]);
}
