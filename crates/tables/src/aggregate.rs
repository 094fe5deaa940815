//! `aggregate_table`: measures of groups of rows, exact, without SQL.

use std::collections::HashSet;

use columns::{
    Aggregate, Calendar, GroupBy, Grouping, Having, Measure, Op, Output, OutputSort, Value as Cell,
    Zone,
};
use model::{Deadline, Warning};

use crate::call_zone::CallZone;
use crate::cells::{CellWindow, CutCells, ShowPiece};
use crate::check::zone_of;
use crate::config::{Field, FieldType};
use crate::describe::{load_warnings, stranger_warnings};
use crate::field_filter::{FieldFilter, Filters};
use crate::figures::{LONG_NUMBERS, figure_warnings, rounded};
use crate::filters::{Tested, typed};
use crate::operators;
use crate::private::put_marks;
use crate::request::SortRequest;
use crate::response::as_in_rows;
use crate::schema::leaf;
use crate::secret::hide_columns;
use crate::served_table::ServedTable;
use crate::{Error, Result, cursor};

/// Groups of an answer when the call does not say.
pub const DEFAULT_GROUPS: usize = 50;
/// The most groups of an answer.
pub const MAX_GROUPS: usize = 500;
/// The most fields that rows are grouped by.
pub const MAX_GROUPINGS: usize = 4;
/// The most measures of one call.
pub const MAX_MEASURES: usize = 20;

/// A call of `aggregate_table`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AggregateRequest {
    /// The table, where several are served.
    pub table: Option<String>,
    /// Filters by field, as the call gave them.
    pub filters: Filters,
    /// What makes a group; one group of all rows without any.
    pub group_by: Vec<GroupRequest>,
    /// What is measured; rows are counted without any.
    pub measures: Vec<MeasureRequest>,
    /// Conditions on measures by their names, in the operators of filters.
    pub having: Filters,
    /// The order, by names of groups and measures; ascending by group without one.
    pub sort: Vec<SortRequest>,
    /// The most groups; [`DEFAULT_GROUPS`] without it.
    pub limit: Option<usize>,
    /// The zone of dates in filters and of buckets that name none; UTC without one.
    pub time_zone: Option<String>,
    /// Characters of long values that are skipped: `next_offset` of the answer before.
    pub offset: usize,
    /// Where the answer before ended: the groups behind are given.
    pub cursor: Option<String>,
}

/// A part of what makes a group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupRequest {
    /// By its name in the schema.
    pub field: String,
    /// The bucket, for a timestamp.
    pub bucket: Option<Calendar>,
    /// The zone of the bucket.
    pub time_zone: Option<String>,
    /// The width of ranges, for a number.
    pub width: Option<f64>,
}

/// One figure of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasureRequest {
    /// What is computed.
    pub op: Op,
    /// Of which field; a count goes without one.
    pub field: Option<String>,
    /// Its name in the answer.
    pub name: Option<String>,
}

/// The answer: rows of groups and measures.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateResponse {
    /// The names of the cells of a row: groups, then measures.
    pub columns: Vec<String>,
    /// The field that each is a value of, or is computed from; none for a count.
    pub fields: Vec<Option<String>>,
    /// How many of them are groups.
    pub n_groupings: usize,
    /// One row for each group; values are whole until [`AggregateResponse::show`].
    pub rows: Vec<Vec<Cell>>,
    /// Which characters of long values were asked for.
    pub window: CellWindow,
    /// Where long values go on, once they are shown in pieces.
    pub next_offset: Option<usize>,
    /// Groups before the first row.
    pub n_before: usize,
    /// The figures that several rows went into, by row and column: they are no row's value.
    pub(crate) of_many: HashSet<(usize, usize)>,
    /// Figures in whose place a mark is, since they are computed from what is redacted.
    pub n_marked: usize,
    /// What names the group of each row in a cursor.
    keys: Vec<String>,
    /// Groups that pass `having`, before the limit.
    pub total_groups: u64,
    /// Rows that pass the filters.
    pub total_rows: u64,
    /// The zone of the buckets, when there are any.
    pub time_zone: Option<String>,
    /// What went less than perfectly.
    pub warnings: Vec<Warning>,
}

impl AggregateResponse {
    /// Gives the token that goes on behind the first `n_rows`; none when that are all groups.
    pub fn next_after(&self, n_rows: usize) -> Option<String> {
        let n_before = self.n_before + n_rows;
        let key = self.keys.get(n_rows.checked_sub(1)?)?;
        (n_before < self.total_groups as usize).then(|| cursor::encode_group(key, n_before))
    }

