//! Answers as they left, kept for some days so that a person can see what an agent saw.
//!
//! One file a day, one line an answer. When a day is over its time, or all of them take more room
//! than allowed, the oldest goes; of its answers only ids of results and a hash remain.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use fs_err::{File, OpenOptions};
use model::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{AuditConfig, private};

/// What the names of files begin with.
const PREFIX: &str = "answers-";

/// The file of what remains when answers have gone.
const REMAINS: &str = "remains.jsonl";

/// The file of what remains holds at most this many bytes; then it begins anew.
const MAX_REMAINS_BYTES: u64 = 32 * 1024 * 1024;

/// Ids of results that remain of one answer.
const MAX_IDS: usize = 100;

const DAY_MILLIS: i64 = 86_400_000;

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// When the call arrived, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The request's id, as in the audit.
    pub request: String,
    /// The tool.
    pub tool: String,
    /// The tenant of the caller.
    pub tenant: String,
    /// The caller.
    pub caller: String,
    /// What was asked; nothing when it is over its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// What was answered, redacted and cut; nothing when it is over its time or was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Whether it was erased together with a source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erased: bool,
    /// The ids of its results.
    #[serde(default)]
    pub ids: Vec<String>,
    /// SHA-256 of the answer's text, in hexadecimal.
    pub hash: String,
    /// How many changes the store had seen when it was made; the same number means that no
    /// document has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// An answer as it leaves: what a [`KeptAnswer`] is read back from, without a copy of its text.
#[derive(Debug, Serialize)]
pub struct LeavingAnswer<'a> {
    /// When the call arrived, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The request's id, as in the audit.
    pub request: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The tenant of the caller.
    pub tenant: &'a str,
    /// The caller.
    pub caller: &'a str,
    /// What was asked, as JSON.
    pub arguments: &'a RawValue,
    /// What was answered, as JSON, redacted and cut.
    pub answer: &'a RawValue,
    /// The ids of its results.
    pub ids: Vec<&'a str>,
    /// SHA-256 of the answer's text, in hexadecimal.
    pub hash: &'a str,
    /// How many changes the store had seen when it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// The answers of some days.
pub struct Answers {
    folder: PathBuf,
    config: AuditConfig,
    open: Mutex<Option<OpenDay>>,
}

/// The file that is written to.
struct OpenDay {
    day: i64,
    file: File,
    n_bytes: u64,
}

impl Answers {
    /// Keeps answers in a folder, as the configuration says; nothing is opened before the first.
    pub fn new(folder: &Path, config: &AuditConfig) -> Self {
        Answers { folder: folder.to_owned(), config: config.clone(), open: Mutex::new(None) }
    }

    /// Tells whether answers are kept at all.
    pub fn is_keeping(&self) -> bool {
        self.config.keep_answers_days > 0 && !self.config.omit_queries
    }

    /// Keeps an answer. What cannot be written is lost, and the loss is logged.
    pub fn keep(&self, answer: &LeavingAnswer<'_>) {
        if !self.is_keeping() {
            return;
        }
        if let Err(error) = self.write(answer) {
            tracing::warn!(%error, "an answer could not be kept for replay");
        }
    }

    fn write(&self, answer: &LeavingAnswer<'_>) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        let day = answer.at.0.div_euclid(DAY_MILLIS);
        let mut open = self.open.lock();
        if open.as_ref().is_none_or(|open| open.day != day) {
            private::create_folder(&self.folder)?;
            self.tidy(day)?;
            let file = OpenOptions::new().create(true).append(true).open(self.file_of(day))?;
            let n_bytes = file.metadata()?.len();
            *open = Some(OpenDay { day, file, n_bytes });
        }
        let Some(today) = open.as_mut() else { return Ok(()) };
        today.file.write_all(&line)?;
        today.n_bytes += line.len() as u64;
        let most = self.config.keep_answers_mb.saturating_mul(1_000_000);
        // One day may not take all the space either.
        if today.n_bytes > most.max(1) {
            *open = None;
            self.shorten(day)?;
        }
        Ok(())
    }

