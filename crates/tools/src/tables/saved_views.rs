//! Saved views of the configuration, as tools and as resources: the question is written there,
//! the caller fills in its parameters, and everything else is as with `query_table` and
//! `aggregate_table`.

use std::sync::Arc;

use model::{Caller, Deadline};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use tables::{DEFAULT_PAGE, QueryRequest, Schema, Service};
use text::Budget;

use super::aggregate_table::{aggregate_answer, aggregate_output_schema};
use super::answer::error;
use super::page::query_page;
use super::schemas::query_output_schema;
use super::views::{View, ViewForm, ViewRequest};
use crate::per_caller::PerCaller;
use crate::{
    Answer, Call, ResourceBody, ResourceContent, ResourceEntry, ResourcePattern, Resources, Spec,
    Tool, ToolError,
};

/// A view that agents call.
pub struct SavedView {
    service: Service,
    view: View,
    specs: PerCaller,
}

impl SavedView {
    /// Asks a view of the tables of a service.
    pub fn new(service: Service, view: View) -> Self {
        SavedView { service, view, specs: PerCaller::default() }
    }
}

impl Tool for SavedView {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        if !may_use(&self.service, &self.view, caller) {
            return None;
        }
        self.specs.get(vec![self.view.config.name.clone()], |_| view_spec(&self.view))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        answer(&self.service, &self.view, call.caller, call.arguments, call.deadline, call.budget)
    }
}

/// Describes a view as a tool.
fn view_spec(view: &View) -> Spec {
    let config = &view.config;
    let title = config.name.replace(['_', '-'], " ");
    let output = if view.asks_rows() { query_output_schema() } else { aggregate_output_schema() };
    let mut input = view.input_schema();
    let own = [
        (CURSOR, json!({ "type": "string", "description": "`next`: the rows behind" })),
        (OFFSET, json!({ "type": "integer", "minimum": 0, "description": "`next_offset`" })),
    ];
    for (name, schema) in own {
        if input["properties"].get(name).is_none() {
            input["properties"][name] = schema;
        }
    }
    Spec::read_only(&config.name, &title, &config.description)
        .with_input(input)
        .with_output(output)
        .with_source_text(&["/rows/*/*", "/facets/*/rows/*/value", "/did_you_mean/*/suggestions/*"])
}

/// Asks a view.
fn answer(
    service: &Service,
    view: &View,
    caller: &Caller,
    values: &Map<String, Value>,
    deadline: &Deadline,
    budget: Budget,
) -> Result<Answer, ToolError> {
    // What is wrong is the value of a parameter: there is no schema to look into.
    let failed = |cause: tables::Error| {
        let mut failed = error(&cause);
        failed.details.shift_remove("hint");
        failed
    };
    let mut values = values.clone();
    let cursor = own_argument(view, &mut values, CURSOR);
    let cursor = cursor.as_ref().and_then(Value::as_str).map(str::to_owned);
    let offset = own_argument(view, &mut values, OFFSET);
    let offset = match &offset {
        Some(Value::String(text)) => text.parse().ok(),
        given => given.as_ref().and_then(Value::as_u64),
    };
    let offset = offset.unwrap_or(0) as usize;
    let request = view.request(&values).map_err(failed)?;
    let schema = schema_of(service, view, caller);
    match request {
        ViewRequest::Query(mut request) => {
            if cursor.is_some() {
                (request.cursor, request.page) = (cursor, DEFAULT_PAGE);
            }
            request.offset = offset;
            let query =
                |request: &QueryRequest| service.query(caller, request, deadline).map_err(failed);
            query_page(schema, &request, &budget, &query)
        }
        ViewRequest::Aggregate(mut request) => {
            (request.cursor, request.offset) = (cursor, offset);
            let mut response = service.aggregate(caller, &request, deadline).map_err(failed)?;
            response.warnings.retain(|warning| warning.code != "groups_cut");
            aggregate_answer(schema, &response, budget)
        }
    }
}

/// What every view takes beside its parameters, to go on with: unless one of them has that name.
const CURSOR: &str = "cursor";
const OFFSET: &str = "offset";

