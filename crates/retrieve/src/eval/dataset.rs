//! Judged queries and the documents that they are about.
//!
//! Two forms are read. A folder in BEIR layout holds `corpus.jsonl`, `queries.jsonl` and
//! `qrels/test.tsv`. A file of our own holds one object on each line, either
//! `{"document": ID, "title": …, "text": …}` or `{"query": TEXT, "relevant": {ID: GRADE}}`
//! (`relevant` may be a list of ids). `QUERIES@CORPUS` joins the queries of one folder or
//! file with the documents of another that uses the same ids, for questions in another language.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Error, Result};

/// A document as the dataset has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDocument {
    /// Unique in the dataset.
    pub id: String,
    /// May be empty.
    pub title: String,
    /// The whole text.
    pub text: String,
}

/// A query and the documents that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedQuery {
    /// Unique in the dataset.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// Grades by document; 0 is one that somebody judged wrong.
    pub relevant: BTreeMap<String, u32>,
}

impl JudgedQuery {
    /// Tells whether a document is right for it, so that an order of documents can be judged.
    pub fn has_right(&self) -> bool {
        self.relevant.values().any(|grade| *grade > 0)
    }

    /// Tells whether a document was judged wrong for it.
    pub fn has_wrong(&self) -> bool {
        self.relevant.values().any(|grade| *grade == 0)
    }

    pub(super) fn is_wrong(&self, document: &str) -> bool {
        self.relevant.get(document) == Some(&0)
    }
}

/// Documents and judged queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// The name of the folder or file.
    pub name: String,
    /// The name of the documents, under which their vectors are kept.
    pub corpus_name: String,
    /// All that are searched, judged or not.
    pub documents: Vec<SourceDocument>,
    /// The queries that have at least one judged document.
    pub queries: Vec<JudgedQuery>,
    /// Queries of a file for which no document is judged, so that they tell nothing.
    pub n_unjudged: usize,
}

impl Dataset {
    /// Reads a dataset; `PATH@PATH` takes the queries from the first and documents from the second.
    ///
    /// Fails when the path is no dataset, a line is malformed, a document is there twice, or there is
    /// nothing to ask or nothing to ask about.
    pub fn read(path: &str) -> Result<Self> {
        let dataset = Dataset::read_unchecked(path)?;
        let empty = |lacks| Err(Error::Empty { path: PathBuf::from(path), lacks });
        if dataset.documents.is_empty() {
            return empty("documents");
        }
        if dataset.queries.is_empty() {
            return empty("judged queries");
        }
        let mut known = BTreeSet::new();
        match dataset.documents.iter().find(|document| !known.insert(&document.id)) {
            Some(twice) => {
                Err(Error::Twice { path: PathBuf::from(path), document: twice.id.clone() })
            }
            None => Ok(dataset),
        }
    }

    /// Gives what is judged and not there: a query whose right document is misspelt looks unanswered.
    pub fn unknown_documents(&self) -> BTreeSet<&str> {
        let known: BTreeSet<&str> = self.documents.iter().map(|one| one.id.as_str()).collect();
        let judged = self.queries.iter().flat_map(|query| query.relevant.keys());
        judged.map(String::as_str).filter(|id| !known.contains(id)).collect()
    }

    fn read_unchecked(path: &str) -> Result<Self> {
        if let Some((queries, corpus)) = path.split_once('@') {
            let (queries, corpus) = (PathBuf::from(queries), PathBuf::from(corpus));
            let mut dataset = match queries.is_dir() {
                true => read_folder(&queries, &corpus)?,
                false => {
                    let Dataset { corpus_name, documents, .. } = read_lines(&corpus)?;
                    Dataset { corpus_name, documents, ..read_lines(&queries)? }
                }
            };
            dataset.name = format!("{}@{}", name_of(&queries), name_of(&corpus));
            return Ok(dataset);
        }
        let path = PathBuf::from(path);
        if path.is_dir() { read_folder(&path, &path) } else { read_lines(&path) }
    }

    /// Keeps about `n_queries` of the queries, spread evenly over the dataset.
    pub fn limit_queries(&mut self, n_queries: usize) {
        let n_all = self.queries.len();
        if n_queries == 0 || n_queries >= n_all {
            return;
        }
        let mut query_idx = 0;
        self.queries.retain(|_| {
            let is_kept = query_idx * n_queries / n_all != (query_idx + 1) * n_queries / n_all;
            query_idx += 1;
            is_kept
        });
    }
}

