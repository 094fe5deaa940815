//! Which models the configuration asks for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use infer::providers::{
    EmbedDialect, HttpEmbedderConfig, HttpLlm, HttpLlmConfig, HttpRerankerConfig, LlmDialect,
    RerankDialect,
};
use infer::{EmbedderChoice, EmbedderSlot, Llm, ModelState, Reranker, RerankerChoice, Secret};
use model::Deadline;
use net::{Client, Reach, Request, RetryPolicy};

use crate::config::{Config, EmbedderProvider, LlmProvider, RerankerProvider, user_folder};

/// How long a provider may take for one request.
const PROVIDER_WAIT: Duration = Duration::from_secs(60);

/// Tokens that a provider's embedder is taken to read, unless the configuration says otherwise.
const PROVIDER_MAX_TOKENS: usize = 512;

/// How long a provider may take when somebody looks whether it works.
const PROBE_WAIT: Duration = Duration::from_secs(5);

/// What a provider is asked for when somebody looks whether it works.
const PROBE: &str = "dowse";

/// Asks an embedder elsewhere for one vector, and gives what is wrong with it. That it can be
/// connected to says little: a wrong key or an unknown model is refused only then.
pub(crate) fn failing_embedder(config: &Config, slot: &EmbedderSlot) -> Option<ModelState> {
    if config.embedder.provider != EmbedderProvider::Http {
        return None;
    }
    let deadline = Deadline::after(PROBE_WAIT);
    let embedder = match slot.get(&deadline) {
        Ok(embedder) => embedder,
        Err(ModelState::Loading { .. } | ModelState::Off) => return None,
        Err(state) => return Some(state),
    };
    // A passage, since queries are remembered.
    let failed = embedder.embed_passages(&[PROBE], &deadline).err()?;
    Some(ModelState::from_error(&config.embedder.model, &failed))
}

/// Asks a re-ranker elsewhere to judge one passage, and gives what is wrong with it.
pub(crate) fn failing_reranker(config: &Config) -> Option<String> {
    if config.reranker.provider != RerankerProvider::Http {
        return None;
    }
    let failed = match reranker(config) {
        Ok(Reranking::By(reranker)) => {
            let judged = reranker.score(PROBE, &[PROBE], &Deadline::after(PROBE_WAIT));
            judged.err().map(anyhow::Error::from)
        }
        Ok(Reranking::Builtin | Reranking::Off) => None,
        Err(error) => Some(error),
    };
    failed.map(|error| format!("{error:#}"))
}

/// Says that the server of the language model does not answer.
pub(crate) fn failing_llm(config: &Config) -> Option<String> {
    if config.llm.provider == LlmProvider::None {
        return None;
    }
    let url = &config.llm.base_url;
    let failed = answers(url).err()?;
    Some(format!("`{url}` does not answer: {}", model::with_causes(&failed)))
}

