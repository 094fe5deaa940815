//! Figures over a folder of real documents: what is read of them, how right it is, how fast, and
//! why the rest gives no text; beside libraries that read the same formats.
//!
//! The folder has a `manifest.tsv` (path, extension, bytes, …, flags last: a flag marks files that
//! are encrypted, broken or hostile) and an `expected_text_pairs.tsv` (document, expected text in
//! Markdown). The set that decisions quote is put together from public test suites: docling,
//! kreuzberg, pdf.js, Apache POI, calamine, python-docx and python-pptx.
//!
//! - `compare FOLDER` runs everything; `compare FOLDER PART` one of the parts of `parts.rs`, or
//!   `outcomes`.
//! - Every engine reads every file in a process of its own, with 30 s for each, so that a crash or
//!   a hang of one costs one file. The time is that of the call, without the process.

mod engines;
#[expect(dead_code, reason = "the layout of the product asks it for one function")]
#[path = "../../crates/extract/src/flow.rs"]
mod flow;
#[expect(dead_code, reason = "what the reader of the product counts, and this one does not")]
mod hayro_layout;
mod hayro_text;
mod outcomes;
mod parts;
mod words;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--read", engine, file] => engines::read_as_child(engine, Path::new(file)),
        [folder] => {
            outcomes::run(Path::new(folder))?;
            parts::run(Path::new(folder), None)
        }
        [folder, "outcomes"] => outcomes::run(Path::new(folder)),
        [folder, part] => parts::run(Path::new(folder), Some(part)),
        _ => {
            eprintln!("usage: compare FOLDER [outcomes|{}]", parts::names().join("|"));
            std::process::exit(2);
        }
    }
}
