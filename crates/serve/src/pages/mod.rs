//! Pages and services for people and their programs: charts, things that were found, and the
//! reconciliation of lists.

mod chart;
mod charts;
mod cross_origin;
pub(crate) mod escape;
mod frame;
mod open;
mod reconcile;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;

use crate::http::Doors;

/// The addresses of this part.
pub(crate) fn routes() -> Router<Doors> {
    Router::new()
        .route("/charts", get(charts::list))
        .route("/charts/{id}", get(charts::page))
        .route("/open/{id}", get(open::page))
        .merge(reconciliation())
}

fn reconciliation() -> Router<Doors> {
    Router::new()
        .route("/reconcile", get(reconcile::service).post(reconcile::service_post))
        .route("/reconcile/suggest/{what}", get(reconcile::suggest))
        .route("/reconcile/extend/propose", get(reconcile::propose))
        .route("/reconcile/preview", get(reconcile::preview))
        .layer(from_fn(cross_origin::allow))
}
