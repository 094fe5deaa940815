//! A command gets what the other side prints, an error keeps its causes, and nobody is answered
//! with silence.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use testkit::Folder;

use super::*;
use crate::platform::LocalStream;
use crate::print;

struct Fake;

impl Host for Fake {
    fn backup(
        &self,
        begin: &mut dyn FnMut() -> std::io::Result<LocalStream>,
    ) -> anyhow::Result<()> {
        Ok(begin()?.write_all(b"bytes")?)
    }

    fn mcp(&self, _stream: LocalStream) -> anyhow::Result<()> {
        Ok(())
    }

    fn run(&self, typed: &Typed) -> anyhow::Result<u8> {
        use anyhow::Context;
        if typed.words == ["fail"] {
            return Err(anyhow::anyhow!("the disk is full")).context("nothing was written");
        }
        print::line(typed.words.join(" "));
        print::line(typed.folder.display().to_string());
        Ok(1)
    }
}

fn typed(words: &[&str]) -> Typed {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Typed { words, folder: Path::new("/here").to_owned(), is_terminal: false, is_json: false }
}

fn check(folder: &Path) {
    assert!(connect(folder).is_none(), "nobody listens");
    listen(folder, Arc::new(Fake)).unwrap();
    let lines = connect(folder).unwrap().captured(typed(&["a", "b c"])).unwrap();
    assert_eq!(lines, "a b c\n/here\n");
    assert_eq!(connect(folder).unwrap().run(typed(&[])).unwrap(), 1);
    let error = connect(folder).unwrap().captured(typed(&["fail"])).unwrap_err();
    assert_eq!(format!("{error:#}"), "nothing was written: the disk is full");
    let mut bytes = Vec::new();
    connect(folder).unwrap().backup().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"bytes");
}

#[test]
fn a_command_gets_its_answer_and_an_error_says_why() {
    check(Folder::new().path());
}

/// A data folder in a user's data directory easily has a longer path than a socket's address
/// holds.
#[test]
#[cfg(target_os = "linux")]
fn a_long_path_is_no_obstacle() {
    let folder = Folder::new();
    let long = folder.join("a".repeat(120)).join("b".repeat(120));
    fs_err::create_dir_all(&long).unwrap();
    check(&long);
}
