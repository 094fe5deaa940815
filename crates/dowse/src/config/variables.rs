//! Variables of the environment that were meant and do not count: misspelt ones, and those that a
//! setting names and that are not set.

use std::sync::Once;

use infer::local::{KERNELS_VARIABLE, kernel_names};

use super::overrides::{SETTINGS, variable_of};
use super::{
    CatalogueKind, Config, EmbedderProvider, EngineKind, LlmProvider, QdrantSection,
    RerankerProvider,
};
use crate::print;

/// Variables that set something and are no setting of the file.
const OTHERS: [&str; 5] =
    ["DOWSE_CONFIG", "DOWSE_LOG", "DOWSE_LOG_FORMAT", KERNELS_VARIABLE, "DOWSE_POSTGRES_URL"];

/// A variable that looks like one that sets something, and sets nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misspelt {
    pub(crate) name: String,
    /// The one that is likely meant.
    pub(crate) meant: String,
}

/// A setting whose variable is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unset {
    /// The setting, in backticks where it is a key.
    pub(crate) setting: String,
    pub(crate) variable: String,
    /// Whether it is the key of a model: everything but that model works without it.
    pub(crate) is_of_model: bool,
}

impl Unset {
    /// Says what is wrong.
    pub(crate) fn problem(&self) -> String {
        let Unset { setting, variable, .. } = self;
        format!("{setting} names the variable `{variable}`, which is not set here")
    }

    /// Says what to do.
    pub(crate) fn remedy(&self) -> String {
        let Unset { setting, variable, .. } = self;
        format!("set `{variable}` where the server starts, or name another one in {setting}")
    }
}

/// What every variable begins with.
const PREFIX: &str = "DOWSE_";

/// Variables that clients of a server read, and that hold its key.
const OF_CLIENTS: [&str; 2] = ["DOWSE_KEY", "DOWSE_AUTHORIZATION"];

/// What variables of the tests and measurements of this project begin with.
const OF_TESTS: [&str; 2] = ["DOWSE_TEST_", "DOWSE_BENCH_"];

/// Finds variables of this process that set nothing, are like none that does, and that a
/// configuration does not name.
pub(crate) fn without_effect_here(text: &str) -> Vec<String> {
    let names = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    without_effect(names.filter_map(|(name, _)| name.into_string().ok()), text)
}

fn without_effect(names: impl Iterator<Item = String>, text: &str) -> Vec<String> {
    let known: Vec<String> = SETTINGS.iter().map(|setting| variable_of(setting)).collect();
    let is_known = |name: &str| {
        known.iter().any(|known| known == name)
            || OTHERS.contains(&name)
            || OF_CLIENTS.contains(&name)
            || OF_TESTS.iter().any(|prefix| name.starts_with(prefix))
    };
    let mut found: Vec<String> = names
        .filter(|name| name.starts_with(PREFIX) && !is_known(name) && !text.contains(name.as_str()))
        .filter(|name| misspelt(std::iter::once(name.clone())).is_empty())
        .collect();
    found.sort();
    found
}

/// Holds that the instructions that are asked for are here: a model would be called damaged when
/// the first text comes.
pub(super) fn check_kernels(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
    let Some(wanted) = variable(KERNELS_VARIABLE) else { return Ok(()) };
    let names = kernel_names();
    anyhow::ensure!(
        names.contains(&wanted.as_str()),
        "the variable `{KERNELS_VARIABLE}` is `{wanted}`, and this machine has `{}`\n\
         hint: unset it to take the fastest",
        names.join("`, `")
    );
    Ok(())
}

/// Says once in a process which variables set nothing though they look as if.
pub(super) fn warn_of_misspelt(text: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for Misspelt { name, meant } in misspelt_here(text) {
            print::note(format!("note: `{name}` sets nothing; did you mean `{meant}`?"));
        }
    });
}

/// Finds the misspelt ones among those of this process; what a configuration names is no setting.
pub(crate) fn misspelt_here(text: &str) -> Vec<Misspelt> {
    let names = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = names.filter_map(|(name, _)| name.into_string().ok());
    misspelt(names.filter(|name| !text.contains(name.as_str())))
}

fn misspelt(names: impl Iterator<Item = String>) -> Vec<Misspelt> {
    let settings = SETTINGS.iter().map(|setting| variable_of(setting));
    let known: Vec<String> = settings.chain(OTHERS.iter().map(|name| (*name).to_owned())).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let names = names.filter(|name| name.starts_with(PREFIX) && !known.contains(&name.as_str()));
    let found = names.filter_map(|name| {
        let meant = meant_by(&name, &known)?.to_owned();
        Some(Misspelt { name, meant })
    });
    found.collect()
}

