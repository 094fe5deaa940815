//! One pass over the rows: select, count, keep the best. Nothing is computed twice, nothing is
//! sorted whole, and nothing depends on the number of threads.

mod aggregate;
#[cfg(test)]
mod aggregate_tests;
mod codes;
mod containing;
mod counts;
mod distribution;
mod figures;
mod measure;
mod page;
mod places;
mod select;
mod series;

use model::Deadline;
use rayon::prelude::*;

pub(crate) use aggregate::aggregate;
use codes::Condition;
use counts::Counts;
pub(crate) use distribution::{Plan as DistributionPlan, QUANTILES};
use page::{Order, Page};
pub(crate) use select::Selected;
use select::{BLOCK_ROWS, Conditions, Selection};
pub use series::{AUTO_POINTS, GroupQuery, GroupSum, MAX_GROUPS, MAX_POINTS, series};
use series::{SeriesPlan, Sums};
pub(crate) use series::{check_points, fill, narrowest};

use crate::query::{Answer, AnyGroup, Facet, Filter, MAX_SINGLE_VALUES, Query};
use crate::{Column, Dataset, Error, Result};

/// Tables with fewer rows are scanned by the calling thread alone.
const MIN_ROWS_PER_THREAD: usize = 128 << 10;
/// Blocks between two looks at the clock.
const BLOCKS_PER_CHECK: usize = 64;

pub(crate) fn run(dataset: &Dataset, query: &Query, deadline: &Deadline) -> Result<Answer> {
    let conditions = compile(dataset, &query.filters, &query.any)?;
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    // One more row than the page tells whether another page follows.
    let n_wanted = match query.limit {
        0 => 0,
        limit => offset.saturating_add(limit).saturating_add(1).min(dataset.n_rows()),
    };
    let order = Order::new(dataset, &query.sort, query.after.as_ref(), n_wanted)?;
    let facet_columns: Vec<&Column> =
        query.facets.iter().map(|name| dataset.column(name)).collect::<Result<_>>()?;
    let columns: Vec<&Column> =
        query.columns.iter().map(|name| dataset.column(name)).collect::<Result<_>>()?;
    let plan = query.series.as_ref().map(|series| SeriesPlan::new(dataset, series)).transpose()?;

    // Without a filter the counts of the whole table are known.
    let is_whole = conditions.is_empty();
    let counted: &[&Column] = if is_whole { &[] } else { &facet_columns };
    let needs_rows = !is_whole || n_wanted > 0 || plan.is_some();
    let rows = if needs_rows { dataset.n_rows() } else { 0 };
    let part = fold_parts(
        rows,
        deadline,
        || ThreadResult::new(counted, plan.as_ref()),
        |part, selection, start, end| {
            let selected = selection.select(&conditions, start, end);
            part.n_rows += selected.len() as u64;
            for (counts, column) in part.counts.iter_mut().zip(counted) {
                counts.add(column, selected);
            }
            part.page.add(&order, selected);
            if let (Some(sums), Some(plan)) = (&mut part.sums, &plan) {
                sums.add(plan, selected);
            }
        },
        |part, other| part.merge(&order, other),
    )?;

    let total = if is_whole { dataset.n_rows() as u64 } else { part.n_rows };
    let facets = if is_whole {
        facet_columns.iter().map(|column| facet(query, column, column.totals())).collect()
    } else {
        facet_columns
            .iter()
            .zip(part.counts)
            .map(|(column, counts)| facet(query, column, &counts.finish()))
            .collect()
    };
    let mut page = part.page.finish(&order);
    page.drain(..offset.min(page.len()));
    let has_more = page.len() > query.limit;
    page.truncate(query.limit);
    let next = match page.last() {
        Some(row) if has_more => Some(order.position(dataset, *row)),
        _ => None,
    };
    let rows =
        page.iter().map(|row| columns.iter().map(|column| column.value(*row)).collect()).collect();
    let series = match (part.sums, plan) {
        (Some(sums), Some(plan)) => Some(sums.finish(&plan)?),
        _ => None,
    };
    let unmatched = if total == 0 { unmatched(dataset, &query.filters)? } else { Vec::new() };
    Ok(Answer { rows, total, facets, series, next, unmatched, has_changed: order.has_changed })
}

