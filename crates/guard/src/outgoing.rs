//! What may leave: source text is redacted where it is, and the size is held against the budget.
//!
//! Nothing is cut here. Whoever makes a list or reads a text is given the budget and makes the
//! cursor, so that following it gives everything; an answer that is over its budget all the same
//! says so ([`Outgoing::allowed_chars`]), and its caller asks for less or reports a mistake.

use serde_json::Value;
use text::Budget;

use crate::redaction::redact_at;

/// An answer that may leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The answer, with `redacted` where pieces were taken out.
    pub value: Value,
    /// Its text form: the same JSON.
    pub text: String,
    /// Pieces of source text that were taken out.
    pub n_redacted: usize,
    /// About how many characters of it the budget allows; nothing when it is within.
    pub allowed_chars: Option<usize>,
}

/// Redacts the strings at `source_text` and measures what is left. Nothing outside of these
/// places changes, but for the count of what was taken out.
pub fn release(mut value: Value, source_text: &[impl AsRef<str>], caps: &Budget) -> Outgoing {
    let n_redacted = redact_at(&mut value, source_text);
    let text = value.to_string();
    let allowed_chars = caps.allowed_chars(&text);
    Outgoing { value, text, n_redacted, allowed_chars }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CAPS: Budget = Budget { chars: 2_000, tokens: 2_000 };

    #[test]
    fn only_the_named_places_are_redacted() {
        let answer = json!({
            "query": "who is ann@example.org",
            "results": [
                { "id": "bob@example.org", "content": "bob@example.org wrote", "path": "/x/ann@example.org" },
                { "id": "2", "content": "nothing" },
            ],
        });
        let outgoing = release(answer, &["/results/*/content"], &CAPS);
        assert_eq!(outgoing.n_redacted, 1);
        assert_eq!(outgoing.value["redacted"], 1);
        assert_eq!(outgoing.value["query"], "who is ann@example.org");
        assert_eq!(outgoing.value["results"][0]["id"], "bob@example.org");
        assert_eq!(outgoing.value["results"][0]["path"], "/x/ann@example.org");
        assert!(!outgoing.value["results"][0]["content"].as_str().unwrap().contains("bob@"));
        assert_eq!(outgoing.text, outgoing.value.to_string());
    }

    /// The tail of a list was dropped here once, behind the back of whoever had made the cursor:
    /// walks lost rows.
    #[test]
    fn an_answer_over_its_budget_is_measured_and_stays_whole() {
        let results: Vec<Value> =
            (0..100).map(|n| json!({ "content": "x".repeat(90), "n": n })).collect();
        let answer = json!({ "results": results });
        let outgoing = release(answer.clone(), &["/results/*/content"], &CAPS);
        assert_eq!(outgoing.value, answer);
        assert!(outgoing.allowed_chars.is_some_and(|allowed| allowed <= CAPS.chars));
        let few = release(json!({ "results": [] }), &["/results/*/content"], &CAPS);
        assert_eq!(few.allowed_chars, None);
    }

    #[test]
    fn tokens_count_as_well() {
        let caps = Budget { chars: 100_000, tokens: 500 };
        for content in ["東京都の図書館は日曜日も開いています。", "1-2/3.4;5,6:7+8=9 "]
        {
            let answer = json!({ "text": content.repeat(100) });
            assert!(release(answer, &["/text"], &caps).allowed_chars.is_some(), "{content}");
            let answer = json!({ "text": content });
            assert_eq!(release(answer, &["/text"], &caps).allowed_chars, None, "{content}");
        }
    }
}
