//! What of a table's answer is redacted: all its text, but for fields that the configuration
//! leaves as they are.
//!
//! The guard redacts by place, and cannot tell one field from another in a page of CSV or
//! Markdown, nor see into a cell that is a list. So cells are redacted here, before they are
//! written in any format; a value of a field that is private by its name is hidden wherever it
//! appears: in a group, a measure under another name, a facet, a suggestion.

use tables::{AggregateResponse, QueryResponse, Schema};

use crate::{Answer, ToolError};

/// Writes an answer of `query_table`, redacted, with the places that the guard may look at again.
pub(super) fn query_answer(
    schema: Option<&Schema>,
    response: &QueryResponse,
) -> Result<Answer, ToolError> {
    let mut response = response.clone();
    let is_redacted = |name: &str| schema.is_none_or(|schema| schema.is_redacted(name));
    let mut n_hidden = 0;
    let mut change = |name: &str, text: &str| {
        let (shown, n_pieces) = is_redacted(name).then(|| redacted(name, text))??;
        n_hidden += n_pieces;
        Some(shown)
    };
    response.change_text(&mut change);
    response.change_counted(&mut change);
    let mut answer = Answer::of(&response.to_json())?.with_n_results(response.rows.len());
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

/// Redacts groups and measures by the fields they are values of, and gives the places that the
/// guard may look at again.
pub(super) fn aggregate_paths(
    schema: Option<&Schema>,
    response: &mut AggregateResponse,
) -> (Vec<String>, usize) {
    let is_redacted = |name: &str| schema.is_none_or(|schema| schema.is_redacted(name));
    let mut n_hidden = 0;
    let mut paths = Vec::new();
    for (at, column) in response.columns.iter().enumerate() {
        let Some(field) = response.fields.get(at).and_then(Option::as_deref) else { continue };
        if !is_redacted(field) {
            continue;
        }
        paths.push(format!("/rows/*/{}", escaped(column)));
        for cell in response.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
            if let Some((shown, n_pieces)) = cell.as_str().and_then(|text| redacted(field, text)) {
                *cell = shown.into();
                n_hidden += n_pieces;
            }
        }
    }
    (paths, n_hidden)
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
    name.replace('~', "~0").replace('/', "~1")
}
