//! The services of a running server for a command that wants no model (`--no-model`): the same
//! data and settings, searched by words alone, with rules in the place of a language model.
//!
//! They are for looking. What changes something is done by the server's own services.

use std::sync::Arc;

use extract::{Pool, PoolConfig};
use infer::ModelState;
use retrieve::Retriever;

use super::SharedState;

/// Gives the folders; nothing where none is served.
pub(crate) fn files_by_words(shared_state: &SharedState) -> anyhow::Result<Option<files::Service>> {
    let Some(service) = shared_state.files.get() else { return Ok(None) };
    Ok(Some(service.without_models(retriever(shared_state)?)))
}

/// Gives the knowledge bases.
pub(crate) fn knowledge_by_words(shared_state: &SharedState) -> anyhow::Result<knowledge::Service> {
    let kept = shared_state.open_store()?;
    let served = shared_state.served.load_full();
    Ok(knowledge::Service::new(knowledge::ServiceConfig {
        store: kept.store.clone(),
        catalogue: kept.store.catalogue(),
        queue: Arc::clone(&kept.queue),
        retriever: retriever(shared_state)?,
        vectors: Arc::clone(&kept.vectors),
        pool: Some(Arc::new(Pool::new(PoolConfig::this_executable()?))),
        llm: None,
        uploads: shared_state.uploads()?,
        settings: served.map(|config| config.knowledge.clone()).unwrap_or_default(),
        clock: shared_state.clock.clone(),
    }))
}

/// Gives the projects.
pub(crate) fn contexts_by_words(shared_state: &SharedState) -> anyhow::Result<contexts::Service> {
    let kept = shared_state.open_store()?;
    let served = shared_state.served.load_full();
    Ok(contexts::Service::new(contexts::ServiceConfig {
        store: kept.store.clone(),
        catalogue: kept.store.catalogue(),
        queue: Arc::clone(&kept.queue),
        retriever: retriever(shared_state)?,
        vectors: Arc::clone(&kept.vectors),
        staging: shared_state.data_dir().join("staging"),
        locks: shared_state.context_locks.clone(),
        settings: served.map(|config| config.contexts.clone()).unwrap_or_default(),
        clock: shared_state.clock.clone(),
    }))
}

fn retriever(shared_state: &SharedState) -> anyhow::Result<Retriever> {
    let store = shared_state.open_store()?.store.clone();
    Ok(Retriever::new(store, Arc::new(|| Err(ModelState::Off))).without_reranker())
}
