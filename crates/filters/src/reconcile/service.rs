//! The services of the protocol: manifest, queries, suggestions, extension, preview.

use std::collections::BTreeSet;

use lookup::{EntryIdx, Request};
use model::Caller;
use serde_json::{Map, Value, json};

use crate::dimension::Dimension;
use crate::reconcile::query::{MAX_CANDIDATES, Query, agrees, bad, object, strings};
use crate::request::MAX_QUERY_CHARS;
use crate::{Error, Result, SearchResult, Service};

/// The most queries of one batch.
pub const MAX_RECONCILE_QUERIES: usize = 200;

/// The most ids of one extension.
pub const MAX_EXTENDED: usize = 1000;

/// The most entries of one dimension that a query without a name is compared with.
const MAX_COMPARED: usize = 50_000;

/// The score of an entry that has every property asked for and no name to be compared.
const BY_PROPERTIES_ALONE: f64 = 0.8;

/// What is left of a score for each property that a candidate contradicts.
const CONTRADICTED: f64 = 0.8;

/// The width and height of a preview, in pixels.
const PREVIEW_SIZE: (u32, u32) = (420, 160);

/// The reconciliation service over the dimensions of a [`Service`].
#[derive(Debug, Clone)]
pub struct Reconciliation {
    service: Service,
}

impl Reconciliation {
    /// Speaks for a service.
    pub fn new(service: Service) -> Self {
        Reconciliation { service }
    }

    /// Describes the service; `url` is where it is mounted, such as
    /// `http://127.0.0.1:7700/reconcile`.
    pub fn manifest(&self, caller: &Caller, url: &str) -> Value {
        let url = url.trim_end_matches('/');
        let types: Vec<Value> =
            self.types(caller, "").into_iter().map(|category| named(&category)).collect();
        let (width, height) = PREVIEW_SIZE;
        let suggest =
            |what: &str| json!({"service_url": url, "service_path": format!("/suggest/{what}")});
        json!({
            "versions": ["0.2"],
            "name": "Dowse",
            "identifierSpace": format!("{url}/entity/"),
            "schemaSpace": format!("{url}/type/"),
            "batchSize": MAX_RECONCILE_QUERIES,
            "defaultTypes": types,
            "view": {"url": format!("{url}/preview?id={{{{id}}}}")},
            "preview": {"url": format!("{url}/preview?id={{{{id}}}}"), "width": width, "height": height},
            "suggest": {
                "entity": suggest("entity"),
                "property": suggest("property"),
                "type": suggest("type"),
            },
            "extend": {
                "propose_properties": {"service_url": url, "service_path": "/extend/propose"},
                "property_settings": [],
            },
        })
    }

    /// Answers a batch of queries: an object of queries by any key.
    ///
    /// Fails when the batch is no such object or too large; a query that names what does not
    /// exist for the caller has an empty result.
    pub fn queries(&self, caller: &Caller, batch: &Value) -> Result<Value> {
        let batch = object(batch)?;
        if batch.len() > MAX_RECONCILE_QUERIES {
            return Err(Error::BadBatch { n_received: batch.len(), most: MAX_RECONCILE_QUERIES });
        }
        let mut answers = Map::new();
        for (key, query) in batch {
            let query = Query::read(key, query)?;
            let result = self.candidates(caller, &query)?;
            answers.insert(key.clone(), json!({"result": result}));
        }
        Ok(Value::Object(answers))
    }

    /// Suggests entities for what a person has typed so far.
    pub fn suggest_entities(&self, caller: &Caller, prefix: &str) -> Value {
        let query = Query {
            text: prefix.chars().take(MAX_QUERY_CHARS).collect(),
            types: Vec::new(),
            limit: MAX_CANDIDATES,
            properties: Vec::new(),
        };
        let found = self.candidates(caller, &query).unwrap_or_default();
        let result: Vec<Value> = found
            .into_iter()
            .map(|mut candidate| {
                json!({
                    "id": candidate["id"].take(),
                    "name": candidate["name"].take(),
                    "description": candidate["description"].as_str().unwrap_or_default(),
                    "notable": candidate["type"].take(),
                })
            })
            .collect();
        json!({"result": result})
    }

