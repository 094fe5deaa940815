//! A server on loopback that answers as turbopuffer's documented API does.
//!
//! It is for tests of clients: it checks every field and every limit that the documentation
//! names, answers errors in the documented shape, keeps namespaces in memory, can lag behind for
//! readers that allow it, and fails on request. What it does not do (stemming, regular
//! expressions, fuzzy words, sparse vectors, copying) it refuses with a sentence that says so, and
//! never answers by guessing.
//!
//! ```
//! use testkit::{Http, Request};
//! use testkit::turbopuffer::TurbopufferServer;
//!
//! let server = TurbopufferServer::start();
//! let http = Http::new(&server.url());
//! let body = serde_json::json!({"upsert_rows": [{"id": 1, "name": "first"}]});
//! let request = Request::new("POST", "/v2/namespaces/notes")
//!     .header("Authorization", &format!("Bearer {}", server.key()))
//!     .json(&body);
//! assert_eq!(http.send(&request).json()["rows_affected"], 1);
//! ```

mod error;
mod value;

mod schema;
mod tokens;

mod filter;
mod rank;

mod query;
mod state;
mod write;

mod routes;
mod server;

pub use server::{Fault, TurbopufferServer};
