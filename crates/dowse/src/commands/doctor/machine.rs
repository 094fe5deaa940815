//! The machine: permissions, disk, port, models, and servers that the configuration names.

use std::net::TcpListener;
use std::path::Path;

use infer::ModelState;

use super::Finding;
use crate::commands::status::model_state;
use crate::config::{Config, EmbedderProvider, EngineKind, LlmProvider, RerankerProvider};
use crate::print;
use crate::wiring::{MIN_FREE_BYTES, answers, free_bytes, models_dir};

/// Less space than this is worth a remark before it stops writes.
const LOW_BYTES: u64 = 8 * MIN_FREE_BYTES;

/// Can the data folder be written, and by nobody else be read?
pub(super) fn data_folder(data_dir: &Path) -> Finding {
    let check = "data folder";
    let shown = data_dir.display();
    let existing = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    let existing = existing.ancestors().find(|folder| folder.is_dir());
    // What is made later needs a folder above it that can be written now.
    let written = existing.map_or(Ok(()), |existing| {
        let probe = existing.join(format!(".dowse-writable-{}", std::process::id()));
        let written = fs_err::write(&probe, b"");
        let _ = fs_err::remove_file(&probe);
        written
    });
    match written {
        Ok(()) if data_dir.exists() && !data_dir.is_dir() => Finding::problem(
            check,
            format!("`{shown}` is a file, not a folder"),
            "move it away, or set another `data_dir`",
        ),
        Ok(()) if !data_dir.is_dir() => {
            Finding::ok(check, format!("`{shown}` is made when something is indexed"))
        }
        Err(error) => Finding::problem(
            check,
            format!("`{shown}` cannot be written: {error}"),
            "give this user the right to write it, or set another `data_dir`",
        ),
        Ok(()) => Finding::ok(check, format!("`{shown}` can be written")),
    }
}

pub(super) fn disk(data_dir: &Path) -> Finding {
    match free_bytes(data_dir) {
        Some(n_free) if n_free < LOW_BYTES => Finding::problem(
            "disk",
            format!("{} are free on the volume of the data", print::bytes(n_free)),
            "free space, or move `data_dir` to a larger volume",
        ),
        Some(n_free) => Finding::ok("disk", format!("{} are free", print::bytes(n_free))),
        None => Finding::ok("disk", "the free space is not known on this system"),
    }
}

/// Is the port free, or taken by our own server?
pub(super) fn port(config: &Config, is_running: bool) -> Finding {
    let listen = config.server.listen;
    if is_running {
        return Finding::ok("port", "a server is running with this data");
    }
    match TcpListener::bind(listen) {
        Ok(_) => Finding::ok("port", format!("`{listen}` is free")),
        Err(error) => Finding::problem(
            "port",
            format!("`{listen}` cannot be used: {error}"),
            "stop the program that has it, or choose another with `--listen PORT` or `server.listen`",
        ),
    }
}

/// Says how the configured model is, where nothing has opened it.
pub(super) fn model(config: &Config) -> Finding {
    let model = &config.embedder.model;
    match config.embedder.provider {
        EmbedderProvider::None => model_in(&ModelState::Off),
        EmbedderProvider::Http => Finding::ok("model", "made by a server, see `embedder`"),
        EmbedderProvider::Local if config.base.join(model).is_dir() => {
            match infer::models::is_model_folder(&config.base.join(model)) {
                true => Finding::ok("model", format!("`{model}` is a folder with a model")),
                false => Finding::problem(
                    "model",
                    format!("the folder `{model}` holds no model"),
                    "put `model.onnx` (or `model.safetensors`) and `tokenizer.json` into it, or set \
                     another `embedder.model`",
                ),
            }
        }
        EmbedderProvider::Local => model_in(&verified(config)),
    }
}

/// Says how a pulled model is, once every file of it was read: a damaged one is found when the first
/// search needs it.
fn verified(config: &Config) -> ModelState {
    let (folder, model) = (models_dir(config), &config.embedder.model);
    let state = infer::models::state(&folder, model);
    if !matches!(state, ModelState::Ready { .. }) {
        return state;
    }
    match infer::models::verify(&folder, model, &mut |_| {}) {
        Ok(_) => state,
        Err(error) => ModelState::from_error(model, &error),
    }
}

/// Says how a model is: a server may have been started without the one of its configuration.
pub(super) fn model_in(state: &ModelState) -> Finding {
    let remedy = match state {
        ModelState::Ready { .. }
        | ModelState::Loading { .. }
        | ModelState::Off
        | ModelState::Pulling { .. } => return Finding::ok("model", model_state(state)),
        // As for `status` and `check`: words are searched without one, and who wants vectors is told.
        ModelState::Missing { model } => {
            let remedy = format!(
                "run `dowse models pull {model}` to search by vector too, or set \
                 `embedder.provider = \"none\"` to work on words alone"
            );
            let what = format!("model `{model}` is not there: search works on words alone");
            return Finding::note("model", what, remedy);
        }
        ModelState::Broken { model, .. } => format!(
            "run `dowse models pull {model}`, or set `embedder.provider = \"none\"` to work on \
             words alone"
        ),
        ModelState::ProviderDown { .. } => "see that the server of `embedder` answers".to_owned(),
    };
    Finding::problem("model", model_state(state), remedy)
}

/// Do the servers that the configuration names answer?
pub(super) fn providers(config: &Config) -> Vec<Finding> {
    let mut named: Vec<(&str, &str)> = Vec::new();
    if config.llm.provider != LlmProvider::None {
        named.push(("llm", &config.llm.base_url));
    }
    if config.embedder.provider == EmbedderProvider::Http {
        named.extend(config.embedder.base_url.as_deref().map(|url| ("embedder", url)));
    }
    if config.reranker.provider == RerankerProvider::Http {
        named.extend(config.reranker.base_url.as_deref().map(|url| ("reranker", url)));
    }
    named.into_iter().map(|(section, url)| provider(section, url)).collect()
}

fn provider(section: &str, url: &str) -> Finding {
    match answers(url) {
        Ok(()) => Finding::ok(section, format!("`{url}` answers")),
        Err(error) => Finding::problem(
            section,
            format!("`{url}` does not answer: {}", model::with_causes(&error)),
            format!("start that server, or correct `{section}.base_url`"),
        ),
    }
}

/// Do the peers of an engine elsewhere answer? For where there is no data yet that would be opened
/// with it.
pub(super) fn engine(config: &Config) -> Vec<Finding> {
    let is_qdrant = config.store.choice().is_ok_and(|choice| choice.engine == EngineKind::Qdrant);
    let urls = config.store.qdrant.urls.iter().filter(|_| is_qdrant);
    urls.map(|url| match answers(url) {
        Ok(()) => Finding::ok("engine", format!("`{url}` answers")),
        Err(error) => Finding::problem(
            "engine",
            format!("`{url}` does not answer: {}", model::with_causes(&error)),
            "start it, or correct `store.qdrant.urls`",
        ),
    })
    .collect()
}
