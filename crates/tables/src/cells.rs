//! Long cells, shown in pieces: a window of characters over every text of a page, and the offset
//! at which the rest is read.
//!
//! A cell that is no longer than the first piece is whole at every offset, as a number is: rows stay
//! readable while one reads on. Longer cells are all shown from the same offset, so that one
//! `offset` reads on in all of them: following it to the end gives every character of each exactly
//! once.

use std::ops::Range;

use columns::Value;
use model::Warning;

/// The longest piece of a cell beside many rows, in characters; `offset` reads on. A call for a
/// few rows shows longer pieces.
pub const MAX_CELL_CHARS: usize = 2000;

/// The end of a piece that is not the end of its cell.
const GOES_ON: char = '…';

/// Which characters of every text are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellWindow {
    /// Characters of the source before the window.
    pub offset: usize,
    /// Characters in it.
    pub max_chars: usize,
    /// Cells of at most so many characters are whole at every offset: the length of the first
    /// piece.
    pub whole_chars: usize,
}

impl CellWindow {
    /// Gives the window of the usual length at an offset.
    pub fn at(offset: usize) -> Self {
        CellWindow { offset, ..CellWindow::first(MAX_CELL_CHARS) }
    }

    /// Gives the window over the beginning of cells.
    pub fn first(max_chars: usize) -> Self {
        CellWindow { offset: 0, max_chars, whole_chars: max_chars }
    }

    fn end(self) -> usize {
        self.offset.saturating_add(self.max_chars)
    }
}

/// Gives what may be shown of a field's text at a range of bytes; none to show it as it is.
pub type ShowPiece<'a> = dyn FnMut(&str, &str, Range<usize>) -> Option<String> + 'a;

/// Which cells go on behind their window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CutCells {
    n_cells: usize,
    columns: Vec<String>,
    /// Cells of which a piece is shown, and not the whole.
    n_pieces: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    /// Whether it goes on behind the window.
    goes_on: bool,
    /// Whether a piece of it is shown, and not the whole.
    is_piece: bool,
}

impl CutCells {
    /// Leaves of every cell what is in the window, and remembers which go on.
    pub(crate) fn cut(
        columns: &[String],
        rows: &mut [Vec<Value>],
        window: CellWindow,
        piece: &mut ShowPiece<'_>,
    ) -> Self {
        let mut cut = CutCells::default();
        for row in rows {
            for (name, cell) in columns.iter().zip(row) {
                let mut show = |text: &str, bytes: Range<usize>| piece(name, text, bytes);
                let Shown { goes_on, is_piece } = show_cell(cell, window, &mut show);
                cut.n_pieces += usize::from(is_piece);
                if goes_on {
                    cut.n_cells += 1;
                    if !cut.columns.contains(name) {
                        cut.columns.push(name.clone());
                    }
                }
            }
        }
        cut
    }

    /// Gives the offset at which the cells go on, and says how to read on; none when all end. An
    /// offset behind the end of every cell is said, too.
    pub(crate) fn rest(&self, window: CellWindow) -> Option<(Option<usize>, Warning)> {
        let (next, n_cells) = (window.end(), self.n_cells);
        if n_cells == 0 && self.n_pieces == 0 && window.offset > 0 {
            let message = format!(
                "`offset` {} is behind the end of every long cell: leave it out to begin again",
                window.offset
            );
            return Some((None, Warning::new("offset_too_far", message)));
        }
        let long = match n_cells {
            0 => return None,
            1 => "1 cell is cut".to_owned(),
            _ => format!("{n_cells} cells are cut"),
        };
        let message = format!(
            "{long} at `{GOES_ON}` ({}): to read on, call again with the same arguments \
             and `offset`: {next}; fewer rows or columns in one call give longer pieces",
            self.columns.join(", ")
        );
        Some((Some(next), Warning::new("cells_cut", message)))
    }
}

/// Counts the characters that a cell takes in a window at most, about. Where the window begins does
/// not matter: a page holds the same rows at every offset.
pub(crate) fn n_shown_chars(n_chars: usize, window: CellWindow) -> usize {
    n_chars.min(window.max_chars)
}

