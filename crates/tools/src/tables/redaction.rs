//! What of a table's answer is redacted: all its text, but for fields that the configuration
//! leaves as they are.
//!
//! The guard redacts by place, and cannot tell one field from another in a page of CSV or
//! Markdown, nor see into a cell that is a list. So cells are redacted here, before they are
//! written in any format; a value of a field that is private by its name is hidden wherever it
//! appears: in a group, a measure under another name, a facet, a suggestion.

use std::ops::Range;

use tables::{AggregateResponse, CellWindow, Description, QueryResponse, Schema};

use super::written::query_json;
use crate::{Answer, ToolError};

/// Writes an answer of `query_table`, redacted, with what is in a window of every cell and the
/// places that the guard may look at again.
pub(super) fn query_answer(
    schema: Option<&Schema>,
    response: &QueryResponse,
    window: CellWindow,
) -> Result<Answer, ToolError> {
    let mut response = response.clone();
    let is_redacted = |name: &str| schema.is_none_or(|schema| schema.is_redacted(name));
    let mut n_hidden = response.n_marked;
    // What is private by its name is hidden whole: pieces would tell how long it is.
    response.change_text(|name, text| {
        let is_hidden = is_redacted(name) && text::is_secret_name(name);
        let (shown, n_pieces) = is_hidden.then(|| redacted(name, text))??;
        n_hidden += n_pieces;
        Some(shown)
    });
    response.hide_numbers(|name, digits| {
        let (mark, n_pieces) = is_redacted(name).then(|| redacted(name, digits))??;
        n_hidden += n_pieces;
        Some(mark)
    });
    response.show(window, &mut |name, text, bytes| {
        let (shown, n_pieces) = is_redacted(name).then(|| redacted_piece(text, bytes))??;
        n_hidden += n_pieces;
        Some(shown)
    });
    response.change_counted(|name, text| {
        let (shown, n_pieces) = is_redacted(name).then(|| redacted(name, text))??;
        n_hidden += n_pieces;
        Some(shown)
    });
    let mut answer = Answer::of(&query_json(&response))?.with_n_results(response.rows.len());
    count(&mut answer, n_hidden);
    let mut paths: Vec<String> = Vec::new();
    match schema.and_then(Schema::redacted_names) {
        None => {
            paths.extend(["/rows/*/*".to_owned(), "/facets/*/rows/*/value".to_owned()]);
            paths.push("/did_you_mean/*/suggestions/*".to_owned());
        }
        Some(redacted) => {
            let names = redacted.iter().map(|name| escaped(name));
            paths.extend(names.flat_map(|name| {
                [format!("/rows/*/{name}"), format!("/facets/{name}/rows/*/value")]
            }));
        }
    }
    Ok(answer.with_source_text(paths))
}

/// Redacts the frequent values and the figures in words of a description; gives how many pieces.
pub(super) fn redact_description(schema: &Schema, figures: &mut Description) -> usize {
    let mut n_hidden = 0;
    for column in figures.columns.iter_mut().filter(|column| schema.is_redacted(&column.name)) {
        let values = column.top.iter_mut().flatten();
        for value in values.map(|row| &mut row.value) {
            if let Some((shown, n_pieces)) =
                value.as_str().and_then(|text| redacted(&column.name, text))
            {
                *value = shown.into();
                n_hidden += n_pieces;
            }
        }
        let brief = column.in_brief.as_deref().and_then(|text| redacted(&column.name, text));
        if let Some((shown, n_pieces)) = brief {
            column.in_brief = Some(shown);
            n_hidden += n_pieces;
        }
    }
    n_hidden
}

/// Redacts groups and measures by the fields they are values of, leaves of them what is in a
/// window, and gives the places that the guard may look at again.
pub(super) fn aggregate_paths(
    schema: Option<&Schema>,
    response: &mut AggregateResponse,
    window: CellWindow,
) -> (Vec<String>, usize) {
    let is_redacted = |name: &str| schema.is_none_or(|schema| schema.is_redacted(name));
    let mut n_hidden = response.n_marked;
    let mut redacted_columns = Vec::new();
    for at in 0..response.columns.len() {
        let Some(field) = response.fields.get(at).cloned().flatten() else { continue };
        let field = field.as_str();
        if !is_redacted(field) {
            continue;
        }
        redacted_columns.push(response.columns[at].clone());
        n_hidden += response.hide_numbers(at, &mut |digits| changed(field, digits));
        if !text::is_secret_name(field) {
            continue;
        }
        for cell in response.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
            if let Some((shown, n_pieces)) = cell.as_str().and_then(|text| redacted(field, text)) {
                *cell = shown.into();
                n_hidden += n_pieces;
            }
        }
    }
    response.show(window, &mut |column, text, bytes| {
        let is_redacted = redacted_columns.iter().any(|name| name == column);
        let (shown, n_pieces) = is_redacted.then(|| redacted_piece(text, bytes))??;
        n_hidden += n_pieces;
        Some(shown)
    });
    let paths = redacted_columns.iter().map(|column| format!("/rows/*/{}", escaped(column)));
    (paths.collect(), n_hidden)
}

/// Redacts a piece of a text, looking at what is around it.
fn redacted_piece(text: &str, bytes: Range<usize>) -> Option<(String, usize)> {
    const CONTEXT_BYTES: usize = 4 * text::REDACTION_CONTEXT_CHARS;
    let start = floor(text, bytes.start.saturating_sub(CONTEXT_BYTES));
    let end = floor(text, bytes.end.saturating_add(CONTEXT_BYTES));
    let around = text.get(start..end).unwrap_or_default();
    let redaction = text::redact_window(around, bytes.start - start..bytes.end - start);
    (redaction.n_pieces > 0).then_some((redaction.text, redaction.n_pieces))
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Tells the guard how many pieces were taken out before it.
pub(super) fn count(answer: &mut Answer, n_hidden: usize) {
    if n_hidden > 0 {
        answer.value["redacted"] = n_hidden.into();
    }
}

/// Gives what may leave in place of a text of a field, when that is not the text itself.
pub fn changed(name: &str, text: &str) -> Option<String> {
    redacted(name, text).map(|(shown, _)| shown)
}

/// Gives what may leave, and how many pieces were taken out for it.
fn redacted(name: &str, text: &str) -> Option<(String, usize)> {
    if text::is_secret_name(name) {
        let mark = text::PrivateKind::Password.mark();
        let is_shown = text.trim().is_empty() || text == mark;
        return (!is_shown).then(|| (mark.to_owned(), 1));
    }
    let redaction = text::redact(text);
    (redaction.n_pieces > 0).then_some((redaction.text, redaction.n_pieces))
}

/// Writes a name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    model::pointer_token(name).into_owned()
}
