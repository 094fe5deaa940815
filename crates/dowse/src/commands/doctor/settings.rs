//! What the configuration names and this machine has to have: variables, folders, an issuer's keys.

use std::path::Path;

use super::Finding;
use crate::config::{Config, Misspelt, Unset, misspelt_here, without_effect_here};
use crate::wiring::fetched;

/// Looks at everything that is named; a variable only where no server runs, which has an
/// environment of its own.
pub(super) fn findings(config: &Config, file: Option<&Path>, is_running: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What the file names is none of ours.
    let text = file.and_then(|file| fs_err::read_to_string(file).ok()).unwrap_or_default();
    let misspelt = misspelt_here(&text).into_iter();
    findings.extend(misspelt.map(|Misspelt { name, meant }| {
        let remedy = format!("set `{meant}`, if that was meant");
        Finding::problem("variable", format!("`{name}` sets nothing"), remedy)
    }));
    findings.extend(without_effect_here(&text).into_iter().map(|name| {
        let remedy = "docs/reference/configuration.md lists the keys that a variable sets; one that \
                      holds a key is named in the configuration, as by `key_env`";
        Finding::note("variable", format!("`{name}` is set, and nothing here reads it"), remedy)
    }));
    if !is_running {
        let unset = config.unset_variables();
        let finding = |it: &Unset| Finding::problem("variable", it.problem(), it.remedy());
        findings.extend(unset.iter().map(finding));
    }
    findings.extend(knowledge_folders(config));
    findings.extend(issuer(config));
    findings
}

fn knowledge_folders(config: &Config) -> Vec<Finding> {
    let folders = config.knowledge.folders.iter();
    folders
        .map(|folder| {
            let path = config.base.join(&folder.path);
            let what = format!("`{}` of collection `{}`", path.display(), folder.collection);
            match path.is_dir() {
                true => Finding::ok("knowledge folder", format!("{what} is there")),
                false => Finding::problem(
                    "knowledge folder",
                    format!("{what} is not there"),
                    "fix `path` in `[[knowledge.folders]]`, or make the folder",
                ),
            }
        })
        .collect()
}

fn issuer(config: &Config) -> Option<Finding> {
    let url = config.auth.jwt.as_ref()?.jwks_url.as_deref()?;
    Some(match fetched(url) {
        Ok(()) => Finding::ok("issuer", format!("`{url}` gives keys")),
        Err(error) => Finding::problem(
            "issuer",
            format!("`{url}` gives no keys: {}", model::with_causes(&error)),
            "fix `auth.jwt.jwks_url`, or see that the issuer answers; tokens are refused meanwhile",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::State;

    #[test]
    fn folders_that_are_not_there_are_named() {
        let text = "[[knowledge.folders]]\npath = \"nowhere\"\ncollection = \"c\"\n";
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(knowledge_folders(&config)[0].state, State::Problem);
    }

    #[test]
    fn an_issuer_must_give_its_keys() {
        let issuer_at = |url: &str| {
            let jwt = format!("issuer = \"i\"\naudience = \"a\"\njwks_url = \"{url}\"");
            let config: Config = toml::from_str(&format!("[auth.jwt]\n{jwt}\n")).unwrap();
            issuer(&config).unwrap().state
        };
        let port = testkit::free_port();
        assert_eq!(issuer_at(&format!("http://127.0.0.1:{port}/keys")), State::Problem);
        let server = testkit::loopback::Loopback::start(|request| match request.path.as_str() {
            "/keys" => testkit::loopback::Reply::ok("{}"),
            _ => testkit::loopback::Reply::status(404, ""),
        });
        assert_eq!(issuer_at(&server.url("/keys")), State::Ok);
        assert_eq!(issuer_at(&server.url("/other")), State::Problem);
    }
}
