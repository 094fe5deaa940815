//! Lists that are whole: as many elements as the budget holds, and a cursor for the rest.
//!
//! Whoever makes a list ends it here. Nothing behind them cuts again, so following `next` gives
//! every element once.

use across::{Given, MAX_NAMED, Rest};
use model::Warning;
use serde_json::{Value, json};
use text::Budget;

use crate::walk::Walk;

/// Room for what is added to an answer after its list: notices and the cursor.
pub(crate) const NOTICE_CHARS: usize = 600;

/// What a list became.
pub struct Filled {
    /// The answer.
    pub value: Value,
    /// How many elements it holds.
    pub n_kept: usize,
}

/// Puts as many of the items into `answer[list]` as the budget holds, at least one. An item that
/// alone is over the budget is cut, and the answer says where and how much of it is missing.
pub fn fill(mut answer: Value, list: &str, items: Vec<Value>, budget: &Budget) -> Filled {
    let beside = answer.to_string();
    let left = budget.without_sentences(NOTICE_CHARS);
    let texts: Vec<String> = items.iter().map(Value::to_string).collect();
    let n_kept = left.n_fitting(&beside, texts.iter().map(String::as_str)).min(items.len());
    let n_items = items.len();
    let mut kept: Vec<Value> = items.into_iter().take(n_kept).collect();
    let mut notices = Vec::new();
    if let [only] = kept.as_mut_slice() {
        let left = left.without(&beside);
        for cut in shorten(only, &left) {
            let Cut { place, n_kept, n_all, unit } = cut;
            notices.push(format!(
                "`{list}[0]{place}` is too long for one answer: {n_kept} of {n_all} {unit} are here"
            ));
        }
    }
    answer[list] = Value::Array(kept);
    if n_kept < n_items {
        notices.push(format!(
            "{n_kept} of {n_items} results are here, since more would not fit one answer: call \
             again with `next` for the rest"
        ));
    }
    if !notices.is_empty() {
        answer["truncated"] = json!(true);
        let notices = notices.into_iter().map(Value::from);
        match answer.get_mut("warnings").and_then(Value::as_array_mut) {
            Some(warnings) => warnings.extend(notices),
            None => answer["warnings"] = notices.collect(),
        }
    }
    Filled { value: answer, n_kept }
}

/// What was taken out of a value that was too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Where, as `.name` and `[position]` behind each other.
    pub(crate) place: String,
    pub(crate) n_kept: usize,
    pub(crate) n_all: usize,
    pub(crate) unit: &'static str,
}

/// Texts and lists no longer than this stay whole.
const SHORTEST_CUT: usize = 8;

/// Shortens the longest texts and lists of a value, the longest first, until it is within the
/// budget or nothing long is left.
pub(crate) fn shorten(value: &mut Value, budget: &Budget) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    while let Some(allowed) = budget.allowed_chars(&value.to_string()) {
        let n_chars = value.to_string().chars().count();
        let Some((pointer, place, weight)) = heaviest(value) else { break };
        let Some(heaviest) = value.pointer_mut(&pointer) else { break };
        // What is over, and a little more, since what is left may have more tokens to a character.
        let excess = n_chars.saturating_sub(allowed) + n_chars / 16 + 1;
        let share = weight.saturating_sub(excess).max(weight / 2) as f64 / weight.max(1) as f64;
        let (n_before, n_after, unit) = match heaviest {
            Value::String(text) => {
                let n_before = text.chars().count();
                let n_after = ((n_before as f64 * share) as usize).min(n_before - 1);
                *text = text.chars().take(n_after).collect();
                (n_before, n_after, "characters")
            }
            Value::Array(elements) => {
                let n_before = elements.len();
                let n_after = ((n_before as f64 * share) as usize).min(n_before - 1);
                elements.truncate(n_after);
                (n_before, n_after, "elements")
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => break,
        };
        match cuts.iter_mut().find(|cut| cut.place == place) {
            Some(known) => known.n_kept = n_after,
            None => cuts.push(Cut { place, n_kept: n_after, n_all: n_before, unit }),
        }
    }
    cuts
}

/// Ids, addresses and paths are no longer than this.
const MAX_NAME_CHARS: usize = 200;

