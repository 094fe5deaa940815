//! Saved views of the configuration, as tools and as resources: the question is written there,
//! the caller fills in its parameters, and everything else is as with `query_table` and
//! `aggregate_table`.

use std::sync::Arc;

use model::{Caller, Deadline};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tables::{QueryRequest, Schema, Service, View, ViewForm, ViewRequest, query_output_schema};
use text::Budget;

use super::aggregate_table::{aggregate_answer, aggregate_output_schema};
use super::answer::error;
use super::query_table::fewer_rows;
use super::redaction::query_answer;
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
    Spec::read_only(&config.name, &title, &config.description)
        .with_input(view.input_schema())
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
    let request = view.request(values).map_err(failed)?;
    let schema = schema_of(service, view, caller);
    match request {
        ViewRequest::Query(request) => {
            let response = service.query(caller, &request, deadline).map_err(failed)?;
            let n_wanted = response.rows.len();
            let mut n_rows = n_wanted;
            let mut answer = query_answer(schema, &response)?;
            while let Some(fewer) = fewer_rows(&mut answer, n_rows, &budget) {
                n_rows = fewer;
                let request = QueryRequest { max_rows: Some(n_rows as u64), ..(*request).clone() };
                let response = service.query(caller, &request, deadline).map_err(failed)?;
                answer = query_answer(schema, &response)?;
            }
            Ok(said_cut(answer, n_rows, n_wanted))
        }
        ViewRequest::Aggregate(request) => {
            let mut response = service.aggregate(caller, &request, deadline).map_err(failed)?;
            let n_wanted = response.rows.len();
            let mut answer = aggregate_answer(schema, &mut response, 0, budget)?;
            if let Value::Object(object) = &mut answer.value {
                object.shift_remove("next");
            }
            let n_rows = answer.n_results as usize;
            Ok(said_cut(answer, n_rows, n_wanted))
        }
    }
}

/// A view has no cursor: what did not fit is said.
fn said_cut(answer: Answer, n_rows: usize, n_wanted: usize) -> Answer {
    if n_rows == n_wanted {
        return answer;
    }
    let notice = format!(
        "{n_rows} of {n_wanted} rows are here, since more would not fit one answer: ask with \
         narrower parameters, or the table itself"
    );
    answer.with_notes(vec![notice])
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
