//! The forms in which people write a pointer into JSON, and what each may mean.

use model::{Passage, Pointer};

/// Steps of a pointer that may be numbers of elements or keys: all readings of so many are tried.
const MAX_NUMBERS: usize = 4;

/// A key with the numbers of elements behind it: `/a/0/1` is `a` with 0 and 1. The first may have
/// no key, where the file is a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Step {
    pub(super) key: String,
    pub(super) numbers: Vec<usize>,
}

/// Reads a pointer in any of its forms, the likeliest first; nothing where the file is no JSON.
pub(in crate::place) fn named(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    if !passages.iter().any(|passage| matches!(passage.pointer, Pointer::Json(_))) {
        return Vec::new();
    }
    let text = text.trim().trim_start_matches("json ");
    // As in the fragment of an address: `#/a%20b`.
    let mut forms = vec![text.to_owned(), model::percent_decoded(text)];
    forms.dedup();
    let pointers = forms.iter().map(|form| model::pointer_of_path(form));
    pointers.filter(|pointer| !pointer.is_empty()).map(Pointer::Json).collect()
}

/// Gives the ways in which a pointer can be read: a number may be the key of an object.
pub(super) fn readings(pointer: &str) -> Vec<Vec<Step>> {
    let parts: Vec<String> = unescaped(pointer);
    let numbers: Vec<usize> = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| part.parse::<usize>().is_ok())
        .map(|(at, _)| at)
        .take(MAX_NUMBERS)
        .collect();
    (0..1_usize << numbers.len())
        .map(|as_keys| {
            let is_key = |at: usize| {
                numbers
                    .iter()
                    .position(|number| *number == at)
                    .is_some_and(|bit| as_keys >> bit & 1 == 1)
            };
            steps(&parts, &is_key)
        })
        .collect()
}

pub(super) fn unescaped(pointer: &str) -> Vec<String> {
    let parts = pointer.trim_start_matches('/').split('/');
    parts.map(|part| model::pointer_name(part).into_owned()).collect()
}

fn steps(parts: &[String], is_key: &dyn Fn(usize) -> bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part.parse() {
            Ok(number) if !is_key(at) => match steps.last_mut() {
                Some(step) => step.numbers.push(number),
                None => steps.push(Step { key: String::new(), numbers: vec![number] }),
            },
            _ => steps.push(Step { key: part.clone(), numbers: Vec::new() }),
        }
    }
    steps
}

/// Gives the names and numbers of a pointer as words, however it is escaped and in small letters.
pub(super) fn plain_words(pointer: &str) -> Vec<String> {
    let plain = model::percent_decoded(pointer);
    let plain = model::pointer_name(&plain).to_lowercase();
    words_in(&plain).map(str::to_owned).collect()
}

/// Cuts a text at what may be between two names.
pub(super) fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(['/', '.', '[', ']', '\'', '"']).filter(|word| !word.is_empty())
}
