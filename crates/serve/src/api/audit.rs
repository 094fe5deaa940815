//! `/v1/audit`: what was called, newest first: an administrator sees their tenant, others their
//! own calls.

use axum::response::Response;
use guard::{Audit, Entry};
use model::{Caller, Identity, iso};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::operation::{Api, Doc};
use super::paging::{Page, PageOf};
use super::rest::Rest;
use super::views::AuditView;

pub(super) fn routes() -> Api {
    let doc = Doc::page::<AuditView>("server", "List what was called, the latest first", "entries");
    Api::default().get("/v1/audit", list, doc)
}

async fn list(rest: Rest, page: PageOf) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/audit", move |caller, _| {
        let page = Page::read("entries", page, app.caps())?;
        let folder = app.console.data_dir.join("audit");
        let is_visible = |entry: &Entry| may_see(caller, entry);
        let entries = Audit::before(&folder, page.after(), page.n_asked(), is_visible);
        let entries = entries.map_err(|error| {
            ToolError::new(Code::Unavailable, format!("the audit cannot be read: {error}"))
        })?;
        let newest_first = entries.iter().rev().map(|entry| (entry.mark(), entry_json(entry)));
        Ok(page.reply_in_order(newest_first.collect()))
    })
    .await
}

fn may_see(caller: &Caller, entry: &Entry) -> bool {
    caller.identity == Identity::Local
        || (entry.tenant == caller.tenant.to_string()
            && (caller.is_admin() || entry.caller == caller.subject))
}

fn entry_json(entry: &Entry) -> Value {
    let mut value = json!(entry);
    value["at"] = json!(iso(entry.at));
    value
}
