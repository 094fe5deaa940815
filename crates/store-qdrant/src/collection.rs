//! Collections: one for each embedding model, with the index that tells tenants apart made before
//! any data arrives.

use std::collections::{BTreeSet, HashMap};

use parking_lot::Mutex;
use qdrant_client::qdrant::{
    CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, Distance, FieldType,
    HnswConfigDiffBuilder, IntegerIndexParamsBuilder, KeywordIndexParamsBuilder,
    SparseVectorConfig, SparseVectorParams, StrictModeConfigBuilder, VectorParamsBuilder,
    VectorParamsMap, VectorsConfig, vectors_config,
};
use sha2::{Digest, Sha256};
use store::{Error, Result, VectorSpace};

use crate::client::Client;
use crate::point::{
    ANCESTORS, DENSE, DOCUMENT, KEYWORDS, NUMBER, PASSAGE, POINTER, SPARSE, TENANT, TERMS,
    TEXT_LENGTH, TITLE_LENGTH,
};
use crate::{ENGINE, QdrantConfig};

/// Links of a vector inside its own tenant; there are none over all tenants together.
const LINKS: u64 = 16;

/// Gives the name of the collection for a space; namespaces without vectors share one.
pub(crate) fn name_of(prefix: &str, space: Option<&VectorSpace>) -> String {
    let Some(space) = space else { return format!("{prefix}_words") };
    let digest = Sha256::digest(space.embedder.as_bytes());
    let digits: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}_{digits}_{}", space.dimensions)
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
    ) -> Result<()> {
        let known = self.known.lock().get(name).cloned();
        let has_collection = known.is_some();
        let mut known = known.unwrap_or_default();
        if has_collection && integers.is_subset(&known) {
            return Ok(());
        }
        if !has_collection {
            create(client, config, name, space)?;
            for field in [DOCUMENT, PASSAGE, POINTER, KEYWORDS, ANCESTORS] {
                keyword_index(client, name, field, false)?;
            }
            for field in [TERMS, TEXT_LENGTH, TITLE_LENGTH, NUMBER] {
                integer_index(client, name, field)?;
            }
        }
        for field in integers.difference(&known.clone()) {
            integer_index(client, name, field)?;
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

fn create(
    client: &Client,
    config: &QdrantConfig,
    name: &str,
    space: Option<&VectorSpace>,
) -> Result<()> {
    let owned = name.to_owned();
    let exists = client.write("look for a collection", move |peer| {
        let name = owned.clone();
        async move { peer.collection_exists(name).await }
    })?;
    if exists {
        // Its tenant index may be missing when the server that made it died in between.
        return keyword_index(client, name, TENANT, true);
    }
    let hnsw = HnswConfigDiffBuilder::default().m(0).payload_m(LINKS).build();
    let strict = StrictModeConfigBuilder::default()
        .enabled(true)
        .unindexed_filtering_retrieve(false)
        .unindexed_filtering_update(false)
        .build();
    let dense = space.map(|space| {
        VectorParamsBuilder::new(space.dimensions as u64, Distance::Cosine).on_disk(true).build()
    });
    let vectors = VectorsConfig {
        config: Some(vectors_config::Config::ParamsMap(VectorParamsMap {
            map: dense.into_iter().map(|params| (DENSE.to_owned(), params)).collect(),
        })),
    };
    let sparse = SparseVectorConfig {
        map: HashMap::from([(SPARSE.to_owned(), SparseVectorParams::default())]),
    };
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

fn keyword_index(client: &Client, name: &str, field: &'static str, is_tenant: bool) -> Result<()> {
    let params = KeywordIndexParamsBuilder::default().is_tenant(is_tenant).on_disk(true).build();
    let request = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Keyword)
        .field_index_params(params)
        .wait(true)
        .build();
    client.write("creation of an index", move |peer| {
        let request = request.clone();
        async move { peer.create_field_index(request).await.map(|_| ()) }
    })
}

fn integer_index(client: &Client, name: &str, field: &str) -> Result<()> {
    let params = IntegerIndexParamsBuilder::new(true, true).on_disk(true).build();
    let request = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Integer)
        .field_index_params(params)
        .wait(true)
        .build();
    client.write("creation of an index", move |peer| {
        let request = request.clone();
        async move { peer.create_field_index(request).await.map(|_| ()) }
    })
}