#[derive(Deserialize)]
struct CorpusLine {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OwnLine {
    Document {
        document: String,
        #[serde(default)]
        title: String,
        text: String,
    },
    Query {
        query: String,
        relevant: Relevant,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Relevant {
    Ids(Vec<String>),
    Grades(BTreeMap<String, u32>),
}

fn read_folder(queries: &Path, corpus: &Path) -> Result<Dataset> {
    let qrels = queries.join("qrels/test.tsv");
    if !qrels.is_file() {
        return Err(Error::NoDataset { path: queries.to_owned() });
    }
    if !corpus.join("corpus.jsonl").is_file() {
        return Err(Error::NoDataset { path: corpus.to_owned() });
    }
    let mut relevant: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for (line, text) in (1..).zip(fs_err::read_to_string(&qrels)?.lines()).skip(1) {
        let fields: Vec<&str> = text.split('\t').collect();
        let &[query, document, grade] = fields.as_slice() else {
            return Err(Error::Line { file: qrels, line, expected: "three columns" });
        };
        let grade = grade.trim().parse::<f64>().map_err(|_| Error::Line {
            file: qrels.clone(),
            line,
            expected: "a number in the third column",
        })?;
        if grade > 0.0 {
            let judged = relevant.entry(query.to_owned()).or_default();
            judged.insert(document.to_owned(), grade.round() as u32);
        }
    }
    let documents = lines_of::<CorpusLine>(&corpus.join("corpus.jsonl"), "`_id`, `title`, `text`")?
        .into_iter()
        .map(|line| SourceDocument { id: line.id, title: line.title, text: line.text })
        .collect();
    let queries_file = queries.join("queries.jsonl");
    let queries_read = lines_of::<CorpusLine>(&queries_file, "`_id` and `text`")?
        .into_iter()
        .filter_map(|line| {
            let relevant = relevant.remove(&line.id)?;
            Some(JudgedQuery { id: line.id, text: line.text, relevant })
        })
        .collect();
    Ok(Dataset {
        name: name_of(queries),
        corpus_name: name_of(corpus),
        documents,
        queries: queries_read,
        n_unjudged: 0,
    })
}

fn read_lines(path: &Path) -> Result<Dataset> {
    if !path.is_file() {
        return Err(Error::NoDataset { path: path.to_owned() });
    }
    let (mut documents, mut queries, mut n_unjudged) = (Vec::new(), Vec::new(), 0);
    let expected = "`document` and `text`, or `query` and `relevant`";
    for line in lines_of::<OwnLine>(path, expected)? {
        match line {
            OwnLine::Document { document, title, text } => {
                documents.push(SourceDocument { id: document, title, text });
            }
            OwnLine::Query { query, relevant } => {
                let relevant: BTreeMap<String, u32> = match relevant {
                    Relevant::Ids(ids) => ids.into_iter().map(|id| (id, 1)).collect(),
                    Relevant::Grades(grades) => grades,
                };
                let id = format!("q{}", queries.len() + 1);
                if relevant.is_empty() {
                    n_unjudged += 1;
                } else {
                    queries.push(JudgedQuery { id, text: query, relevant });
                }
            }
        }
    }
    let name = name_of(path);
    Ok(Dataset { corpus_name: name.clone(), name, documents, queries, n_unjudged })
}

fn lines_of<T: for<'a> Deserialize<'a>>(file: &Path, expected: &'static str) -> Result<Vec<T>> {
    let text = fs_err::read_to_string(file)?;
    // Editors on Windows begin a file with a mark.
    (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(line, text)| {
            serde_json::from_str(text).map_err(|_| Error::Line {
                file: file.to_owned(),
                line,
                expected,
            })
        })
        .collect()
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Result<Dataset> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("judged.jsonl");
        fs_err::write(&file, lines)?;
        Dataset::read(&file.to_string_lossy())
    }

    #[track_caller]
    fn check_refused(lines: &str, message: &str) {
        let error = read(lines).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }

    const HELLO: &str = r#"{"document": "a", "text": "hello"}"#;

    /// A file without documents was judged, with figures; two documents of one id gave the textbook
    /// an nDCG of 1.63.
    #[test]
    fn what_cannot_be_judged_is_refused() {
        let asked = r#"{"query": "hello", "relevant": ["a"]}"#;
        check_refused("", "has no documents");
        check_refused(asked, "has no documents");
        check_refused(HELLO, "has no judged queries");
        check_refused(&format!("{HELLO}\n{HELLO}\n{asked}"), "has the document `a` twice");
        check_refused(&format!("{HELLO}\nhello"), "line 2: expected `document`");
        assert!(read(&format!("\u{feff}{HELLO}\r\n{asked}\r\n")).is_ok());
    }

    /// A misspelt id lowered every figure, and a query without judgement was dropped, both silently.
    #[test]
    fn what_is_judged_and_not_there_is_known() {
        let queries = r#"{"query": "hello", "relevant": ["a", "b"]}
            {"query": "bye", "relevant": {"c": 0}}
            {"query": "who", "relevant": []}"#;
        let dataset = read(&format!("{HELLO}\n{queries}")).unwrap();
        assert_eq!(dataset.unknown_documents().into_iter().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!((dataset.queries.len(), dataset.n_unjudged), (2, 1));
    }
}
