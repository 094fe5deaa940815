//! `dowse bench contexts`: tools over a folder of JSON documents, by words alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{Job, JobQueue, QueueConfig, Workers};
use model::{Caller, Clock, Deadline, Report};
use retrieve::Retriever;
use store::EmbeddedStore;

use crate::json::{Event, Kind, Walk};
use crate::{
    ContextsConfig, Error, JOBS, Locks, NewProject, NewTool, NodeRequest, Result, Service,
    ServiceConfig, ServiceSlot, Table, Tool,
};

/// Strings of so many characters are indexed, so that ordinary documents have enough of them.
const THRESHOLD_CHARS: usize = 1_000;

/// Searches that are timed.
const N_SEARCHES: usize = 500;

/// Tools of the last figure.
const N_TOOLS: usize = 1_000;

/// Words of a question, and where in a string they stand.
const QUESTION_WORDS: std::ops::Range<usize> = 20..26;

/// How long one step may take.
const STEP_WAIT: Duration = Duration::from_secs(600);

/// A long string of a document.
struct Long {
    file_idx: usize,
    start: u64,
    end: u64,
    pointer: String,
    question: String,
}

/// Measures on every `.json` file of a folder; `work` is a folder for what is built.
pub fn run(folder: &Path, work: &Path, clock: Clock) -> Result<Report> {
    let files = files_of(folder).map_err(Error::Document)?;
    let bench = Bench::open(work, clock)?;
    let mut report = Report::new("contexts");
    let n_bytes: u64 =
        files.iter().filter_map(|file| Some(fs_err::metadata(file).ok()?.len())).sum();
    report.add("documents", files.len() as f64, "files");
    report.add("size", n_bytes as f64 / 1e6, "MB");

    let begun = Instant::now();
    let project = NewProject { name: "bench".to_owned(), members: vec![] };
    let project = bench.service.create_project(&bench.caller, &project)?;
    let mut tables = vec![];
    for file in &files {
        tables.push(bench.service.create_table(
            &bench.caller,
            &project.id,
            "document",
            file,
            &soon(),
        )?);
    }
    report.add("upload", begun.elapsed().as_secs_f64(), "s");

    let longs = longs_of(&files)?;
    let begun = Instant::now();
    let tools: Vec<Tool> = tables
        .iter()
        .enumerate()
        .map(|(number, table)| bench.tool(table, "", &format!("all_{number}")))
        .collect::<Result<_>>()?;
    bench.settle()?;
    let took = begun.elapsed().as_secs_f64();
    let mut n_chunks = 0;
    let mut n_nodes = 0;
    for tool in &tools {
        let index = bench.service.get_tool(&bench.caller, &tool.id)?.search_index;
        n_chunks += index.as_ref().map_or(0, |index| index.chunks_count);
        n_nodes += index.as_ref().map_or(0, |index| index.nodes_count);
    }
    report.add_noted("index", took, "s", format!("threshold {THRESHOLD_CHARS} characters"));
    report.add("strings", n_nodes as f64, "strings");
    report.add("chunks", n_chunks as f64, "chunks");
    report.add("indexing", n_chunks as f64 / took, "chunks/s");

    bench.searches(&mut report, &tools, &longs)?;
    bench.one_change(&mut report, &files, &tables, &longs)?;
    bench.many_tools(&mut report, &tables, &longs)?;
    Ok(report)
}

struct Bench {
    service: Service,
    caller: Caller,
    queue: Arc<JobQueue>,
    work: PathBuf,
    _workers: Workers,
}

impl Bench {
    fn open(work: &Path, clock: Clock) -> Result<Self> {
        let config = store::Config::for_one_machine();
        let store = Arc::new(EmbeddedStore::open(&work.join("store"), &config, clock.clone())?);
        let slot = ServiceSlot::default();
        let runners: HashMap<_, _> =
            JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
        let queue = JobQueue::open(
            store.catalogue(),
            runners,
            QueueConfig::for_one_machine(),
            clock.clone(),
        )?;
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let of_search = Arc::clone(&embedder);
        let service = Service::new(ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: Retriever::new(store, Arc::new(move || of_search.get(&soon()))),
            embedder,
            staging: work.join("staging"),
            locks: Locks::default(),
            settings: ContextsConfig {
                chunk_threshold_chars: THRESHOLD_CHARS,
                ..ContextsConfig::default()
            },
            clock,
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue)?;
        let (caller, work) = (Caller::local_admin(), work.to_owned());
        Ok(Bench { service, caller, queue, work, _workers: workers })
    }

    fn tool(&self, table: &Table, path: &str, name: &str) -> Result<Tool> {
        let new = NewTool {
            table_id: table.id.clone(),
            json_path: path.to_owned(),
            name: name.to_owned(),
            ..NewTool::default()
        };
        Ok(self.service.create_tool(&self.caller, &new)?.0)
    }