    /// Finds the answer of a request that arrived at a time.
    pub fn find(&self, request: &str, at: Timestamp) -> std::io::Result<Option<KeptAnswer>> {
        let day = at.0.div_euclid(DAY_MILLIS);
        let marker = format!("\"request\":{}", Value::from(request));
        for path in [self.file_of(day), self.folder.join(REMAINS)] {
            let found = lines(&path, |line| line.contains(&marker))?.pop();
            if let Some(line) = found
                && let Ok(answer) = serde_json::from_str::<KeptAnswer>(&line)
                && answer.request == request
            {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Erases the answers of a tenant, or of all, such as when text that they may hold was
    /// deleted; they say so from then on. Gives how many there were.
    ///
    /// What remains of them goes out of the way of the next time: a deletion costs what was
    /// answered since the one before it, not what was answered in all days.
    pub fn erase(&self, tenant: Option<&str>) -> std::io::Result<usize> {
        let mut open = self.open.lock();
        *open = None;
        let marker = tenant.map(|tenant| format!("\"tenant\":{}", Value::from(tenant)));
        let may_concern = |line: &&str| marker.as_ref().is_none_or(|marker| line.contains(marker));
        let mut n_erased = 0;
        for (_, path) in self.days()? {
            let concerned = |line: &str| {
                let answer = Some(line).filter(may_concern);
                let answer: KeptAnswer = serde_json::from_str(answer?).ok()?;
                let is_its = tenant.is_none_or(|tenant| answer.tenant == tenant);
                (is_its && answer.answer.is_some()).then_some(answer)
            };
            n_erased += self.set_aside(&path, |line| {
                concerned(line).map(|answer| KeptAnswer { is_erased: true, ..answer })
            })?;
        }
        Ok(n_erased)
    }

    /// Takes answers out of a day, of which only ids and hash remain: those that `taken` gives.
    /// Reads and writes line by line, since a day may be as large as all of them together.
    fn set_aside(
        &self,
        path: &Path,
        taken: impl Fn(&str) -> Option<KeptAnswer>,
    ) -> std::io::Result<usize> {
        let (mut n_taken, mut n_torn) = (0, 0);
        each_line(path, |line| {
            n_taken += usize::from(taken(line).is_some());
            n_torn += usize::from(is_torn(line));
            Ok(())
        })?;
        if n_taken + n_torn == 0 {
            return Ok(0);
        }
        let mut remains = self.remains()?;
        let beside = path.with_extension("new");
        let mut kept = BufWriter::new(File::create(&beside)?);
        each_line(path, |line| match taken(line) {
            Some(answer) => write_remains(&mut remains, answer),
            None if is_torn(line) => Ok(()),
            None => writeln!(kept, "{line}"),
        })?;
        remains.flush()?;
        kept.flush()?;
        // A crash leaves the one or the other.
        fs_err::rename(beside, path)?;
        Ok(n_taken)
    }

    /// Lets days go that are over their time or over the space that all of them may take.
    fn tidy(&self, today: i64) -> std::io::Result<()> {
        let mut days = self.days()?;
        days.sort_by_key(|(day, _)| std::cmp::Reverse(*day));
        let most = self.config.keep_answers_mb.saturating_mul(1_000_000);
        let mut n_bytes = 0;
        for (day, path) in days {
            n_bytes += fs_err::metadata(&path)?.len();
            let is_old = today - day >= i64::from(self.config.keep_answers_days);
            if is_old || n_bytes > most {
                self.let_go(&path)?;
            }
        }
        Ok(())
    }

    /// Keeps the newer half of a day that has become too large.
    fn shorten(&self, day: i64) -> std::io::Result<()> {
        let path = self.file_of(day);
        let mut n_lines = 0_usize;
        each_line(&path, |_| {
            n_lines += 1;
            Ok(())
        })?;
        let n_seen = std::cell::Cell::new(0_usize);
        let n_old = n_lines / 2;
        self.set_aside(&path, |line| {
            // Lines are looked at twice, in the same order.
            let at = n_seen.replace(n_seen.get() + 1) % n_lines;
            if at < n_old { serde_json::from_str(line).ok() } else { None }
        })?;
        Ok(())
    }

    fn let_go(&self, path: &Path) -> std::io::Result<()> {
        let mut remains = self.remains()?;
        each_line(path, |line| match serde_json::from_str(line) {
            Ok(answer) => write_remains(&mut remains, answer),
            Err(_) => Ok(()),
        })?;
        remains.flush()?;
        fs_err::remove_file(path)
    }

    /// Opens the file of what remains.
    fn remains(&self) -> std::io::Result<BufWriter<File>> {
        let path = self.folder.join(REMAINS);
        if fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_REMAINS_BYTES) {
            fs_err::remove_file(&path)?;
        }
        Ok(BufWriter::new(OpenOptions::new().create(true).append(true).open(path)?))
    }

    fn file_of(&self, day: i64) -> PathBuf {
        self.folder.join(format!("{PREFIX}{day}.jsonl"))
    }

    fn days(&self) -> std::io::Result<Vec<(i64, PathBuf)>> {
        let mut days = Vec::new();
        let entries = match fs_err::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(days),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let day = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(".jsonl"));
            if let Some(Ok(day)) = day.map(str::parse) {
                days.push((day, path));
            }
        }
        Ok(days)
    }
}

