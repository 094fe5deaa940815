//! The configured tables of a server: who may ask, what is asked, what is answered.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use columns::{
    Answer, LoadReport, Query, ReopeningTable, Sort, Table, TimeSeries, Value as Cell, Zone,
};
use model::{Access, Caller, Deadline, Warning};

use crate::aggregate::{self, AggregateRequest, AggregateResponse};
use crate::cells::{CellWindow, n_shown_chars};
use crate::check::check_page;
use crate::config::{FieldType, Operator, TableConfig};
use crate::error::did_you_mean;
use crate::export::ExportFormat;
use crate::filters::{TypedFilters, typed};
use crate::links::{ExportLink, ExportLinks};
use crate::relations::related;
use crate::request::{Format, QueryRequest, SeriesRequest, SortRequest, unknown_name};
use crate::response::{
    DidYouMean, FacetMeta, MAX_FACET_CHARS, MAX_FACET_ROWS, QueryResponse, is_long, series_to_json,
    shown_as_in_rows,
};
use crate::schema::{self, leaf};
use crate::{Error, Result, Schema, cursor, describe};

/// How many values are suggested for one that no row has.
pub const MAX_SUGGESTIONS: usize = 5;

/// The most characters of a page; rows that would go beyond it are on the next one. An answer
/// as a whole may be larger, for facets and a series are beside the page.
pub const MAX_PAGE_CHARS: usize = 60_000;
/// Quotes, colon and comma around a cell.
const CHARS_AROUND_CELL: usize = 6;

/// What the service needs to open its tables.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The tables, in the order of the configuration.
    pub tables: Vec<TableConfig>,
    /// What relative paths are relative to.
    pub base_folder: PathBuf,
    /// Where column files are kept.
    pub cache_folder: PathBuf,
    /// How long a link to an export is good.
    pub export_link_minutes: u64,
}

/// The tables of a server. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    tables: Arc<Vec<ServedTable>>,
    links: ExportLinks,
    link_lifetime: Duration,
}

pub(crate) struct ServedTable {
    pub(crate) schema: Schema,
    access: Access,
    pub(crate) engine: Arc<dyn Table>,
}

impl Service {
    /// Opens every table.
    ///
    /// Fails on the first whose schema cannot be used. A source that is away stops nothing: its
    /// calls fail as unavailable until it is back.
    pub fn open(config: ServiceConfig) -> Result<Self> {
        let mut tables: Vec<ServedTable> = Vec::new();
        for table in &config.tables {
            if tables.iter().any(|known| known.schema.name == table.name) {
                return Err(Error::DuplicateTable { table: table.name.clone() });
            }
            let (base, cache) = (&config.base_folder, &config.cache_folder);
            tables.push(open_table(table, &config.tables, base, cache)?);
        }
        let link_lifetime = Duration::from_secs(60 * config.export_link_minutes);
        Ok(Service { tables: Arc::new(tables), links: ExportLinks::default(), link_lifetime })
    }

    /// Gives the schemas of the tables that a caller may use, in the order of the
    /// configuration.
    pub fn schemas(&self, caller: &Caller) -> Vec<&Schema> {
        self.visible(caller).into_iter().map(|table| &table.schema).collect()
    }

    /// Answers `query_table`.
    pub fn query(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let table = self.table(caller, request.table.as_deref())?;
        table.query(request, deadline)
    }

    /// Answers `aggregate_table`.
    pub fn aggregate(
        &self,
        caller: &Caller,
        request: &AggregateRequest,
        deadline: &Deadline,
    ) -> Result<AggregateResponse> {
        let table = self.table(caller, request.table.as_deref())?;
        aggregate::aggregate(table, request, deadline)
    }

    /// Answers `describe_schema` in as few words as an agent needs.
    pub fn describe_briefly(
        &self,
        caller: &Caller,
        table: Option<&str>,
        deadline: &Deadline,
    ) -> Result<serde_json::Value> {
        let table = self.table(caller, table)?;
        describe::briefly(table, deadline)
    }

    /// Answers `describe_schema`.
    pub fn describe(
        &self,
        caller: &Caller,
        table: Option<&str>,
        deadline: &Deadline,
    ) -> Result<serde_json::Value> {
        let table = self.table(caller, table)?;
        describe::describe(table, deadline)
    }

    /// Tells, for each table that a caller may use, what of its source does not fit its schema.
    pub fn load_reports(
        &self,
        caller: &Caller,
        deadline: &Deadline,
    ) -> Vec<(&str, columns::Result<LoadReport>)> {
        let report = |table: &'_ ServedTable| table.engine.load_report(deadline);
        let tables = self.tables.iter().filter(|table| caller.may_use(&table.access));
        tables.map(|table| (table.schema.name.as_str(), report(table))).collect()
    }

    /// Gives who may use a table, where it exists for the caller.
    pub fn access(&self, caller: &Caller, table: Option<&str>) -> Result<&Access> {
        Ok(&self.table(caller, table)?.access)
    }

    /// Lists the tables whose source is away, each with the reason: for the operator.
    pub fn away(&self) -> Vec<(String, String)> {
        let tables = self.tables.iter();
        tables.filter_map(|table| Some((table.schema.name.clone(), table.engine.away()?))).collect()
    }

