//! What can go wrong between two machines. No variant ever holds a header or a body of a request,
//! so that a key cannot leak through an error.

use std::net::IpAddr;

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be read as an `http` or `https` URL.
    #[error("cannot use address `{received}`: expected an `http` or `https` URL with a host")]
    BadUrl {
        /// What was given, without user name, password and query.
        received: String,
    },

    /// A header's name or value has characters that HTTP does not allow.
    #[error("header `{name}` has characters that HTTP does not allow")]
    BadHeader {
        /// The header's name; its value may be secret.
        name: String,
    },

    /// The host is at an address that the configuration does not allow.
    #[error(
        "`{host}` is at `{address}`, which is not a public address; allow the host in the configuration to reach it"
    )]
    AddressNotAllowed {
        /// The host of the URL.
        host: String,
        /// The first address that was refused.
        address: IpAddr,
    },

    /// The server answered with a status that is not success.
    #[error("`{url}` answered {status}: {excerpt}")]
    Status {
        /// The address, without user name, password and query.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of the body, with secrets of the request blanked out.
        excerpt: String,
    },

    /// The server asks to wait longer than the call has.
    #[error("`{url}` answered {status} and asks to come back after {seconds} s")]
    ComeBackLater {
        /// The address, without user name, password and query.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The value of `Retry-After`.
        seconds: u64,
    },

    /// More redirects than allowed, or one that cannot be followed.
    #[error("`{url}` redirects more than {allowed} times, or to nowhere")]
    Redirect {
        /// The address of the last redirect.
        url: String,
        /// How many are followed.
        allowed: u32,
    },

    /// No answer in time.
    #[error("no answer from `{url}` in time (while: {phase})")]
    TimedOut {
        /// The address, without user name, password and query.
        url: String,
        /// What the client was waiting for.
        phase: String,
    },

    /// The answer is larger than the limit.
    #[error("the answer of `{url}` is larger than {allowed} bytes")]
    TooLarge {
        /// The address, without user name, password and query.
        url: String,
        /// The limit.
        allowed: u64,
    },

    /// The connection could not be made, or broke.
    #[error("cannot talk to `{url}`")]
    Transport {
        /// The address, without user name, password and query.
        url: String,
        /// The cause.
        #[source]
        source: Box<ureq::Error>,
    },

    /// Reading a streamed body failed half-way.
    #[error("the stream of `{url}` broke")]
    BrokenStream {
        /// The address, without user name, password and query.
        url: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },

    /// The body is not the JSON that was expected.
    #[error("the answer of `{url}` is not the expected JSON")]
    NotJson {
        /// The address, without user name, password and query.
        url: String,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
}

impl Error {
    /// Tells whether the same request may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::Status { status, .. } => crate::retry::is_passing_status(*status),
            Error::TimedOut { .. } | Error::BrokenStream { .. } | Error::ComeBackLater { .. } => {
                true
            }
            Error::Transport { source, .. } => matches!(
                **source,
                ureq::Error::Io(_)
                    | ureq::Error::ConnectionFailed
                    | ureq::Error::HostNotFound
                    | ureq::Error::Protocol(_)
            ),
            Error::BadUrl { .. }
            | Error::BadHeader { .. }
            | Error::AddressNotAllowed { .. }
            | Error::Redirect { .. }
            | Error::TooLarge { .. }
            | Error::NotJson { .. } => false,
        }
    }
}
