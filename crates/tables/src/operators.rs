//! Filters written as an object: `{eq, not, contains, starts_with, in, min, max, is_null}`,
//! several of which must all hold.

use columns::{Range, Test, Value as Cell};
use serde_json::{Map, Value};

use crate::config::{Field, FieldType};
use crate::filters::Tested;
use crate::moments::End;
use crate::schema::leaf;
use crate::{Error, Result};

/// Reads the operators of one field.
pub(crate) fn tests(tested: &Tested<'_>, wanted: &Map<String, Value>) -> Result<Vec<Test>> {
    let field = leaf(tested.field);
    let allowed = tested.field.operators();
    // An operator was named, so empty text is a value of a text field: `not: ""` is filled in.
    let named = |value: &Value| -> Result<Vec<Value>> {
        let may_be_empty = field.field_type == FieldType::String
            || field.values.iter().any(|known| known.is_empty());
        let is_empty_text = may_be_empty && value.as_str() == Some("");
        if is_empty_text { Ok(vec![value.clone()]) } else { tested.listed(value) }
    };
    let mut tests = Vec::new();
    for (name, value) in wanted {
        let is_known = allowed.contains(&name.as_str());
        if !is_known {
            return Err(Error::unknown_name("operator", name, &allowed));
        }
        let is_null = || Test::AnyOf(vec![Cell::Null]);
        if value.is_null() {
            match name.as_str() {
                // Null is a value: who names it means rows without one.
                "eq" | "in" => tests.push(is_null()),
                "not" => tests.push(Test::Not(Box::new(is_null()))),
                // An end that is null is open.
                "min" | "max" => {}
                operator => {
                    let expected = "a value; rows without one are `{\"is_null\": true}`";
                    let field = format!("{}.{operator}", tested.name);
                    return Err(Error::wrong_type(&field, expected, value));
                }
            }
            continue;
        }
        match name.as_str() {
            "eq" => tests.push(equal(tested, field, std::slice::from_ref(value))?),
            "in" => {
                let values = named(value)?;
                if !values.is_empty() {
                    tests.push(equal(tested, field, &values)?);
                }
            }
            "not" if value.is_object() => tests.push(negated(tested, value)?),
            "not" => {
                let (nulls, values): (Vec<Value>, Vec<Value>) =
                    named(value)?.into_iter().partition(Value::is_null);
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
                let wants_null = match value {
                    Value::String(text) => text.to_ascii_lowercase().parse().ok(),
                    other @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_)) => other.as_bool(),
                };
                let wants_null = wants_null.ok_or_else(|| {
                    Error::wrong_type(&format!("{}.is_null", tested.name), "true or false", value)
                })?;
                tests.push(if wants_null { is_null } else { Test::Not(Box::new(is_null)) });
            }
            // Both ends are one range, so that a cell with several values needs one inside.
            _ => {}
        }
    }
    let end = |name: &str| wanted.get(name).filter(|value| !value.is_null());
    if end("min").is_some() || end("max").is_some() {
        let low = end("min").unwrap_or(&Value::Null);
        let high = end("max").unwrap_or(&Value::Null);
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
fn negated(tested: &Tested<'_>, value: &Value) -> Result<Test> {
    let wanted = value.as_object().filter(|wanted| wanted.len() == 1);
    let inner = wanted.map(|wanted| tests(tested, wanted)).transpose()?.unwrap_or_default();
    let [test] = inner.as_slice() else {
        let expected = "a value, a list of values, or one operator such as `{\"contains\": \"x\"}`";
        return Err(Error::wrong_type(&format!("{}.not", tested.name), expected, value));
    };
    Ok(Test::Not(Box::new(test.clone())))
}

/// Equal to one of these; a date without a time is its whole day.
fn equal(tested: &Tested<'_>, field: &Field, values: &[Value]) -> Result<Test> {
    if field.field_type == FieldType::Timestamp {
        if values.iter().any(Value::is_null) {
            let expected = "dates without null; rows without a date are another alternative: \
                            `\"any\": [{…}, {\"FIELD\": {\"is_null\": true}}]`";
            let received = Value::from(values.to_vec());
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
        .map(|value| if value.is_null() { Ok(Cell::Null) } else { tested.cell(field, value) });
    Ok(Test::AnyOf(cells.collect::<Result<_>>()?))
}
