//! Proves how often a search asks the servers below it: a hybrid search over PostgreSQL and Qdrant
//! makes a fixed number of requests, whatever is asked for and however many namespaces it reads.

use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply};
use testkit::{Protocol, Proxy, Request};

use super::{Bed, Collection, Member, start_in};

/// Requests to PostgreSQL that a search of one namespace makes at most.
const TO_POSTGRES: usize = 14;
/// Requests to PostgreSQL that every further namespace adds at most.
const TO_POSTGRES_FOR_EACH_MORE: usize = 8;
/// Requests to Qdrant for each namespace: the nearest, and how near those are that only words found.
const TO_QDRANT: usize = 2;
/// A search is made so often, and the fewest requests count: others are in the background.
const N_TRIES: usize = 12;

const WORDS: [&str; 6] = ["harbour", "tram", "castle", "river", "bridge", "market"];

/// Gives vectors that have nothing to do with the words of a text, so that each side finds candidates
/// which the other does not.
fn embedder() -> Loopback {
    Loopback::start(|request| {
        let texts = request.json()["input"].as_array().cloned().unwrap_or_default();
        let vector = |text: &Value| {
            let bytes = text.as_str().unwrap_or_default().bytes();
            let mut sum =
                bytes.fold(1_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte) % 97);
            json!(WORDS.map(|_| {
                sum = sum.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(sum >> 16) - 32_768.0
            }))
        };
        let data: Vec<Value> = (0..)
            .zip(&texts)
            .map(|(index, text)| json!({ "index": index, "embedding": vector(text) }))
            .collect();
        Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
    })
}

/// Servers behind proxies that count.
struct Counted {
    member: Member,
    postgres: Proxy,
    qdrant: Proxy,
    // Ended after the server.
    _embedder: Loopback,
    _bed: Bed,
}

impl Counted {
    fn start() -> Option<Self> {
        let mut bed = Bed::qdrant(1)?;
        let postgres = Proxy::counting(bed.postgres.port(), Protocol::Postgres);
        let peer = bed.qdrant.as_ref()?.urls()[0].rsplit(':').next()?.parse().ok()?;
        let qdrant = Proxy::counting(peer, Protocol::Grpc);
        let at = |port: u16| format!("postgres://postgres@127.0.0.1:{port}/postgres");
        bed.postgres_url = Some(at(postgres.port()));
        bed.qdrant_urls = Some(vec![format!("http://127.0.0.1:{}", qdrant.port())]);
        let embedder = embedder();
        let model = format!(
            "provider = \"http\"\napi = \"openai\"\nmodel = \"words\"\nbase_url = \"{}\"",
            embedder.url("")
        );
        let folder = testkit::Folder::new();
        folder.write("dowse.toml", bed.config().replace("provider = \"none\"", &model));
        let member = Member { server: start_in(&folder), folder };
        Some(Counted { member, postgres, qdrant, _embedder: embedder, _bed: bed })
    }

    /// Gives the fewest requests to PostgreSQL and to Qdrant that a search makes.
    fn fewest(&self, collection: &Collection, max_results: usize) -> (usize, usize) {
        let path = format!("/v1/knowledge-bases/{}/search", collection.base);
        let query = "the tram from the harbour to the castle";
        let body = json!({ "query": query, "threshold": 0.0, "max_results": max_results });
        let counts = || (self.postgres.n_requests(), self.qdrant.n_requests());
        let tries = (0..N_TRIES).map(|_| {
            let before = counts();
            let answer = self.member.http().send(&Request::new("POST", &path).json(&body));
            assert_eq!(answer.status, 200, "{}", answer.text());
            let results = answer.json()["results"].as_array().map_or(0, Vec::len);
            assert_eq!(results, max_results, "{}", answer.text());
            let after = counts();
            (after.0 - before.0, after.1 - before.1)
        });
        let tries: Vec<(usize, usize)> = tries.collect();
        let fewest = |of: fn(&(usize, usize)) -> usize| tries.iter().map(of).min().unwrap();
        (fewest(|one| one.0), fewest(|one| one.1))
    }
}

#[test]
fn a_hybrid_search_makes_a_fixed_number_of_requests() {
    let Some(counted) = Counted::start() else { return };
    let member = &counted.member;
    let collection = member.collection();
    let fill = |collection: &str| {
        let ids: Vec<String> = (0..70)
            .map(|n| {
                let word = |step: usize| WORDS[(n * step + n / 6) % WORDS.len()];
                let text = format!("Number {n}: {}, {} and {}.", word(1), word(2), word(3));
                let path = format!("/v1/collections/{collection}/documents");
                let document = json!({ "title": format!("t{n}"), "text": text });
                let made = member.http().post_json(&path, &document);
                assert_eq!(made.status, 202, "{}", made.text());
                made.json()["id"].as_str().unwrap().to_owned()
            })
            .collect();
        member.wait_until_ready(&ids);
    };
    let settle = || {
        let path = format!("/v1/knowledge-bases/{}/search", collection.base);
        let body = json!({ "query": "tram", "threshold": 0.0 });
        member.wait_until("vectors are missing, or words are not in memory", || {
            let answer = member.http().post_json(&path, &body).text();
            let before = counted.qdrant.n_requests();
            member.http().post_json(&path, &body);
            let is_in_memory = counted.qdrant.n_requests() - before <= 4 * TO_QDRANT;
            is_in_memory && !answer.contains("vector") && !answer.contains("indexed")
        });
    };
    // More passages than a search by vector lists, so that it is asked how near the others are.
    let paragraph = |n: usize| {
        let words: Vec<&str> = (0..70).map(|at| WORDS[(at * (1 + n % 5) + n) % 6]).collect();
        format!("Paragraph {n}: {}.", words.join(" "))
    };
    let long: Vec<String> = (0..700).map(paragraph).collect();
    let long = member.add(&collection, "long", &long.join("\n\n"));
    fill(&collection.id);
    member.wait_until_ready(&[long]);
    settle();
    for max_results in [1, 10, 50] {
        let (to_postgres, to_qdrant) = counted.fewest(&collection, max_results);
        eprintln!("{max_results} results: {to_postgres} to PostgreSQL, {to_qdrant} to Qdrant");
        assert!(to_postgres <= TO_POSTGRES, "{to_postgres} for {max_results} results");
        assert_eq!(to_qdrant, TO_QDRANT, "for {max_results} results");
    }

    // Departments have namespaces of their own.
    let n_more = 3;
    for department in 0..n_more {
        let path = format!("/v1/knowledge-bases/{}/collections", collection.base);
        let name = format!("d{department}");
        let body = json!({ "name": name, "department": name });
        let made = member.http().post_json(&path, &body);
        assert_eq!(made.status, 201, "{}", made.text());
        fill(made.json()["id"].as_str().unwrap());
    }
    settle();
    let (to_postgres, to_qdrant) = counted.fewest(&collection, 50);
    eprintln!("{} namespaces: {to_postgres} to PostgreSQL, {to_qdrant} to Qdrant", n_more + 1);
    assert!(to_postgres <= TO_POSTGRES + n_more * TO_POSTGRES_FOR_EACH_MORE, "{to_postgres}");
    assert!(to_qdrant <= TO_QDRANT * (n_more + 1), "{to_qdrant}");
}