    /// Leaves of every value what is in the window, as [`crate::QueryResponse::show`] does.
    pub fn show(&mut self, window: CellWindow, piece: &mut ShowPiece<'_>) {
        let cut = CutCells::cut(&self.columns, &mut self.rows, window, piece);
        if let Some((next, warning)) = cut.rest(window) {
            self.next_offset = next;
            self.warnings.push(warning);
        }
    }
}

/// Answers a request.
pub(crate) fn aggregate(
    table: &ServedTable,
    request: &AggregateRequest,
    deadline: &Deadline,
) -> Result<AggregateResponse> {
    let groups = request.group_by.iter();
    let zones_of_groups = groups.clone().filter_map(|group| group.time_zone.as_deref());
    let zone = CallZone::of_call(table, request.time_zone.as_deref(), zones_of_groups, deadline)?;
    let (mut wanted, columns, zones) = plan(table, request, &zone)?;
    let marks = table.measure_marks(&wanted, &columns, deadline)?;
    table.check_group_order(&mut wanted, &columns, deadline)?;
    let limit = wanted.limit;
    let n_asked = wanted.measures.len();
    let counted = count_values(&mut wanted);
    let after = request.cursor.as_deref().map(cursor::decode_group).transpose()?;
    if after.is_some() {
        // The group that the page before ended with may be further down by now.
        wanted.limit = usize::MAX;
    }
    let mut answer = table
        .engine
        .aggregate(&wanted, deadline)
        .map_err(|cause| Error::of_source(&table.schema.name, cause))?;
    let n_groupings = wanted.group_by.len();
    let key_of = |row: &Vec<Cell>| {
        let group = &row[..n_groupings.min(row.len())];
        cursor::group_key(group, &table.seal)
    };
    let n_before = match &after {
        None => 0,
        Some((key, n_before)) => {
            let place = answer.rows.iter().position(|row| Some(key_of(row)) == *key);
            place.map_or(*n_before, |place| place + 1).min(answer.rows.len())
        }
    };
    answer.rows = answer.rows.drain(n_before..).take(limit).collect();
    let of_many = take_counts(&mut wanted, n_asked, &mut answer.rows, &counted);
    let groups_used = wanted.group_by.iter().map(|group| group.column.clone());
    let measured = wanted.measures.iter().filter_map(|measure| measure.column.clone());
    let filters = wanted.filters.iter();
    let alternatives = wanted.any.iter().flat_map(|group| group.alternatives.iter().flatten());
    let filtered = filters.chain(alternatives).map(|filter| filter.column.clone());
    let used: Vec<String> = groups_used.chain(measured).chain(filtered).collect();
    let mut warnings = load_warnings(table, Some(&used), deadline);
    warnings.extend(stranger_warnings(table, &used, deadline));
    if answer.total_groups > (n_before + answer.rows.len()) as u64 {
        let message = format!(
            "{} of {} groups are shown; raise `limit` (at most {MAX_GROUPS}), filter with \
             `having`, or sort so that the wanted ones come first",
            answer.rows.len(),
            answer.total_groups
        );
        warnings.push(Warning::new("groups_cut", message));
    }
    let bucketed = groups.filter(|group| group.bucket.is_some());
    warnings.extend(zone.not_applied(&request.filters, bucketed.map(|group| group.field.as_str())));
    if let Some(staleness) = table.engine.staleness() {
        warnings.push(Warning::new("stale_data", staleness));
    }
    let mut rows: Vec<Vec<Cell>> = answer
        .rows
        .iter()
        .map(|row| {
            let cells = row.iter().enumerate();
            let op = |at: usize| Some(wanted.measures.get(at.checked_sub(n_groupings)?)?.op);
            cells.map(|(at, cell)| as_in_rows(&rounded(cell, op(at)))).collect()
        })
        .collect();
    let is_secret: Vec<bool> =
        wanted.group_by.iter().map(|group| table.schema.is_secret(&group.column)).collect();
    let n_marked = hide_columns(&mut rows, &is_secret) + put_marks(&mut rows, n_groupings, &marks);
    // What is said of the figures need not be said of the fields.
    warnings.retain(|warning| warning.code != LONG_NUMBERS);
    warnings.extend(figure_warnings(&wanted, &columns, &answer.rows));
    let groups = wanted.group_by.iter().map(|group| Some(group.column.clone()));
    let measures = wanted.measures.iter().map(|measure| {
        // The sum, mean or median of one row is its value.
        let is_value = !matches!(measure.op, Op::Count | Op::CountDistinct);
        measure.column.clone().filter(|_| is_value)
    });
    Ok(AggregateResponse {
        fields: groups.chain(measures).collect(),
        keys: answer.rows.iter().map(key_of).collect(),
        of_many,
        n_marked,
        n_before,
        n_groupings,
        columns,
        rows,
        window: CellWindow::at(request.offset),
        next_offset: None,
        total_groups: answer.total_groups,
        total_rows: answer.total_rows,
        time_zone: (!zones.is_empty()).then(|| zones.join(", ")),
        warnings,
    })
}

