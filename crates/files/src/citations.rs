//! Which files a model's text may name: those that were given to it, and of which it used
//! something.
//!
//! Models name files in brackets of any kind, or by their number in square ones. A file or a number
//! that was not given is an invention, and is taken out; words in brackets that name no file stay.

use std::cell::RefCell;
use std::path::Path;

use extract::Format;
use text::detect_language;

use crate::summary::{SnippetOf, file_name, shares_words};

/// Brackets in which files are named. In square ones anything with an ending is a file; in others
/// only what ends as files do, since figures and abbreviations are there too.
const BRACKETS: [(char, char); 5] =
    [('[', ']'), ('(', ')'), ('（', '）'), ('【', '】'), ('［', '］')];

/// Is between two files.
const BETWEEN: [char; 5] = [',', ';', '、', '，', '；'];

/// Longer endings of a name are no extension of a file.
const MAX_EXT_BYTES: usize = 5;

/// A text with the citations that are true.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TrueCitations {
    pub(crate) text: String,
    /// Citations that were taken out, as they were written.
    pub(crate) removed: Vec<String>,
}

/// Takes out citations of files that were not given or of which nothing was used, and names the
/// files where the model named none.
pub(crate) fn with_true_citations(
    summary: &str,
    question: &str,
    results: &[SnippetOf],
) -> TrueCitations {
    let cited = Cited { summary, question, results, removed: RefCell::default() };
    let mut n_cited = 0;
    let mut kept = String::with_capacity(summary.len());
    for line in summary.split_inclusive('\n') {
        match line.trim_start().starts_with('|') {
            true => kept.push_str(&cited.row(line, &mut n_cited)),
            false => kept.push_str(&cited.text(line, &mut n_cited)),
        }
    }
    if n_cited == 0 {
        let used = results.iter().filter(|result| shares_words(&kept, &result.snippet, 2));
        let mut names: Vec<&str> = used.map(|result| file_name(&result.path)).collect();
        names.dedup();
        if !names.is_empty() {
            kept.push_str(&format!("\n\n[{}]", names.join(", ")));
        }
    }
    TrueCitations { text: kept, removed: cited.removed.into_inner() }
}

/// What may be cited.
struct Cited<'a> {
    summary: &'a str,
    question: &'a str,
    results: &'a [SnippetOf],
    removed: RefCell<Vec<String>>,
}

