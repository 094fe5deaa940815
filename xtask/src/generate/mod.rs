//! Reference pages under docs/reference, written from the sources and from the running binary,
//! so that they cannot drift: `cargo xtask generate`, and with `--check` in CI.

mod command_line;
mod configuration;
mod defaults;
mod errors;
mod formats;
mod limits;
mod server;

use std::path::PathBuf;

use crate::binary::{self, Kind};
use crate::project;

/// What to do with a page that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// A page under docs/reference.
struct Page {
    name: &'static str,
    text: String,
}

/// The folder of the pages.
const FOLDER: &str = "docs/reference";

/// Makes every page and writes it, or fails and names those that differ from the files.
pub(crate) fn run(mode: Mode) -> anyhow::Result<()> {
    let binary = binary::build(Kind::Shipped)?;
    let pages = [
        vec![
            limits::page()?,
            errors::page()?,
            formats::page()?,
            configuration::page()?,
            command_line::page(&binary)?,
        ],
        server::pages(&binary)?,
    ];
    let folder = project::root().join(FOLDER);
    let mut differing = Vec::new();
    for page in pages.into_iter().flatten() {
        let path: PathBuf = folder.join(page.name);
        let text = format!("{}\n", page.text.trim_end());
        if fs_err::read_to_string(&path).is_ok_and(|written| written == text) {
            continue;
        }
        differing.push(format!("{FOLDER}/{}", page.name));
        if mode == Mode::Write {
            fs_err::create_dir_all(&folder)?;
            fs_err::write(&path, text)?;
        }
    }
    if differing.is_empty() {
        eprintln!("generate: every reference page is up to date");
        return Ok(());
    }
    let differing = differing.join(", ");
    let is_written = mode == Mode::Write;
    anyhow::ensure!(is_written, "not up to date: {differing}; hint: run `cargo xtask generate`");
    eprintln!("generate: wrote {differing}");
    Ok(())
}

/// Gives the first lines of a generated page.
fn heading(title: &str, what: &str) -> String {
    format!("# {title}\n\n<!-- Written by `cargo xtask generate`; do not edit. -->\n\n{what}\n\n")
}

/// Makes text fit into a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
