//! Why a caller is turned away, and why the layer cannot be set up.

/// A caller that is turned away before a call. The sentences are shown to them; they say
/// nothing that helps to guess a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No credentials, where some are needed.
    #[error("Invalid authentication credentials: send `Authorization: Bearer` with a token or key")]
    Missing,
    /// A header that is no bearer token.
    #[error("Invalid authentication credentials: the `Authorization` header is not a bearer token")]
    NotBearer,
    /// Neither a known key nor a token for this server.
    #[error("Invalid authentication credentials: {reason}")]
    Invalid {
        /// What is wrong with it, without any part of it.
        reason: &'static str,
    },
    /// The issuer's keys cannot be fetched, so that no token can be checked.
    #[error("tokens cannot be checked: the issuer's keys cannot be fetched")]
    KeysUnavailable,
}

/// A configuration of this layer that cannot work.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum SetupError {
    /// The variable named for a key is not set or empty.
    #[error(
        "the environment variable `{variable}` named by {setting} is not set: put the secret into it before the start"
    )]
    MissingVariable { setting: String, variable: String },
    /// A key is too short to be safe.
    #[error("the key in the variable `{variable}` has {length} characters: use at least {minimum}")]
    ShortKey {
        variable: String,
        /// How long it is.
        length: usize,
        /// How long it must be.
        minimum: usize,
    },
    /// A shared secret is too short to be safe.
    #[error(
        "the secret in `{variable}` has {length} bytes: HS256 needs at least {minimum} (try \
         `openssl rand -hex 32`)"
    )]
    ShortSecret {
        variable: String,
        /// How long it is.
        length: usize,
        /// How long it must be.
        minimum: usize,
    },
    /// Two callers have the same key, or a caller has the key of `/metrics`.
    #[error(
        "`{}` and `{}` of `auth` have the same key: give each its own",
        .names[0], .names[1]
    )]
    SameKey {
        /// The entries.
        names: [String; 2],
    },
    /// A key has a tenant without a name.
    #[error("`auth.keys` entry `{name}` has an empty `tenant`: name one, or leave the line out")]
    EmptyTenant {
        /// The key.
        name: String,
    },
    /// A key has a name or a tenant that looks like another.
    #[error(
        "the `{setting}` of `auth.keys` entry `{name}` holds characters that cannot be seen: write \
         it without them"
    )]
    UnseenCharacters {
        /// The key.
        name: String,
        /// Which of its names.
        setting: &'static str,
    },
    /// A key has a name that means a caller of another kind.
    #[error("`auth.keys` entry `{name}` begins with `{prefix}`, which is reserved: rename it")]
    ReservedName {
        /// The key.
        name: String,
        /// What it begins with.
        prefix: &'static str,
    },
    /// Tokens need exactly one way to be checked.
    #[error("`auth.jwt` needs either `jwks_url` or `hs256_secret_env`, and not both")]
    TokenCheck,
    /// The audit file cannot be written.
    #[error("the audit file cannot be opened")]
    Audit(#[source] std::io::Error),
}
