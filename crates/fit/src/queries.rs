//! Queries of different kinds out of a judged set: questions, titles, one or two words, function
//! words, and queries of other sets that this one does not answer.

use std::collections::BTreeSet;

use retrieve::eval::{Dataset, JudgedQuery};
use serde::{Deserialize, Serialize};
use text::{Analyzer, LanguageSet, content_weight, detect_language};

/// What a query is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// As the set has it.
    Judged,
    /// The title of a document.
    Title,
    /// One or two words of a judged query.
    Short,
    /// Nothing but function words.
    Function,
    /// A query of another set.
    Unanswerable,
}

/// A query to ask.
pub(crate) struct FitQuery {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) relevant: BTreeSet<String>,
    /// Documents of which nobody knows whether they answer it.
    pub(crate) unjudged: BTreeSet<String>,
}

/// Queries that say nothing, in four languages.
const FUNCTION_QUERIES: [&str; 16] = [
    "the",
    "what is it",
    "and",
    "how about that",
    "where can i",
    "について",
    "とは何ですか",
    "ですか",
    "教えてください",
    "什么是",
    "的",
    "为什么",
    "care este",
    "despre ce",
    "cum",
    "si ce",
];

/// Gives judged queries, spread evenly.
pub(crate) fn judged(set: &Dataset, n: usize) -> Vec<FitQuery> {
    spread(&set.queries, n)
        .into_iter()
        .map(|query| asked(query, &query.text, Kind::Judged))
        .collect()
}

/// Gives titles as queries; documents of the same title answer together.
pub(crate) fn titles(set: &Dataset, n: usize) -> Vec<FitQuery> {
    let titled: Vec<_> =
        set.documents.iter().filter(|document| !document.title.is_empty()).collect();
    spread(&titled, n)
        .into_iter()
        .map(|document| {
            let same = titled.iter().filter(|other| other.title == document.title);
            let (text, id) = (document.title.clone(), format!("title/{}", document.id));
            let relevant: BTreeSet<String> = same.map(|other| other.id.clone()).collect();
            let unjudged = holding(set, &[text.as_str()]);
            FitQuery { id, kind: Kind::Title, text, relevant, unjudged }
        })
        .collect()
}

/// Gives the one or two longest content words of judged queries that the answer holds. Other
/// documents that hold them may answer as well.
pub(crate) fn short(set: &Dataset, n: usize) -> Vec<FitQuery> {
    let mut short = Vec::new();
    for (idx, query) in spread(&set.queries, n).into_iter().enumerate() {
        let answers =
            set.documents.iter().filter(|document| query.relevant.contains_key(&document.id));
        let text: String =
            answers.map(|document| format!("{}\n{}", document.title, document.text)).collect();
        let mut words: Vec<&str> =
            content_words(&query.text).into_iter().filter(|word| text.contains(word)).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        words.dedup();
        words.truncate(1 + idx % 2);
        if words.is_empty() {
            continue;
        }
        let mut one = asked(query, &words.join(" "), Kind::Short);
        one.unjudged = holding(set, &words);
        short.push(one);
    }
    short
}

/// Gives queries of nothing but function words.
pub(crate) fn function_words() -> Vec<FitQuery> {
    let function = |(idx, text): (usize, &&str)| FitQuery {
        id: format!("function/{idx}"),
        kind: Kind::Function,
        text: (*text).to_owned(),
        relevant: BTreeSet::new(),
        unjudged: BTreeSet::new(),
    };
    FUNCTION_QUERIES.iter().enumerate().map(function).collect()
}

/// Queries of our own that no set of rules or advice answers: language, a tab, text.
const OFF_TOPIC: &str = include_str!("../../retrieve/tests/golden/off_topic.tsv");

/// The same of private matters, which encyclopaedias and abstracts do not answer either.
const PRIVATE_MATTERS: &str = include_str!("../data/off_topic.tsv");

/// Gives queries of our own that no judged set of rules or advice answers.
pub(crate) fn off_topic() -> Vec<FitQuery> {
    unanswerable_lines(OFF_TOPIC)
}

/// Gives queries of our own that no judged set answers.
pub(crate) fn private_matters() -> Vec<FitQuery> {
    unanswerable_lines(PRIVATE_MATTERS)
}

fn unanswerable_lines(lines: &str) -> Vec<FitQuery> {
    let texts = lines.lines().filter_map(|line| line.split_once('\t'));
    texts
        .map(|(language, text)| FitQuery {
            id: format!("off_topic_{language}/{text}"),
            kind: Kind::Unanswerable,
            text: text.to_owned(),
            relevant: BTreeSet::new(),
            unjudged: BTreeSet::new(),
        })
        .collect()
}

/// Gives queries of another set, long and short ones, as queries that a set does not answer. A
/// short one is left out when a document has its words.
pub(crate) fn unanswerable(set: &Dataset, other: &Dataset, n: usize) -> Vec<FitQuery> {
    let mut queries = judged(other, n);
    let is_foreign = |query: &FitQuery| {
        let words: Vec<&str> = query.text.split(' ').collect();
        holding(set, &words).is_empty()
    };
    queries.extend(short(other, n / 2).into_iter().filter(is_foreign));
    for (idx, query) in queries.iter_mut().enumerate() {
        query.kind = Kind::Unanswerable;
        query.relevant.clear();
        query.unjudged.clear();
        query.id = format!("{}/{idx}/{}", other.name, query.id);
    }
    queries
}

fn asked(query: &JudgedQuery, text: &str, kind: Kind) -> FitQuery {
    FitQuery {
        id: query.id.clone(),
        kind,
        text: text.to_owned(),
        relevant: query.relevant.keys().cloned().collect(),
        unjudged: BTreeSet::new(),
    }
}

fn holding(set: &Dataset, words: &[&str]) -> BTreeSet<String> {
    let holds = |text: &str| words.iter().any(|word| text.contains(word));
    let documents =
        set.documents.iter().filter(|document| holds(&document.title) || holds(&document.text));
    documents.map(|document| document.id.clone()).collect()
}

/// Gives the content words of a query; of scripts without spaces, runs of content characters.
fn content_words(query: &str) -> Vec<&str> {
    let language = detect_language(query);
    let words = Analyzer::new().analyze_query(query, LanguageSet::all());
    let mut found: Vec<(usize, usize)> = Vec::new();
    for word in words.iter().filter(|word| content_weight(word, language) >= 1.0) {
        match found.last_mut() {
            Some(last) if word.kind.is_ideographic() && word.bytes.start <= last.1 => {
                last.1 = last.1.max(word.bytes.end);
            }
            _ => found.push((word.bytes.start, word.bytes.end)),
        }
    }
    let texts = found.into_iter().filter_map(|(start, end)| query.get(start..end));
    texts.filter(|text| text.chars().count() >= 2).collect()
}

fn spread<T>(all: &[T], n: usize) -> Vec<&T> {
    let step = all.len().div_ceil(n.max(1)).max(1);
    all.iter().step_by(step).collect()
}