/// Counts every code of a column over the whole table.
pub(crate) fn count_all(column: &Column) -> Vec<u32> {
    let n_rows = match &column.offsets {
        Some(offsets) => offsets.len() - 1,
        None => column.codes.len(),
    };
    let mut counts = Counts::new(column);
    counts.add(column, Selected::All(0, n_rows));
    counts.finish()
}

/// What one thread found.
struct ThreadResult {
    n_rows: u64,
    counts: Vec<Counts>,
    page: Page,
    sums: Option<Sums>,
}

impl ThreadResult {
    fn new(counted: &[&Column], plan: Option<&SeriesPlan<'_>>) -> Self {
        ThreadResult {
            n_rows: 0,
            counts: counted.iter().map(|column| Counts::new(column)).collect(),
            page: Page::new(),
            sums: plan.map(Sums::new),
        }
    }

    fn merge(&mut self, order: &Order<'_>, other: ThreadResult) {
        self.n_rows += other.n_rows;
        for (counts, others) in self.counts.iter_mut().zip(&other.counts) {
            counts.merge(others);
        }
        self.page.merge(order, other.page);
        if let (Some(sums), Some(others)) = (&mut self.sums, other.sums) {
            sums.merge(&others);
        }
    }
}

/// Turns counts into a facet, or into a distribution where the column is continuous.
fn facet(query: &Query, column: &Column, counts: &[u32]) -> Facet {
    let is_continuous = query.continuous.iter().any(|name| name == column.name());
    let mut facet = counts::facet(column, counts, if is_continuous { 0 } else { query.facet_rows });
    if !is_continuous {
        return facet;
    }
    if facet.n_values <= MAX_SINGLE_VALUES {
        return counts::facet(column, counts, query.facet_rows);
    }
    facet.distribution = distribution::of_counts(column, counts);
    facet
}

fn compile<'d>(
    dataset: &'d Dataset,
    filters: &[Filter],
    any: &[AnyGroup],
) -> Result<Conditions<'d>> {
    let all_of = |filters: &[Filter]| -> Result<Vec<(&'d Column, Condition)>> {
        filters
            .iter()
            .map(|filter| {
                let column = dataset.column(&filter.column)?;
                Ok((column, codes::compile(column, &filter.test, filter.sight)?))
            })
            .collect()
    };
    let any = any
        .iter()
        .map(|group| group.alternatives.iter().map(|filters| all_of(filters)).collect())
        .collect::<Result<_>>()?;
    Ok(Conditions { all: all_of(filters)?, any })
}

fn unmatched(dataset: &Dataset, filters: &[Filter]) -> Result<Vec<crate::Unmatched>> {
    let mut all = Vec::new();
    for (filter_idx, filter) in filters.iter().enumerate() {
        let column = dataset.column(&filter.column)?;
        all.extend(codes::unmatched(column, filter_idx, &filter.test, filter.sight)?);
    }
    Ok(all)
}

/// Splits the rows among threads, folds each part block by block, and joins the parts in the
/// order of the rows.
fn fold_parts<T: Send>(
    n_rows: usize,
    deadline: &Deadline,
    start: impl Fn() -> T + Sync,
    visit: impl Fn(&mut T, &mut Selection, usize, usize) + Sync,
    mut join: impl FnMut(&mut T, T),
) -> Result<T> {
    let n_parts = (n_rows / MIN_ROWS_PER_THREAD).clamp(1, rayon::current_num_threads());
    let rows_per_part = n_rows.div_ceil(n_parts).next_multiple_of(BLOCK_ROWS);
    let fold = |part_idx: usize| -> Result<T> {
        let first = part_idx * rows_per_part;
        let end = n_rows.min(first + rows_per_part);
        let mut part = start();
        let mut selection = Selection::new();
        let blocks = (first..end).step_by(BLOCK_ROWS);
        for (n_done, block) in blocks.enumerate() {
            if n_done % BLOCKS_PER_CHECK == 0 && deadline.is_over() {
                return Err(Error::TimedOut);
            }
            visit(&mut part, &mut selection, block, end.min(block + BLOCK_ROWS));
        }
        Ok(part)
    };
    if n_parts == 1 {
        return fold(0);
    }
    let parts: Vec<T> = (0..n_parts).into_par_iter().map(fold).collect::<Result<_>>()?;
    let mut parts = parts.into_iter();
    let mut whole = parts.next().expect("there is at least one part");
    for part in parts {
        join(&mut whole, part);
    }
    Ok(whole)
}
