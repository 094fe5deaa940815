//! Facets within a part of the budget: of each the same number of its most frequent values, and
//! of very many fields the first ones.

use serde_json::{Map, Value};
use text::{Budget, count_tokens};

use crate::paging::{Cut, shorten};

/// Fields that a notice names.
const MAX_NAMED: usize = 10;

/// Facets are left out before those that are here have fewer values than this.
const MIN_VALUES: usize = 3;

/// What a text takes of a budget.
#[derive(Clone, Copy, Default)]
struct Size {
    chars: usize,
    tokens: usize,
}

impl Size {
    fn of(text: &str) -> Self {
        // A comma is behind it.
        Size { chars: text.chars().count() + 1, tokens: count_tokens(text) + 1 }
    }

    fn and(self, other: Size) -> Self {
        Size { chars: self.chars + other.chars, tokens: self.tokens + other.tokens }
    }

    fn fits(self, budget: &Budget) -> bool {
        self.chars <= budget.chars && self.tokens <= budget.tokens
    }
}

/// What the first values of a facet take: without any, with one, with two, and so on.
struct Measured(Vec<Size>);

impl Measured {
    fn of(name: &str, facet: &Value) -> Self {
        let rows = facet["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut beside = facet.clone();
        beside["rows"] = Value::Array(Vec::new());
        let mut size = Size::of(&format!("\"{name}\":{beside}"));
        let mut sizes = vec![size];
        for row in rows {
            size = size.and(Size::of(&row.to_string()));
            sizes.push(size);
        }
        Measured(sizes)
    }

    fn first(&self, n_values: usize) -> Size {
        let at = n_values.min(self.0.len().saturating_sub(1));
        self.0.get(at).copied().unwrap_or_default()
    }
}

/// Shortens facets until they are within a budget; says what is not here.
pub(super) fn facets_within(facets: &mut Value, budget: &Budget) -> Vec<String> {
    if budget.fits(&facets.to_string()) {
        return Vec::new();
    }
    let Some(members) = facets.as_object_mut() else { return Vec::new() };
    let measured: Vec<Measured> =
        members.iter().map(|(name, facet)| Measured::of(name, facet)).collect();
    let size = |n_values: usize| {
        measured.iter().map(|facet| facet.first(n_values)).fold(Size::default(), Size::and)
    };
    let longest = measured.iter().map(|facet| facet.0.len()).max().unwrap_or(0);
    let n_values = (0..longest).collect::<Vec<_>>().partition_point(|n| size(*n).fits(budget));
    let n_values = n_values.saturating_sub(1).max(MIN_VALUES);
    let mut cut: Vec<String> = Vec::new();
    for (name, facet) in members.iter_mut() {
        if let Some(rows) = facet["rows"].as_array_mut().filter(|rows| rows.len() > n_values) {
            rows.truncate(n_values);
            cut.push(name.clone());
        }
    }
    let left_out = match size(n_values).fits(budget) {
        true => 0,
        false => shorter(members, &mut cut, budget),
    };
    let mut notes = Vec::new();
    if !cut.is_empty() {
        notes.push(format!(
            "not all values of {} are counted here, since they would not fit one answer: name \
             fewer `facets`, or walk them with aggregate_table",
            named(&cut)
        ));
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} facets are not here, since they would not fit one answer: name the fields \
             to count in `facets`"
        ));
    }
    notes
}

/// Shortens long values, and leaves the last facets out where that is not enough; gives how many.
fn shorter(members: &mut Map<String, Value>, cut: &mut Vec<String>, budget: &Budget) -> usize {
    let n_before = members.len();
    // With many fields no value is long.
    if n_before <= MAX_NAMED {
        let mut value = Value::Object(std::mem::take(members));
        for Cut { place, .. } in shorten(&mut value, budget) {
            let name = place.split('.').nth(1).unwrap_or_default().to_owned();
            if !cut.contains(&name) {
                cut.push(name);
            }
        }
        if let Value::Object(shortened) = value {
            *members = shortened;
        }
    }
    let mut size = Size::default();
    let mut n_kept = 0;
    for (name, facet) in members.iter() {
        size = size.and(Size::of(&format!("\"{name}\":{facet}")));
        if n_kept > 0 && !size.fits(budget) {
            break;
        }
        n_kept += 1;
    }
    let names: Vec<String> = members.keys().skip(n_kept).cloned().collect();
    names.iter().for_each(|name| drop(members.shift_remove(name)));
    cut.retain(|name| members.contains_key(name));
    names.len()
}

/// Names the first of some fields.
fn named(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        n_more => format!("{shown} and {n_more} more"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facets(n_fields: usize, n_values: usize) -> Value {
        let facet = |field: usize| {
            let rows =
                (0..n_values).map(|n| json!({ "value": format!("v{field}_{n}"), "total": 1 }));
            let rows: Vec<Value> = rows.collect();
            (format!("field_{field}"), json!({ "rows": rows, "total": n_values }))
        };
        (0..n_fields).map(facet).collect::<Map<_, _>>().into()
    }

    /// A table of 400 columns never answered: each list was shortened by itself, and everything was
    /// written anew each time.
    #[test]
    fn every_field_has_its_share_and_very_many_are_left_out() {
        for (n_fields, n_values) in [(1, 5_000), (3, 900), (40, 60), (400, 50), (3_000, 2)] {
            for chars in [2_000, 12_000, 50_000] {
                let budget = Budget { chars, tokens: chars / 4 };
                let mut value = facets(n_fields, n_values);
                let is_whole = budget.fits(&value.to_string());
                let notes = facets_within(&mut value, &budget);
                assert!(budget.fits(&value.to_string()), "{n_fields} {n_values} {chars}");
                assert_eq!(notes.is_empty(), is_whole, "{n_fields} {n_values} {chars}");
                let kept = value.as_object().unwrap();
                let n_rows = |facet: &Value| facet["rows"].as_array().unwrap().len();
                let least = kept.values().map(n_rows).min().unwrap();
                assert!(least >= MIN_VALUES.min(n_values), "{n_fields} {n_values} {chars}");
                assert!(kept.values().all(|facet| n_rows(facet) == least));
                assert!(notes.iter().all(|note| note.len() < 400), "{notes:?}");
            }
        }
    }
}
