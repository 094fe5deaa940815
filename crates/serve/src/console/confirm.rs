//! What cannot be undone is asked about once: by the script in a dialog, without a script on a page
//! of its own. A form that was sent without an answer changes nothing and leads to the question.

use axum::response::Response;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use tools::ToolError;

use super::go_to;
use super::knowledge::hidden;
use super::layout::{error_page, form_token, page_of_no_section};
use super::params::{Params, encoded};
use super::viewer::Viewer;

/// What the address of a question is sealed for: nobody else can word one.
const PURPOSE: &str = "confirm";

/// The field that says that the person was asked.
const CONFIRMED: &str = "confirmed";

/// The field of a form with what the person is asked.
const QUESTION: &str = "question";

/// A form that waits for its answer.
#[derive(Serialize, Deserialize)]
struct Waiting {
    /// Its path below the base.
    action: String,
    question: String,
    fields: Vec<(String, String)>,
    /// The page that the form was on, as a path below the base.
    back: Option<String>,
}

/// The question of a form; it carries it, so that a page without a script asks the same.
pub(super) fn asks(question: &str) -> Markup {
    hidden(QUESTION, question)
}

/// Gives the way to the question, for a form of the given path that was sent without an answer.
pub(super) fn ask(viewer: &Viewer, action: &str, params: &Params) -> Option<Response> {
    if params.get(CONFIRMED).is_some() {
        return None;
    }
    let question = params.get(QUESTION).unwrap_or("Do this? It cannot be undone.").to_owned();
    let fields = params
        .without("form_token")
        .without(QUESTION)
        .pairs()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let back = viewer.back().map(str::to_owned);
    let waiting = Waiting { action: action.to_owned(), question, fields, back };
    let sealed = serde_json::to_vec(&waiting).ok();
    let sealed = sealed.and_then(|waiting| viewer.seal().seal(PURPOSE, &waiting));
    Some(match sealed {
        Some(sealed) => go_to(viewer, &format!("/confirm?form={}", encoded(&sealed))),
        None => error_page(viewer, &ToolError::internal("the system gives no randomness")),
    })
}

/// Asks, and sends the form with the answer.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let opened = viewer.seal().open(PURPOSE, params.text("form"));
    let waiting = opened.and_then(|bytes| serde_json::from_slice::<Waiting>(&bytes).ok());
    let Some(Waiting { action, question, fields, back }) = waiting else {
        let error = ToolError::bad_request("there is nothing to confirm at this address")
            .with_hint("go back to the page with the button, and press it again");
        return error_page(&viewer, &error);
    };
    let body = html! {
        h1 { "Are you sure?" }
        p { (question) }
        form method="post" action=(viewer.href(&action)) {
            (form_token(&viewer))
            @for (name, value) in &fields { (hidden(name, value)) }
            (hidden(CONFIRMED, "yes"))
            div .actions {
                button .danger type="submit" { "Yes, do it" }
                a .button href=(viewer.href(super::local_path(back.as_deref().unwrap_or("/")))) { "No, go back" }
            }
        }
    };
    page_of_no_section(&viewer, "Are you sure?", &body)
}
