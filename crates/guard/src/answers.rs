//! Answers as they left, kept for some days so that a person can see what an agent saw.
//!
//! One file a day, one line an answer. When a day is over its time, or all of them take more room
//! than allowed, the oldest goes; of its answers only ids of results and a hash remain.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use fs_err::{File, OpenOptions};
use model::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
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

/// The answers of some days.
pub struct Answers {
    folder: PathBuf,
    config: AuditConfig,
    open: Mutex<Option<(i64, File)>>,
}

impl Answers {
    /// Keeps answers in a folder, as the configuration says; nothing is opened before the first.
    pub fn new(folder: &Path, config: &AuditConfig) -> Self {
        Answers { folder: folder.to_owned(), config: config.clone(), open: Mutex::new(None) }
    }

    /// Keeps an answer. What cannot be written is lost, and the loss is logged.
    pub fn keep(&self, answer: &KeptAnswer) {
        if self.config.keep_answers_days == 0 || self.config.omit_queries {
            return;
        }
        if let Err(error) = self.write(answer) {
            tracing::warn!(%error, "an answer could not be kept for replay");
        }
    }

    fn write(&self, answer: &KeptAnswer) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        let day = answer.at.0.div_euclid(DAY_MILLIS);
        let mut open = self.open.lock();
        if open.as_ref().is_none_or(|(known, _)| *known != day) {
            private::create_folder(&self.folder)?;
            self.tidy(day)?;
            let file = OpenOptions::new().create(true).append(true).open(self.file_of(day))?;
            *open = Some((day, file));
        }
        let Some((_, file)) = open.as_mut() else { return Ok(()) };
        file.write_all(&line)?;
        let most = self.config.keep_answers_mb.saturating_mul(1_000_000);
        // One day may not take all the space either.
        if file.metadata()?.len() > most.max(1) {
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

    /// Erases the answers that a test names, such as those that hold text of a source that was
    /// deleted; they say so from then on. Gives how many there were.
    pub fn erase(&self, is_concerned: impl Fn(&KeptAnswer) -> bool) -> std::io::Result<usize> {
        let mut open = self.open.lock();
        *open = None;
        let mut n_erased = 0;
        for (_, path) in self.days()? {
            let mut n_here = 0;
            let kept = rewritten(&path, |mut answer| {
                if answer.answer.is_some() && is_concerned(&answer) {
                    n_here += 1;
                    answer =
                        KeptAnswer { arguments: None, answer: None, is_erased: true, ..answer };
                }
                answer
            })?;
            if n_here > 0 {
                replace(&path, &kept)?;
                n_erased += n_here;
            }
        }
        Ok(n_erased)
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
        let all = lines(&path, |_| true)?;
        let (old, new) = all.split_at(all.len() / 2);
        self.remain(old)?;
        let mut text = new.join("\n").into_bytes();
        text.push(b'\n');
        replace(&path, &text)
    }

    fn let_go(&self, path: &Path) -> std::io::Result<()> {
        self.remain(&lines(path, |_| true)?)?;
        fs_err::remove_file(path)
    }

    fn remain(&self, old: &[String]) -> std::io::Result<()> {
        let path = self.folder.join(REMAINS);
        if fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_REMAINS_BYTES) {
            fs_err::remove_file(&path)?;
        }
        let mut text = Vec::new();
        for line in old {
            let Ok(answer) = serde_json::from_str::<KeptAnswer>(line) else { continue };
            let remains = KeptAnswer { arguments: None, answer: None, ..answer };
            text.extend(serde_json::to_vec(&remains)?);
            text.push(b'\n');
        }
        OpenOptions::new().create(true).append(true).open(path)?.write_all(&text)
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
pub fn ids_of(answer: &Value) -> Vec<String> {
    let lists = ["results", "items", "rows"].iter().filter_map(|name| answer[*name].as_array());
    lists
        .flatten()
        .filter_map(|result| {
            let id = result.get("id").or(result.get("path")).or(result["metadata"].get("chunk_id"));
            id?.as_str().map(str::to_owned)
        })
        .take(MAX_IDS)
        .collect()
}

fn lines(path: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line?;
        if wanted(&line) {
            found.push(line);
        }
    }
    Ok(found)
}

fn rewritten(
    path: &Path,
    mut change: impl FnMut(KeptAnswer) -> KeptAnswer,
) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines(path, |_| true)? {
        // A line cut short by a crash is passed over.
        let Ok(answer) = serde_json::from_str::<KeptAnswer>(&line) else { continue };
        text.extend(serde_json::to_vec(&change(answer))?);
        text.push(b'\n');
    }
    Ok(text)
}

/// Writes beside the file and renames, so that a crash leaves the one or the other.
fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    fs_err::write(&beside, text)?;
    fs_err::rename(beside, path)
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
            ids: ids_of(&value),
            answer: Some(value),
            is_erased: false,
            hash: "h".to_owned(),
            generation: Some(7),
        }
    }

    fn config(days: u32, mb: u64) -> AuditConfig {
        AuditConfig { omit_queries: false, keep_answers_days: days, keep_answers_mb: mb }
    }

    #[test]
    fn an_answer_is_found_until_its_time_is_over_and_then_its_ids_remain() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(2, 100));
        let first = answer(1, 10);
        answers.keep(&first);
        assert_eq!(answers.find("r1", first.at).unwrap(), Some(first.clone()));
        assert_eq!(answers.find("r2", first.at).unwrap(), None);
        answers.keep(&answer(2, 11));
        assert!(answers.find("r1", first.at).unwrap().unwrap().answer.is_some());
        answers.keep(&answer(3, 12));
        let remains = answers.find("r1", first.at).unwrap().unwrap();
        assert_eq!((remains.answer, remains.arguments), (None, None));
        assert_eq!((remains.ids, remains.hash), (vec!["id1".to_owned()], "h".to_owned()));
        assert_eq!(remains.generation, Some(7));
    }

    #[test]
    fn erased_answers_say_so_and_their_text_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(7, 100));
        (1..=3).for_each(|n| answers.keep(&answer(n, 10)));
        let n_erased = answers.erase(|answer| answer.request == "r2").unwrap();
        assert_eq!(n_erased, 1);
        let erased = answers.find("r2", Timestamp(10 * DAY_MILLIS)).unwrap().unwrap();
        assert!(erased.is_erased && erased.answer.is_none() && erased.arguments.is_none());
        answers.keep(&answer(4, 10));
        for n in [1, 3, 4] {
            let kept = answers.find(&format!("r{n}"), Timestamp(10 * DAY_MILLIS)).unwrap();
            assert!(kept.unwrap().answer.is_some(), "{n}");
        }
    }

    #[test]
    fn nothing_is_kept_where_queries_are_omitted_or_days_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let omitting = AuditConfig { omit_queries: true, ..config(7, 100) };
        for config in [omitting, config(0, 100)] {
            let answers = Answers::new(folder.path(), &config);
            answers.keep(&answer(1, 10));
            assert_eq!(answers.find("r1", Timestamp(10 * DAY_MILLIS)).unwrap(), None);
        }
    }

    #[test]
    fn a_day_keeps_within_its_room() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(folder.path(), &config(7, 1));
        for n in 0..8_000 {
            answers.keep(&answer(n, 10));
        }
        let size: u64 = fs_err::metadata(answers.file_of(10)).unwrap().len();
        assert!(size <= 1_100_000, "{size}");
        let at = Timestamp(10 * DAY_MILLIS);
        assert!(answers.find("r7999", at).unwrap().unwrap().answer.is_some());
        assert!(answers.find("r0", at).unwrap().unwrap().answer.is_none());
    }
}
