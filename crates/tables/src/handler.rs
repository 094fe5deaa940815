//! A table handler for other Rust programs: a schema and their own async function.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use columns::{AnyGroup, Filter, Sort, Value as Cell};

use crate::call_zone::CallZone;
use crate::check::{checked_names, checked_sort, zone_of};
use crate::filters::typed;
use crate::request::QueryRequest;
use crate::response::{FacetMeta, QueryResponse};
use crate::secret::{hide_columns, hide_facet};
use crate::served_table::warn_of_page;
use crate::{Error, Result, Schema};

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// What a mounted program's function fails with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What is asked of a mounted program.
#[derive(Debug, Clone, PartialEq)]
pub struct GetDataOptions {
    /// Conditions with their types, all of which must hold.
    pub filters: Vec<Filter>,
    /// And one alternative of each of these.
    pub any: Vec<AnyGroup>,
    /// The order of rows, most significant first; empty when none was asked for.
    pub sort: Vec<Sort>,
    /// The page, from 1.
    pub page: u64,
    /// Rows of a page.
    pub page_size: u64,
}

/// A row of a mounted program: cells by the names of fields.
pub type Row = HashMap<String, Cell>;

/// What a mounted program answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GetDataResult {
    /// The page. What is no field of the schema is not shown.
    pub rows: Vec<Row>,
    /// All rows that pass, on whatever page.
    pub total: u64,
    /// Facets over all rows that pass, when the program counts them; see
    /// [`TableHandler::with_facets`].
    pub facets: Option<Vec<(String, FacetMeta)>>,
}

/// A source of rows that somebody else writes.
///
/// Implemented for every function from [`GetDataOptions`] to a future, so a closure is enough.
pub trait GetData: Send + Sync {
    /// Gives one page of the rows that pass all filters, and how many pass in all. Called again
    /// for each query; must not block the thread. An error's text is not shown to the agent.
    fn get_data(
        &self,
        options: GetDataOptions,
    ) -> BoxFuture<'_, std::result::Result<GetDataResult, BoxError>>;
}

impl<F, A> GetData for F
where
    F: Fn(GetDataOptions) -> A + Send + Sync,
    A: Future<Output = std::result::Result<GetDataResult, BoxError>> + Send + 'static,
{
    fn get_data(
        &self,
        options: GetDataOptions,
    ) -> BoxFuture<'_, std::result::Result<GetDataResult, BoxError>> {
        Box::pin(self(options))
    }
}

/// Answers `query_table` and `describe_schema` from a program's own data.
///
/// ```
/// use tables::{
///     Field, Fields, Filters, GetDataOptions, GetDataResult, QueryRequest, Row, Schema,
///     TableHandler,
/// };
///
/// let fields = Fields::from([
///     ("level", Field::any_of(Field::string_literal(["success", "error"]))),
///     ("latency", Field::range(Field::number())),
/// ]);
/// let schema = Schema::new("requests", Some("HTTP requests".into()), fields).unwrap();
/// let handler = TableHandler::new(schema, |options: GetDataOptions| async move {
///     assert_eq!(options.page, 1);
///     let row = [("level".to_owned(), "error".into()), ("latency".to_owned(), 120.into())];
///     let rows = vec![Row::from(row)];
///     Ok(GetDataResult { rows, total: 1, facets: None })
/// });
/// # let mut future = std::pin::pin!(async {
/// let filters = Filters::from_iter([("level", "error")]);
/// let request = QueryRequest { filters, ..QueryRequest::default() };
/// let answer = handler.query(&request).await.unwrap();
/// assert_eq!(answer.columns, ["level", "latency"]);
/// assert_eq!(answer.rows, [vec!["error".into(), 120.into()]]);
/// # });
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(std::future::Future::poll(future.as_mut(), &mut context).is_ready());
/// ```
pub struct TableHandler {
    schema: Schema,
    source: Box<dyn GetData>,
    has_facets: bool,
}

