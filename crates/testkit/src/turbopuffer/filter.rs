//! Filters: read strictly, then asked about one row after the other.

use std::cmp::Ordering;

use serde_json::Value;

use super::error::{Outcome, Refusal, array, kind, object};
use super::schema::Schema;
use super::state::Namespace;
use super::tokens;
use super::value::{Id, Kind, compare};

/// How deep filters may nest.
const MAX_DEPTH: usize = 64;

/// A condition on a row.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Test { attribute: String, test: Test },
}

/// A condition on one attribute.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Eq(Value),
    In(Vec<Value>),
    Contains(Value),
    ContainsAny(Vec<Value>),
    Order(fn(Ordering) -> bool, Value),
    AnyOrder(fn(Ordering) -> bool, Value),
    Glob { pattern: String, ignores_case: bool },
    Tokens { tokens: Vec<String>, last_is_prefix: bool, mode: Mode },
}

/// How many of the tokens have to be there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    All,
    Any,
    Sequence,
}

impl Filter {
    pub(super) fn read(schema: &Schema, value: &Value) -> Outcome<Self> {
        Filter::read_below(schema, value, 0)
    }

    fn read_below(schema: &Schema, value: &Value, depth: usize) -> Outcome<Self> {
        let wrong = || Refusal::bad_request(format!("invalid filter {value}"));
        if depth > MAX_DEPTH {
            return Err(Refusal::bad_request("filters nest too deeply"));
        }
        let items = array(value, "filters")?;
        let below = |value: &Value| Filter::read_below(schema, value, depth + 1);
        let name = items.first().and_then(Value::as_str).ok_or_else(wrong)?;
        match (name, items.as_slice()) {
            ("And" | "Or", [_, parts]) => {
                let parts = array(parts, name)?.iter().map(below).collect::<Outcome<_>>()?;
                Ok(if name == "And" { Filter::And(parts) } else { Filter::Or(parts) })
            }
            ("Not", [_, part]) => Ok(Filter::Not(Box::new(below(part)?))),
            (_, [_, operator, rest @ ..]) => {
                let operator = operator.as_str().ok_or_else(wrong)?;
                read_test(schema, name, operator, rest)
            }
            _ => Err(wrong()),
        }
    }

    pub(super) fn fits(&self, namespace: &Namespace, id: &Id) -> bool {
        match self {
            Filter::And(parts) => parts.iter().all(|part| part.fits(namespace, id)),
            Filter::Or(parts) => parts.iter().any(|part| part.fits(namespace, id)),
            Filter::Not(part) => !part.fits(namespace, id),
            Filter::Test { attribute, test } => {
                test.fits(namespace, attribute, &namespace.value(id, attribute))
            }
        }
    }
}

impl Test {
    fn fits(&self, namespace: &Namespace, attribute: &str, value: &Value) -> bool {
        let items = || value.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_same = |left: &Value, right: &Value| {
            left == right || compare(left, right) == Some(Ordering::Equal)
        };
        match self {
            Test::Eq(wanted) => is_same(value, wanted),
            Test::In(wanted) if value.is_array() => {
                items().iter().any(|item| wanted.iter().any(|wanted| is_same(item, wanted)))
            }
            Test::In(wanted) => wanted.iter().any(|wanted| is_same(value, wanted)),
            Test::Contains(wanted) => items().iter().any(|item| is_same(item, wanted)),
            Test::ContainsAny(wanted) => {
                items().iter().any(|item| wanted.iter().any(|wanted| is_same(item, wanted)))
            }
            // A row without the attribute is before every value.
            Test::Order(is_right, _) if value.is_null() => is_right(Ordering::Less),
            Test::Order(is_right, wanted) => compare(value, wanted).is_some_and(is_right),
            Test::AnyOrder(is_right, wanted) => {
                items().iter().any(|item| compare(item, wanted).is_some_and(is_right))
            }
            Test::Glob { pattern, ignores_case } => value.as_str().is_some_and(|text| {
                let text = if *ignores_case { text.to_lowercase() } else { text.to_owned() };
                glob(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())
            }),
            Test::Tokens { tokens, last_is_prefix, mode } => {
                let Ok(config) = namespace.schema.text(attribute) else { return false };
                let held = tokens::cut(config, value);
                let is_held = |(idx, token): (usize, &String)| {
                    let is_prefix = *last_is_prefix && idx + 1 == tokens.len();
                    held.iter().any(|word| match is_prefix {
                        true => word.starts_with(token.as_str()),
                        false => word == token,
                    })
                };
                match mode {
                    Mode::All => tokens.iter().enumerate().all(is_held),
                    Mode::Any => tokens.iter().enumerate().any(is_held),
                    Mode::Sequence => held.windows(tokens.len()).any(|words| words == tokens),
                }
            }
        }
    }
}

fn read_test(schema: &Schema, name: &str, operator: &str, rest: &[Value]) -> Outcome<Filter> {
    let is_about_tokens = operator.contains("Token");
    let max_operands = if is_about_tokens { 2 } else { 1 };
    let value = match rest {
        [value, ..] if rest.len() <= max_operands => value,
        _ => return Err(Refusal::bad_request(format!("invalid filter on `{name}`: {operator}"))),
    };
    let (operator, is_negated) = match operator {
        "NotEq" | "NotIn" | "NotContains" | "NotContainsAny" | "NotGlob" | "NotIGlob" => {
            (&operator[3..], true)
        }
        _ => (operator, false),
    };
    let test = if is_about_tokens {
        read_tokens(schema, name, operator, value, rest.get(1))?
    } else {
        read_plain(schema, name, operator, value)?
    };
    let test = Filter::Test { attribute: name.to_owned(), test };
    Ok(if is_negated { Filter::Not(Box::new(test)) } else { test })
}

