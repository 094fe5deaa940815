//! The scopes of a search: what the catalogue knows of their namespaces, read once for all parts of
//! the search, and how all of them are asked.

use infer::EmbedderId;
use model::NamespaceId;
use store::{Counts, NamespaceState, Store};
use text::LanguageSet;

use crate::{Result, Scope};

/// Scopes that are asked at the same time where each waits for a server.
const AT_ONCE: usize = 8;

/// What the catalogue knew of the namespaces of some scopes when a search began; nothing of one that
/// is gone.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownScopes {
    states: Vec<Option<NamespaceState>>,
}

impl KnownScopes {
    /// Asks the catalogue, once for all of them.
    pub(crate) fn read(store: &Store, scopes: &[Scope]) -> Result<Self> {
        let namespaces: Vec<&NamespaceId> = scopes.iter().map(|scope| &scope.namespace).collect();
        let states = if namespaces.is_empty() { vec![] } else { store.states(&namespaces)? };
        Ok(KnownScopes { states })
    }

    fn state(&self, scope_idx: usize) -> Option<&NamespaceState> {
        self.states.get(scope_idx)?.as_ref()
    }

    /// Gives the languages that documents of a scope were cut in; all where nothing is known.
    pub(crate) fn languages_of(&self, scope_idx: usize) -> LanguageSet {
        self.state(scope_idx).map_or_else(LanguageSet::all, |state| state.languages)
    }

    /// Unites the languages of all scopes: what words of a question are analysed for.
    pub(crate) fn languages(&self) -> LanguageSet {
        let mut languages = LanguageSet::EMPTY;
        for scope_idx in 0..self.states.len() {
            self.languages_of(scope_idx).iter().for_each(|language| languages.insert(language));
        }
        languages
    }

    /// Counts what the catalogue has of a scope's namespace.
    pub(crate) fn counts(&self, scope_idx: usize) -> Option<Counts> {
        self.state(scope_idx).map(|state| state.counts)
    }

    /// Tells whether the vectors of a scope are of this model: those of another say nothing, as long
    /// as nobody has made them anew.
    pub(crate) fn has_vectors_of(&self, scope_idx: usize, embedder: &EmbedderId) -> bool {
        let space = self.state(scope_idx).and_then(|state| state.info.manifest.vectors.as_ref());
        space.is_some_and(|space| space.embedder == embedder.to_string())
    }
}

/// Asks every scope, and gives the answers in their order: one after the other, or some at the same
/// time where each would wait for a server.
pub(crate) fn each_scope<T: Send>(
    store: &Store,
    scopes: &[Scope],
    ask: impl Fn(usize, &Scope) -> T + Sync,
) -> Vec<T> {
    let all: Vec<(usize, &Scope)> = scopes.iter().enumerate().collect();
    if scopes.len() < 2 || !store.is_over_a_network() {
        return all.into_iter().map(|(idx, scope)| ask(idx, scope)).collect();
    }
    let ask = &ask;
    let mut answers = Vec::with_capacity(scopes.len());
    for part in all.chunks(AT_ONCE) {
        std::thread::scope(|threads| {
            let asked: Vec<_> =
                part.iter().map(|(idx, scope)| threads.spawn(move || ask(*idx, scope))).collect();
            answers.extend(asked.into_iter().map(|asked| {
                asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }));
        });
    }
    answers
}
