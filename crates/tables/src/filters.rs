//! From the filters of a call to tests on cells: every value is checked against its field, and
//! milliseconds or dates become points in time.
//!
//! A filter is a plain value, as the field's type says, or an object of operators ([`operators`]).
//! `any` beside the fields holds alternatives.

use std::slice;

use columns::{AnyGroup, Case, Direction, Filter, Range, Test, Value as Cell, Zone};

use crate::call_zone::CallZone;
use crate::config::{Field, FieldType, Operator};
use crate::field_filter::{FieldFilter, Filters};
use crate::moments::{End, moment};
use crate::operators;
use crate::request::SortRequest;
use crate::schema::{is_redacted, leaf};
use crate::secret::seen;
use crate::{Error, Result, Schema};

/// The most values of one filter.
pub const MAX_FILTER_VALUES: usize = 1000;
/// The longest text of a filter.
pub const MAX_FILTER_CHARS: usize = 10_000;
/// The most alternatives of one `any`.
pub const MAX_ALTERNATIVES: usize = 50;
/// The name beside the fields that holds alternatives.
pub(crate) const ANY: &str = "any";

/// The filters of a call with their types.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TypedFilters {
    /// Conditions, all of which must hold. Filters that are null, empty arrays or empty texts that
    /// the schema does not list ask for nothing and are left out.
    pub(crate) filters: Vec<Filter>,
    /// And one alternative of each of these.
    pub(crate) any: Vec<AnyGroup>,
    /// The order, where the schema has a field of type `sort` and the call used it.
    pub(crate) sort: Vec<SortRequest>,
}

/// Checks filters against the schema. Days are those of the zone.
pub(crate) fn typed(schema: &Schema, filters: &Filters, zone: &CallZone) -> Result<TypedFilters> {
    let mut typed = TypedFilters::default();
    for (name, wanted) in filters.iter() {
        let field = schema.field(name);
        if field.is_none() && name == ANY {
            typed.any.extend(alternatives(schema, wanted, zone)?);
            continue;
        }
        let field =
            field.ok_or_else(|| Error::unknown_name("filter", name, &schema.filter_names()))?;
        if wanted.is_null() {
            continue;
        }
        if field.field_type == FieldType::Sort {
            typed.sort = sort(wanted)?;
            continue;
        }
        let tests = Tested { name, field, zone: zone.of_field(name) };
        let is_redacted = is_redacted(field);
        typed.filters.extend(tests.of(wanted)?.into_iter().map(|test| {
            if schema.is_secret(name) {
                return Filter::new(name, seen(&test));
            }
            let filter = Filter::new(name, test);
            // What rows do not show, no condition tells either.
            if is_redacted { filter.of_shown() } else { filter }
        }));
    }
    Ok(typed)
}

/// Reads one order, or a list of them, where a filter is an order.
fn sort(wanted: &FieldFilter) -> Result<Vec<SortRequest>> {
    match wanted {
        FieldFilter::Operators(one) => Ok(vec![sort_request(one)?]),
        FieldFilter::Alternatives(list) => list.iter().map(sort_request).collect(),
        // A field's name alone sorts upwards.
        FieldFilter::Value(value) => {
            let names = if let Cell::List(names) = value { names } else { slice::from_ref(value) };
            names
                .iter()
                .map(|name| {
                    let id = name.as_str();
                    let id = id.ok_or_else(|| wrong_value("sort", "`{id, desc}`", name))?;
                    Ok(SortRequest { id: id.to_owned(), direction: Direction::Ascending })
                })
                .collect()
        }
    }
}