/// Tells whether a text is an id, an address or a path: half of one opens nothing.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Finds the text or list that takes the most characters: its pointer, its place in words, and
/// its length. A list counts for what its own elements take beside the heaviest of them.
fn heaviest(value: &Value) -> Option<(String, String, usize)> {
    let mut best: Option<(String, String, usize)> = None;
    let mut open = vec![(value, String::new(), String::new())];
    while let Some((value, pointer, place)) = open.pop() {
        let weight = match value {
            Value::String(text) if is_name(text) => 0,
            Value::String(text) if text.chars().count() > SHORTEST_CUT => text.chars().count(),
            Value::Array(elements) => {
                let sizes = elements.iter().map(|one| one.to_string().chars().count());
                let (sum, most) = sizes.fold((0, 0), |(sum, most), n| (sum + n, most.max(n)));
                for (at, one) in elements.iter().enumerate() {
                    open.push((one, format!("{pointer}/{at}"), format!("{place}[{at}]")));
                }
                if elements.len() > SHORTEST_CUT { sum - most } else { 0 }
            }
            Value::Object(members) => {
                for (name, one) in members {
                    let escaped = model::pointer_token(name);
                    open.push((one, format!("{pointer}/{escaped}"), format!("{place}.{name}")));
                }
                0
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        if weight > 0 && best.as_ref().is_none_or(|(_, _, most)| weight > *most) {
            best = Some((pointer, place, weight));
        }
    }
    best
}

/// A page of a ranked list, before it is cut to the budget.
pub(crate) struct RankedPage<'a> {
    /// The list, which the cursor is of.
    pub(crate) walk: &'a Walk,
    /// What the pages before gave.
    pub(crate) given: Given,
    /// What a walk knows each item by: itself first, and whatever is folded into it.
    pub(crate) names: Vec<Vec<&'a str>>,
    /// What is behind the page.
    pub(crate) rest: Rest,
    /// Up to where a page in the fixed order was looked at, where others are behind that.
    pub(crate) looked_to: Option<u64>,
}

/// What is behind what was found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Behind {
    /// Up to where a page in the fixed order was looked at, where others are behind that.
    pub(crate) looked_to: Option<u64>,
    /// Whether others may pass the threshold that were not judged for a page by rank: a walk that found
    /// something goes on with them in the fixed order.
    pub(crate) has_unjudged: bool,
}

/// Takes the page of a walk out of everything that was found: what is best without what was given,
/// or what is next in the fixed order once the walk is closed.
pub(crate) fn take_page<T>(
    found: &mut Vec<T>,
    name: impl Fn(&T) -> &str,
    given: &Given,
    limit: usize,
    behind: Behind,
) -> (Rest, Option<u64>) {
    found.retain(|item| !given.holds(name(item)));
    if given.is_closed() {
        found.sort_by_key(|item| Given::place_of(name(item)));
    }
    // What is cut off comes with the next page, which begins behind the last that is kept.
    let has_unjudged =
        behind.has_unjudged && !given.is_closed() && (given.n_named() > 0 || !found.is_empty());
    let looked_to = behind.looked_to.filter(|_| found.len() <= limit);
    let rest = match found.len() > limit {
        true if given.is_closed() => Rest::InOrder,
        true => Rest::ByRank,
        false if looked_to.is_some() || has_unjudged => Rest::InOrder,
        false => Rest::None,
    };
    found.truncate(limit);
    (rest, looked_to)
}

/// Says how many results a page needs: one more than is wanted tells whether there is more, and by
/// rank those that were given come again.
pub(crate) fn n_needed(given: &Given, limit: usize) -> usize {
    match given.is_closed() {
        true => limit + 1,
        false => given.n_named().saturating_add(limit + 1),
    }
}

/// Names what a page gives beside what was given before it; beyond so many, or so much of the
/// budget, the walk goes on in a fixed order.
pub(crate) fn named<'a>(
    given: Given,
    names: impl Iterator<Item = &'a str>,
    budget: &Budget,
) -> Given {
    let named = given.with(names);
    let eighth = Budget { chars: budget.chars / 8, tokens: budget.tokens / 8 };
    let is_too_long = named.n_named() >= MAX_NAMED || !eighth.fits(&named.encode());
    if is_too_long { named.closed() } else { named }
}

/// Fills a list as [`fill`] does, and puts the cursor behind it that names what was given.
pub(crate) fn fill_ranked(
    answer: Value,
    list: &str,
    items: Vec<Value>,
    page: RankedPage<'_>,
    budget: &Budget,
) -> Filled {
    let RankedPage { walk, given, names, rest, looked_to } = page;
    let n_items = items.len();
    let cursor = |n_kept: usize| {
        let kept = names.iter().take(n_kept);
        if given.is_closed() {
            // What is folded into an item has no place in this order: its source gives it there alone.
            let last = kept.filter_map(|names| names.first()).next_back();
            // A page may be full without an item: all that was looked at is below a threshold.
            return match (last, looked_to.filter(|_| n_kept == n_items)) {
                (last, Some(place)) => {
                    let given = last.map_or(given.clone(), |last| given.clone().behind(last));
                    Some(given.behind_place(place))
                }
                (Some(last), None) => Some(given.clone().behind(last)),
                (None, None) => None,
            };
        }
        let named = named(given.clone(), kept.flatten().copied(), budget);
        let is_end_of_rank = n_kept == n_items && rest == Rest::InOrder;
        Some(if is_end_of_rank { named.closed() } else { named })
    };
    // The cursor takes space beside the items that it names.
    let longest = cursor(n_items).map(|given| walk.written_given(&given)).unwrap_or_default();
    let Filled { mut value, n_kept } = fill(answer, list, items, &budget.without(&longest));
    if (n_kept < n_items || rest != Rest::None)
        && let Some(given) = cursor(n_kept)
    {
        value["next"] = json!(walk.written_given(&given));
    }
    Filled { value, n_kept }
}

