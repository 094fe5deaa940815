//! Charts of one server: one file each in a folder, forgotten when their time is over.
//!
//! A file is written whole under another name and then renamed, so a reader sees a chart or
//! nothing. Ids are random, and only ids of that form ever become a path.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use model::{Caller, Timestamp};
use parking_lot::Mutex;

use crate::charts::chart::{Chart, ChartId};
use crate::charts::saved::{ChartRow, ChartSummary, newest_first, not_found, over};
use crate::{Error, Result};

/// The largest chart file that is read, in bytes.
const MAX_CHART_BYTES: u64 = 8 << 20;

#[derive(Debug)]
pub(crate) struct ChartFolder {
    folder: PathBuf,
    known: Mutex<BTreeMap<ChartId, ChartRow>>,
}

impl ChartFolder {
    /// Opens the folder, makes it where it is missing, and looks at what is there. A file that
    /// is no chart is left alone.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let failed = |source| Error::Read { path: folder.to_owned(), source };
        fs_err::create_dir_all(folder).map_err(failed)?;
        let kept = ChartFolder { folder: folder.to_owned(), known: Mutex::default() };
        for file in fs_err::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(chart) = kept.read(&ChartId::new(id))
            {
                kept.known.lock().insert(chart.id.clone(), ChartRow::of(&chart));
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
        self.known.lock().insert(chart.id.clone(), ChartRow::of(chart));
        Ok(())
    }

    /// Gives a chart of the caller's tenant.
    ///
    /// Fails when it does not exist, is not the caller's to see, or its time is over.
    pub(crate) fn get(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<Chart> {
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
        newest_first(visible.map(|known| known.summary.clone()).collect())
    }

    /// Forgets a chart of the caller's tenant.
    pub(crate) fn delete(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<()> {
        self.get(caller, id, now)?;
        self.forget(id);
        Ok(())
    }

    fn forget_old(&self, now: Timestamp) {
        let known: Vec<ChartSummary> =
            self.known.lock().values().map(|known| known.summary.clone()).collect();
        over(&known, now).iter().for_each(|id| self.forget(id));
    }

    /// Removes a chart, whosever it is.
    pub(crate) fn forget(&self, id: &ChartId) {
        if let Ok(path) = self.path(id)
            && let Err(error) = fs_err::remove_file(&path)
        {
            tracing::warn!(%error, "a chart file cannot be removed");
        }
        self.known.lock().remove(id);
    }

    /// Gives the ids of the charts, whosever they are.
    pub(crate) fn ids(&self) -> Vec<ChartId> {
        self.known.lock().keys().cloned().collect()
    }

    /// Gives a chart, whosever it is.
    pub(crate) fn read(&self, id: &ChartId) -> Result<Chart> {
        let path = self.path(id)?;
        let missing = || not_found(id);
        let metadata = fs_err::metadata(&path).map_err(|_| missing())?;
        if metadata.len() > MAX_CHART_BYTES {
            return Err(missing());
        }
        let text = fs_err::read(&path).map_err(|_| missing())?;
        serde_json::from_slice(&text).map_err(|_| missing())
    }

    fn path(&self, id: &ChartId) -> Result<PathBuf> {
        let id = uuid::Uuid::parse_str(id.as_str()).map_err(|_| not_found(id))?;
        Ok(self.folder.join(format!("{}.json", id.hyphenated())))
    }
}