    /// Makes a link to all rows of a query, for its caller; gives its random part and how long it
    /// is good.
    ///
    /// Fails when the request is wrong, or its rows are too many for one export.
    pub fn link_export(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        format: ExportFormat,
        deadline: &Deadline,
    ) -> Result<(String, Duration)> {
        self.check_export(caller, request, deadline)?;
        let link = ExportLink { caller: caller.clone(), request: request.clone(), format };
        Ok((self.links.add(link, self.link_lifetime), self.link_lifetime))
    }

    /// Gives what a link stands for, while it is good.
    pub fn export_link(&self, token: &str) -> Option<ExportLink> {
        self.links.get(token)
    }

    /// Gives a service with one of the tables only: `/api/mcp` serves the first.
    pub fn only(&self, name: &str) -> Option<Service> {
        let table = self.tables.iter().find(|table| table.schema.name == name)?;
        let table = ServedTable {
            schema: table.schema.clone(),
            access: table.access.clone(),
            engine: table.engine.clone(),
        };
        Some(Service { tables: Arc::new(vec![table]), ..self.clone() })
    }

    /// Gives the name of the first configured table.
    pub fn first_name(&self) -> Option<&str> {
        self.tables.first().map(|table| table.schema.name.as_str())
    }

    fn visible(&self, caller: &Caller) -> Vec<&ServedTable> {
        self.tables.iter().filter(|table| caller.may_use(&table.access)).collect()
    }

    pub(crate) fn table(&self, caller: &Caller, name: Option<&str>) -> Result<&ServedTable> {
        let tables = self.visible(caller);
        let allowed = || tables.iter().map(|table| table.schema.name.clone()).collect::<Vec<_>>();
        match (name, tables.as_slice()) {
            (None, [table]) => Ok(table),
            (None, _) => Err(Error::TableRequired { allowed: allowed() }),
            (Some(name), tables) => {
                tables.iter().find(|table| table.schema.name == name).copied().ok_or_else(|| {
                    let allowed = allowed();
                    Error::UnknownTable {
                        received: name.to_owned(),
                        did_you_mean: did_you_mean(name, &allowed),
                        allowed,
                    }
                })
            }
        }
    }
}

impl ServedTable {
    fn query(&self, request: &QueryRequest, deadline: &Deadline) -> Result<QueryResponse> {
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
        let rows =
            answer.rows.iter().map(|row| row.iter().map(Cell::to_row_json).collect()).collect();
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
            response.series = Some(series_to_json(&wanted.field, wanted.sum.as_deref(), series));
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

/// Gives the order of a request: the argument, or else the filter of type `sort`.
pub(crate) fn checked_sort(
    schema: &Schema,
    request: &QueryRequest,
    typed: &TypedFilters,
) -> Result<Vec<SortRequest>> {
    let sort = if request.sort.is_empty() { &typed.sort } else { &request.sort };
    let names = schema.column_names();
    match sort.iter().find(|sort| !names.contains(&sort.id)) {
        Some(unknown) => Err(unknown_name("sort field", &unknown.id, &names)),
        None => Ok(sort.clone()),
    }
}

/// Checks names of fields; an empty list is as good as none.
pub(crate) fn checked_names(
    schema: &Schema,
    what: &'static str,
    wanted: Option<&[String]>,
) -> Result<Option<Vec<String>>> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else { return Ok(None) };
    let names = schema.column_names();
    let mut checked: Vec<String> = Vec::new();
    for name in wanted {
        if !names.contains(name) {
            return Err(unknown_name(what, name, &names));
        }
        if !checked.contains(name) {
            checked.push(name.clone());
        }
    }
    Ok(Some(checked))
}

/// Finds the zone of a call.
pub(crate) fn zone_of(name: Option<&str>) -> Result<Zone> {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(Ok(Zone::default()), Zone::named).map_err(|cause| Error::BadQuery { cause })
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
        return Err(unknown_name("series field", &series.field, &times));
    }
    let numbers = of_type(FieldType::Number);
    if let Some(sum) = series.sum.as_ref().filter(|sum| !numbers.contains(sum)) {
        return Err(unknown_name("series sum", sum, &numbers));
    }
    Ok(TimeSeries { column: series.field.clone(), bucket: series.bucket, sum: series.sum.clone() })
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

fn open_table(
    config: &TableConfig,
    tables: &[TableConfig],
    base: &Path,
    cache: &Path,
) -> Result<ServedTable> {
    let related = related(config, tables)?;
    let mut fields = config.fields.clone();
    fields.0.extend(related.fields);
    let schema = Schema::new(&config.name, config.description.clone(), fields)?;
    let spec = schema::table_spec(config, related.hidden_keys);
    let lookups = related.lookups;
    let engine = ReopeningTable::open_related(&config.source, spec, lookups, base, cache).map_err(
        |cause| match cause {
            columns::Error::Apart { .. } => Error::BadSchema {
                table: config.name.clone(),
                field: "relations".to_owned(),
                problem: cause.to_string(),
            },
            cause => Error::of_source(&config.name, cause),
        },
    )?;
    Ok(ServedTable { schema, access: config.allow.clone(), engine: Arc::new(engine) })
}