    /// Suggests types whose name starts with or holds a text.
    pub fn suggest_types(&self, caller: &Caller, prefix: &str) -> Value {
        let types: Vec<Value> =
            self.types(caller, prefix).into_iter().map(|category| named(&category)).collect();
        json!({"result": types})
    }

    /// Suggests properties whose name starts with or holds a text.
    pub fn suggest_properties(&self, caller: &Caller, prefix: &str) -> Value {
        let wanted = text::fold(prefix);
        let mut names: BTreeSet<String> = BTreeSet::new();
        for category in self.types(caller, "") {
            if let Ok(dimension) = self.service.dimension(caller, &category, "") {
                names.extend(dimension.properties());
            }
        }
        let result: Vec<Value> = names
            .into_iter()
            .filter(|name| text::fold(name).contains(&wanted))
            .take(MAX_CANDIDATES)
            .map(|name| named(&name))
            .collect();
        json!({"result": result})
    }

    /// Proposes properties for entities of a type.
    ///
    /// Fails when the type does not exist for the caller.
    pub fn propose_properties(
        &self,
        caller: &Caller,
        category: &str,
        limit: usize,
    ) -> Result<Value> {
        let dimension = self.service.dimension(caller, category, "")?;
        let properties: Vec<Value> = dimension
            .properties()
            .into_iter()
            .take(limit.clamp(1, MAX_CANDIDATES))
            .map(|name| named(&name))
            .collect();
        Ok(json!({"type": category, "limit": limit, "properties": properties}))
    }

    /// Gives properties of entities: `{ids, properties: [{id}]}`.
    ///
    /// Fails when the request is malformed or too large; what does not exist for the caller
    /// has empty cells.
    pub fn extend(&self, caller: &Caller, request: &Value) -> Result<Value> {
        let request = object(request)?;
        let ids = strings(request.get("ids"), "ids")?;
        let properties: Vec<String> = match request.get("properties") {
            Some(Value::Array(properties)) => properties
                .iter()
                .map(|property| {
                    let id = property.get("id").and_then(Value::as_str);
                    id.map(str::to_owned)
                        .ok_or_else(|| bad("properties", "a list of {id}", property))
                })
                .collect::<Result<_>>()?,
            Some(other) => return Err(bad("properties", "a list of {id}", other)),
            None => return Err(Error::Required { name: "properties".to_owned() }),
        };
        if ids.len() > MAX_EXTENDED {
            return Err(Error::BadBatch { n_received: ids.len(), most: MAX_EXTENDED });
        }
        let mut rows = Map::new();
        for id in ids {
            let found = self.find(caller, &id);
            let cells = properties.iter().map(|property| {
                let value = found
                    .as_ref()
                    .and_then(|(dimension, entry)| dimension.property(*entry, property));
                (property.clone(), Value::Array(value.iter().map(extended).collect()))
            });
            rows.insert(id.clone(), Value::Object(cells.collect()));
        }
        let meta: Vec<Value> = properties.iter().map(|property| named(property)).collect();
        Ok(json!({"meta": meta, "rows": rows}))
    }

    /// Gives one entity as it is shown to people.
    ///
    /// Fails when it does not exist for the caller.
    pub fn entity(&self, caller: &Caller, id: &str) -> Result<SearchResult> {
        let (dimension, entry) = self
            .find(caller, id)
            .ok_or_else(|| Error::NotFound { kind: "entity", id: id.chars().take(60).collect() })?;
        Ok(dimension.show(entry, None))
    }

    /// Gives the visible categories that hold a text.
    fn types(&self, caller: &Caller, prefix: &str) -> Vec<String> {
        let wanted = text::fold(prefix);
        let mut categories = self.service.categories(caller);
        categories.retain(|category| text::fold(category).contains(&wanted));
        categories
    }

    fn find(&self, caller: &Caller, id: &str) -> Option<(std::sync::Arc<Dimension>, EntryIdx)> {
        let (category, value) = id.split_once('/')?;
        let dimension = self.service.dimension(caller, category, value).ok()?;
        let entry = dimension.find_value(value)?;
        Some((dimension, entry))
    }

