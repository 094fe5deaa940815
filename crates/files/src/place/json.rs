//! Nodes of a JSON file, by RFC 6901 and as people write them: `/a/b/3`, `a.b[3]`, `$.a.b[3]`.
//!
//! The index has a line for each value with its keys (`a.b: value`), in the order of the file,
//! and the exact pointer of the first value of every block. Elements of lists have no numbers in
//! their lines; they are counted from the start of their block, and a list in a list that has
//! nothing else is counted as one.

use std::ops::Range;

use model::{Passage, Pointer};

/// Steps of a pointer that may be numbers of elements or keys: all readings of so many are tried.
const MAX_NUMBERS: usize = 4;

/// Longer words before a colon are no key.
const MAX_KEY_CHARS: usize = 200;

/// Reads a pointer in any of its forms; nothing where the file is no JSON.
pub(super) fn named(text: &str, passages: &[Passage]) -> Option<Pointer> {
    if !passages.iter().any(|passage| matches!(passage.pointer, Pointer::Json(_))) {
        return None;
    }
    let text = text.trim().trim_start_matches("json ").trim_start_matches(['#', '$']);
    if text.starts_with('/') {
        return Some(Pointer::Json(text.trim_end_matches('/').to_owned()));
    }
    let mut pointer = String::new();
    for step in text.split(['.', '/', '[', ']']) {
        let step = step.trim_matches(['\'', '"']);
        if !step.is_empty() {
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0"));
        }
    }
    (!pointer.is_empty()).then_some(Pointer::Json(pointer))
}

/// Finds the passages with a node, and the character where it begins.
pub(super) fn node(wanted: &str, passages: &[Passage]) -> Option<(Range<usize>, usize)> {
    let lines = lines(passages);
    let is_whole_file = wanted.is_empty() || wanted == "/";
    if is_whole_file {
        return Some((0..passages.len(), passages.first()?.span.start));
    }
    let (start, end) =
        readings(wanted).iter().find_map(|reading| stretch_of(reading, &lines, passages))?;
    let first = passages.iter().rposition(|passage| passage.span.start <= start)?;
    let last = passages.iter().rposition(|passage| passage.span.start < end.max(start + 1))?;
    Some((first..last.max(first) + 1, start))
}

/// A key with the numbers of elements behind it: `/a/0/1` is `a` with 0 and 1. The first may have
/// no key, where the file is a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Step {
    key: String,
    numbers: Vec<usize>,
}

/// One value of the file.
struct Line {
    /// Where it begins, in characters of the file's text.
    start: usize,
    end: usize,
    steps: Vec<Step>,
}

/// Gives the ways in which a pointer can be read: a number may be the key of an object.
fn readings(pointer: &str) -> Vec<Vec<Step>> {
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

fn unescaped(pointer: &str) -> Vec<String> {
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

/// Finds where the values below a node begin and end.
fn stretch_of(wanted: &[Step], lines: &[Line], passages: &[Passage]) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| is_below(&line.steps, wanted))?;
    let last = lines.iter().rposition(|line| is_below(&line.steps, wanted))?;
    let end =
        lines[first..=last].iter().take_while(|line| is_below(&line.steps, wanted)).last()?.end;
    debug_assert!(passages.iter().any(|passage| passage.span.start <= lines[first].start));
    Some((lines[first].start, end))
}

fn is_below(steps: &[Step], wanted: &[Step]) -> bool {
    steps.len() >= wanted.len()
        && wanted.iter().zip(steps).all(|(wanted, step)| {
            // The first element of a list is not known to be one.
            let number = |at: usize| step.numbers.get(at).copied().unwrap_or(0);
            wanted.key == step.key
                && wanted.numbers.iter().enumerate().all(|(at, wanted)| number(at) == *wanted)
        })
}

/// Reads the values of the file back, block by block.
fn lines(passages: &[Passage]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut begin = 0;
    while let Some(passage) = passages.get(begin) {
        let n_passages =
            passages[begin..].iter().take_while(|one| one.pointer == passage.pointer).count();
        if let Pointer::Json(pointer) = &passage.pointer {
            lines_of(pointer, &passages[begin..begin + n_passages], &mut lines);
        }
        begin += n_passages;
    }
    lines
}

