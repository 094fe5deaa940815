//! One table that is served, and how a page of it is answered.

use std::sync::Arc;
use std::time::Instant;

use columns::{Answer, Kind, Query, Sort, Table, Value as Cell, Zone};
use model::{Access, Deadline, Warning};
use parking_lot::Mutex;

use crate::call_zone::CallZone;
use crate::cells::{CellWindow, n_shown_chars};
use crate::check::{check_page, checked_names, checked_series, checked_sort};
use crate::config::{FieldType, Operator};
use crate::cursor::SortKeys;
use crate::field_filter::Filters;
use crate::figures::without_noise;
use crate::filters::typed;
use crate::private::{Marks, is_private};
use crate::request::{Format, QueryRequest};
use crate::response::{
    DidYouMean, FacetMeta, MAX_FACET_CHARS, MAX_FACET_ROWS, QueryResponse, Series, is_long,
    rows_shown, shown_as_in_rows,
};
use crate::schema::{kind, leaf};
use crate::seal::Seal;
use crate::secret::{hide_columns, hide_facet};
use crate::zoned_series::zoned;
use crate::{Error, Result, Schema, cursor, describe};

/// How many values are suggested for one that no row has.
pub const MAX_SUGGESTIONS: usize = 5;
/// How many near values of a redacted field are looked at for some that may be shown.
const MAX_COMPARED: usize = 200;

/// The most characters of a page; rows that would go beyond it are on the next one. An answer
/// as a whole may be larger, for facets and a series are beside the page.
pub const MAX_PAGE_CHARS: usize = 60_000;
/// Quotes, colon and comma around a cell.
const CHARS_AROUND_CELL: usize = 6;

/// A table as it is served: what it holds, who may use it, and what answers.
#[derive(Clone)]
pub(crate) struct ServedTable {
    pub(crate) schema: Schema,
    pub(crate) access: Access,
    pub(crate) engine: Arc<dyn Table>,
    /// What was last found outside the closed lists, by field.
    pub(crate) unknown_values: Arc<Mutex<Option<UnknownValues>>>,
    /// Which fields of numbers hold identifiers.
    pub(crate) identifiers: Marks,
    /// What keeps tokens from being read.
    pub(crate) seal: Seal,
}

/// What is outside closed lists, by field, and when that was looked at.
pub(crate) type UnknownValues = (Instant, Vec<(String, Warning)>);

impl ServedTable {
    /// Answers `query_table`.
    pub(crate) fn query(
        &self,
        request: &QueryRequest,
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let schema = &self.schema;
        check_page(request)?;
        let zone =
            CallZone::of_call(self, request.time_zone.as_deref(), std::iter::empty(), deadline)?;
        let typed = typed(schema, &request.filters, &zone)?;
        let sort = checked_sort(schema, request, &typed)?;
        self.check_order(sort.iter().map(|sort| sort.id.as_str()), deadline)?;
        let columns = checked_names(schema, "column", request.columns.as_deref())?
            .unwrap_or_else(|| schema.column_names());
        let facets = match checked_names(schema, "facet", request.facets.as_deref())? {
            Some(facets) => facets,
            None if request.format == Format::Stats => schema.column_names(),
            None => Vec::new(),
        };
        let series =
            request.series.as_ref().map(|series| checked_series(schema, series)).transpose()?;
        if let Some(series) = &series {
            self.check_computed(&series.column, "a series", deadline)?;
        }
        if let Some(sum) = series.as_ref().and_then(|series| series.sum.as_deref()) {
            self.check_computed(sum, "a sum", deadline)?;
        }
        let fingerprint = cursor::fingerprint(&schema.name, request, &sort);
        let keys = self.sort_keys(sort.iter().map(|sort| sort.id.as_str()));
        let decode = |token: &String| cursor::decode(&fingerprint, token, keys, &self.seal);
        let after = request.cursor.as_ref().map(decode).transpose()?;
        let mut continuous = Vec::new();
        for name in facets.iter().filter(|name| is_continuous(schema, name)) {
            if self.identifier_mark(name, deadline)?.is_none() {
                continuous.push(name.clone());
            }
        }
        let query = Query {
            filters: typed.filters,
            any: typed.any,
            sort: sort
                .iter()
                .map(|sort| Sort { column: sort.id.clone(), direction: sort.direction })
                .collect(),
            offset: if after.is_some() { 0 } else { (request.page - 1) * request.page_size },
            limit: request.max_rows.unwrap_or(u64::MAX).min(request.page_size) as usize,
            after,
            continuous,
            facets,
            facet_rows: MAX_FACET_ROWS,
            columns,
            series,
        };
        let is_secret: Vec<bool> =
            query.columns.iter().map(|name| schema.is_secret(name)).collect();
        let ask = |query: &Query| {
            let mut answer = self
                .engine
                .query(query, deadline)
                .map_err(|cause| Error::of_source(&schema.name, cause))?;
            let n_marked = hide_columns(&mut answer.rows, &is_secret);
            Ok::<_, Error>((answer, n_marked))
        };
        let (mut answer, mut n_marked) = ask(&query)?;
        let n_found = answer.rows.len();
        let window = CellWindow::at(request.offset);
        let n_fitting = n_fitting_rows(&query.columns, &answer.rows, window);
        if n_fitting < n_found {
            // The shorter page is asked for again, so that `next` continues right behind it.
            let shorter =
                Query { limit: n_fitting, facets: Vec::new(), series: None, ..query.clone() };
            let (page, n_marked_of_page) = ask(&shorter)?;
            n_marked = n_marked_of_page;
            answer.rows = page.rows;
            answer.next = page.next;
        }
        let mut response = self.respond(request, &query, &answer, &fingerprint, &zone, deadline)?;
        response.n_marked += n_marked;
        let series = request.series.as_ref().map(|series| series.field.as_str());
        response.warnings.extend(zone.not_applied(&request.filters, series.into_iter()));
        if n_fitting < n_found {
            let message = format!(
                "the page was cut to {} of its {n_found} rows, since more would not fit one \
                 answer; call again with `next` as the cursor, or with a smaller pageSize",
                response.rows.len()
            );
            response.warnings.push(Warning::new("page_cut", message));
        }
        Ok(response)
    }

