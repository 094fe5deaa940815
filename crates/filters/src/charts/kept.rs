//! Charts that are kept: one file each in a folder, forgotten when their time is over.
//!
//! A file is written whole under another name and then renamed, so a reader sees a chart or
//! nothing. Ids are random, and only ids of that form ever become a path.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use model::{Access, Caller, TenantId, Timestamp};
use parking_lot::Mutex;
use serde::Serialize;

use crate::charts::chart::Chart;
use crate::{Error, Result};

/// The most charts that are kept; the oldest make room.
pub const MAX_KEPT_CHARTS: usize = 10_000;

/// The largest chart file that is read, in bytes.
const MAX_CHART_BYTES: u64 = 8 << 20;

/// What a list says of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChartSummary {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Who made it.
    pub made_by: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it is forgotten.
    pub expires_at: Timestamp,
}

/// The folder of kept charts.
#[derive(Debug)]
pub(crate) struct ChartStore {
    folder: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    tenant: TenantId,
    allow: Access,
    summary: ChartSummary,
}

impl ChartStore {
    /// Opens the folder, makes it where it is missing, and looks at what is there. A file that
    /// is no chart is left alone.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let failed = |source| Error::Read { path: folder.to_owned(), source };
        fs_err::create_dir_all(folder).map_err(failed)?;
        let kept = ChartStore { folder: folder.to_owned(), known: Mutex::default() };
        for file in fs_err::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(chart) = kept.read(id)
            {
                kept.known.lock().insert(chart.id.clone(), Known::of(&chart));
            }
        }
        Ok(kept)
    }

    /// Keeps a chart, and forgets those whose time is over.
    pub(crate) fn put(&self, chart: &Chart, now: Timestamp) -> Result<()> {
        self.forget_old(now);
        let path = self.path(&chart.id)?;
        let failed = |source| Error::Read { path: path.clone(), source };
        let text = serde_json::to_vec(chart).expect("a chart has string keys and finite numbers");
        let unfinished = path.with_extension("unfinished");
        let mut file = fs_err::File::create(&unfinished).map_err(failed)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
        fs_err::rename(&unfinished, &path).map_err(failed)?;
        self.known.lock().insert(chart.id.clone(), Known::of(chart));
        Ok(())
    }

    /// Gives a chart of the caller's tenant.
    ///
    /// Fails when it does not exist, is not the caller's to see, or its time is over.
    pub(crate) fn get(&self, caller: &Caller, id: &str, now: Timestamp) -> Result<Chart> {
        let exists = self.known.lock().get(id).is_some_and(|known| known.is_visible(caller, now));
        if !exists {
            return Err(not_found(id));
        }
        self.read(id)
    }

    /// Lists the charts of the caller's tenant, newest first.
    pub(crate) fn list(&self, caller: &Caller, now: Timestamp) -> Vec<ChartSummary> {
        let known = self.known.lock();
        let visible = known.values().filter(|known| known.is_visible(caller, now));
        let mut summaries: Vec<ChartSummary> = visible.map(|known| known.summary.clone()).collect();
        summaries.sort_by(|left, right| {
            right.made_at.cmp(&left.made_at).then_with(|| left.id.cmp(&right.id))
        });
        summaries
    }

    /// Forgets a chart of the caller's tenant.
    pub(crate) fn delete(&self, caller: &Caller, id: &str, now: Timestamp) -> Result<()> {
        self.get(caller, id, now)?;
        self.forget(id);
        Ok(())
    }

    fn forget_old(&self, now: Timestamp) {
        let mut ids: Vec<(bool, Timestamp, String)> = self
            .known
            .lock()
            .iter()
            .map(|(id, known)| (known.summary.expires_at > now, known.summary.made_at, id.clone()))
            .collect();
        ids.sort();
        let n_expired = ids.iter().filter(|(is_alive, _, _)| !is_alive).count();
        let n_over = (ids.len() + 1).saturating_sub(MAX_KEPT_CHARTS);
        for (_, _, id) in &ids[..n_expired.max(n_over)] {
            self.forget(id);
        }
    }

    fn forget(&self, id: &str) {
        if let Ok(path) = self.path(id)
            && let Err(error) = fs_err::remove_file(&path)
        {
            tracing::warn!(%error, "a chart file cannot be removed");
        }
        self.known.lock().remove(id);
    }

    fn read(&self, id: &str) -> Result<Chart> {
        let path = self.path(id)?;
        let metadata = fs_err::metadata(&path).map_err(|_| not_found(id))?;
        if metadata.len() > MAX_CHART_BYTES {
            return Err(not_found(id));
        }
        let text = fs_err::read(&path).map_err(|_| not_found(id))?;
        serde_json::from_slice(&text).map_err(|_| not_found(id))
    }

    fn path(&self, id: &str) -> Result<PathBuf> {
        let id = uuid::Uuid::parse_str(id).map_err(|_| not_found(id))?;
        Ok(self.folder.join(format!("{}.json", id.hyphenated())))
    }
}

impl Known {
    fn of(chart: &Chart) -> Self {
        Known {
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

    fn is_visible(&self, caller: &Caller, now: Timestamp) -> bool {
        self.tenant == caller.tenant && caller.may_use(&self.allow) && self.summary.expires_at > now
    }
}

fn not_found(id: &str) -> Error {
    Error::NotFound { kind: "chart", id: id.chars().take(60).collect() }
}
