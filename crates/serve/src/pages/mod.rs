//! The reconciliation of lists, for people and their programs, and the headers of pages that may
//! be shown in a frame.

mod chart;
mod cross_origin;
pub(crate) mod escape;
mod frame;
mod reconcile;

pub(crate) use chart::{file_name, render_figure, render_numbers, render_svg};

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;

use crate::http::HttpState;

/// The addresses of this part.
pub(crate) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/reconcile", get(reconcile::service).post(reconcile::service_post))
        .route("/reconcile/suggest/{what}", get(reconcile::suggest))
        .route("/reconcile/extend/propose", get(reconcile::propose))
        .route("/reconcile/preview", get(reconcile::preview))
        .layer(from_fn(cross_origin::allow))
}
