//! Splits one record of delimited text into its cells.

/// A cell inside the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Doubled quotes inside must become single.
    pub(super) has_doubled_quotes: bool,
    pub(super) is_quoted: bool,
}

impl Cell {
    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// How far a quote reaches.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Quotes {
    /// To the next one, over any number of lines.
    Honoured,
    /// To the next one of its line; one that has none is a letter.
    WithinLine,
    /// Nowhere: each is a letter.
    Letters,
}

#[derive(Clone, Copy)]
pub(super) struct Parsed {
    pub(super) n_bytes: usize,
    pub(super) n_lines: u64,
    /// Ended by a line break and not by the end of the bytes.
    pub(super) is_terminated: bool,
}

/// Splits one record. `None` when a quote is still open at the end of the bytes.
pub(super) fn split(
    bytes: &[u8],
    base: usize,
    delimiter: u8,
    cells: &mut Vec<Cell>,
    quotes: Quotes,
) -> Option<Parsed> {
    let mut at = 0;
    let mut n_breaks_inside = 0;
    loop {
        let between_quotes = match bytes.get(at) {
            Some(b'"') if quotes != Quotes::Letters => {
                between_quotes(bytes, at, delimiter, quotes)?
            }
            _ => None,
        };
        if let Some(inside) = between_quotes {
            n_breaks_inside += inside.n_breaks;
            cells.push(Cell {
                start: base + at + 1,
                end: base + inside.end,
                has_doubled_quotes: inside.has_doubled,
                is_quoted: true,
            });
            at = inside.after;
        } else {
            let end = at + cell_end(&bytes[at..], delimiter);
            let ends_line = bytes.get(end) != Some(&delimiter);
            let shown = if ends_line { trimmed(bytes, at, end) } else { end };
            cells.push(Cell {
                start: base + at,
                end: base + shown,
                has_doubled_quotes: false,
                is_quoted: false,
            });
            at = end;
        }
        match bytes.get(at) {
            Some(byte) if *byte == delimiter => at += 1,
            Some(_) => {
                return Some(Parsed {
                    n_bytes: at + 1,
                    n_lines: n_breaks_inside + 1,
                    is_terminated: true,
                });
            }
            None => {
                return Some(Parsed {
                    n_bytes: at,
                    n_lines: n_breaks_inside + 1,
                    is_terminated: false,
                });
            }
        }
    }
}

/// What is between two quotes.
struct Inside {
    /// The place of the closing quote.
    end: usize,
    /// The place of the delimiter or line break behind it.
    after: usize,
    has_doubled: bool,
    n_breaks: u64,
}

/// Finds what a quote at this place opens: nothing, where it is a letter like any other, as in
/// `5" pipe`. `None` when it is still open at the end of the bytes.
#[expect(clippy::option_option, reason = "open, no quote, and quoted are three answers")]
fn between_quotes(
    bytes: &[u8],
    open: usize,
    delimiter: u8,
    quotes: Quotes,
) -> Option<Option<Inside>> {
    let start = open + 1;
    let reach = match quotes {
        Quotes::Honoured => bytes.len(),
        Quotes::WithinLine | Quotes::Letters => {
            open + memchr::memchr(b'\n', &bytes[open..]).unwrap_or(bytes.len() - open)
        }
    };
    let close = match quoted_end(&bytes[start..reach]) {
        Some(close) => close,
        None if quotes == Quotes::Honoured => return None,
        None => return Some(None),
    };
    let end = start + close.at;
    let behind = end + 1;
    let rest = cell_end(&bytes[behind..], delimiter);
    let is_clean = rest == 0 || bytes[behind..behind + rest] == *b"\r";
    let inside = Inside {
        end,
        after: behind + rest,
        has_doubled: close.has_doubled,
        n_breaks: memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64,
    };
    Some(is_clean.then_some(inside))
}

struct Close {
    at: usize,
    has_doubled: bool,
}

fn quoted_end(bytes: &[u8]) -> Option<Close> {
    let mut from = 0;
    let mut has_doubled = false;
    loop {
        let at = from + memchr::memchr(b'"', &bytes[from..])?;
        if bytes.get(at + 1) == Some(&b'"') {
            has_doubled = true;
            from = at + 2;
            continue;
        }
        return Some(Close { at, has_doubled });
    }
}

fn cell_end(bytes: &[u8], delimiter: u8) -> usize {
    memchr::memchr2(delimiter, b'\n', bytes).unwrap_or(bytes.len())
}

/// Leaves out a carriage return before the end of a line.
fn trimmed(bytes: &[u8], start: usize, end: usize) -> usize {
    if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
}
