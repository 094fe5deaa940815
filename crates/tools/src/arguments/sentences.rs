//! What the validator finds, in sentences written for an agent: which argument, what was
//! received, what is allowed, the nearest name, and the next call to make.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::{Map, Value};

use super::forgive::fits;
use crate::{Spec, ToolError};

/// Received values are quoted in errors up to this many characters.
const QUOTED_CHARS: usize = 120;

/// Holds arguments against a schema; the first finding is the error.
pub(super) fn check(spec: &Spec, arguments: &Value) -> Result<(), ToolError> {
    let Some(validator) = spec.input.validator() else {
        return Err(ToolError::internal(format!("the schema of `{}` is wrong", spec.name)));
    };
    // Nearly every call is right, and telling that is cheaper than looking for mistakes.
    if validator.is_valid(arguments) {
        return Ok(());
    }
    // A misspelt name is said before the argument that it leaves missing.
    let finding = validator.iter_errors(arguments).min_by_key(order);
    match finding {
        Some(finding) => Err(refusal(spec, &finding)),
        None => Ok(()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library adds kinds; each has a sentence")]
fn order(finding: &ValidationError<'_>) -> (usize, usize) {
    let rank = match finding.kind() {
        Kind::AdditionalProperties { .. } => 0,
        Kind::Required { .. } => 1,
        _ => 2,
    };
    (rank, finding.instance_path().segments().count())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library adds kinds; each has a sentence")]
fn refusal(spec: &Spec, finding: &ValidationError<'_>) -> ToolError {
    let place = ArgumentPlace { spec, path: written(finding.instance_path().as_str()) };
    let received: &Value = finding.instance();
    let whole = Value::Object((**spec.input).clone());
    // The finding names the keyword; what it belongs to says what would be right.
    let keyword_at = finding.schema_path().as_str();
    let parent = keyword_at.rsplit_once('/').map_or("", |(parent, _)| parent);
    let nothing = Map::new();
    let schema = whole.pointer(parent).and_then(Value::as_object).unwrap_or(&nothing);
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    match finding.kind() {
        Kind::AdditionalProperties { unexpected } => {
            let name = unexpected.first().map_or("", String::as_str);
            let value = received.get(name).unwrap_or(&Value::Null);
            unknown(&place, name, value, properties)
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            missing(&place.member(name), properties.get(name))
        }
        Kind::Enum { .. } | Kind::Constant { .. } => not_listed(&place, schema, received),
        Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. } => {
            out_of_range(&place, schema, received, finding.kind().keyword())
        }
        Kind::MinLength { .. } | Kind::MaxLength { .. } => {
            let n_chars = received.as_str().unwrap_or_default().chars().count();
            wrong_length(&place, schema, received, n_chars as u64)
        }
        Kind::MinItems { .. } | Kind::MaxItems { .. } => {
            let n_elements = received.as_array().map_or(0, Vec::len);
            wrong_count(&place, schema, n_elements as u64)
        }
        Kind::Format { format } => {
            let plain = format!("`{}` must be a {}", place.path, format.to_uppercase());
            let allowed = format!("a {}", format.to_uppercase());
            place.refuse("format", plain, received).with_detail("allowed", allowed)
        }
        Kind::Pattern { pattern } => {
            let meant = schema.get("description").and_then(Value::as_str);
            let allowed = meant.map_or_else(|| format!("text like `{pattern}`"), str::to_owned);
            let plain = format!("`{}` must be {allowed}", place.path);
            place.refuse("pattern", plain, received).with_detail("allowed", allowed)
        }
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"));
            let branches = branches.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            no_branch(&place, branches, received, finding)
        }
        _ => wrong_type(&place, schema, received),
    }
}

/// Writes `/series/0/label` as `series[0].label`.
fn written(pointer: &str) -> String {
    let mut path = String::new();
    for segment in pointer.split('/').skip(1) {
        let segment = model::pointer_name(segment);
        if segment.bytes().all(|byte| byte.is_ascii_digit()) && !segment.is_empty() {
            path.push_str(&format!("[{segment}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&segment);
        }
    }
    path
}

/// Where in the arguments a finding is.
struct ArgumentPlace<'a> {
    spec: &'a Spec,
    path: String,
}

impl<'a> ArgumentPlace<'a> {
    fn member(&self, name: &str) -> ArgumentPlace<'a> {
        let path =
            if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        ArgumentPlace { spec: self.spec, path }
    }

    /// Puts together the error: the contract's sentence first where it gives one.
    #[expect(clippy::needless_pass_by_value, reason = "every caller has just written it")]
    fn refuse(&self, rule: &str, plain: String, received: &Value) -> ToolError {
        let sentence = self.spec.sentence(&format!("{}.{rule}", self.path));
        let message = match sentence {
            Some(sentence) => format!("{sentence}: {plain}, received {}", quote(received)),
            None => format!("{plain}, received {}", quote(received)),
        };
        let hint = match &self.spec.advice {
            Some(advice) => advice.clone(),
            None => format!("correct `{}` and call `{}` again", self.path, self.spec.name),
        };
        ToolError::bad_request(message)
            .with_detail("argument", self.path.clone())
            .with_detail("received", shorten(received))
            .with_hint(hint)
    }
}

fn missing(place: &ArgumentPlace<'_>, property: Option<&Value>) -> ToolError {
    let plain = format!("{} is required", place.path);
    let sentence = place.spec.sentence(&format!("{}.required", place.path));
    let wanted = property.map(describe).unwrap_or_default();
    let message = format!("{}: expected {wanted}", sentence.unwrap_or(&plain));
    let hint = match &place.spec.advice {
        Some(advice) => advice.clone(),
        None => format!("call `{}` again with `{}`", place.spec.name, place.path),
    };
    ToolError::bad_request(message)
        .with_detail("argument", place.path.clone())
        .with_detail("allowed", wanted)
        .with_hint(hint)
}

fn unknown(
    place: &ArgumentPlace<'_>,
    name: &str,
    value: &Value,
    properties: &Map<String, Value>,
) -> ToolError {
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    let shown: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    let name = shorten_text(name);
    let inner = place.member(&name);
    let nearest = text::nearest(&name, &known);
    let mut message = format!("unknown argument `{}`, allowed: {shown}", inner.path);
    if let Some(nearest) = nearest {
        message.push_str(&format!("; did you mean `{nearest}`?"));
    }
    let mut error = ToolError::bad_request(message)
        .with_detail("argument", inner.path.clone())
        .with_detail("received", shorten(value))
        .with_detail("allowed", known.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    if let Some(nearest) = nearest {
        error = error.with_detail("did_you_mean", nearest);
    }
    let tool = &place.spec.name;
    error.with_hint(match (&place.spec.advice, nearest) {
        (Some(advice), _) => advice.clone(),
        (None, Some(nearest)) => {
            let wanted = place.member(nearest).path;
            format!("call `{tool}` again with `{wanted}` in place of `{}`", inner.path)
        }
        (None, None) => format!("call `{tool}` again without `{}`", inner.path),
    })
}

fn wrong_type(
    place: &ArgumentPlace<'_>,
    schema: &Map<String, Value>,
    received: &Value,
) -> ToolError {
    let expected = describe(&Value::Object(schema.clone()));
    let plain = format!("`{}` must be {expected}, not {}", place.path, kind(received));
    place.refuse("type", plain, received).with_detail("allowed", expected)
}

/// Of several forms, the one that the value begins to have says what is wrong with it.
fn no_branch(
    place: &ArgumentPlace<'_>,
    branches: &[Value],
    received: &Value,
    finding: &ValidationError<'_>,
) -> ToolError {
    let begun = branches.iter().position(|branch| fits(&strings(branch.get("type")), received));
    let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = finding.kind() else {
        return wrong_type(place, &Map::new(), received);
    };
    if let Some(at) = begun
        && let Some(inner) =
            context.get(at).and_then(|findings| findings.iter().min_by_key(|f| order(f)))
    {
        let mut error = refusal(place.spec, inner);
        let others = branches.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<String> = others.map(|(_, branch)| describe(branch)).collect();
        // A value that is wrong as a whole may have been meant in another form.
        let is_whole = inner.instance_path().as_str() == finding.instance_path().as_str();
        let is_near = error.details.contains_key("did_you_mean");
        if is_whole && !is_near && !others.is_empty() && !received.is_object() {
            error.message.push_str(&format!("; it may also be {}", others.join(" or ")));
        }
        return error;
    }
    let forms: Vec<String> = branches.iter().map(describe).collect();
    let expected = forms.join(" or ");
    let plain = format!("`{}` must be {expected}, not {}", place.path, kind(received));
    place.refuse("type", plain, received).with_detail("allowed", expected)
}

fn not_listed(
    place: &ArgumentPlace<'_>,
    schema: &Map<String, Value>,
    received: &Value,
) -> ToolError {
    let allowed = match schema.get("enum") {
        Some(Value::Array(allowed)) => allowed.clone(),
        _ => schema.get("const").cloned().into_iter().collect(),
    };
    let shown: Vec<String> = allowed.iter().map(quote).collect();
    let candidates: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let nearest = received.as_str().and_then(|text| text::nearest(text, &candidates));
    let mut plain = format!("`{}` must be one of {}", place.path, shown.join(", "));
    if let Some(nearest) = nearest {
        plain.push_str(&format!(" (did you mean `{nearest}`?)"));
    }
    let mut error = place.refuse("enum", plain, received);
    if let Some(nearest) = nearest {
        error = error.with_detail("did_you_mean", nearest);
    }
    error.with_detail("allowed", allowed)
}

fn out_of_range(
    place: &ArgumentPlace<'_>,
    schema: &Map<String, Value>,
    received: &Value,
    rule: &str,
) -> ToolError {
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(minimum), Some(maximum)) => format!("from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("at least {minimum}"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => match (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")) {
            (Some(minimum), Some(maximum)) => format!("above {minimum} and below {maximum}"),
            (Some(minimum), None) => format!("above {minimum}"),
            (None, Some(maximum)) => format!("below {maximum}"),
            (None, None) => "a finite number".to_owned(),
        },
    };
    let plain = format!("`{}` must be {range}", place.path);
    place.refuse(rule, plain, received).with_detail("allowed", range)
}