impl Cited<'_> {
    fn text(&self, text: &str, n_cited: &mut usize) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, open, close)) = next_bracket(rest) {
            kept.push_str(&self.prose(&rest[..at]));
            let inside = &rest[at + open.len_utf8()..];
            let Some((names, after)) = inside.split_once(close) else {
                kept.push(open);
                rest = inside;
                continue;
            };
            let mut named = Vec::new();
            let mut is_any_false = false;
            for part in names.split(BETWEEN).map(str::trim) {
                if self.is_true(part) {
                    *n_cited += 1;
                    named.push(part);
                } else if self.is_false(part, open) {
                    self.removed.borrow_mut().push(part.to_owned());
                    is_any_false = true;
                } else {
                    named.push(part);
                }
            }
            // What is left in the brackets, or all of it as it was written.
            if !is_any_false {
                kept.push_str(&format!("{open}{names}{close}"));
            } else if !named.is_empty() {
                kept.push_str(&format!("{open}{}{close}", named.join(", ")));
            }
            rest = after;
        }
        kept.push_str(&self.prose(rest));
        kept
    }

    /// Text outside of brackets: a document that is named there and was neither given nor asked for
    /// is an invention, too. `node.js` is a word.
    fn prose(&self, text: &str) -> String {
        let words = text.split_inclusive(char::is_whitespace).map(|word| {
            let name = word.trim_matches(|char: char| !char.is_alphanumeric());
            if !names_a_document(name) || self.is_known(name) {
                return word.to_owned();
            }
            self.removed.borrow_mut().push(name.to_owned());
            word.replacen(name, "…", 1)
        });
        words.collect()
    }

    /// Tells whether a name is of a file that was given, or is said in the question or a source.
    fn is_known(&self, name: &str) -> bool {
        let is_said = |text: &str| text.to_lowercase().contains(&name.to_lowercase());
        is_said(self.question)
            || self.results.iter().any(|result| is_said(&result.path) || is_said(&result.snippet))
    }

    /// A row of a table: a cell that is nothing but the name of a file is a citation.
    fn row(&self, row: &str, n_cited: &mut usize) -> String {
        let cells = row.split('|').map(|cell| {
            let name = cell.trim();
            if self.is_true(name) && names_a_file(name) {
                *n_cited += 1;
                return cell.to_owned();
            }
            if !name.contains(char::is_whitespace) && self.is_false(name, '(') {
                self.removed.borrow_mut().push(name.to_owned());
                return cell.replace(name, "");
            }
            self.text(cell, n_cited)
        });
        cells.collect::<Vec<_>>().join("|")
    }

    /// Tells whether a part names a file that was given and of which something was said.
    fn is_true(&self, part: &str) -> bool {
        if let Some(number) = number_of(part) {
            return (1..=self.results.len()).contains(&number) && !self.is_said(part);
        }
        // What was said in another language shares no words with its source.
        let language = detect_language(self.summary);
        self.results.iter().any(|result| {
            (part.contains(&result.path) || is_named(part, file_name(&result.path)))
                && (detect_language(&result.snippet) != language
                    || shares_words(self.summary, &result.snippet, 1))
        })
    }

    /// Tells whether a part names a file that may not be named.
    fn is_false(&self, part: &str, open: char) -> bool {
        if number_of(part).is_some() {
            // A year or an amount that a source has in brackets is no citation.
            return open == '[' && !self.is_said(part);
        }
        let is_claim = if open == '[' { has_ending(part) } else { names_a_file(part) };
        // What a source itself says in words is no citation.
        let is_quoted = || self.results.iter().any(|result| result.snippet.contains(part));
        is_claim && (open == '[' || !is_quoted())
    }

    /// Tells whether a source itself has this in square brackets.
    fn is_said(&self, part: &str) -> bool {
        let bracketed = format!("[{part}]");
        self.results.iter().any(|result| result.snippet.contains(&bracketed))
    }
}

/// Reads a citation by number: `7`, `^7`, `source 7`.
fn number_of(part: &str) -> Option<usize> {
    let bare = part.trim_start_matches('^');
    let lower = bare.to_lowercase();
    let names = ["source ", "snippet ", "result ", "ref ", "quelle "];
    let bare = names.iter().find_map(|name| lower.strip_prefix(name)).unwrap_or(&lower).trim();
    let is_number = (1..=3).contains(&bare.len()) && bare.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| bare.parse().ok()).flatten()
}

fn next_bracket(text: &str) -> Option<(usize, char, char)> {
    text.char_indices().find_map(|(at, char)| {
        let (open, close) = BRACKETS.iter().find(|(open, _)| *open == char)?;
        Some((at, *open, *close))
    })
}

