//! The read path from outside: what is found, in which order, and what happens when a part fails.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use infer::{Embedder, EmbedderId, ModelState, Reranker};
use model::{Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Score, Span};
use model::{Stage, Timestamp};
use retrieve::{Grouping, Pipeline, Request, Response, Retriever, Scope};
use store::{Config, Document, Filter, Manifest, Store, TurbopufferConfig, VectorSpace};
use testkit::turbopuffer::TurbopufferServer;

const DIMENSIONS: usize = 64;

/// Maps each word to a direction, so that texts that share words are near.
struct WordBag {
    id: EmbedderId,
    fails: bool,
    n_calls: AtomicUsize,
}

impl WordBag {
    fn new(fails: bool) -> Arc<Self> {
        let id = EmbedderId::new("word-bag", "1");
        Arc::new(WordBag { id, fails, n_calls: AtomicUsize::new(0) })
    }

    fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.01; DIMENSIONS];
        for word in text.to_lowercase().split(|char: char| !char.is_alphanumeric()) {
            let sum: usize = word.bytes().map(usize::from).sum();
            vector[sum % DIMENSIONS] += 1.0;
        }
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / norm).collect()
    }
}

impl Embedder for WordBag {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn embed_query(&self, query: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(infer::Error::NoTokenVectors { embedder: self.id.to_string() });
        }
        Ok(WordBag::vector(query))
    }

    fn embed_passages(&self, passages: &[&str], _: &Deadline) -> infer::Result<Vec<Vec<f32>>> {
        Ok(passages.iter().map(|text| WordBag::vector(text)).collect())
    }
}

/// Likes short passages.
struct ShortFirst {
    id: EmbedderId,
    fails: bool,
}

impl Reranker for ShortFirst {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn score(&self, _: &str, passages: &[&str], _: &Deadline) -> infer::Result<Vec<f32>> {
        if self.fails {
            return Ok(vec![]);
        }
        Ok(passages.iter().map(|text| 1.0 / (1.0 + text.len() as f32)).collect())
    }
}

struct Bed {
    store: Arc<Store>,
    _folder: tempfile::TempDir,
}

const TEXTS: [(&str, &str, &str); 6] = [
    ("roof", "Roofs", "A red roof needs new tiles. The tiles come from the old factory."),
    ("wall", "Walls", "The wall is red. It holds no roof at all, only ivy."),
    ("garden", "Gardens", "Insulation of the greenhouse keeps tomatoes warm in winter."),
    ("river", "Rivers", "The river freezes in January and thaws in March."),
    ("school", "Școala", "Școlile din județ au primit fonduri pentru mobilier nou."),
    ("tea", "お茶", "緑茶は七十度の湯で淹れると甘みが出ます。"),
];

fn bed() -> Bed {
    bed_over(|folder, clock| {
        let config = Config::for_one_machine();
        Arc::new(Store::open(folder, &config, clock).unwrap())
    })
}

fn document(id: &str, title: &str, text: &str) -> Document {
    Document {
        id: DocumentId::new(id),
        title: title.to_owned(),
        attributes: [("ext".to_owned(), if id == "wall" { ".md" } else { ".txt" }.into())].into(),
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

fn bed_over(open: impl FnOnce(&Path, Clock) -> Arc<Store>) -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Clock::fixed(Timestamp(0)));
    let namespace = NamespaceId::new("notes");
    let space = VectorSpace { embedder: "word-bag@1".to_owned(), dimensions: DIMENSIONS };
    store.create_namespace(&namespace, &Manifest::current(Some(space))).unwrap();
    let documents: Vec<Document> =
        TEXTS.iter().map(|(id, title, text)| document(id, title, text)).collect();
    store.upsert(&namespace, &documents).unwrap();
    let vectors: Vec<_> = TEXTS
        .iter()
        .map(|(id, _, text)| (PassageId::new(format!("{id}#0")), WordBag::vector(text)))
        .collect();
    store.set_vectors(&namespace, &vectors).unwrap();
    Bed { store, _folder: folder }
}

impl Bed {
    fn words_alone(&self) -> Retriever {
        Retriever::new(self.store.clone(), Arc::new(|| Err(ModelState::Off)))
    }

