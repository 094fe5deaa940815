//! A page of rows within the budget: fewer rows when it is too long, shorter pieces of long cells
//! when a single row is, and always a way to the rest.

use tables::{CellWindow, QueryRequest, QueryResponse, Schema};
use text::Budget;

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
    loop {
        match write(schema, &response, budget)? {
            Page::Whole(answer) if response.rows.len() == n_wanted => return Ok(*answer),
            Page::Whole(answer) => {
                let notice = format!(
                    "{} of the {n_wanted} rows of the page are here, since more would not fit one \
                     answer: call again with `next` as `cursor`",
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
    write(Some(schema), response, budget)
}

fn write(
    schema: Option<&Schema>,
    response: &QueryResponse,
    budget: &Budget,
) -> Result<Page, ToolError> {
    // The notices about what was cut take room as well.
    let budget = Budget {
        chars: budget.chars.saturating_sub(NOTICE_CHARS),
        tokens: budget.tokens.saturating_sub(NOTICE_CHARS / 3),
    };
    let mut window = response.window;
    loop {
        let mut answer = query_answer(schema, response, window)?;
        let Some(mut allowed) = budget.allowed_chars(&answer.value.to_string()) else {
            return Ok(Page::Whole(Box::new(answer)));
        };
        let notes = shorten_facets(&mut answer, &budget);
        if !notes.is_empty() {
            match budget.allowed_chars(&answer.value.to_string()) {
                Some(still) => allowed = still,
                None => return Ok(Page::Whole(Box::new(noted(answer, notes)))),
            }
        }
        let n_chars = answer.value.to_string().chars().count().max(1);
        let n_rows = response.rows.len();
        if n_rows > 1 {
            let fewer = (n_rows * allowed / n_chars).min(n_rows * 7 / 8).max(1);
            return Ok(Page::TooLong(fewer));
        }
        match shorter_cells(window, allowed, n_chars) {
            Some(shorter) => window = shorter,
            None => return Ok(Page::Whole(Box::new(shorten_row(answer, notes, &budget)))),
        }
    }
}

/// Gives shorter pieces of cells, for a row that is over the budget alone.
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
    let cuts = shorten(facets, &half);
    if cuts.is_empty() {
        return Vec::new();
    }
    let places: Vec<&str> = cuts.iter().filter_map(|cut| cut.place.split('.').nth(1)).collect();
    vec![format!(
        "not all values of {} are counted here, since they would not fit one answer: name fewer \
         `facets`, or walk them with aggregate_table",
        places.join(", ")
    )]
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
