//! REST under `/v1`: JSON in and out, errors as `{error: {code, message, details}}`, through the
//! same middleware, identity and guard as the tools.

pub(crate) mod body;
mod example;
mod operation;
mod paging;
mod rest;
mod roots;
mod views;
mod wire;

mod audit;
mod call;
mod charts;
mod chat;
mod context_views;
mod contexts;
mod contexts_upload;
mod erasure;
mod exports;
mod jobs;
mod knowledge;
mod originals;
mod staging;
mod upload;
mod upload_json;

mod openapi;

use axum::Router;
use axum::extract::DefaultBodyLimit;

use crate::http::HttpState;
use operation::Api;

pub(crate) use charts::missing as missing_chart;
pub use erasure::{Deleted, What, erase_answers};
pub(crate) use jobs::may_cancel as may_cancel_job;
pub(crate) use rest::FromConsole;

/// Every address under `/v1`.
pub(crate) fn routes() -> Router<HttpState> {
    let (router, _) = all().into_parts();
    // Bodies are read within the limits of the configuration, by `body`.
    router.layer(DefaultBodyLimit::disable())
}

/// Every route with what the OpenAPI document says of it.
fn all() -> Api {
    Api::default()
        .merge(knowledge::routes())
        .merge(roots::routes())
        .merge(contexts::routes())
        .merge(jobs::routes())
        .merge(call::routes())
        .merge(audit::routes())
        .merge(charts::routes())
        .merge(exports::routes())
        .merge(chat::routes())
        .merge(openapi::routes())
}
