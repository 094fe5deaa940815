//! What a user would reach for otherwise: SQLite's FTS5, and a flat scan in numpy.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use model::Report;
use rusqlite::{Connection, params};

use super::machine::percentiles;
use super::material::{DIMENSIONS, Material, PASSAGES_PER_DOCUMENT};
use crate::Result;

/// The flat scan is measured up to this many vectors: more would fill memory with floats.
const MAX_FLAT_SCAN: usize = 200_000;

/// Measures FTS5 over the same passages and questions.
pub(super) fn fts5(
    report: &mut Report,
    material: &Material,
    folder: &Path,
    n_passages: usize,
    n_questions: usize,
) -> Result<()> {
    let mut connection = Connection::open(folder.join("fts5.sqlite"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch("CREATE VIRTUAL TABLE texts USING fts5 (text)")?;
    let begun = Instant::now();
    for first in (0..n_passages / PASSAGES_PER_DOCUMENT).step_by(100) {
        let transaction = connection.transaction()?;
        for number in first..(first + 100).min(n_passages / PASSAGES_PER_DOCUMENT) {
            for passage in material.document(number).passages {
                transaction
                    .prepare_cached("INSERT INTO texts (text) VALUES (?)")?
                    .execute([passage.text])?;
            }
        }
        transaction.commit()?;
    }
    let rate = n_passages as f64 / begun.elapsed().as_secs_f64();
    report.add_noted(
        format!("fts5 ingest, {n_passages} passages"),
        rate,
        "passages/s",
        "wall clock, with the making of the text",
    );
    let mut statement = connection
        .prepare("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 100")?;
    let (p50, p99) = percentiles(n_questions, |question_idx| {
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
pub(super) fn numpy(report: &mut Report, folder: &Path, n_vectors: usize) -> Result<()> {
    let has_numpy = Command::new("python3")
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
        for value in Material::vector(number as u64) {
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
    let output = Command::new("python3").arg("-c").arg(script).arg(&path).output()?;
    if let Ok(p50) = String::from_utf8_lossy(&output.stdout).trim().parse() {
        report.add(format!("numpy flat scan, {n_vectors} vectors"), p50, "ms p50");
    }
    Ok(())
}
