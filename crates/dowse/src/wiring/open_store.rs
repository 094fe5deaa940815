//! Where the catalogue is and which engine searches, chosen by `[store]`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use infer::Secret;
use model::Clock;
use store::{
    Access, Catalogue, Config, Engine, FolderLock, SqliteCatalogue, Store, TurbopufferConfig,
    TurbopufferEngine, Verify,
};
use store_postgres::{PostgresCatalogue, PostgresConfig};
use store_qdrant::{QdrantConfig, QdrantEngine};

use crate::config::{CatalogueKind, EngineKind, QdrantSection, StoreConfig, TurbopufferSection};

/// The catalogue in the store's folder.
pub(crate) const CATALOGUE: &str = "catalogue.sqlite";
/// The folder in the store's folder for indexes over a catalogue that is elsewhere; one for each
/// catalogue, so that a changed address never finds the indexes of another one.
const FOLLOWING: &str = "following";
/// The file that names this server among the followers of a catalogue.
const FOLLOWER: &str = "follower";

/// How much of a catalogue is mapped by a command that ends with its answer.
const MAPPED_BYTES: u64 = 1 << 30;

/// Reads a variable of the environment.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Opens the store that the section describes; `folder` has whatever is local of it.
pub(crate) fn open(section: &StoreConfig, folder: &Path, clock: Clock) -> anyhow::Result<Store> {
    open_verified(section, folder, clock, Verify::AtOpening, Access::Write)
}

/// Opens the same, and compares what is local with its checksums when that is asked for.
pub(super) fn open_verified(
    section: &StoreConfig,
    folder: &Path,
    clock: Clock,
    verify: Verify,
    access: Access,
) -> anyhow::Result<Store> {
    // Who compares only what has changed looks something up and ends.
    let catalogue_map_bytes = if verify == Verify::WhenChanged { MAPPED_BYTES } else { 0 };
    let bounds = Config { verify, access, catalogue_map_bytes, ..Config::for_one_machine() };
    open_with(section, folder, clock, &bounds, &|name| std::env::var(name).ok())
}

fn open_with(
    section: &StoreConfig,
    folder: &Path,
    clock: Clock,
    bounds: &Config,
    variable: Variable<'_>,
) -> anyhow::Result<Store> {
    let choice = section.choice()?;
    for (key, instead) in &choice.earlier {
        tracing::warn!(key, instead, "a setting has an earlier name; it is still read");
    }
    let catalogue = match choice.catalogue {
        CatalogueKind::Sqlite => None,
        CatalogueKind::Postgres => {
            refuse_local_catalogue(folder)?;
            let config = postgres(section, variable)?;
            Some(Arc::new(PostgresCatalogue::open(&config, clock.clone())?) as Arc<dyn Catalogue>)
        }
    };
    match choice.engine {
        EngineKind::Embedded => match catalogue {
            None => Ok(Store::open(folder, bounds, clock)?),
            Some(catalogue) => {
                let folder = folder.join(FOLLOWING).join(catalogue.identity()?);
                fs_err::create_dir_all(&folder)?;
                let follower = follower_of(&folder)?;
                Ok(Store::open_over(&folder, bounds, catalogue, &follower)?)
            }
        },
        EngineKind::Turbopuffer => {
            let settings = turbopuffer(&choice.turbopuffer, variable)?;
            let engine = |catalogue: Arc<dyn Catalogue>| -> store::Result<Arc<dyn Engine>> {
                Ok(Arc::new(TurbopufferEngine::open(bounds, &settings, catalogue)?))
            };
            with_engine(folder, bounds, catalogue, clock, engine)
        }
        EngineKind::Qdrant => {
            let settings = qdrant(&section.qdrant, variable)?;
            let engine = |catalogue: Arc<dyn Catalogue>| -> store::Result<Arc<dyn Engine>> {
                let holder = uuid::Uuid::new_v4().to_string();
                Ok(Arc::new(QdrantEngine::open(&settings, catalogue, holder)?))
            };
            with_engine(folder, bounds, catalogue, clock, engine)
        }
    }
}

