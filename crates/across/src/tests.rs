//! One question over real services and fixed ones: merged by score, turns at ties, what says the
//! same once, ids that open nothing for those who may not see.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{JobQueue, QueueConfig, Vectors, Workers};
use knowledge::{
    JOBS, NewBase, NewCollection, NewDocument, ServiceConfig, ServiceSlot, Visibility,
};
use model::{
    Access, Caller, Clearance, Clock, Deadline, Identity, Score, TenantId, Timestamp, Warning,
};
use retrieve::Retriever;
use serde_json::Value;
use store::Store;

use crate::{
    Error, Explanation, Fetched, Findings, Folding, Hit, KnowledgeBases, Part, Rest, Service,
    Source, SourceHits, Tables, id,
};

/// All of a thing.
const WHOLE: Part = Part { offset: None, max_chars: 60_000 };

struct Fixed {
    name: &'static str,
    hits: Vec<(&'static str, f64)>,
    folding: Folding,
}

fn fixed(name: &'static str, hits: &[(&'static str, f64)]) -> Box<dyn Source> {
    Box::new(Fixed { name, hits: hits.to_vec(), folding: Folding::ByContent })
}

impl Source for Fixed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&self, _: &Caller, _: &str, limit: usize, _: &Deadline) -> SourceHits {
        let hits = self.hits.iter().enumerate().take(limit).map(|(idx, (text, score))| Hit {
            thing: (*text).to_owned(),
            position: u32::try_from(idx).unwrap(),
            title: format!("{} {idx}", self.name),
            snippet: (*text).to_owned(),
            around: model::Around::default(),
            pointer: None,
            score: Score::new(*score),
            explanation: None,
            chance: None,
            same: vec![],
            no_text: None,
        });
        let warnings = vec![
            Warning::new("model_missing", "the model is not there"),
            Warning::new("sorted_by_page", "the best 100 candidates are sorted by score"),
        ];
        SourceHits { hits: hits.collect(), warnings, ..SourceHits::default() }
    }

    fn letter(&self) -> char {
        self.name.chars().last().unwrap_or('x')
    }

    fn key(&self, thing: &str, position: u32) -> String {
        format!("{position}/{thing}")
    }

    fn find(&self, _: &Caller, is_it: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        let thing = self.hits.iter().map(|(text, _)| *text).find(|text| is_it(text));
        Ok(thing.map(str::to_owned))
    }

    fn fetch(&self, _: &Caller, key: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        let Some((_, wanted)) = key.split_once('/') else { return Ok(None) };
        Ok(self.hits.iter().find(|(text, _)| *text == wanted).map(|(text, _)| Fetched {
            title: String::new(),
            text: (*text).to_owned(),
            around: model::Around::default(),
            span: None,
            metadata: Value::Null,
        }))
    }

    fn folding(&self) -> Folding {
        self.folding
    }
}

struct Panicking;

impl Source for Panicking {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn search(&self, _: &Caller, _: &str, _: usize, _: &Deadline) -> SourceHits {
        panic!("on purpose");
    }

    fn letter(&self) -> char {
        'b'
    }

    fn key(&self, thing: &str, _: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, _: &Caller, _: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        Ok(None)
    }

