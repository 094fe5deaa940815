//! Conditions on the metadata that documents were given: `year` is 2025, `tags` holds `hr`,
//! `date` is in a range.
//!
//! Metadata belongs to the document and not to its passages, so documents that fit are found in
//! the catalogue first, and the search looks in them alone: whatever was added with an earlier
//! version can be filtered as well.

use std::collections::BTreeMap;

use model::{Caller, DocumentId};
use serde::Serialize;
use serde_json::Value;
use store::{ObjectPage, TypedObject};

use crate::access::Right;
use crate::metadata_value::MetadataValue;
use crate::object_ids::{CollectionId, KnowledgeBaseId};
use crate::objects::{Collection, Document};
use crate::{Result, Service, limits};

/// Values of a field that are named.
const MAX_NAMED_VALUES: usize = 12;

/// The longest value that is named, in characters.
const MAX_VALUE_CHARS: usize = 80;

/// What a field of the metadata must be like. A field that holds a list fits when one of its
/// elements does.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field, by the name of the metadata's member.
    pub field: String,
    /// What is asked of it.
    pub test: Test,
}

/// What is asked of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is one of these; texts are compared without case and accents, `"2025"` is 2025.
    AnyOf(Vec<MetadataValue>),
    /// It is none of these.
    NoneOf(Vec<MetadataValue>),
    /// It holds this text.
    Contains(String),
    /// It lies between these, both included. `2024` and `2024-03` hold their days as dates.
    Range {
        /// The lower end, where there is one.
        min: Option<MetadataValue>,
        /// The upper end, where there is one.
        max: Option<MetadataValue>,
    },
    /// It is there, or not.
    IsNull(bool),
}

impl Test {
    /// Gives the end of a range that is no date, as it is written, where there is one.
    pub fn end_without_date(&self) -> Option<String> {
        let Test::Range { min, max } = self else { return None };
        let mut ends = min.iter().chain(max);
        ends.find(|end| span(end).is_none()).map(MetadataValue::to_string)
    }
}

/// What is known of a field over the documents that a caller may see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetadataField {
    /// `text`, `number`, `boolean`, `date`, or `mixed`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// How many documents have it.
    pub documents: usize,
    /// Its values where they are few, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<MetadataValue>,
    /// The lowest and the highest, for numbers and dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[MetadataValue; 2]>,
}

/// The documents that fit some conditions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching {
    /// Their ids in the store, by collection.
    pub(crate) by_collection: BTreeMap<CollectionId, Vec<DocumentId>>,
    /// The fields of all documents that the caller may see, by name.
    pub fields: BTreeMap<String, MetadataField>,
}

impl Matching {
    /// Counts the documents that fit.
    pub fn n_documents(&self) -> usize {
        self.by_collection.values().map(Vec::len).sum()
    }
}

impl Service {
    /// Finds the documents of a knowledge base whose metadata fits all conditions, and the fields
    /// that there are.
    ///
    /// Fails when there is no such base for the caller.
    pub fn matching(
        &self,
        caller: &Caller,
        base: &KnowledgeBaseId,
        conditions: &[Condition],
    ) -> Result<Matching> {
        let (base, _) = self.base(caller, base, Right::Read)?;
        let mut matching = Matching::default();
        let mut counted = BTreeMap::new();
        for collection in self.visible_collections(caller, &base)? {
            self.each_document(&collection, |document| {
                count(&mut counted, &document.metadata);
                if conditions.iter().all(|condition| condition.holds(&document.metadata)) {
                    let ids = matching.by_collection.entry(collection.id.clone()).or_default();
                    ids.push(document.store_id());
                }
            })?;
        }
        matching.fields =
            counted.into_iter().map(|(name, counts)| (name, counts.into_field())).collect();
        Ok(matching)
    }

    fn each_document(
        &self,
        collection: &Collection,
        mut visit: impl FnMut(&Document),
    ) -> Result<()> {
        let mut page = ObjectPage {
            parent: Some(collection.id.to_string()),
            limit: limits::MAX_PAGE,
            ..ObjectPage::of(Document::KIND)
        };
        loop {
            let documents = Document::list(&*self.0.catalogue, &page)?;
            documents.iter().for_each(&mut visit);
            match documents.last() {
                Some(last) if documents.len() == limits::MAX_PAGE => {
                    page.after = Some(last.id.to_string());
                }
                _ => return Ok(()),
            }
        }
    }
}