/// Says of a page of a walk that its order is not by rank.
pub(crate) fn in_fixed_order(given: &Given) -> Option<Warning> {
    given.is_closed().then(fixed_order)
}

/// Says that the order of a page is not by rank.
pub(crate) fn fixed_order() -> Warning {
    let message = "the best were given: the others come in a fixed order, not best first";
    Warning::new("fixed_order", message)
}

/// Refuses what is no cursor.
pub(crate) fn bad_cursor(cursor: &str) -> crate::ToolError {
    let shown: String = cursor.chars().take(100).collect();
    crate::ToolError::bad_request(format!("`cursor` is not a cursor of this tool: `{shown}`"))
        .with_detail("argument", "cursor")
        .with_hint("pass `next` of the answer before, or leave `cursor` out to begin again")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walking gives everything once, whatever the budget; one element always gets through.
    /// Room for notices took all of a small budget, and of `item number 12` seven characters were
    /// left, with no way to the others.
    #[test]
    fn a_short_item_is_whole_at_the_least_budget() {
        let items = vec![json!({ "name": "item number 12", "kind": "kind 4", "count": 1 }); 40];
        let budget = Budget { chars: 1_750, tokens: 437 };
        let Filled { value, n_kept } = fill(json!({ "total": 40 }), "rows", items.clone(), &budget);
        assert!((8..40).contains(&n_kept), "{value}");
        assert_eq!(value["rows"][0], items[0]);
        assert!(budget.fits(&value.to_string()));
    }

    #[test]
    fn walks_are_whole_at_every_budget() {
        let items: Vec<Value> =
            (0..40).map(|n| json!({ "n": n, "text": "x".repeat(n * 7) })).collect();
        for chars in [1_000, 2_000, 5_000, 100_000] {
            let budget = Budget { chars, tokens: chars };
            let (mut seen, mut at) = (Vec::new(), 0);
            while at < items.len() {
                let rest = items[at..].to_vec();
                let Filled { value, n_kept } = fill(json!({}), "items", rest, &budget);
                assert!(n_kept > 0);
                if n_kept > 1 {
                    assert!(budget.fits(&value.to_string()), "{chars}: {value}");
                }
                seen.extend(value["items"].as_array().unwrap().clone());
                at += n_kept;
                assert_eq!(value.get("truncated").is_some(), at < items.len());
            }
            assert_eq!(seen, items, "{chars}");
        }
    }

    /// One item that is over the budget alone was let through whole once, or lost its text
    /// without a word.
    #[test]
    fn an_item_over_the_budget_is_cut_with_a_notice() {
        let budget = Budget { chars: 2_000, tokens: 1_000 };
        let tall: Vec<Value> = (0..900).map(|n| json!({ "n": n })).collect();
        for item in [
            json!({ "id": "a", "text": "word ".repeat(5_000) }),
            json!({ "id": "a", "text": "長".repeat(5_000), "other": "x".repeat(3_000) }),
            json!({ "id": "a", "deep": { "list": tall } }),
        ] {
            let items = vec![item, json!({ "id": "b" })];
            let Filled { value, n_kept } = fill(json!({}), "items", items, &budget);
            assert_eq!((n_kept, &value["items"][0]["id"]), (1, &json!("a")));
            assert!(budget.fits(&value.to_string()), "{value}");
            let warning = value["warnings"][0].as_str().unwrap();
            let totals = ["of 5000 ", "of 900 ", "of 25000 "];
            assert!(totals.iter().any(|total| warning.contains(total)), "{warning}");
        }
    }

    /// With few tokens left, half an id came, which nothing could be fetched by.
    #[test]
    fn ids_and_addresses_are_whole_or_not_there() {
        let budget = Budget { chars: 700, tokens: 20 };
        let (id, url) =
            ("fEUshX08G2c3CmLq-9aBz", "http://127.0.0.1:7700/open/fEUshX08G2c3CmLq-9aBz");
        let item = json!({ "id": id, "url": url, "text": "some words ".repeat(40) });
        let value = fill(json!({}), "items", vec![item], &budget).value;
        assert_eq!(
            (&value["items"][0]["id"], &value["items"][0]["url"]),
            (&json!(id), &json!(url))
        );
        assert!(value["items"][0]["text"].as_str().unwrap().len() <= SHORTEST_CUT);
    }
}
