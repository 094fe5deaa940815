//! What rows are ordered by: nearness, words, or attributes.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;

use super::error::{Outcome, Refusal, array, kind, object};
use super::filter::Filter;
use super::schema::{Metric, Schema};
use super::state::Namespace;
use super::tokens;
use super::value::{Id, Kind, compare, vector};

/// The longest question by words, in characters.
const MAX_QUESTION_CHARS: usize = 8_192;
/// What a word that begins with the last token of a question is worth.
const PREFIX_SCORE: f64 = 1.0;

/// An order.
#[derive(Debug, Clone)]
pub(super) enum Rank {
    Near { attribute: String, metric: Metric, question: Vec<f32> },
    Words(Score),
    Attributes(Vec<(String, Direction)>),
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

/// A score by words.
#[derive(Debug, Clone)]
pub(super) enum Score {
    Bm25 { attribute: String, tokens: Vec<String>, last_is_prefix: bool },
    Sum(Vec<Score>),
    Max(Vec<Score>),
    Product(f64, Box<Score>),
    Filter(Filter),
}

impl Rank {
    pub(super) fn read(schema: &Schema, value: &Value) -> Outcome<Self> {
        let wrong = || Refusal::bad_request(format!("invalid rank_by {value}"));
        let items = array(value, "rank_by")?;
        if let Some(Value::Array(_)) = items.first() {
            let orders = items.iter().map(|item| read_order(schema, item));
            return Ok(Rank::Attributes(orders.collect::<Outcome<_>>()?));
        }
        let operator = items.get(1).and_then(Value::as_str);
        match (operator, items.len()) {
            (Some("ANN" | "kNN"), 3) => {
                let attribute = items[0].as_str().ok_or_else(wrong)?;
                let known = schema.known(attribute)?;
                let (Kind::Vector { dimensions, .. }, Some(metric)) = (&known.kind, known.metric)
                else {
                    return Err(Refusal::bad_request(format!("`{attribute}` is not a vector")));
                };
                let question = vector(&items[2])?;
                if question.len() != *dimensions {
                    return Err(Refusal::bad_request(format!(
                        "`{attribute}` has {dimensions} dimensions, the query has {}",
                        question.len()
                    )));
                }
                Ok(Rank::Near { attribute: attribute.to_owned(), metric, question })
            }
            (Some("SparseKNN"), _) => Err(Refusal::unsupported("SparseKNN")),
            (Some("asc" | "desc"), 2) => Ok(Rank::Attributes(vec![read_order(schema, value)?])),
            _ => Ok(Rank::Words(Score::read(schema, value)?)),
        }
    }

    /// Gives the rows in order, each with its distance or score.
    pub(super) fn order(&self, namespace: &Namespace, ids: Vec<Id>) -> Vec<(Id, Option<f64>)> {
        match self {
            Rank::Near { attribute, metric, question } => {
                let distance = |id: &Id| {
                    let numbers = vector(&namespace.value(id, attribute)).ok()?;
                    Some(metric.distance(&numbers, question))
                };
                let mut near: Vec<(Id, f64)> =
                    ids.into_iter().filter_map(|id| distance(&id).map(|far| (id, far))).collect();
                near.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0)));
                near.into_iter().map(|(id, distance)| (id, Some(distance))).collect()
            }
            Rank::Words(score) => {
                let mut statistics = Statistics::default();
                let mut scored: Vec<(Id, f64)> = ids
                    .into_iter()
                    .map(|id| {
                        let score = score.of(namespace, &id, &mut statistics);
                        (id, score)
                    })
                    .filter(|(_, score)| *score > 0.0)
                    .collect();
                scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
                scored.into_iter().map(|(id, score)| (id, Some(score))).collect()
            }
            Rank::Attributes(orders) => {
                let mut ids = ids;
                ids.sort_by(|one, other| {
                    let by_orders = orders.iter().fold(Ordering::Equal, |order, (name, way)| {
                        order.then_with(|| {
                            let (one, other) =
                                (namespace.value(one, name), namespace.value(other, name));
                            let order = compare_nullable(&one, &other);
                            if *way == Direction::Descending { order.reverse() } else { order }
                        })
                    });
                    by_orders.then(one.cmp(other))
                });
                ids.into_iter().map(|id| (id, None)).collect()
            }
        }
    }
}

/// What BM25 has to know about an attribute, kept for one query.
#[derive(Debug, Default)]
struct Statistics {
    words: HashMap<String, HashMap<Id, Vec<String>>>,
}

impl Statistics {
    fn words(&mut self, namespace: &Namespace, attribute: &str) -> &HashMap<Id, Vec<String>> {
        self.words.entry(attribute.to_owned()).or_insert_with(|| {
            let Ok(config) = namespace.schema.text(attribute) else { return HashMap::new() };
            let cut = |id: &Id| tokens::cut(config, &namespace.value(id, attribute));
            namespace.rows.keys().map(|id| (id.clone(), cut(id))).collect()
        })
    }
}

