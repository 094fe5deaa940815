//! Repeated questions are embedded once: a small memory of query vectors.
//!
//! Vectors of passages are kept by the store under the hash of their text; this cache is only for
//! queries, which come again while someone pages, filters or compares.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use model::Deadline;
use parking_lot::Mutex;

use crate::{EmbeddedText, Embedder, EmbedderId, Result};

/// The most queries that are remembered.
pub const MAX_CACHED_QUERIES: usize = 1024;
/// A longer query is not remembered.
const MAX_CACHED_QUERY_BYTES: usize = 4096;

/// An embedder that remembers its last query vectors.
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    vectors: Mutex<Lru<String, Vec<f32>>>,
    with_tokens: Mutex<Lru<String, EmbeddedText>>,
}

impl CachedEmbedder {
    /// Wraps an embedder.
    pub fn new(inner: Arc<dyn Embedder>) -> Self {
        CachedEmbedder {
            inner,
            vectors: Mutex::new(Lru::new(MAX_CACHED_QUERIES)),
            // Token vectors are some fifty times as large.
            with_tokens: Mutex::new(Lru::new(MAX_CACHED_QUERIES / 16)),
        }
    }
}

impl Embedder for CachedEmbedder {
    fn id(&self) -> &EmbedderId {
        self.inner.id()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        if let Some(vector) = self.vectors.lock().get(query) {
            return Ok(vector);
        }
        let vector = self.inner.embed_query(query, deadline)?;
        if query.len() <= MAX_CACHED_QUERY_BYTES {
            self.vectors.lock().insert(query.to_owned(), vector.clone());
        }
        Ok(vector)
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        self.inner.embed_passages(passages, deadline)
    }

    fn has_token_vectors(&self) -> bool {
        self.inner.has_token_vectors()
    }

    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        if let Some(embedded) = self.with_tokens.lock().get(query) {
            return Ok(embedded);
        }
        let embedded = self.inner.embed_query_with_tokens(query, deadline)?;
        if query.len() <= MAX_CACHED_QUERY_BYTES {
            self.with_tokens.lock().insert(query.to_owned(), embedded.clone());
        }
        Ok(embedded)
    }

    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.inner.embed_passages_with_tokens(passages, deadline)
    }

    fn embed_passages_first(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.inner.embed_passages_first(passages, deadline)
    }
}

/// Forgets what was not used for longest. Forgetting looks at all entries, but only once in a
/// while: a quarter goes at a time.
#[derive(Debug)]
struct Lru<K, V> {
    entries: HashMap<K, (u64, V)>,
    n_uses: u64,
    capacity: usize,
}

impl<K: Hash + Eq + Clone, V: Clone> Lru<K, V> {
    fn new(capacity: usize) -> Self {
        Lru { entries: HashMap::new(), n_uses: 0, capacity }
    }

    fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.n_uses += 1;
        let (last_use, value) = self.entries.get_mut(key)?;
        *last_use = self.n_uses;
        Some(value.clone())
    }

    fn insert(&mut self, key: K, value: V) {
        if self.entries.len() >= self.capacity {
            let mut uses: Vec<u64> = self.entries.values().map(|(last_use, _)| *last_use).collect();
            let n_forgotten = (self.capacity / 4).max(1).min(uses.len()) - 1;
            let (_, newest_forgotten, _) = uses.select_nth_unstable(n_forgotten);
            let newest_forgotten = *newest_forgotten;
            self.entries.retain(|_, (last_use, _)| *last_use > newest_forgotten);
        }
        self.n_uses += 1;
        self.entries.insert(key, (self.n_uses, value));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    struct Counting {
        id: EmbedderId,
        n_calls: AtomicUsize,
    }

    impl Embedder for Counting {
        fn id(&self) -> &EmbedderId {
            &self.id
        }

        fn dimensions(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            8
        }

        fn embed_query(&self, query: &str, _deadline: &Deadline) -> Result<Vec<f32>> {
            self.n_calls.fetch_add(1, Ordering::Relaxed);
            Ok(vec![query.len() as f32])
        }

        fn embed_passages(&self, passages: &[&str], _: &Deadline) -> Result<Vec<Vec<f32>>> {
            Ok(passages.iter().map(|passage| vec![passage.len() as f32]).collect())
        }
    }

    #[test]
    fn a_repeated_query_is_embedded_once() {
        let inner =
            Arc::new(Counting { id: EmbedderId::new("x", "1"), n_calls: AtomicUsize::new(0) });
        let cached = CachedEmbedder::new(Arc::clone(&inner) as Arc<dyn Embedder>);
        let deadline = Deadline::after(Duration::from_secs(60));
        for _ in 0..3 {
            assert_eq!(cached.embed_query("four", &deadline).unwrap(), [4.0]);
            assert_eq!(cached.embed_query("seven!!", &deadline).unwrap(), [7.0]);
        }
        assert_eq!(inner.n_calls.load(Ordering::Relaxed), 2);
        let long = "x".repeat(MAX_CACHED_QUERY_BYTES + 1);
        cached.embed_query(&long, &deadline).unwrap();
        cached.embed_query(&long, &deadline).unwrap();
        assert_eq!(inner.n_calls.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn memory_stays_bounded_and_keeps_what_is_used() {
        let mut lru = Lru::new(8);
        for number in 0..1000 {
            lru.insert(number, number);
            assert!(lru.entries.len() <= 8);
            assert_eq!(lru.get(&0), Some(0), "the one in use is never forgotten");
        }
    }
}
