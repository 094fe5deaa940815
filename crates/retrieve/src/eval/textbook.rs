//! A textbook BM25 to be measured against: stems or character pairs, no stop words, no fields, no
//! weights of any kind, every document scored.
//!
//! What a search by words does beyond this has to be worth it on every set.

use std::collections::{BTreeMap, HashMap};

use text::{Analyzer, Language, TokenKind, detect_language};

use super::{Dataset, SourceDocument};

const K1: f64 = 0.9;
const B: f64 = 0.4;
/// Characters of a collection that its language is told from.
const SAMPLE_CHARS: usize = 4_000;

/// An inverted index in memory.
pub struct Textbook {
    ids: Vec<String>,
    lengths: Vec<f64>,
    mean_length: f64,
    postings: HashMap<String, Vec<(usize, f64)>>,
    language: Language,
}

impl Textbook {
    /// Indexes the documents of a set, title and text as one.
    pub fn new(dataset: &Dataset) -> Self {
        let mut sample = String::new();
        for document in &dataset.documents {
            sample.push_str(&document.text);
            if sample.len() > SAMPLE_CHARS {
                break;
            }
        }
        let language = detect_language(&sample);
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (idx, document) in dataset.documents.iter().enumerate() {
            let SourceDocument { title, text, .. } = document;
            let counts = terms(&format!("{title}\n{text}"), language);
            lengths.push(counts.values().sum());
            for (term, count) in counts {
                postings.entry(term).or_default().push((idx, count));
            }
        }
        let mean_length = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let ids = dataset.documents.iter().map(|document| document.id.clone()).collect();
        Textbook { ids, lengths, mean_length, postings, language }
    }

    /// Gives the ids of the best documents, best first; equals in the order of the set.
    pub fn search(&self, query: &str, limit: usize) -> Vec<&str> {
        let n_documents = self.ids.len() as f64;
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for (term, in_query) in terms(query, self.language) {
            let Some(postings) = self.postings.get(&term) else { continue };
            let n_with = postings.len() as f64;
            let rarity = (1.0 + (n_documents - n_with + 0.5) / (n_with + 0.5)).ln();
            for (idx, frequency) in postings {
                let norm = K1 * (1.0 - B + B * self.lengths[*idx] / self.mean_length);
                *scores.entry(*idx).or_default() +=
                    in_query * rarity * frequency * (K1 + 1.0) / (frequency + norm);
            }
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        found.truncate(limit);
        found.into_iter().map(|(idx, _)| self.ids[idx].as_str()).collect()
    }
}

/// Counts stems; of scripts without spaces, pairs of characters.
fn terms(text: &str, language: Language) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    for token in Analyzer::new().analyze_in(text, language) {
        if matches!(token.kind, TokenKind::Word | TokenKind::Part | TokenKind::Bigram) {
            *counts.entry(token.stem).or_default() += 1.0;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_words_and_more_of_them_come_first() {
        let document = |id: &str, text: &str| SourceDocument {
            id: id.to_owned(),
            title: String::new(),
            text: text.to_owned(),
        };
        let dataset = Dataset {
            name: "own".to_owned(),
            corpus_name: "own".to_owned(),
            documents: vec![
                document("common", "the town and the town hall"),
                document("both", "the rare bridges of the town"),
                document("rare", "a rare bridge, of which there are few"),
                document("none", "nothing at all here"),
            ],
            queries: vec![],
            n_unjudged: 0,
        };
        let textbook = Textbook::new(&dataset);
        let found = textbook.search("town bridge", 10);
        assert_eq!((found[0], found.len()), ("both", 3));
        assert_eq!(textbook.search("halls of a town", 1), ["common"]);
        assert_eq!(textbook.search("bridges", 1).len(), 1);
        assert!(textbook.search("castle", 10).is_empty());
    }
}
