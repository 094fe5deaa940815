//! Merged cells of a sheet: what the first of them holds is meant for all.
//!
//! Headings of several rows give each column one name, `Q1 units`; a cell that reaches down over
//! several rows is in each of them.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::ops::RangeInclusive;

use calamine::{Data, Range, Sheets};

use super::above_header::Shape;
use super::sheet_cells::text_of;

/// The most rows that name the columns together.
const MAX_HEADER_ROWS: usize = 4;
/// The merged cells of a sheet, by places in its range.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Those that begin in a row.
    by_row: HashMap<usize, Vec<Area>>,
    /// For each first column those of several rows, by their first row.
    by_column: HashMap<usize, Vec<Area>>,
}

/// Cells from the first to the last row and column.
#[derive(Debug, Clone, Copy)]
struct Area {
    first_row: usize,
    last_row: usize,
    first_column: usize,
    last_column: usize,
}

impl Merged {
    /// Asks the workbook; formats whose merged cells are not read have none.
    pub(super) fn of(
        workbook: &mut Sheets<BufReader<File>>,
        sheet: &str,
        range: &Range<Data>,
    ) -> Self {
        let areas = match workbook {
            Sheets::Xlsx(workbook) => workbook.merge_cells_by_sheet_name(sheet).ok(),
            Sheets::Xls(workbook) => workbook.merge_cells_by_sheet_name(sheet).ok(),
            Sheets::Xlsb(_) | Sheets::Ods(_) => None,
        };
        let (top, left) = range.start().unwrap_or_default();
        let areas = areas.unwrap_or_default();
        Merged::among(areas.into_iter().filter_map(|area| {
            let place = |at: u32, origin: u32| at.checked_sub(origin).map(|at| at as usize);
            Some(Area {
                first_row: place(area.start.0, top)?,
                last_row: place(area.end.0, top)?,
                first_column: place(area.start.1, left)?,
                last_column: place(area.end.1, left)?.min(range.width().saturating_sub(1)),
            })
        }))
    }

    fn among(areas: impl Iterator<Item = Area>) -> Self {
        let mut merged = Merged::default();
        for area in areas {
            merged.by_row.entry(area.first_row).or_default().push(area);
            if area.last_row > area.first_row {
                merged.by_column.entry(area.first_column).or_default().push(area);
            }
        }
        // Those of a row that overlap are no merged cells, and each of many could be very wide.
        for areas in merged.by_row.values_mut() {
            areas.sort_by_key(|area| area.first_column);
            let mut end = 0;
            areas.retain(|area| {
                let is_apart = area.first_column >= end && area.last_column >= area.first_column;
                end = if is_apart { area.last_column + 1 } else { end };
                is_apart
            });
        }
        merged.by_column.values_mut().for_each(|areas| areas.sort_by_key(|area| area.first_row));
        merged
    }

    fn beginning_in(&self, row_idx: usize) -> &[Area] {
        self.by_row.get(&row_idx).map_or(&[], Vec::as_slice)
    }

    /// Gives the shape of a row. A heading over several columns fills them all, where others are
    /// beside it; a title alone over the whole table is one cell.
    pub(super) fn shape(&self, row_idx: usize, row: &[Data]) -> Shape {
        let is_filled = |cell: &Data| !text_of(cell).trim().is_empty();
        let shape = Shape::of(row.iter().map(is_filled));
        if shape.n_filled < 2 {
            return shape;
        }
        let mut filled: Vec<bool> = row.iter().map(is_filled).collect();
        for area in self.beginning_in(row_idx) {
            if filled.get(area.first_column) == Some(&true) {
                let end = (area.last_column + 1).min(filled.len());
                filled[area.first_column..end].fill(true);
            }
        }
        Shape::of(filled.into_iter())
    }

    /// Gives the last of the rows that name the columns: below headings over several columns is a
    /// row with a name for each.
    pub(super) fn last_header_row(&self, first_row: usize, range: &Range<Data>) -> usize {
        let end = (first_row + MAX_HEADER_ROWS).min(range.height());
        let mut last_row = first_row;
        while last_row + 1 < end && self.has_names_below(last_row, range) {
            last_row += 1;
        }
        last_row
    }

    /// Tells whether the row below has the names that belong to headings over several columns. A
    /// row of values has cells below the names of single columns as well.
    fn has_names_below(&self, row_idx: usize, range: &Range<Data>) -> bool {
        let cell = |row_idx, column| range.get((row_idx, column)).unwrap_or(&Data::Empty);
        let is_heading = |area: &&Area| {
            area.last_column > area.first_column
                && area.last_row == row_idx
                && is_text(cell(row_idx, area.first_column))
        };
        let headings: Vec<&Area> = self.beginning_in(row_idx).iter().filter(is_heading).collect();
        let is_under = |column: usize| {
            headings.iter().any(|area| (area.first_column..=area.last_column).contains(&column))
        };
        let columns = || 0..range.width();
        let is_blank = |row_idx, column| matches!(cell(row_idx, column), Data::Empty);
        // Years are names only where a column beside them says that the row holds no values.
        let is_told = columns().any(|column| {
            !is_under(column) && !is_blank(row_idx, column) && is_blank(row_idx + 1, column)
        });
        let fits = |column: usize| {
            let below = cell(row_idx + 1, column);
            let may_have_name = is_under(column) || is_blank(row_idx, column);
            matches!(below, Data::Empty) || (may_have_name && (is_told || is_text(below)))
        };
        let names = columns().filter(|column| is_under(*column) && !is_blank(row_idx + 1, *column));
        names.count() > 0 && columns().all(fits)
    }