fn wrong_length(
    place: &ArgumentPlace<'_>,
    schema: &Map<String, Value>,
    received: &Value,
    n_chars: u64,
) -> ToolError {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = Length { n: n_chars, least: limit("minLength"), most: limit("maxLength") };
    let refusal = length.refusal("character", ["minLength", "maxLength"]);
    let mut plain = format!("`{}` must have {}", place.path, refusal.allowed);
    // A text that is cut where it is quoted does not show how long it was.
    if refusal.rule == "maxLength" {
        plain.push_str(&format!(" and has {n_chars}"));
    }
    place.refuse(refusal.rule, plain, received).with_detail("allowed", refusal.allowed)
}

fn wrong_count(
    place: &ArgumentPlace<'_>,
    schema: &Map<String, Value>,
    n_elements: u64,
) -> ToolError {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = Length { n: n_elements, least: limit("minItems"), most: limit("maxItems") };
    let refusal = length.refusal("element", ["minItems", "maxItems"]);
    let plain = format!("`{}` must have {}", place.path, refusal.allowed);
    let received = Value::String(counted(n_elements, "element"));
    place.refuse(refusal.rule, plain, &received).with_detail("allowed", refusal.allowed)
}

/// How long a text or list is, and may be.
struct Length {
    n: u64,
    least: Option<u64>,
    most: Option<u64>,
}

