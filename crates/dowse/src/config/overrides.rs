//! Environment variables over the file: `DOWSE_SERVER_LISTEN` sets `server.listen`.
//!
//! The name is the path of the setting in capitals, joined with underscores. Only the settings
//! listed here can be set this way; other variables that begin with `DOWSE_` (keys and secrets
//! that the file names) are left alone.

use toml::{Table, Value};

use super::Config;

/// Settings that hold one value, as paths.
pub(crate) const SETTINGS: &[&str] = &[
    "data_dir",
    "server.listen",
    "server.public_url",
    "server.allowed_hosts",
    "server.allowed_origins",
    "server.trusted_proxies",
    "auth.jwt.issuer",
    "auth.jwt.audience",
    "auth.jwt.jwks_url",
    "auth.jwt.hs256_secret_env",
    "auth.jwt.claims.subject",
    "auth.jwt.claims.tenant",
    "auth.jwt.claims.department",
    "auth.jwt.claims.clearance",
    "auth.jwt.claims.roles",
    "auth.jwt.claims.groups",
    "auth.metrics_key_env",
    "limits.result_chars",
    "limits.result_tokens",
    "limits.body_bytes",
    "limits.upload_bytes",
    "limits.concurrent_calls",
    "limits.concurrent_calls_per_caller",
    "limits.concurrent_calls_per_tenant",
    "limits.connections",
    "limits.connections_per_peer",
    "limits.call_seconds",
    "audit.omit_queries",
    "audit.keep_answers_days",
    "audit.keep_answers_mb",
    "console.session_hours",
    "console.secret_env",
    "models_dir",
    "embedder.provider",
    "embedder.model",
    "embedder.api",
    "embedder.base_url",
    "embedder.api_key_env",
    "embedder.dimensions",
    "embedder.query_prefix",
    "embedder.passage_prefix",
    "reranker.provider",
    "reranker.model",
    "reranker.api",
    "reranker.base_url",
    "reranker.api_key_env",
    "llm.provider",
    "llm.base_url",
    "llm.model",
    "llm.api_key_env",
    "store.catalogue",
    "store.engine",
    "store.uploads",
    "store.lease_seconds",
    "store.postgres.url",
    "store.postgres.url_env",
    "store.postgres.schema",
    "store.postgres.max_connections",
    "store.qdrant.urls",
    "store.qdrant.api_key_env",
    "store.qdrant.prefix",
    "store.qdrant.shards",
    "store.qdrant.replicas",
    "store.turbopuffer.region",
    "store.turbopuffer.base_url",
    "store.turbopuffer.api_key_env",
    "store.turbopuffer.namespace_prefix",
    "store.provider",
    "store.base_url",
    "store.region",
    "store.api_key_env",
    "store.namespace_prefix",
    "files.watch",
    "files.hidden",
    "files.max_file_bytes",
    "contexts.chunk_threshold_chars",
    "contexts.chunk_chars",
    "contexts.overlap_chars",
    "contexts.max_node_chars",
    "contexts.max_node_chunks",
    "contexts.max_document_bytes",
    "filters.best_match_threshold",
    "filters.best_match_margin",
    "charts.source",
    "charts.columns.period",
    "charts.columns.account",
    "charts.columns.amount",
    "charts.columns.entity",
    "charts.columns.uat",
    "charts.columns.county",
    "charts.columns.functional",
    "charts.columns.economic",
    "charts.population",
    "charts.rates",
    "charts.currency",
    "charts.keep_days",
    "exports.link_minutes",
];

/// Settings among them that hold a list; the variable separates its elements with commas.
const LISTS: &[&str] = &[
    "server.allowed_hosts",
    "server.allowed_origins",
    "server.trusted_proxies",
    "store.qdrant.urls",
];

/// Gives the variable that sets a setting.
pub(crate) fn variable_of(setting: &str) -> String {
    format!("DOWSE_{}", setting.replace('.', "_").to_uppercase())
}

/// A variable whose value its setting cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) setting: &'static str,
    /// Why, in the words of the parser.
    pub(crate) problem: String,
}

/// Puts the variables that are set into the table of a file, and tells which settings they set.
///
/// # Errors
///
/// With the first variable whose value its setting cannot have.
pub(crate) fn apply(
    table: &mut Table,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<&'static str>, Unfit> {
    let file = table.clone();
    let mut set = Vec::new();
    for setting in SETTINGS {
        let Some(text) = variable(&variable_of(setting)) else { continue };
        insert(table, setting, fitting(&file, setting, &text)?);
        set.push(*setting);
    }
    Ok(set)
}

/// Reads a variable as its setting takes it: a folder or a schema may be called `2024` or `true`.
fn fitting(file: &Table, setting: &'static str, text: &str) -> Result<Value, Unfit> {
    let of_file = |value: Value| {
        let mut table = file.clone();
        insert(&mut table, setting, value);
        table.try_into::<Config>()
    };
    let read = if LISTS.contains(&setting) {
        let elements = text.split(',').map(str::trim).filter(|element| !element.is_empty());
        Value::Array(elements.map(|element| Value::String(element.to_owned())).collect())
    } else {
        scalar(text)
    };
    let mut problem = None;
    for value in [read, Value::String(text.to_owned())] {
        match of_file(value.clone()) {
            Ok(_) => return Ok(value),
            // What a section needs beside it may be in other variables.
            Err(error) if error.message().starts_with("missing field") => return Ok(value),
            Err(error) => problem = problem.or(Some(error.message().to_owned())),
        }
    }
    Err(Unfit { setting, problem: problem.unwrap_or_default() })
}

fn scalar(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::Integer(number);
    }
    if let Ok(number) = text.parse::<f64>() {
        return Value::Float(number);
    }
    match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        other => Value::String(other.to_owned()),
    }
}

fn insert(table: &mut Table, setting: &str, value: Value) {
    match setting.split_once('.') {
        None => {
            table.insert(setting.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTINGS;

    /// The page says that a key with one value can be set from the environment.
    #[test]
    fn every_key_with_one_value_has_a_variable() {
        let page = include_str!("../../../../docs/reference/configuration.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
        let mut n_keys = 0;
        for (key, rest) in rows.filter_map(|row| row.split_once("` | ")) {
            let is_plain =
                key.chars().all(|char| char.is_ascii_lowercase() || "._0123456789".contains(char));
            let holds_one = !rest.starts_with("list") && !rest.starts_with("section");
            if is_plain && holds_one {
                assert!(SETTINGS.contains(&key), "`{key}` cannot be set from the environment");
                n_keys += 1;
            }
        }
        assert!(n_keys > 60, "{n_keys} keys were found");
    }
}