/// Reads `{id, desc}`.
fn sort_request(wanted: &Filters) -> Result<SortRequest> {
    let mut id = None;
    let mut direction = Direction::Ascending;
    for (name, wanted) in wanted.iter() {
        match (name, wanted) {
            ("id", FieldFilter::Value(Cell::Text(field))) => id = Some(field),
            ("id", other) => return Err(Error::wrong_type("sort.id", "a string", other)),
            ("desc", FieldFilter::Value(Cell::Null)) => {}
            ("desc", FieldFilter::Value(Cell::Boolean(is_descending))) => {
                direction =
                    if *is_descending { Direction::Descending } else { Direction::Ascending };
            }
            ("desc", other) => return Err(Error::wrong_type("sort.desc", "true or false", other)),
            (unknown, _) => {
                return Err(Error::unknown_name("key of sort", unknown, &["id", "desc"]));
            }
        }
    }
    let id = id.ok_or_else(|| {
        let received = FieldFilter::from(wanted.clone());
        Error::wrong_type("sort", "`{id, desc}` with an `id`", &received)
    })?;
    Ok(SortRequest { id: id.clone(), direction })
}

fn alternatives(
    schema: &Schema,
    wanted: &FieldFilter,
    zone: &CallZone,
) -> Result<Option<AnyGroup>> {
    let list = match wanted {
        FieldFilter::Alternatives(list) => list.as_slice(),
        // One value where a list is expected is a list of one.
        FieldFilter::Operators(one) => slice::from_ref(one),
        FieldFilter::Value(Cell::Null) => return Ok(None),
        FieldFilter::Value(Cell::List(list)) if list.is_empty() => return Ok(None),
        FieldFilter::Value(_) => {
            let expected = "a list of filter objects, of which one must hold";
            return Err(Error::wrong_type(ANY, expected, wanted));
        }
    };
    if list.len() > MAX_ALTERNATIVES {
        return Err(Error::OutOfBounds {
            field: ANY.to_owned(),
            received: format!("{} alternatives", list.len()),
            expected: format!("at most {MAX_ALTERNATIVES} alternatives"),
        });
    }
    let alternatives = list
        .iter()
        .map(|fields| {
            let inner = typed(schema, fields, zone)?;
            if !inner.any.is_empty() || !inner.sort.is_empty() {
                let received = FieldFilter::from(fields.clone());
                let expected = "fields only: no `any` or sort inside";
                return Err(Error::wrong_type(ANY, expected, &received));
            }
            Ok(inner.filters)
        })
        .collect::<Result<_>>()?;
    Ok(Some(AnyGroup { alternatives }))
}

/// A field whose filter is read.
pub(crate) struct Tested<'f> {
    pub(crate) name: &'f str,
    pub(crate) field: &'f Field,
    pub(crate) zone: &'f Zone,
}

