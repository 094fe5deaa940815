//! From a file and the environment to a configuration, with errors that show the line.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow, bail};

use super::overrides::Unfit;
use super::{
    Config, EmbedderProvider, LlmProvider, RerankerProvider, overrides, values, variables,
};

/// The file that is used when none is named.
pub(crate) const DEFAULT_FILE: &str = "dowse.toml";

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

/// The folder for the data that the command line named.
static DATA_DIR: OnceLock<PathBuf> = OnceLock::new();

/// Makes every configuration that is read by [`load`] from now on keep its data in a folder.
///
/// # Errors
///
/// When the working folder is not known and the folder is named relative to it.
pub(crate) fn use_data_dir(folder: &Path) -> anyhow::Result<()> {
    let folder = std::path::absolute(folder)?;
    DATA_DIR.get_or_init(|| folder);
    Ok(())
}

/// Gives the folder for the data that the command line named, resolved against the working folder.
pub(crate) fn data_dir_flag() -> Option<&'static Path> {
    DATA_DIR.get().map(PathBuf::as_path)
}

/// Reads the configuration; the command line's folder for the data wins over it.
///
/// Fails as [`load_as_written`] does.
pub(crate) fn load(
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Loaded> {
    let mut loaded = load_as_written(named, variable)?;
    if let Some(data_dir) = data_dir_flag() {
        loaded.config.data_dir = data_dir.to_owned();
    }
    Ok(loaded)
}

/// Reads a configuration whose data is where it says itself.
///
/// Without a file, `dowse.toml` in the working folder is used when it is there, and the defaults
/// otherwise. Fails when a named file cannot be read, a key is unknown or a value does not fit.
pub(crate) fn load_as_written(
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Loaded> {
    // A variable that is empty is as good as none.
    let file = match named.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => Some(path.to_owned()),
        None => Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists()),
    };
    let text = match &file {
        Some(path) => {
            anyhow::ensure!(
                path.exists(),
                "there is no configuration `{}`\n\
                 hint: check the path{}; `dowse init` drafts a `dowse.toml`",
                path.display(),
                named_by_variable(path, variable)
            );
            fs_err::read_to_string(path)?
        }
        None => String::new(),
    };
    let shown = file.as_deref().unwrap_or(Path::new("the defaults")).display().to_string();
    tracing::info!(from = shown, "configuration read");
    variables::warn_of_misspelt(&text);
    variables::check_kernels(variable)?;
    let mut config = parse(&text, &shown, variable)?;
    let base = file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    config.data_dir = base.join(&config.data_dir);
    config.base = base.to_owned();
    if is_without_model() {
        config.drop_models();
    }
    Ok(Loaded { config, file })
}

/// Says that a variable names the file: nobody typed it.
fn named_by_variable(path: &Path, variable: &dyn Fn(&str) -> Option<String>) -> &'static str {
    let is_named = variable("DOWSE_CONFIG").is_some_and(|named| Path::new(&named) == path);
    if is_named { ", which the variable `DOWSE_CONFIG` names" } else { "" }
}

