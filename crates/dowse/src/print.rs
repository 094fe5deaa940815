//! What a person reads: results on stdout, everything else on stderr.
//!
//! A command may be done for somebody at another terminal (see `control`); what it prints on its
//! thread then goes there.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ingest::{JobProgress, TerminalBar};
use serde_json::{Map, Value};

/// Where a command's output goes instead of this process's own terminal.
pub(crate) trait Sink {
    /// A line of the result.
    fn line(&self, text: &str);
    /// A line for the person at the terminal.
    fn note(&self, text: &str);
    /// How far a job is; `None` at its end.
    fn progress(&self, progress: Option<&JobProgress>);
    /// Whether nobody reads it any more.
    fn is_gone(&self) -> bool;
}

thread_local! {
    static ELSEWHERE: RefCell<Option<Rc<dyn Sink>>> = const { RefCell::new(None) };
}

/// Whether only results and errors are printed.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Why stdout could not be written, the first time.
static FAILED_WRITE: OnceLock<std::io::Error> = OnceLock::new();

/// From now on prints results and errors alone.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Runs `work` with everything that it prints on this thread going to `sink`.
pub(crate) fn elsewhere<T>(sink: impl Sink + 'static, work: impl FnOnce() -> T) -> T {
    /// Puts the terminal back, also after a panic.
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            ELSEWHERE.set(None);
        }
    }
    ELSEWHERE.set(Some(Rc::new(sink)));
    let _back = Back;
    work()
}

fn sink() -> Option<Rc<dyn Sink>> {
    ELSEWHERE.with_borrow(Clone::clone)
}

/// Fails when nobody is left to read what a command prints, so that it does not wait for nobody.
pub(crate) fn ensure_reader() -> anyhow::Result<()> {
    anyhow::ensure!(!sink().is_some_and(|sink| sink.is_gone()), "the command was ended");
    Ok(())
}

/// Prints a line of a result to stdout. A reader that went away is no error: `dowse audit | head`.
pub(crate) fn line(text: impl AsRef<str>) {
    match sink() {
        Some(sink) => sink.line(text.as_ref()),
        None => {
            let shown = for_reader(text.as_ref(), stdout().is_terminal());
            whole(format!("{shown}\n").as_bytes());
        }
    }
}

/// Prints a whole result to stdout, as it is.
pub(crate) fn whole(bytes: &[u8]) {
    ingest::beside_bar(|| {
        let mut stdout = stdout().lock();
        written(stdout.write_all(bytes).and_then(|()| stdout.flush()));
    });
}

/// Keeps the first failure of a write to stdout, which is told when the command ends.
pub(crate) fn written(result: std::io::Result<()>) {
    if let Err(error) = result
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = FAILED_WRITE.set(error);
    }
}

/// Tells whether everything that was printed arrived.
///
/// # Errors
///
/// When stdout could not be written, such as on a full disk. A reader that went away is none.
pub(crate) fn ensure_written() -> anyhow::Result<()> {
    written(stdout().lock().flush());
    match FAILED_WRITE.get() {
        None => Ok(()),
        Some(error) => anyhow::bail!("the result could not be written: {error}"),
    }
}

/// Prints a line for the person at the terminal to stderr, unless they asked for quiet.
pub(crate) fn note(text: impl AsRef<str>) {
    match sink() {
        Some(sink) => sink.note(text.as_ref()),
        None if IS_QUIET.load(Ordering::Relaxed) => {}
        None => to_stderr(text.as_ref()),
    }
}

pub(crate) fn json(value: &Value) -> anyhow::Result<()> {
    line(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Writes a path or a word as a shell reads it: in quotes where something in it has a meaning there.
pub(crate) fn in_shell(path: impl AsRef<std::path::Path>) -> String {
    let shown = path.as_ref().display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@:,=".contains(letter);
    if !shown.is_empty() && shown.chars().all(is_plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\'', "'\\''"))
}

/// Prints an error with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    to_stderr(&format!("{}: {error}", paint("error", "31;1")));
    for cause in error.chain().skip(1) {
        to_stderr(&format!("  cause: {cause}"));
    }
}

/// Takes a message and the hint that it carries apart: whoever shows a hint of their own beside it
/// would give two.
pub(crate) fn apart(said: &str) -> (String, Option<String>) {
    let marks = ["\nhint: ", "; hint: ", " hint: "];
    match marks.iter().find_map(|mark| said.split_once(mark)) {
        Some((problem, hint)) => (problem.to_owned(), Some(hint.to_owned())),
        None => (said.to_owned(), None),
    }
}

