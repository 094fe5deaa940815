//! The readers that are measured: ours, and libraries with no more around them than a user of the
//! library would write first.

use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use calamine::{Data, Reader, open_workbook_auto_from_rs};
use extract::{Caps, extract};
use pulldown_cmark::{Event, Options, Parser, TagEnd};

use crate::{hayro_layout, hayro_text};

/// How long an engine may take for one file.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// What an engine made of a file.
pub struct Reading {
    pub text: Option<String>,
    pub time: Duration,
}

/// Reads a file in a process of its own.
pub fn read(engine: &str, file: &Path) -> std::io::Result<Reading> {
    let started = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--read", engine])
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdout = child.stdout.take().expect("it was asked to be a pipe");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let is_late = loop {
        if child.try_wait()?.is_some() {
            break false;
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill()?;
            break true;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let is_fine = child.wait()?.success() && !is_late;
    let bytes = reader.join().expect("reading a pipe does not panic")?;
    let answer = String::from_utf8_lossy(&bytes);
    let (micros, text) = answer.split_once('\n').unwrap_or_default();
    match micros.parse() {
        Ok(micros) if is_fine => {
            Ok(Reading { text: Some(text.to_owned()), time: Duration::from_micros(micros) })
        }
        _ => Ok(Reading { text: None, time: started.elapsed() }),
    }
}

/// Writes the time of a reading and its text; fails when the engine does.
pub fn read_as_child(engine: &str, file: &Path) -> std::io::Result<()> {
    let bytes = std::fs::read(file)?;
    let name = file.to_string_lossy();
    let started = Instant::now();
    let text = match engine {
        "dowse" => extract(&bytes, &name, &Caps::standard()).0.text(),
        "pdf-extract" => pdf_extract::extract_text_from_mem(&bytes).map_err(failed)?,
        "hayro" => hayro_text::read(bytes).map_err(failed)?,
        "hayro-layout" => hayro_layout::read(bytes).map_err(failed)?,
        "calamine" => sheets(&bytes)?,
        "pulldown-cmark" => without_marks(&String::from_utf8_lossy(&bytes)),
        "csv" => rows(&bytes),
        "zip" => unpacked(&bytes)?,
        _ => return Err(failed(format!("no engine is called `{engine}`"))),
    };
    let time = started.elapsed();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", time.as_micros())?;
    out.write_all(text.as_bytes())
}

/// The words of a Markdown text.
pub fn without_marks(text: &str) -> String {
    let mut plain = String::new();
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => plain.push_str(&text),
            Event::End(
                TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Subscript
                | TagEnd::Superscript
                | TagEnd::Link,
            )
            | Event::Start(_)
            | Event::Html(_)
            | Event::InlineHtml(_) => {}
            _ => plain.push('\n'),
        }
    }
    plain
}

fn sheets(bytes: &[u8]) -> std::io::Result<String> {
    let mut workbook = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(failed)?;
    let mut text = String::new();
    for name in workbook.sheet_names() {
        text.push_str(&name);
        text.push('\n');
        let Ok(range) = workbook.worksheet_range(&name) else { continue };
        for row in range.rows() {
            for cell in row.iter().filter(|cell| **cell != Data::Empty) {
                text.push_str(&cell.to_string());
                text.push_str(" | ");
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// Unpacks every file of an archive; fails when one cannot be unpacked.
fn unpacked(bytes: &[u8]) -> std::io::Result<String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(failed)?;
    let mut text = String::new();
    for file_idx in 0..archive.len() {
        let mut file = archive.by_index(file_idx).map_err(failed)?;
        let n_bytes = std::io::copy(&mut file, &mut std::io::sink())?;
        text.push_str(&format!("{} {n_bytes}\n", file.name().map_err(failed)?));
    }
    Ok(text)
}

fn rows(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    for record in reader.byte_records().flatten() {
        for field in &record {
            text.push_str(&String::from_utf8_lossy(field));
            text.push_str(" | ");
        }
        text.push('\n');
    }
    text
}

fn failed(error: impl std::fmt::Display) -> std::io::Error {
    std::io::Error::other(error.to_string())
}