/// Gives the variable that a name is much like: keys and secrets are in variables of any name.
fn meant_by<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let squeezed = |name: &str| name.replace('_', "");
    if let Some(same) = known.iter().find(|known| squeezed(known) == squeezed(name)) {
        return Some(same);
    }
    let end = name.strip_prefix("DOWSE")?;
    let mut with_end = known.iter().filter(|known| known.ends_with(end));
    if let (Some(only), None) = (with_end.next(), with_end.next()) {
        return Some(only);
    }
    let words = |name: &str| name.split('_').count();
    let (section, rest) = in_section(name);
    let alike: Vec<&str> = known.iter().filter(|it| words(it) == words(name)).copied().collect();
    let nearest = |part: &str, of: &dyn Fn(&'a str) -> &'a str, among: &[&'a str]| {
        let parts: Vec<&str> = among.iter().map(|known| of(known)).collect();
        let nearest = text::nearest(part, &parts)?;
        parts.iter().position(|part| *part == nearest).and_then(|place| among.get(place).copied())
    };
    let among = |is: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        alike.iter().filter(|known| is(known)).copied().collect()
    };
    // One slip: behind the section, or in it.
    if rest.is_empty() {
        return nearest(section, &|known| in_section(known).0, &alike);
    }
    let of_section = among(&|known| in_section(known).0 == section);
    let of_rest = among(&|known| in_section(known).1 == rest);
    nearest(rest, &|known| in_section(known).1, &of_section)
        .or_else(|| nearest(section, &|known| in_section(known).0, &of_rest))
}

/// Takes a name apart: `SERVER` and `LISTEN`.
fn in_section(name: &str) -> (&str, &str) {
    let inner = name.strip_prefix(PREFIX).unwrap_or(name);
    inner.split_once('_').unwrap_or((inner, ""))
}