    /// Waits until nothing is left to do.
    fn settle(&self) -> Result<()> {
        loop {
            let jobs = self.queue.list()?;
            let Some(job) = jobs.iter().find(|job| !job.state.is_final()) else { return Ok(()) };
            self.wait(job)?;
        }
    }

    fn wait(&self, job: &Job) -> Result<Job> {
        Ok(self.queue.wait(&job.id, &soon())?)
    }

    fn searches(&self, report: &mut Report, tools: &[Tool], longs: &[Long]) -> Result<()> {
        let mut times = vec![];
        let mut n_first = 0;
        let mut n_asked = 0;
        for round in 0..2 {
            times.clear();
            (n_first, n_asked) = (0, 0);
            for long in longs.iter().cycle().take(N_SEARCHES.max(longs.len())) {
                let begun = Instant::now();
                let tool = &tools[long.file_idx].id;
                let found = self.service.search(&self.caller, tool, &long.question, 5, &soon())?;
                times.push(begun.elapsed());
                n_asked += 1;
                let is_first = found
                    .results
                    .first()
                    .is_some_and(|first| first.chunk.json_pointer == long.pointer);
                n_first += usize::from(is_first && round == 1);
            }
        }
        report.add_noted("search", median(&mut times), "ms p50", "warm, top_k 5, words alone");
        report.add("search", percentile(&mut times, 0.99), "ms p99");
        let share = n_first as f64 / n_asked as f64;
        let note = "six words from the middle of a string find that string first; repeated \
                    strings count as misses";
        report.add_noted("first hit", share, "of questions", note);
        let mut times = vec![];
        for long in longs.iter().take(N_SEARCHES) {
            let begun = Instant::now();
            let request =
                NodeRequest { json_path: long.pointer.clone(), offset: 0, max_chars: 1_000 };
            self.service.get_through(&self.caller, &tools[long.file_idx].id, &request, &soon())?;
            times.push(begun.elapsed());
        }
        report.add_noted("get", median(&mut times), "ms p50", "a long string by its pointer");
        Ok(())
    }

    fn one_change(
        &self,
        report: &mut Report,
        files: &[PathBuf],
        tables: &[Table],
        longs: &[Long],
    ) -> Result<()> {
        let Some(long) = longs.iter().max_by_key(|long| long.end - long.start) else {
            return Ok(());
        };
        let mut bytes = fs_err::read(&files[long.file_idx]).map_err(Error::Document)?;
        let at = long.end as usize - 1;
        bytes.splice(at..at, *b" One more sentence.");
        let changed = self.work.join("changed.json");
        fs_err::write(&changed, bytes).map_err(Error::Document)?;
        let begun = Instant::now();
        let table = &tables[long.file_idx].id;
        let (_, job) = self.service.replace_table(&self.caller, table, &changed, &soon())?;
        let Some(job) = job else { return Ok(()) };
        let result = self.wait(&job)?.result;
        report.add_noted(
            "one string changed",
            begun.elapsed().as_secs_f64() * 1e3,
            "ms",
            format!(
                "kept {}, added {}, removed {} chunks",
                result["kept"], result["added"], result["removed"]
            ),
        );
        Ok(())
    }

    fn many_tools(&self, report: &mut Report, tables: &[Table], longs: &[Long]) -> Result<()> {
        self.settle()?;
        let before = resident_mb();
        let begun = Instant::now();
        for (number, long) in longs.iter().cycle().take(N_TOOLS).enumerate() {
            self.tool(&tables[long.file_idx], &long.pointer, &format!("tool_{number}"))?;
        }
        self.settle()?;
        report.add_noted(
            "1,000 tools",
            begun.elapsed().as_secs_f64(),
            "s",
            "over single strings, made and indexed",
        );
        if let (Some(before), Some(after)) = (before, resident_mb()) {
            let note = format!("resident memory {before:.0} MB before, {after:.0} MB after");
            report.add_noted("1,000 tools", after - before, "MB", note);
        }
        Ok(())
    }
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

/// Finds the long strings of documents, with a question to each.
fn longs_of(files: &[PathBuf]) -> Result<Vec<Long>> {
    let mut longs = vec![];
    for (file_idx, file) in files.iter().enumerate() {
        let mut walk = Walk::new(fs_err::File::open(file).map_err(Error::Document)?);
        while let Some(event) = walk.next()? {
            if event != Event::Leaf(Kind::String) || walk.n_chars() < THRESHOLD_CHARS {
                continue;
            }
            let words: Vec<&str> = walk
                .text()
                .split(|char: char| !char.is_alphanumeric())
                .filter(|word| word.len() > 2)
                .skip(QUESTION_WORDS.start)
                .take(QUESTION_WORDS.len())
                .collect();
            longs.push(Long {
                file_idx,
                start: walk.start(),
                end: walk.offset(),
                pointer: walk.pointer().to_owned(),
                question: words.join(" "),
            });
        }
    }
    Ok(longs)
}

fn median(times: &mut [Duration]) -> f64 {
    percentile(times, 0.5)
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

fn soon() -> Deadline {
    Deadline::after(STEP_WAIT)
}