fn lines_of(pointer: &str, block: &[Passage], lines: &mut Vec<Line>) {
    let text = crate::preview::whole_text(block);
    let text_start = text.start;
    let text: String = text.chars.into_iter().collect();
    let label_of = |line: &str| line.split_once(": ").map(|(label, _)| label.to_owned());
    let first_label = text.lines().next().and_then(label_of).unwrap_or_default();
    // The label of the first value tells which numbers are keys. A long string is a block
    // without one.
    let labelled = readings(pointer).into_iter().find(|reading| label(reading) == first_label);
    let is_one_value = labelled.is_none();
    let first = labelled.or_else(|| readings(pointer).into_iter().next()).unwrap_or_default();
    let mut counted = Counted { steps: first.clone(), seen: vec![(first, first_label)] };
    let mut start = text_start;
    for (line_idx, line) in text.split('\n').enumerate() {
        let end = start + line.chars().count() + 1;
        let next = match line_idx {
            0 => Some(counted.steps.clone()),
            _ if is_one_value => None,
            _ => counted.step(label_of(line).as_deref()),
        };
        if let Some(steps) = next {
            lines.push(Line { start, end, steps });
        } else if let Some(last) = lines.last_mut() {
            // A string of several lines goes on.
            last.end = end;
        }
        start = end;
    }
}

fn label(steps: &[Step]) -> String {
    let keys = steps.iter().map(|step| step.key.as_str()).filter(|key| !key.is_empty());
    keys.collect::<Vec<_>>().join(".")
}

/// Counts the elements of lists while their values go by.
struct Counted {
    /// The value that went by last.
    steps: Vec<Step>,
    /// The labels that went by in this block, each with where it was last.
    seen: Vec<(Vec<Step>, String)>,
}

impl Counted {
    /// Goes on to the next value, by the keys in its line; nothing when these are no keys that
    /// could follow.
    fn step(&mut self, label: Option<&str>) -> Option<Vec<Step>> {
        let Some(label) = label else {
            // A list of values alone has no keys.
            let [only] = self.steps.as_mut_slice() else { return None };
            let number = only.numbers.last_mut().filter(|_| only.key.is_empty())?;
            *number += 1;
            return Some(self.steps.clone());
        };
        let keys = keys_of(label)?;
        let n_common = self
            .steps
            .iter()
            .filter(|step| !step.key.is_empty())
            .zip(&keys)
            .take_while(|(step, key)| step.key == **key)
            .count();
        let has_no_key = self.steps.first().is_some_and(|step| step.key.is_empty());
        let n_common = n_common + usize::from(has_no_key);
        let mut next: Vec<Step> = self.steps.iter().take(n_common).cloned().collect();
        let keys = if has_no_key { &keys[n_common - 1..] } else { &keys[n_common..] };
        next.extend(keys.iter().map(|key| Step { key: (*key).clone(), numbers: Vec::new() }));
        // A value that went by in this element begins another one, of the innermost list.
        let is_seen = self.seen.iter().any(|(steps, seen)| {
            seen == label
                && n_common > 0
                && steps.iter().zip(&next).take(n_common).all(|(a, b)| a == b)
        });
        if is_seen {
            let innermost =
                next.iter_mut().take(n_common).rev().find(|step| !step.numbers.is_empty());
            match innermost.and_then(|step| step.numbers.last_mut()) {
                Some(number) => *number += 1,
                // The list was not known to be one: its first element went by.
                None => next.get_mut(n_common.saturating_sub(1))?.numbers.push(1),
            }
        }
        self.seen.retain(|(_, seen)| seen != label);
        self.seen.push((next.clone(), label.to_owned()));
        self.steps.clone_from(&next);
        Some(next)
    }
}