/// A sum or mean, and the measure that counts what went into it.
struct Counted {
    measure_idx: usize,
    count_idx: usize,
}

/// Has the values counted that sums and means are made of, behind the measures of the call.
fn count_values(wanted: &mut Aggregate) -> Vec<Counted> {
    let mut counted = Vec::new();
    for measure_idx in 0..wanted.measures.len() {
        let measure = &wanted.measures[measure_idx];
        if !matches!(measure.op, Op::Sum | Op::Avg) {
            continue;
        }
        let count = Measure { op: Op::Count, column: measure.column.clone() };
        let known = wanted.measures.iter().position(|measure| *measure == count);
        let count_idx = known.unwrap_or_else(|| {
            wanted.measures.push(count);
            wanted.measures.len() - 1
        });
        counted.push(Counted { measure_idx, count_idx });
    }
    counted
}

/// Takes those counts out of the answer, and gives the figures that are of several values.
fn take_counts(
    wanted: &mut Aggregate,
    n_asked: usize,
    rows: &mut [Vec<Cell>],
    counted: &[Counted],
) -> HashSet<(usize, usize)> {
    let n_groupings = wanted.group_by.len();
    let mut of_many = HashSet::new();
    for (row_idx, row) in rows.iter().enumerate() {
        for Counted { measure_idx, count_idx } in counted {
            let count = row.get(n_groupings + count_idx).and_then(Cell::as_f64);
            if count.is_some_and(|count| count > 1.0) {
                of_many.insert((row_idx, n_groupings + measure_idx));
            }
        }
    }
    wanted.measures.truncate(n_asked);
    rows.iter_mut().for_each(|row| row.truncate(n_groupings + n_asked));
    of_many
}

/// Checks a request without asking the source.
pub(crate) fn check(table: &ServedTable, request: &AggregateRequest) -> Result<()> {
    let zone = CallZone::for_all(zone_of(request.time_zone.as_deref())?);
    plan(table, request, &zone).map(drop)
}

type Planned = (Aggregate, Vec<String>, Vec<String>);

