//! Collections: one for each embedding model, with the index that tells tenants apart made before
//! any data arrives.

use std::collections::{BTreeSet, HashMap};

use model::Deadline;
use parking_lot::Mutex;
use qdrant_client::qdrant::{
    CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, Distance, FieldType,
    HnswConfigDiffBuilder, IntegerIndexParamsBuilder, KeywordIndexParamsBuilder, QuantizationType,
    ScalarQuantizationBuilder, SparseIndexConfigBuilder, SparseVectorConfig,
    SparseVectorParamsBuilder, StrictModeConfigBuilder, TextIndexParamsBuilder, TokenizerType,
    VectorParamsBuilder, VectorParamsMap, VectorsConfig, vectors_config,
};
use sha2::{Digest, Sha256};
use store::{Error, Result, VectorSpace};

use crate::client::{Client, QUESTION_LIMIT};
use crate::point::{
    ANCESTORS, DENSE, DOCUMENT, KEYWORDS, PASSAGE, POINTER, SPARSE, STARTS, TENANT, TERMS,
    TEXT_LENGTH, TITLE_LENGTH,
};
use crate::{ENGINE, QdrantConfig};

/// Links of a vector inside its own tenant; there are none over all tenants together.
const LINKS: u64 = 16;
/// Vectors of a tenant in one segment that are scanned rather than looked for along a graph, in
/// kilobytes of full precision: 131,072 vectors of 384 dimensions, as many as the embedded engine
/// scans in full. They are scanned in one byte for each number, which takes 5 ms of one core.
///
/// Also the size from which a graph is built. Up to 1.16, Qdrant builds one for every value of every
/// indexed field that has so many points, the words among them: with its own 10,000, frequent words
/// would make the building of graphs some fifty times as long.
const FULL_SCAN_KILOBYTES: u64 = 196_608;
/// The part of the numbers of vectors that one byte keeps apart; the rest is clipped.
const QUANTILE: f32 = 0.99;
/// The oldest Qdrant that knows every request that is sent.
const OLDEST: (u32, u32) = (1, 16);
/// The form of points and indexes; another one is another collection.
const LAYOUT: u32 = 3;

/// Gives the name of the collection for a space; namespaces without vectors share one.
pub(crate) fn name_of(prefix: &str, space: Option<&VectorSpace>) -> String {
    let Some(space) = space else { return format!("{prefix}_{LAYOUT}_words") };
    let digest = Sha256::digest(space.embedder.as_bytes());
    let digits = model::hex(&digest[..6]);
    format!("{prefix}_{LAYOUT}_{digits}_{}", space.dimensions)
}

/// What is done where a collection is missing.
#[derive(Clone, Copy)]
pub(crate) enum Missing<'a> {
    /// It is made, after this was called: whatever else was in it is lost.
    Make(&'a dyn Fn() -> Result<()>),
    /// It is said: what was in it is lost, and the caller has but a part of it.
    Say,
}

/// The collections and indexes that are known to be there.
#[derive(Default)]
pub(crate) struct Collections {
    known: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl Collections {
    /// Makes a collection with its indexes where it is missing, and the indexes of integer
    /// attributes that its points will have.
    pub(crate) fn ensure(
        &self,
        client: &Client,
        config: &QdrantConfig,
        name: &str,
        space: Option<&VectorSpace>,
        integers: &BTreeSet<String>,
        missing: Missing<'_>,
    ) -> Result<()> {
        let known = self.known.lock().get(name).cloned();
        let has_collection = known.is_some();
        let mut known = known.unwrap_or_default();
        if has_collection && integers.is_subset(&known) {
            return Ok(());
        }
        if !has_collection {
            note_version(client);
            create(client, config, name, space, missing)?;
            for field in [DOCUMENT, PASSAGE, POINTER, KEYWORDS, ANCESTORS] {
                keyword_index(client, name, field, false)?;
            }
            for field in [TERMS, STARTS] {
                text_index(client, name, field)?;
            }
            for field in [TEXT_LENGTH, TITLE_LENGTH] {
                integer_index(client, name, field, Use::Equal)?;
            }
        }
        for field in integers.difference(&known.clone()) {
            integer_index(client, name, field, Use::Range)?;
            known.insert(field.clone());
        }
        self.known.lock().entry(name.to_owned()).or_default().extend(known);
        Ok(())
    }

    /// Forgets a collection that turned out to be gone.
    pub(crate) fn forget(&self, name: &str) {
        self.known.lock().remove(name);
    }
}

/// Says which Qdrant this is; the client's own check would print to the standard output.
fn note_version(client: &Client) {
    let deadline = Deadline::after(QUESTION_LIMIT);
    let asked =
        client.ask("health check", &deadline, |peer| async move { peer.health_check().await });
    // A cluster that is away is said by whoever needs it.
    let Ok(reply) = asked else { return };
    let mut numbers = reply.version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        let (major, minor) = OLDEST;
        tracing::warn!(
            version = reply.version,
            "Qdrant is older than {major}.{minor}, which words are searched with: update it"
        );
    } else {
        tracing::info!(version = reply.version, "Qdrant answers");
    }
}