fn keys_of(label: &str) -> Option<Vec<String>> {
    let is_key = |key: &str| !key.is_empty() && key.chars().count() <= MAX_KEY_CHARS;
    let keys: Vec<String> = label.split('.').map(str::to_owned).collect();
    keys.iter().all(|key| is_key(key)).then_some(keys)
}

#[cfg(test)]
mod tests {
    use model::{PassageId, Span};

    use super::*;

    /// Blocks of a file: each with the pointer of its first value.
    fn passages(blocks: &[(&str, &str)]) -> Vec<Passage> {
        let mut start = 0;
        let made = blocks.iter().zip(0..).map(|((pointer, text), ordinal)| {
            let n_chars = text.chars().count();
            let span = Span::new(start, start + n_chars);
            start += n_chars + 2;
            Passage {
                id: PassageId::new(format!("p{ordinal}")),
                ordinal,
                text: (*text).to_owned(),
                span,
                pointer: Pointer::Json((*pointer).to_owned()),
                headings: Vec::new(),
            }
        });
        made.collect()
    }

    #[track_caller]
    fn check(blocks: &[(&str, &str)], pointer: &str, expected: &str) {
        let passages = passages(blocks);
        let whole = crate::preview::whole_text(&passages);
        let Some(Pointer::Json(read)) = named(pointer, &passages) else { panic!("{pointer}") };
        let (covered, start) = node(&read, &passages).unwrap_or_else(|| panic!("{pointer}"));
        let shown: String = whole.chars[start..].iter().collect();
        assert!(shown.starts_with(expected), "{pointer}: {shown}");
        assert!(passages[covered].iter().any(|passage| passage.span.start <= start), "{pointer}");
    }

    #[test]
    fn nodes_are_found_by_their_pointers() {
        let users = [
            (
                "/title",
                "title: Staff\nusers.id: 1\nusers.name: Ann\nusers.tags: a\nusers.tags: b\nusers.id: 2\nusers.name: Bob",
            ),
            (
                "/users/2/id",
                "users.id: 3\nusers.name: Cid\nusers.id: 4\nusers.name: Dan\nsite.2024.total: 7\nsite.a/b: x",
            ),
        ];
        for (pointer, expected) in [
            ("/users/0", "users.id: 1"),
            ("/users/0/name", "users.name: Ann"),
            ("/users/1/name", "users.name: Bob"),
            ("/users/0/tags/1", "users.tags: b"),
            ("/users/2", "users.id: 3"),
            ("/users/3/name", "users.name: Dan"),
            ("users[3].name", "users.name: Dan"),
            ("$.users[3].name", "users.name: Dan"),
            ("#/users/3", "users.id: 4"),
            ("/site/2024/total", "site.2024.total: 7"),
            ("/site", "site.2024.total: 7"),
            ("/site/a~1b", "site.a/b: x"),
            ("/title", "title: Staff"),
            ("/users/", "users.id: 1"),
        ] {
            check(&users, pointer, expected);
        }
        let found = |pointer: &str| node(pointer, &passages(&users));
        assert_eq!(found("/users/9"), None);
        assert_eq!(found("/nobody"), None);
    }

    #[test]
    fn lists_of_lists_and_files_that_are_lists() {
        let rows = [("/0/a", "a: 1\nb: 2\na: 3\nb: 4"), ("/2/a", "a: 5\nb: several\nlines\na: 7")];
        for (pointer, expected) in
            [("/1/b", "b: 4"), ("/2", "a: 5"), ("/2/b", "b: several"), ("/3/a", "a: 7")]
        {
            check(&rows, pointer, expected);
        }
        check(&[("/0", "x\ny\nz")], "/2", "z");
        let long = [("/text", "see also: nothing\nother: words"), ("/other", "other: 1")];
        check(&long, "/other", "other: 1");
        check(&[("/list/0", "list: x\nlist: y\nlist: z")], "/list/2", "list: z");
        check(&[("/a/0/0", "a: 1\na: 2"), ("/a/7/0", "a: 8")], "/a/7", "a: 8");
    }
}