impl Config {
    /// Finds settings whose variable is not set.
    pub(crate) fn unset_variables(&self) -> Vec<Unset> {
        self.unset(&|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
    }

    fn unset(&self, is_set: &dyn Fn(&str) -> bool) -> Vec<Unset> {
        let mut named: Vec<Unset> = Vec::new();
        let mut name = |setting: String, variable: &str, is_of_model: bool| {
            named.push(Unset { setting, variable: variable.to_owned(), is_of_model });
        };
        let (embedder, reranker, llm) = (&self.embedder, &self.reranker, &self.llm);
        for (setting, is_used, variable) in [
            ("embedder", embedder.provider == EmbedderProvider::Http, &embedder.api_key_env),
            ("reranker", reranker.provider == RerankerProvider::Http, &reranker.api_key_env),
            ("llm", llm.provider != LlmProvider::None, &llm.api_key_env),
        ] {
            if let Some(variable) = variable.as_deref().filter(|_| is_used) {
                name(format!("`{setting}.api_key_env`"), variable, true);
            }
        }
        let mut name = |setting: &str, variable: &str| name(setting.to_owned(), variable, false);
        if let Some(variable) = &self.auth.metrics_key_env {
            name("`auth.metrics_key_env`", variable);
        }
        for key in &self.auth.keys {
            name(&format!("`key_env` of the key `{}`", key.name), &key.key_env);
        }
        if let Some(variable) = self.auth.jwt.as_ref().and_then(|jwt| jwt.hs256_secret_env.as_ref())
        {
            name("`auth.jwt.hs256_secret_env`", variable);
        }
        if let Ok(choice) = self.store.choice() {
            let (postgres, qdrant) = (&self.store.postgres, &self.store.qdrant);
            if choice.catalogue == CatalogueKind::Postgres && postgres.url.is_none() {
                name("`store.postgres.url_env`", &postgres.url_env);
            }
            // A cluster without a key is common, so the default is no sign that one is wanted.
            let is_named = qdrant.api_key_env != QdrantSection::default().api_key_env;
            if choice.engine == EngineKind::Qdrant && is_named {
                name("`store.qdrant.api_key_env`", &qdrant.api_key_env);
            }
            if choice.engine == EngineKind::Turbopuffer {
                name("`store.turbopuffer.api_key_env`", &choice.turbopuffer.api_key_env);
            }
        }
        named.retain(|unset| !is_set(&unset.variable));
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_whose_variable_is_not_set_is_named() {
        let text = "[embedder]\nprovider = \"http\"\napi_key_env = \"NO_SUCH_KEY\"\n\
                    [reranker]\napi_key_env = \"UNUSED\"\n\
                    [[auth.keys]]\nname = \"ci\"\nkey_env = \"NO_CI_KEY\"\n";
        let config: Config = toml::from_str(text).unwrap();
        let unset = config.unset(&|_| false);
        let said: Vec<(String, bool)> =
            unset.iter().map(|unset| (unset.problem(), unset.is_of_model)).collect();
        let embedder =
            "`embedder.api_key_env` names the variable `NO_SUCH_KEY`, which is not set here";
        let key = "`key_env` of the key `ci` names the variable `NO_CI_KEY`, which is not set here";
        assert_eq!(said, [(embedder.to_owned(), true), (key.to_owned(), false)]);
        assert_eq!(config.unset(&|_| true), []);
    }

    #[test]
    fn a_misspelt_variable_is_named_and_a_secret_is_not() {
        let meant = |name: &str| {
            misspelt([name.to_owned()].into_iter()).pop().map(|misspelt| misspelt.meant)
        };
        for (name, expected) in [
            ("DOWSE_SERVER_LISTN", "DOWSE_SERVER_LISTEN"),
            ("DOWSE_SERVR_LISTEN", "DOWSE_SERVER_LISTEN"),
            ("DOWSE_LISTEN", "DOWSE_SERVER_LISTEN"),
            ("DOWSE_DATADIR", "DOWSE_DATA_DIR"),
            ("DOWSE_CONFG", "DOWSE_CONFIG"),
            ("DOWSE_MODEL_DIR", "DOWSE_MODELS_DIR"),
            ("DOWSE_EMBEDDER_PROVIDR", "DOWSE_EMBEDDER_PROVIDER"),
            ("DOWSE_EMBEDER_PROVIDER", "DOWSE_EMBEDDER_PROVIDER"),
        ] {
            assert_eq!(meant(name).as_deref(), Some(expected), "{name}");
        }
        for name in [
            "DOWSE_SERVER_LISTEN",
            "DOWSE_KEY_CI",
            "DOWSE_KEY",
            "DOWSE_POSTGRES_URL",
            "DOWSE_EMBEDDER_API_KEY",
            "DOWSE_LLM_KEY",
            "DOWSE_CONFIG",
            "DOWSE_LOG",
            "DOWSE_KERNELS",
            "DOWSE_TEST_PAGES",
            "PATH",
        ] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    /// A name that is like no other set nothing without a word.
    #[test]
    fn a_variable_without_effect_is_found() {
        let names = [
            "DOWSE_FOO",
            "DOWSE_AUTH_KEYS",
            "DOWSE_KEY",
            "DOWSE_SERVER_LISTEN",
            "DOWSE_KERNELS",
            "DOWSE_CI_KEY",
            "DOWSE_SERVR_LISTEN",
            "DOWSE_TEST_NODE",
            "PATH",
        ];
        let names = names.into_iter().map(str::to_owned);
        let text = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"DOWSE_CI_KEY\"\n";
        assert_eq!(without_effect(names, text), ["DOWSE_AUTH_KEYS", "DOWSE_FOO"]);
    }

    /// It was named by no command, and by the first search as a damaged model.
    #[test]
    fn instructions_that_are_not_here_are_refused() {
        let check = |value: &str| {
            check_kernels(&|name| (name == KERNELS_VARIABLE).then(|| value.to_owned()))
        };
        check("portable f32").unwrap();
        let said = check("foo").unwrap_err().to_string();
        assert!(
            said.contains("`DOWSE_KERNELS` is `foo`") && said.contains("`portable f32`"),
            "{said}"
        );
    }

    /// One letter too few: the variable that was meant is named, or one that is as near.
    #[test]
    fn one_slip_in_any_variable_is_noticed() {
        let known: Vec<String> = SETTINGS.iter().map(|setting| variable_of(setting)).collect();
        let mut n_tried = 0;
        for right in &known {
            let (section, rest) = in_section(right);
            // Of a short word too little is left to know it by.
            let shortest = section.len().min(if rest.is_empty() { usize::MAX } else { rest.len() });
            for at in "DOWSE_".len()..right.len() {
                let mut slip = right.clone();
                slip.remove(at);
                if shortest > 4 && !known.contains(&slip) {
                    assert!(!misspelt([slip.clone()].into_iter()).is_empty(), "{slip}");
                    n_tried += 1;
                }
            }
        }
        assert!(n_tried > 500, "{n_tried} were tried");
    }
}
