//! What may leave: source text is redacted where it is, and an answer that is over its budget all
//! the same is cut with a notice.
//!
//! Lists are never cut here: whoever makes a list is given the budget and makes the cursor. An
//! answer that is over it is a mistake, which is logged; what is cut then are long texts, and
//! elements only where texts are not what makes it large.

use serde_json::Value;
use text::Budget;

use crate::paths::strings_at;
use crate::redaction::redact_at;

/// An answer that may leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The answer, with `redacted`, `truncated` and `warnings` where they apply.
    pub value: Value,
    /// Its text form: the same JSON.
    pub text: String,
    /// Pieces of source text that were taken out.
    pub n_redacted: usize,
    /// Whether something was cut.
    pub was_cut: bool,
}

/// Redacts the strings at `source_text` and cuts the answer to size, dropping the tail of the
/// list at `list` first. Nothing outside these places changes, but for the notices.
pub fn release(
    mut value: Value,
    source_text: &[impl AsRef<str>],
    list: Option<&str>,
    caps: &Budget,
) -> Outgoing {
    let n_redacted = redact_at(&mut value, source_text);
    let mut text = value.to_string();
    let mut was_cut = false;
    if let Some(mut limit) = caps.allowed_chars(&text) {
        was_cut = true;
        let whole = value.clone();
        for _ in 0..CUT_ROUNDS {
            value = whole.clone();
            cut(&mut value, source_text, list, limit);
            text = value.to_string();
            match caps.allowed_chars(&text) {
                // What is left has more tokens to the character than the whole.
                Some(allowed) => limit = allowed.min(limit - limit / 8),
                None => break,
            }
        }
    }
    Outgoing { value, text, n_redacted, was_cut }
}

/// Source text that stands for itself, outside of an answer, as it may leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingText {
    /// The text.
    pub text: String,
    /// Pieces that were taken out.
    pub n_redacted: usize,
    /// Whether its end is missing; a last line says so.
    pub was_cut: bool,
}

/// Redacts a whole source text and cuts it to size, with a last line that says so.
pub fn release_text(text: &str, caps: &Budget) -> OutgoingText {
    let redaction = text::redact(text);
    let mut outgoing =
        OutgoingText { text: redaction.text, n_redacted: redaction.n_pieces, was_cut: false };
    let mut n_kept = usize::MAX;
    while let Some(limit) = caps.allowed_chars(&outgoing.text) {
        // Every round keeps less, and ends at nothing.
        n_kept = limit.saturating_sub(NOTICE_CHARS).min(n_kept.saturating_sub(1));
        match outgoing.text.char_indices().nth(n_kept) {
            Some((at, _)) if n_kept > 0 => outgoing.text.truncate(at),
            Some(_) | None => outgoing.text.clear(),
        }
        outgoing.was_cut = true;
        if outgoing.text.is_empty() {
            break;
        }
    }
    if outgoing.was_cut {
        let n_kept = outgoing.text.chars().count();
        let notice = format!("\n[cut after {n_kept} characters: ask for a part of it]");
        outgoing.text.push_str(&notice);
    }
    outgoing
}

/// Characters are never more than bytes, so that most answers are not counted at all.
fn exceeds(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().count() > limit
}

/// How often an answer is cut anew when what is left still has too many tokens.
const CUT_ROUNDS: usize = 8;

/// Room for the notice itself.
const NOTICE_CHARS: usize = 300;

fn cut(value: &mut Value, source_text: &[impl AsRef<str>], list: Option<&str>, limit: usize) {
    let budget = limit.saturating_sub(NOTICE_CHARS);
    let mut notice = format!("the answer was cut to {limit} characters");
    if let Some(Value::Array(elements)) = list.and_then(|list| value.pointer_mut(list)) {
        let n_before = elements.len();
        let sizes: Vec<usize> =
            elements.iter().map(|element| element.to_string().chars().count() + 1).collect();
        let taken = std::mem::take(elements);
        let fixed = value.to_string().chars().count();
        let mut used = fixed;
        let n_kept = sizes
            .iter()
            .take_while(|size| {
                used += **size;
                used <= budget
            })
            .count()
            .max(1);
        if let Some(Value::Array(elements)) = list.and_then(|list| value.pointer_mut(list)) {
            elements.extend(taken.into_iter().take(n_kept));
        }
        if n_kept < n_before {
            notice.push_str(&format!(
                ": {n_kept} of {n_before} results are shown, ask for fewer or for the next page"
            ));
        }
    }
    let text = value.to_string();
    if exceeds(&text, budget) {
        let excess = text.chars().count() - budget;
        shorten_texts(value, source_text, excess);
        notice.push_str("; long texts were shortened");
    }
    if let Value::Object(object) = value {
        object.insert("truncated".to_owned(), Value::Bool(true));
        let warnings = object.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(warnings) = warnings {
            warnings.push(Value::String(notice));
        }
    }
}

