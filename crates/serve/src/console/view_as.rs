//! `/view-as`: an administrator looks at the console through another caller's eyes.

use axum::response::Response;
use http::header::SET_COOKIE;
use maud::html;
use model::{Caller, Clearance};
use tools::{Code, ToolError};

use super::go_to;
use super::layout::{Section, error_page, form_token, page};
use super::seal::Seal;
use super::session::{VIEW_AS, ViewAs, set_cookie};
use super::sign_in::scope;
use super::viewer::{Posted, Viewer};

/// How long it lasts; longer than anybody looks, shorter than anybody remembers.
const SECONDS: u64 = 3_600;

/// Asks as whom.
pub(super) async fn show(viewer: Viewer) -> Response {
    if !viewer.signed_in.is_admin() {
        return error_page(&viewer, &refused());
    }
    let is_operator = viewer.app.console.is_operator(&viewer.signed_in);
    let levels = Clearance::ALL.iter().filter(|level| **level <= viewer.signed_in.clearance);
    let body = html! {
        h1 { "View as" }
        p { "See the console as another caller: what is not theirs is not there, in search, lists, counts and tools. "
            "A search names beside it what you find and they do not. Nothing can be changed while you look." }
        form .fields method="post" action=(viewer.href("/view-as")) {
            (form_token(&viewer))
            div .field {
                label for="subject" { "Name" }
                input #subject name="subject" placeholder="somebody";
            }
            div .field {
                label for="tenant" { "Tenant" }
                @if is_operator {
                    input #tenant name="tenant" value=(viewer.signed_in.tenant);
                } @else {
                    input #tenant name="tenant" value=(viewer.signed_in.tenant) disabled;
                    p .note { "Administrators see their own tenant alone, unless " code { "console.operators" } " names them." }
                }
            }
            div .field { label for="department" { "Department" } input #department name="department"; }
            div .field {
                label for="clearance" { "Clearance" }
                select #clearance name="clearance" {
                    @for level in levels {
                        option value=(level) selected[*level == Clearance::Internal] { (level) }
                    }
                }
            }
            div .field {
                label for="roles" { "Roles" }
                input #roles name="roles" placeholder="reader, finance";
                @if !is_operator { p .note { "Roles that you do not have yourself are left out." } }
            }
            div .field {
                label for="groups" { "Groups, with commas between them" }
                input #groups name="groups" placeholder="controlling, works council";
                @if !is_operator { p .note { "Groups that you do not belong to yourself are left out." } }
            }
            button .primary type="submit" { "View as this caller" }
        }
    };
    page(&viewer, Section::Operations, "View as", &body)
}

pub(super) async fn begin(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if !viewer.signed_in.is_admin() {
        return error_page(&viewer, &refused());
    }
    let roles = params.text("roles").split([',', ' ']).map(str::trim);
    let groups = params.text("groups").split(',').map(str::trim);
    let groups = groups.filter(|group| !group.is_empty()).map(Caller::role_of_group);
    let view = ViewAs {
        chosen_by: viewer.signed_in.client_key(),
        subject: params.text("subject").trim().to_owned(),
        tenant: params.text("tenant").trim().to_owned(),
        department: params.get("department").map(|name| name.trim().to_owned()),
        clearance: params.text("clearance").to_owned(),
        roles: roles.filter(|role| !role.is_empty()).map(str::to_owned).chain(groups).collect(),
    };
    let sealed = view.sealed(&Seal::new(&viewer.app.console.secret));
    let is_operator = viewer.app.console.is_operator(&viewer.signed_in);
    let seen = view.caller(&viewer.signed_in, is_operator, viewer.identity_of());
    viewer.record_view("POST /view-as", Some((&seen, rights(&seen))));
    with_cookie(&viewer, sealed.as_deref())
}

/// Ends.
pub(super) async fn stop(posted: Posted) -> Response {
    posted.viewer.record_view("POST /view-as/stop", None);
    with_cookie(&posted.viewer, None)
}

fn with_cookie(viewer: &Viewer, sealed: Option<&str>) -> Response {
    let mut response = go_to(viewer, "/");
    let scope = scope(&viewer.app, &viewer.base);
    if let Some(cookie) = set_cookie(&scope, VIEW_AS, sealed, SECONDS) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The rights that are looked with, for the record.
fn rights(caller: &Caller) -> String {
    let mut rights = format!("clearance {}", caller.clearance);
    if let Some(department) = &caller.department {
        rights.push_str(&format!(", department {department}"));
    }
    if !caller.roles.is_empty() {
        let roles: Vec<&str> = caller.roles.iter().map(String::as_str).collect();
        rights.push_str(&format!(", roles {}", roles.join(" ")));
    }
    rights
}

fn refused() -> ToolError {
    ToolError::new(Code::Forbidden, "only administrators view as somebody else")
}
