//! Values that can be read and cannot be meant: a limit of nothing, a score above 1, an address
//! that is none. A server with one starts, and every call fails.

use std::collections::BTreeSet;

use anyhow::bail;

use super::Config;

/// Refuses what no server can work with.
pub(super) fn check(config: &Config) -> anyhow::Result<()> {
    let limits = &config.limits;
    for (key, value) in [
        ("result_chars", limits.result_chars),
        ("result_tokens", limits.result_tokens),
        ("body_bytes", limits.body_bytes),
        ("concurrent_calls", limits.concurrent_calls),
        ("concurrent_calls_per_caller", limits.concurrent_calls_per_caller),
        ("concurrent_calls_per_tenant", limits.concurrent_calls_per_tenant),
        ("connections", limits.connections),
        ("connections_per_peer", limits.connections_per_peer),
        ("call_seconds", usize::try_from(limits.call_seconds).unwrap_or(usize::MAX)),
    ] {
        if value == 0 {
            bail!(
                "`limits.{key}` must be at least `1`, received `0`\n\
                 hint: leave the line out for the default"
            );
        }
    }
    for (key, value) in [
        ("best_match_threshold", config.filters.best_match_threshold),
        ("best_match_margin", config.filters.best_match_margin),
    ] {
        if !(0.0..=1.0).contains(&value) {
            bail!(
                "`filters.{key}` must be from `0` to `1`, received `{value}`\n\
                 hint: scores are from 0 to 1; leave the line out for the default"
            );
        }
    }
    if let Some(url) = &config.server.public_url
        && net::Request::get(url).is_err()
    {
        bail!(
            "`server.public_url` is `{url}`, which is not an address\n\
             hint: write it with `https://`, such as `https://search.example.org`"
        );
    }
    for origin in &config.server.allowed_origins {
        if !is_origin(origin) {
            bail!(
                "`server.allowed_origins` has `{origin}`, which is no origin\n\
                 hint: an origin is a scheme and a host without a path, such as \
                 `https://chat.example.org` or `http://localhost:3000`"
            );
        }
    }
    let mut fed = BTreeSet::new();
    for folder in &config.knowledge.folders {
        if !fed.insert(&folder.collection) {
            bail!(
                "`[[knowledge.folders]]` names the collection `{}` twice, and the documents of a \
                 collection follow one folder\n\
                 hint: make a collection for each folder, or put the folders into one",
                folder.collection
            );
        }
    }
    Ok(())
}

/// Tells whether a browser could send it as `Origin`: extensions and editors have schemes of their
/// own.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+.-".contains(letter);
    let is_host = |letter: char| !letter.is_whitespace() && !"/?#@\\*".contains(letter);
    !scheme.is_empty()
        && scheme.chars().all(is_scheme)
        && !host.is_empty()
        && host.chars().all(is_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let config: Config = toml::from_str(text).unwrap();
        config.check().map_or_else(|error| format!("{error:#}"), |()| String::new())
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_remedy() {
        for (text, key) in [
            ("[limits]\nresult_chars = 0", "limits.result_chars"),
            ("[limits]\nresult_tokens = 0", "limits.result_tokens"),
            ("[limits]\ncall_seconds = 0", "limits.call_seconds"),
            ("[limits]\nconnections = 0", "limits.connections"),
            ("[filters]\nbest_match_threshold = 1.5", "filters.best_match_threshold"),
            ("[filters]\nbest_match_threshold = -1.0", "filters.best_match_threshold"),
            ("[filters]\nbest_match_margin = nan", "filters.best_match_margin"),
            ("[server]\npublic_url = \"search.example.org\"", "server.public_url"),
            ("[server]\npublic_url = \"ftp://a\"", "server.public_url"),
            ("[server]\nallowed_origins = [\"*\"]", "server.allowed_origins"),
            ("[server]\nallowed_origins = [\"chat.example.org\"]", "server.allowed_origins"),
            ("[server]\nallowed_origins = [\"https://a.example/x\"]", "server.allowed_origins"),
            (
                "[[knowledge.folders]]\npath = \"a\"\ncollection = \"c\"\n\
                 [[knowledge.folders]]\npath = \"b\"\ncollection = \"c\"",
                "knowledge.folders",
            ),
        ] {
            let said = said(text);
            assert!(said.contains(key) && said.contains("\nhint: "), "{text}: {said}");
        }
        let good = "[limits]\nupload_bytes = 0\n[filters]\nbest_match_threshold = 1.0\n\
                    [server]\npublic_url = \"https://a.example/dowse\"\n\
                    allowed_origins = [\"https://a.example\", \"http://localhost:3000\", \
                    \"vscode-webview://abc\"]\n";
        assert_eq!(said(good), "");
    }

    #[test]
    fn a_bad_pattern_is_said_before_its_hint() {
        let said = said("[files]\nignore = [\"a[\"]");
        assert!(said.contains("a[") && !said.starts_with("hint:"), "{said}");
        assert!(said.contains("\nhint: patterns"), "{said}");
    }
}