/// Says what failed beside a result that is printed all the same.
pub(crate) fn failure(text: &str) {
    match sink() {
        Some(sink) => sink.note(&format!("error: {text}")),
        None => to_stderr(&format!("{}: {text}", paint("error", "31;1"))),
    }
}

fn to_stderr(text: &str) {
    let shown = for_reader(text, stderr().is_terminal());
    ingest::beside_bar(|| {
        let _ = writeln!(stderr(), "{shown}");
    });
}

/// Gives a text as a terminal may be sent it: what others wrote, such as the name of a file or the
/// query of an agent, must not steer it. What steers is written as its code, as `U+001B`; the
/// colours of [`painted`] stay. A pipe and a file get the text as it is.
fn for_reader(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if !is_terminal || !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let kept = KEPT.iter().find(|kept| rest.starts_with(**kept));
        let n_bytes = kept.map_or(letter.len_utf8(), |kept| kept.len());
        match kept.is_none() && steers(letter) {
            true => {
                let _ = write!(shown, "U+{:04X}", u32::from(letter));
            }
            false => shown.push_str(&rest[..n_bytes]),
        }
        rest = &rest[n_bytes..];
    }
    Cow::Owned(shown)
}

/// What a terminal may be sent although it steers: the colours of [`painted`], and ends of lines.
const KEPT: [&str; 7] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[31;1m", "\r\n"];

/// Tells whether a character does something to a terminal, or turns the direction of writing, with
/// which a name can look like another.
fn steers(letter: char) -> bool {
    let is_turn = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_turn || (letter.is_control() && letter != '\n' && letter != '\t')
}

/// Colours a word where stderr is a terminal that shows colours.
fn paint(word: &str, colour: &str) -> String {
    painted(word, colour, has_colours(stderr().is_terminal()))
}

/// How a word of a result looks on a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// What the eye looks for first.
    Strong,
    /// What is read last.
    Faint,
    Good,
    Notable,
    Bad,
}

/// Gives a word of a result as the terminal that it goes to shows it: as it is for a pipe, a file,
/// and somebody else's terminal.
pub(crate) fn look(word: &str, look: Look) -> String {
    let colour = match look {
        Look::Strong => "1",
        Look::Faint => "2",
        Look::Good => "32",
        Look::Notable => "33",
        Look::Bad => "31;1",
    };
    painted(word, colour, sink().is_none() && has_colours(stdout().is_terminal()))
}

fn painted(word: &str, colour: &str, has_colours: bool) -> String {
    match has_colours {
        true => format!("\u{1b}[{colour}m{word}\u{1b}[0m"),
        false => word.to_owned(),
    }
}

/// Tells whether colours may be used: on a terminal that knows them, unless `NO_COLOR` is set.
pub(crate) fn has_colours(is_terminal: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|it| it != "dumb")
}

/// A bar that shows how far a job is, while it is there.
pub(crate) struct Bar(Shown);

enum Shown {
    Here(TerminalBar),
    Elsewhere(Rc<dyn Sink>),
    Nowhere,
}

impl Bar {
    pub(crate) fn new() -> Self {
        Bar(match sink() {
            Some(sink) => Shown::Elsewhere(sink),
            None if IS_QUIET.load(Ordering::Relaxed) => Shown::Nowhere,
            None => Shown::Here(TerminalBar::new()),
        })
    }

    pub(crate) fn show(&self, progress: &JobProgress) {
        match &self.0 {
            Shown::Here(bar) => bar.show(progress),
            Shown::Elsewhere(sink) => sink.progress(Some(progress)),
            Shown::Nowhere => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        match &self.0 {
            Shown::Here(bar) => bar.clear(),
            Shown::Elsewhere(sink) => sink.progress(None),
            Shown::Nowhere => {}
        }
    }
}

/// A bar that shows how many bytes are done, while it is there.
pub(crate) struct ByteBar(Option<ingest::ByteBar>);

impl ByteBar {
    pub(crate) fn new() -> Self {
        ByteBar((!IS_QUIET.load(Ordering::Relaxed)).then(ingest::ByteBar::new))
    }

    /// Shows how far it is; a total of 0 is unknown.
    pub(crate) fn show(&self, what: &'static str, n_done: u64, n_total: u64) {
        if let Some(bar) = &self.0 {
            bar.show(what, n_done, n_total);
        }
    }
}

impl Drop for ByteBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.clear();
        }
    }
}