fn read_plain(schema: &Schema, name: &str, operator: &str, value: &Value) -> Outcome<Test> {
    if matches!(operator, "Glob" | "IGlob") {
        return read_glob(schema, name, operator, value);
    }
    let kind_of_rows = match name {
        "id" => None,
        _ => Some(&schema.filterable(name)?.kind),
    };
    let is_array = matches!(kind_of_rows, Some(Kind::Array(_)));
    check_operands(name, kind_of_rows, operator, value)?;
    let needs_array = |test: Test| match is_array {
        true => Ok(test),
        false => Err(Refusal::bad_request(format!("{operator} needs an array, `{name}` is none"))),
    };
    let comparable = || {
        if value.is_null() || value.is_array() || value.is_object() {
            return Err(Refusal::bad_request(format!(
                "invalid input {} for filter {operator} on `{name}`",
                kind(value)
            )));
        }
        Ok(value.clone())
    };
    let values = || value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    Ok(match operator {
        "Eq" => Test::Eq(value.clone()),
        "In" => Test::In(values()),
        "Contains" => needs_array(Test::Contains(comparable()?))?,
        "ContainsAny" => needs_array(Test::ContainsAny(array(value, operator)?.clone()))?,
        "Lt" => Test::Order(Ordering::is_lt, comparable()?),
        "Lte" => Test::Order(Ordering::is_le, comparable()?),
        "Gt" => Test::Order(Ordering::is_gt, comparable()?),
        "Gte" => Test::Order(Ordering::is_ge, comparable()?),
        "AnyLt" => needs_array(Test::AnyOrder(Ordering::is_lt, comparable()?))?,
        "AnyLte" => needs_array(Test::AnyOrder(Ordering::is_le, comparable()?))?,
        "AnyGt" => needs_array(Test::AnyOrder(Ordering::is_gt, comparable()?))?,
        "AnyGte" => needs_array(Test::AnyOrder(Ordering::is_ge, comparable()?))?,
        "Regex" | "Fuzzy" => return Err(Refusal::unsupported(&format!("filter {operator}"))),
        _ => {
            return Err(Refusal::bad_request(format!("unknown filter operator {operator:?}")));
        }
    })
}

/// Checks that operands have the type of the attribute, or of its elements.
fn check_operands(name: &str, kind: Option<&Kind>, operator: &str, value: &Value) -> Outcome<()> {
    let takes_many = matches!(operator, "In" | "ContainsAny");
    let values = match value.as_array() {
        Some(values) if takes_many => values.as_slice(),
        Some(_) | None => std::slice::from_ref(value),
    };
    for value in values.iter().filter(|value| !value.is_null()) {
        match kind {
            None => drop(Id::read(value)?),
            Some(Kind::Array(element)) if !value.is_array() => drop(element.check(name, value)?),
            Some(kind) => drop(kind.check(name, value)?),
        }
    }
    Ok(())
}

fn read_glob(schema: &Schema, name: &str, operator: &str, value: &Value) -> Outcome<Test> {
    let attribute = schema.known(name)?;
    if !attribute.is_glob && !attribute.is_filterable {
        return Err(Refusal::bad_request(format!("attribute `{name}` has no glob index")));
    }
    let Some(pattern) = value.as_str() else {
        return Err(Refusal::bad_request(format!("{operator} on `{name}` needs a string")));
    };
    let ignores_case = operator == "IGlob";
    let pattern = if ignores_case { pattern.to_lowercase() } else { pattern.to_owned() };
    Ok(Test::Glob { pattern, ignores_case })
}

fn read_tokens(
    schema: &Schema,
    name: &str,
    operator: &str,
    value: &Value,
    params: Option<&Value>,
) -> Outcome<Test> {
    let config = schema.text(name)?;
    let is_cut_already = config.tokenizer == "pre_tokenized_array";
    if is_cut_already && !value.is_array() {
        return Err(Refusal::bad_request(format!(
            "invalid input {} for filter field {name:?}, expecting []string",
            kind(value)
        )));
    }
    let last_is_prefix = match params {
        None => false,
        Some(params) => {
            let params = object(params, "FilterParams", &["last_as_prefix"])?;
            params.get("last_as_prefix") == Some(&Value::Bool(true))
        }
    };
    let mode = match operator {
        "ContainsAllTokens" => Mode::All,
        "ContainsAnyToken" => Mode::Any,
        "ContainsTokenSequence" => Mode::Sequence,
        _ => {
            return Err(Refusal::bad_request(format!("unknown filter operator {operator:?}")));
        }
    };
    let tokens = tokens::cut(config, value);
    if tokens.is_empty() {
        return Err(Refusal::bad_request(format!("filter {operator} on `{name}` has no tokens")));
    }
    Ok(Test::Tokens { tokens, last_is_prefix, mode })
}

/// Matches `*` and `?`, which is what tests use of globs.
fn glob(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            glob(rest, text) || text.split_first().is_some_and(|(_, text)| glob(pattern, text))
        }
        (Some(('?', pattern)), Some((_, text))) => glob(pattern, text),
        (Some((wanted, pattern)), Some((char, text))) => wanted == char && glob(pattern, text),
        _ => false,
    }
}
