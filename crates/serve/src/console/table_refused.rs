//! The page of a table whose address asks for what cannot be shown. No row is shown for it, since
//! an address never shows more than it asks for; the other filters stay, and what was typed.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::layout::{Section, failed_page, problem, sentence};
use super::params::Params;
use super::table_chips::{chips, without_field};
use super::table_filters::{filter_side, read_each};
use super::tables::{View, address, field_table};
use super::viewer::Viewer;

/// What an address asks of a table that cannot be shown.
pub(super) struct Refused {
    /// Each with the field whose filter it is; none where it is the order or the place.
    reasons: Vec<(Option<String>, String)>,
    /// The address as it was given.
    typed: Params,
}

/// Reasons that a page shows, and that a table is asked for beyond those that can be seen in the
/// address alone.
const MAX_SHOWN: usize = 8;

impl View {
    /// What the box of a filter holds: what was typed, also where it is refused.
    pub(super) fn typed(&self, params: &Params, name: &str, key: &str) -> String {
        let refused = self.refused.as_ref().filter(|_| self.is_refused(name));
        refused.map_or(params, |refused| &refused.typed).text(key).to_owned()
    }

    /// Tells whether the filter of a field is one that cannot be read.
    pub(super) fn is_refused(&self, name: &str) -> bool {
        self.reasons(name).next().is_some()
    }

    /// Says below the filter of a field why it is refused, where it is.
    pub(super) fn why_refused(&self, name: &str) -> Markup {
        html! { @for why in self.reasons(name) { p .hint { (sentence(why)) } } }
    }

    fn reasons<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let reasons = self.refused.iter().flat_map(|refused| &refused.reasons);
        let of_field = reasons.filter(move |(field, _)| field.as_deref() == Some(name));
        of_field.map(|(_, why)| why.as_str())
    }
}

/// Shows why, beside the filters of the rest of the address.
pub(super) async fn refused(
    viewer: &Viewer,
    mut view: View,
    params: &Params,
    mut errors: Vec<ToolError>,
) -> Response {
    let mut rest = params.without("cursor");
    for error in &errors {
        rest = without_refused(&rest, error);
    }
    // What is left may hold what the table itself refuses: it is asked until it can be shown. A
    // server that cannot answer is not asked a second time.
    let can_answer = errors.iter().all(|error| error.code == Code::BadRequest);
    let n_seen = errors.len();
    let facets = loop {
        view.filters = read_each(&view.fields, &rest).0;
        if !can_answer {
            break None;
        }
        let mut arguments = view.facets();
        if let Some(sort) = rest.get("sort") {
            arguments["sort"] = json!({ "id": sort, "desc": rest.get("desc").is_some() });
        }
        match viewer.tool("query_table", arguments).await {
            Ok(reply) => break Some(reply.value),
            Err(error) => {
                let less = without_refused(&rest, &error);
                let is_known = error.code != Code::BadRequest || less == rest;
                if is_known || errors.len() == n_seen + MAX_SHOWN {
                    break None;
                }
                rest = less;
                errors.push(error);
            }
        }
    };
    let reasons = errors.iter().map(|error| (field_of(error), error.message.clone()));
    view.refused = Some(Refused { reasons: reasons.collect(), typed: params.clone() });
    // A link leads to what can be shown, and never here.
    let has_rest = facets.is_some() && !rest.to_query().is_empty() && rest != *params;
    // Without counts the filters are there all the same.
    let facets = facets.unwrap_or(Value::Null);
    let body = html! {
        p .crumbs { a href=(viewer.href("/tables")) { "Tables" } " / " (view.name) }
        div .head { h1 { (view.name) } div .actions { a .button.small.narrow href="#filters" { "Filters" } } }
        (chips(viewer, &view, &rest))
        div .split {
            div {
                @for error in errors.iter().take(MAX_SHOWN) { (problem(error)) }
                @if errors.len() > MAX_SHOWN { p { "And " (errors.len() - MAX_SHOWN) " others." } }
                div .actions {
                    @if has_rest { a .button href=(address(viewer, &view, &rest)) { "Show the rest of this view" } }
                    a .button href=(address(viewer, &view, &Params::default())) { "Show the whole table" }
                }
                h2 { "Fields" }
                (field_table(&view))
            }
            aside #filters aria-label="Filters" { (filter_side(viewer, &view, &rest, &facets)) }
        }
    };
    let first = errors.first().cloned().unwrap_or_else(|| ToolError::bad_request("no filter"));
    failed_page(viewer, Section::Tables, &view.name, &first, &body)
}

/// The field of the filter that an error is about.
fn field_of(error: &ToolError) -> Option<String> {
    error.details.get("field").and_then(Value::as_str).map(str::to_owned)
}

/// The address without what an error is about.
fn without_refused(params: &Params, error: &ToolError) -> Params {
    let argument = error.details.get("argument").and_then(Value::as_str);
    match (field_of(error), argument) {
        (Some(field), _) => without_field(params, &field),
        (None, Some(argument)) if argument.starts_with("sort") => {
            params.without("sort").without("desc")
        }
        (None, _) => params.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_taken_out_and_the_rest_stays() {
        let given = ["f.city", "min.age", "sort", "desc"];
        let given = given.map(|name| (name.to_owned(), "1".to_owned()));
        let params = Params::new(given.to_vec());
        let check = |error: ToolError, left: &[&str]| {
            let rest = without_refused(&params, &error);
            assert_eq!(rest.pairs().map(|(name, _)| name).collect::<Vec<_>>(), left);
        };
        let error = || ToolError::bad_request("no");
        check(error().with_detail("field", "age"), &["f.city", "sort", "desc"]);
        check(error().with_detail("argument", "sort[0].id"), &["f.city", "min.age"]);
        check(error(), &["f.city", "min.age", "sort", "desc"]);
    }
}
