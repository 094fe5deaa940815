//! What the console says of the models: which does what, and how the one of this process is, in the
//! words of `dowse status`.
//!
//! One on a server is named and not asked: a page must not wait for it, and `dowse check` asks.

use infer::ModelState;
use serde_json::{Value, json};

use super::models_dir;
use crate::commands::model_state;
use crate::config::{Config, EmbedderProvider, LlmProvider, RerankerProvider};

const ELSEWHERE: &str = "on a server; \"Check now\" asks it";

/// Gives what each model is for, which one it is, how it is, and whether that is as it should be.
pub(super) fn models(config: &Config, embedder: &ModelState) -> Value {
    json!([vectors(config, embedder), judge(config, embedder), writer(config)])
}

fn vectors(config: &Config, state: &ModelState) -> Value {
    let settings = &config.embedder;
    let place = match settings.provider {
        EmbedderProvider::Local => Some(models_dir(config).display().to_string()),
        EmbedderProvider::Http => settings.base_url.clone(),
        EmbedderProvider::None => None,
    };
    let is_used = settings.provider != EmbedderProvider::None;
    let state = match (settings.provider, state) {
        (EmbedderProvider::None, _) => &ModelState::Off,
        (EmbedderProvider::Local | EmbedderProvider::Http, state) => state,
    };
    let is_well =
        matches!(state, ModelState::Ready { .. } | ModelState::Off | ModelState::Loading { .. });
    // The page has one place for what is wrong and what to do about it.
    let warning = state.warning().filter(|_| !is_well);
    let said = warning.map_or_else(|| model_state(state), |warning| warning.message);
    json!({
        "what": "Vectors", "model": is_used.then_some(&settings.model), "place": place,
        "state": said, "is_well": is_well,
    })
}

fn judge(config: &Config, embedder: &ModelState) -> Value {
    let settings = &config.reranker;
    let has_vectors = config.embedder.provider != EmbedderProvider::None
        && !matches!(embedder, ModelState::Off | ModelState::Missing { .. });
    let (model, place, state) = match settings.provider {
        RerankerProvider::Builtin if has_vectors => (None, None, "by the vectors of each word"),
        RerankerProvider::Builtin => (None, None, "off: it needs vectors"),
        RerankerProvider::Local => (Some(&settings.model), None, "in this process"),
        RerankerProvider::Http => (Some(&settings.model), settings.base_url.clone(), ELSEWHERE),
        RerankerProvider::None => (None, None, "off: results stay in the order of the search"),
    };
    json!({ "what": "Judging results", "model": model, "place": place, "state": state, "is_well": true })
}

fn writer(config: &Config) -> Value {
    let settings = &config.llm;
    let (model, place, state) = match settings.provider {
        LlmProvider::None => (None, None, "off: summaries are extracts, and rules choose tools"),
        LlmProvider::Openai | LlmProvider::Ollama => {
            (Some(&settings.model), Some(&settings.base_url), ELSEWHERE)
        }
    };
    json!({ "what": "Writing", "model": model, "place": place, "state": state, "is_well": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page showed `Missing { model: "…" }`, also where no model was wanted.
    #[test]
    fn states_are_sentences() {
        let missing = ModelState::Missing { model: "m".to_owned() };
        let all = |provider: &str| {
            let config = format!("[embedder]\nprovider = \"{provider}\"\nmodel = \"m\"\n");
            models(&toml::from_str(&config).unwrap(), &missing)
        };
        let local = all("local");
        assert_eq!(local[0]["is_well"], false);
        assert!(local[0]["state"].as_str().unwrap().contains("dowse models pull m"), "{local}");
        assert_eq!(local[1]["state"], "off: it needs vectors");
        let none = all("none");
        assert_eq!((&none[0]["is_well"], &none[0]["model"]), (&json!(true), &Value::Null));
        assert!(none[0]["state"].as_str().unwrap().starts_with("off"), "{none}");
    }
}
