//! Lists that are whole: as many elements as the budget holds, and a cursor for the rest.
//!
//! Whoever makes a list ends it here. Nothing behind them cuts again, so following `next` gives
//! every element once.

use serde_json::{Value, json};
use text::Budget;

/// Room for what is added to an answer after its list: notices and the cursor.
const NOTICE_CHARS: usize = 600;

/// What a list became.
pub(crate) struct Filled {
    /// The answer.
    pub(crate) value: Value,
    /// How many elements it holds.
    pub(crate) n_kept: usize,
}

/// Puts as many of the items into `answer[list]` as the budget holds, at least one.
pub(crate) fn fill(mut answer: Value, list: &str, items: Vec<Value>, budget: &Budget) -> Filled {
    let beside = format!("{answer}{}", " ".repeat(NOTICE_CHARS));
    let texts: Vec<String> = items.iter().map(Value::to_string).collect();
    let n_kept = budget.n_fitting(&beside, texts.iter().map(String::as_str)).min(items.len());
    let n_items = items.len();
    answer[list] = items.into_iter().take(n_kept).collect();
    if n_kept < n_items {
        let notice = format!(
            "{n_kept} of {n_items} results are here, since more would not fit one answer: call \
             again with `next` for the rest"
        );
        answer["truncated"] = json!(true);
        match answer.get_mut("warnings").and_then(Value::as_array_mut) {
            Some(warnings) => warnings.push(json!(notice)),
            None => answer["warnings"] = json!([notice]),
        }
    }
    Filled { value: answer, n_kept }
}

/// Reads a cursor that counts the elements which were given.
///
/// Fails with the sentence for the caller when it is no cursor of this kind.
pub(crate) fn position(cursor: Option<&str>) -> Result<usize, crate::ToolError> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().map_err(|_| {
        let shown: String = cursor.chars().take(100).collect();
        crate::ToolError::bad_request(format!("`cursor` is no cursor of this tool: `{shown}`"))
            .with_detail("argument", "cursor")
            .with_hint("pass `next` of the answer before, or leave `cursor` out to begin again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walking gives everything once, whatever the budget; one element always gets through.
    #[test]
    fn walks_are_whole_at_every_budget() {
        let items: Vec<Value> =
            (0..40).map(|n| json!({ "n": n, "text": "x".repeat(n * 7) })).collect();
        for chars in [1, 700, 1_000, 2_000, 5_000, 100_000] {
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
}