    fn with(&self, embedder: Arc<WordBag>) -> Retriever {
        let source = move || Ok(embedder.clone() as Arc<dyn Embedder>);
        Retriever::new(self.store.clone(), Arc::new(source))
    }
}

fn ask(retriever: &Retriever, query: &str) -> Response {
    let scope = Scope { namespace: NamespaceId::new("notes"), filter: Filter::All };
    let request = Request {
        query,
        scopes: &[scope],
        limit: 10,
        offset: 0,
        threshold: None,
        grouping: Grouping::Documents,
        pipeline: &Pipeline::default(),
        deadline: &Deadline::after(Duration::from_secs(60)),
    };
    retriever.search(&request).unwrap()
}

fn documents(response: &Response) -> Vec<&str> {
    response.hits.iter().map(|ranked| ranked.hit.document.as_str()).collect()
}

fn codes(response: &Response) -> Vec<&str> {
    response.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

#[test]
fn an_engine_far_away_gives_the_same_hits_and_is_asked_once() {
    let server = TurbopufferServer::start();
    let far = bed_over(|folder, clock| {
        let settings = TurbopufferConfig {
            base_url: Some(server.url()),
            region: None,
            key: infer::Secret::new(server.key()),
            namespace_prefix: String::new(),
        };
        let config = Config::for_one_machine();
        Arc::new(Store::open_with_turbopuffer(folder, &config, &settings, clock).unwrap())
    });
    let near = bed();
    for query in
        ["red roof", "warm tomatoes", "scoli", "緑茶", "\"red roof\" tiles", "ext:.md red", "zzz"]
    {
        let here = ask(&near.with(WordBag::new(false)), query);
        let n_before = server.requests().len();
        let there = ask(&far.with(WordBag::new(false)), query);
        let asked = server.requests().split_off(n_before);
        let of_both = |request: &testkit::loopback::Seen| {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            (body.contains("\"ANN\""), body.contains("\"BM25\""))
        };
        let n_ann = asked.iter().filter(|request| of_both(request).0).count();
        assert_eq!(n_ann, 1, "{query}");
        if query != "zzz" {
            assert!(asked.iter().any(|request| of_both(request) == (true, true)), "{query}");
        }
        assert_eq!(here.hits.len(), there.hits.len(), "{query}");
        for one in &here.hits {
            // Vectors are rounded differently, so that hits which say nothing may change places.
            let is_same = |other: &&retrieve::Ranked| other.hit.document == one.hit.document;
            let other = there.hits.iter().find(is_same).unwrap();
            let difference = one.hit.score.get() - other.hit.score.get();
            assert!(difference.abs() < 0.02, "{query}: {one:?} {other:?}");
        }
        if query != "zzz" {
            assert_eq!(documents(&here).first(), documents(&there).first(), "{query}");
        }
        assert_eq!(codes(&here), codes(&there), "{query}");
    }
    assert_eq!(documents(&ask(&far.words_alone(), "tiles")), ["roof"]);
}

#[test]
fn the_query_syntax_reaches_the_index() {
    let retriever = bed();
    let retriever = retriever.words_alone();
    let check = |query: &str, expected: &[&str], warnings: &[&str]| {
        let response = ask(&retriever, query);
        assert_eq!(documents(&response), expected, "{query}");
        assert_eq!(codes(&response), warnings, "{query}");
    };
    check("red roof", &["roof", "wall"], &[]);
    check("\"red roof\"", &["roof"], &[]);
    check("roof -tiles", &["wall"], &[]);
    check("insul*", &["garden"], &[]);
    check("roof ext:md", &["wall"], &[]);
    check("roof -ext:md", &["roof"], &[]);
    let either = ask(&retriever, "\"red roof\" OR river");
    let mut found = documents(&either);
    assert_eq!(found[0], "roof");
    found.sort_unstable();
    assert_eq!(found, ["river", "roof", "wall"]);
    check("\"red roof", &["roof", "wall"], &["query_syntax"]);
    check("scolilor", &["school"], &[]);
    check("緑茶の湯", &["tea"], &[]);
    check("", &[], &[]);
}

#[test]
fn a_typing_error_is_mended_when_words_find_nothing() {
    let bed = bed();
    let response = ask(&bed.words_alone(), "insulaton greenhuose");
    assert_eq!(documents(&response), ["garden"]);
    assert_eq!(codes(&response), ["query_corrected"]);
    assert!(ask(&bed.words_alone(), "xylophone").hits.is_empty());
    let response = ask(&bed.with(WordBag::new(false)), "greenhuose");
    assert_eq!(documents(&response)[0], "garden");
    assert_eq!(codes(&response), ["query_corrected"]);
}

/// `"zzyzx"` found a file that says `zzyzz`, and what a mended query left out came back.
#[test]
fn what_is_in_quotes_or_left_out_is_not_mended() {
    let bed = bed();
    let check = |query: &str, expected: &[&str]| {
        let response = ask(&bed.words_alone(), query);
        assert_eq!(documents(&response), expected, "{query}");
    };
    check("greenhuose", &["garden"]);
    check("\"greenhuose\"", &[]);
    check("\"insulaton greenhuose\"", &[]);
    check("insulaton \"greenhuose\"", &[]);
    check("insulaton AND \"greenhuose\"", &[]);
    check("\"greenhuose\" OR \"insulaton\"", &[]);
    check("greenhuose -insulation", &[]);
    check("greenhuose -\"thick insulation\"", &["garden"]);
    check("greenhuose insul*", &["garden"]);
    check("greenhuose xylo*", &[]);
}

/// `recipe for pancakes` became `rece` over Romanian rules, and found the one about cold radiators
/// over the threshold: one word of a query about something else is like some word by chance.
#[test]
fn a_word_is_mended_only_where_half_of_them_are() {
    let bed = bed();
    let mended = ask(&bed.words_alone(), "greenhuose");
    assert_eq!(documents(&mended), ["garden"]);
    let typed = ask(&bed.words_alone(), "greenhouse");
    assert!(mended.hits[0].hit.score < typed.hits[0].hit.score);
    let response = ask(&bed.words_alone(), "greenhuose trumpets xylophones");
    assert!(response.hits.is_empty() && codes(&response).is_empty(), "{response:?}");
}

/// A password was written out in the warning about a misspelt word, and `453*` told a card digit by
/// digit.
#[test]
fn what_answers_hide_is_found_whole_or_not_at_all() {
    let bed = bed();
    let texts = [
        "The card 4539 5787 6362 1486 paid for the hotel; write to anna.miller@example.org. \
         The password: Tr0ub4dor&3xyz opens the booking page. The other password:",
        "Zebra9Quagga is for the archive.",
    ];
    let passages = (0..).zip(texts).map(|(ordinal, text)| Passage {
        id: PassageId::new(format!("card#{ordinal}")),
        ordinal,
        text: text.to_owned(),
        span: Span::new(ordinal as usize * 500, ordinal as usize * 500 + text.chars().count()),
        pointer: Pointer::Line(1),
        headings: vec![],
    });
    let document = Document {
        id: DocumentId::new("card"),
        title: "Expenses".to_owned(),
        attributes: [].into(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: passages.collect(),
    };
    bed.store.upsert(&NamespaceId::new("notes"), &[document]).unwrap();
    let retriever = bed.words_alone();
    for part in [
        "4539",
        "453*",
        "4537",
        "5787 6362",
        "4539 5787 6362 1",
        "miller",
        "mill*",
        "miler",
        "Tr0ub4dor",
        "Tr0ub*",
        "Tr0ub4dir",
        "3xyz",
    ] {
        let response = ask(&retriever, part);
        assert!(response.hits.is_empty() && codes(&response).is_empty(), "{part}: {response:?}");
    }
    // The word is in the next passage, and yet it is put in the place of no other.
    assert!(codes(&ask(&retriever, "Zebra9Quaggo")).is_empty());
    let score = |query: &str| ask(&retriever, query).hits[0].hit.score;
    assert_eq!(score("hotel 4539"), score("hotel 4540"));
    assert_eq!(score("booking Tr0ub4dor"), score("booking Tr0ub4dar"));
    for whole in ["4539-5787-6362-1486", "4539578763621486", "anna.miller@example.org"] {
        assert_eq!(documents(&ask(&retriever, whole)), ["card"], "{whole}");
    }
}

/// `tiles` is in a text file only: the filter emptied the answer, not a typing error, and yet the
/// query became `till`.
#[test]
fn a_word_that_only_the_filter_keeps_out_is_not_mended() {
    let bed = bed();
    let response = ask(&bed.words_alone(), "tiles ext:md");
    assert!(response.hits.is_empty() && codes(&response).is_empty(), "{response:?}");
    let response = ask(&bed.words_alone(), "tilse ext:txt");
    assert_eq!(codes(&response), ["query_corrected"]);
}

#[test]
fn hits_fall_by_score_and_say_why() {
    let bed = bed();
    for retriever in [bed.words_alone(), bed.with(WordBag::new(false))] {
        let response = ask(&retriever, "red roof tiles");
        let scores: Vec<Score> = response.hits.iter().map(|ranked| ranked.hit.score).collect();
        assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
        let first = &response.hits[0];
        assert_eq!(first.hit.document.as_str(), "roof");
        assert_eq!(first.hit.explanation.exact, ["red", "roof", "tiles"]);
        assert!(first.hit.explanation.stage(Stage::Sparse).is_some());
        assert!(first.hit.explanation.stage(Stage::Rrf).unwrap() <= 1.0);
        let snippet = first.snippet();
        assert_eq!(snippet.text, first.passage.passage.text);
        for found in &snippet.matches {
            let text = snippet.text.chars();
            let word: String = text.skip(found.start).take(found.end - found.start).collect();
            assert!(["red", "roof", "tiles"].contains(&word.as_str()), "{word}");
        }
        // The same question twice is the same answer.
        assert_eq!(response.hits, ask(&retriever, "red roof tiles").hits);
    }
    let folded = &ask(&bed.words_alone(), "scolile").hits[0].hit.explanation;
    assert_eq!((folded.exact.len(), folded.folded.len()), (0, 1));
}

#[test]
fn a_model_that_fails_is_skipped_and_then_left_alone() {
    let bed = bed();
    let embedder = WordBag::new(true);
    let retriever = bed.with(embedder.clone());
    for _ in 0..5 {
        let response = ask(&retriever, "red roof");
        assert_eq!(documents(&response), ["roof", "wall"]);
        assert_eq!(codes(&response), ["model_broken"]);
    }
    let response = ask(&retriever, "red roof");
    assert_eq!(documents(&response), ["roof", "wall"]);
    assert_eq!(codes(&response), ["circuit_open"]);
    assert_eq!(embedder.n_calls.load(Ordering::Relaxed), 5);
}

/// Does nothing until its time is over.
struct Hanging(EmbedderId);

impl Hanging {
    fn until(deadline: &Deadline) -> infer::Error {
        while !deadline.is_over() {
            std::thread::sleep(Duration::from_millis(5));
        }
        infer::Error::NoTokenVectors { embedder: "hanging".to_owned() }
    }
}

impl Embedder for Hanging {
    fn id(&self) -> &EmbedderId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn embed_query(&self, _: &str, deadline: &Deadline) -> infer::Result<Vec<f32>> {
        Err(Hanging::until(deadline))
    }

    fn embed_passages(&self, _: &[&str], deadline: &Deadline) -> infer::Result<Vec<Vec<f32>>> {
        Err(Hanging::until(deadline))
    }
}

/// No pair of characters of the question is in the rule, and it found nothing.
#[test]
fn single_characters_find_what_pairs_do_not() {
    let bed = bed();
    let lock = document("lock", "", "更换门锁的费用由房东支付。");
    bed.store.upsert(&NamespaceId::new("notes"), &[lock]).unwrap();
    let retriever = bed.words_alone();
    let response = ask(&retriever, "换锁谁付钱");
    assert_eq!(documents(&response), ["lock"]);
    assert!(ask(&retriever, "猫粮").hits.is_empty());
    // A pair that is there leaves single characters alone.
    assert_eq!(ask(&retriever, "门锁坏了").hits[0].hit.explanation.exact, ["门锁"]);
}

/// Vectors of another model with as many dimensions were compared with the query's until a server had
/// made them anew.
#[test]
fn vectors_of_another_model_say_nothing() {
    let bed = bed();
    let other = Arc::new(WordBag {
        id: EmbedderId::new("other-bag", "1"),
        fails: false,
        n_calls: AtomicUsize::new(0),
    });
    let retriever = bed.with(other);
    let by_words = ask(&bed.words_alone(), "red roof");
    let response = ask(&retriever, "red roof");
    let scores = |response: &Response| -> Vec<_> {
        response.hits.iter().map(|one| (one.hit.document.clone(), one.hit.score)).collect()
    };
    assert_eq!(scores(&response), scores(&by_words));
}

/// Where the vectors of the first candidates cannot be made, the answer is by words and says so, and
/// after five failures nobody tries for a while.
#[test]
fn candidates_whose_vectors_cannot_be_made_are_judged_by_words() {
    let bed = bed();
    let barn = document("barn", "Barn", "The barn has a red roof.");
    bed.store.upsert(&NamespaceId::new("notes"), &[barn]).unwrap();
    let n_tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_tries);
    let retriever =
        bed.with(WordBag::new(false)).with_passage_vectors(Arc::new(move |_, _, _, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(infer::Error::OutOfTime { doing: "running the model", n_done: 0, n_asked: 2 })
        }));
    let score = |response: &Response| {
        let barn = response.hits.iter().find(|ranked| ranked.hit.document.as_str() == "barn");
        barn.unwrap().hit.score
    };
    let by_words = score(&ask(&bed.words_alone(), "red roof"));
    for _ in 0..7 {
        let response = ask(&retriever, "red roof");
        assert_eq!(score(&response), by_words);
        assert_eq!(codes(&response), ["degraded"]);
        let stage = response.timings.iter().find(|timing| timing.stage == "embed_candidates");
        assert!(stage.is_some_and(|stage| stage.skipped.is_some()), "{:?}", response.timings);
    }
    assert_eq!(n_tries.load(Ordering::Relaxed), 5);
}