impl Tested<'_> {
    fn of(&self, wanted: &FieldFilter) -> Result<Vec<Test>> {
        let value = match wanted {
            FieldFilter::Operators(operators) => return operators::tests(self, operators),
            FieldFilter::Alternatives(_) => {
                let expected = "a value, a list of values, or operators";
                return Err(Error::wrong_type(self.name, expected, wanted));
            }
            FieldFilter::Value(value) => value,
        };
        let test = match self.field.field_type {
            FieldType::String => {
                let text = self.text(value)?;
                (!text.is_empty()).then(|| Test::Contains { text, case: self.case() })
            }
            FieldType::Number | FieldType::Boolean | FieldType::StringLiteral => {
                let listed = self.listed(value)?;
                let is_absent = value.as_str() == Some("") && listed.is_empty();
                let one = if let [one] = listed.as_slice() { one } else { value };
                if is_absent { None } else { Some(Test::AnyOf(vec![self.cell(self.field, one)?])) }
            }
            FieldType::Timestamp if value.as_str() == Some("") => None,
            FieldType::Timestamp => Some(Test::Within(vec![self.range(self.field, &[value])?])),
            FieldType::Array => self.array_test(value)?,
            FieldType::Sort => None,
        };
        Ok(test.into_iter().collect())
    }

    fn array_test(&self, value: &Cell) -> Result<Option<Test>> {
        let field = self.field;
        let items = field.items.as_deref().expect("a checked array has items");
        let values = self.listed(value)?;
        if values.is_empty() {
            return Ok(None);
        }
        let is_nested = items.field_type == FieldType::Array;
        let is_range = field.operator == Some(Operator::Range);
        let leaf = leaf(field);
        Ok(Some(match (is_range, is_nested) {
            (true, false) => {
                Test::Within(vec![self.range(leaf, &values.iter().collect::<Vec<_>>())?])
            }
            (true, true) => Test::Within(
                values
                    .iter()
                    .map(|pair| self.range(leaf, &self.listed(pair)?.iter().collect::<Vec<_>>()))
                    .collect::<Result<_>>()?,
            ),
            (false, false) if leaf.field_type == FieldType::Timestamp => Test::Within(
                values.iter().map(|value| self.range(leaf, &[value])).collect::<Result<_>>()?,
            ),
            (false, false) => Test::AnyOf(
                values.iter().map(|value| self.cell(leaf, value)).collect::<Result<_>>()?,
            ),
            (false, true) => Test::HoldsAll(
                values
                    .iter()
                    .map(|list| {
                        self.listed(list)?.iter().map(|value| self.cell(leaf, value)).collect()
                    })
                    .collect::<Result<_>>()?,
            ),
        }))
    }

    pub(crate) fn case(&self) -> Case {
        let ignores = self.field.ignore_case || leaf(self.field).ignore_case;
        if ignores { Case::Ignored } else { Case::Sensitive }
    }

    /// One value is itself, or its whole day, month or year for a timestamp; two are an inclusive range, in
    /// which null leaves an end open.
    pub(crate) fn range(&self, field: &Field, values: &[&Cell]) -> Result<Range> {
        match values {
            [value] if field.field_type == FieldType::Timestamp => {
                let (first, last) =
                    (self.moment(value, End::Start)?, self.moment(value, End::Last)?);
                // A year or a month is all of its days; a point in time is its day.
                let is_point = first == last;
                let (first, last) = if is_point { self.zone.day_of(first) } else { (first, last) };
                Ok(Range { low: Cell::Timestamp(first), high: Cell::Timestamp(last) })
            }
            [value] => {
                let value = self.cell(field, value)?;
                Ok(Range { low: value.clone(), high: value })
            }
            [low, high] => {
                let range = Range {
                    low: self.end(field, low, End::Start)?,
                    high: self.end(field, high, End::Last)?,
                };
                self.check_order(&range, low, high)?;
                Ok(range)
            }
            others => Err(Error::WrongType {
                field: self.name.to_owned(),
                expected: "`[value]` or `[min, max]`".to_owned(),
                received: Cell::List(others.iter().map(|value| (*value).clone()).collect())
                    .to_json()
                    .to_string(),
            }),
        }
    }

    /// Reads one end of a range; null and empty text leave it open.
    pub(crate) fn end(&self, field: &Field, value: &Cell, end: End) -> Result<Cell> {
        if *value == Cell::Null || value.as_str() == Some("") {
            return Ok(Cell::Null);
        }
        match field.field_type {
            FieldType::Timestamp => self.moment(value, end).map(Cell::Timestamp),
            FieldType::String
            | FieldType::Number
            | FieldType::Boolean
            | FieldType::StringLiteral
            | FieldType::Array
            | FieldType::Sort => self.cell(field, value),
        }
    }

    pub(crate) fn check_order(&self, range: &Range, low: &Cell, high: &Cell) -> Result<()> {
        let is_empty = match (&range.low, &range.high) {
            (Cell::Integer(low), Cell::Integer(high))
            | (Cell::Timestamp(low), Cell::Timestamp(high)) => low > high,
            (low, high) => low.is_above(high),
        };
        if is_empty {
            return Err(Error::EmptyRange {
                field: self.name.to_owned(),
                start: low.to_json().to_string(),
                end: high.to_json().to_string(),
            });
        }
        Ok(())
    }

    fn moment(&self, value: &Cell, end: End) -> Result<i64> {
        moment(value, self.zone, end).ok_or_else(|| {
            let expected = "ISO 8601 dates or Unix timestamps in milliseconds";
            wrong_value(self.name, expected, value)
        })
    }

    /// Reads a value of the field's type. What converts without loss is converted.
    pub(crate) fn cell(&self, field: &Field, value: &Cell) -> Result<Cell> {
        let name = self.name;
        if matches!(value, Cell::List(_)) {
            let expected = "one value, `{in: […]}` for any of several, or `{min, max}` for a range";
            return Err(wrong_value(name, expected, value));
        }
        match field.field_type {
            FieldType::Number => number(value).ok_or_else(|| wrong_value(name, "numbers", value)),
            FieldType::Timestamp => self.moment(value, End::Start).map(Cell::Timestamp),
            FieldType::Boolean => flag(value)
                .map(Cell::Boolean)
                .ok_or_else(|| wrong_value(name, "true or false", value)),
            FieldType::StringLiteral => {
                let text = self.text(value)?;
                if field.values.contains(&text) {
                    return Ok(Cell::Text(text));
                }
                Err(Error::not_allowed(name, &text, &field.values))
            }
            FieldType::String | FieldType::Array | FieldType::Sort => {
                Ok(Cell::Text(self.text(value)?))
            }
        }
    }

    pub(crate) fn text(&self, value: &Cell) -> Result<String> {
        let text = match value {
            Cell::Text(text) => text.clone(),
            Cell::Decimal(number) => number.to_string(),
            Cell::Integer(_) | Cell::Real(_) => value.to_json().to_string(),
            Cell::Null | Cell::Boolean(_) | Cell::Timestamp(_) | Cell::List(_) => {
                return Err(wrong_value(self.name, "a string", value));
            }
        };
        let n_chars = text.chars().count();
        if n_chars > MAX_FILTER_CHARS {
            return Err(Error::OutOfBounds {
                field: self.name.to_owned(),
                received: format!("{n_chars} characters"),
                expected: format!("at most {MAX_FILTER_CHARS} characters"),
            });
        }
        Ok(text)
    }

    /// Takes a list, or one value for a list of one; empty text asks for nothing, unless it is one
    /// of the values that the schema lists.
    pub(crate) fn listed(&self, value: &Cell) -> Result<Vec<Cell>> {
        let is_value = || leaf(self.field).values.iter().any(|known| known.is_empty());
        let values = match value {
            Cell::List(values) => values.clone(),
            Cell::Text(text) if text.is_empty() && !is_value() => Vec::new(),
            one @ (Cell::Null
            | Cell::Text(_)
            | Cell::Integer(_)
            | Cell::Real(_)
            | Cell::Decimal(_)
            | Cell::Boolean(_)
            | Cell::Timestamp(_)) => vec![one.clone()],
        };
        if values.len() > MAX_FILTER_VALUES {
            return Err(Error::OutOfBounds {
                field: self.name.to_owned(),
                received: format!("{} values", values.len()),
                expected: format!("at most {MAX_FILTER_VALUES} values"),
            });
        }
        Ok(values)
    }
}

/// Reads true or false, also where it is written as text.
pub(crate) fn flag(value: &Cell) -> Option<bool> {
    match value {
        Cell::Boolean(flag) => Some(*flag),
        Cell::Text(text) => text.to_ascii_lowercase().parse().ok(),
        Cell::Null
        | Cell::Integer(_)
        | Cell::Real(_)
        | Cell::Decimal(_)
        | Cell::Timestamp(_)
        | Cell::List(_) => None,
    }
}

fn number(value: &Cell) -> Option<Cell> {
    match value {
        Cell::Integer(_) | Cell::Real(_) | Cell::Decimal(_) => Some(value.clone()),
        Cell::Text(text) => Cell::number(text),
        Cell::Null | Cell::Boolean(_) | Cell::Timestamp(_) | Cell::List(_) => None,
    }
}

fn wrong_value(field: &str, expected: &str, received: &Cell) -> Error {
    Error::wrong_type(field, expected, &received.to_json())
}
