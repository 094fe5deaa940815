//! The time zone of a call, and the fields that it does not apply to: a date without a time of day
//! is the same date everywhere.

use columns::Zone;
use model::{Deadline, Warning};

use crate::check::zone_of;
use crate::field_filter::{FieldFilter, Filters};
use crate::filters::ANY;
use crate::served_table::ServedTable;
use crate::{Error, Result};

/// The zone in which dates of filters and buckets are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallZone {
    zone: Zone,
    /// Fields that hold dates without a time; looked up only where a zone was given.
    dates: Vec<String>,
    utc: Zone,
}

impl CallZone {
    /// Takes a zone for every field alike.
    pub(crate) fn for_all(zone: Zone) -> Self {
        CallZone { zone, ..CallZone::default() }
    }

    /// Reads the zone of a call, and asks the table which fields hold dates where that matters:
    /// where the call or one of its buckets (`others`) is not in UTC.
    pub(crate) fn of_call<'n>(
        table: &ServedTable,
        name: Option<&str>,
        others: impl Iterator<Item = &'n str>,
        deadline: &Deadline,
    ) -> Result<Self> {
        let zone = zone_of(name)?;
        let mut is_utc = zone == Zone::default();
        for other in others {
            is_utc &= zone_of(Some(other))? == Zone::default();
        }
        if is_utc {
            return Ok(CallZone::for_all(zone));
        }
        let dates = table.engine.date_columns(deadline);
        let dates = dates.map_err(|cause| Error::of_source(&table.schema.name, cause))?;
        Ok(CallZone { zone, dates, utc: Zone::default() })
    }

    pub(crate) fn of_field(&self, name: &str) -> &Zone {
        if self.is_date(name) { &self.utc } else { &self.zone }
    }

    pub(crate) fn of_the_call(&self) -> &Zone {
        &self.zone
    }

    /// Tells whether a field is known to hold dates without a time.
    pub(crate) fn is_date(&self, name: &str) -> bool {
        self.dates.iter().any(|date| date == name)
    }

    /// Says of which of the used fields the zone was left out.
    pub(crate) fn not_applied<'n>(
        &self,
        filters: &'n Filters,
        others: impl Iterator<Item = &'n str>,
    ) -> Option<Warning> {
        let mut names: Vec<&str> = filters.names().collect();
        if let Some(FieldFilter::Alternatives(alternatives)) = filters.get(ANY) {
            names.extend(alternatives.iter().flat_map(Filters::names));
        }
        names.extend(others);
        let mut used: Vec<String> = Vec::new();
        for name in names.into_iter().filter(|name| self.is_date(name)) {
            let quoted = format!("`{name}`");
            if !used.contains(&quoted) {
                used.push(quoted);
            }
        }
        if used.is_empty() {
            return None;
        }
        let message = format!(
            "the time zone is not applied to {}: it holds dates without a time of day",
            used.join(", ")
        );
        Some(Warning::new("time_zone_not_applied", message))
    }
}