/// Gives the ids of the results of an answer, whatever the tool calls them.
pub fn ids_of(answer: &Value) -> Vec<&str> {
    let lists = ["results", "items", "rows"].iter().filter_map(|name| answer[*name].as_array());
    lists
        .flatten()
        .filter_map(|result| {
            let id = result.get("id").or(result.get("path")).or(result["metadata"].get("chunk_id"));
            id?.as_str()
        })
        .take(MAX_IDS)
        .collect()
}

/// Tells whether a crash cut a line short. Nobody can say whose text it holds, so it goes.
fn is_torn(line: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(line).is_err()
}

/// Writes what remains of an answer: its ids and hash.
fn write_remains(to: &mut impl Write, answer: KeptAnswer) -> std::io::Result<()> {
    let remains = KeptAnswer { arguments: None, answer: None, ..answer };
    serde_json::to_writer(&mut *to, &remains)?;
    to.write_all(b"\n")
}

fn lines(path: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    each_line(path, |line| {
        if wanted(line) {
            found.push(line.to_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

/// Calls a function with every line of a file; with none where there is no file.
fn each_line(
    path: &Path,
    mut each: impl FnMut(&str) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for line in BufReader::new(file).lines() {
        each(&line?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(n: i64, day: i64) -> KeptAnswer {
        let value = json!({ "results": [{ "id": format!("id{n}"), "text": "x".repeat(200) }] });
        KeptAnswer {
            at: Timestamp(day * DAY_MILLIS + n),
            request: format!("r{n}"),
            tool: "search".to_owned(),
            tenant: "acme".to_owned(),
            caller: "ann".to_owned(),
            arguments: json!({ "query": "q" }).as_object().cloned(),
            ids: ids_of(&value).into_iter().map(str::to_owned).collect(),
            answer: Some(value),
            is_erased: false,
            hash: "h".to_owned(),
            generation: Some(7),
        }
    }

    fn keep(answers: &Answers, answer: &KeptAnswer) {
        let json = |value: Value| serde_json::value::to_raw_value(&value).unwrap();
        let arguments = json(Value::Object(answer.arguments.clone().unwrap()));
        let text = json(answer.answer.clone().unwrap());
        answers.keep(&LeavingAnswer {
            at: answer.at,
            request: &answer.request,
            tool: &answer.tool,
            tenant: &answer.tenant,
            caller: &answer.caller,
            arguments: &arguments,
            answer: &text,
            ids: answer.ids.iter().map(String::as_str).collect(),
            hash: &answer.hash,
            generation: answer.generation,
        });
    }

    fn config(days: u32, mb: u64) -> AuditConfig {
        AuditConfig { omit_queries: false, keep_answers_days: days, keep_answers_mb: mb }
    }

    #[test]
    fn an_answer_is_found_until_its_time_is_over_and_then_its_ids_remain() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(2, 100));
        let first = answer(1, 10);
        keep(&answers, &first);
        assert_eq!(answers.find("r1", first.at).unwrap(), Some(first.clone()));
        assert_eq!(answers.find("r2", first.at).unwrap(), None);
        keep(&answers, &answer(2, 11));
        assert!(answers.find("r1", first.at).unwrap().unwrap().answer.is_some());
        keep(&answers, &answer(3, 12));
        let remains = answers.find("r1", first.at).unwrap().unwrap();
        assert_eq!((remains.answer, remains.arguments), (None, None));
        assert_eq!((remains.ids, remains.hash), (vec!["id1".to_owned()], "h".to_owned()));
        assert_eq!(remains.generation, Some(7));
    }

    #[test]
    fn erased_answers_say_so_and_their_text_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(7, 100));
        [1, 3].into_iter().for_each(|n| keep(&answers, &answer(n, 10)));
        keep(&answers, &KeptAnswer { tenant: "other".to_owned(), ..answer(2, 10) });
        let n_erased = answers.erase(Some("other")).unwrap();
        assert_eq!(n_erased, 1);
        let erased = answers.find("r2", Timestamp(10 * DAY_MILLIS)).unwrap().unwrap();
        assert!(erased.is_erased && erased.answer.is_none() && erased.arguments.is_none());
        keep(&answers, &answer(4, 10));
        for n in [1, 3, 4] {
            let kept = answers.find(&format!("r{n}"), Timestamp(10 * DAY_MILLIS)).unwrap();
            assert!(kept.unwrap().answer.is_some(), "{n}");
        }
    }

    /// Every deletion read, parsed and wrote all answers of all days again: deletions took longer
    /// and longer, and all of it in memory.
    #[test]
    fn a_deletion_costs_what_was_answered_since_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(7, 100));
        for round in 0..20 {
            for n in 0..50 {
                keep(&answers, &answer(round * 50 + n, 10));
            }
            assert_eq!(answers.erase(Some("acme")).unwrap(), 50);
            assert_eq!(fs_err::metadata(answers.file_of(10)).unwrap().len(), 0);
        }
        assert_eq!(answers.erase(Some("acme")).unwrap(), 0);
        let first = answers.find("r0", Timestamp(10 * DAY_MILLIS)).unwrap().unwrap();
        assert!(first.is_erased && first.answer.is_none() && first.ids == ["id0"]);
    }

    #[test]
    fn nothing_is_kept_where_queries_are_omitted_or_days_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let omitting = AuditConfig { omit_queries: true, ..config(7, 100) };
        for config in [omitting, config(0, 100)] {
            let answers = Answers::new(folder.path(), &config);
            keep(&answers, &answer(1, 10));
            assert_eq!(answers.find("r1", Timestamp(10 * DAY_MILLIS)).unwrap(), None);
        }
    }

    #[test]
    fn a_day_keeps_within_its_room() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(7, 1));
        for n in 0..8_000 {
            keep(&answers, &answer(n, 10));
        }
        let size: u64 = fs_err::metadata(answers.file_of(10)).unwrap().len();
        assert!(size <= 1_100_000, "{size}");
        let at = Timestamp(10 * DAY_MILLIS);
        assert!(answers.find("r7999", at).unwrap().unwrap().answer.is_some());
        assert!(answers.find("r0", at).unwrap().unwrap().answer.is_none());
    }
}
