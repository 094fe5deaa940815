//! Charts in the catalogue that several servers share: whichever of them is asked for a page has it.
//!
//! Two objects for each, written and erased together: what a list says, and the figures.

use std::sync::Arc;

use model::{Caller, TenantId, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::{Catalogue, Change, ObjectKey, ObjectPage, TypedObject, limits};

use crate::Result;
use crate::charts::chart::{Chart, ChartId};
use crate::charts::saved::{ChartRow, ChartSummary, newest_first, not_found, over};

/// How often this server looks for charts whose time is over, in milliseconds.
const SWEEP_EVERY: i64 = 60 * 60 * 1_000;

pub(crate) struct ChartCatalogue {
    catalogue: Arc<dyn Catalogue>,
    swept_at: Mutex<Option<Timestamp>>,
}

impl TypedObject for ChartRow {
    type Id = ChartId;

    const KIND: &'static str = "chart";

    fn id(&self) -> String {
        self.summary.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }
}

/// A whole chart as a row.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Figures(Chart);

impl TypedObject for Figures {
    type Id = ChartId;

    const KIND: &'static str = "chart_figures";

    fn id(&self) -> String {
        self.0.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.0.tenant.clone()
    }
}

impl ChartCatalogue {
    pub(crate) fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        ChartCatalogue { catalogue, swept_at: Mutex::default() }
    }

    /// Keeps a chart; now and then, those whose time is over are forgotten.
    pub(crate) fn put(&self, chart: &Chart, now: Timestamp) -> Result<()> {
        self.sweep(now)?;
        ChartCatalogue::write(&*self.catalogue, chart)
    }

    pub(crate) fn get(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<Chart> {
        let chart = ChartCatalogue::read(&*self.catalogue, id)?;
        let chart = chart.filter(|chart| ChartRow::of(chart).is_visible(caller, now));
        chart.ok_or_else(|| not_found(id))
    }

    pub(crate) fn list(&self, caller: &Caller, now: Timestamp) -> Result<Vec<ChartSummary>> {
        let known = known(&*self.catalogue, Some(&caller.tenant))?;
        let visible = known.into_iter().filter(|known| known.is_visible(caller, now));
        Ok(newest_first(visible.map(|known| known.summary).collect()))
    }

    pub(crate) fn delete(&self, caller: &Caller, id: &ChartId, now: Timestamp) -> Result<()> {
        let chart = self.get(caller, id, now)?;
        ChartCatalogue::erase(&*self.catalogue, &chart.id)
    }

    /// Writes a chart, over an earlier one of its id.
    pub(crate) fn write(catalogue: &dyn Catalogue, chart: &Chart) -> Result<()> {
        let changes = [
            Change::Put(ChartRow::of(chart).to_object(0)?),
            Change::Put(Figures(chart.clone()).to_object(0)?),
        ];
        Ok(catalogue.apply(&changes).map(|_| ())?)
    }

    /// Gives a chart, whosever it is.
    pub(crate) fn read(catalogue: &dyn Catalogue, id: &ChartId) -> Result<Option<Chart>> {
        // Only what has the form of an id is looked for, in the one way to write it.
        let Ok(id) = uuid::Uuid::parse_str(id.as_str()) else { return Ok(None) };
        let found = Figures::load(catalogue, &ChartId::new(id.hyphenated().to_string()))?;
        Ok(found.map(|(figures, _)| figures.0))
    }

    /// Removes a chart, whosever it is.
    pub(crate) fn erase(catalogue: &dyn Catalogue, id: &ChartId) -> Result<()> {
        let changes = [ChartRow::KIND, Figures::KIND].map(|kind| {
            let key = ObjectKey::new(kind, id.as_str());
            Change::Delete(key)
        });
        Ok(catalogue.apply(&changes).map(|_| ())?)
    }

    /// Gives the ids of the charts, whosever they are.
    pub(crate) fn ids(catalogue: &dyn Catalogue) -> Result<Vec<ChartId>> {
        Ok(known(catalogue, None)?.into_iter().map(|known| known.summary.id).collect())
    }

    fn sweep(&self, now: Timestamp) -> Result<()> {
        let mut swept_at = self.swept_at.lock();
        if swept_at.is_some_and(|at| now.millis() - at.millis() < SWEEP_EVERY) {
            return Ok(());
        }
        let known: Vec<ChartSummary> =
            known(&*self.catalogue, None)?.into_iter().map(|known| known.summary).collect();
        for id in over(&known, now) {
            ChartCatalogue::erase(&*self.catalogue, &id)?;
        }
        *swept_at = Some(now);
        Ok(())
    }
}

/// Reads what is known of the charts of a tenant, or of all.
fn known(catalogue: &dyn Catalogue, tenant: Option<&TenantId>) -> Result<Vec<ChartRow>> {
    let mut page = ObjectPage { tenant: tenant.cloned(), ..ObjectPage::of(ChartRow::KIND) };
    let mut all: Vec<ChartRow> = vec![];
    loop {
        let some = ChartRow::list(catalogue, &page)?;
        let is_last = some.len() < limits::MAX_PAGE;
        page.after = some.last().map(|known| known.summary.id.to_string());
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}