    fn fetch(&self, _: &Caller, _: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        Ok(None)
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn member(tenant: &str) -> Caller {
    Caller {
        subject: "ann".to_owned(),
        tenant: TenantId::new(tenant),
        department: None,
        clearance: Clearance::Internal,
        roles: std::collections::BTreeSet::new(),
        identity: Identity::Token,
    }
}

fn texts(service: &Service, caller: &Caller, query: &str) -> Vec<String> {
    let Findings { results: merged, .. } = service.search(caller, query, 10, &soon());
    merged.into_iter().map(|merged| merged.hit.snippet).collect()
}

#[test]
fn sources_are_merged_by_score_and_take_turns_at_ties() {
    let service = Service::new(vec![
        fixed("one", &[("alpha", 0.9), ("beta", 0.4), ("delta", 0.4)]),
        fixed("two", &[("gamma", 0.4), ("ALPHA", 0.3)]),
    ]);
    let caller = Caller::local_admin();
    assert_eq!(texts(&service, &caller, "x"), ["alpha", "gamma", "beta", "delta"]);
    let Findings { results: merged, warnings, .. } = service.search(&caller, "x", 10, &soon());
    assert_eq!(warnings.len(), 1);
    let given = crate::Given::default().with([merged[0].name.as_str()]);
    let second = service.search_after(&caller, "x", &given, 10, &soon());
    assert_eq!(second.warnings.len(), 2, "behind the first page both are said");
    assert_eq!(merged[0].duplicates.len(), 1);
    assert_eq!(merged[0].duplicates[0].source, "two");
    let (source, fetched) = service.fetch(&caller, &merged[0].duplicates[0].id, &WHOLE).unwrap();
    assert_eq!((source, fetched.text.as_str()), ("two", "ALPHA"));
    // Another server, which never saw the search, finds the same thing behind the same id.
    let other = Service::new(vec![fixed("two", &[("gamma", 0.4), ("ALPHA", 0.3)])]);
    let (_, again) = other.fetch(&caller, &merged[0].duplicates[0].id, &WHOLE).unwrap();
    assert_eq!(again.text, "ALPHA");
    for nothing in [
        "AAAA",
        &id::encode('o', &id::mark("two", "delta"), 0),
        &id::encode('z', &id::mark("two", "gamma"), 0),
        "",
        "\u{1}",
    ] {
        assert!(matches!(service.fetch(&caller, nothing, &WHOLE), Err(Error::NotFound { .. })));
    }
}

/// Many things, of which a search by rank gives the best few alone.
struct Kinds {
    n_things: usize,
    n_best: usize,
}

impl Source for Kinds {
    fn name(&self) -> &'static str {
        "kinds"
    }

    fn search(&self, _: &Caller, _: &str, limit: usize, _: &Deadline) -> SourceHits {
        let n_given = if limit > 900 { self.n_things } else { self.n_best.min(limit) };
        let hits = (0..n_given).map(|n| Hit {
            thing: format!("thing {n}"),
            position: 0,
            title: format!("thing {n}"),
            snippet: format!("{n}"),
            around: model::Around::default(),
            pointer: None,
            score: Score::new(0.9 - n as f64 / 10_000.0),
            explanation: None,
            chance: None,
            same: vec![],
            no_text: None,
        });
        let has_others = n_given < self.n_things;
        SourceHits { hits: hits.collect(), has_others, ..SourceHits::default() }
    }

    fn letter(&self) -> char {
        'q'
    }

    fn key(&self, thing: &str, _: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, _: &Caller, _: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        Ok(None)
    }

    fn fetch(&self, _: &Caller, _: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        Ok(None)
    }

    fn folding(&self) -> Folding {
        Folding::Never
    }
}

/// Follows a walk to its end: the names of its results, and those of what is folded into them.
fn walk(service: &Service, limit: usize) -> (Vec<String>, Vec<String>) {
    let caller = Caller::local_admin();
    let mut given = crate::Given::default();
    let (mut results, mut folded) = (Vec::new(), Vec::new());
    loop {
        let found = service.search_after(&caller, "x", &given, limit, &soon());
        assert!(found.results.len() <= limit);
        let names = |merged: &crate::Merged| merged.name.clone();
        results.extend(found.results.iter().map(names));
        let others = found.results.iter().flat_map(|merged| &merged.duplicates);
        folded.extend(others.clone().map(|duplicate| duplicate.name.clone()));
        let last = results.last().map(String::as_str).unwrap_or_default();
        let is_end = found.results.is_empty() && found.rest != Rest::InOrder;
        given = match found.rest {
            Rest::None => break,
            _ if is_end => break,
            Rest::InOrder if given.is_closed() => given.behind(last),
            Rest::ByRank | Rest::InOrder => {
                let named = given
                    .with(found.results.iter().map(|merged| merged.name.as_str()))
                    .with(others.map(|duplicate| duplicate.name.as_str()));
                let is_closed = found.rest == Rest::InOrder || named.n_named() >= crate::MAX_NAMED;
                if is_closed { named.closed() } else { named }
            }
        };
        assert!(results.len() < 1_000, "the walk does not end");
    }
    results.sort_unstable();
    folded.sort_unstable();
    (results, folded)
}

/// What says the same was folded with whatever happened to be asked for with it: with small pages
/// a copy that came late was folded into what had been given, and nothing ever named it.
#[test]
fn a_walk_gives_the_same_at_every_page_size_though_much_says_the_same() {
    let texts: Vec<String> = (0..180).map(|n| format!("text {}", n % 60)).collect();
    let source = |name: &'static str, letter: char| {
        let things = texts.iter().enumerate();
        let things = things.map(|(n, text)| (format!("{name}{n}"), text.clone())).collect();
        Box::new(Copies { name, letter, things })
    };
    let service = Service::new(vec![source("ones", 's'), source("twos", 'o')]);
    let (results, folded) = walk(&service, 50);
    assert!(!folded.is_empty());
    let mut all = [results.clone(), folded.clone()].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!((all.len(), results.len() + folded.len()), (360, 360));
    for limit in [1, 2, 3, 7, 20] {
        assert_eq!(walk(&service, limit), (results.clone(), folded.clone()), "{limit}");
    }
}

