//! What the sums of a chart are divided by: inhabitants, a rate of exchange, or nothing.

use model::Deadline;

use super::Finance;
use crate::charts::period::Period;
use crate::charts::reference::{Population, Rates};
use crate::charts::request::ChartFilter;
use crate::{Error, Result};

/// What sums are divided by.
pub(super) struct Unit<'a> {
    inhabitants: Option<(&'a Population, Whose)>,
    rates: Option<&'a Rates>,
}

/// Whose inhabitants are counted.
enum Whose {
    Units(Vec<String>),
    Counties(Vec<String>),
    All,
}

impl<'a> Unit<'a> {
    pub(super) fn of(
        charts: &'a Finance,
        filter: &ChartFilter,
        deadline: &Deadline,
    ) -> Result<Self> {
        let normalization = filter.normalization;
        let unavailable = |reason| Error::NotAvailable { name: "normalization".to_owned(), reason };
        let mut unit = Unit { inhabitants: None, rates: None };
        if normalization.is_per_capita() {
            let population = charts
                .population
                .as_ref()
                .ok_or_else(|| unavailable("no population table is configured, use `total`"))?;
            let only = &filter.only;
            let whose = if !only.uat_ids.is_empty() {
                Whose::Units(only.uat_ids.clone())
            } else if !only.entity_cuis.is_empty() {
                Whose::Units(charts.facts.units_of(&only.entity_cuis, deadline)?)
            } else if !only.county_codes.is_empty() {
                Whose::Counties(only.county_codes.clone())
            } else {
                Whose::All
            };
            unit.inhabitants = Some((population, whose));
        }
        if normalization.is_euro() {
            unit.rates = Some(charts.rates.as_ref().ok_or_else(|| {
                unavailable("no table of exchange rates is configured, use `total`")
            })?);
        }
        Ok(unit)
    }

    pub(super) fn divisor(&self, period: Period) -> Option<f64> {
        let inhabitants = match &self.inhabitants {
            None => 1.0,
            Some((population, Whose::Units(units))) => population.of_units(units, period.year())?,
            Some((population, Whose::Counties(counties))) => {
                population.of_counties(counties, period.year())?
            }
            Some((population, Whose::All)) => population.of_all(period.year())?,
        };
        let rate = match self.rates {
            None => 1.0,
            Some(rates) => rates.of(period)?,
        };
        Some(inhabitants * rate)
    }
}