/// Leaves of a cell what is in the window.
///
/// The elements of a list are as if one behind the other: one that reaches over the end of the
/// window ends in `…`, and its rest is the first element of the next.
fn show_cell(
    cell: &mut Value,
    window: CellWindow,
    show: &mut dyn FnMut(&str, Range<usize>) -> Option<String>,
) -> Shown {
    match cell {
        Value::Text(text) => {
            // Texts in bytes are as long as in characters or longer.
            let is_whole =
                text.len() <= window.whole_chars || text.chars().nth(window.whole_chars).is_none();
            let window = if is_whole { everything() } else { window };
            let (shown, goes_on) = piece_of(text, window.offset..window.end(), show);
            *text = shown;
            Shown { goes_on, is_piece: !is_whole && !text.is_empty() }
        }
        Value::List(items) => {
            let is_whole = items.iter().map(n_item_chars).sum::<usize>() <= window.whole_chars;
            let window = if is_whole { everything() } else { window };
            let mut begin = 0_usize;
            let mut shown = Vec::new();
            let mut goes_on = false;
            for mut item in std::mem::take(items) {
                let end = begin + n_item_chars(&item);
                if let Value::Text(text) = &mut item
                    && begin < window.end()
                    && end > window.offset
                {
                    let from = window.offset.saturating_sub(begin);
                    let (piece, is_cut) = piece_of(text, from..window.end() - begin, show);
                    *text = piece;
                    goes_on |= is_cut;
                    shown.push(item);
                } else if begin >= window.offset && begin < window.end() {
                    shown.push(item);
                } else if begin >= window.end() {
                    goes_on = true;
                }
                begin = end;
            }
            *items = shown;
            Shown { goes_on, is_piece: !is_whole && !items.is_empty() }
        }
        Value::Null
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_) => Shown::default(),
    }
}

/// The window that holds every cell whole.
fn everything() -> CellWindow {
    CellWindow::first(usize::MAX)
}

/// Counts the characters that an element of a list takes. An empty text counts as one, so that it
/// is in one window too.
fn n_item_chars(item: &Value) -> usize {
    let n_chars = match item {
        Value::Text(text) => text.chars().count(),
        other @ (Value::Null
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_)
        | Value::List(_)) => other.to_row_json().to_string().chars().count(),
    };
    n_chars.max(1)
}