/// Rows under names, for people or for programs.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(head: [&'static str; N]) -> Self {
        Table { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; it has a cell for every name.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Value; N]) {
        debug_assert_eq!(N, self.head.len(), "a cell for every name");
        self.rows.push(cells.into());
    }

    /// Prints the rows as a list of objects, or lined up.
    pub(crate) fn print(&self, is_json: bool) -> anyhow::Result<()> {
        if is_json {
            return json(&self.to_json());
        }
        let mut rows = vec![self.head.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
        rows.extend(self.rows.iter().map(|row| row.iter().map(cell).collect()));
        line(table(&rows));
        Ok(())
    }

    fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let names = self.head.iter().map(|name| name.replace(' ', "_"));
            Value::Object(names.zip(row.iter().cloned()).collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => time(text),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Lines up rows in columns.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}

/// Puts a text on one line, with as many characters as there is room for; what is cut off is said.
pub(crate) fn on_one_line(text: &str, room: Option<usize>) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match room.and_then(|room| line.char_indices().nth(room)) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Says how long something took, as people say it.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
        _ => format!("{} h {} min", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// Writes a time for people, to the second; any other text stays as it is. Programs get ISO 8601.
pub(crate) fn time(iso: &str) -> String {
    let is_time = (20..=30).contains(&iso.len())
        && iso.is_ascii()
        && iso.ends_with('Z')
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .iter()
            .all(|(at, mark)| iso.as_bytes()[*at] == *mark);
    match is_time {
        true => format!("{} {} UTC", &iso[..10], &iso[11..19]),
        false => iso.to_owned(),
    }
}

/// Says how many of something there are; `many` is the word for any number but one.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Says how much something is, as people say it.
pub(crate) fn bytes(n_bytes: u64) -> String {
    match n_bytes {
        0..1_000 => format!("{n_bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", n_bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n_bytes as f64 / 1e6),
        _ => format!("{:.1} GB", n_bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_lined_up_or_a_list_of_objects() {
        let mut rows = Table::new(["name", "n chunks"]);
        rows.row([json!("a"), json!(3)]);
        rows.row([json!("long"), Value::Null]);
        assert_eq!(
            rows.to_json(),
            json!([{ "name": "a", "n_chunks": 3 }, { "name": "long", "n_chunks": null }])
        );
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        assert_eq!(painted("PROBLEM", "31;1", false), "PROBLEM");
        assert_eq!(painted("PROBLEM", "31;1", true), "\u{1b}[31;1mPROBLEM\u{1b}[0m");
        assert!(!has_colours(false));
    }

    #[test]
    fn nothing_that_others_wrote_steers_a_terminal() {
        let hostile = "a\u{1b}]0;own\u{7}b\u{9b}31mc\rd\u{202e}e\u{1b}[2Jf\u{7f}";
        let shown = "aU+001B]0;ownU+0007bU+009B31mcU+000DdU+202EeU+001B[2JfU+007F";
        assert_eq!(for_reader(hostile, true), shown);
        assert_eq!(for_reader(hostile, false), hostile, "a program gets names as they are");
        for own in ["1", "2", "32", "33", "31;1"] {
            let word = painted("Größe 名前\tשלום\r\n", own, true);
            assert_eq!(for_reader(&word, true), word);
        }
        let all: String = ('\0'..=char::MAX).collect();
        let kept = for_reader(&all, true).chars().filter(|letter| steers(*letter)).count();
        assert_eq!(kept, 0);
    }

    /// `… hint: run this (hint: run that)`.
    #[test]
    fn a_message_and_its_hint_are_told_apart() {
        for said in ["it is gone\nhint: make it", "it is gone; hint: make it"] {
            assert_eq!(apart(said), ("it is gone".to_owned(), Some("make it".to_owned())));
        }
        assert_eq!(apart("it is gone"), ("it is gone".to_owned(), None));
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(in_shell("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(in_shell("my files"), "'my files'");
        assert_eq!(in_shell("it's"), r"'it'\''s'");
        assert_eq!(in_shell(""), "''");
    }

    #[test]
    fn times_and_sizes_are_said_as_people_say_them() {
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1_500), "1.5 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(duration(7_260_000), "2 h 1 min");
        assert_eq!(time("2026-11-17T06:53:00.508Z"), "2026-11-17 06:53:00 UTC");
        assert_eq!(time("2026-11-17T06:53:00Z"), "2026-11-17 06:53:00 UTC");
        assert_eq!(time("the harbour of Graz"), "the harbour of Graz");
        assert_eq!(counted(1, "document", "documents"), "1 document");
        assert_eq!(bytes(12), "12 bytes");
        assert_eq!(bytes(95_300_000), "95.3 MB");
    }
}
