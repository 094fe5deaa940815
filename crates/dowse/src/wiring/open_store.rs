//! Which engine finds passages, chosen by `[store]`.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use infer::Secret;
use model::Clock;
use store::{Config, Store, TurbopufferConfig};

use crate::config::{StoreConfig, StoreProvider};

/// Opens the store of a folder, which has the catalogue whichever engine is chosen.
pub(crate) fn open(section: &StoreConfig, folder: &Path, clock: Clock) -> anyhow::Result<Store> {
    let bounds = Config::for_one_machine();
    Ok(match turbopuffer(section, &|name| std::env::var(name).ok())? {
        None => Store::open(folder, &bounds, clock)?,
        Some(settings) => Store::open_with_turbopuffer(folder, &bounds, &settings, clock)?,
    })
}

/// Names the engine, and says whether one that is elsewhere answers.
pub(crate) fn describe(store: &Store) -> String {
    let engine = store.engine();
    if !engine.is_far() {
        return engine.name().to_owned();
    }
    match engine.reach() {
        Ok(()) => format!("{}, which answers", engine.name()),
        Err(error) => format!("{}, which does NOT answer: {error}", engine.name()),
    }
}

/// Gives the settings of turbopuffer, or nothing for the embedded engine.
fn turbopuffer(
    section: &StoreConfig,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<TurbopufferConfig>> {
    match section.provider {
        StoreProvider::Embedded => return Ok(None),
        StoreProvider::Turbopuffer => {}
        StoreProvider::Postgres | StoreProvider::Qdrant => bail!(
            "`store.provider` `{}` is not built in yet\n\
             hint: use `embedded` or `turbopuffer`",
            if section.provider == StoreProvider::Qdrant { "qdrant" } else { "postgres" }
        ),
    }
    ensure!(
        section.base_url.is_some() || section.region.is_some(),
        "`store.region` or `store.base_url` is required with `provider = \"turbopuffer\"`\n\
         hint: name the region of your account, as `gcp-us-central1`"
    );
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    ensure!(
        section.namespace_prefix.chars().all(is_plain),
        "`store.namespace_prefix` may have letters, digits, `-`, `_` and `.`, received `{}`",
        section.namespace_prefix
    );
    let key = variable(&section.api_key_env).filter(|key| !key.is_empty()).with_context(|| {
        format!(
            "the variable `{}` that `store.api_key_env` names is not set\n\
             hint: put the key of turbopuffer into it",
            section.api_key_env
        )
    })?;
    Ok(Some(TurbopufferConfig {
        base_url: section.base_url.clone(),
        region: section.region.clone(),
        key: Secret::new(key),
        namespace_prefix: section.namespace_prefix.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(section: &StoreConfig, key: Option<&str>) -> String {
        match turbopuffer(section, &|_| key.map(str::to_owned)) {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn the_section_says_what_is_missing() {
        let embedded = StoreConfig::default();
        assert_eq!(read(&embedded, None), "None");
        let mut section = StoreConfig { provider: StoreProvider::Turbopuffer, ..embedded };
        assert!(read(&section, Some("k")).contains("`store.region` or `store.base_url`"));
        section.region = Some("gcp-us-central1".to_owned());
        assert!(read(&section, None).contains("`TURBOPUFFER_API_KEY`"));
        let shown = read(&section, Some("tpuf_secret"));
        assert!(shown.contains("gcp-us-central1") && !shown.contains("tpuf_secret"), "{shown}");
        section.namespace_prefix = "a b".to_owned();
        assert!(read(&section, Some("k")).contains("received `a b`"));
        section.provider = StoreProvider::Postgres;
        assert!(read(&section, Some("k")).contains("`postgres` is not built in yet"));
        section.provider = StoreProvider::Qdrant;
        assert!(read(&section, Some("k")).contains("`qdrant` is not built in yet"));
    }
}
