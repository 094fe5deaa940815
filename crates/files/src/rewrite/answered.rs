//! What a language model wrote when it was asked for a query: taken when it is one.

use text::LanguageSet;

use super::query::fts;
use super::syntax::{is_refused, terms};
use super::written::query_in;
use crate::summary::shares_words;

/// Takes the query out of what a model wrote: one line of the syntax that a search reads, or
/// nothing when it is something else.
pub(super) fn checked(answer: &str, question: &str, languages: LanguageSet) -> Option<String> {
    let in_json = written_in_json(answer);
    // JSON of another form than the tool's own is no query, and its keys are no words of one.
    let is_json = answer.lines().map(str::trim).any(|line| line.starts_with(['{', '[']));
    if is_json && in_json.is_none() {
        return None;
    }
    let answer = in_json.as_deref().unwrap_or(answer);
    let line =
        answer.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("```"))?;
    let line = query_in(line, question)?;
    let line = line.as_str();
    if line.matches('"').count() % 2 == 1 || is_prose(line, question) {
        return None;
    }
    let query = fts(line, &[], languages);
    let query = without_new_exclusions(&query, &fts(question, &[], languages));
    let most = question.chars().count() * 2 + MORE_CHARS;
    let has_words = query.chars().any(char::is_alphanumeric);
    // A query without a word of the question is about something else, such as an apology.
    let is_about = shares_words(&query, question, 1);
    (has_words && is_about && line.chars().count() <= most).then_some(query)
}

/// Writes what a model excludes, and the question does not, as words: for `not covered` it likes to
/// exclude the very word that is asked for.
fn without_new_exclusions(query: &str, asked: &str) -> String {
    let excluded: Vec<String> = terms(asked).filter(|term| is_refused(term)).collect();
    let kept = terms(query).map(|term| match is_refused(&term) && !excluded.contains(&term) {
        true => format!("not {}", term.trim_start_matches('-').replace('"', "")),
        false => term,
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Tells whether a model wrote sentences about the question and no query: more small words than the
/// question has itself, or the end of one sentence and the beginning of another.
fn is_prose(line: &str, question: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace();
        let words = words.map(|word| text::without_signs(word, |_| false));
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    // A phrase between quotes is as the model means it.
    let unquoted: String = line.split('"').step_by(2).collect();
    let (asked, written) = (words(question), words(&unquoted));
    let is_new = |word: &&String| {
        let is_operator = ["and", "or", "not", "near"].contains(&word.as_str());
        text::is_small_word(&text::fold(word)) && !is_operator && !asked.contains(*word)
    };
    let n_small = written.iter().filter(is_new).count();
    let has_sentences = line.contains(". ") || line.contains("! ") || line.contains("? ");
    n_small > MAX_NEW_SMALL_WORDS || has_sentences && written.len() > asked.len() + 1
}

/// Small words that a rewritten query may have beside those of the question: `what are the …`.
const MAX_NEW_SMALL_WORDS: usize = 3;

/// Takes the query out of an answer in the form of the tool's own.
fn written_in_json(answer: &str) -> Option<String> {
    let (begin, end) = (answer.find('{')?, answer.rfind('}')?);
    let value: serde_json::Value = serde_json::from_str(answer.get(begin..=end)?).ok()?;
    value["fts"].as_str().map(str::to_owned)
}

/// How much longer than the question a rewritten one may be, beside twice its length.
const MORE_CHARS: usize = 100;