/// Tells whether a part holds a name that begins and ends there: `b.md` is not in `ab.md`.
fn is_named(part: &str, name: &str) -> bool {
    part.match_indices(name).any(|(at, _)| {
        let is_word = |char: char| char.is_alphanumeric() || "._-".contains(char);
        let before = part[..at].chars().next_back();
        let after = part[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn has_ending(part: &str) -> bool {
    let ext = Path::new(part).extension().and_then(|ext| ext.to_str());
    ext.is_some_and(|ext| {
        ext.len() <= MAX_EXT_BYTES && ext.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Tells whether a word is the name of a document: code has names that are words of prose.
fn names_a_document(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, ext)| {
        let format = Format::of_extension(ext);
        let is_path = !name.contains("://") && !name.starts_with("www.");
        is_path
            && name.chars().any(char::is_alphabetic)
            && format.is_some_and(|format| format != Format::Code)
    })
}

/// Tells whether a word of a part ends as files do.
fn names_a_file(part: &str) -> bool {
    part.split_whitespace().any(|word| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        word.rsplit_once('.').is_some_and(|(name, ext)| {
            name.chars().any(char::is_alphabetic) && Format::of_extension(ext).is_some()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_files_are_cited() {
        let snippet = |path: &str, snippet: &str| SnippetOf {
            path: path.to_owned(),
            snippet: snippet.to_owned(),
        };
        let results = [snippet("/a/plan.docx", "one harbour"), snippet("/a/b.md", "two railways")];
        let check = |written: &str, expected: &str| {
            assert_eq!(with_true_citations(written, "", &results).text, expected);
        };
        check("- One [plan.docx]\n- Two [/a/b.md]", "- One [plan.docx]\n- Two [/a/b.md]");
        check("One [plan.docx, other.pdf]. Two [x.md].", "One [plan.docx]. Two .");
        check("See [note] in [b.md", "See [note] in [b.md");
        check("Nothing", "Nothing");
        // A file of which nothing is said is no source, whatever the model claims.
        check(
            "The harbour is one of many [plan.docx, b.md].",
            "The harbour is one of many [plan.docx].",
        );
        // A model that names no file gets those whose words it used.
        let results = [
            SnippetOf {
                path: "/a/plan.docx".to_owned(),
                snippet: "The harbour opens in May".to_owned(),
            },
            SnippetOf { path: "/a/b.md".to_owned(), snippet: "Budget of the railway".to_owned() },
        ];
        let written = with_true_citations("In May the harbour opens.", "", &results).text;
        assert_eq!(written, "In May the harbour opens.\n\n[plan.docx]");
    }

    /// `[7]` of two results was let through.
    #[test]
    fn numbers_of_results_that_were_not_given_are_taken_out() {
        let snippet = |path: &str, snippet: &str| SnippetOf {
            path: path.to_owned(),
            snippet: snippet.to_owned(),
        };
        let results =
            [snippet("/a/plan.docx", "harbour cranes [12]"), snippet("/a/b.md", "two railways")];
        let check = |written: &str, expected: &str, removed: &[&str]| {
            let cited = with_true_citations(written, "", &results);
            assert_eq!(cited.text, expected);
            assert_eq!(cited.removed, removed);
        };
        check("One harbour [1].", "One harbour [1].", &[]);
        check("Harbour cranes [7].", "Harbour cranes .\n\n[plan.docx]", &["7"]);
        check("One harbour [1, 7]. Two [source 2].", "One harbour [1]. Two [source 2].", &["7"]);
        check("One harbour [12] (7) [1]", "One harbour [12] (7) [1]", &[]);
        check("One harbour [1] [x.md]", "One harbour [1] ", &["x.md"]);
    }

    /// A model put the name of a file that nobody gave it into round brackets.
    #[test]
    fn invented_files_are_taken_out_of_every_bracket() {
        let snippet = |path: &str, snippet: &str| SnippetOf {
            path: path.to_owned(),
            snippet: snippet.to_owned(),
        };
        let results = [
            snippet("/a/plan.docx", "one harbour, built with node.js"),
            snippet("/a/annual report.pdf", "two railways"),
        ];
        let check = |written: &str, expected: &str| {
            assert_eq!(with_true_citations(written, "", &results).text, expected);
        };
        check("One harbour (plan.docx).", "One harbour (plan.docx).");
        check("One harbour (other.pdf) [plan.docx].", "One harbour  [plan.docx].");
        check("One harbour (see other.pdf, plan.docx).", "One harbour (plan.docx).");
        check("港（other.pdf）one harbour [plan.docx]", "港one harbour [plan.docx]");
        check(
            "Two railways (annual report.pdf, page 3).",
            "Two railways (annual report.pdf, page 3).",
        );
        check("One harbour (source: myplan.docx) [plan.docx].", "One harbour  [plan.docx].");
        // Outside of brackets as well.
        check("**other.pdf**: one harbour [plan.docx]", "**…**: one harbour [plan.docx]");
        check(
            "See `ghost.xlsx` and plan.docx: one harbour [1]",
            "See `…` and plan.docx: one harbour [1]",
        );
        check(
            "A report.pdf of two railways [annual report.pdf], Vue.js",
            "A report.pdf of two railways [annual report.pdf], Vue.js",
        );
        // Figures, abbreviations and what a source says are no citations.
        check(
            "One harbour (v1.2, 3.5 m, e.g. north; node.js) [plan.docx]",
            "One harbour (v1.2, 3.5 m, e.g. north; node.js) [plan.docx]",
        );
        check(
            "| File | Point |\n| plan.docx | One harbour |\n| other.pdf | It is old (x.md) |\n",
            "| File | Point |\n| plan.docx | One harbour |\n|  | It is old  |\n",
        );
    }
}