/// Things of which many say the same.
struct Copies {
    name: &'static str,
    letter: char,
    things: Vec<(String, String)>,
}

impl Source for Copies {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&self, _: &Caller, _: &str, limit: usize, _: &Deadline) -> SourceHits {
        let hits = self.things.iter().enumerate().take(limit).map(|(n, (thing, text))| Hit {
            thing: thing.clone(),
            position: 0,
            title: thing.clone(),
            snippet: text.clone(),
            around: model::Around::default(),
            pointer: None,
            score: Score::new(0.9 - n as f64 / 1_000.0),
            explanation: None,
            chance: None,
            same: vec![],
            no_text: None,
        });
        SourceHits { hits: hits.collect(), ..SourceHits::default() }
    }

    fn letter(&self) -> char {
        self.letter
    }

    fn key(&self, thing: &str, _: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, _: &Caller, _: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        Ok(None)
    }

    fn fetch(&self, _: &Caller, _: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        Ok(None)
    }
}

/// One near by chance in a small namespace, one with the word in a large one.
struct Near {
    name: &'static str,
    score: f64,
    n_passages: usize,
    chance: Option<model::Chance>,
}

impl Source for Near {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&self, _: &Caller, _: &str, _: usize, _: &Deadline) -> SourceHits {
        let hit = Hit {
            thing: self.name.to_owned(),
            position: 0,
            title: self.name.to_owned(),
            snippet: self.name.to_owned(),
            around: model::Around::default(),
            pointer: None,
            score: Score::new(self.score),
            explanation: None,
            chance: self.chance,
            same: vec![],
            no_text: None,
        };
        SourceHits { hits: vec![hit], n_passages: self.n_passages, ..SourceHits::default() }
    }

    fn letter(&self) -> char {
        self.name.chars().next().unwrap_or('x')
    }

    fn key(&self, thing: &str, _: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, _: &Caller, _: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        Ok(None)
    }

    fn fetch(&self, _: &Caller, _: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        Ok(None)
    }
}

/// A rare word found chunks of a small JSON document without any word of the query above the one
/// file that has it: that they were so near counted as if nothing else had been searched.
#[test]
fn what_is_near_by_chance_is_judged_among_all_that_was_searched() {
    let ln_passages = 150_f64.ln_1p();
    let chance = model::Chance { logit: 0.65, slope: -0.54, ln_passages };
    let near = |n_passages, chance| Near { name: "near", score: 0.657, n_passages, chance };
    let word = |n_passages| Near { name: "word", score: 0.557, n_passages, chance: None };
    let caller = Caller::local_admin();
    let first = |near: Near, word: Near| {
        let service = Service::new(vec![Box::new(near), Box::new(word)]);
        let found = service.search(&caller, "x", 10, &soon()).results;
        (found[0].source, found.iter().map(|one| one.hit.score.rounded()).collect::<Vec<_>>())
    };
    assert_eq!(first(near(150, Some(chance)), word(0)), ("near", vec![0.657, 0.557]));
    let (source, scores) = first(near(150, Some(chance)), word(1_000));
    assert_eq!((source, scores[0]), ("word", 0.557));
    assert!((0.3..0.5).contains(&scores[1]), "{scores:?}");
}

/// Many, of which every third one is near by chance.
struct Chances;

