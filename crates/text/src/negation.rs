//! What `NOT` in capitals means in front of a word: `contracts NOT vendors` leaves a thing out,
//! `damage NOT covered` says what is asked for.

/// Endings of words that say how something is or what was done with it.
const ENDINGS: [&str; 7] = ["ed", "ing", "able", "ible", "ly", "ful", "ive"];

/// Words that say how something is, and have none of those endings.
const WORDS: [&str; 26] = [
    "paid", "due", "valid", "made", "done", "sent", "known", "found", "part", "yet", "only", "own",
    "met", "kept", "given", "taken", "shown", "written", "sold", "built", "worn", "broken", "open",
    "safe", "legal", "fit",
];

/// Tells whether `NOT` before a word denies it, as in a sentence, and does not leave out what has it.
///
/// ```
/// assert!(text::is_denied("covered") && text::is_denied("paid"));
/// assert!(!text::is_denied("vendor") && !text::is_denied("石"));
/// ```
pub fn is_denied(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_long = word.chars().count() > 4;
    WORDS.contains(&word.as_str()) || is_long && ENDINGS.iter().any(|end| word.ends_with(end))
}