    fn respond(
        &self,
        request: &QueryRequest,
        query: &Query,
        answer: &Answer,
        fingerprint: &str,
        zone: &CallZone,
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let rows = rows_shown(&answer.rows);
        let mut response = QueryResponse::new(request, query.columns.clone(), rows, answer.total);
        let keys = self.sort_keys(query.sort.iter().map(|sort| sort.column.as_str()));
        let encode = |position| cursor::encode(fingerprint, position, keys, &self.seal);
        response.next = answer.next.as_ref().map(encode);
        // Cells that did not fit show as null in rows and counts, whatever the format.
        let used = used_fields(query, &request.filters);
        response.warnings.extend(describe::load_warnings(self, Some(&used), deadline));
        response.warnings.extend(describe::stranger_warnings(self, &used, deadline));
        if !query.facets.is_empty() {
            warn_of_cut_facets(&mut response.warnings, &answer.facets);
            let mut facets = Vec::new();
            for facet in &answer.facets {
                let mut shown = FacetMeta::of(facet);
                if self.schema.is_secret(&facet.column) {
                    response.n_marked += hide_facet(&mut shown);
                }
                facets.push((facet.column.clone(), shown));
            }
            response.facets = Some(facets);
        }
        if let (Some(wanted), Some(series)) = (&request.series, &answer.series) {
            let zone = zone.of_field(&wanted.field);
            let time_series = query.series.as_ref().filter(|_| *zone != Zone::default());
            let mut answer = match time_series {
                Some(wanted) => zoned(&*self.engine, query, wanted, series, zone, deadline)
                    .map_err(|cause| Error::of_source(&self.schema.name, cause))?,
                None => series.clone(),
            };
            for point in &mut answer.points {
                point.value = without_noise(point.value);
            }
            let (field, sum) = (wanted.field.clone(), wanted.sum.clone());
            let time_zone = zone.name().to_owned();
            response.series = Some(Series { field, sum, time_zone, answer });
            if series.n_without_time > 0 {
                let n_rows = series.n_without_time;
                let rows = if n_rows == 1 { "row without" } else { "rows without" };
                let message = format!("{n_rows} {rows} {} left out of the series", wanted.field);
                response.warnings.push(Warning::new("rows_without_time", message));
            }
        }
        if answer.total == 0 {
            response.did_you_mean = self.suggestions(query, answer, deadline)?;
        }
        warn_of_page(&mut response, request);
        if answer.has_changed {
            let message = "the data changed since the page before; this page continues after the \
                           same row, or after where it would be";
            response.warnings.push(Warning::new("data_changed", message));
        }
        if let Some(staleness) = self.engine.staleness() {
            response.warnings.push(Warning::new("stale_data", staleness));
        }
        let has_two_sorts = !request.sort.is_empty()
            && request.filters.names().any(|name| {
                self.schema.field(name).is_some_and(|field| field.field_type == FieldType::Sort)
            });
        if has_two_sorts {
            let message = "two orders were given; the argument `sort` was used, not the filter";
            response.warnings.push(Warning::new("two_sorts", message));
        }
        Ok(response)
    }