impl Condition {
    /// Tells whether the metadata of a document fits.
    pub(crate) fn holds(&self, metadata: &Value) -> bool {
        let values = metadata.get(&self.field).map(MetadataValue::all_of).unwrap_or_default();
        match &self.test {
            Test::AnyOf(wanted) => {
                values.iter().any(|value| wanted.iter().any(|wanted| is_same(value, wanted)))
            }
            Test::NoneOf(wanted) => {
                !values.iter().any(|value| wanted.iter().any(|wanted| is_same(value, wanted)))
            }
            Test::Contains(part) => {
                let part = text::fold(part);
                values.iter().any(|value| text::fold(&value.plain()).contains(&part))
            }
            Test::Range { min, max } => values.iter().any(|value| {
                min.as_ref().is_none_or(|min| is_at_least(value, min))
                    && max.as_ref().is_none_or(|max| is_at_most(value, max))
            }),
            Test::IsNull(is_wanted) => values.is_empty() == *is_wanted,
        }
    }
}

fn is_same(value: &MetadataValue, wanted: &MetadataValue) -> bool {
    match (value.number(), wanted.number(), spans(value, wanted)) {
        (Some(one), Some(other), _) => one == other,
        // A month is all of its days, and a day all of its moments.
        (_, _, Some(((start, end), (first, last)))) => start <= last && first <= end,
        _ => text::fold(&value.plain()) == text::fold(&wanted.plain()),
    }
}

fn is_at_least(value: &MetadataValue, bound: &MetadataValue) -> bool {
    match (value.number(), bound.number(), spans(value, bound)) {
        (Some(value), Some(bound), _) => value >= bound,
        (_, _, Some(((start, _), (first, _)))) => start >= first,
        _ => value.plain() >= bound.plain(),
    }
}

fn is_at_most(value: &MetadataValue, bound: &MetadataValue) -> bool {
    match (value.number(), bound.number(), spans(value, bound)) {
        (Some(value), Some(bound), _) => value <= bound,
        // `2024-03` as an end holds the whole month.
        (_, _, Some(((start, _), (_, last)))) => start <= last,
        _ => {
            // Only as much is compared as was said.
            let bound = bound.plain();
            let value: String = value.plain().chars().take(bound.chars().count()).collect();
            value <= bound
        }
    }
}

/// The first and the last millisecond of something.
type Milliseconds = (i64, i64);

/// Reads two values as dates, where one of them is written as one and the other can be read so.
fn spans(value: &MetadataValue, other: &MetadataValue) -> Option<(Milliseconds, Milliseconds)> {
    let is_written = |value: &MetadataValue| value.number().is_none() && span(value).is_some();
    if !is_written(value) && !is_written(other) {
        return None;
    }
    Some((span(value)?, span(other)?))
}

/// Years as numbers.
const YEARS: std::ops::RangeInclusive<i64> = 1000..=9999;

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;

/// Reads a value as a date: ISO 8601, milliseconds, or a year as a number. The first millisecond
/// of a day is the day, as a date without a time is written in milliseconds so.
fn span(value: &MetadataValue) -> Option<Milliseconds> {
    let whole = value.number().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    match whole {
        Some(year) if YEARS.contains(&year) => of_text(&year.to_string()),
        Some(millis) if millis % DAY_MILLIS == 0 => Some((millis, millis + DAY_MILLIS - 1)),
        Some(millis) => Some((millis, millis)),
        None => of_text(value.text()?),
    }
}

fn of_text(text: &str) -> Option<Milliseconds> {
    crate::dates::span_of_date(text).map(|(first, last)| (first.millis(), last.millis()))
}

