//! The engine in a Qdrant cluster: passages, words and vectors in shards with replicas.
//!
//! Everything in Qdrant is derived from the catalogue: the engine follows the log, and a namespace
//! can be filled anew at any time. One collection holds all namespaces of one embedding model, with
//! an indexed payload field that tells them apart; so there are few collections however many
//! tenants there are.
//!
//! **Scores** are computed here, from the text that comes back and from figures of the namespace
//! alone. Qdrant's own IDF counts over a shard with all its tenants and would leak from one to
//! another; it is off, and the server only orders candidates by term weights that we bring along.
//!
//! **Words in memory.** A server that is asked for a namespace of up to 131,072 passages reads its words
//! once, in the background, and brings them along by the log: how many passages hold a word, how often
//! each does, what passages are called, and what filters look at. The best by words are then found
//! here, exactly, while Qdrant is asked for the nearest by vector alone. Without that, and in larger
//! namespaces, candidates, counts and payloads are asked for; scores are the same either way.
//!
//! **Writes** can be repeated: a point's id is made of its namespace and passage number, so a write
//! that failed in part is sent again until it is whole. One server at a time follows a namespace,
//! by a lease in the catalogue, since concurrent updates of one point may differ between replicas.
//!
//! **Deletion.** A deleted point is found by no search from the moment the call returns; Qdrant takes
//! its bytes off the disk with its next optimisation of the segment.
#![doc(test(attr(deny(warnings))))]

mod client;
mod collection;
mod condition;
mod point;
mod terms;

mod following;
mod ledger;
mod namespace;

mod figures;
mod occurrences;
mod search;
mod word_memory;
mod word_search;
mod word_table;

mod engine;

pub use engine::QdrantEngine;
pub use word_memory::MAX_PASSAGES_IN_MEMORY;

/// How an engine names itself.
pub(crate) const ENGINE: &str = "qdrant";

/// Where the cluster is and how collections are made.
#[derive(Debug, Clone)]
pub struct QdrantConfig {
    /// The gRPC addresses of the peers; one that does not answer is passed over.
    pub urls: Vec<String>,
    /// The key, if the cluster wants one.
    pub key: Option<net::Secret>,
    /// What the names of collections begin with.
    pub prefix: String,
    /// Shards of a collection, which cannot be changed later.
    pub shards: u32,
    /// Replicas of each shard.
    pub replicas: u32,
}
