//! `[store]`: where the catalogue is and which engine searches, in the present form and in the
//! earlier one (`provider`), which is still read.

use std::path::PathBuf;

use anyhow::bail;
use serde::Deserialize;

/// Seconds of a lease unless another number is set.
const LEASE_SECONDS: u64 = 30;

/// `[store]`: where everything that is kept is, and which engine searches it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StoreConfig {
    /// Where documents, passages, objects and jobs are: `sqlite`, a file in `data_dir` (default), or
    /// `postgres`, which several servers share.
    pub(crate) catalogue: Option<CatalogueKind>,
    /// Which engine searches: `embedded` (default), `qdrant` or `turbopuffer`.
    pub(crate) engine: Option<EngineKind>,
    /// A folder for uploads and originals, which all servers see that share a catalogue. Unless set
    /// they are in `uploads` in `data_dir`, and with `catalogue = "postgres"` in the database.
    pub(crate) uploads: Option<PathBuf>,
    /// Seconds for which a server keeps a job without a sign of life; another takes it over within
    /// twice this time. Default 30.
    pub(crate) lease_seconds: u64,
    /// The database of `catalogue = "postgres"`.
    pub(crate) postgres: PostgresSection,
    /// The cluster of `engine = "qdrant"`.
    pub(crate) qdrant: QdrantSection,
    /// The account of `engine = "turbopuffer"`.
    pub(crate) turbopuffer: TurbopufferSection,
    /// Earlier name of `engine`; still read, with a warning.
    pub(crate) provider: Option<EngineKind>,
    /// Earlier name of `turbopuffer.base_url`; still read, with a warning.
    pub(crate) base_url: Option<String>,
    /// Earlier name of `turbopuffer.region`; still read, with a warning.
    pub(crate) region: Option<String>,
    /// Earlier name of `turbopuffer.api_key_env`; still read, with a warning.
    pub(crate) api_key_env: Option<String>,
    /// Earlier name of `turbopuffer.namespace_prefix`; still read, with a warning.
    pub(crate) namespace_prefix: Option<String>,
}

impl Default for StoreConfig {
    fn default() -> Self {
        StoreConfig {
            catalogue: None,
            engine: None,
            uploads: None,
            lease_seconds: LEASE_SECONDS,
            postgres: PostgresSection::default(),
            qdrant: QdrantSection::default(),
            turbopuffer: TurbopufferSection::default(),
            provider: None,
            base_url: None,
            region: None,
            api_key_env: None,
            namespace_prefix: None,
        }
    }
}

/// Where the truth is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CatalogueKind {
    /// A file in `data_dir`.
    #[default]
    Sqlite,
    /// A PostgreSQL that several servers share.
    Postgres,
}

/// Which engine searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EngineKind {
    /// Indexes in `data_dir`.
    #[default]
    Embedded,
    /// A Qdrant cluster.
    Qdrant,
    /// turbopuffer, over HTTP.
    Turbopuffer,
}

/// `[store.postgres]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PostgresSection {
    /// The address, as `postgres://user@host/database`; `sslmode=require` and `sslrootcert` as for
    /// tables. With a password it belongs into a variable instead.
    pub(crate) url: Option<String>,
    /// The variable that holds the address; default `DOWSE_POSTGRES_URL`.
    pub(crate) url_env: String,
    /// The schema that holds the tables, made when it is missing; default `dowse`.
    pub(crate) schema: String,
    /// Connections that one server has open at most; default 16.
    pub(crate) max_connections: usize,
}

impl Default for PostgresSection {
    fn default() -> Self {
        PostgresSection {
            url: None,
            url_env: "DOWSE_POSTGRES_URL".to_owned(),
            schema: store_postgres::PostgresConfig::SCHEMA.to_owned(),
            max_connections: store_postgres::PostgresConfig::MAX_CONNECTIONS,
        }
    }
}

/// `[store.qdrant]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QdrantSection {
    /// The gRPC addresses of the peers; one that does not answer is passed over.
    pub(crate) urls: Vec<String>,
    /// The variable that holds the key, if the cluster wants one; default `QDRANT_API_KEY`.
    pub(crate) api_key_env: String,
    /// What the names of collections begin with; default `dowse`.
    pub(crate) prefix: String,
    /// Shards of a collection, which cannot be changed later; default 6.
    pub(crate) shards: u32,
    /// Replicas of each shard; default 2.
    pub(crate) replicas: u32,
}

impl Default for QdrantSection {
    fn default() -> Self {
        QdrantSection {
            urls: vec!["http://127.0.0.1:6334".to_owned()],
            api_key_env: "QDRANT_API_KEY".to_owned(),
            prefix: "dowse".to_owned(),
            shards: 6,
            replicas: 2,
        }
    }
}

/// `[store.turbopuffer]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TurbopufferSection {
    /// The region of the account, as `gcp-us-central1`.
    pub(crate) region: Option<String>,
    /// The address; the one of the region unless set.
    pub(crate) base_url: Option<String>,
    /// The variable that holds the key; default `TURBOPUFFER_API_KEY`.
    pub(crate) api_key_env: String,
    /// What is before the name of every namespace, so that servers can share an account.
    pub(crate) namespace_prefix: String,
}

impl Default for TurbopufferSection {
    fn default() -> Self {
        TurbopufferSection {
            region: None,
            base_url: None,
            api_key_env: "TURBOPUFFER_API_KEY".to_owned(),
            namespace_prefix: String::new(),
        }
    }
}

/// What the section says, whichever form it has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoreChoice {
    pub(crate) catalogue: CatalogueKind,
    pub(crate) engine: EngineKind,
    pub(crate) turbopuffer: TurbopufferSection,
    /// Keys of the earlier form that were used, each with what to write instead.
    pub(crate) earlier: Vec<(&'static str, &'static str)>,
}

