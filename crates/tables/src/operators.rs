//! Filters written as an object: `{eq, not, contains, starts_with, in, min, max, is_null}`,
//! several of which must all hold.

use columns::{Range, Test, Value as Cell};

use crate::config::{Field, FieldType};
use crate::field_filter::{FieldFilter, Filters};
use crate::filters::{Tested, flag};
use crate::moments::End;
use crate::schema::leaf;
use crate::{Error, Result};

/// Reads the operators of one field.
pub(crate) fn tests(tested: &Tested<'_>, wanted: &Filters) -> Result<Vec<Test>> {
    let field = leaf(tested.field);
    let allowed = tested.field.operators();
    // An operator was named, so empty text is a value of a text field: `not: ""` is filled in.
    let named = |value: &Cell| -> Result<Vec<Cell>> {
        let may_be_empty = field.field_type == FieldType::String
            || field.values.iter().any(|known| known.is_empty());
        let is_empty_text = may_be_empty && value.as_str() == Some("");
        if is_empty_text { Ok(vec![value.clone()]) } else { tested.listed(value) }
    };
    let mut tests = Vec::new();
    for (name, operand) in wanted.iter() {
        let is_known = allowed.contains(&name);
        if !is_known {
            return Err(Error::unknown_name("operator", name, &allowed));
        }
        let is_null = || Test::AnyOf(vec![Cell::Null]);
        if operand.is_null() {
            match name {
                // Null is a value: who names it means rows without one.
                "eq" | "in" => tests.push(is_null()),
                "not" => tests.push(Test::Not(Box::new(is_null()))),
                // An end that is null is open.
                "min" | "max" => {}
                operator => {
                    let expected = "a value; rows without one are `{\"is_null\": true}`";
                    let field = format!("{}.{operator}", tested.name);
                    return Err(Error::wrong_type(&field, expected, operand));
                }
            }
            continue;
        }
        let value = match operand {
            FieldFilter::Value(value) => value,
            FieldFilter::Operators(inner) if name == "not" => {
                tests.push(negated(tested, inner)?);
                continue;
            }
            FieldFilter::Operators(_) | FieldFilter::Alternatives(_) => {
                let operator = format!("{}.{name}", tested.name);
                return Err(Error::wrong_type(&operator, "a value or a list of values", operand));
            }
        };
        match name {
            "eq" => tests.push(equal(tested, field, std::slice::from_ref(value))?),
            "in" => {
                let values = named(value)?;
                if !values.is_empty() {
                    tests.push(equal(tested, field, &values)?);
                }
            }
            "not" => {
                let (nulls, values): (Vec<Cell>, Vec<Cell>) =
                    named(value)?.into_iter().partition(|value| *value == Cell::Null);
                if !nulls.is_empty() {
                    tests.push(Test::Not(Box::new(is_null())));
                }
                if !values.is_empty() {
                    tests.push(Test::Not(Box::new(equal(tested, field, &values)?)));
                }
            }
            "contains" => {
                let text = tested.text(value)?;
                if !text.is_empty() {
                    tests.push(Test::Contains { text, case: tested.case() });
                }
            }
            "starts_with" => {
                let prefixes = tested
                    .listed(value)?
                    .iter()
                    .map(|text| tested.text(text))
                    .collect::<Result<Vec<_>>>()?;
                if prefixes.iter().any(|prefix| !prefix.is_empty()) {
                    tests.push(Test::HasPrefix(prefixes));
                }
            }
            "is_null" => {
                let is_null = is_null();
                let wants_null = flag(value).ok_or_else(|| {
                    Error::wrong_type(&format!("{}.is_null", tested.name), "true or false", operand)
                })?;
                tests.push(if wants_null { is_null } else { Test::Not(Box::new(is_null)) });
            }
            // Both ends are one range, so that a cell with several values needs one inside.
            _ => {}
        }
    }
    let end = |name: &str| match wanted.get(name) {
        Some(FieldFilter::Value(value)) if value.as_str() != Some("") => value,
        _ => &Cell::Null,
    };
    let (low, high) = (end("min"), end("max"));
    if *low != Cell::Null || *high != Cell::Null {
        let range = Range {
            low: tested.end(field, low, End::Start)?,
            high: tested.end(field, high, End::Last)?,
        };
        tested.check_order(&range, low, high)?;
        tests.push(Test::Within(vec![range]));
    }
    Ok(tests)
}

/// The opposite of one operator.
fn negated(tested: &Tested<'_>, wanted: &Filters) -> Result<Test> {
    let inner = if wanted.len() == 1 { tests(tested, wanted)? } else { Vec::new() };
    let [test] = inner.as_slice() else {
        let expected = "a value, a list of values, or one operator such as `{\"contains\": \"x\"}`";
        let received = FieldFilter::from(wanted.clone());
        return Err(Error::wrong_type(&format!("{}.not", tested.name), expected, &received));
    };
    Ok(Test::Not(Box::new(test.clone())))
}

/// Equal to one of these; a date without a time is its whole day.
fn equal(tested: &Tested<'_>, field: &Field, values: &[Cell]) -> Result<Test> {
    if field.field_type == FieldType::Timestamp {
        if values.contains(&Cell::Null) {
            let expected = "dates without null; rows without a date are another alternative: \
                            `\"any\": [{…}, {\"FIELD\": {\"is_null\": true}}]`";
            let received = Cell::List(values.to_vec()).to_json();
            return Err(Error::wrong_type(tested.name, expected, &received));
        }
        let ranges = values
            .iter()
            .map(|value| {
                let low = tested.end(field, value, End::Start)?;
                Ok(Range { low, high: tested.end(field, value, End::Last)? })
            })
            .collect::<Result<_>>()?;
        return Ok(Test::Within(ranges));
    }
    let cells = values
        .iter()
        .map(|value| if *value == Cell::Null { Ok(Cell::Null) } else { tested.cell(field, value) });
    Ok(Test::AnyOf(cells.collect::<Result<_>>()?))
}
