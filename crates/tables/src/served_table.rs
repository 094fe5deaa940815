//! One table that is served, and how a page of it is answered.

use std::sync::Arc;

use columns::{Answer, Query, Sort, Table, Value as Cell, Zone};
use model::{Access, Deadline, Warning};

use crate::aggregate::without_noise;
use crate::cells::{CellWindow, n_shown_chars};
use crate::check::{check_page, checked_names, checked_series, checked_sort, zone_of};
use crate::config::{FieldType, Operator};
use crate::filters::typed;
use crate::request::{Format, QueryRequest};
use crate::response::{
    DidYouMean, FacetMeta, MAX_FACET_CHARS, MAX_FACET_ROWS, QueryResponse, Series, is_long,
    rows_shown, shown_as_in_rows,
};
use crate::schema::leaf;
use crate::zoned_series::zoned;
use crate::{Error, Result, Schema, cursor, describe};

/// How many values are suggested for one that no row has.
pub const MAX_SUGGESTIONS: usize = 5;

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
}

impl ServedTable {
    /// Answers `query_table`.
    pub(crate) fn query(
        &self,
        request: &QueryRequest,
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let schema = &self.schema;
        check_page(request)?;
        let zone = zone_of(request.time_zone.as_deref())?;
        let typed = typed(schema, &request.filters, &zone)?;
        let sort = checked_sort(schema, request, &typed)?;
        let columns = checked_names(schema, "column", request.columns.as_deref())?
            .unwrap_or_else(|| schema.column_names());
        let facets = match checked_names(schema, "facet", request.facets.as_deref())? {
            Some(facets) => facets,
            None if request.format == Format::Stats => schema.column_names(),
            None => Vec::new(),
        };
        let series =
            request.series.as_ref().map(|series| checked_series(schema, series)).transpose()?;
        let fingerprint = cursor::fingerprint(&schema.name, request, &sort);
        let after =
            request.cursor.as_ref().map(|token| cursor::decode(&fingerprint, token)).transpose()?;
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
            continuous: facets.iter().filter(|name| is_continuous(schema, name)).cloned().collect(),
            facets,
            facet_rows: MAX_FACET_ROWS,
            columns,
            series,
        };
        let ask = |query: &Query| {
            self.engine
                .query(query, deadline)
                .map_err(|cause| Error::of_source(&schema.name, cause))
        };
        let mut answer = ask(&query)?;
        let n_found = answer.rows.len();
        let window = CellWindow::at(request.offset);
        let n_fitting = n_fitting_rows(&query.columns, &answer.rows, window);
        if n_fitting < n_found {
            // The shorter page is asked for again, so that `next` continues right behind it.
            let shorter =
                Query { limit: n_fitting, facets: Vec::new(), series: None, ..query.clone() };
            let page = ask(&shorter)?;
            answer.rows = page.rows;
            answer.next = page.next;
        }
        let mut response = self.respond(request, &query, &answer, &fingerprint, deadline)?;
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
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let rows = rows_shown(&answer.rows);
        let mut response = QueryResponse::new(request, query.columns.clone(), rows, answer.total);
        response.next = answer.next.as_ref().map(|position| cursor::encode(fingerprint, position));
        // Cells that did not fit show as null in rows and counts, whatever the format.
        response.warnings.extend(describe::load_warnings(self, deadline));
        if !query.facets.is_empty() {
            warn_of_cut_facets(&mut response.warnings, &answer.facets);
            let facets =
                answer.facets.iter().map(|facet| (facet.column.clone(), FacetMeta::of(facet)));
            response.facets = Some(facets.collect());
        }
        if let (Some(wanted), Some(series)) = (&request.series, &answer.series) {
            let zone = zone_of(request.time_zone.as_deref())?;
            let time_series = query.series.as_ref().filter(|_| zone != Zone::default());
            let mut answer = match time_series {
                Some(wanted) => zoned(&*self.engine, query, wanted, series, &zone, deadline)
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
                let message = format!(
                    "{} rows have no {} and are not in the series",
                    series.n_without_time, wanted.field
                );
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
            && request.filters.keys().any(|name| {
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
            let nearest = self
                .engine
                .nearest_values(field, &unmatched.value, MAX_SUGGESTIONS, deadline)
                .map_err(|cause| Error::of_source(&self.schema.name, cause))?;
            suggestions.push(DidYouMean {
                field: field.clone(),
                received: shown_as_in_rows(&unmatched.value),
                suggestions: nearest.iter().map(shown_as_in_rows).collect(),
            });
        }
        Ok(suggestions)
    }
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