/// Takes an argument of the tool's own, which no parameter of the view is named after.
fn own_argument(view: &View, values: &mut Map<String, Value>, name: &str) -> Option<Value> {
    if view.parameters().iter().any(|(parameter, _)| parameter == name) {
        return None;
    }
    values.shift_remove(name)
}

fn may_use(service: &Service, view: &View, caller: &Caller) -> bool {
    caller.may_use(&view.config.allow) && schema_of(service, view, caller).is_some()
}

fn schema_of<'s>(service: &'s Service, view: &View, caller: &Caller) -> Option<&'s Schema> {
    service.schemas(caller).into_iter().find(|schema| schema.name == view.config.table)
}

const PREFIX: &str = "dowse://views/";
const JSON: &str = "application/json";
/// A resource is read whole; its page has its own limits.
const WHOLE: Budget = Budget { chars: 1_000_000, tokens: 1_000_000 };

/// Views that agents read, at `dowse://views/NAME?PARAMETER=VALUE`.
pub struct ViewAddresses {
    service: Service,
    views: Vec<View>,
}

impl ViewAddresses {
    /// Keeps the views that are resources.
    pub fn new(service: Service, views: &[View]) -> Self {
        let is_read = |view: &&View| view.config.form == ViewForm::Resource;
        ViewAddresses { service, views: views.iter().filter(is_read).cloned().collect() }
    }

    fn visible<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = &'a View> {
        self.views.iter().filter(|view| may_use(&self.service, view, caller))
    }
}

impl Resources for ViewAddresses {
    fn family(&self) -> &str {
        "views"
    }

    fn list(&self, caller: &Caller, after: Option<&str>, limit: usize) -> Vec<ResourceEntry> {
        let mut entries: Vec<ResourceEntry> = self
            .visible(caller)
            .filter(|view| view.request(&Map::new()).is_ok())
            .map(|view| ResourceEntry {
                uri: format!("{PREFIX}{}", view.config.name),
                name: view.config.name.clone(),
                mime_type: Some(JSON.to_owned()),
            })
            .filter(|entry| after.is_none_or(|after| entry.uri.as_str() > after))
            .collect();
        entries.sort_unstable_by(|one, other| one.uri.cmp(&other.uri));
        entries.truncate(limit);
        entries
    }

    fn patterns(&self, caller: &Caller) -> Vec<ResourcePattern> {
        self.visible(caller)
            .filter(|view| !view.parameters().is_empty())
            .map(|view| {
                let names: Vec<&str> =
                    view.parameters().iter().map(|(name, _)| name.as_str()).collect();
                ResourcePattern {
                    pattern: format!("{PREFIX}{}{{?{}}}", view.config.name, names.join(",")),
                    name: view.config.name.clone(),
                    description: view.config.description.clone(),
                    mime_type: Some(JSON.to_owned()),
                }
            })
            .collect()
    }

    fn read(
        &self,
        caller: &Caller,
        uri: &str,
        deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError> {
        let Some(place) = uri.strip_prefix(PREFIX) else { return Ok(None) };
        let (name, query) = place.split_once('?').unwrap_or((place, ""));
        let Some(view) = self.visible(caller).find(|view| view.config.name == name) else {
            return Ok(None);
        };
        let values = values(view, query);
        // The answer is redacted field by field already; as one text it could only lose what the
        // configuration leaves as it is.
        let answer = answer(&self.service, view, caller, &values, deadline, WHOLE)?;
        Ok(Some(ResourceContent {
            mime_type: JSON.to_owned(),
            body: ResourceBody::OwnText(answer.value.to_string()),
        }))
    }
}

/// Reads the parameters of an address.
fn values(view: &View, query: &str) -> Map<String, Value> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| {
                percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
            };
            let (name, text) = (decode(name), decode(text));
            let parameter = view.parameters().iter().find(|(known, _)| *known == name);
            let value = parameter.map_or_else(
                || Value::from(text.as_str()),
                |(_, parameter)| parameter.parse(&text),
            );
            (name, value)
        })
        .collect()
}
