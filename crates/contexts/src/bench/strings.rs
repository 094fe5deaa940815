//! The long strings of documents, a question to each, and the subtrees that hold them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::THRESHOLD_CHARS;
use crate::json::{Event, Kind, Walk, pointer};
use crate::{Error, Result, Tool};

/// Words of a question, and where in a string they are.
const QUESTION_WORDS: std::ops::Range<usize> = 20..26;

/// Subtrees of one document, at each of two depths.
const SUBTREES_PER_DEPTH: usize = 4;

/// A long string of a document.
pub(super) struct Long {
    pub(super) file_idx: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) pointer: String,
    pub(super) question: String,
}

impl Long {
    /// Gives the tool whose path lies nearest above the string.
    pub(super) fn nearest(&self, tools: &[(usize, Tool)]) -> Tool {
        let covering = tools.iter().filter(|(file_idx, tool)| {
            *file_idx == self.file_idx && pointer::covers(&tool.json_path, &self.pointer)
        });
        let nearest = covering.max_by_key(|(_, tool)| tool.json_path.len());
        nearest.map(|(_, tool)| tool.clone()).expect("a tool covers the whole document")
    }
}

/// Finds the long strings of documents.
pub(super) fn longs_of(files: &[PathBuf]) -> Result<Vec<Long>> {
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
                .collect();
            // A long string may be one long word, or no word at all: a pattern, a key.
            let start = QUESTION_WORDS.start.min(words.len().saturating_sub(QUESTION_WORDS.len()));
            let words = &words[start..words.len().min(start + QUESTION_WORDS.len())];
            if words.is_empty() {
                continue;
            }
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

/// Gives paths below the root of a document: of one component and of two, those with most long
/// strings first.
pub(super) fn subtrees_of(longs: &[Long], file_idx: usize) -> Vec<String> {
    let mut paths = vec![];
    for depth in [1, 2] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for long in longs.iter().filter(|long| long.file_idx == file_idx) {
            let ends = long.pointer.match_indices('/').map(|(at, _)| at).skip(1);
            if let Some(end) = ends.take(depth).nth(depth - 1) {
                *counts.entry(&long.pointer[..end]).or_default() += 1;
            }
        }
        let mut counted: Vec<(&str, usize)> = counts.into_iter().collect();
        counted.sort_by_key(|(_, n_longs)| std::cmp::Reverse(*n_longs));
        let most = counted.iter().take(SUBTREES_PER_DEPTH);
        paths.extend(most.map(|(path, _)| (*path).to_owned()));
    }
    paths
}