/// Turns names into places, and checks all of them.
fn plan(table: &ServedTable, request: &AggregateRequest, zone: &CallZone) -> Result<Planned> {
    let schema = &table.schema;
    let filters = typed(schema, &request.filters, zone)?;
    let names = schema.column_names();
    let known = |what: &'static str, name: &str| -> Result<&Field> {
        let field = schema.field(name).filter(|field| field.field_type != FieldType::Sort);
        field.ok_or_else(|| Error::unknown_name(what, name, &names))
    };
    check_count("group_by", request.group_by.len(), MAX_GROUPINGS)?;
    check_count("measures", request.measures.len(), MAX_MEASURES)?;
    let mut columns: Vec<String> = Vec::new();
    let mut zones: Vec<String> = Vec::new();
    let mut group_by = Vec::new();
    for group in &request.group_by {
        let field = leaf(known("group_by field", &group.field)?);
        let (by, short) = grouped(group, field, zone)?;
        if let GroupBy::Calendar(_, zone_of_group) = &by
            && !zone.is_date(&group.field)
            && !zones.iter().any(|known| known == zone_of_group.name())
        {
            zones.push(zone_of_group.name().to_owned());
        }
        let name =
            if columns.contains(&short) { format!("{}_{short}", group.field) } else { short };
        columns.push(name);
        group_by.push(Grouping { column: group.field.clone(), by });
    }
    let counted = [MeasureRequest { op: Op::Count, field: None, name: None }];
    let asked = if request.measures.is_empty() { &counted[..] } else { &request.measures };
    let mut measures = Vec::new();
    for measure in asked {
        if let Some(name) = &measure.field {
            known("measure field", name)?;
        }
        let name = measure.name.clone().unwrap_or_else(|| match &measure.field {
            Some(field) => format!("{}_{field}", measure.op.name()),
            None => measure.op.name(),
        });
        if columns.contains(&name) {
            return Err(Error::BadAggregate {
                problem: format!("two columns are named `{name}`: give one another name with `as`"),
            });
        }
        columns.push(name);
        measures.push(Measure { op: measure.op, column: measure.field.clone() });
    }
    let n_groupings = group_by.len();
    let having = having(&request.having, &columns[n_groupings..], zone.of_the_call())?;
    let mut sort = Vec::new();
    for wanted in &request.sort {
        let place = columns.iter().position(|name| *name == wanted.id).or_else(|| {
            // A bucket may be named by its field, which an agent knows for sure.
            request.group_by.iter().position(|group| group.field == wanted.id)
        });
        let place = place.ok_or_else(|| Error::unknown_name("sort field", &wanted.id, &columns))?;
        let output = match place.checked_sub(n_groupings) {
            None => Output::Group(place),
            Some(place) => Output::Measure(place),
        };
        sort.push(OutputSort { output, direction: wanted.direction });
    }
    let limit = request.limit.unwrap_or(DEFAULT_GROUPS);
    if limit == 0 || limit > MAX_GROUPS {
        return Err(Error::OutOfBounds {
            field: "limit".to_owned(),
            received: limit.to_string(),
            expected: format!("an integer from 1 to {MAX_GROUPS}"),
        });
    }
    let wanted = Aggregate {
        filters: filters.filters,
        any: filters.any,
        group_by,
        measures,
        having,
        sort,
        limit,
    };
    Ok((wanted, columns, zones))
}

fn check_count(field: &str, received: usize, limit: usize) -> Result<()> {
    if received <= limit {
        return Ok(());
    }
    Err(Error::OutOfBounds {
        field: field.to_owned(),
        received: received.to_string(),
        expected: format!("at most {limit}"),
    })
}

/// Reads how a field is grouped, and how its groups are called.
fn grouped(group: &GroupRequest, field: &Field, zone: &CallZone) -> Result<(GroupBy, String)> {
    let wrong = |problem: String| Error::BadAggregate { problem };
    let is_time = field.field_type == FieldType::Timestamp;
    let is_number = field.field_type == FieldType::Number;
    match (group.bucket, group.width) {
        (Some(_), Some(_)) => Err(wrong(format!(
            "`{}` has both `bucket` and `width`: `bucket` is for timestamps, `width` for numbers",
            group.field
        ))),
        (Some(bucket), None) if is_time => {
            let zone = match &group.time_zone {
                Some(name) if !zone.is_date(&group.field) => zone_of(Some(name))?,
                Some(_) | None => zone.of_field(&group.field).clone(),
            };
            Ok((GroupBy::Calendar(bucket, zone), bucket.as_str().to_owned()))
        }
        (Some(_), None) => Err(wrong(format!(
            "`bucket` is for timestamps, and `{}` holds {}: leave it out, or use `width` for \
             numbers",
            group.field,
            field.field_type.as_str()
        ))),
        (None, Some(width)) if is_number => Ok((GroupBy::Width(width), group.field.clone())),
        (None, Some(_)) => Err(wrong(format!(
            "`width` is for numbers, and `{}` holds {}: use `bucket` for timestamps",
            group.field,
            field.field_type.as_str()
        ))),
        (None, None) => Ok((GroupBy::Value, group.field.clone())),
    }
}

/// Reads conditions on measures, which are numbers, moments or texts whatever their field.
fn having(wanted: &Filters, names: &[String], zone: &Zone) -> Result<Vec<Having>> {
    let mut all = Vec::new();
    for (name, wanted) in wanted.iter() {
        let measure_idx = names
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| Error::unknown_name("measure in having", name, names))?;
        if wanted.is_null() {
            continue;
        }
        let field = Field::number();
        let tested = Tested { name, field: &field, zone };
        let tests = match wanted {
            FieldFilter::Operators(operators) => operators::tests(&tested, operators)?,
            value @ (FieldFilter::Value(_) | FieldFilter::Alternatives(_)) => {
                operators::tests(&tested, &Filters::from_iter([("eq", value.clone())]))?
            }
        };
        all.extend(tests.into_iter().map(|test| Having { measure_idx, test }));
    }
    Ok(all)
}