impl StoreConfig {
    /// Tells whether everything is kept in the data folder, and nothing elsewhere.
    ///
    /// # Errors
    ///
    /// Those of [`StoreConfig::choice`].
    pub(crate) fn is_of_this_machine(&self) -> anyhow::Result<bool> {
        let choice = self.choice()?;
        Ok(choice.catalogue == CatalogueKind::default() && choice.engine == EngineKind::default())
    }

    /// Reads the section.
    ///
    /// # Errors
    ///
    /// When both forms are used at once, or a number cannot be used.
    pub(crate) fn choice(&self) -> anyhow::Result<StoreChoice> {
        let earlier: Vec<(&'static str, &'static str)> = [
            (self.provider.is_some(), "store.provider", "store.engine"),
            (self.base_url.is_some(), "store.base_url", "store.turbopuffer.base_url"),
            (self.region.is_some(), "store.region", "store.turbopuffer.region"),
            (self.api_key_env.is_some(), "store.api_key_env", "store.turbopuffer.api_key_env"),
            (
                self.namespace_prefix.is_some(),
                "store.namespace_prefix",
                "store.turbopuffer.namespace_prefix",
            ),
        ]
        .into_iter()
        .filter_map(|(is_set, key, instead)| is_set.then_some((key, instead)))
        .collect();
        let present: Vec<&str> = [
            (self.catalogue.is_some(), "store.catalogue"),
            (self.engine.is_some(), "store.engine"),
            (self.postgres != PostgresSection::default(), "store.postgres"),
            (self.qdrant != QdrantSection::default(), "store.qdrant"),
            (self.turbopuffer != TurbopufferSection::default(), "store.turbopuffer"),
        ]
        .into_iter()
        .filter_map(|(is_set, key)| is_set.then_some(key))
        .collect();
        if let (Some((key, instead)), Some(other)) = (earlier.first(), present.first()) {
            bail!(
                "`{key}` and `{other}` are both set; `{key}` is the earlier name of `{instead}`\n\
                 hint: write `{instead}` and remove `{key}`"
            );
        }
        if self.lease_seconds == 0 {
            bail!("`store.lease_seconds` must be at least `1`, received `0`");
        }
        let turbopuffer = match earlier.is_empty() {
            true => self.turbopuffer.clone(),
            false => {
                let default = TurbopufferSection::default();
                TurbopufferSection {
                    region: self.region.clone(),
                    base_url: self.base_url.clone(),
                    api_key_env: self.api_key_env.clone().unwrap_or(default.api_key_env),
                    namespace_prefix: self.namespace_prefix.clone().unwrap_or_default(),
                }
            }
        };
        let engine = self.engine.or(self.provider).unwrap_or_default();
        Ok(StoreChoice {
            catalogue: self.catalogue.unwrap_or_default(),
            engine,
            turbopuffer,
            earlier,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let section: StoreConfig = match toml::from_str(text) {
            Ok(section) => section,
            Err(error) => return error.message().to_owned(),
        };
        match section.choice() {
            Ok(choice) => format!("{choice:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn both_forms_are_read_and_mixing_them_is_an_error() {
        let nothing = StoreConfig::default().choice().unwrap();
        assert_eq!((nothing.catalogue, nothing.engine), Default::default());
        assert_eq!(StoreConfig::default().lease_seconds, 30);
        let present =
            "catalogue = \"postgres\"\nengine = \"turbopuffer\"\n[turbopuffer]\nregion = \"r\"";
        let earlier = "provider = \"turbopuffer\"\nregion = \"r\"\nnamespace_prefix = \"p-\"";
        insta::assert_snapshot!([present, earlier].map(read).join("\n"), @r#"
        StoreChoice { catalogue: Postgres, engine: Turbopuffer, turbopuffer: TurbopufferSection { region: Some("r"), base_url: None, api_key_env: "TURBOPUFFER_API_KEY", namespace_prefix: "" }, earlier: [] }
        StoreChoice { catalogue: Sqlite, engine: Turbopuffer, turbopuffer: TurbopufferSection { region: Some("r"), base_url: None, api_key_env: "TURBOPUFFER_API_KEY", namespace_prefix: "p-" }, earlier: [("store.provider", "store.engine"), ("store.region", "store.turbopuffer.region"), ("store.namespace_prefix", "store.turbopuffer.namespace_prefix")] }
        "#);
        for mixed in [
            "provider = \"embedded\"\ncatalogue = \"postgres\"",
            "provider = \"embedded\"\nengine = \"embedded\"",
            "region = \"r\"\n[turbopuffer]\nbase_url = \"http://127.0.0.1:1\"",
            "base_url = \"http://127.0.0.1:1\"\n[qdrant]\nshards = 1",
        ] {
            assert!(read(mixed).contains("are both set"), "{}", read(mixed));
        }
        assert!(read("lease_seconds = 0").contains("at least `1`"));
        assert!(read("engine = \"magic\"").contains("unknown variant `magic`"));
        assert!(read("[postgres]\nurl_env = \"A\"\nnothing = 1").contains("unknown field"));
    }

    #[test]
    fn the_file_of_the_packaged_cluster_is_read() {
        let text = include_str!("../../../../packaging/cluster/kubernetes/dowse.toml");
        let config: crate::config::Config = toml::from_str(text).unwrap();
        let choice = config.store.choice().unwrap();
        assert_eq!(
            (choice.catalogue, choice.engine),
            (CatalogueKind::Postgres, EngineKind::Qdrant)
        );
        assert_eq!(config.store.qdrant.urls.len(), 3);
    }
}