/// Opens the catalogue that the section describes, alone: nothing is searched, and nothing follows.
/// The lock keeps other processes off a folder; a database has none.
pub(crate) fn open_catalogue(
    section: &StoreConfig,
    folder: &Path,
    clock: Clock,
) -> anyhow::Result<(Arc<dyn Catalogue>, Option<FolderLock>)> {
    match section.choice()?.catalogue {
        CatalogueKind::Postgres => {
            let config = postgres(section, &|name| std::env::var(name).ok())?;
            Ok((Arc::new(PostgresCatalogue::open(&config, clock)?), None))
        }
        CatalogueKind::Sqlite => {
            guard::private::create_folder(folder)?;
            let lock = FolderLock::take(folder)?;
            let catalogue = SqliteCatalogue::open(folder, &Config::for_one_machine(), clock)?;
            Ok((Arc::new(catalogue), Some(lock)))
        }
    }
}

fn with_engine(
    folder: &Path,
    bounds: &Config,
    catalogue: Option<Arc<dyn Catalogue>>,
    clock: Clock,
    engine: impl FnOnce(Arc<dyn Catalogue>) -> store::Result<Arc<dyn Engine>>,
) -> anyhow::Result<Store> {
    Ok(match catalogue {
        None => Store::open_with(folder, bounds, clock, engine)?,
        Some(catalogue) => Store::new(Arc::clone(&catalogue), engine(catalogue)?)?,
    })
}

/// Names the catalogue and the engine, and says whether an engine that is elsewhere answers.
pub(crate) fn describe(store: &Store) -> String {
    let engine = store.engine();
    let catalogue = if store.catalogue().is_shared() { "postgres, " } else { "" };
    if !engine.info().is_elsewhere() {
        return format!("{catalogue}{}", engine.info().name);
    }
    match engine.info().reach() {
        Ok(()) => format!("{catalogue}{}, which answers", engine.info().name),
        Err(error) => format!("{catalogue}{}, which does NOT answer: {error}", engine.info().name),
    }
}

/// Names the catalogue and the engine.
pub(crate) fn names(store: &Store) -> String {
    let catalogue = if store.catalogue().is_shared() { "postgres" } else { "sqlite" };
    format!("{catalogue} + {}", store.engine().info().name)
}

/// A folder with a catalogue of its own would be served as if it were empty.
fn refuse_local_catalogue(folder: &Path) -> anyhow::Result<()> {
    let file = folder.join(CATALOGUE);
    ensure!(
        !file.exists(),
        "`store.catalogue` is `postgres`, but `{}` holds a catalogue\n\
         hint: `dowse move` brings what is in it into PostgreSQL; or use another `data_dir`, or \
         `catalogue = \"sqlite\"` to serve what is in it",
        file.display()
    );
    Ok(())
}

/// Gives the name under which this folder follows, which it keeps for good.
fn follower_of(folder: &Path) -> anyhow::Result<String> {
    let file = folder.join(FOLLOWER);
    if let Ok(name) = fs_err::read_to_string(&file)
        && !name.is_empty()
    {
        return Ok(name);
    }
    let name = uuid::Uuid::new_v4().to_string();
    fs_err::write(&file, &name)?;
    Ok(name)
}

/// Gives the settings of PostgreSQL.
pub(super) fn postgres(
    section: &StoreConfig,
    variable: Variable<'_>,
) -> anyhow::Result<PostgresConfig> {
    let postgres = &section.postgres;
    let url = match &postgres.url {
        Some(url) => url.clone(),
        None => variable(&postgres.url_env).filter(|url| !url.is_empty()).with_context(|| {
            format!(
                "`store.postgres.url` is not set, and the variable `{}` that \
                 `store.postgres.url_env` names is not set either\n\
                 hint: put `postgres://user:password@host/database` into it",
                postgres.url_env
            )
        })?,
    };
    Ok(PostgresConfig {
        url: Secret::new(url),
        schema: postgres.schema.clone(),
        max_connections: postgres.max_connections,
    })
}