#[derive(Default)]
struct Counts {
    n_documents: usize,
    kinds: Vec<&'static str>,
    range: Option<[f64; 2]>,
    /// The earliest and the latest of the dates, each as it is written.
    dates: Option<[(i64, String); 2]>,
    /// Values with how often they occur; nothing once they are too many to name.
    values: Option<BTreeMap<String, (MetadataValue, usize)>>,
    has_begun: bool,
}

fn count(counted: &mut BTreeMap<String, Counts>, metadata: &Value) {
    for (name, value) in metadata.as_object().into_iter().flatten() {
        if value.is_null() {
            continue;
        }
        let counts = counted.entry(name.clone()).or_default();
        counts.n_documents += 1;
        MetadataValue::all_of(value).into_iter().for_each(|element| counts.add(element));
    }
}

impl Counts {
    fn add(&mut self, value: MetadataValue) {
        let date = value.text().filter(|_| value.number().is_none()).zip(span(&value));
        let kind = match &value {
            MetadataValue::Whole(_) | MetadataValue::Real(_) => "number",
            MetadataValue::Boolean(_) => "boolean",
            MetadataValue::Text(_) if date.is_some() => "date",
            MetadataValue::Text(_) => "text",
        };
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        if let Some((text, (at, _))) = date {
            let one = (at, text.to_owned());
            let [low, high] = self.dates.take().unwrap_or_else(|| [one.clone(), one.clone()]);
            self.dates = Some([low.min(one.clone()), high.max(one)]);
        }
        if let ("number", Some(number)) = (kind, value.number()) {
            let [low, high] = self.range.unwrap_or([number, number]);
            self.range = Some([low.min(number), high.max(number)]);
        }
        if !self.has_begun {
            self.has_begun = true;
            self.values = Some(BTreeMap::new());
        }
        if let Some(values) = &mut self.values {
            values.entry(value.plain()).or_insert((value, 0)).1 += 1;
            if values.len() > MAX_NAMED_VALUES {
                self.values = None;
            }
        }
    }

