//! The page of a table whose address asks for what cannot be shown. No row is shown for it, since
//! an address never shows more than it asks for; the other filters stay, and what was typed.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::layout::{Section, failed_page, problem, sentence};
use super::params::Params;
use super::table_chips::{chips, without_field};
use super::table_filters::{filter_side, read_filters};
use super::tables::{View, address, field_table};
use super::viewer::Viewer;

/// What an address asks of a table that cannot be shown.
pub(super) struct Refused {
    /// The field whose filter it is; none where it is the order or the place.
    field: Option<String>,
    /// The address as it was given.
    typed: Params,
    why: String,
}

impl View {
    /// What the box of a filter holds: what was typed, also where it is refused.
    pub(super) fn typed(&self, params: &Params, name: &str, key: &str) -> String {
        let refused = self.refused.as_ref().filter(|_| self.is_refused(name));
        refused.map_or(params, |refused| &refused.typed).text(key).to_owned()
    }

    /// Tells whether the filter of a field is the one that cannot be read.
    pub(super) fn is_refused(&self, name: &str) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.field.as_deref() == Some(name))
    }

    /// Says below the filter of a field why it is refused, where it is.
    pub(super) fn why_refused(&self, name: &str) -> Markup {
        let why = self.refused.as_ref().filter(|_| self.is_refused(name));
        html! { @if let Some(refused) = why { p .hint { (sentence(&refused.why)) } } }
    }
}

/// Shows why, beside the filters of the rest of the address.
pub(super) async fn refused(
    viewer: &Viewer,
    mut view: View,
    params: &Params,
    error: &ToolError,
) -> Response {
    let (field, rest) = without_refused(params, error);
    // A second slip takes the rest with it: the page says one at a time.
    let rest = if read_filters(&view.fields, &rest).is_ok() { rest } else { Params::default() };
    view.filters = read_filters(&view.fields, &rest).unwrap_or_default();
    view.refused = Some(Refused { field, typed: params.clone(), why: error.message.clone() });
    let mut facets = view.arguments();
    facets["format"] = json!("stats");
    facets["pageSize"] = json!(1);
    // Without counts the filters are there all the same; a server that cannot answer is not asked
    // a second time.
    let facets = if error.code == Code::BadRequest {
        viewer.tool("query_table", facets).await.ok()
    } else {
        None
    };
    let facets = facets.map_or(Value::Null, |reply| reply.value);
    let has_rest = !rest.to_query().is_empty();
    let body = html! {
        p .crumbs { a href=(viewer.href("/tables")) { "Tables" } " / " (view.name) }
        div .head { h1 { (view.name) } div .actions { a .button.small.narrow href="#filters" { "Filters" } } }
        (chips(viewer, &view, &rest))
        div .split {
            div {
                (problem(error))
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
    failed_page(viewer, Section::Tables, &view.name, error, &body)
}

/// The field of the filter that an error is about, and the address without what it is about.
fn without_refused(params: &Params, error: &ToolError) -> (Option<String>, Params) {
    let said = |name: &str| error.details.get(name).and_then(Value::as_str);
    // A place in the rows belongs to their filters and their order.
    let params = params.without("cursor");
    match (said("field"), said("argument")) {
        (Some(field), _) => (Some(field.to_owned()), without_field(&params, field)),
        (None, Some(argument)) if argument.starts_with("sort") => {
            (None, params.without("sort").without("desc"))
        }
        (None, _) => (None, params),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_taken_out_and_the_rest_stays() {
        let given = ["f.city", "min.age", "sort", "desc", "cursor"];
        let given = given.map(|name| (name.to_owned(), "1".to_owned()));
        let params = Params::new(given.to_vec());
        let check = |error: ToolError, field: Option<&str>, left: &[&str]| {
            let (named, rest) = without_refused(&params, &error);
            assert_eq!(named.as_deref(), field);
            assert_eq!(rest.pairs().map(|(name, _)| name).collect::<Vec<_>>(), left);
        };
        let error = || ToolError::bad_request("no");
        check(error().with_detail("field", "age"), Some("age"), &["f.city", "sort", "desc"]);
        check(error().with_detail("argument", "sort[0].id"), None, &["f.city", "min.age"]);
        check(error(), None, &["f.city", "min.age", "sort", "desc"]);
    }
}
