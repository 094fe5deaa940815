//! What the server acknowledged, and whether it still knows.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use testkit::{Http, Request, Response};

use super::Random;
use super::site::Site;

/// How long the server may take to index what it acknowledged, after a fault.
const SETTLE: Duration = Duration::from_secs(120);

/// How often a waiting comparison looks again.
const POLL: Duration = Duration::from_millis(100);

/// With so many documents one goes for each that would come.
const MAX_DOCUMENTS: usize = 100;

/// What a document must say.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    /// One of these words; more than one after changes that were not answered, or at the same time.
    OneOf(Vec<String>),
    /// Nothing: it was deleted.
    Gone,
    /// Deleted or not: the deletion was not answered.
    Unknown(Vec<String>),
}

/// The model of what was acknowledged.
pub(crate) struct Ledger {
    base: String,
    collection: String,
    documents: BTreeMap<String, Expected>,
    n_words: u64,
    n_acknowledged: u64,
}

impl Ledger {
    /// Makes a knowledge base with a collection.
    pub(crate) fn new(site: &Site) -> anyhow::Result<Ledger> {
        let http = site.http()?;
        let base = id_of(&http.post_json("/v1/knowledge-bases", &json!({ "name": "chaos" })))?;
        let path = format!("/v1/knowledge-bases/{base}/collections");
        let collection = id_of(&http.post_json(&path, &json!({ "name": "all" })))?;
        Ok(Ledger { base, collection, documents: BTreeMap::new(), n_words: 0, n_acknowledged: 0 })
    }