impl TableHandler {
    /// Makes a handler from a schema and a function.
    pub fn new(schema: Schema, source: impl GetData + 'static) -> Self {
        TableHandler { schema, source: Box::new(source), has_facets: false }
    }

    /// Says that the function counts values: `facets` and the format `stats` are advertised, and
    /// [`GetDataResult::facets`] is shown.
    pub fn with_facets(mut self) -> Self {
        self.has_facets = true;
        self
    }

    /// Tells whether the function counts values.
    pub fn has_facets(&self) -> bool {
        self.has_facets
    }

    /// Gives the schema, from which tool definitions are made.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Answers a question for rows.
    pub async fn query(&self, request: &QueryRequest) -> Result<QueryResponse> {
        self.check_table(request.table.as_deref())?;
        let unsupported = |field: &str, received: &str| Error::OutOfBounds {
            field: field.to_owned(),
            received: received.to_owned(),
            expected: "left out: this table does not support it".to_owned(),
        };
        if let Some(cursor) = &request.cursor {
            return Err(unsupported("cursor", cursor));
        }
        if let Some(series) = &request.series {
            return Err(unsupported("series", &series.field));
        }
        if !self.has_facets && request.facets.is_some() {
            return Err(unsupported("facets", "a list of fields"));
        }
        if !self.has_facets && request.format == crate::Format::Stats {
            return Err(unsupported("format", "stats"));
        }
        let zone = zone_of(request.time_zone.as_deref())?;
        let typed = typed(&self.schema, &request.filters, &CallZone::for_all(zone))?;
        let sort = checked_sort(&self.schema, request, &typed)?
            .into_iter()
            .map(|sort| Sort { column: sort.id, direction: sort.direction })
            .collect();
        let options = GetDataOptions {
            filters: typed.filters,
            any: typed.any,
            sort,
            page: request.page,
            page_size: request.page_size,
        };
        let result = self
            .source
            .get_data(options)
            .await
            .map_err(|cause| Error::GetData { table: self.schema.name.clone(), cause })?;
        self.respond(request, result)
    }

    /// Shows the fields of the schema only: what else a row holds does not exist for agents.
    fn respond(&self, request: &QueryRequest, result: GetDataResult) -> Result<QueryResponse> {
        let columns = checked_names(&self.schema, "column", request.columns.as_deref())?
            .unwrap_or_else(|| self.schema.column_names());
        let facets = checked_names(&self.schema, "facet", request.facets.as_deref())?;
        let is_secret: Vec<bool> = columns.iter().map(|name| self.schema.is_secret(name)).collect();
        let mut rows: Vec<Vec<Cell>> = result
            .rows
            .into_iter()
            .map(|mut row| {
                let cell = |name| row.remove(name).unwrap_or(Cell::Null);
                columns.iter().map(cell).collect()
            })
            .collect();
        let n_marked = hide_columns(&mut rows, &is_secret);
        let mut response = QueryResponse::new(request, columns, rows, result.total);
        response.n_marked = n_marked;
        if request.format == crate::Format::Stats || facets.is_some() {
            let is_wanted = |name: &String| facets.as_ref().is_none_or(|list| list.contains(name));
            response.facets = result
                .facets
                .map(|facets| facets.into_iter().filter(|(name, _)| is_wanted(name)).collect());
            for (name, facet) in response.facets.iter_mut().flatten() {
                if self.schema.is_secret(name) {
                    response.n_marked += hide_facet(facet);
                }
            }
        }
        warn_of_page(&mut response, request);
        Ok(response)
    }

    /// Checks that a call names this table, or none.
    pub fn check_table(&self, name: Option<&str>) -> Result<()> {
        match name {
            Some(name) if name != self.schema.name => Err(Error::UnknownTable {
                received: name.to_owned(),
                allowed: vec![self.schema.name.clone()],
                did_you_mean: None,
            }),
            _ => Ok(()),
        }
    }
}
