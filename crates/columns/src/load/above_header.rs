//! Titles and notes that people put above the names of the columns, in sheets and in the text
//! that sheets are saved as.
//!
//! A row that holds one cell and has a table of several columns below it names no columns. Where
//! that is in doubt the first row is the header, as it always was.

use model::MAX_LINES_ABOVE;

/// How many rows are looked at.
pub(super) const LOOKED_AT: usize = 60;
/// The share of the rows below a header that must be no wider than it, and hold several cells.
const LEAST_FITTING: f64 = 0.8;
/// A header this wide is told from the rows above it by its width alone.
const WIDE: usize = 3;

/// What a row looks like from afar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    /// Cells up to the last one that is not empty.
    pub(super) width: usize,
    /// Cells that are not empty.
    pub(super) n_filled: usize,
}

impl Shape {
    /// Looks at the cells of a row: whether each is filled.
    pub(super) fn of(filled: impl Iterator<Item = bool>) -> Self {
        let mut shape = Shape::default();
        for (place, _) in filled.enumerate().filter(|(_, is_filled)| *is_filled) {
            shape.width = place + 1;
            shape.n_filled += 1;
        }
        shape
    }
}

/// Gives the number of rows above the header, blank ones among them.
pub(super) fn n_above(rows: &[Shape]) -> usize {
    let is_header = |at: usize| {
        let header = rows[at];
        let below: Vec<&Shape> = rows[at + 1..].iter().filter(|row| row.n_filled > 0).collect();
        let n_fitting =
            below.iter().filter(|row| row.n_filled > 1 && row.width <= header.width).count();
        header.n_filled > 1 && n_fitting as f64 >= LEAST_FITTING * below.len().max(1) as f64
    };
    let n_blank = rows.iter().take_while(|row| row.n_filled == 0).count();
    let above = rows.iter().take(MAX_LINES_ABOVE).take_while(|row| row.n_filled <= 1).count();
    if above == n_blank || above >= rows.len() || !is_header(above) {
        return n_blank.min(rows.len());
    }
    let is_apart = rows[n_blank..above].iter().any(|row| row.n_filled == 0);
    // The index of a table of two columns has no name: `,value` is a header.
    let is_index = rows[above - 1].width > 1;
    let is_told = rows[above].width >= WIDE || (is_apart && !is_index);
    if is_told { above } else { n_blank }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[&str], expected: usize) {
        let shapes: Vec<Shape> =
            rows.iter().map(|row| Shape::of(row.split(',').map(|cell| !cell.is_empty()))).collect();
        assert_eq!(n_above(&shapes), expected, "{rows:?}");
    }

    #[test]
    fn titles_and_notes_are_above() {
        check(&["Sales", "a,b,c", "1,2,3"], 1);
        check(&["Sales,,", "", "a,b,c", "1,2,3"], 2);
        check(&["Sales", "in euro", "", "a,b", "1,2"], 3);
        check(&["", "a,b", "1,2"], 1);
    }

    #[test]
    fn headers_stay_headers() {
        check(&["a,b,c", "1,2,3"], 0);
        check(&["a", "1", "2"], 0);
        check(&["address", "Main St 5,Town", "Low St 6,Town"], 0);
        check(&[",value", "0,5", "1,6"], 0);
        check(&["a,b,c", "1,2", "3,4,5,6", "7,8,9"], 0);
        check(&["a,,c", "1,2,3"], 0);
        check(&["text", "one, and two, and three", "four", "five", "six"], 0);
        check(&[], 0);
        check(&[""], 1);
    }
}