/// Asks a server for anything; a refusal is an answer, too.
pub(crate) fn answers(url: &str) -> net::Result<()> {
    match fetched(url) {
        Ok(()) | Err(net::Error::Status { .. } | net::Error::ComeBackLater { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Asks a server for what is at an address.
pub(crate) fn fetched(url: &str) -> net::Result<()> {
    let client = Client::new(net::Config {
        connect_timeout: PROBE_WAIT,
        answer_timeout: PROBE_WAIT,
        attempt_timeout: PROBE_WAIT,
        retry: RetryPolicy::never(),
        reach: Reach::public_and_host_of(url),
        ..net::Config::careful()
    });
    client.send(&Request::get(url)?, &Deadline::after(PROBE_WAIT)).map(|_| ())
}

/// Gives the folder that holds pulled models.
pub(crate) fn models_dir(config: &Config) -> PathBuf {
    if let Some(folder) = &config.models_dir {
        return config.base.join(folder);
    }
    let of_user = user_folder(&|name| std::env::var(name).ok());
    of_user.unwrap_or_else(|| config.data_dir.clone()).join("models")
}

/// Gives the embedder that the configuration asks for.
pub(crate) fn embedder(config: &Config) -> anyhow::Result<EmbedderChoice> {
    let section = &config.embedder;
    Ok(match section.provider {
        EmbedderProvider::None => EmbedderChoice::Off,
        EmbedderProvider::Local => EmbedderChoice::Local {
            model: name_or_folder(config, &section.model),
            models_dir: models_dir(config),
        },
        EmbedderProvider::Http => EmbedderChoice::Http(HttpEmbedderConfig {
            dialect: match section.api.as_str() {
                "openai" => EmbedDialect::OpenAi,
                "tei" => EmbedDialect::Tei,
                "ollama" => EmbedDialect::Ollama,
                other => bail!(
                    "`embedder.api` must be one of `openai`, `tei`, `ollama`, received `{other}`"
                ),
            },
            base_url: section
                .base_url
                .clone()
                .context("`embedder.base_url` is required with `provider = \"http\"`")?,
            model: section.model.clone(),
            api_key: key(section.api_key_env.as_deref()),
            dimensions: section.dimensions,
            query_prefix: section.query_prefix.clone(),
            passage_prefix: section.passage_prefix.clone(),
            max_tokens: PROVIDER_MAX_TOKENS,
            timeout: PROVIDER_WAIT,
        }),
    })
}

/// What reads the best candidates once more.
pub(super) enum Reranking {
    /// The token vectors of the embedder.
    Builtin,
    /// Nothing.
    Off,
    /// A cross-encoder.
    By(Arc<dyn Reranker>),
}

/// Opens the re-ranker that the configuration asks for.
pub(super) fn reranker(config: &Config) -> anyhow::Result<Reranking> {
    let section = &config.reranker;
    let choice = match section.provider {
        RerankerProvider::Builtin => return Ok(Reranking::Builtin),
        RerankerProvider::None => return Ok(Reranking::Off),
        RerankerProvider::Local => {
            ensure!(
                !section.model.is_empty(),
                "`reranker.model` is required with `provider = \"local\"`\n\
                 hint: name a folder with `model.onnx` and `tokenizer.json`"
            );
            RerankerChoice::Local {
                model: name_or_folder(config, &section.model),
                models_dir: models_dir(config),
            }
        }
        RerankerProvider::Http => RerankerChoice::Http(HttpRerankerConfig {
            dialect: match section.api.as_str() {
                "tei" => RerankDialect::Tei,
                "jina" => RerankDialect::Jina,
                "cohere" => RerankDialect::Cohere,
                other => bail!(
                    "`reranker.api` must be one of `tei`, `jina`, `cohere`, received `{other}`"
                ),
            },
            base_url: section
                .base_url
                .clone()
                .context("`reranker.base_url` is required with `provider = \"http\"`")?,
            model: section.model.clone(),
            api_key: key(section.api_key_env.as_deref()),
            timeout: PROVIDER_WAIT,
        }),
    };
    let reranker = infer::open_reranker(&choice).context("`[reranker]` cannot be used")?;
    Ok(Reranking::By(reranker))
}

/// Opens the language model that the configuration asks for; none when it asks for none.
pub(super) fn llm(config: &Config) -> anyhow::Result<Option<Arc<dyn Llm>>> {
    let section = &config.llm;
    let dialect = match section.provider {
        LlmProvider::None => return Ok(None),
        LlmProvider::Openai => LlmDialect::OpenAi,
        LlmProvider::Ollama => LlmDialect::Ollama,
    };
    let llm = HttpLlm::open(HttpLlmConfig {
        dialect,
        base_url: section.base_url.clone(),
        model: section.model.clone(),
        api_key: key(section.api_key_env.as_deref()),
        timeout: PROVIDER_WAIT,
    })?;
    Ok(Some(Arc::new(llm)))
}

/// Gives a folder as it is found from here, since paths are relative to the file; a name as it is.
fn name_or_folder(config: &Config, model: &str) -> String {
    let folder = config.base.join(model);
    match folder.is_dir() {
        true => folder.to_string_lossy().into_owned(),
        false => model.to_owned(),
    }
}

fn key(variable: Option<&str>) -> Option<Secret> {
    let value = std::env::var(variable?).ok().filter(|value| !value.is_empty())?;
    Some(Secret::new(value))
}
