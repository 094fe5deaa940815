//! Sheets of a workbook as people name them, and where a row of one is in its text.

use model::{Passage, Pointer};

use crate::whole_text::WholeText;

/// Finds sheets of the file by name or number, whatever the case and the quotes, with the cells
/// that are named behind them: `Q2!A1:C9`, `Q2 A100`, `Q2 row 50`, `2`.
pub(super) fn named(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    let names = names(passages);
    let quotes = ['\'', '"', '`', '‘', '’', '“', '”', ' '];
    let wanted = text.trim_matches(quotes).to_lowercase();
    let sheet = |name: &str, range| Pointer::Sheet { name: name.to_owned(), range };
    let in_any_case = names.iter().find(|name| name.to_lowercase() == wanted);
    let folded = || names.iter().find(|name| text::fold(name) == text::fold(&wanted));
    if let Some(name) = in_any_case.or_else(folded) {
        return vec![sheet(name, None)];
    }
    // The longest name first: `Q2 draft A1` is of `Q2 draft` where there is one.
    let mut longest = names.clone();
    longest.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let lower = text::fold(text.trim().trim_start_matches(quotes));
    for name in longest {
        let Some(rest) = lower.strip_prefix(&text::fold(name)) else { continue };
        let behind = rest.trim_start_matches(quotes);
        let cells = behind.trim_start_matches(['!', ',', ':', '.', ' ']);
        if cells.len() < rest.len() {
            return cells_of(cells).map(|range| sheet(name, Some(range))).into_iter().collect();
        }
    }
    let number: Option<usize> = wanted.parse().ok();
    let counted = number.and_then(|number| names.get(number.checked_sub(1)?));
    counted.map(|name| sheet(name, None)).into_iter().collect()
}

/// Finds a row where the file has one sheet alone.
pub(super) fn row_of_only_sheet(row: u32, passages: &[Passage]) -> Option<Pointer> {
    match names(passages).as_slice() {
        [name] => Some(Pointer::Sheet { name: (*name).to_owned(), range: Some(format!("A{row}")) }),
        _ => None,
    }
}

/// Finds the passages with a row of a range, and the character where the row begins.
pub(super) fn rows(
    name: &str,
    range: &str,
    passages: &[Passage],
) -> Option<(std::ops::Range<usize>, usize)> {
    let (row, _) = row_numbers(range)?;
    let has_row = |pointer: &Pointer| {
        let Pointer::Sheet { name: other, range: Some(range) } = pointer else { return false };
        let is_inside = |(first, last)| (first..=last).contains(&row);
        other == name && row_numbers(range).is_some_and(is_inside)
    };
    let begin = passages.iter().position(|passage| has_row(&passage.pointer))?;
    let block = &passages[begin].pointer;
    let n_passages =
        passages[begin..].iter().take_while(|passage| passage.pointer == *block).count();
    let covered = begin..begin + n_passages;
    let Pointer::Sheet { range: Some(block), .. } = block else { return None };
    let (first, last) = row_numbers(block)?;
    let text = WholeText::of(&passages[covered.clone()], &crate::lines::Lines::default());
    // A row is a line of the block; where the lines are others, the block begins.
    let ends: Vec<usize> = text.breaks().collect();
    let is_by_line = ends.len() == (last - first) as usize;
    let line = match (row - first) as usize {
        0 => 0,
        n_before if is_by_line => ends.get(n_before - 1).map_or(0, |end| end + 1),
        _ => 0,
    };
    Some((covered, text.start + line))
}

/// Lists the names of sheets in their order.
pub(super) fn names(passages: &[Passage]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for passage in passages {
        if let Pointer::Sheet { name, .. } = &passage.pointer
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    names
}

/// Reads `A1:C9`, `b50`, `row 50` or `rows 50-60` as cells.
fn cells_of(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rows) = text.strip_prefix("row") {
        let rows = rows.trim_start_matches('s');
        return Some(format!("A{}", super::first_number(rows)?));
    }
    let cells = text.to_uppercase();
    row_numbers(&cells).map(|_| cells)
}

/// Gives the first and the last row of cells.
fn row_numbers(range: &str) -> Option<(u32, u32)> {
    let row = |cell: &str| {
        let cell = cell.replace('$', "");
        let digits = cell.trim_start_matches(|char: char| char.is_ascii_alphabetic());
        let is_cell = digits.len() < cell.len() && cell.len() - digits.len() <= 3;
        digits.parse::<u32>().ok().filter(|row| is_cell && *row > 0)
    };
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let (first, last) = (row(first)?, row(last)?);
    (first <= last).then_some((first, last))
}
