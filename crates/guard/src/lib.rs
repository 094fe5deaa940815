//! One layer around every call: who calls, how often, what may leave, and what is written down.
//!
//! - [`Authenticator`] turns the headers of a request into a [`model::Caller`].
//! - [`Limiter`] counts calls for each client and tool.
//! - [`release`] redacts source text in an answer and holds its size against the budget.
//! - [`Audit`] writes one line for each call; [`Metrics`] counts them.
//! - [`hosts`] says which `Host` and `Origin` headers are ours.
//!
//! No tool has its own copy of any of this, and nothing here knows a tool, a transport or a
//! family: `serve` calls these pieces in one place, in this order.
//!
//! ```
//! use guard::{Outgoing, release};
//! use serde_json::json;
//!
//! let answer = json!({ "id": "a@b.example", "text": "write to someone@example.org" });
//! let caps = text::Budget { chars: 1_000, tokens: 1_000 };
//! let Outgoing { value, n_redacted, .. } = release(answer, &["/text"], &caps);
//! assert_eq!(n_redacted, 1);
//! assert_eq!(value["id"], "a@b.example");
//! assert!(!value["text"].as_str().unwrap().contains("someone@example.org"));
//! ```
#![doc(test(attr(deny(warnings))))]

mod config;
mod error;

mod identity;
mod keys;
mod logins;
mod published;
mod signature;
mod tokens;

pub mod hosts;
mod rate;

mod outgoing;
mod paths;
mod redaction;

mod answers;
mod audit;
mod lines_back;
mod metrics;
pub mod private;

pub use answers::{Answers, CallRights, Erasure, LeavingAnswer, StoredAnswer, ids_of};
pub use audit::{Audit, Entry, Outcome};
pub use config::{AuditConfig, AuthConfig, ClaimNames, JwtConfig, KeyConfig, LimitsConfig};
pub use error::{Denied, SetupError};
pub use identity::{Authenticator, bearer};
pub use logins::{FailedLogins, network_of};
pub use metrics::{LoginFailure, Metrics};
pub use outgoing::{Outgoing, release};
pub use rate::{Limiter, TooMany};
pub use redaction::{redact_around, redact_places, redacted_piece};
pub use tokens::FetchKeys;