/// Gives the settings of Qdrant.
fn qdrant(section: &QdrantSection, variable: Variable<'_>) -> anyhow::Result<QdrantConfig> {
    ensure!(
        !section.urls.is_empty(),
        "`store.qdrant.urls` is empty\n\
         hint: name the gRPC address of each peer, as `http://127.0.0.1:6334`"
    );
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    ensure!(
        !section.prefix.is_empty() && section.prefix.chars().all(is_plain),
        "`store.qdrant.prefix` may have letters, digits, `-` and `_`, received `{}`",
        section.prefix
    );
    ensure!(
        section.shards > 0 && section.replicas > 0,
        "`store.qdrant.shards` and `store.qdrant.replicas` must be at least `1`, received `{}` and \
         `{}`",
        section.shards,
        section.replicas
    );
    Ok(QdrantConfig {
        urls: section.urls.clone(),
        key: variable(&section.api_key_env).filter(|key| !key.is_empty()).map(Secret::new),
        prefix: section.prefix.clone(),
        shards: section.shards,
        replicas: section.replicas,
    })
}

/// Gives the settings of turbopuffer.
fn turbopuffer(
    section: &TurbopufferSection,
    variable: Variable<'_>,
) -> anyhow::Result<TurbopufferConfig> {
    ensure!(
        section.base_url.is_some() || section.region.is_some(),
        "`store.turbopuffer.region` or `store.turbopuffer.base_url` is required with \
         `engine = \"turbopuffer\"`\n\
         hint: name the region of your account, as `gcp-us-central1`"
    );
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    ensure!(
        section.namespace_prefix.chars().all(is_plain),
        "`store.turbopuffer.namespace_prefix` may have letters, digits, `-`, `_` and `.`, received \
         `{}`",
        section.namespace_prefix
    );
    let key = variable(&section.api_key_env).filter(|key| !key.is_empty()).with_context(|| {
        format!(
            "the variable `{}` that `store.turbopuffer.api_key_env` names is not set\n\
             hint: put the key of turbopuffer into it",
            section.api_key_env
        )
    })?;
    Ok(TurbopufferConfig {
        base_url: section.base_url.clone(),
        region: section.region.clone(),
        key: Secret::new(key),
        namespace_prefix: section.namespace_prefix.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(section: &TurbopufferSection, key: Option<&str>) -> String {
        match turbopuffer(section, &|_| key.map(str::to_owned)) {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn the_section_says_what_is_missing() {
        let mut section = TurbopufferSection::default();
        let missing = read(&section, Some("k"));
        assert!(missing.contains("`store.turbopuffer.region` or"), "{missing}");
        section.region = Some("gcp-us-central1".to_owned());
        assert!(read(&section, None).contains("`TURBOPUFFER_API_KEY`"));
        let shown = read(&section, Some("tpuf_secret"));
        assert!(shown.contains("gcp-us-central1") && !shown.contains("tpuf_secret"), "{shown}");
        section.namespace_prefix = "a b".to_owned();
        assert!(read(&section, Some("k")).contains("received `a b`"));

        let mut section = QdrantSection::default();
        let settings = qdrant(&section, &|_| Some("key-word".to_owned())).unwrap();
        assert!(!format!("{settings:?}").contains("key-word"));
        section.shards = 0;
        assert!(qdrant(&section, &|_| None).unwrap_err().to_string().contains("at least `1`"));
        section.urls.clear();
        assert!(qdrant(&section, &|_| None).unwrap_err().to_string().contains("is empty"));

        let mut section = StoreConfig::default();
        let shown = |section: &StoreConfig, url: Option<&str>| match postgres(section, &|_| {
            url.map(str::to_owned)
        }) {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => format!("{error:#}"),
        };
        assert!(shown(&section, None).contains("`DOWSE_POSTGRES_URL`"));
        let hidden = shown(&section, Some("postgres://u:pass-word@h/d"));
        assert!(hidden.contains("dowse") && !hidden.contains("pass-word"), "{hidden}");
        section.postgres.url = Some("postgres://u@h/d".to_owned());
        assert!(shown(&section, None).contains("PostgresConfig"));
    }

    #[test]
    fn a_folder_keeps_its_name_and_its_catalogue_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let name = follower_of(folder.path()).unwrap();
        assert_eq!(follower_of(folder.path()).unwrap(), name);
        assert!(refuse_local_catalogue(folder.path()).is_ok());
        fs_err::write(folder.path().join("catalogue.sqlite"), "x").unwrap();
        let refusal = refuse_local_catalogue(folder.path()).unwrap_err().to_string();
        assert!(refusal.contains("`dowse move` brings"), "{refusal}");
    }
}
