//! Lists over REST: `after` and `limit` in, `next` out, every element once.
//!
//! Each element has a key that orders the list and does not change; the cursor is the key of
//! the last element that was given. So elements may come and go during a walk, and what exists
//! all the time is given exactly once.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Value, json};
use text::Budget;
use tools::ToolError;

use super::rest::Reply;
use crate::http::{Parameters, QueryParameters, Takes};

/// Elements of a page when the caller does not say.
const DEFAULT_LIMIT: usize = 100;

/// The most elements of one page.
pub(crate) const MAX_LIMIT: usize = 500;

/// Room for what is beside the list.
const BESIDE_CHARS: usize = 600;

/// Which page of a list is asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PageQuery {
    after: Option<String>,
    limit: Option<usize>,
}

impl Parameters for PageQuery {
    const TAKEN: &'static [(&'static str, Takes)] = &[
        ("after", Takes::Text),
        ("limit", Takes::Number { from: 1, most: Some(MAX_LIMIT as u64) }),
    ];
}

/// A page as the address asks for it.
pub(crate) type PageOf = QueryParameters<PageQuery>;

/// A page that was asked for, checked.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// The name of the list in its answer, which is in its cursors too.
    list: &'static str,
    after: Option<String>,
    limit: usize,
    budget: Budget,
}

impl Page {
    /// Checks what was asked for of a list.
    ///
    /// Fails when an argument is unknown, the limit is out of range, or `after` is no cursor of this
    /// list: one of another goes on anywhere, and what is before that is lost without a word.
    pub(crate) fn read(
        list: &'static str,
        asked: PageOf,
        budget: Budget,
    ) -> Result<Page, ToolError> {
        let asked = asked.0?;
        // More than a page holds is given in several: `next` leads to the rest.
        let limit = asked.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        // An empty `after` begins at the start, as a missing one does.
        let after = asked.after.filter(|after| !after.is_empty());
        let after = after.map(|after| decode(list, &after)).transpose()?;
        Ok(Page { list, after, limit, budget: budget.before_redaction() })
    }

    /// Gives the key behind which the page begins.
    pub(crate) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Gives how many elements a family is asked for: one more tells whether there is more.
    pub(crate) fn n_asked(&self) -> usize {
        self.limit + 1
    }

    /// Answers with a page of elements, each with its key. The keys need not be in order, and
    /// may begin before the page.
    pub(crate) fn reply(&self, mut keyed: Vec<(String, Value)>) -> Reply {
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
        keyed.retain(|(key, _)| self.after.as_ref().is_none_or(|after| key > after));
        self.reply_in_order(keyed)
    }
}

impl Page {
    /// Answers with a page of elements that are in order and begin where the page does. The page
    /// holds no more than its limit; `n_asked` of them tell whether there is more.
    pub(crate) fn reply_in_order(&self, keyed: Vec<(String, Value)>) -> Reply {
        let list = self.list;
        let texts: Vec<String> =
            keyed.iter().take(self.limit).map(|(_, value)| value.to_string()).collect();
        let budget = self.budget.without_sentences(BESIDE_CHARS);
        let n_kept = budget.n_fitting("", texts.iter().map(String::as_str));
        let n_kept = n_kept.min(texts.len());
        let next = (n_kept < keyed.len())
            .then(|| keyed.get(n_kept.saturating_sub(1)).map(|(key, _)| encode(list, key)))
            .flatten();
        let items: Vec<Value> = keyed.into_iter().take(n_kept).map(|(_, value)| value).collect();
        let n_results = items.len();
        Reply::ok(json!({ list: items, "next": next })).with_n_results(n_results)
    }
}

/// Orders the oldest first, and equals by id.
pub(crate) fn oldest_first(at: model::Timestamp, id: &str) -> String {
    format!("{:020}/{id}", at.millis())
}

/// Orders the newest first, and equals by id.
pub(crate) fn newest_first(at: model::Timestamp, id: &str) -> String {
    format!("{:020}/{id}", i64::MAX - at.millis())
}

/// Is between the name of a list and a key, and in neither.
const BEHIND_LIST: char = '\0';

fn encode(list: &str, key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}{BEHIND_LIST}{key}"))
}

fn decode(list: &str, after: &str) -> Result<String, ToolError> {
    let bad = |problem: &str| {
        let shown: String = after.chars().take(100).collect();
        ToolError::bad_request(format!("`after` {problem}: `{shown}`"))
            .with_detail("argument", "after")
            .with_hint("pass `next` of the page before, or leave it out to begin again")
    };
    let no_cursor = || bad("is not a cursor of a list");
    // Ids were cursors before; they still go on where they went on.
    if after.len() == 36 && after.bytes().filter(|byte| *byte == b'-').count() == 4 {
        return Ok(after.to_owned());
    }
    let bytes = URL_SAFE_NO_PAD.decode(after).map_err(|_| no_cursor())?;
    let text = String::from_utf8(bytes).map_err(|_| no_cursor())?;
    let (of, key) = text.split_once(BEHIND_LIST).ok_or_else(no_cursor)?;
    if of == list { Ok(key.to_owned()) } else { Err(bad("is a cursor of another list")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: Option<String>, limit: usize, budget: Budget) -> Page {
        let after = after.map(|after| decode("items", &after).unwrap());
        Page { list: "items", after, limit, budget }
    }

    /// Every element is given once at every page size and budget, also when others go meanwhile.
    #[test]
    fn walks_are_whole() {
        let all: Vec<(String, Value)> = (0..57)
            .map(|n| (format!("key {n:03}"), json!({ "n": n, "text": "x".repeat(n * 5) })))
            .collect();
        for limit in [1, 2, 7, 56, 57, 58, 500] {
            for chars in [1, 900, 3_000, 1_000_000] {
                let budget = Budget { chars, tokens: chars };
                let (mut seen, mut after) = (Vec::new(), None);
                loop {
                    let reply = page(after.take(), limit, budget).reply(all.clone());
                    let value = reply.into_value();
                    let items = value["items"].as_array().unwrap();
                    assert!(!items.is_empty() && items.len() <= limit);
                    seen.extend(items.iter().map(|item| item["n"].as_u64().unwrap()));
                    after = value["next"].as_str().map(str::to_owned);
                    if after.is_none() {
                        break;
                    }
                }
                assert_eq!(seen, (0..57).collect::<Vec<u64>>(), "{limit} {chars}");
            }
        }
    }

    /// A cursor of another list went on in the middle of this one.
    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let next = encode("jobs", "0001/x");
        assert_eq!(decode("jobs", &next).unwrap(), "0001/x");
        let refused = decode("charts", &next).unwrap_err();
        assert!(refused.message.contains("another list"), "{}", refused.message);
    }
}