impl Source for Chances {
    fn name(&self) -> &'static str {
        "chances"
    }

    fn search(&self, _: &Caller, _: &str, limit: usize, _: &Deadline) -> SourceHits {
        let hits = (0..80).take(limit).map(|n| {
            let score = 0.9 - f64::from(n) / 100.0;
            let logit = (score / (1.0 - score)).ln();
            let chance = model::Chance { logit, slope: -0.6, ln_passages: 80_f64.ln_1p() };
            Hit {
                thing: format!("thing {n}"),
                position: 0,
                title: format!("thing {n}"),
                snippet: format!("text {n}"),
                around: model::Around::default(),
                pointer: None,
                score: Score::new(score),
                explanation: None,
                chance: (n % 3 != 0).then_some(chance),
                same: vec![],
                no_text: None,
            }
        });
        SourceHits { hits: hits.collect(), n_passages: 80, ..SourceHits::default() }
    }

    fn letter(&self) -> char {
        'h'
    }

    fn key(&self, thing: &str, _: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, _: &Caller, _: &dyn Fn(&str) -> bool) -> crate::Result<Option<String>> {
        Ok(None)
    }

    fn fetch(&self, _: &Caller, _: &str, _: &Part) -> crate::Result<Option<Fetched>> {
        Ok(None)
    }
}

/// A family was cut by its own order before its scores were lowered among all families, so that a
/// short page had a result where a long one had a better one.
#[test]
fn a_short_page_is_the_beginning_of_a_long_one() {
    let caller = Caller::local_admin();
    let many = Near { name: "many", score: 0.2, n_passages: 100_000, chance: None };
    let service = Service::new(vec![Box::new(Chances), Box::new(many)]);
    let names = |limit: usize| -> Vec<String> {
        let found = service.search(&caller, "x", limit, &soon()).results;
        found.into_iter().map(|merged| merged.name).collect()
    };
    let long = names(crate::MAX_RESULTS);
    assert_eq!(long.len(), crate::MAX_RESULTS);
    for limit in 1..crate::MAX_RESULTS {
        assert_eq!(names(limit), long[..limit], "{limit}");
    }
}

/// Of each kind of names five were given and no walk gave the others.
#[test]
fn a_walk_goes_on_to_what_is_not_among_the_best() {
    let (caller, query) = (Caller::local_admin(), "x");
    let kinds = Box::new(Kinds { n_things: 300, n_best: 5 });
    let service = Service::new(vec![kinds, fixed("one", &[("alpha", 0.95), ("beta", 0.1)])]);
    for limit in [1, 3, 7, 50] {
        let (mut given, mut seen) = (crate::Given::default(), Vec::new());
        loop {
            let found = service.search_after(&caller, query, &given, limit, &soon());
            assert!(found.results.len() <= limit);
            seen.extend(found.results.iter().map(|merged| merged.name.clone()));
            let names = found.results.iter().map(|merged| merged.name.as_str());
            given = match (found.rest, names.clone().next_back()) {
                (Rest::None, _) | (Rest::ByRank, None) => break,
                (Rest::ByRank, Some(_)) => given.with(names),
                (Rest::InOrder, Some(last)) if given.is_closed() => given.behind(last),
                (Rest::InOrder, _) => given.with(names).closed(),
            };
            assert!(seen.len() < 1_000, "the walk does not end");
        }
        let n_seen = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((n_seen, seen.len()), (302, 302), "{limit}");
    }
}

#[test]
fn names_of_different_things_are_never_folded() {
    let places =
        Fixed { name: "places", hits: vec![("Cluj", 0.9), ("Cluj", 0.8)], folding: Folding::Never };
    let service = Service::new(vec![Box::new(places), fixed("notes", &[("cluj", 0.7)])]);
    assert_eq!(texts(&service, &Caller::local_admin(), "x"), ["Cluj", "Cluj", "cluj"]);
}

#[test]
fn a_source_that_breaks_is_a_warning() {
    let service = Service::new(vec![Box::new(Panicking), fixed("one", &[("alpha", 0.9)])]);
    let Findings { results: merged, warnings, .. } =
        service.search(&Caller::local_admin(), "x", 10, &soon());
    assert_eq!(merged.len(), 1);
    assert!(warnings.iter().any(|warning| warning.message == "`broken` could not be searched"));
}