/// The vector of the query took all the time there was, and nothing was answered.
#[test]
fn a_model_that_hangs_leaves_time_for_words() {
    let bed = bed();
    let embedder: Arc<dyn Embedder> = Arc::new(Hanging(EmbedderId::new("word-bag", "1")));
    let source = move || Ok(Arc::clone(&embedder));
    let retriever = Retriever::new(Arc::clone(&bed.store), Arc::new(source));
    let deadline = Deadline::after(Duration::from_secs(4));
    let scope = Scope { namespace: NamespaceId::new("notes"), filter: Filter::All };
    let response = retriever
        .search(&Request {
            query: "red roof",
            scopes: &[scope],
            limit: 5,
            offset: 0,
            threshold: None,
            grouping: Grouping::Documents,
            pipeline: &Pipeline::default(),
            deadline: &deadline,
        })
        .unwrap();
    assert!(!deadline.is_over(), "the answer came after its time");
    assert!(documents(&response).contains(&"roof"), "{response:?}");
    assert!(!response.warnings.is_empty());
}

#[test]
fn a_cross_encoder_takes_the_place_of_the_builtin_one() {
    let bed = bed();
    let id = EmbedderId::new("short-first", "1");
    let works = Arc::new(ShortFirst { id: id.clone(), fails: false });
    let retriever = bed.words_alone().with_reranker(works);
    assert_eq!(documents(&ask(&retriever, "red roof")), ["wall", "roof"]);
    let broken = bed.words_alone().with_reranker(Arc::new(ShortFirst { id, fails: true }));
    let response = ask(&broken, "red roof");
    assert_eq!(documents(&response), ["roof", "wall"]);
    assert_eq!(codes(&response), ["rerank_skipped"]);
}

#[test]
fn a_threshold_applies_to_the_last_score() {
    let bed = bed();
    let scope = Scope { namespace: NamespaceId::new("notes"), filter: Filter::All };
    let request = Request {
        query: "new tiles from the old factory",
        scopes: &[scope],
        limit: 10,
        offset: 0,
        threshold: Some(Score::new(0.6)),
        grouping: Grouping::Documents,
        pipeline: &Pipeline::default(),
        deadline: &Deadline::after(Duration::from_secs(60)),
    };
    let response = bed.words_alone().search(&request).unwrap();
    assert_eq!(documents(&response), ["roof"]);
}