fn parse(
    text: &str,
    shown: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Config> {
    // The text is read first without the environment: its errors know their line.
    let config: Config = toml::from_str(text).map_err(|error| explain(&error, shown))?;
    let mut table: toml::Table = toml::from_str(text).context("the file is not valid TOML")?;
    let set = overrides::apply(&mut table, variable).map_err(unfit)?;
    if set.is_empty() {
        return Ok(config);
    }
    let variables: Vec<String> =
        set.iter().map(|setting| format!("`{}`", overrides::variable_of(setting))).collect();
    table.try_into().map_err(|error: toml::de::Error| {
        anyhow!("{}", in_words(error.message()))
            .context(format!("the file does not hold with {}", variables.join(", ")))
    })
}

/// Says which variable does not fit its setting.
fn unfit(Unfit { setting, problem }: Unfit) -> anyhow::Error {
    let variable = overrides::variable_of(setting);
    let hint = nearest_key(&problem).map(|meant| format!("\nhint: did you mean `{meant}`?"));
    anyhow!(
        "the variable `{variable}` does not fit `{setting}`: {}{}",
        in_words(&problem),
        hint.unwrap_or_default()
    )
}

/// Adds the file and the nearest known key to the parser's error, which shows the line.
fn explain(error: &toml::de::Error, shown: &str) -> anyhow::Error {
    let mut message = format!("{shown}: {}", in_words(error.to_string().trim_end()));
    if let Some(hint) = nearest_key(error.message()) {
        message.push_str(&format!("\nhint: did you mean `{hint}`?"));
    }
    anyhow!(message)
}

/// Names types as people do who never saw this program's source.
fn in_words(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let end = expected.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(expected.len());
    let (word, after) = expected.split_at(end);
    let said = match word {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "isize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a" if after.starts_with(" sequence") => {
            return format!("{before}expected a list, such as `[\"…\"]`");
        }
        "socket" => {
            return format!("{before}expected an address with a port, such as `127.0.0.1:7700`");
        }
        "struct" => {
            let name = after.trim_start();
            let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
            return format!("{before}expected a section with keys{}", &name[end..]);
        }
        _ => return message.to_owned(),
    };
    format!("{before}expected {said}{after}")
}

/// Reads the unknown key and the known ones out of serde's sentence.
fn nearest_key(message: &str) -> Option<String> {
    let known = ["unknown field ", "unknown variant "];
    let after = known.iter().find_map(|kind| message.strip_prefix(kind))?;
    let mut quoted = after.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;

    let known: Vec<&str> = quoted.collect();
    text::nearest(unknown, &known).map(str::to_owned)
}

impl Config {
    /// Takes out every model: words alone find and order, and rules write summaries and answers.
    fn drop_models(&mut self) {
        self.embedder.provider = EmbedderProvider::None;
        self.llm.provider = LlmProvider::None;
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
        values::check(self)?;
        self.store.choice()?;
        self.files.check().map_err(|error| {
            let error = anyhow::Error::from(error);
            anyhow!("{error:#}\nhint: patterns of `files.ignore` are those of a `.gitignore`")
        })
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
    fn types_are_named_in_words() {
        let check = |text: &str, expected: &str| {
            let said = parsed(text, &[]);
            assert!(said.contains(expected), "{text}: {said}");
        };
        let whole = "expected a whole number, 0 or more";
        check("[limits]\nresult_chars = \"many\"\n", whole);
        check("[limits]\nresult_chars = -1\n", whole);
        check("[limits]\ncall_seconds = 1.5\n", whole);
        check("[filters]\nbest_match_threshold = \"x\"\n", "expected a number");
        check("server = 3\n", "expected a section with keys");
        check("[files]\nroots = \".\"\n", "expected a list, such as");
        check("[server]\nlisten = 7700\n", "expected an address with a port");
        check("[embedder]\nprovider = \"nonne\"\n", "did you mean `none`?");
        let said = parsed("", &[("DOWSE_LIMITS_RESULT_CHARS", "many")]);
        assert!(said.contains(whole), "{said}");
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

    /// Of several variables none was named, and a folder called `2024` was no path.
    #[test]
    fn the_variable_that_does_not_fit_is_named() {
        let right = [
            ("DOWSE_DATA_DIR", "2024"),
            ("DOWSE_STORE_POSTGRES_SCHEMA", "123"),
            ("DOWSE_EMBEDDER_MODEL", "true"),
            ("DOWSE_AUTH_JWT_ISSUER", "https://issuer.example"),
            ("DOWSE_AUTH_JWT_AUDIENCE", "dowse"),
            ("DOWSE_LIMITS_CONNECTIONS", "10"),
        ];
        let said = parsed("", &right);
        assert!(said.starts_with("ServerConfig"), "{said}");
        for (name, value) in [
            ("DOWSE_LIMITS_RESULT_CHARS", "many"),
            ("DOWSE_FILES_WATCH", "yes"),
            ("DOWSE_STORE_ENGINE", "qdrnt"),
            ("DOWSE_SERVER_LISTEN", "7700"),
        ] {
            let given: Vec<(&str, &str)> = right.into_iter().chain([(name, value)]).collect();
            let said = parsed("", &given);
            assert!(said.contains(&format!("the variable `{name}`")), "{said}");
            assert!(!said.contains("DATA_DIR"), "{said}");
        }
        assert!(parsed("", &[("DOWSE_STORE_ENGINE", "qdrnt")]).contains("did you mean `qdrant`?"));
    }

    #[test]
    fn every_override_reaches_a_setting_of_the_file() {
        for setting in overrides::SETTINGS {
            let name = overrides::variable_of(setting);
            // A list never fits, so that every setting that exists complains about its type
            // and one that does not exist complains about its name.
            let mut table = toml::Table::new();
            let odd = |asked: &str| (asked == name).then(|| "\u{1}odd".to_owned());
            if let Err(unfit) = overrides::apply(&mut table, &odd) {
                assert!(!unfit.problem.contains("unknown field"), "{setting}: {unfit:?}");
            }
        }
    }

    /// The reference shows it; a key that is renamed must not stay in it.
    #[test]
    fn the_example_of_the_reference_is_a_configuration() {
        let config: Config = toml::from_str(include_str!("example.toml")).unwrap();
        config.check().unwrap();
        assert_eq!((config.tables.len(), config.dimensions.len()), (1, 2));
    }

    /// A language model was still asked, and text sent to it, by a server that should use none.
    #[test]
    fn without_models_nothing_is_asked() {
        let text = "[embedder]\nprovider = \"http\"\n[reranker]\nprovider = \"local\"\n\
                    [llm]\nprovider = \"openai\"\n";
        let mut config: Config = toml::from_str(text).unwrap();
        config.drop_models();
        assert_eq!(config.embedder.provider, EmbedderProvider::None);
        assert_eq!(config.reranker.provider, RerankerProvider::None);
        assert_eq!(config.llm.provider, LlmProvider::None);
    }

    #[test]
    fn an_open_address_needs_authentication() {
        let config: Config = toml::from_str("[server]\nlisten = \"0.0.0.0:7700\"").unwrap();
        let refusal = config.check().unwrap_err().to_string();
        assert!(refusal.contains("[auth]"), "{refusal}");
    }
}