fn table_service(folder: &std::path::Path, allow: Access) -> tables::Service {
    let csv = "carrier,email,note\nBlue Jet,ann@example.org,calm\nBlue Jet,bob@example.org,\n\
               Red Kite,eve@example.org,late\n";
    fs_err::write(folder.join("a.csv"), csv).unwrap();
    tables::Service::open(tables::ServiceConfig {
        tables: vec![tables::TableConfig {
            name: "flights".to_owned(),
            source: "a.csv".to_owned(),
            description: Some("Departures of the airport, one row each".to_owned()),
            allow,
            null_values: vec![],
            delimiter: None,
            fields: tables::Fields::from([
                ("carrier", tables::Field::string()),
                ("email", tables::Field::string()),
                ("note", tables::Field::string()),
            ]),
            relations: vec![],
        }],
        base_folder: folder.to_owned(),
        cache_folder: folder.join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap()
}

#[test]
fn tables_are_found_by_what_they_are_and_by_their_texts() {
    let folder = tempfile::tempdir().unwrap();
    let service =
        Service::new(vec![Box::new(Tables::new(table_service(folder.path(), Access::everyone())))]);
    let caller = Caller::local_admin();
    let Findings { results: merged, warnings, .. } =
        service.search(&caller, "blue jet", 10, &soon());
    assert_eq!(warnings, []);
    assert_eq!(merged[0].hit.snippet, "carrier: Blue Jet (2 rows)");
    assert_eq!(merged[0].hit.pointer.as_deref(), Some("flights.carrier"));
    assert!(merged[0].hit.score.get() > 0.8, "{merged:?}");
    let (_, fetched) = service.fetch(&caller, &merged[0].id, &WHOLE).unwrap();
    assert!(fetched.text.contains("| Blue Jet | bob@example.org |"), "{}", fetched.text);
    assert!(!fetched.text.contains("Red Kite"));
    assert_eq!(fetched.metadata["total_rows"], 2);

    let Findings { results: merged, .. } =
        service.search(&caller, "departures of an airport", 10, &soon());
    assert_eq!(merged[0].hit.title, "flights");
    let (_, fetched) = service.fetch(&caller, &merged[0].id, &WHOLE).unwrap();
    assert!(fetched.text.contains("Red Kite"));

    // Text of a source never is in an id, where nobody would redact it.
    let Findings { results: merged, .. } = service.search(&caller, "red kite", 10, &soon());
    let found = merged.iter().find(|merged| merged.hit.snippet.contains("Red Kite")).unwrap();
    assert!(found.id.len() <= 24, "{}", found.id);
    assert!(!found.hit.title.contains("Red Kite"));
    assert!(service.fetch(&caller, &found.id, &WHOLE).unwrap().1.text.contains("Red Kite"));
    // What rows hide is not found by its letters either.
    let Findings { results: merged, .. } = service.search(&caller, "ann example", 10, &soon());
    assert!(merged.iter().all(|merged| !merged.hit.snippet.contains("ann@")), "{merged:?}");
    assert_eq!(texts(&service, &caller, "the of"), [""; 0]);
    assert_eq!(texts(&service, &caller, "quantum"), [""; 0]);
}

/// A field's name is in no cell, so it was taken for the rarest word: `budget` in a table with a
/// field `report` was above the one cell with `zephyr`.
#[test]
fn names_of_fields_do_not_outweigh_a_rare_word() {
    let folder = tempfile::tempdir().unwrap();
    let row = |n: usize| match n {
        77 => "r77,zephyr storm\n".to_owned(),
        n if n % 3 == 0 => format!("r{n},budget {n}\n"),
        n => format!("r{n},other {n}\n"),
    };
    let rows: String = (0..300).map(row).collect();
    fs_err::write(folder.path().join("rows.csv"), format!("report,note\n{rows}")).unwrap();
    let config = serde_json::json!({
        "name": "reports", "source": "rows.csv",
        "fields": { "report": { "type": "string" }, "note": { "type": "string" } },
    });
    let tables = tables::Service::open(tables::ServiceConfig {
        tables: vec![serde_json::from_value(config).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    });
    let service = Service::new(vec![Box::new(Tables::new(tables.unwrap()))]);
    let caller = Caller::local_admin();
    for query in ["report budget zephyr", "zephyr report note", "report of the zephyr"] {
        let Findings { results: merged, .. } = service.search(&caller, query, 10, &soon());
        let first = &merged[0].hit;
        assert_eq!(first.snippet, "note: zephyr storm (1 row)", "{query}: {merged:?}");
        let others = merged.iter().skip(1).map(|one| one.hit.score.get());
        assert!(others.fold(0.0, f64::max) < first.score.get() - 0.1, "{query}: {merged:?}");
    }
    // The table is still found by its own words.
    let Findings { results: merged, .. } = service.search(&caller, "report note", 10, &soon());
    assert_eq!(merged[0].hit.title, "reports");
    assert!(merged[0].hit.score.get() > 0.7, "{merged:?}");
}

#[test]
fn tables_of_others_do_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let pilots = Access { roles: vec!["pilot".to_owned()], ..Access::everyone() };
    let service = Service::new(vec![Box::new(Tables::new(table_service(folder.path(), pilots)))]);
    let pilot = Caller { roles: ["pilot".to_owned()].into(), ..member("acme") };
    let Findings { results: merged, .. } = service.search(&pilot, "blue jet", 10, &soon());
    assert_eq!(merged.len(), 1);
    let Findings { results: nothing, warnings, .. } =
        service.search(&member("acme"), "blue jet", 10, &soon());
    assert_eq!((nothing, warnings), (vec![], vec![]));
    let refused = service.fetch(&member("acme"), &merged[0].id, &WHOLE).unwrap_err();
    assert!(matches!(refused, Error::NotFound { .. }));
}

/// Knowledge bases in a folder of their own.
struct Fixture {
    service: knowledge::Service,
    queue: Arc<JobQueue>,
    _workers: Workers,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(7));
        let config = store::Config::for_one_machine();
        let store = Arc::new(Store::open(folder.path(), &config, clock.clone()).unwrap());
        let slot = ServiceSlot::default();
        let runners: HashMap<_, _> =
            JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
        let config = QueueConfig::for_one_machine();
        let queue = JobQueue::open(store.catalogue(), runners, config, clock.clone()).unwrap();
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let of_search = Arc::clone(&embedder);
        let service = knowledge::Service::new(ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: Retriever::new(store.clone(), Arc::new(move || of_search.get(&soon()))),
            vectors: Vectors::new(store, embedder),
            pool: None,
            llm: None,
            uploads: folder.path().join("uploads").into(),
            settings: knowledge::KnowledgeConfig::default(),
            clock,
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue).unwrap();
        Fixture { service, queue, _workers: workers, _folder: folder }
    }

    fn add(&self, caller: &Caller, visibility: Visibility, text: &str) {
        let new = NewBase { name: "Base".to_owned(), visibility, ..NewBase::default() };
        let base = self.service.create_base(caller, &new).unwrap();
        let new = NewCollection { name: "All".to_owned(), ..NewCollection::default() };
        let collection = self.service.create_collection(caller, &base.id, &new).unwrap();
        let document = NewDocument::text("Rules", text);
        let accepted = self.service.add_documents(caller, &collection.id, vec![document]).unwrap();
        self.queue.wait(&accepted.job.id, &soon()).unwrap();
    }
}

