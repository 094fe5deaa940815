//! What an empty series is told: the nearest filter that has facts.

use model::Deadline;

use super::Finance;
use crate::charts::request::{AccountCategory, ChartFilter};

impl Finance {
    /// Names the filter nearest to an empty one that has facts: a code with all below it, the code
    /// above a prefix, the filter without one of its parts, or the other side of the account.
    pub(super) fn nearest_with_facts(&self, filter: &ChartFilter, deadline: &Deadline) -> String {
        let periods = filter.report_period.periods();
        let has_facts = |wider: &ChartFilter| {
            let sums = self.facts.sums(wider, deadline);
            sums.is_ok_and(|sums| periods.iter().any(|period| sums.by_period.contains_key(period)))
        };
        let nearest = wider(filter).into_iter().find(|(_, wider)| has_facts(wider));
        nearest.map_or_else(String::new, |(said, _)| format!("; {said}"))
    }
}

/// Gives the filters near to one, the nearest first, each with what is said of it.
fn wider(filter: &ChartFilter) -> Vec<(String, ChartFilter)> {
    let mut near = Vec::new();
    let mut add = |said: String, wider: ChartFilter| {
        if wider != *filter {
            near.push((said, wider));
        }
    };
    let below = |codes: &[String]| -> Vec<String> {
        codes.iter().map(|code| format!("{}.", code.trim_end_matches('.'))).collect()
    };
    let only = &filter.only;
    let prefixes = below(&only.functional_codes);
    let mut with_prefixes = filter.clone();
    with_prefixes.only.functional_codes.clear();
    with_prefixes.only.functional_prefixes.extend(prefixes.iter().cloned());
    add(has_facts("functional_prefixes", &prefixes), with_prefixes);
    let prefixes = below(&only.economic_codes);
    let mut with_prefixes = filter.clone();
    with_prefixes.only.economic_codes.clear();
    with_prefixes.only.economic_prefixes.extend(prefixes.iter().cloned());
    add(has_facts("economic_prefixes", &prefixes), with_prefixes);

    let above = above(&only.functional_prefixes);
    let mut with_above = filter.clone();
    with_above.only.functional_prefixes.clone_from(&above);
    add(has_facts("functional_prefixes", &above), with_above);
    let above = self::above(&only.economic_prefixes);
    let mut with_above = filter.clone();
    with_above.only.economic_prefixes.clone_from(&above);
    add(has_facts("economic_prefixes", &above), with_above);

    for key in only.own.keys() {
        let mut without = filter.clone();
        without.only.own.remove(key);
        add(format!("without `{key}` there are facts"), without);
    }
    let mut add_without = |name: &str, change: fn(&mut ChartFilter)| {
        let mut without = filter.clone();
        change(&mut without);
        add(format!("without `{name}` there are facts"), without);
    };
    add_without("economic_prefixes", |filter| filter.only.economic_prefixes.clear());
    add_without("economic_codes", |filter| filter.only.economic_codes.clear());
    add_without("functional_prefixes", |filter| filter.only.functional_prefixes.clear());
    add_without("functional_codes", |filter| filter.only.functional_codes.clear());
    add_without("entity_cuis", |filter| filter.only.entity_cuis.clear());
    add_without("uat_ids", |filter| filter.only.uat_ids.clear());
    add_without("county_codes", |filter| filter.only.county_codes.clear());
    let mut other_side = filter.clone();
    let (other, name) = match filter.account_category {
        AccountCategory::Ch => (AccountCategory::Vn, "vn"),
        AccountCategory::Vn => (AccountCategory::Ch, "ch"),
    };
    other_side.account_category = other;
    add(format!("`account_category` `{name}` has facts"), other_side);
    near
}

fn has_facts(name: &str, values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    format!("`{name}` {} has facts", values.join(", "))
}

/// Gives the prefixes above: `70.` of `70.11.`, and `70.` of itself.
fn above(prefixes: &[String]) -> Vec<String> {
    let mut above: Vec<String> = prefixes
        .iter()
        .map(|prefix| match prefix.trim_end_matches('.').rsplit_once('.') {
            Some((above, _)) => format!("{above}."),
            None => prefix.clone(),
        })
        .collect();
    above.sort();
    above.dedup();
    above
}
