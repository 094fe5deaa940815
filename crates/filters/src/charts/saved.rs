//! Charts that are kept: in a folder of this server, or in the catalogue that several servers share.

use std::path::Path;
use std::sync::Arc;

use model::{Access, Caller, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use store::Catalogue;

use crate::charts::chart::{Chart, ChartId};
use crate::charts::saved_catalogue::ChartCatalogue;
use crate::charts::saved_folder::ChartFolder;
use crate::{Error, Result};

/// The most charts that are kept; the oldest make room.
pub const MAX_KEPT_CHARTS: usize = 10_000;

/// What a list says of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartSummary {
    /// A UUID, which the chart's address ends with.
    pub id: ChartId,
    /// Its heading.
    pub title: String,
    /// Who made it.
    pub made_by: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it is forgotten.
    pub expires_at: Timestamp,
}

/// Where charts are kept.
pub(crate) enum ChartStore {
    Folder(ChartFolder),
    Catalogue(ChartCatalogue),
}

impl std::fmt::Debug for ChartStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            ChartStore::Folder(_) => "charts in a folder",
            ChartStore::Catalogue(_) => "charts in a catalogue",
        })
    }
}

impl ChartStore {
    /// Opens a folder.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self> {
        Ok(ChartStore::Folder(ChartFolder::open(folder)?))
    }

    /// Takes what is in a folder into a catalogue that is shared.
    pub(crate) fn taken_into(self, catalogue: Arc<dyn Catalogue>) -> Result<Self> {
        if let ChartStore::Folder(folder) = &self {
            take_all(folder, &*catalogue)?;
        }
        Ok(ChartStore::Catalogue(ChartCatalogue::new(catalogue)))
    }

    /// Keeps a chart, and forgets those whose time is over.
    pub(crate) fn put(&self, chart: &Chart, now: Timestamp) -> Result<()> {
        match self {
            ChartStore::Folder(folder) => folder.put(chart, now),
            ChartStore::Catalogue(catalogue) => catalogue.put(chart, now),
        }
    }

    /// Gives a chart of the caller's tenant.
    ///
    /// Fails when it does not exist, is not the caller's to see, or its time is over.
    pub(crate) fn get(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<Chart> {
        match self {
            ChartStore::Folder(folder) => folder.get(caller, id, now),
            ChartStore::Catalogue(catalogue) => catalogue.get(caller, id, now),
        }
    }

    /// Lists the charts of the caller's tenant, newest first.
    pub(crate) fn list(&self, caller: &Caller, now: Timestamp) -> Result<Vec<ChartSummary>> {
        match self {
            ChartStore::Folder(folder) => Ok(folder.list(caller, now)),
            ChartStore::Catalogue(catalogue) => catalogue.list(caller, now),
        }
    }

    /// Forgets a chart of the caller's tenant.
    pub(crate) fn delete(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<()> {
        match self {
            ChartStore::Folder(folder) => folder.delete(caller, id, now),
            ChartStore::Catalogue(catalogue) => catalogue.delete(caller, id, now),
        }
    }
}

/// Takes the charts of a folder into a catalogue, and out of the folder.
pub(crate) fn take_into_catalogue(folder: &Path, catalogue: &dyn Catalogue) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    take_all(&ChartFolder::open(folder)?, catalogue)
}

fn take_all(folder: &ChartFolder, catalogue: &dyn Catalogue) -> Result<()> {
    for id in folder.ids() {
        ChartCatalogue::write(catalogue, &folder.read(&id)?)?;
        folder.forget(&id);
    }
    Ok(())
}

/// Takes the charts of a catalogue into a folder, and out of the catalogue.
pub(crate) fn take_into_folder(
    catalogue: &dyn Catalogue,
    folder: &Path,
    now: Timestamp,
) -> Result<()> {
    let ids = ChartCatalogue::ids(catalogue)?;
    if ids.is_empty() {
        return Ok(());
    }
    let folder = ChartFolder::open(folder)?;
    for id in ids {
        if let Some(chart) = ChartCatalogue::read(catalogue, &id)? {
            folder.put(&chart, now)?;
        }
        ChartCatalogue::erase(catalogue, &id)?;
    }
    Ok(())
}

/// What is known of a chart without its figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChartRow {
    pub(super) tenant: TenantId,
    #[serde(default)]
    pub(super) allow: Access,
    pub(super) summary: ChartSummary,
}

impl ChartRow {
    pub(super) fn of(chart: &Chart) -> Self {
        ChartRow {
            tenant: chart.tenant.clone(),
            allow: chart.allow.clone(),
            summary: ChartSummary {
                id: chart.id.clone(),
                title: chart.request.title.clone(),
                made_by: chart.made_by.clone(),
                made_at: chart.made_at,
                expires_at: chart.expires_at,
            },
        }
    }

    pub(super) fn is_visible(&self, caller: &Caller, now: Timestamp) -> bool {
        self.tenant == caller.tenant && caller.may_use(&self.allow) && self.summary.expires_at > now
    }
}

pub(super) fn newest_first(mut summaries: Vec<ChartSummary>) -> Vec<ChartSummary> {
    summaries.sort_by(|left, right| {
        right.made_at.cmp(&left.made_at).then_with(|| left.id.cmp(&right.id))
    });
    summaries
}

/// Gives the charts whose time is over, and the oldest of too many when one more comes.
pub(super) fn over(known: &[ChartSummary], now: Timestamp) -> Vec<ChartId> {
    let mut ids: Vec<(bool, Timestamp, &ChartId)> =
        known.iter().map(|one| (one.expires_at > now, one.made_at, &one.id)).collect();
    ids.sort();
    let n_expired = ids.iter().filter(|(is_alive, _, _)| !is_alive).count();
    let n_over = (ids.len() + 1).saturating_sub(MAX_KEPT_CHARTS);
    ids[..n_expired.max(n_over)].iter().map(|(_, _, id)| (*id).clone()).collect()
}

pub(super) fn not_found(id: &ChartId) -> Error {
    Error::NotFound { kind: "chart", id: id.as_str().chars().take(60).collect() }
}