#[test]
fn knowledge_bases_are_searched_together_and_only_for_their_tenant() {
    let world = Fixture::new();
    let (ann, eve) = (member("acme"), member("other"));
    let notes = "Remote work is allowed on three days a week, when the manager agrees before.";
    world.add(&ann, Visibility::Private, notes);
    world.add(&ann, Visibility::Private, "The canteen serves soup on Mondays.");
    world.add(&eve, Visibility::Public, "Remote work is for nobody at all, says the other side.");
    let service = Service::new(vec![
        Box::new(KnowledgeBases::new(world.service.clone())),
        fixed("notes", &[(notes, 0.01)]),
    ]);
    let Findings { results: merged, warnings, .. } =
        service.search(&ann, "remote work", 10, &soon());
    assert_eq!(merged.len(), 1, "{merged:?}");
    assert!(warnings.iter().all(|warning| warning.code != "no_results"));
    assert_eq!((merged[0].source, merged[0].hit.title.as_str()), ("knowledge", "Rules"));
    assert_eq!(merged[0].duplicates[0].source, "notes");
    assert!(matches!(merged[0].hit.explanation, Some(Explanation::Passage(_))));
    let (_, fetched) = service.fetch(&ann, &merged[0].id, &WHOLE).unwrap();
    assert_eq!(fetched.text.trim(), notes);
    let refused = service.fetch(&eve, &merged[0].id, &WHOLE).unwrap_err();
    assert!(matches!(refused, Error::NotFound { .. }));
    let bob = Caller { subject: "bob".to_owned(), ..member("acme") };
    assert!(service.fetch(&bob, &merged[0].id, &WHOLE).is_err());
    let found = texts(&service, &bob, "remote work");
    assert_eq!(found, [notes]);
}
