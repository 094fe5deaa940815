//! Kept answers of one server, in a folder of its own.
//!
//! One file a day, one line an answer. When a day is over its time, or all of them take more room
//! than allowed, the oldest goes; of its answers only ids of results and a hash remain.
//!
//! Files are read and written anew under one lock, so a folder has one [`FolderAnswers`] at a time,
//! whatever configurations use it: calls that began before a reload go on with the earlier one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use fs_err::{File, OpenOptions};
use model::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;

use super::{Erasure, LeavingAnswer, MAX_REMAINS_BYTES, StoredAnswer};
use crate::{AuditConfig, private};

/// What the names of files begin with.
const PREFIX: &str = "answers-";

/// The file of what remains when answers have gone.
const REMAINS: &str = "remains.jsonl";

pub(super) const DAY_MILLIS: i64 = 86_400_000;

/// The answers of some days.
pub(super) struct FolderAnswers {
    folder: PathBuf,
    open: Mutex<Option<OpenDay>>,
    /// Answers of a tenant's calls, or of all, up to these times are not kept: they may hold what
    /// was erased while they were made.
    silent_until: Mutex<HashMap<Option<String>, Timestamp>>,
}

/// The file that is written to.
struct OpenDay {
    day: i64,
    file: File,
    n_bytes: u64,
}

impl FolderAnswers {
    /// Keeps answers in a folder; nothing is opened before the first.
    pub(super) fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        FolderAnswers { folder, open: Mutex::new(None), silent_until: Mutex::default() }
    }

    /// Writes an answer down.
    pub(super) fn keep(
        &self,
        answer: &LeavingAnswer<'_>,
        config: &AuditConfig,
    ) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        let day = answer.at.0.div_euclid(DAY_MILLIS);
        let mut open = self.open.lock();
        let is_silent = |whose: Option<&str>| {
            let silent_until = self.silent_until.lock();
            silent_until.get(&whose.map(str::to_owned)).is_some_and(|until| answer.at <= *until)
        };
        if is_silent(None) || is_silent(Some(answer.tenant)) {
            return Ok(());
        }
        if open.as_ref().is_none_or(|open| open.day != day) {
            private::create_folder(&self.folder)?;
            self.tidy(day, config)?;
            let file = OpenOptions::new().create(true).append(true).open(self.file_of(day))?;
            let n_bytes = file.metadata()?.len();
            *open = Some(OpenDay { day, file, n_bytes });
        }
        let Some(today) = open.as_mut() else { return Ok(()) };
        today.file.write_all(&line)?;
        today.n_bytes += line.len() as u64;
        let most = config.keep_answers_mb.saturating_mul(1_000_000);
        // One day may not take all the space either.
        if today.n_bytes > most.max(1) {
            *open = None;
            self.shorten(day)?;
        }
        Ok(())
    }

    /// Lets days go that are over their time, or all of them where nothing is kept any more.
    pub(super) fn let_old_go(&self, now: Timestamp, config: &AuditConfig) -> std::io::Result<()> {
        let mut open = self.open.lock();
        *open = None;
        if config.is_keeping_answers() {
            return self.tidy(now.0.div_euclid(DAY_MILLIS), config);
        }
        self.days()?.into_iter().try_for_each(|(_, path)| self.let_go(&path))
    }

    /// Finds the answer of a request that arrived at a time.
    pub(super) fn find(
        &self,
        request: &str,
        at: Timestamp,
    ) -> std::io::Result<Option<StoredAnswer>> {
        let day = at.0.div_euclid(DAY_MILLIS);
        let marker = format!("\"request\":{}", Value::from(request));
        for path in [self.file_of(day), self.folder.join(REMAINS)] {
            let found = lines(&path, |line| line.contains(&marker))?.pop();
            if let Some(line) = found
                && let Ok(answer) = serde_json::from_str::<StoredAnswer>(&line)
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
    /// What remains of them goes out of the way of the next time.
    pub(super) fn erase(&self, tenant: Option<&str>) -> std::io::Result<usize> {
        self.erase_if(tenant, Timestamp(i64::MIN), &[], &|_| true)
    }

    /// Erases the answers that may hold text of what was deleted, and keeps none of those that are
    /// being made meanwhile.
    pub(super) fn erase_some(&self, erasure: &Erasure<'_>) -> std::io::Result<usize> {
        self.silent_until.lock().insert(erasure.tenant.map(str::to_owned), erasure.at);
        self.erase_if(erasure.tenant, erasure.since, erasure.marks, &|answer| {
            answer.at >= erasure.since && (erasure.may_hold)(answer)
        })
    }

    fn erase_if(
        &self,
        tenant: Option<&str>,
        since: Timestamp,
        marks: &[String],
        is_meant: &dyn Fn(&StoredAnswer) -> bool,
    ) -> std::io::Result<usize> {
        let mut open = self.open.lock();
        *open = None;
        let marker = tenant.map(|tenant| format!("\"tenant\":{}", Value::from(tenant)));
        let may_concern = |line: &&str| {
            marker.as_ref().is_none_or(|marker| line.contains(marker))
                && (marks.is_empty() || marks.iter().any(|mark| line.contains(mark.as_str())))
        };
        let mut n_erased = 0;
        let first_day = since.0.div_euclid(DAY_MILLIS);
        for (_, path) in self.days()?.into_iter().filter(|(day, _)| *day >= first_day) {
            let concerned = |line: &str| {
                let answer = Some(line).filter(may_concern);
                let answer: StoredAnswer = serde_json::from_str(answer?).ok()?;
                let is_its = tenant.is_none_or(|tenant| answer.tenant == tenant);
                (is_its && answer.answer.is_some() && is_meant(&answer)).then_some(answer)
            };
            n_erased += self.set_aside(&path, |line| {
                concerned(line).map(|answer| StoredAnswer { is_erased: true, ..answer })
            })?;
        }
        Ok(n_erased)
    }

    /// Takes answers out of a day, of which only ids and hash remain: those that `taken` gives.
    /// Reads and writes line by line, since a day may be as large as all of them together.
    fn set_aside(
        &self,
        path: &Path,
        taken: impl Fn(&str) -> Option<StoredAnswer>,
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
    fn tidy(&self, today: i64, config: &AuditConfig) -> std::io::Result<()> {
        let mut days = self.days()?;
        days.sort_by_key(|(day, _)| std::cmp::Reverse(*day));
        let most = config.keep_answers_mb.saturating_mul(1_000_000);
        let mut n_bytes = 0;
        for (day, path) in days {
            n_bytes += fs_err::metadata(&path)?.len();
            let is_old = today - day >= i64::from(config.keep_answers_days);
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

    /// Opens the file of what remains; one that has grown too large begins anew.
    fn remains(&self) -> std::io::Result<BufWriter<File>> {
        let path = self.folder.join(REMAINS);
        if fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_REMAINS_BYTES) {
            fs_err::remove_file(&path)?;
        }
        Ok(BufWriter::new(OpenOptions::new().create(true).append(true).open(path)?))
    }

    pub(super) fn file_of(&self, day: i64) -> PathBuf {
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

/// Tells whether a crash cut a line short. Nobody can say whose text it holds, so it goes.
fn is_torn(line: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(line).is_err()
}

/// Writes what remains of an answer: its ids and hash.
fn write_remains(to: &mut impl Write, answer: StoredAnswer) -> std::io::Result<()> {
    let remains = StoredAnswer { rights: None, arguments: None, answer: None, ..answer };
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