    pub(crate) fn n_acknowledged(&self) -> u64 {
        self.n_acknowledged
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Asks for something, whatever is found: the answer must come.
    pub(crate) fn search(&self, http: &Http) -> anyhow::Result<()> {
        let path = format!("/v1/knowledge-bases/{}/search", self.base);
        let body = json!({ "query": "the word of this document", "threshold": 0.0 });
        let answer = send(http, &Request::new("POST", &path).json(&body));
        let answer = answer.context("the server does not answer")?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(())
    }

    /// Makes one change, and writes down what came of it. A server that does not answer leaves
    /// the change in doubt.
    pub(crate) fn change(&mut self, http: &Http, random: &mut Random) {
        let known: Vec<String> = self
            .documents
            .iter()
            .filter(|(_, expected)| matches!(expected, Expected::OneOf(_)))
            .map(|(id, _)| id.clone())
            .collect();
        match random.below(10) {
            // Each round looks at all of them, and the disk is small.
            0..=4 if known.len() >= MAX_DOCUMENTS => {
                self.delete(http, &known[random.below(known.len())]);
            }
            0..=4 => self.add(http),
            _ if known.is_empty() => self.add(http),
            5 | 6 => self.replace(http, &known[random.below(known.len())]),
            7 | 8 => self.replace_twice(http, &known[random.below(known.len())]),
            _ => self.delete(http, &known[random.below(known.len())]),
        }
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, http: &Http) {
        let word = self.word();
        let path = format!("/v1/collections/{}/documents", self.collection);
        let body = json!({ "title": word, "text": text(&word) });
        let answered = send(http, &Request::new("POST", &path).json(&body));
        // A document of which nobody was told may be there or not: nobody asks for it.
        if let Some(id) = answered.filter(is_accepted).and_then(|answer| id_of(&answer).ok()) {
            self.n_acknowledged += 1;
            self.documents.insert(id, Expected::OneOf(vec![word]));
        }
    }

    fn replace(&mut self, http: &Http, id: &str) {
        let word = self.word();
        let body = json!({ "title": word, "text": text(&word) });
        let path = format!("/v1/documents/{id}");
        let answered = send(http, &Request::new("PUT", &path).json(&body));
        self.replaced(id, vec![(word, answered)]);
    }

    /// Two changes of one document at the same time: an acknowledged one must win.
    fn replace_twice(&mut self, http: &Http, id: &str) {
        let words = [self.word(), self.word()];
        let path = format!("/v1/documents/{id}");
        let answers: Vec<(String, Option<Response>)> = thread::scope(|scope| {
            let sent: Vec<_> = words
                .iter()
                .map(|word| {
                    let body = json!({ "title": word, "text": text(word) });
                    let request = Request::new("PUT", &path).json(&body);
                    scope.spawn(move || send(http, &request))
                })
                .collect();
            let answers = sent.into_iter().map(|sent| sent.join().unwrap_or(None));
            words.iter().cloned().zip(answers).collect()
        });
        self.replaced(id, answers);
    }

    fn replaced(&mut self, id: &str, answers: Vec<(String, Option<Response>)>) {
        let Some(Expected::OneOf(before)) = self.documents.get(id).cloned() else { return };
        let n_accepted =
            answers.iter().filter(|(_, answer)| answer.as_ref().is_some_and(is_accepted)).count();
        // What was refused never happened; what was not answered may have.
        let mut possible: Vec<String> = answers
            .into_iter()
            .filter(|(_, answer)| answer.as_ref().is_none_or(is_accepted))
            .map(|(word, _)| word)
            .collect();
        if n_accepted == 0 {
            possible.extend(before);
        }
        self.n_acknowledged += n_accepted as u64;
        self.documents.insert(id.to_owned(), Expected::OneOf(possible));
    }

    fn delete(&mut self, http: &Http, id: &str) {
        let Some(Expected::OneOf(words)) = self.documents.get(id).cloned() else { return };
        let answered = send(http, &Request::new("DELETE", &format!("/v1/documents/{id}")));
        let expected = match answered {
            Some(answer) if is_accepted(&answer) => {
                self.n_acknowledged += 1;
                Expected::Gone
            }
            Some(_) => Expected::OneOf(words),
            None => Expected::Unknown(words),
        };
        self.documents.insert(id.to_owned(), expected);
    }

    /// Compares what the server knows with what it acknowledged.
    pub(crate) fn compare(&mut self, site: &Site) -> anyhow::Result<String> {
        let http = site.http()?;
        let started = Instant::now();
        loop {
            match self.compare_now(&http) {
                Ok(line) => return Ok(line),
                Err(error) if started.elapsed() > SETTLE => return Err(error),
                Err(_) => thread::sleep(POLL),
            }
        }
    }

    fn compare_now(&mut self, http: &Http) -> anyhow::Result<String> {
        let mut n_found = 0;
        let mut settled = Vec::new();
        for (id, expected) in &self.documents {
            let answer = send(http, &Request::new("GET", &format!("/v1/documents/{id}")));
            let answer = answer.context("the server does not answer")?;
            match (expected, answer.status) {
                (Expected::Gone | Expected::Unknown(_), 404) => {
                    settled.push((id.clone(), Expected::Gone))
                }
                (Expected::Gone, status) => bail!("deleted document `{id}` answers {status}"),
                (Expected::OneOf(words) | Expected::Unknown(words), 200) => {
                    let status = answer.json()["status"].as_str().unwrap_or_default().to_owned();
                    ensure!(status == "ready", "document `{id}` is `{status}`: {}", answer.text());
                    let word = self.found_word(http, id, words)?;
                    settled.push((id.clone(), Expected::OneOf(vec![word])));
                    n_found += 1;
                }
                (Expected::OneOf(words), status) => {
                    bail!("acknowledged document `{id}` ({words:?}) answers {status}")
                }
                (Expected::Unknown(_), status) => bail!("document `{id}` answers {status}"),
            }
        }
        self.documents = settled.into_iter().collect();
        // Deleted ones were compared once; the list stays short.
        self.documents.retain(|_, expected| *expected != Expected::Gone);
        Ok(format!("{n_found} documents as acknowledged"))
    }

    /// Gives which of the words a search finds in the document.
    fn found_word(&self, http: &Http, id: &str, words: &[String]) -> anyhow::Result<String> {
        for word in words {
            let path = format!("/v1/knowledge-bases/{}/search", self.base);
            let body = json!({ "query": word, "threshold": 0.0, "max_results": 5 });
            let answer = send(http, &Request::new("POST", &path).json(&body));
            let answer = answer.context("the server does not answer")?;
            let found = answer.json()["results"].as_array().cloned().unwrap_or_default();
            let is_found = found.iter().any(|result| {
                result["metadata"]["document_id"] == *id
                    && result["content"].as_str().is_some_and(|text| text.contains(word.as_str()))
            });
            if is_found {
                return Ok(word.clone());
            }
        }
        bail!("no search finds document `{id}` by one of {words:?}")
    }

    fn word(&mut self) -> String {
        self.n_words += 1;
        // Letters only, so that no analyser takes it apart.
        let mut n = self.n_words;
        let mut word = String::from("chaos");
        while n > 0 {
            word.push(char::from(b'b' + u8::try_from(n % 20).unwrap_or(0)));
            n /= 20;
        }
        word + "zq"
    }
}

fn text(word: &str) -> String {
    format!("The word of this document is {word}. It says nothing else of interest.")
}

fn is_accepted(answer: &Response) -> bool {
    (200..300).contains(&answer.status)
}

fn id_of(answer: &Response) -> anyhow::Result<String> {
    let value: Value = serde_json::from_slice(&answer.body)?;
    Ok(value["id"].as_str().with_context(|| format!("no id in {value}"))?.to_owned())
}

/// Sends a request to a server that may die meanwhile; no answer is nothing.
pub(crate) fn send(http: &Http, request: &Request) -> Option<Response> {
    let raw = http.exchange(&request.bytes(http.authority())).ok()?;
    testkit::parse_response(&raw)
}