    /// Looks in the types asked for, or in all; the best of all types come first.
    fn candidates(&self, caller: &Caller, query: &Query) -> Result<Vec<Value>> {
        let mut found: Vec<Candidate> = Vec::new();
        let filters = self.service.filters_config();
        let margin = filters.best_match_margin;
        for category in self.service.categories(caller) {
            if !query.types.is_empty() && !query.types.contains(&category) {
                continue;
            }
            let dimension = self.service.dimension(caller, &category, &query.text)?;
            if text::is_blank(&query.text) {
                found.extend(by_properties(&dimension, &category, query, margin));
                continue;
            }
            let answer = dimension.lookup(&Request {
                text: &query.text,
                locale: None,
                hint: None,
                limit: MAX_CANDIDATES,
            });
            for matched in answer.matches {
                let shown = dimension.show(matched.entry, None);
                let n_contradicted = query
                    .properties
                    .iter()
                    .filter(|(property, wanted)| {
                        dimension
                            .property(matched.entry, property)
                            .is_some_and(|value| !agrees(&value, wanted))
                    })
                    .count();
                let score = matched.score.get() * CONTRADICTED.powi(n_contradicted as i32);
                let similarity = (matched.trigram_similarity * 1e4).round() / 1e4;
                let features = json!([
                    {"id": "score", "value": matched.score.rounded()},
                    {"id": "trigram_similarity", "value": similarity},
                ]);
                let lead = matched.lead_needed(margin);
                found.push(candidate(&category, shown, (score, lead), &features));
            }
        }
        found.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then_with(|| left.id.cmp(&right.id))
        });
        let second = found.get(1).map_or(0.0, |candidate| candidate.score);
        let is_sure =
            found.first().is_some_and(|best| filters.is_sure(best.score, second, best.lead));
        found.truncate(query.limit);
        Ok(found
            .into_iter()
            .enumerate()
            .map(|(at, Candidate { score, mut value, .. })| {
                value["score"] = json!((score * 10_000.0).round() / 100.0);
                value["match"] = json!(at == 0 && is_sure);
                value
            })
            .collect())
    }
}

/// A candidate with its score and id, by which candidates are ordered.
struct Candidate {
    score: f64,
    id: String,
    value: Value,
    /// By how much it must lead the second to be taken without asking.
    lead: f64,
}

fn candidate(
    category: &str,
    shown: SearchResult,
    (score, lead): (f64, f64),
    features: &Value,
) -> Candidate {
    let id = format!("{category}/{}", shown.filter_value);
    let value = json!({
        "id": id,
        "name": shown.name,
        "description": shown.context.unwrap_or_default(),
        "type": [named(category)],
        "features": features,
    });
    Candidate { score, id, value, lead }
}

/// Finds entries that have every property of a query without a name.
fn by_properties(
    dimension: &Dimension,
    category: &str,
    query: &Query,
    margin: f64,
) -> Vec<Candidate> {
    if query.properties.is_empty() {
        return Vec::new();
    }
    let n_entries = dimension.index.len().min(MAX_COMPARED) as u32;
    let has_all = |entry: &EntryIdx| {
        query.properties.iter().all(|(property, wanted)| {
            dimension.property(*entry, property).is_some_and(|value| agrees(&value, wanted))
        })
    };
    let fitting = (0..n_entries).map(EntryIdx).filter(has_all).take(MAX_CANDIDATES);
    let features = json!([{"id": "properties", "value": query.properties.len()}]);
    fitting
        .map(|entry| {
            let shown = dimension.show(entry, None);
            candidate(category, shown, (BY_PROPERTIES_ALONE, margin), &features)
        })
        .collect()
}

fn named(name: &str) -> Value {
    json!({"id": name, "name": name})
}

/// The protocol has no booleans: they go as text.
fn extended(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => json!({"int": number}),
        Value::Number(number) => json!({"float": number}),
        Value::String(text) => json!({"str": text}),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            json!({"str": value.to_string()})
        }
    }
}