    /// Suggests values for those that no row of the whole table has.
    fn suggestions(
        &self,
        query: &Query,
        answer: &Answer,
        deadline: &Deadline,
    ) -> Result<Vec<DidYouMean>> {
        let mut suggestions = Vec::new();
        for unmatched in &answer.unmatched {
            let field = &query.filters[unmatched.filter_idx].column;
            if self.schema.is_secret(field) {
                continue;
            }
            let is_redacted = self.schema.is_redacted(field);
            let n_wanted = if is_redacted { MAX_COMPARED } else { MAX_SUGGESTIONS };
            let mut nearest = self
                .engine
                .nearest_values(field, &unmatched.value, n_wanted, deadline)
                .map_err(|cause| Error::of_source(&self.schema.name, cause))?;
            // That a value is near would tell its letters, one after the other.
            nearest.retain(|value| !is_redacted || !is_private(value));
            nearest.truncate(MAX_SUGGESTIONS);
            suggestions.push(DidYouMean {
                field: field.clone(),
                received: shown_as_in_rows(&unmatched.value),
                suggestions: nearest.iter().map(shown_as_in_rows).collect(),
            });
        }
        Ok(suggestions)
    }

    /// Tells whether tokens may show the values of the fields that rows are sorted by.
    fn sort_keys<'f>(&self, mut fields: impl Iterator<Item = &'f str>) -> SortKeys {
        let is_hidden = |name: &str| {
            let kind = self.schema.field(name).map(|field| kind(leaf(field).field_type));
            let may_be_private = matches!(kind, None | Some(Kind::Text | Kind::Number))
                || self.schema.is_secret(name);
            may_be_private && self.schema.is_redacted(name)
        };
        if fields.any(is_hidden) { SortKeys::Redacted } else { SortKeys::Shown }
    }
}

/// Names the fields that an answer rests on: those that it shows, filters, sorts and counts by.
fn used_fields(query: &Query, filters: &Filters) -> Vec<String> {
    let mut used: Vec<String> = query.columns.clone();
    used.extend(query.facets.iter().cloned());
    used.extend(query.sort.iter().map(|sort| sort.column.clone()));
    used.extend(filters.names().map(str::to_owned));
    let alternatives = query.any.iter().flat_map(|group| group.alternatives.iter().flatten());
    used.extend(alternatives.map(|filter| filter.column.clone()));
    if let Some(series) = &query.series {
        used.push(series.column.clone());
        used.extend(series.sum.clone());
    }
    used
}

/// Tells whether single values of a field say little: numbers and moments that are filtered by
/// range, not by membership.
fn is_continuous(schema: &Schema, name: &str) -> bool {
    schema.field(name).is_some_and(|field| {
        let is_measured =
            matches!(leaf(field).field_type, FieldType::Number | FieldType::Timestamp);
        is_measured && field.operator != Some(Operator::In)
    })
}

/// Counts the rows that one answer holds.
fn n_fitting_rows(columns: &[String], rows: &[Vec<Cell>], window: CellWindow) -> usize {
    let names: usize = columns.iter().map(|name| name.chars().count() + CHARS_AROUND_CELL).sum();
    let mut n_chars = 0;
    let n_fitting = rows.iter().take_while(|row| {
        let cells = row.iter().map(|cell| match cell.as_str() {
            Some(text) => n_shown_chars(text.chars().count(), window),
            None => {
                n_shown_chars(cell.to_row_json().to_string().chars().count(), CellWindow::at(0))
            }
        });
        n_chars += names + cells.sum::<usize>();
        n_chars <= MAX_PAGE_CHARS
    });
    n_fitting.count().max(1)
}

pub(crate) fn warn_of_page(response: &mut QueryResponse, request: &QueryRequest) {
    let is_behind = request.cursor.is_none()
        && request.page > 1
        && (request.page - 1) * request.page_size >= response.total;
    if is_behind {
        let n_pages = response.total.div_ceil(request.page_size);
        let message = format!(
            "page {} is out of range: {} rows make {n_pages} pages of {}",
            request.page, response.total, request.page_size
        );
        response.warnings.push(Warning::new("page_out_of_range", message));
    }
}

fn warn_of_cut_facets(warnings: &mut Vec<Warning>, facets: &[columns::Facet]) {
    let cut: Vec<String> = facets
        .iter()
        .filter(|facet| facet.distribution.is_none() && facet.n_values > facet.rows.len() as u64)
        .map(|facet| format!("{} ({} values)", facet.column, facet.n_values))
        .collect();
    if !cut.is_empty() {
        let message = format!(
            "facets list only the {MAX_FACET_ROWS} most frequent values of {}; total, min and max are of all",
            cut.join(", ")
        );
        warnings.push(Warning::new("facets_cut", message));
    }
    let long: Vec<&str> = facets
        .iter()
        .filter(|facet| facet.rows.iter().any(|row| is_long(&row.value)))
        .map(|facet| facet.column.as_str())
        .collect();
    if !long.is_empty() {
        let message = format!(
            "facet values of {} longer than {MAX_FACET_CHARS} characters were cut; they end in `…`",
            long.join(", ")
        );
        warnings.push(Warning::new("facet_values_cut", message));
    }
}
