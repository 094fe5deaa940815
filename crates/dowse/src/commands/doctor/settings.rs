//! What the configuration names and this machine has to have: variables, folders, an issuer's keys.

use std::ffi::OsString;

use super::{Finding, machine};
use crate::config::{
    CatalogueKind, Config, EmbedderProvider, EngineKind, LlmProvider, QdrantSection,
    RerankerProvider, SETTINGS, variable_of,
};

/// Looks at everything that is named; a variable only where no server runs, which has an
/// environment of its own.
pub(super) fn findings(config: &Config, is_running: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(misspelt_variables(std::env::vars_os().map(|(name, _)| name)));
    if !is_running {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        findings.extend(unset_variables(config, &is_set));
    }
    findings.extend(knowledge_folders(config));
    findings.extend(issuer(config));
    findings
}

/// Finds variables that look like one that sets something, and set nothing.
fn misspelt_variables(names: impl Iterator<Item = OsString>) -> Vec<Finding> {
    let known: Vec<String> = SETTINGS.iter().map(|setting| variable_of(setting)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let names = names.filter_map(|name| name.into_string().ok());
    let names = names.filter(|name| name.starts_with("DOWSE_") && !known.contains(&name.as_str()));
    let finding = |name: String| {
        let meant = meant_by(&name, &known)?;
        Some(Finding::problem(
            "variable",
            format!("`{name}` sets nothing"),
            format!("set `{meant}`, if that was meant"),
        ))
    };
    names.filter_map(finding).collect()
}

/// Gives the variable of the same section that a name is nearest to. Keys and secrets are in
/// variables of any name, so that the name has to be much like it.
fn meant_by<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let squeezed = |name: &str| name.replace('_', "");
    let words = |name: &str| name.split('_').count();
    let section = |name: &str| name.split('_').nth(1).map(str::to_owned);
    if let Some(same) = known.iter().find(|known| squeezed(known) == squeezed(name)) {
        return Some(same);
    }
    let is_like = |known: &&&str| words(known) == words(name) && section(known) == section(name);
    let known: Vec<&str> = known.iter().filter(is_like).copied().collect();
    let rest = |name: &str| name.splitn(3, '_').nth(2).unwrap_or_default().to_owned();
    let rests: Vec<String> = known.iter().map(|known| rest(known)).collect();
    let rests: Vec<&str> = rests.iter().map(String::as_str).collect();
    let nearest = text::nearest(&rest(name), &rests)?;
    rests.iter().position(|rest| *rest == nearest).and_then(|place| known.get(place).copied())
}

/// Finds settings whose variable is not set.
fn unset_variables(config: &Config, is_set: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut named: Vec<(String, String)> = Vec::new();
    let mut name = |setting: &str, variable: &str| {
        let is_key = !setting.starts_with('`');
        let setting = if is_key { format!("`{setting}`") } else { setting.to_owned() };
        named.push((setting, variable.to_owned()));
    };
    let (embedder, reranker, llm) = (&config.embedder, &config.reranker, &config.llm);
    for (setting, is_used, variable) in [
        (
            "embedder.api_key_env",
            embedder.provider == EmbedderProvider::Http,
            &embedder.api_key_env,
        ),
        (
            "reranker.api_key_env",
            reranker.provider == RerankerProvider::Http,
            &reranker.api_key_env,
        ),
        ("llm.api_key_env", llm.provider != LlmProvider::None, &llm.api_key_env),
        ("auth.metrics_key_env", true, &config.auth.metrics_key_env),
    ] {
        if let Some(variable) = variable.as_deref().filter(|_| is_used) {
            name(setting, variable);
        }
    }
    for key in &config.auth.keys {
        name(&format!("`key_env` of the key `{}`", key.name), &key.key_env);
    }
    if let Some(variable) = config.auth.jwt.as_ref().and_then(|jwt| jwt.hs256_secret_env.as_ref()) {
        name("auth.jwt.hs256_secret_env", variable);
    }
    if let Ok(choice) = config.store.choice() {
        let (postgres, qdrant) = (&config.store.postgres, &config.store.qdrant);
        if choice.catalogue == CatalogueKind::Postgres && postgres.url.is_none() {
            name("store.postgres.url_env", &postgres.url_env);
        }
        // A cluster without a key is common, so the default is no sign that one is wanted.
        let is_named = qdrant.api_key_env != QdrantSection::default().api_key_env;
        if choice.engine == EngineKind::Qdrant && is_named {
            name("store.qdrant.api_key_env", &qdrant.api_key_env);
        }
        if choice.engine == EngineKind::Turbopuffer {
            name("store.turbopuffer.api_key_env", &choice.turbopuffer.api_key_env);
        }
    }
    let unset = named.into_iter().filter(|(_, variable)| !is_set(variable));
    let finding = |(setting, variable): (String, String)| {
        Finding::problem(
            "variable",
            format!("{setting} names the variable `{variable}`, which is not set here"),
            format!("set `{variable}` where the server starts, or name another one in {setting}"),
        )
    };
    unset.map(finding).collect()
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
    Some(match machine::fetched(url) {
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
    fn variables_and_folders_that_are_not_there_are_named() {
        let text = "[embedder]\nprovider = \"http\"\napi_key_env = \"NO_SUCH_KEY\"\n\
                    [reranker]\napi_key_env = \"UNUSED\"\n\
                    [[auth.keys]]\nname = \"ci\"\nkey_env = \"NO_CI_KEY\"\n\
                    [[knowledge.folders]]\npath = \"nowhere\"\ncollection = \"c\"\n";
        let config: Config = toml::from_str(text).unwrap();
        let unset = unset_variables(&config, &|_| false);
        let said: Vec<&str> = unset.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(
            said,
            [
                "`embedder.api_key_env` names the variable `NO_SUCH_KEY`, which is not set here",
                "`key_env` of the key `ci` names the variable `NO_CI_KEY`, which is not set here",
            ]
        );
        assert_eq!(unset_variables(&config, &|_| true), []);
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

    #[test]
    fn a_misspelt_variable_is_named_and_a_secret_is_not() {
        let named = |name: &str| misspelt_variables([OsString::from(name)].into_iter());
        for (name, meant) in [
            ("DOWSE_SERVER_LISTN", "`DOWSE_SERVER_LISTEN`"),
            ("DOWSE_DATADIR", "`DOWSE_DATA_DIR`"),
            ("DOWSE_EMBEDDER_PROVIDR", "`DOWSE_EMBEDDER_PROVIDER`"),
        ] {
            let found = named(name);
            assert!(found[0].remedy.as_ref().unwrap().contains(meant), "{found:?}");
        }
        for name in [
            "DOWSE_SERVER_LISTEN",
            "DOWSE_KEY_CI",
            "DOWSE_POSTGRES_URL",
            "DOWSE_EMBEDDER_API_KEY",
            "DOWSE_LLM_KEY",
            "DOWSE_CONFIG",
            "DOWSE_LOG",
            "DOWSE_KERNELS",
            "PATH",
        ] {
            assert_eq!(named(name), [], "{name}");
        }
    }
}
