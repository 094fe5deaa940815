//! Requests that are checked without asking the source.

use model::Caller;

use crate::aggregate;
use crate::filters::typed;
use crate::request::{DEFAULT_PAGE, MAX_PAGE_SIZE, QueryRequest};
use crate::service::{checked_names, checked_series, checked_sort, zone_of};
use crate::views::ViewRequest;
use crate::{Error, Result, Service};

impl Service {
    /// Checks what a view would ask against its table, without asking.
    pub(crate) fn check_view(&self, request: &ViewRequest) -> Result<()> {
        let admin = Caller::local_admin();
        match request {
            ViewRequest::Query(request) => {
                let schema = &self.table(&admin, request.table.as_deref())?.schema;
                check_page(request)?;
                let typed =
                    typed(schema, &request.filters, &zone_of(request.time_zone.as_deref())?)?;
                checked_sort(schema, request, &typed)?;
                checked_names(schema, "column", request.columns.as_deref())?;
                checked_names(schema, "facet", request.facets.as_deref())?;
                request
                    .series
                    .as_ref()
                    .map_or(Ok(()), |series| checked_series(schema, series).map(drop))
            }
            ViewRequest::Aggregate(request) => {
                aggregate::check(self.table(&admin, request.table.as_deref())?, request)
            }
        }
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
