//! Whether a model can be used right now, in words that a search can pass on.

use std::path::Path;

use model::Warning;

use crate::Error;

/// What search can count on. Everything but `Ready` and `Off` becomes a warning, and search goes on
/// with words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelState {
    /// It answers.
    Ready {
        /// As the configuration names it.
        model: String,
    },
    /// The configuration asks for none.
    Off,
    /// It is being pulled.
    Pulling {
        /// As the configuration names it.
        model: String,
        /// Bytes that are here.
        n_bytes_done: u64,
        /// Bytes in all; 0 when unknown.
        n_bytes_total: u64,
    },
    /// It is being loaded into memory, or its provider is being asked for the first time.
    Loading {
        /// As the configuration names it.
        model: String,
    },
    /// Its files are not there.
    Missing {
        /// As the configuration names it.
        model: String,
    },
    /// Its files are there and cannot be used.
    Broken {
        /// As the configuration names it.
        model: String,
        /// What is wrong.
        problem: String,
    },
    /// The provider does not answer.
    ProviderDown {
        /// Its name in messages: the provider and its model.
        provider: String,
        /// What it said last.
        problem: String,
    },
}

impl ModelState {
    /// Tells whether vectors can be had.
    pub fn is_ready(&self) -> bool {
        matches!(self, ModelState::Ready { .. })
    }

    /// Says what a failed call means for the model.
    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else means a broken model")]
    pub fn from_error(model: &str, error: &Error) -> Self {
        match error {
            Error::Provider { provider, source } => {
                ModelState::ProviderDown { provider: provider.clone(), problem: source.to_string() }
            }
            Error::BadAnswer { provider, problem } => {
                ModelState::ProviderDown { provider: provider.clone(), problem: problem.clone() }
            }
            Error::ModelMissing { model, .. } => ModelState::Missing { model: model.clone() },
            Error::DamagedModel { problem, .. } => {
                ModelState::Broken { model: model.to_owned(), problem: problem.clone() }
            }
            other => ModelState::Broken { model: model.to_owned(), problem: other.to_string() },
        }
    }

    /// Gives the command that mends the state, where there is one.
    pub fn fix(&self) -> Option<String> {
        match self {
            ModelState::Missing { model } => Some(format!("dowse models pull {model}")),
            // A folder of somebody's own was never pulled.
            ModelState::Broken { model, .. } => {
                let is_own = Path::new(model).is_absolute() || Path::new(model).is_dir();
                (!is_own).then(|| format!("dowse models pull {model}"))
            }
            ModelState::Ready { .. }
            | ModelState::Off
            | ModelState::Pulling { .. }
            | ModelState::Loading { .. }
            | ModelState::ProviderDown { .. } => None,
        }
    }

    /// Gives the warning that an answer carries: what is missing, what that means, what to do.
    pub fn warning(&self) -> Option<Warning> {
        const MEANWHILE: &str = "search goes on with words alone";
        match self {
            ModelState::Ready { .. } | ModelState::Off => None,
            ModelState::Pulling { model, n_bytes_done, n_bytes_total } => {
                let how_far = match n_bytes_total {
                    0 => format!("{} MB so far", n_bytes_done / 1_000_000),
                    total => format!("{} %", (n_bytes_done * 100 / total).min(100)),
                };
                Some(Warning::new(
                    "model_pulling",
                    format!("model `{model}` is still being pulled ({how_far}); {MEANWHILE}"),
                ))
            }
            ModelState::Loading { model } => Some(Warning::new(
                "model_loading",
                format!("model `{model}` is still being loaded; {MEANWHILE}"),
            )),
            ModelState::Missing { model } => Some(Warning::new(
                "model_missing",
                format!(
                    "model `{model}` is not there; {MEANWHILE}; hint: run `dowse models pull {model}`"
                ),
            )),
            ModelState::Broken { model, problem } => Some(Warning::new(
                "model_broken",
                format!(
                    "model `{model}` cannot be used ({problem}); {MEANWHILE}; hint: {}",
                    match self.fix() {
                        Some(fix) => format!("run `{fix}` to get it again"),
                        None => "put whole files into that folder".to_owned(),
                    }
                ),
            )),
            ModelState::ProviderDown { provider, problem } => Some(Warning::new(
                "provider_down",
                format!(
                    "`{provider}` does not answer ({problem}); {MEANWHILE}; hint: check that it runs and that its `base_url` is right"
                ),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_say_what_is_missing_and_what_to_do() {
        let model = || "multilingual-e5-small".to_owned();
        let states = [
            ModelState::Ready { model: model() },
            ModelState::Off,
            ModelState::Pulling {
                model: model(),
                n_bytes_done: 45_000_000,
                n_bytes_total: 90_000_000,
            },
            ModelState::Pulling { model: model(), n_bytes_done: 45_000_000, n_bytes_total: 0 },
            ModelState::Loading { model: model() },
            ModelState::Missing { model: model() },
            ModelState::Broken { model: model(), problem: "it ends at byte 7".to_owned() },
            ModelState::ProviderDown {
                provider: "tei/bge-m3".to_owned(),
                problem: "cannot talk to `http://127.0.0.1:1/`".to_owned(),
            },
        ];
        let shown: Vec<String> = states
            .iter()
            .map(|state| match state.warning() {
                Some(warning) => format!("{}: {}", warning.code, warning.message),
                None => "no warning".to_owned(),
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }
}
