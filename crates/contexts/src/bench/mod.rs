//! `dowse bench contexts`: tools over a folder of JSON documents, by words alone and, where a
//! model is here, by vector.

mod session;
mod strings;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use infer::EmbedderChoice;
use model::{Clock, Report};

use crate::{Error, NodeRequest, Result, Table, Tool};
use session::{Session, soon};
use strings::{Long, longs_of, subtrees_of};

/// Strings of so many characters are indexed, so that ordinary documents have enough of them.
const THRESHOLD_CHARS: usize = 1_000;

/// Searches that are timed.
const N_SEARCHES: usize = 500;

/// Tools of the last figure.
const N_TOOLS: usize = 1_000;

/// What is measured with: files, their tables, the tools over them.
struct Fixture {
    files: Vec<PathBuf>,
    longs: Vec<Long>,
    tables: Vec<Table>,
    /// A tool over the smallest subtree that holds each long string.
    tools: Vec<Tool>,
}

/// Measures on every `.json` file of a folder; `work` is a folder for what is built.
pub fn run(folder: &Path, work: &Path, clock: &Clock, embedder: &EmbedderChoice) -> Result<Report> {
    let mut report = Report::new("contexts");
    let files = files_of(folder).map_err(Error::Document)?;
    let n_bytes: u64 =
        files.iter().filter_map(|file| Some(fs_err::metadata(file).ok()?.len())).sum();
    report.add("documents", files.len() as f64, "files");
    report.add("size", n_bytes as f64 / 1e6, "MB");
    let longs = longs_of(&files)?;

    let session = Session::open(&work.join("words"), clock, EmbedderChoice::Off)?;
    let world = made(&session, &mut report, files.clone(), longs)?;
    searches(&session, &mut report, &world, "words alone")?;
    gets(&session, &mut report, &world)?;
    one_change(&session, &mut report, &world, work)?;
    many_tools(&session, &mut report, &world)?;
    drop(session);

    let session = Session::open(&work.join("vectors"), clock, embedder.clone())?;
    match session.model() {
        Ok(model) => {
            let begun = Instant::now();
            let longs = world.longs;
            let world = made(&session, &mut Report::new(""), files, longs)?;
            let n_chunks = session.n_chunks(&world.tables)? as f64;
            let note = format!("words and vectors of `{model}`, from upload to the last vector");
            report.add_noted("index by vector", begun.elapsed().as_secs_f64(), "s", note);
            report.add("vectors", n_chunks / begun.elapsed().as_secs_f64(), "chunks/s");
            searches(&session, &mut report, &world, "words and vectors")?;
        }
        Err(why) => report.add_noted("index by vector", 0.0, "s", format!("not measured: {why}")),
    }
    Ok(report)
}

/// Uploads the documents and makes tools over their subtrees, then over the whole of each.
fn made(
    session: &Session,
    report: &mut Report,
    files: Vec<PathBuf>,
    longs: Vec<Long>,
) -> Result<Fixture> {
    let begun = Instant::now();
    let tables = session.upload(&files)?;
    report.add("upload", begun.elapsed().as_secs_f64(), "s");

    let begun = Instant::now();
    let mut by_path = vec![];
    for (file_idx, table) in tables.iter().enumerate() {
        for path in subtrees_of(&longs, file_idx) {
            let name = format!("part_{}", by_path.len());
            by_path.push((file_idx, session.tool(table, &path, &name)?));
        }
    }
    session.settle()?;
    let took = begun.elapsed().as_secs_f64();
    let n_chunks = session.n_chunks(&tables)?;
    let note = format!("{} tools, threshold {THRESHOLD_CHARS} characters", by_path.len());
    report.add_noted("index subtrees", took, "s", note);
    report.add("chunks", n_chunks as f64, "chunks");
    report.add("indexing", n_chunks as f64 / took, "chunks/s");

    let begun = Instant::now();
    let mut n_nodes = 0;
    for (number, table) in tables.iter().enumerate() {
        by_path.push((number, session.tool(table, "", &format!("all_{number}"))?));
    }
    session.settle()?;
    for (_, tool) in &by_path[by_path.len() - tables.len()..] {
        n_nodes += session.index_of(tool)?.nodes_count;
    }
    let n_more = session.n_chunks(&tables)? - n_chunks;
    let note = format!("{} more tools, {n_more} more chunks", tables.len());
    report.add_noted("index the rest", begun.elapsed().as_secs_f64(), "s", note);
    report.add("strings", n_nodes as f64, "strings");

    let tools = longs.iter().map(|long| long.nearest(&by_path)).collect();
    Ok(Fixture { files, longs, tables, tools })
}