/// Which rule a length breaks, and what would be right.
struct Refusal {
    rule: &'static str,
    allowed: String,
}

impl Length {
    /// Compares the length with its limits; `rules` are the names of the lower and the upper.
    fn refusal(&self, unit: &str, rules: [&'static str; 2]) -> Refusal {
        let is_short = self.least.is_some_and(|least| self.n < least);
        let rule = if is_short { rules[0] } else { rules[1] };
        let allowed = match (self.least, self.most) {
            (Some(least), Some(most)) => format!("from {least} to {}", counted(most, unit)),
            (Some(least), None) => format!("at least {}", counted(least, unit)),
            (None, most) => format!("at most {}", counted(most.unwrap_or_default(), unit)),
        };
        Refusal { rule, allowed }
    }
}

fn counted(n: u64, unit: &str) -> String {
    if n == 1 { format!("1 {unit}") } else { format!("{n} {unit}s") }
}

/// Says in words what a schema accepts.
fn describe(schema: &Value) -> String {
    if let Some(Value::Array(allowed)) = schema.get("enum") {
        let shown: Vec<String> = allowed.iter().map(quote).collect();
        return format!("one of {}", shown.join(", "));
    }
    let kinds = strings(schema.get("type"));
    let words: Vec<String> = kinds
        .iter()
        .map(|kind| match *kind {
            "integer" => "an integer".to_owned(),
            "array" => match schema.get("items") {
                Some(items) => format!("an array, each element {}", describe(items)),
                None => "an array".to_owned(),
            },
            "object" => {
                let members: Vec<String> = strings(schema.get("required"))
                    .into_iter()
                    .map(|name| format!("`{name}`"))
                    .collect();
                match members.as_slice() {
                    [] => "an object".to_owned(),
                    members => format!("an object with {}", members.join(", ")),
                }
            }
            "null" => "null".to_owned(),
            other => format!("a {other}"),
        })
        .collect();
    if words.is_empty() { "a value".to_owned() } else { words.join(" or ") }
}

/// Says in words what kind of value was received: `"10"` and `10` look alike when quoted.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(super) fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn quote(value: &Value) -> String {
    match value.as_str() {
        Some(text) if text::is_blank(text) => "blank text".to_owned(),
        Some(text) => format!("`{}`", shorten_text(text)),
        None => format!("`{}`", shorten_text(&value.to_string())),
    }
}

fn shorten(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten_text(text)),
        Value::Array(_) | Value::Object(_) => Value::String(shorten_text(&value.to_string())),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
