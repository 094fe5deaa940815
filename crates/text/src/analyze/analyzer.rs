//! The analyser itself: runs in, tokens out.

use model::Span;

use crate::analyze::compound::{self, Part};
use crate::analyze::forms::{Forms, Memory};
use crate::analyze::hidden::OpenTexts;
use crate::analyze::ideographs::{self, Unit};
use crate::analyze::scan::{Run, RunKind, Scanner};
use crate::analyze::token::{Token, TokenKind, TokenRef};
use crate::language::{Language, detect_language};

/// Cuts text into words, the same way for the index and for the query.
///
/// An index written under one [`Analyzer::id`] and [`Analyzer::version`] must not be read under
/// another: the manifest keeps both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Analyzer;

/// Buffers and remembered words, reused from text to text. One for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    memory: Memory,
    parts: Vec<Part>,
    units: Vec<Unit>,
    /// Texts that have nothing private.
    pub(super) open: OpenTexts,
}

impl Scratch {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Scratch::default()
    }
}

impl Analyzer {
    /// Makes the analyser.
    pub const fn new() -> Self {
        Analyzer
    }

    /// Gives the name that goes into index manifests.
    pub fn id(&self) -> &'static str {
        "dowse-fold-stem-bigram"
    }

    /// Gives the version that goes into index manifests; it grows whenever a text could give
    /// other tokens than before.
    pub fn version(&self) -> u32 {
        6
    }

    /// Cuts a text in the language it is detected to be in.
    ///
    /// ```
    /// let tokens = text::Analyzer::new().analyze("Școlile din Cluj");
    /// assert_eq!(tokens[0].exact, "școlile");
    /// assert_eq!(tokens[0].folded, "scolile");
    /// assert_eq!(tokens[0].stem, "scol");
    /// assert_eq!(tokens[0].chars, model::Span::new(0, 7));
    /// ```
    pub fn analyze(&self, text: &str) -> Vec<Token> {
        self.analyze_in(text, detect_language(text))
    }

    /// Cuts a text in a given language.
    pub fn analyze_in(&self, text: &str, language: Language) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.visit(text, language, &mut Scratch::new(), |token| tokens.push(token.to_token()));
        tokens
    }

    /// Shows every token of a text to a visitor, in order of position; a compound comes before
    /// its parts, a character before the bigram it starts.
    ///
    /// Only words not met lately allocate. Passages of one document should all be given the
    /// language of the whole document.
    pub fn visit(
        &self,
        text: &str,
        language: Language,
        scratch: &mut Scratch,
        visitor: impl FnMut(&TokenRef<'_>),
    ) {
        self.visit_wanted(text, language, scratch, |_| true, visitor);
    }

    /// Shows the same tokens without those plain words that are not wanted, and counts these:
    /// telling a word by its first letters is far cheaper than spelling it.
    pub(crate) fn visit_wanted(
        &self,
        text: &str,
        language: Language,
        scratch: &mut Scratch,
        is_wanted: impl Fn(&str) -> bool,
        mut visitor: impl FnMut(&TokenRef<'_>),
    ) -> usize {
        let Scratch { memory, parts, units, .. } = scratch;
        memory.start(language);
        let (mut position, mut n_passed_over) = (0, 0);
        for run in Scanner::new(text) {
            let Some(source) = text.get(run.bytes.clone()) else { continue };
            match run.kind {
                RunKind::Plain if !is_wanted(source) => {
                    position += 1;
                    n_passed_over += 1;
                }
                RunKind::Plain => {
                    visitor(&plain(memory.word(source), TokenKind::Word, position, &run));
                    position += 1;
                }
                RunKind::Compound => {
                    position += visit_compound(source, &run, position, memory, parts, &mut visitor);
                }
                RunKind::Ideographs => {
                    ideographs::normalise(source, run.bytes.start, run.char_start, units);
                    position += visit_units(units, position, &mut visitor);
                }
            }
        }
        n_passed_over
    }
}

fn plain<'a>(forms: &'a Forms, kind: TokenKind, position: u32, run: &Run) -> TokenRef<'a> {
    TokenRef {
        exact: forms.exact(),
        folded: forms.folded(),
        stem: forms.stem(),
        kind,
        position,
        n_positions: 1,
        bytes: run.bytes.clone(),
        chars: Span::new(run.char_start, run.char_start + run.n_chars),
    }
}

