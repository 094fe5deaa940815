//! One line for each call, appended to a file that rotates by size.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err::File;
use model::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::lines_back::LinesBack;
use crate::{SetupError, private};

/// A file that reaches this size is set aside.
const ROTATE_BYTES: u64 = 16 * 1024 * 1024;

/// Files set aside that are kept, newest first.
const KEPT_FILES: usize = 8;

/// The file that is written to.
const FILE_NAME: &str = "audit.jsonl";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Ok,
    /// With an error that the caller can correct.
    Refused,
    /// With a mistake of ours or of something we depend on.
    Failed,
    /// The caller went away or time was over.
    Cancelled,
}

/// What is written down of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When the call arrived, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The request's id, as in the log.
    pub request: String,
    /// The tool or REST operation.
    pub tool: String,
    /// The tenant of the caller.
    pub tenant: String,
    /// By the name that keys and tokens give them.
    pub caller: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The error code, where it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Results in the answer.
    pub results: u64,
    /// Pieces that were redacted.
    pub redacted: u64,
    /// Milliseconds from arrival to answer.
    pub latency_ms: f64,
    /// Tokens of the answer as a language model counts them, where a tool answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<u64>,
    /// The score of the best result, where results have scores.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best_score: Option<f64>,
    /// What was asked for; absent when the configuration says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub query: Option<String>,
    /// What the call came in on, where that is not MCP or REST: `console`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub via: Option<String>,
    /// As whom an administrator looked at the console, as `tenant/name`; `caller` is the
    /// administrator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub viewing_as: Option<String>,
}

/// The append-only record of calls.
pub struct Audit {
    folder: PathBuf,
    /// Nothing where the folder may only be read.
    file: Mutex<Option<Open>>,
}

struct Open {
    file: File,
    n_bytes: u64,
    /// Whether it may end in the middle of a line, which must not take the next one with it: after a
    /// crash, or on a disk that was full.
    is_cut: bool,
}

impl Audit {
    /// Opens the record in a folder, which is made when it is not there.
    pub fn open(folder: &Path) -> Result<Self, SetupError> {
        private::create_folder(folder).map_err(SetupError::Audit)?;
        let file = open(folder).map_err(SetupError::Audit)?;
        Ok(Audit { folder: folder.to_owned(), file: Mutex::new(Some(file)) })
    }

    /// Gives a record of a folder that may only be read: it takes no entries.
    pub fn unwritten(folder: &Path) -> Self {
        Audit { folder: folder.to_owned(), file: Mutex::new(None) }
    }

