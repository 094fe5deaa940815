//! A server on loopback that answers as turbopuffer's documented API does.
//!
//! It is for tests of clients: it checks every field and every limit that the documentation
//! names, answers errors in the documented shape, keeps namespaces in memory, can lag behind for
//! readers that allow it, and fails on request. What it does not do (stemming, regular
//! expressions, fuzzy words, sparse vectors, conditions, copying) it refuses with a sentence that
//! says so, and never answers by guessing.
//!
//! Documented, in the pages `limits`, `write` and `query` of turbopuffer's documentation and in
//! the types of its official clients:
//!
//! - names of namespaces (`[A-Za-z0-9-_.]{1,128}`) and attributes (128 bytes, no `$` first);
//! - ids: unsigned numbers, UUIDs, texts of 64 bytes, one type in a namespace;
//! - 1,024 attributes, 8 vector columns that are fixed from the first write on, 10,752 dimensions;
//! - 8 MiB for a value (all of an array together), 4 KiB for one that can be filtered by (each
//!   element of an array), 64 MiB for a row, 512 MB for a request, 50,000 rows for a patch by
//!   filter and 5 million for a delete by filter;
//! - which types are inferred (texts, integers, booleans, arrays of them, and `vector`), that a
//!   type cannot change, what makes an attribute not filterable unless it says otherwise;
//! - the order of the parts of a write; that vectors cannot be patched and that a patch makes no
//!   row; which counts an answer has;
//! - rows of an answer (10,000), queries of a request (16), characters of a question (8,192);
//!   that `limit` and `top_k` are one thing, that there is no offset, and that exact search needs
//!   filters;
//! - every operator of filters, that a row without the attribute is before every value for `Lt`,
//!   `Lte` and in orders, that a prefix is worth 1, that weights are not negative, that rows with
//!   a score of zero are left out, that unknown names may be excluded and not included;
//! - the numbers of BM25 and their ranges, the tokenizers, the length of a token; `consistency`
//!   beside the queries and not in them;
//! - errors as `{"status": "error", "error": …}`, of which the clients read `error`.
//!
//! Assumed, since no page says it; tests of ours should not rest on these:
//!
//! - which refusals are 400 and which 422 (the clients know both), and every sentence;
//! - that an id written twice in one request is refused, and a type inferred from a float;
//! - that `top_k` beside `limit` is refused, and a name in `include_attributes` that no row has;
//! - that operands of a filter are checked as values are, how deep filters nest (64);
//! - what exactly a question's length counts, and how words are cut: `word_v4` is imitated by
//!   letters and digits. Whether common words are dropped unless the schema says so is told in
//!   two ways; the clients' is taken;
//! - how a cursor looks, and the figures under `billing` and `performance`.
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

#[cfg(test)]
mod tests;

pub use server::{Fault, TurbopufferServer};