/// Shows a compound and its parts; gives the number of positions taken.
fn visit_compound(
    source: &str,
    run: &Run,
    position: u32,
    memory: &mut Memory,
    parts: &mut Vec<Part>,
    visitor: &mut impl FnMut(&TokenRef<'_>),
) -> u32 {
    if let Some(word) = compound::without_ending(source) {
        let n_cut = source.get(word.len()..).map_or(0, |ending| ending.chars().count());
        let run = Run {
            bytes: run.bytes.start..run.bytes.start + word.len(),
            n_chars: run.n_chars - n_cut,
            char_start: run.char_start,
            kind: RunKind::Plain,
        };
        visitor(&plain(memory.word(word), TokenKind::Word, position, &run));
        return 1;
    }
    compound::split(source, parts);
    let is_whole = |part: &Part| part.byte_start == 0 && part.byte_end == source.len();
    if let [part] = parts.as_slice()
        && is_whole(part)
    {
        visitor(&plain(memory.word(source), TokenKind::Word, position, run));
        return 1;
    }
    let n_parts = u32::try_from(parts.len()).unwrap_or(u32::MAX).max(1);
    let whole = plain(memory.compound(source), TokenKind::Compound, position, run);
    visitor(&TokenRef { n_positions: n_parts, ..whole });
    for (part_position, part) in (position..).zip(parts.iter()) {
        let Some(part_source) = source.get(part.byte_start..part.byte_end) else { continue };
        // A plural such as `PDFs` is the same word inside a compound as outside of it.
        let part_source = compound::without_ending(part_source).unwrap_or(part_source);
        let byte_start = run.bytes.start + part.byte_start;
        let part_run = Run {
            bytes: byte_start..byte_start + part_source.len(),
            char_start: run.char_start + part.char_start,
            n_chars: part_source.chars().count(),
            kind: RunKind::Plain,
        };
        visitor(&plain(memory.word(part_source), TokenKind::Part, part_position, &part_run));
    }
    n_parts
}

/// Shows the characters and bigrams of a run; gives the number of positions taken.
fn visit_units(units: &[Unit], position: u32, visitor: &mut impl FnMut(&TokenRef<'_>)) -> u32 {
    for (unit_idx, (unit_position, unit)) in (position..).zip(units).enumerate() {
        let mut exact = [0; 4];
        let mut folded = [0; 4];
        let exact = &*unit.exact.encode_utf8(&mut exact);
        let folded = &*unit.folded.encode_utf8(&mut folded);
        visitor(&TokenRef {
            exact,
            folded,
            stem: folded,
            kind: TokenKind::Character,
            position: unit_position,
            n_positions: 1,
            bytes: unit.bytes.clone(),
            chars: Span::new(unit.chars.start, unit.chars.end),
        });
        let Some(next) = units.get(unit_idx + 1) else { continue };
        let mut exact = [0; 8];
        let mut folded = [0; 8];
        let exact = pair(unit.exact, next.exact, &mut exact);
        let folded = pair(unit.folded, next.folded, &mut folded);
        visitor(&TokenRef {
            exact,
            folded,
            stem: folded,
            kind: TokenKind::Bigram,
            position: unit_position,
            n_positions: 1,
            bytes: unit.bytes.start..next.bytes.end,
            chars: Span::new(unit.chars.start, next.chars.end),
        });
    }
    u32::try_from(units.len()).unwrap_or(u32::MAX)
}

fn pair(first: char, second: char, buffer: &mut [u8; 8]) -> &str {
    let first_len = first.len_utf8();
    first.encode_utf8(buffer);
    let (_, rest) = buffer.split_at_mut(first_len);
    let len = first_len + second.encode_utf8(rest).len();
    let written = buffer.get(..len).unwrap_or_default();
    std::str::from_utf8(written).unwrap_or_default()
}
