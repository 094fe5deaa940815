//! Where the test bed is: foreign programs that `cargo xtask testbed` installed.
//!
//! `cargo xtask test` puts every part into an environment variable. A test started by hand
//! finds the bed in its usual folder as well, if it was ever installed. A test that needs a part
//! asks for it here, and returns early when the answer is `None`; under `cargo xtask test` the
//! answer is never `None`, so nothing is skipped there.

use std::path::PathBuf;

/// Names the program `node`, version 22.
pub const NODE: &str = "DOWSE_TEST_NODE";
/// Names the folder `node_modules` with the clients and the conformance suite.
pub const NODE_MODULES: &str = "DOWSE_TEST_NODE_MODULES";
/// Names the Python interpreter that has the `mcp` client.
pub const PYTHON: &str = "DOWSE_TEST_PYTHON";
/// Names the folder with `initdb`, `postgres` and `psql`.
pub const POSTGRES_BIN: &str = "DOWSE_TEST_POSTGRES_BIN";
/// Names the program `qdrant`.
pub const QDRANT: &str = "DOWSE_TEST_QDRANT";
/// Names a browser that speaks the DevTools protocol.
pub const BROWSER: &str = "DOWSE_TEST_BROWSER";

/// Gives the folder of the test bed: `$XDG_CACHE_HOME/dowse/testbed`, or `~/.cache/…`.
pub fn folder() -> PathBuf {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) if !cache.is_empty() => PathBuf::from(cache),
        _ => PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/".into())).join(".cache"),
    };
    cache.join("dowse/testbed")
}

/// Gives the file in which `cargo xtask testbed` leaves the variables, one `NAME=value` a line.
pub fn variables_file() -> PathBuf {
    folder().join("variables.txt")
}

/// Finds node.
pub fn node() -> Option<PathBuf> {
    part(NODE)
}

/// Finds the npm packages.
pub fn node_modules() -> Option<PathBuf> {
    part(NODE_MODULES)
}

/// Finds Python with the `mcp` client.
pub fn python() -> Option<PathBuf> {
    part(PYTHON)
}

/// Finds the programs of PostgreSQL.
pub fn postgres_bin() -> Option<PathBuf> {
    part(POSTGRES_BIN)
}

/// Finds Qdrant.
pub fn qdrant() -> Option<PathBuf> {
    part(QDRANT)
}

/// Finds a browser.
pub fn browser() -> Option<PathBuf> {
    part(BROWSER)
}

fn part(variable: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        let path = PathBuf::from(path);
        assert!(path.exists(), "`{variable}` names `{}`, which is not there", path.display());
        return Some(path);
    }
    let variables = fs_err::read_to_string(variables_file()).ok()?;
    variables
        .lines()
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| *name == variable)
        .map(|(_, value)| PathBuf::from(value))
        .filter(|path| path.exists())
}
