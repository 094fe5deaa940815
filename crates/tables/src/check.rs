//! Requests that are checked without asking the source.

use columns::{TimeSeries, Zone};
use model::Caller;

use crate::aggregate::{self, AggregateRequest};
use crate::call_zone::CallZone;
use crate::config::FieldType;
use crate::filters::{TypedFilters, typed};
use crate::request::{DEFAULT_PAGE, MAX_PAGE_SIZE, QueryRequest, SeriesRequest, SortRequest};
use crate::schema::leaf;
use crate::{Error, Result, Schema, Service};

impl Service {
    /// Checks a question for rows against its table, without asking the source: as a
    /// configuration is checked at the start.
    pub fn check_query(&self, request: &QueryRequest) -> Result<()> {
        let schema = &self.table(&Caller::local_admin(), request.table.as_deref())?.schema;
        check_page(request)?;
        let zone = CallZone::for_all(zone_of(request.time_zone.as_deref())?);
        let typed = typed(schema, &request.filters, &zone)?;
        checked_sort(schema, request, &typed)?;
        checked_names(schema, "column", request.columns.as_deref())?;
        checked_names(schema, "facet", request.facets.as_deref())?;
        request.series.as_ref().map_or(Ok(()), |series| checked_series(schema, series).map(drop))
    }

    /// Checks a question for groups, as [`Service::check_query`] does one for rows.
    pub fn check_aggregate(&self, request: &AggregateRequest) -> Result<()> {
        aggregate::check(self.table(&Caller::local_admin(), request.table.as_deref())?, request)
    }
}

/// Checks the page of a request, which may come from a configuration as well as from a call.
pub(crate) fn check_page(request: &QueryRequest) -> Result<()> {
    let outside = |field: &str, received: u64, expected: String| Error::OutOfBounds {
        field: field.to_owned(),
        received: received.to_string(),
        expected,
    };
    if request.page == 0 {
        return Err(outside("page", 0, "an integer from 1".to_owned()));
    }
    if request.page_size == 0 || request.page_size > MAX_PAGE_SIZE {
        let expected = format!("an integer from 1 to {MAX_PAGE_SIZE}");
        return Err(outside("pageSize", request.page_size, expected));
    }
    if request.cursor.is_some() && request.page != DEFAULT_PAGE {
        let expected = "left out when `cursor` is given".to_owned();
        return Err(outside("page", request.page, expected));
    }
    Ok(())
}

/// Gives the order of a request: the argument, or else the filter of type `sort`.
pub(crate) fn checked_sort(
    schema: &Schema,
    request: &QueryRequest,
    typed: &TypedFilters,
) -> Result<Vec<SortRequest>> {
    let sort = if request.sort.is_empty() { &typed.sort } else { &request.sort };
    let names = schema.column_names();
    match sort.iter().find(|sort| !names.contains(&sort.id)) {
        Some(unknown) => Err(Error::unknown_name("sort field", &unknown.id, &names)),
        None => Ok(sort.clone()),
    }
}

/// Checks names of fields; an empty list is as good as none, and `ms, host` is a list of two where no
/// field is called so.
pub(crate) fn checked_names(
    schema: &Schema,
    what: &'static str,
    wanted: Option<&[String]>,
) -> Result<Option<Vec<String>>> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else { return Ok(None) };
    let names = schema.column_names();
    let mut checked: Vec<String> = Vec::new();
    for given in wanted {
        let parts: Vec<String> = given.split(',').map(|part| part.trim().to_owned()).collect();
        let is_list = !names.contains(given) && parts.iter().all(|part| names.contains(part));
        for name in if is_list { &parts } else { std::slice::from_ref(given) } {
            if !names.contains(name) {
                return Err(Error::unknown_name(what, name, &names));
            }
            if !checked.contains(name) {
                checked.push(name.clone());
            }
        }
    }
    Ok(Some(checked))
}

/// Finds the zone of a call.
pub(crate) fn zone_of(name: Option<&str>) -> Result<Zone> {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(Ok(Zone::default()), Zone::named).map_err(|cause| Error::BadQuery { cause })
}

pub(crate) fn checked_series(schema: &Schema, series: &SeriesRequest) -> Result<TimeSeries> {
    let of_type = |wanted: FieldType| -> Vec<String> {
        schema
            .columns()
            .filter(|(_, field)| leaf(field).field_type == wanted)
            .map(|(name, _)| name.clone())
            .collect()
    };
    let times = of_type(FieldType::Timestamp);
    if !times.contains(&series.field) {
        return Err(Error::unknown_name("series field", &series.field, &times));
    }
    let numbers = of_type(FieldType::Number);
    if let Some(sum) = series.sum.as_ref().filter(|sum| !numbers.contains(sum)) {
        return Err(Error::unknown_name("series sum", sum, &numbers));
    }
    Ok(TimeSeries { column: series.field.clone(), bucket: series.bucket, sum: series.sum.clone() })
}
