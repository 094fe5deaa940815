//! From a file and the environment to a configuration, with errors that show the line.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow, bail};

use super::{Config, EmbedderProvider, RerankerProvider, overrides};

/// The file that is used when none is named.
const DEFAULT_FILE: &str = "dowse.toml";

/// A configuration and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// The configuration; its paths are resolved.
    pub(crate) config: Config,
    /// The file, unless there is none.
    pub(crate) file: Option<PathBuf>,
}

/// Whether the command line asked for no model.
static IS_WITHOUT_MODEL: AtomicBool = AtomicBool::new(false);

/// Makes every configuration that is read from now on one without a model.
pub(crate) fn use_no_model() {
    IS_WITHOUT_MODEL.store(true, Ordering::Relaxed);
}

/// Tells whether the command line asked for no model.
pub(crate) fn is_without_model() -> bool {
    IS_WITHOUT_MODEL.load(Ordering::Relaxed)
}

/// Reads the configuration.
///
/// Without a file, `dowse.toml` in the working folder is used when it is there, and the defaults
/// otherwise. Fails when a named file cannot be read, a key is unknown or a value does not fit.
pub(crate) fn load(
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Loaded> {
    let file = match named {
        Some(path) => Some(path.to_owned()),
        None => Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists()),
    };
    let text = match &file {
        Some(path) => {
            anyhow::ensure!(
                path.exists(),
                "there is no configuration `{}`\n\
                 hint: check the path; `dowse init` drafts a `dowse.toml`",
                path.display()
            );
            fs_err::read_to_string(path)?
        }
        None => String::new(),
    };
    let shown = file.as_deref().unwrap_or(Path::new("the defaults")).display().to_string();
    let mut config = parse(&text, &shown, variable)?;
    let base = file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    config.data_dir = base.join(&config.data_dir);
    config.base = base.to_owned();
    if is_without_model() {
        config.drop_models();
    }
    Ok(Loaded { config, file })
}

fn parse(
    text: &str,
    shown: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Config> {
    // The text is read first without the environment: its errors know their line.
    let config: Config = toml::from_str(text).map_err(|error| explain(&error, shown))?;
    let mut table: toml::Table = toml::from_str(text).context("the file is not valid TOML")?;
    let set = overrides::apply(&mut table, variable);
    if set.is_empty() {
        return Ok(config);
    }
    let variables: Vec<String> =
        set.iter().map(|setting| format!("`{}`", overrides::variable_of(setting))).collect();
    table.try_into().map_err(|error: toml::de::Error| {
        anyhow!("{}", error.message()).context(format!(
            "a variable does not fit its setting: one of {}",
            variables.join(", ")
        ))
    })
}

/// Adds the file and the nearest known key to the parser's error, which shows the line.
fn explain(error: &toml::de::Error, shown: &str) -> anyhow::Error {
    let mut message = format!("{shown}: {}", error.to_string().trim_end());
    if let Some(hint) = nearest_key(error.message()) {
        message.push_str(&format!("\nhint: did you mean `{hint}`?"));
    }
    anyhow!(message)
}

/// Reads the unknown key and the known ones out of serde's sentence.
fn nearest_key(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;

    let known: Vec<&str> = quoted.collect();
    text::nearest(unknown, &known).map(str::to_owned)
}

impl Config {
    /// Takes out whatever turns text into numbers: words alone find and order.
    fn drop_models(&mut self) {
        self.embedder.provider = EmbedderProvider::None;
        match self.reranker.provider {
            // It works on what the embedder makes, and rests without it.
            RerankerProvider::Builtin | RerankerProvider::None => {}
            RerankerProvider::Local | RerankerProvider::Http => {
                self.reranker.provider = RerankerProvider::None;
            }
        }
    }

    /// Refuses what cannot be served safely.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let is_open = !guard::hosts::is_loopback(self.server.listen.ip());
        let has_auth = self.auth.jwt.is_some() || !self.auth.keys.is_empty();
        if is_open && !has_auth {
            bail!(
                "refusing to listen on `{}` without authentication\n\
                 hint: add `[auth]` with `jwt` or `[[auth.keys]]`, or listen on `127.0.0.1`",
                self.server.listen
            );
        }
        if let Some(problem) = self.contexts.problem() {
            bail!("{problem}");
        }
        self.store.choice()?;
        self.files.check().context("hint: patterns of `files.ignore` are those of a `.gitignore`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, variables: &[(&str, &str)]) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        match parse(text, "dowse.toml", &variable) {
            Ok(config) => format!("{:?}", config.server),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn errors_show_the_line_and_the_nearest_key() {
        insta::assert_snapshot!(parsed("[server]\nlissten = \"x\"\n", &[]));
        insta::assert_snapshot!(parsed("data_dir = 5\n", &[]));
        insta::assert_snapshot!(parsed("[server\n", &[]));
        insta::assert_snapshot!(parsed("", &[("DOWSE_SERVER_LISTEN", "nowhere")]));
    }

    #[test]
    fn variables_win_over_the_file() {
        let text = "[server]\nlisten = \"127.0.0.1:1\"\n";
        let variables = [
            ("DOWSE_SERVER_LISTEN", "127.0.0.1:9"),
            ("DOWSE_SERVER_ALLOWED_HOSTS", "a.example, b.example"),
        ];
        let shown = parsed(text, &variables);
        assert!(shown.contains("127.0.0.1:9") && shown.contains("b.example"), "{shown}");
    }

    #[test]
    fn every_override_reaches_a_setting_of_the_file() {
        for setting in overrides::SETTINGS {
            let name = overrides::variable_of(setting);
            // A list never fits, so that every setting that exists complains about its type
            // and one that does not exist complains about its name.
            let mut table = toml::Table::new();
            let odd = |asked: &str| (asked == name).then(|| "\u{1}odd".to_owned());
            overrides::apply(&mut table, &odd);
            if let Err(error) = table.try_into::<Config>() {
                let error: toml::de::Error = error;
                assert!(!error.message().contains("unknown field"), "{setting}: {error}");
            }
        }
    }

    /// The reference shows it; a key that is renamed must not stay in it.
    #[test]
    fn the_example_of_the_reference_is_a_configuration() {
        let config: Config = toml::from_str(include_str!("example.toml")).unwrap();
        config.check().unwrap();
        assert_eq!((config.tables.len(), config.dimensions.len()), (1, 1));
    }

    #[test]
    fn an_open_address_needs_authentication() {
        let config: Config = toml::from_str("[server]\nlisten = \"0.0.0.0:7700\"").unwrap();
        let refusal = config.check().unwrap_err().to_string();
        assert!(refusal.contains("[auth]"), "{refusal}");
    }
}
