//! What could be used instead: tantivy, SQLite's FTS5, a flat scan in numpy. tantivy's scorers over
//! the store's own index are in [`crate::scorers`].

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use model::Report;
use rusqlite::{Connection, params};
use store::bench::{DIMENSIONS, DOCUMENTS_PER_BATCH, Material, PASSAGES_PER_DOCUMENT, percentiles};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexWriter, doc};

/// The best passages that are asked for, as of the store.
const N_CANDIDATES: usize = 100;

/// Memory of tantivy's writer.
const WRITER_BYTES: usize = 100_000_000;

/// Questions for each: FTS5 takes long for one at a million passages.
const N_QUESTIONS: usize = 50;

/// The flat scan is measured up to this many vectors: more would fill memory with floats.
const MAX_FLAT_SCAN: usize = 200_000;

/// Measures tantivy, FTS5 and numpy, one after the other.
pub(crate) fn measure(
    report: &mut Report,
    material: &Material,
    folder: &Path,
    n_passages: usize,
) -> std::io::Result<()> {
    tantivy(report, material, folder, n_passages).map_err(std::io::Error::other)?;
    fts5(report, material, folder, n_passages).map_err(std::io::Error::other)?;
    numpy(report, material, folder, n_passages)
}

/// Measures tantivy's own BM25 with block-max WAND over the same passages, without stems.
fn tantivy(
    report: &mut Report,
    material: &Material,
    folder: &Path,
    n_passages: usize,
) -> tantivy::Result<()> {
    let folder = folder.join("tantivy");
    fs_err::create_dir_all(&folder)?;
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("default")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let index = Index::create_in_dir(&folder, schema.build())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    let mut wall = 0.0;
    for number in 0..n_passages / PASSAGES_PER_DOCUMENT {
        let document = material.document(number);
        let begun = Instant::now();
        for passage in &document.passages {
            writer.add_document(doc!(text => passage.text.as_str()))?;
        }
        if (number + 1).is_multiple_of(DOCUMENTS_PER_BATCH) {
            writer.commit()?;
        }
        wall += begun.elapsed().as_secs_f64();
    }
    let begun = Instant::now();
    writer.commit()?;
    writer.wait_merging_threads()?;
    wall += begun.elapsed().as_secs_f64();
    report.add_noted(
        format!("tantivy ingest, {n_passages} passages"),
        n_passages as f64 / wall,
        "passages/s",
        "wall clock; words in lower case, no stems, no catalogue",
    );
    let searcher = index.reader()?.searcher();
    let parser = QueryParser::for_index(&index, vec![text]);
    let (p50, p99) = percentiles(N_QUESTIONS, |question_idx| {
        let query = parser.parse_query_lenient(&material.question(question_idx)).0;
        searcher.search(&query, &TopDocs::with_limit(N_CANDIDATES).order_by_score()).map(drop)
    })?;
    report.add(format!("tantivy by words, {n_passages} passages"), p50, "ms p50");
    report.add(format!("tantivy by words, {n_passages} passages"), p99, "ms p99");
    Ok(())
}

/// Measures FTS5 over the same passages and questions.
fn fts5(
    report: &mut Report,
    material: &Material,
    folder: &Path,
    n_passages: usize,
) -> rusqlite::Result<()> {
    let mut connection = Connection::open(folder.join("fts5.sqlite"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch("CREATE VIRTUAL TABLE texts USING fts5 (text)")?;
    // As for the store, making the text is not counted, and a commit holds as many passages.
    let n_documents = n_passages / PASSAGES_PER_DOCUMENT;
    let mut wall = 0.0;
    for first in (0..n_documents).step_by(DOCUMENTS_PER_BATCH) {
        let batch: Vec<_> = (first..(first + DOCUMENTS_PER_BATCH).min(n_documents))
            .map(|number| material.document(number))
            .collect();
        let begun = Instant::now();
        let transaction = connection.transaction()?;
        for passage in batch.iter().flat_map(|document| &document.passages) {
            transaction
                .prepare_cached("INSERT INTO texts (text) VALUES (?)")?
                .execute([&passage.text])?;
        }
        transaction.commit()?;
        wall += begun.elapsed().as_secs_f64();
    }
    let rate = n_passages as f64 / wall;
    report.add_noted(
        format!("fts5 ingest, {n_passages} passages"),
        rate,
        "passages/s",
        "wall clock; splits at spaces and marks, no stems, no bigrams, no catalogue",
    );
    let mut statement = connection
        .prepare("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 100")?;
    let (p50, p99) = percentiles(N_QUESTIONS, |question_idx| {
        let question: Vec<String> = material
            .question(question_idx)
            .split_whitespace()
            .map(|word| format!("\"{}\"", word.replace('"', "")))
            .collect();
        let mut found = statement.query(params![question.join(" OR ")])?;
        while found.next()?.is_some() {}
        Ok::<_, rusqlite::Error>(())
    })?;
    report.add(format!("fts5 by words, {n_passages} passages"), p50, "ms p50");
    report.add(format!("fts5 by words, {n_passages} passages"), p99, "ms p99");
    Ok(())
}

/// Measures a flat scan in numpy, where there is one.
fn numpy(
    report: &mut Report,
    material: &Material,
    folder: &Path,
    n_vectors: usize,
) -> std::io::Result<()> {
    let python = crate::python();
    let has_numpy = Command::new(&python)
        .args(["-c", "import numpy"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_numpy || n_vectors > MAX_FLAT_SCAN {
        return Ok(());
    }
    let path = folder.join("vectors.f32");
    let mut file = std::io::BufWriter::new(fs_err::File::create(&path)?);
    for number in 0..n_vectors {
        for value in material.vector(number as u64) {
            file.write_all(&value.to_le_bytes())?;
        }
    }
    file.flush()?;
    let script = format!(
        "import numpy as n, time, sys\n\
         v = n.fromfile(sys.argv[1], dtype='<f4').reshape(-1, {DIMENSIONS})\n\
         v /= n.linalg.norm(v, axis=1, keepdims=True)\n\
         t = []\n\
         for i in range(50):\n\
         \x20q = v[i * 7]\n\
         \x20b = time.perf_counter(); s = v @ q; k = n.argpartition(-s, 100)[:100]\n\
         \x20k[n.argsort(-s[k])]; t.append(time.perf_counter() - b)\n\
         print(sorted(t)[25] * 1000)"
    );
    let output = Command::new(&python).arg("-c").arg(script).arg(&path).output()?;
    if let Ok(p50) = String::from_utf8_lossy(&output.stdout).trim().parse() {
        report.add(format!("numpy flat scan, {n_vectors} vectors"), p50, "ms p50");
    }
    Ok(())
}
