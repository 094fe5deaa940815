//! Messages in the words of the command line.
//!
//! What a search says of itself is written for agents, who call tools with arguments; whoever types
//! a command has flags.

use model::Warning;

use crate::commands::check::Providers;
use crate::config::Config;
use crate::wiring::{SharedState, failing_embedder};

/// What an agent reads, and what is typed instead.
const TYPED: [(&str, &str); 8] = [
    ("and nothing goes on with it now: indexFolder does", "and goes on with `dowse index`"),
    ("when indexFolder has gone over it", "when `dowse index` has gone over it"),
    (": indexFolder begins it", ": `dowse index` begins it"),
    ("call `search_documents` again with `threshold: ", "search again with `--threshold "),
    ("give `years` or `exts`", "give `--year` or `--ext`"),
    ("add `exts`, `years` or `roots`", "add `--ext`, `--year` or `--root`"),
    ("`years` takes", "`--year` takes"),
    ("`exts` takes", "`--ext` takes"),
];

/// What a search says of itself for which no model was wanted.
const BY_WORDS: &str = "words alone were searched: `--no-model`";

/// Puts flags in the place of arguments.
pub(crate) fn in_flags(message: &str) -> String {
    TYPED.iter().fold(message.to_owned(), |text, (argument, flag)| text.replace(argument, flag))
}

/// Codes of warnings that say that something which is configured failed. A model that was never
/// downloaded, or is still being loaded, is none of them, and neither is a deadline.
const FAILURES: [&str; 6] = [
    "provider_down",
    "model_broken",
    "vectors_skipped",
    "words_skipped",
    "rerank_skipped",
    "circuit_open",
];

/// Where vectors are missing, adds what is wrong with an embedder elsewhere: a search does without
/// it then, and whoever waits for them is told when none will come. Where no model is wanted, none
/// is asked, and the answer says that it is of words alone.
pub(crate) fn add_failing_embedder(
    shared_state: &SharedState,
    providers: Providers,
    warnings: &mut Vec<Warning>,
) {
    let is_about_missing = |warning: &Warning| warning.code == ingest::VECTORS_INCOMPLETE;
    if providers == Providers::Leave {
        // That there is no model would be wrong: none was wanted.
        let is_said =
            |warning: &Warning| is_about_missing(warning) || warning.code == ingest::VECTORS_OFF;
        if warnings.iter().any(is_said) {
            warnings.retain(|warning| !is_said(warning));
            warnings.push(Warning::new(ingest::VECTORS_OFF, BY_WORDS));
        }
        return;
    }
    if !warnings.iter().any(is_about_missing) {
        return;
    }
    let Some(config) = shared_state.served.load_full() else { return };
    if failures(warnings).is_empty() {
        let state = failing_embedder(&config, &shared_state.embedder);
        warnings.extend(state.and_then(|state| state.warning()));
    }
}

/// Gives the warnings of a search that say that an embedder, a re-ranker or an engine failed.
pub(crate) fn failures(warnings: &[Warning]) -> Vec<&Warning> {
    warnings.iter().filter(|warning| FAILURES.contains(&&*warning.code)).collect()
}

/// The same for an error.
pub(crate) fn error_in_flags(error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error = error.into();
    let said = in_flags(&error.to_string());
    match said == error.to_string() {
        true => error,
        false => anyhow::anyhow!(said),
    }
}

/// Says who may call a server of a configuration.
pub(crate) fn callers(config: &Config) -> String {
    let keys = |n_keys: usize| match n_keys {
        1 => "1 API key".to_owned(),
        n_keys => format!("{n_keys} API keys"),
    };
    match (&config.auth.jwt, config.auth.keys.len()) {
        (None, 0) => "everyone on this machine, as the local administrator".to_owned(),
        (None, n_keys) => keys(n_keys),
        (Some(jwt), 0) => format!("tokens of `{}`", jwt.issuer),
        (Some(jwt), n_keys) => format!("tokens of `{}` and {}", jwt.issuer, keys(n_keys)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_take_the_place_of_arguments() {
        let threshold = "below the threshold 0.99; call `search_documents` again with `threshold: 0.93` to get it";
        let typed = "below the threshold 0.99; search again with `--threshold 0.93` to get it";
        assert_eq!(in_flags(threshold), typed);
        assert_eq!(in_flags("nothing of that"), "nothing of that");
        let error = error_in_flags(anyhow::anyhow!("`years` takes years"));
        assert_eq!(error.to_string(), "`--year` takes years");
    }
}