/// Gives the characters of a range, and whether there are more behind it.
fn piece_of(
    text: &str,
    chars: Range<usize>,
    show: &mut dyn FnMut(&str, Range<usize>) -> Option<String>,
) -> (String, bool) {
    let place = |n_chars: usize| text.char_indices().nth(n_chars).map(|(at, _)| at);
    let begin = place(chars.start).unwrap_or(text.len());
    let end = place(chars.end);
    let bytes = begin..end.unwrap_or(text.len());
    let shown =
        show(text, bytes.clone()).unwrap_or_else(|| text.get(bytes).unwrap_or_default().to_owned());
    match end {
        Some(_) => (format!("{shown}{GOES_ON}"), true),
        None => (shown, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(_: &str, _: &str, _: Range<usize>) -> Option<String> {
        None
    }

    /// Reads a cell in pieces of this length and gives all of them.
    fn pieces(cell: &Value, max_chars: usize) -> Vec<Value> {
        let columns = ["a".to_owned()];
        let (mut all, mut offset) = (Vec::new(), 0);
        loop {
            let window = CellWindow { offset, ..CellWindow::first(max_chars) };
            let mut rows = vec![vec![cell.clone()]];
            let cut = CutCells::cut(&columns, &mut rows, window, &mut plain);
            all.push(rows.remove(0).remove(0));
            match cut.rest(window) {
                Some((Some(next), _)) => offset = next,
                Some((None, _)) | None => return all,
            }
        }
    }

    fn without_mark(text: &str) -> &str {
        text.strip_suffix(GOES_ON).unwrap_or(text)
    }

    proptest! {
        /// Reading on gives every character of a text exactly once, whatever the length of a
        /// piece.
        #[test]
        fn a_text_is_read_to_its_end(text in "[a-zé長 \n]{0,60}", max_chars in 1_usize..20) {
            let read: String = pieces(&Value::from(text.as_str()), max_chars)
                .iter()
                .map(|piece| without_mark(piece.as_str().unwrap()).to_owned())
                .collect();
            prop_assert_eq!(read, text);
        }

        /// Reading on gives every element of a list once; one that was cut goes on as the first
        /// element of the next piece.
        #[test]
        fn a_list_is_read_to_its_end(
            items in proptest::collection::vec("[a-zé長]{0,12}", 0..12), max_chars in 1_usize..20,
        ) {
            let mut read: Vec<String> = Vec::new();
            let mut is_open = false;
            for piece in pieces(&Value::List(items.iter().map(|item| item.as_str().into()).collect()), max_chars) {
                let Value::List(piece) = piece else { unreachable!("a list stays one") };
                for item in &piece {
                    let item = item.as_str().unwrap();
                    if is_open {
                        read.last_mut().unwrap().push_str(without_mark(item));
                    } else {
                        read.push(without_mark(item).to_owned());
                    }
                    is_open = item.ends_with(GOES_ON);
                }
            }
            prop_assert_eq!(read, items);
        }
    }

    #[test]
    fn numbers_and_empty_cells_are_shown_at_every_offset() {
        let number = |number: i64| Value::Integer(number);
        let list = |numbers: &[i64]| Value::List(numbers.iter().copied().map(number).collect());
        assert_eq!(pieces(&number(1_234_567), 2), [number(1_234_567)]);
        assert_eq!(pieces(&Value::Null, 2), [Value::Null]);
        assert_eq!(pieces(&list(&[12, 34, 56]), 2), [list(&[12]), list(&[34]), list(&[56])]);
        assert_eq!(pieces(&"abc".into(), 2), ["ab…".into(), Value::from("c")]);
    }

    #[test]
    fn the_notice_names_the_call_that_reads_on() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let mut rows = vec![vec!["abc".into(), 1.into()], vec!["ab".into(), Value::from("abcd")]];
        let window = CellWindow { offset: 1, ..CellWindow::first(1) };
        let (next, notice) =
            CutCells::cut(&columns, &mut rows, window, &mut plain).rest(window).unwrap();
        assert_eq!(rows, [["b…".into(), 1.into()], ["b".into(), Value::from("b…")]]);
        assert_eq!(next, Some(2));
        assert_eq!(
            notice.message,
            "2 cells are cut at `…` (a, b): to read on, call again with the same arguments \
             and `offset`: 2; fewer rows or columns in one call give longer pieces"
        );
    }

    /// Ids, moments and states became empty texts at an offset behind their end.
    #[test]
    fn cells_that_were_not_cut_are_whole_at_every_offset() {
        let columns = ["id".to_owned(), "tags".to_owned(), "note".to_owned()];
        let tags = Value::List(vec!["a".into(), "b".into()]);
        let row = vec!["r1".into(), tags.clone(), Value::from("0123456789")];
        for (offset, note) in [(0, "0123…"), (4, "4567…"), (8, "89"), (12, "")] {
            let mut rows = vec![row.clone()];
            let window = CellWindow { offset, ..CellWindow::first(4) };
            let rest = CutCells::cut(&columns, &mut rows, window, &mut plain).rest(window);
            assert_eq!(rows, [vec!["r1".into(), tags.clone(), note.into()]], "{offset}");
            // Behind every cell there is a sentence and no way on.
            let said =
                rest.map(|(next, warning)| (next, warning.message.contains("behind the end")));
            let expected = match offset {
                0 | 4 => Some((Some(offset + 4), false)),
                8 => None,
                _ => Some((None, true)),
            };
            assert_eq!(said, expected, "{offset}");
        }
        // A later piece may be shorter than the first, which decided what is whole.
        let window = CellWindow { offset: 4, max_chars: 1, whole_chars: 4 };
        let mut rows = vec![row];
        CutCells::cut(&columns, &mut rows, window, &mut plain);
        assert_eq!(rows, [vec!["r1".into(), tags, "4…".into()]]);
        assert_eq!(n_shown_chars(9, CellWindow::at(7_000)), n_shown_chars(9, CellWindow::at(0)));
    }
}
