//! The stylesheets and the scripts, held in the binary. Their address changes with their content,
//! so that a browser may keep them for good.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};

const STYLE: &str = include_str!("assets/console.css");
const CHART_STYLE: &str = include_str!("assets/chart.css");
const SCRIPT: &str = include_str!("assets/console.js");
const THEME: &str = include_str!("assets/theme.js");

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in [STYLE, CHART_STYLE, SCRIPT, THEME] {
        context.update(part.as_bytes());
    }
    model::hex(&context.finish().as_ref()[..6])
});

/// Gives the address of an asset below the base path.
pub(super) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

/// Gives an asset, whatever version was asked for.
pub(super) async fn asset(Path((_version, name)): Path<(String, String)>) -> Response {
    let (kind, text) = match name.as_str() {
        "console.css" => ("text/css; charset=utf-8", STYLE),
        "chart.css" => ("text/css; charset=utf-8", CHART_STYLE),
        "console.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "theme.js" => ("text/javascript; charset=utf-8", THEME),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let headers = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}
