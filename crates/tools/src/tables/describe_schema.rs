//! `describe_schema`: what can be asked of a table, and what is in it.

use std::sync::Arc;

use model::Caller;
use serde_json::{Map, Value, json};
use tables::{Schema, Service};
use text::Budget;

use super::answer::{error, names, schema_of, schemas};
use super::arguments::{DescribeArguments, from_accepted};
use super::description::{in_brief, in_full};
use super::query_table::with_table;
use super::redaction::{count, escaped, redact_description};
use super::schemas::{describe_input_schema, describe_output_schema};
use crate::paging::{Cut, shorten};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

/// The tool.
pub struct DescribeSchema {
    service: Service,
    specs: PerCaller,
    length: Length,
}

/// How much is said when the call does not ask for more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Brief,
    Full,
}

impl DescribeSchema {
    /// Describes the tables of a service.
    pub fn new(service: Service) -> Self {
        DescribeSchema { service, specs: PerCaller::default(), length: Length::Full }
    }

    /// Describes the tables of a service in few tokens, and in full on request.
    pub fn brief(service: Service) -> Self {
        DescribeSchema { length: Length::Brief, ..DescribeSchema::new(service) }
    }
}

impl Tool for DescribeSchema {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            let mut spec = describe_schema_spec(&schemas(&self.service, names));
            if self.length == Length::Brief {
                let schemas = schemas(&self.service, names);
                let input = describe_input_schema(&schemas, &["detail", "cursor"]);
                spec = spec.with_input(with_table(input.clone())).with_shown_input(input);
            }
            spec
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let DescribeArguments { table, detail, cursor } =
            from_accepted(call.arguments.clone()).map_err(|cause| error(&cause))?;
        let is_brief = self.length == Length::Brief && detail != Some(true);
        let mut figures = self
            .service
            .describe(call.caller, table.as_deref(), call.deadline)
            .map_err(|cause| error(&cause))?;
        let schema = schema_of(&self.service, call.caller, table.as_deref());
        let n_hidden = schema.map_or(0, |schema| redact_description(schema, &mut figures));
        let write = if is_brief { in_brief } else { in_full };
        let value = schema.map(|schema| write(schema, &figures)).unwrap_or_default();
        // Warnings are sentences, as everywhere.
        let value = Answer::of(&value)?.value;
        let walk = Walk::of("describe_schema", &json!([schema.map(|schema| &schema.name)]));
        let after = cursor.as_deref().map(|cursor| walk.read(cursor)).transpose()?;
        let mut answer = Answer::new(fields_within(value, after, &call.budget));
        if let Some(Value::String(next)) = answer.value.get_mut("next") {
            *next = walk.written(next);
        }
        count(&mut answer, n_hidden);
        Ok(match schema.and_then(Schema::redacted_names) {
            Some(redacted) => answer.with_source_text(source_text(&redacted)),
            None => answer,
        })
    }
}

/// Names the places of a description that hold text of these fields: a field that the
/// configuration leaves as it is is not redacted here either.
fn source_text(redacted: &[String]) -> Vec<String> {
    let names = redacted.iter().map(|name| escaped(name));
    let places = names.flat_map(|name| {
        [format!("/fields/{name}/top/*/value"), format!("/schema/properties/{name}/description")]
    });
    places.chain(["/warnings/*".to_owned()]).collect()
}

/// Where the fields of a table are in a description.
const FIELD_MAPS: [&str; 2] = ["/schema/properties", "/fields"];

/// Room for the notice and the cursor.
const NOTICE_CHARS: usize = 600;

/// Keeps as many fields of a description as a budget holds, those behind `after`; at least one.
/// The cursor is the name of the last field that was given.
fn fields_within(mut value: Value, after: Option<&str>, budget: &Budget) -> Value {
    if after.is_none() && budget.fits(&value.to_string()) {
        return value;
    }
    let maps: Vec<Map<String, Value>> = FIELD_MAPS
        .iter()
        .map(|place| {
            let map = value.pointer_mut(place).and_then(Value::as_object_mut);
            map.map(std::mem::take).unwrap_or_default()
        })
        .collect();
    let Some(names) = maps.iter().max_by_key(|map| map.len()) else { return value };
    let names: Vec<String> = names.keys().cloned().collect();
    let begin = after.and_then(|after| names.iter().position(|name| name == after));
    let begin = begin.map_or(0, |at| at + 1);
    if begin > 0
        && let Some(value) = value.as_object_mut()
    {
        // What is said of the whole table was said on the first page.
        ["sortable", "formats", "examples"].iter().for_each(|name| drop(value.remove(*name)));
    }
    let beside = value.to_string();
    let budget = &budget.without_sentences(NOTICE_CHARS);
    let texts: Vec<String> = names[begin..]
        .iter()
        .map(|name| {
            let entries = maps.iter().filter_map(|map| map.get(name));
            entries.map(|entry| format!("\"{name}\":{entry}")).collect::<Vec<_>>().join(",")
        })
        .collect();
    let n_kept = budget.n_fitting(&beside, texts.iter().map(String::as_str)).min(texts.len());
    let kept = &names[begin..begin + n_kept];
    for (place, map) in FIELD_MAPS.iter().zip(maps) {
        if let Some(slot) = value.pointer_mut(place) {
            *slot = map.into_iter().filter(|(name, _)| kept.contains(name)).collect();
        }
    }
    let mut notices = Vec::new();
    if n_kept <= 1 {
        for Cut { place, n_kept, n_all, unit } in shorten(&mut value, budget) {
            let place = place.trim_start_matches('.');
            notices.push(json!(format!(
                "`{place}` is too long for one answer: {n_kept} of {n_all} {unit} are here"
            )));
        }
    }
    if begin + n_kept < names.len() {
        value["next"] = json!(kept.last());
        notices.push(json!(format!(
            "fields {} to {} of {} are here: call again with `next` as `cursor` for the rest",
            begin + 1,
            begin + n_kept,
            names.len()
        )));
    }
    if !notices.is_empty() {
        match value.get_mut("warnings").and_then(Value::as_array_mut) {
            Some(warnings) => warnings.extend(notices),
            None => value["warnings"] = notices.into(),
        }
    }
    value
}

/// Describes the tool over the tables of these schemas.
pub fn describe_schema_spec(schemas: &[&Schema]) -> Spec {
    Spec::read_only(
        "describe_schema",
        "Describe schema",
        "List the filter fields of a table with types, operators, allowed values and ranges. \
         Call this before query_table.",
    )
    .with_input(with_table(describe_input_schema(schemas, &["cursor"])))
    .with_shown_input(describe_input_schema(schemas, &[]))
    .with_output(describe_output_schema())
    .with_source_text(&[
        "/fields/*/top/*/value",
        "/schema/properties/*/description",
        "/warnings/*",
    ])
}