    /// Appends an entry. A full disk must not stop the service: the loss is logged.
    pub fn record(&self, entry: &Entry) {
        let mut line = match serde_json::to_vec(entry) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "an audit entry could not be written as JSON");
                return;
            }
        };
        line.push(b'\n');
        let mut file = self.file.lock();
        let Some(open_file) = file.as_mut() else { return };
        if open_file.is_cut {
            line.insert(0, b'\n');
        }
        let written = open_file.file.write_all(&line);
        open_file.is_cut = written.is_err();
        if let Err(error) = written {
            tracing::error!(%error, "an audit entry could not be written");
            return;
        }
        open_file.n_bytes += line.len() as u64;
        if open_file.n_bytes >= ROTATE_BYTES {
            match rotate(&self.folder) {
                Ok(fresh) => *open_file = fresh,
                Err(error) => tracing::error!(%error, "the audit file could not be rotated"),
            }
        }
    }

    /// Reads the newest entries that pass `wanted`, oldest first, across rotated files.
    pub fn tail(
        folder: &Path,
        n_entries: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> std::io::Result<Vec<Entry>> {
        Audit::before(folder, None, n_entries, wanted)
    }

    /// Reads the newest entries as [`Audit::tail`] does, and counts the lines among them that are no
    /// entries, so that nobody takes what is left for all that was written.
    pub fn tail_and_unread(
        folder: &Path,
        n_entries: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> std::io::Result<(Vec<Entry>, usize)> {
        let mut n_unread = 0;
        let entries = read_back(folder, None, n_entries, wanted, &mut n_unread)?;
        Ok((entries, n_unread))
    }

    /// Reads the newest entries that were written before the one with a mark ([`Entry::mark`])
    /// and pass `wanted`, oldest first. Without a mark they are the newest of all; none when the
    /// marked entry is gone, and with it all that were older.
    pub fn before(
        folder: &Path,
        mark: Option<&str>,
        n_entries: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> std::io::Result<Vec<Entry>> {
        read_back(folder, mark, n_entries, wanted, &mut 0)
    }
}

impl Entry {
    /// Gives what tells this entry from others: a place to go on reading from.
    pub fn mark(&self) -> String {
        format!("{}/{}/{}", self.at.millis(), self.request, self.tool)
    }
}

/// Reads entries from the newest back, and counts the lines on the way that are none.
fn read_back(
    folder: &Path,
    mark: Option<&str>,
    n_entries: usize,
    wanted: impl Fn(&Entry) -> bool,
    n_unread: &mut usize,
) -> std::io::Result<Vec<Entry>> {
    let mut newest = VecDeque::new();
    let mut is_behind_mark = mark.is_none();
    let files = [current(folder)].into_iter();
    for path in files.chain((1..=KEPT_FILES).map(|age| rotated(folder, age))) {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in LinesBack::new(file)? {
            if newest.len() >= n_entries {
                return Ok(newest.into());
            }
            let line = line?;
            // A line cut short by a crash, or damaged, is passed over; an empty one held nothing.
            let Ok(entry) = serde_json::from_slice::<Entry>(&line) else {
                *n_unread += usize::from(!line.is_empty());
                continue;
            };
            if !is_behind_mark {
                is_behind_mark = mark.is_some_and(|mark| entry.mark() == mark);
            } else if wanted(&entry) {
                newest.push_front(entry);
            }
        }
    }
    Ok(newest.into())
}

fn current(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

fn rotated(folder: &Path, age: usize) -> PathBuf {
    folder.join(format!("{FILE_NAME}.{age}"))
}

fn open(folder: &Path) -> std::io::Result<Open> {
    let file = private::open_to_append(&current(folder))?;
    let n_bytes = file.metadata()?.len();
    let is_cut = ends_inside_a_line(&current(folder))?;
    Ok(Open { file, n_bytes, is_cut })
}

/// Tells whether a file ends before the end of a line.
fn ends_inside_a_line(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

fn rotate(folder: &Path) -> std::io::Result<Open> {
    for age in (1..KEPT_FILES).rev() {
        let from = rotated(folder, age);
        if from.exists() {
            fs_err::rename(from, rotated(folder, age + 1))?;
        }
    }
    fs_err::rename(current(folder), rotated(folder, 1))?;
    open(folder)
}

#[cfg(test)]
mod tests {
    use fs_err::OpenOptions;

    use super::*;

    fn entry(n: u64) -> Entry {
        Entry {
            at: Timestamp(n as i64),
            request: format!("r{n}"),
            tool: "searchFiles".to_owned(),
            tenant: "acme".to_owned(),
            caller: "ann".to_owned(),
            outcome: Outcome::Ok,
            code: None,
            results: n,
            redacted: 0,
            latency_ms: 1.5,
            tokens: Some(12),
            best_score: Some(0.5),
            query: Some("x".repeat(2_000)),
            via: None,
            viewing_as: None,
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it_even_where_everybody_could() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let audit_folder = folder.path().join("audit");
        fs_err::create_dir(&audit_folder).unwrap();
        fs_err::write(current(&audit_folder), "").unwrap();
        fs_err::write(rotated(&audit_folder, 1), "").unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        let set = |path: &Path, mode: u32| {
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&audit_folder, 0o755);
        set(&current(&audit_folder), 0o644);
        set(&rotated(&audit_folder, 1), 0o644);
        drop(Audit::open(&audit_folder).unwrap());
        assert_eq!(mode(&audit_folder), 0o700);
        assert_eq!(mode(&current(&audit_folder)), 0o600);
        assert_eq!(mode(&rotated(&audit_folder, 1)), 0o600);
    }

    #[test]
    fn entries_survive_rotation_and_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        let n_entries = 2 * ROTATE_BYTES / 2_100;
        for n in 0..n_entries {
            audit.record(&entry(n));
        }
        drop(audit);
        assert!(rotated(folder.path(), 1).exists());
        let mut torn = OpenOptions::new().append(true).open(current(folder.path())).unwrap();
        torn.write_all(b"{\"at\":5,\"requ").unwrap();
        let tail = Audit::tail(folder.path(), 3, |_| true).unwrap();
        let numbers: Vec<u64> = tail.iter().map(|entry| entry.results).collect();
        assert_eq!(numbers, [n_entries - 3, n_entries - 2, n_entries - 1]);
        let all = Audit::tail(folder.path(), usize::MAX - 1, |_| true).unwrap();
        assert_eq!(all.len() as u64, n_entries);
    }

    /// The first call after a crash was lost with the line that the crash had cut.
    #[test]
    fn a_torn_line_takes_no_other_with_it_and_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let tail = || Audit::tail_and_unread(folder.path(), 10, |_| true).unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        audit.record(&entry(0));
        assert_eq!(tail().1, 0);
        drop(audit);
        let mut torn = OpenOptions::new().append(true).open(current(folder.path())).unwrap();
        torn.write_all(b"{\"at\":5,\"requ").unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        audit.record(&entry(1));
        audit.record(&entry(2));
        let (entries, n_unread) = tail();
        let numbers: Vec<u64> = entries.iter().map(|entry| entry.results).collect();
        assert_eq!((numbers, n_unread), (vec![0, 1, 2], 1));
    }

    #[test]
    fn reading_on_from_a_mark_gives_every_entry_once_while_others_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        (0..50).for_each(|n| audit.record(&entry(n)));
        for n_at_once in [1, 7, 49, 50, 51] {
            let (mut seen, mut mark): (Vec<String>, Option<String>) = (Vec::new(), None);
            loop {
                let page =
                    Audit::before(folder.path(), mark.as_deref(), n_at_once, |_| true).unwrap();
                let Some(oldest) = page.first() else { break };
                mark = Some(oldest.mark());
                seen.extend(page.iter().rev().map(|entry| entry.request.clone()));
                audit.record(&entry(1_000 + seen.len() as u64));
            }
            let old: Vec<String> = seen.into_iter().filter(|request| request.len() <= 3).collect();
            let expected: Vec<String> = (0..50).rev().map(|n| format!("r{n}")).collect();
            assert_eq!(old, expected, "{n_at_once}");
        }
        assert_eq!(Audit::before(folder.path(), Some("gone"), 5, |_| true).unwrap(), []);
    }
}