fn create(
    client: &Client,
    config: &QdrantConfig,
    name: &str,
    space: Option<&VectorSpace>,
    missing: Missing<'_>,
) -> Result<()> {
    let what = "look for a collection";
    let is_there = |peer: qdrant_client::Qdrant| {
        let name = name.to_owned();
        async move { peer.collection_exists(name).await }
    };
    // A peer that has just joined may not have heard of it.
    let exists = client.write(what, is_there)? || client.any_says(what, is_there);
    if exists {
        // Its tenant index may be missing when the server that made it died in between.
        return keyword_index(client, name, TENANT, true);
    }
    match missing {
        Missing::Say => return Err(Error::EngineMissing { engine: ENGINE, what: "write" }),
        Missing::Make(before) => before()?,
    }
    let hnsw = HnswConfigDiffBuilder::default()
        .m(0)
        .payload_m(LINKS)
        .full_scan_threshold(FULL_SCAN_KILOBYTES)
        .build();
    // One byte a number is what scans and graphs read; the best are computed again from the vectors
    // themselves, which stay on the disk.
    let quantization = ScalarQuantizationBuilder::default()
        .r#type(QuantizationType::Int8.into())
        .quantile(QUANTILE)
        .always_ram(true)
        .build();
    let strict = StrictModeConfigBuilder::default()
        .enabled(true)
        .unindexed_filtering_retrieve(false)
        .unindexed_filtering_update(false)
        .build();
    let dense = space.map(|space| {
        VectorParamsBuilder::new(space.dimensions as u64, Distance::Cosine)
            .on_disk(true)
            .quantization_config(quantization)
            .build()
    });
    let vectors = VectorsConfig {
        config: Some(vectors_config::Config::ParamsMap(VectorParamsMap {
            map: dense.into_iter().map(|params| (DENSE.to_owned(), params)).collect(),
        })),
    };
    let lists = SparseIndexConfigBuilder::default().on_disk(true);
    let lists = SparseVectorParamsBuilder::default().index(lists).build();
    let sparse = SparseVectorConfig { map: HashMap::from([(SPARSE.to_owned(), lists)]) };
    let request = CreateCollectionBuilder::new(name)
        .vectors_config(vectors)
        .sparse_vectors_config(sparse)
        .hnsw_config(hnsw)
        .shard_number(config.shards.max(1))
        .replication_factor(config.replicas.max(1))
        // With one, writes go on while a peer is away, which catches up when it is back.
        .write_consistency_factor(1)
        .on_disk_payload(true)
        .strict_mode_config(strict)
        .build();
    let created = client.write("creation of a collection", move |peer| {
        let request = request.clone();
        async move { peer.create_collection(request).await.map(|_| ()) }
    });
    match created {
        // Another server has made it at the same time.
        Err(Error::EngineRefused { status, reason, .. })
            if status == 409 || reason.contains("already exists") => {}
        created => created?,
    }
    tracing::info!(collection = name, engine = ENGINE, "collection made");
    keyword_index(client, name, TENANT, true)
}

/// What an integer field is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Equal,
    Range,
}

/// Graphs are built for tenants alone, where the server can be told so (1.17 and later).
const HAS_GRAPH: bool = false;

fn keyword_index(client: &Client, name: &str, field: &'static str, is_tenant: bool) -> Result<()> {
    let params = KeywordIndexParamsBuilder::default().is_tenant(is_tenant).on_disk(true);
    let params = if is_tenant { params } else { params.enable_hnsw(HAS_GRAPH) };
    let request = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Keyword)
        .field_index_params(params.build());
    index(client, request)
}

fn integer_index(client: &Client, name: &str, field: &str, used: Use) -> Result<()> {
    let params = IntegerIndexParamsBuilder::new(true, used == Use::Range)
        .on_disk(true)
        .enable_hnsw(HAS_GRAPH)
        .build();
    let request = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Integer)
        .field_index_params(params);
    index(client, request)
}

/// Tokens are cut at spaces and told apart by case.
fn text_index(client: &Client, name: &str, field: &'static str) -> Result<()> {
    let params = TextIndexParamsBuilder::new(TokenizerType::Whitespace)
        .lowercase(false)
        .on_disk(true)
        .enable_hnsw(HAS_GRAPH)
        .build();
    let request = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Text)
        .field_index_params(params);
    index(client, request)
}

fn index(client: &Client, request: CreateFieldIndexCollectionBuilder) -> Result<()> {
    let request = request.wait(true).build();
    client.write("creation of an index", move |peer| {
        let request = request.clone();
        async move { peer.create_field_index(request).await.map(|_| ()) }
    })
}