fn searches(session: &Session, report: &mut Report, world: &Fixture, how: &str) -> Result<()> {
    for (name, note) in [("search, first time", "each question is new"), ("search", "warm")] {
        let mut times = vec![];
        let (mut n_first, mut n_asked) = (0, 0);
        let n_searches = N_SEARCHES.max(world.longs.len());
        for (long, tool) in world.longs.iter().zip(&world.tools).cycle().take(n_searches) {
            let begun = Instant::now();
            let found =
                session.service.search(&session.caller, &tool.id, &long.question, 5, &soon())?;
            times.push(begun.elapsed());
            n_asked += 1;
            let first = found.results.first();
            n_first +=
                usize::from(first.is_some_and(|first| first.chunk.json_pointer == long.pointer));
        }
        let note = format!("{note}, top_k 5, {how}, tools over subtrees");
        report.add_noted(name, percentile(&mut times, 0.5), "ms p50", note);
        report.add(name, percentile(&mut times, 0.99), "ms p99");
        if name == "search" {
            let note = "six words from the middle of a string find that string first; repeated \
                        strings count as misses";
            report.add_noted("first hit", n_first as f64 / n_asked as f64, "of questions", note);
        }
    }
    Ok(())
}

fn gets(session: &Session, report: &mut Report, world: &Fixture) -> Result<()> {
    let mut times = vec![];
    for long in world.longs.iter().take(N_SEARCHES) {
        let begun = Instant::now();
        let request = NodeRequest { json_path: long.pointer.clone(), offset: 0, max_chars: 1_000 };
        let table = &world.tables[long.file_idx].id;
        session.service.get_node(&session.caller, table, &request, &soon())?;
        times.push(begun.elapsed());
    }
    let note = "a long string by its pointer";
    report.add_noted("get", percentile(&mut times, 0.5), "ms p50", note);
    report.add("get", percentile(&mut times, 0.99), "ms p99");
    Ok(())
}

/// Changes the string in the middle of all by length, and the longest.
fn one_change(session: &Session, report: &mut Report, world: &Fixture, work: &Path) -> Result<()> {
    let mut by_length: Vec<&Long> = world.longs.iter().collect();
    by_length.sort_by_key(|long| long.end - long.start);
    let (Some(middle), Some(longest)) = (by_length.get(by_length.len() / 2), by_length.last())
    else {
        return Ok(());
    };
    for (name, long) in [("a string changed", middle), ("the longest changed", longest)] {
        let mut bytes = fs_err::read(&world.files[long.file_idx]).map_err(Error::Document)?;
        let at = long.end as usize - 1;
        bytes.splice(at..at, *b" One more sentence.");
        let changed = work.join("changed.json");
        fs_err::write(&changed, bytes).map_err(Error::Document)?;
        let table = &world.tables[long.file_idx];
        let n_chunks = session.n_chunks_of_string(table, &long.pointer)?;
        let begun = Instant::now();
        let (_, job) =
            session.service.replace_table(&session.caller, &table.id, &changed, &soon())?;
        let Some(job) = job else { continue };
        let result = session.wait(&job)?.result;
        let note = format!(
            "the string has {n_chunks} chunks; kept {}, added {}, removed {}",
            result["kept"], result["added"], result["removed"]
        );
        report.add_noted(name, begun.elapsed().as_secs_f64() * 1e3, "ms", note);
        let original = &world.files[long.file_idx];
        let (_, job) =
            session.service.replace_table(&session.caller, &table.id, original, &soon())?;
        job.map_or(Ok(()), |job| session.wait(&job).map(|_| ()))?;
    }
    Ok(())
}

fn many_tools(session: &Session, report: &mut Report, world: &Fixture) -> Result<()> {
    session.settle()?;
    let before = resident_mb();
    let begun = Instant::now();
    for (number, long) in world.longs.iter().cycle().take(N_TOOLS).enumerate() {
        session.tool(&world.tables[long.file_idx], &long.pointer, &format!("tool_{number}"))?;
    }
    session.settle()?;
    let took = begun.elapsed().as_secs_f64();
    report.add_noted("1,000 tools", took, "s", "over single strings, made and indexed");
    if let (Some(before), Some(after)) = (before, resident_mb()) {
        let note = format!("resident memory {before:.0} MB before, {after:.0} MB after");
        report.add_noted("1,000 tools", after - before, "MB", note);
    }
    Ok(())
}

fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn percentile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    let at = ((times.len() as f64 - 1.0) * part).round().max(0.0) as usize;
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Gives the resident memory of this process, where the system tells it in a file.
fn resident_mb() -> Option<f64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}