    fn into_field(self) -> MetadataField {
        let mut values: Vec<(MetadataValue, usize)> =
            self.values.unwrap_or_default().into_values().collect();
        values.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let is_short = |value: &MetadataValue| value.plain().chars().count() <= MAX_VALUE_CHARS;
        let kind = if let [only] = self.kinds.as_slice() { *only } else { "mixed" };
        let range = match (self.range, self.dates) {
            (Some(numbers), _) => Some(numbers.map(MetadataValue::Real)),
            (None, Some(dates)) => Some(dates.map(|(_, text)| MetadataValue::Text(text))),
            (None, None) => None,
        };
        MetadataField {
            kind,
            documents: self.n_documents,
            values: values.into_iter().map(|(value, _)| value).filter(is_short).collect(),
            range,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(json: &Value) -> MetadataValue {
        MetadataValue::of_json(json)
    }

    #[track_caller]
    fn check(metadata: &Value, test: Test, expected: bool) {
        let condition = Condition { field: "f".to_owned(), test };
        let metadata = json!({ "f": metadata });
        assert_eq!(condition.holds(&metadata), expected, "{condition:?} {metadata}");
    }

    #[test]
    fn values_lists_and_ranges() {
        let any = |values: &[Value]| Test::AnyOf(values.iter().map(of).collect());
        check(&json!(2025), any(&[json!("2025")]), true);
        check(&json!("2025"), any(&[json!(2025)]), true);
        check(&json!("HR"), any(&[json!("hr")]), true);
        check(&json!(["hr", "law"]), any(&[json!("law"), json!("x")]), true);
        check(&json!(["hr"]), Test::NoneOf(vec!["law".into()]), true);
        check(&json!(["hr"]), Test::NoneOf(vec!["HR".into()]), false);
        check(&json!(true), any(&[json!(true)]), true);
        check(&Value::Null, any(&[json!(1)]), false);
        check(&Value::Null, Test::IsNull(true), true);
        check(&json!(0), Test::IsNull(false), true);
        check(&json!("Annual Report"), Test::Contains("report".to_owned()), true);
        let range = |min: Value, max: Value| Test::Range {
            min: Some(min).filter(|end| !end.is_null()).map(|end| of(&end)),
            max: Some(max).filter(|end| !end.is_null()).map(|end| of(&end)),
        };
        check(&json!(7), range(json!(7), Value::Null), true);
        check(&json!(7), range(json!("8"), Value::Null), false);
        check(&json!(10), range(json!(9), json!(11)), true);
        check(&json!("2024-03-31"), range(json!("2024-03-01"), json!("2024-03")), true);
        check(&json!("2024-03-31T18:00:00Z"), range(Value::Null, json!("2024-03-31")), true);
        check(&json!("2024-04-01"), range(Value::Null, json!("2024-03")), false);
        let millis = json!(1_711_843_200_000_i64);
        check(&json!("2024-03-31T18:00:00Z"), range(millis.clone(), Value::Null), true);
        check(&json!("2024-03-30"), range(millis, Value::Null), false);
    }

    /// Dates were compared letter by letter: milliseconds fitted no day, a year as a number was a
    /// moment of 1970, and another time zone was another time.
    #[test]
    fn dates_are_iso_or_milliseconds() {
        let any = |value: Value| Test::AnyOf(vec![of(&value)]);
        let midnight = json!(1_711_843_200_000_i64);
        for said in [
            midnight.clone(),
            json!("1711843200000"),
            json!("2024-03-31"),
            json!("2024-03"),
            json!(2024),
            json!("2024"),
            json!("2024-03-31T18:00:00Z"),
            json!("2024-04-01T03:00:00+09:00"),
        ] {
            check(&json!("2024-03-31T18:00:00Z"), any(said.clone()), true);
            check(&json!(["2019-01-01", "2024-03-31T18:00:00Z"]), any(said), true);
        }
        check(&json!("2024-03-31"), any(midnight.clone()), true);
        check(&midnight, any(json!("2024-03-31")), true);
        check(&midnight, any(json!("2024-04")), false);
        check(&json!("2024-04-01"), any(midnight.clone()), false);
        check(&json!("2024-03-31"), Test::NoneOf(vec!["2024-03".into()]), false);
        // Years and counts stay numbers.
        check(&json!(2024), any(json!(2024)), true);
        check(&json!(2024), any(json!("2025")), false);
        let range =
            |min: Value, max: Value| Test::Range { min: Some(of(&min)), max: Some(of(&max)) };
        check(&json!("2024-03-31"), range(json!(2024), json!(2024)), true);
        check(&json!("2025-01-01"), range(json!(2024), json!(2024)), false);
        check(&json!(2024), range(json!("2024-01-01"), json!("2024-12-31")), true);
        check(&midnight, range(json!("2024-03-01"), json!("2024-03-31")), true);
        check(&json!("2024-03-31 23:59"), range(midnight.clone(), midnight), true);
        check(&json!("abc"), range(json!("aaa"), json!("abd")), true);
    }

    #[test]
    fn fields_of_dates_say_so() {
        let mut counted = BTreeMap::new();
        for date in ["2024-05-01", "2023-11-30T08:00:00Z", "2024-01"] {
            count(&mut counted, &json!({ "date": date }));
        }
        let field = counted.remove("date").unwrap().into_field();
        let range = ["2023-11-30T08:00:00Z".into(), "2024-05-01".into()];
        assert_eq!((field.kind, field.range), ("date", Some(range)));
    }

    #[test]
    fn fields_say_their_types_and_few_values() {
        let mut counted = BTreeMap::new();
        for n in 0..30 {
            count(&mut counted, &json!({ "year": 2000 + n, "tags": ["a", "b"], "x": null }));
        }
        count(&mut counted, &json!({ "tags": "b" }));
        let fields: BTreeMap<String, MetadataField> =
            counted.into_iter().map(|(name, counts)| (name, counts.into_field())).collect();
        assert_eq!(fields.len(), 2);
        let year = &fields["year"];
        assert_eq!(
            (year.kind, year.documents, year.range.clone()),
            ("number", 30, Some([MetadataValue::Real(2000.0), MetadataValue::Real(2029.0)]))
        );
        assert_eq!(fields["tags"].values, ["b".into(), "a".into()]);
    }
}
