//! A page of rows within the budget: shorter pieces of long cells and fewer rows when it is too
//! long, and always a way to the rest.
//!
//! How many rows a page has, and which of its cells are whole, is decided by the beginning of its
//! cells alone, so that both are the same at every `offset`.

use tables::{CellWindow, MAX_CELL_CHARS, QueryRequest, QueryResponse, Schema};
use text::Budget;

use super::facets::facets_within;
use super::redaction::query_answer;
use crate::paging::{Cut, shorten};
use crate::{Answer, ToolError};

/// Room for the notice that a page was shortened.
const NOTICE_CHARS: usize = 400;

/// The shortest piece of a cell that is worth reading on from, in characters.
const MIN_CELL_CHARS: usize = 20;

/// An answer, or how many rows one would hold.
pub enum Page {
    /// All rows are in it.
    Whole(Box<Answer>),
    /// So many rows are within the budget.
    TooLong(usize),
}

/// Asks for a page, and again with fewer rows while it is over the budget, so that `next`
/// continues right behind the last of them.
pub(super) fn query_page(
    schema: Option<&Schema>,
    request: &QueryRequest,
    budget: &Budget,
    query: &dyn Fn(&QueryRequest) -> Result<QueryResponse, ToolError>,
) -> Result<Answer, ToolError> {
    let mut response = query(request)?;
    let n_wanted = response.rows.len();
    let n_asked = usize::try_from(request.page_size).unwrap_or(usize::MAX);
    loop {
        // What the engine's own estimate cut is said once, with the number of rows that are here.
        let was_cut = response.warnings.iter().any(|warning| warning.code == "page_cut");
        let is_cut = was_cut || response.rows.len() < n_wanted;
        response.warnings.retain(|warning| warning.code != "page_cut");
        match write(schema, &response, budget, n_asked)? {
            Page::Whole(answer) if !is_cut => return Ok(*answer),
            Page::Whole(answer) => {
                let notice = format!(
                    "{} rows are here and not the {n_asked} of `pageSize`, since more would not \
                     fit one answer: `next` as `cursor` gives the rows behind them",
                    response.rows.len()
                );
                return Ok(answer.with_notes(vec![notice]));
            }
            Page::TooLong(n_rows) => {
                let max_rows = Some(n_rows as u64);
                response = query(&QueryRequest { max_rows, ..request.clone() })?;
            }
        }
    }
}

/// Writes an answer over a table of this schema as the tool gives it.
pub fn query_table_page(
    schema: &Schema,
    response: &QueryResponse,
    budget: &Budget,
) -> Result<Page, ToolError> {
    write(Some(schema), response, budget, response.rows.len())
}

/// Writes a page of a call that asked for so many rows.
fn write(
    schema: Option<&Schema>,
    response: &QueryResponse,
    budget: &Budget,
    n_asked: usize,
) -> Result<Page, ToolError> {
    // The notices about what was cut take room as well.
    let budget = Budget {
        chars: budget.chars.saturating_sub(NOTICE_CHARS),
        tokens: budget.tokens.saturating_sub(NOTICE_CHARS / 3),
    };
    let mut window = CellWindow::first(longest_piece(&budget, n_asked));
    loop {
        let (answer, notes, over) = write_window(schema, response, &budget, window)?;
        let Over { n_allowed, n_chars } = match over {
            Some(over) => over,
            None if window.offset == response.window.offset => {
                return Ok(Page::Whole(Box::new(noted(answer, notes))));
            }
            None => {
                window.offset = response.window.offset;
                continue;
            }
        };
        let n_rows = response.rows.len();
        let shorter = shorter_cells(window, n_allowed, n_chars);
        if window.offset > 0 {
            // The rows and the whole cells are those of the beginning; only pieces are shorter.
            let Some(CellWindow { max_chars, .. }) = shorter else {
                return Ok(Page::Whole(Box::new(shorten_row(answer, notes, &budget))));
            };
            window.max_chars = max_chars;
        } else if n_rows > 1 && window.max_chars <= MAX_CELL_CHARS {
            let fewer = (n_rows * n_allowed / n_chars).min(n_rows * 7 / 8).max(1);
            return Ok(Page::TooLong(fewer));
        } else if let Some(CellWindow { max_chars, .. }) = shorter {
            let least = if n_rows > 1 { MAX_CELL_CHARS } else { 0 };
            window = CellWindow::first(max_chars.max(least));
        } else if response.window.offset > 0 {
            // A row of very many columns; what it shows at an offset may still fit.
            window.offset = response.window.offset;
        } else {
            return Ok(Page::Whole(Box::new(shorten_row(answer, notes, &budget))));
        }
    }
}

/// Gives the longest piece of a cell beside so many rows: one row has the answer for itself.
pub(super) fn longest_piece(budget: &Budget, n_rows: usize) -> usize {
    (budget.chars / n_rows.max(1)).max(MAX_CELL_CHARS)
}

/// How much longer than the budget an answer is.
struct Over {
    n_allowed: usize,
    n_chars: usize,
}

/// Writes a page with what is in a window of its cells, and facets that take half of the budget at
/// most.
fn write_window(
    schema: Option<&Schema>,
    response: &QueryResponse,
    budget: &Budget,
    window: CellWindow,
) -> Result<(Answer, Vec<String>, Option<Over>), ToolError> {
    let mut answer = query_answer(schema, response, window)?;
    if budget.fits(&answer.value.to_string()) {
        return Ok((answer, Vec::new(), None));
    }
    let notes = shorten_facets(&mut answer, budget);
    let written = answer.value.to_string();
    let n_chars = written.chars().count().max(1);
    let over = budget.allowed_chars(&written).map(|n_allowed| Over { n_allowed, n_chars });
    Ok((answer, notes, over))
}

/// Gives shorter pieces of cells, for a page that is over the budget.
pub(super) fn shorter_cells(
    window: CellWindow,
    n_allowed: usize,
    n_chars: usize,
) -> Option<CellWindow> {
    if window.max_chars <= MIN_CELL_CHARS {
        return None;
    }
    let shorter = window.max_chars * n_allowed / n_chars.max(1);
    let max_chars = shorter.min(window.max_chars * 7 / 8).max(MIN_CELL_CHARS);
    Some(CellWindow { max_chars, ..window })
}

/// Facets may take half of the budget; says which were shortened.
fn shorten_facets(answer: &mut Answer, budget: &Budget) -> Vec<String> {
    let Some(facets) = answer.value.get_mut("facets") else { return Vec::new() };
    let half = Budget { chars: budget.chars / 2, tokens: budget.tokens / 2 };
    facets_within(facets, &half)
}

/// Shortens a row of so many columns that no piece of its cells would fit.
fn shorten_row(mut answer: Answer, mut notes: Vec<String>, budget: &Budget) -> Answer {
    for Cut { place, n_kept, n_all, unit } in shorten(&mut answer.value, budget) {
        let place = place.trim_start_matches('.');
        notes.push(format!(
            "`{place}` is too long for one answer: {n_kept} of {n_all} {unit} are here; name \
             fewer `columns` to see more of it"
        ));
    }
    noted(answer, notes)
}

/// Adds notices; the places of source text stay as they are.
fn noted(mut answer: Answer, notes: Vec<String>) -> Answer {
    answer.value = Answer::new(std::mem::take(&mut answer.value)).with_notes(notes).value;
    answer
}