    /// Names the columns by what the rows of their header say, from above.
    pub(super) fn names(&self, header: RangeInclusive<usize>, range: &Range<Data>) -> Vec<String> {
        let mut names = vec![Vec::new(); range.width()];
        for row_idx in header.clone() {
            let mut texts: Vec<String> = (0..range.width())
                .map(|column| {
                    let cell = range.get((row_idx, column));
                    cell.map_or_else(String::new, |cell| text_of(cell).trim().to_owned())
                })
                .collect();
            if header.start() < header.end() {
                for area in self.beginning_in(row_idx) {
                    let text = texts[area.first_column].clone();
                    let end = (area.last_column + 1).min(texts.len());
                    texts[area.first_column..end].fill(text);
                }
            }
            for (name, text) in names.iter_mut().zip(texts) {
                if !text.is_empty() && name.last() != Some(&text) {
                    name.push(text);
                }
            }
        }
        names.into_iter().map(|parts| parts.join(" ")).collect()
    }

    /// Gives the row whose cell is meant for an empty one below it.
    pub(super) fn above(&self, row_idx: usize, column: usize) -> Option<usize> {
        let areas = self.by_column.get(&column)?;
        let n_before = areas.partition_point(|area| area.first_row < row_idx);
        let area = areas[..n_before].last()?;
        (row_idx <= area.last_row).then_some(area.first_row)
    }
}

fn is_text(cell: &Data) -> bool {
    matches!(cell, Data::String(text) if !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use calamine::Cell;

    use super::*;

    /// A sheet of texts; `.` is an empty cell, digits are a number.
    fn sheet(rows: &[&str]) -> Range<Data> {
        let mut cells = Vec::new();
        for (row, text) in rows.iter().enumerate() {
            for (column, text) in text.split(' ').enumerate() {
                let data = match text.parse::<f64>() {
                    Ok(number) => Data::Float(number),
                    Err(_) if text == "." => continue,
                    Err(_) => Data::String(text.to_owned()),
                };
                cells.push(Cell::new((row as u32, column as u32), data));
            }
        }
        Range::from_sparse(cells)
    }

    fn merged(areas: &[[usize; 4]]) -> Merged {
        let area = |[first_row, last_row, first_column, last_column]: &[usize; 4]| Area {
            first_row: *first_row,
            last_row: *last_row,
            first_column: *first_column,
            last_column: *last_column,
        };
        Merged::among(areas.iter().map(area))
    }

    #[track_caller]
    fn check_names(rows: &[&str], areas: &[[usize; 4]], expected: &[&str]) {
        let (range, merged) = (sheet(rows), merged(areas));
        let last = merged.last_header_row(0, &range);
        assert_eq!(merged.names(0..=last, &range), expected, "{rows:?}");
    }

    #[test]
    fn headings_of_several_rows_are_one_name() {
        let rows = ["Region Q1 . Q2 .", ". units EUR units EUR", "North 1 2 3 4"];
        let areas = [[0, 1, 0, 0], [0, 0, 1, 2], [0, 0, 3, 4]];
        check_names(&rows, &areas, &["Region", "Q1 units", "Q1 EUR", "Q2 units", "Q2 EUR"]);
        let rows = ["Year . . .", "Q1 . Q2 .", "a b a b", "1 2 3 4"];
        let areas = [[0, 0, 0, 3], [1, 1, 0, 1], [1, 1, 2, 3]];
        check_names(&rows, &areas, &["Year Q1 a", "Year Q1 b", "Year Q2 a", "Year Q2 b"]);
        let rows = ["Region Sales .", ". 2023 2024", "North 1 2"];
        check_names(&rows, &[[0, 0, 1, 2]], &["Region", "Sales 2023", "Sales 2024"]);
        let rows = [". Sales .", "Region May June", "North 1 2"];
        check_names(&rows, &[[0, 0, 1, 2]], &["Region", "Sales May", "Sales June"]);
    }

    #[test]
    fn a_wide_name_above_rows_is_one_row() {
        check_names(&["name note .", "a 1 2", "b 3 4"], &[[0, 0, 1, 2]], &["name", "note", ""]);
        check_names(&["name note .", "a x y"], &[[0, 0, 1, 2]], &["name", "note", ""]);
        check_names(&["2023 .", "1 2"], &[[0, 0, 0, 1]], &["2023", ""]);
        check_names(&["a b", "x y"], &[], &["a", "b"]);
    }

    #[test]
    fn a_cell_over_several_rows_is_in_each() {
        let merged = merged(&[[1, 3, 0, 0], [5, 6, 0, 1]]);
        let above: Vec<Option<usize>> = (0..8).map(|row| merged.above(row, 0)).collect();
        assert_eq!(above, [None, None, Some(1), Some(1), None, None, Some(5), None]);
        assert_eq!(merged.above(6, 1), None);
    }
}