impl Score {
    fn read(schema: &Schema, value: &Value) -> Outcome<Self> {
        let wrong = || Refusal::bad_request(format!("invalid rank_by {value}"));
        let items = array(value, "rank_by")?;
        let below = |value: &Value| Score::read(schema, value);
        match items.as_slice() {
            [Value::String(name), parts] if name == "Sum" || name == "Max" => {
                let parts: Vec<Score> =
                    array(parts, name)?.iter().map(below).collect::<Outcome<_>>()?;
                if parts.is_empty() {
                    return Err(Refusal::bad_request(format!("{name} needs at least one clause")));
                }
                Ok(if name == "Sum" { Score::Sum(parts) } else { Score::Max(parts) })
            }
            [Value::String(name), one, other] if name == "Product" => {
                let (weight, part) = match (one.as_f64(), other.as_f64()) {
                    (Some(weight), None) => (weight, other),
                    (None, Some(weight)) => (weight, one),
                    _ => return Err(wrong()),
                };
                if weight < 0.0 {
                    return Err(Refusal::bad_request(format!("a weight is negative: {weight}")));
                }
                Ok(Score::Product(weight, Box::new(below(part)?)))
            }
            [Value::String(name), ..]
                if ["Saturate", "Decay", "Dist", "Attribute"].contains(&name.as_str()) =>
            {
                Err(Refusal::unsupported(&format!("rank_by {name}")))
            }
            [Value::String(attribute), Value::String(operator), rest @ ..]
                if operator == "BM25" && (1..=2).contains(&rest.len()) =>
            {
                read_bm25(schema, attribute, &rest[0], rest.get(1))
            }
            _ => Ok(Score::Filter(Filter::read(schema, value)?)),
        }
    }

    fn of(&self, namespace: &Namespace, id: &Id, statistics: &mut Statistics) -> f64 {
        match self {
            Score::Sum(parts) => parts.iter().map(|part| part.of(namespace, id, statistics)).sum(),
            Score::Max(parts) => {
                parts.iter().map(|part| part.of(namespace, id, statistics)).fold(0.0, f64::max)
            }
            Score::Product(weight, part) => weight * part.of(namespace, id, statistics),
            Score::Filter(filter) => f64::from(u8::from(filter.fits(namespace, id))),
            Score::Bm25 { attribute, tokens, last_is_prefix } => {
                let Ok(config) = namespace.schema.text(attribute) else { return 0.0 };
                let words = statistics.words(namespace, attribute);
                let n_rows = words.len() as f64;
                let n_words: usize = words.values().map(Vec::len).sum();
                let mean = (n_words as f64 / n_rows).max(f64::MIN_POSITIVE);
                let Some(held) = words.get(id) else { return 0.0 };
                let norm = config.k1 * (1.0 - config.b + config.b * held.len() as f64 / mean);
                let mut score = 0.0;
                for (idx, token) in tokens.iter().enumerate() {
                    let is_prefix = *last_is_prefix && idx + 1 == tokens.len();
                    let is_token = |word: &&String| match is_prefix {
                        true => word.starts_with(token.as_str()),
                        false => *word == token,
                    };
                    let frequency = held.iter().filter(is_token).count() as f64;
                    if frequency > 0.0 && is_prefix {
                        score += PREFIX_SCORE;
                    } else if frequency > 0.0 {
                        let n_holding =
                            words.values().filter(|held| held.iter().any(|w| is_token(&w))).count()
                                as f64;
                        let idf = (1.0 + (n_rows - n_holding + 0.5) / (n_holding + 0.5)).ln();
                        score += idf * (config.k1 + 1.0) * frequency / (frequency + norm);
                    }
                }
                score
            }
        }
    }
}

fn read_bm25(
    schema: &Schema,
    attribute: &str,
    value: &Value,
    params: Option<&Value>,
) -> Outcome<Score> {
    let config = schema.text(attribute)?;
    if config.tokenizer == "pre_tokenized_array" && !value.is_array() {
        return Err(Refusal::bad_request(format!(
            "invalid input {} for rank_by field {attribute:?}, expecting []string",
            kind(value)
        )));
    }
    if config.tokenizer != "pre_tokenized_array" && !value.is_string() {
        return Err(Refusal::bad_request(format!(
            "invalid input {} for rank_by field {attribute:?}, expecting string",
            kind(value)
        )));
    }
    let n_chars = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let n_chars = match value.as_array() {
        Some(tokens) => tokens.iter().map(n_chars).sum(),
        None => n_chars(value),
    };
    if n_chars > MAX_QUESTION_CHARS {
        return Err(Refusal::bad_request(format!(
            "a full-text query has at most {MAX_QUESTION_CHARS} characters, got {n_chars}"
        )));
    }
    let last_is_prefix = match params {
        None => false,
        Some(params) => {
            let params = object(params, "Bm25Params", &["last_as_prefix"])?;
            params.get("last_as_prefix") == Some(&Value::Bool(true))
        }
    };
    let tokens = tokens::cut(config, value);
    Ok(Score::Bm25 { attribute: attribute.to_owned(), tokens, last_is_prefix })
}

fn read_order(schema: &Schema, value: &Value) -> Outcome<(String, Direction)> {
    let items = array(value, "rank_by")?;
    let [Value::String(name), Value::String(way)] = items.as_slice() else {
        return Err(Refusal::bad_request(format!("invalid rank_by {value}")));
    };
    if name != "id" && matches!(schema.filterable(name)?.kind, Kind::Array(_)) {
        return Err(Refusal::bad_request(format!("`{name}` is an array and gives no order")));
    }
    match way.as_str() {
        "asc" => Ok((name.clone(), Direction::Ascending)),
        "desc" => Ok((name.clone(), Direction::Descending)),
        _ => Err(Refusal::bad_request(format!("invalid order {way:?}, expected asc or desc"))),
    }
}

/// Rows without a value come first in ascending order and last in descending.
fn compare_nullable(one: &Value, other: &Value) -> Ordering {
    other.is_null().cmp(&one.is_null()).then_with(|| compare(one, other).unwrap_or(Ordering::Equal))
}
