//! The main paths over small fixtures that are the same everywhere, for counting instructions:
//! clocks of shared machines differ by a factor of two from minute to minute, instructions do not.
//!
//! `cargo xtask instructions` runs each path twice with different numbers of rounds under
//! callgrind, and takes the difference, so that making the fixture does not count.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use columns::{
    ColumnSpec, Dataset, Filter as Rows, Kind, Query, Range, Table as _, TableSpec, Test, Value,
};
use model::{Clock, Deadline, NamespaceId, PassageId, Timestamp};
use store::bench::{DIMENSIONS, Material, PASSAGES_PER_DOCUMENT};
use store::{Bm25, Config, Filter, Manifest, Store, VectorSpace, WordsQuery};

/// Documents of the store under test.
const N_DOCUMENTS: usize = 250;
/// Questions of one round.
const N_QUESTIONS: usize = 10;
const N_CANDIDATES: usize = 100;
/// Rows of the table under test.
const N_ROWS: usize = 10_000;

/// Text of three languages, with private things in it.
const TEXT: &str = "The committee met on 12 March 2024 to agree on the annual report; questions go \
    to ann.lee@example.org or +40 721 555 012. Comisia s-a întrunit la sediul din Timișoara pentru \
    a aproba rapoartele anuale și bugetul pe anul următor. 委員会は年次報告書を承認するために東京都で\
    開かれ、サービスの利用者数と予算について話し合いました。Card 4111 1111 1111 1111, IBAN \
    RO49 AAAA 1B31 0075 9384 0000, password: tiger-7. ";
/// How often the text is repeated.
const N_TEXTS: usize = 8;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CountedPath {
    /// Candidates by words, named by the catalogue
    Words,
    /// Candidates by vector, named by the catalogue
    Vectors,
    /// A filtered, faceted page of a table
    Table,
    /// Words of a text as an index has them
    Analysis,
    /// Private things taken out of a text
    Redaction,
}

/// Runs a path so many times.
pub(crate) fn run(path: CountedPath, rounds: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let text = TEXT.repeat(N_TEXTS);
    match path {
        CountedPath::Words | CountedPath::Vectors => search(path, rounds, folder.path()),
        CountedPath::Table => table(rounds, folder.path()),
        CountedPath::Analysis => {
            let mut scratch = text::Scratch::new();
            for _ in 0..rounds {
                let language = text::detect_language(&text);
                let mut n_chars = 0;
                let analyzer = text::Analyzer::new();
                analyzer.visit(&text, language, &mut scratch, &mut |token: &text::TokenRef<'_>| {
                    n_chars += token.stem.len();
                });
                black_box(n_chars);
            }
            Ok(())
        }
        CountedPath::Redaction => {
            for _ in 0..rounds {
                black_box(text::redact(black_box(&text)));
            }
            Ok(())
        }
    }
}

fn search(path: CountedPath, rounds: usize, folder: &Path) -> anyhow::Result<()> {
    let material = Material::made_up();
    let clock = Clock::fixed(Timestamp(0));
    let store = Store::open(folder, &Config::for_one_machine(), clock)?;
    let namespace = NamespaceId::new("paths");
    let space = VectorSpace { embedder: "made up".to_owned(), dimensions: DIMENSIONS };
    store.create_namespace(&namespace, &Manifest::current(Some(space)))?;
    let documents: Vec<_> = (0..N_DOCUMENTS).map(|number| material.document(number)).collect();
    store.upsert(&namespace, &documents)?;
    let ids = documents.iter().flat_map(|document| &document.passages).map(|one| one.id.clone());
    let vectors: Vec<(PassageId, Vec<f32>)> = (0..(N_DOCUMENTS * PASSAGES_PER_DOCUMENT) as u64)
        .zip(ids)
        .map(|(number, id)| (id, material.vector(number)))
        .collect();
    store.set_vectors(&namespace, &vectors)?;
    store.maintain()?;
    let deadline = Deadline::after(Duration::from_secs(3_600));
    for question_idx in (0..rounds).flat_map(|_| 0..N_QUESTIONS) {
        let found = match path {
            CountedPath::Vectors => {
                let vector = &vectors[question_idx * 7].1;
                store.by_vector(&namespace, vector, &Filter::All, N_CANDIDATES, &deadline)?
            }
            CountedPath::Words
            | CountedPath::Table
            | CountedPath::Analysis
            | CountedPath::Redaction => {
                let question = material.question(question_idx);
                let query = WordsQuery::from_text(&question, Bm25::PASSAGES, 0.5, 0.1);
                store.by_words(&namespace, &query, &Filter::All, N_CANDIDATES, &deadline)?
            }
        };
        black_box(found);
    }
    Ok(())
}

fn table(rounds: usize, folder: &Path) -> anyhow::Result<()> {
    let path = folder.join("requests.csv");
    let mut csv = "host,level,latency\n".to_owned();
    for row in 0..N_ROWS {
        let level = ["success", "warning", "error"][row % 7 % 3];
        csv.push_str(&format!("h{}.example,{level},{}\n", row % 113, row * 37 % 1_000));
    }
    fs_err::write(&path, csv)?;
    let columns = [("host", Kind::Text), ("level", Kind::Text), ("latency", Kind::Number)];
    let columns = columns.map(|(name, kind)| ColumnSpec::new(name, kind));
    let table = Dataset::read(&path, &TableSpec::of(columns.to_vec()))?;
    let mut query = Query::first(40, vec!["host".into(), "level".into(), "latency".into()]);
    let range = Range { low: Value::Integer(100), high: Value::Integer(500) };
    query.filters.push(Rows::new("latency", Test::Within(vec![range])));
    query.facets.extend(["host".into(), "level".into()]);
    let deadline = Deadline::after(Duration::from_secs(3_600));
    for _ in 0..rounds {
        black_box(table.query(&query, &deadline)?);
    }
    Ok(())
}