/// Shortens source texts evenly until about `excess` characters are gone.
fn shorten_texts(value: &mut Value, source_text: &[impl AsRef<str>], excess: usize) {
    let mut lengths = Vec::new();
    for pattern in source_text {
        strings_at(value, pattern.as_ref(), &mut |text, _| lengths.push(text.chars().count()));
    }
    let total: usize = lengths.iter().sum();
    if total == 0 {
        return;
    }
    // Twice the excess, since characters that are escaped in JSON count double.
    let keep = total.saturating_sub(excess.saturating_mul(2)) as f64 / total as f64;
    for pattern in source_text {
        strings_at(value, pattern.as_ref(), &mut |text, _| {
            let n_kept = (text.chars().count() as f64 * keep) as usize;
            if let Some((at, _)) = text.char_indices().nth(n_kept) {
                text.truncate(at);
                text.push('…');
            }
        });
    }
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
        let outgoing = release(answer, &["/results/*/content"], Some("/results"), &CAPS);
        assert_eq!(outgoing.n_redacted, 1);
        assert_eq!(outgoing.value["redacted"], 1);
        assert_eq!(outgoing.value["query"], "who is ann@example.org");
        assert_eq!(outgoing.value["results"][0]["id"], "bob@example.org");
        assert_eq!(outgoing.value["results"][0]["path"], "/x/ann@example.org");
        assert!(!outgoing.value["results"][0]["content"].as_str().unwrap().contains("bob@"));
        assert_eq!(outgoing.text, outgoing.value.to_string());
    }

    #[test]
    fn a_text_by_itself_is_redacted_and_cut_with_a_last_line() {
        let outgoing = release_text("write to ann@example.org", &CAPS);
        assert_eq!((outgoing.n_redacted, outgoing.was_cut), (1, false));
        assert!(!outgoing.text.contains("ann@"));
        let outgoing = release_text(&"長".repeat(5_000), &CAPS);
        assert!(outgoing.was_cut && outgoing.text.chars().count() <= CAPS.chars);
        assert!(outgoing.text.ends_with("[cut after 1700 characters: ask for a part of it]"));
    }

    #[test]
    fn a_large_answer_loses_its_tail_and_says_so() {
        let results: Vec<Value> =
            (0..100).map(|n| json!({ "content": "x".repeat(90), "n": n })).collect();
        let outgoing = release(
            json!({ "results": results }),
            &["/results/*/content"],
            Some("/results"),
            &CAPS,
        );
        assert!(outgoing.was_cut);
        assert!(outgoing.text.chars().count() <= CAPS.chars);
        assert_eq!(outgoing.value["truncated"], true);
        assert_eq!(outgoing.value["results"][0]["n"], 0);
        let warning = outgoing.value["warnings"][0].as_str().unwrap();
        assert!(warning.contains("of 100 results"), "{warning}");
    }

    #[test]
    fn tokens_are_capped_as_well() {
        let caps = Budget { chars: 100_000, tokens: 500 };
        let check = |content: &str| {
            let results: Vec<Value> = (0..50).map(|_| json!({ "content": content })).collect();
            let answer = json!({ "results": results });
            let outgoing = release(answer, &["/results/*/content"], Some("/results"), &caps);
            assert!(outgoing.was_cut && outgoing.value["truncated"] == true);
            let n_tokens = text::count_tokens(&outgoing.text);
            assert!((100..=500).contains(&n_tokens), "{n_tokens} tokens of {content}");
            let outgoing = release_text(&content.repeat(100), &caps);
            assert!(outgoing.was_cut);
            assert!(text::count_tokens(&outgoing.text) <= 500, "{}", outgoing.text);
        };
        check("東京都の図書館は日曜日も開いています。");
        check("plain words of a plain text that goes on ");
        check("1-2/3.4;5,6:7+8=9 ");
    }

    #[test]
    fn one_huge_text_is_shortened() {
        for text in ["x".repeat(50_000), "\"\n".repeat(20_000), "長".repeat(9_000)] {
            let answer = json!({ "results": [{ "content": text }] });
            let outgoing = release(answer, &["/results/*/content"], Some("/results"), &CAPS);
            assert!(outgoing.text.chars().count() <= CAPS.chars, "{}", outgoing.text.len());
            assert_eq!(outgoing.value["truncated"], true);
        }
    }
}
