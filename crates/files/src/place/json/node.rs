//! A node is the values below it.

use std::ops::Range;

use model::Passage;

use super::forms::{Step, plain_words, readings, words_in};
use super::lines::{Line, lines};

/// Finds the passages with a node, and the character where it begins.
pub(in crate::place) fn node(wanted: &str, passages: &[Passage]) -> Option<(Range<usize>, usize)> {
    let is_whole_file = wanted.is_empty() || wanted == "/";
    if is_whole_file {
        return Some((0..passages.len(), passages.first()?.span.start));
    }
    let lines = lines(passages, wanted);
    let exact = |reading: &Vec<Step>| stretch_of(&lines, &|line: &Line| is_below(line, reading));
    let (start, end) = readings(wanted).iter().find_map(exact).or_else(|| {
        let wanted = plain_words(wanted);
        stretch_of(&lines, &|line: &Line| is_nearly_below(line, &wanted))
    })?;
    let first = passages.iter().rposition(|passage| passage.span.start <= start)?;
    let last = passages.iter().rposition(|passage| passage.span.start < end.max(start + 1))?;
    Some((first..last.max(first) + 1, start))
}

/// Finds where the values below a node begin and end.
fn stretch_of(lines: &[Line], is_below: &dyn Fn(&Line) -> bool) -> Option<(usize, usize)> {
    let first = lines.iter().position(is_below)?;
    let end = lines[first..].iter().take_while(|line| is_below(line)).last()?.end;
    Some((lines[first].start, end))
}

fn is_below(line: &Line, wanted: &[Step]) -> bool {
    let Line { steps, elsewhere, .. } = line;
    if steps.len() < wanted.len() {
        return false;
    }
    // Numbers of what is not known to be a list: one of them may be the number of the line.
    let mut unknown: Vec<usize> = Vec::new();
    let mut is_same = |step_idx: usize, wanted: &Step, step: &Step| {
        wanted.key == step.key
            && wanted.numbers.iter().enumerate().all(|(at, wanted)| match step.numbers.get(at) {
                Some(number) => number == wanted,
                None if elsewhere.as_ref().is_some_and(|one| one.steps.contains(&step_idx)) => {
                    unknown.push(*wanted);
                    true
                }
                // The first element of a list is not known to be one.
                None => *wanted == 0,
            })
    };
    let is_same = wanted
        .iter()
        .zip(steps)
        .enumerate()
        .all(|(idx, (wanted, step))| is_same(idx, wanted, step));
    let is_counted = match elsewhere {
        Some(elsewhere) if !unknown.is_empty() => {
            unknown.retain(|number| *number != 0);
            unknown == [elsewhere.number]
        }
        Some(_) | None => true,
    };
    is_same && is_counted
}

/// Tells whether a value is below a node by its words alone: a name may be in other case, and a
/// sign in it may be written as what is between two names.
fn is_nearly_below(line: &Line, wanted: &[String]) -> bool {
    let mut words: Vec<String> = Vec::new();
    for (step_idx, step) in line.steps.iter().enumerate() {
        words.extend(words_in(&step.key.to_lowercase()).map(str::to_owned));
        words.extend(step.numbers.iter().map(usize::to_string));
        let elsewhere = line.elsewhere.as_ref().filter(|one| *one.steps.start() == step_idx);
        words.extend(elsewhere.map(|one| one.number.to_string()));
    }
    let mut words = words.iter().peekable();
    wanted.iter().all(|wanted| words.next_if(|word| *word == wanted).is_some() || wanted == "0")
}

#[cfg(test)]
mod tests {
    use model::{PassageId, Pointer, Span};

    use super::super::named;
    use super::*;
    use crate::lines::Lines;
    use crate::whole_text::WholeText;

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
        let whole = WholeText::of(&passages, &Lines::default());
        let named = named(pointer, &passages);
        let found = named.iter().find_map(|named| {
            let Pointer::Json(read) = named else { panic!("{pointer}: {named}") };
            node(read, &passages)
        });
        let (covered, start) = found.unwrap_or_else(|| panic!("{pointer}: {named:?}"));
        let shown: String = whole.shown(start..whole.len());
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

    /// From the second element on, a name with a point in it was two names, and no pointer led to
    /// what was below it.
    #[test]
    fn names_with_signs_are_found_in_every_form() {
        let hosts = [
            (
                "/hosts/a.b~1c/0/port",
                "hosts.a.b/c.port: 1\nhosts.a.b/c.port: 2\nhosts.a.b/c.port: 3\nhosts.x~y.port: 4",
            ),
            ("/hosts/x~0y/1/port", "hosts.x~y.port: 5\nhosts.q r.port: 6\nhosts.q r.port: 7"),
            ("/paths/~1v1~1{id}/0/name", "paths./v1/{id}.name: n\npaths./v1/{id}.name: o"),
        ];
        for (pointer, expected) in [
            ("/hosts/a.b~1c/1", "hosts.a.b/c.port: 2"),
            ("/hosts/a.b~1c/2/port", "hosts.a.b/c.port: 3"),
            ("/hosts/x~0y/0", "hosts.x~y.port: 4"),
            ("/hosts/x~0y/1/port", "hosts.x~y.port: 5"),
            ("hosts/x~0y/1", "hosts.x~y.port: 5"),
            ("/hosts/q r/1", "hosts.q r.port: 7"),
            ("/hosts/q r/1/port", "hosts.q r.port: 7"),
            ("/hosts/q r/port/1", "hosts.q r.port: 7"),
            ("/hosts/q r/0/port", "hosts.q r.port: 6"),
            ("#/hosts/q%20r/1/port", "hosts.q r.port: 7"),
            ("/hosts/a.b%2Fc/1", "hosts.a.b/c.port: 2"),
            ("/hosts/a.b/c/1", "hosts.a.b/c.port: 2"),
            ("$.hosts['a.b/c'][1].port", "hosts.a.b/c.port: 2"),
            ("hosts[\"a.b/c\"][2]", "hosts.a.b/c.port: 3"),
            ("/Hosts/A.B~1C/1", "hosts.a.b/c.port: 2"),
            ("/paths/~1v1~1{id}/1/name", "paths./v1/{id}.name: o"),
            ("/paths/~1v1~1%7Bid%7D/1", "paths./v1/{id}.name: o"),
        ] {
            check(&hosts, pointer, expected);
        }
        for missing in ["/hosts/a.b~1c/3", "/hosts/x~0y/2", "/hosts/q/1"] {
            assert_eq!(node(missing, &passages(&hosts)), None, "{missing}");
        }
    }

    /// In a list that began inside a block, elements behind the first were those of a list within.
    #[test]
    fn lists_that_begin_inside_a_block_are_counted() {
        let orders = [(
            "/title",
            "title: Orders\norders.by.id: 1\norders.by.name: Ann\norders.lines: a\norders.lines: b\n\
             orders.by.id: 2\norders.by.name: Bob\norders.lines: c\norders.by.id: 3\n\
             orders.by.name: Cid\ntotal: 3",
        )];
        for (pointer, expected) in [
            ("/orders/0", "orders.by.id: 1"),
            ("/orders/0/lines/1", "orders.lines: b"),
            ("/orders/1", "orders.by.id: 2"),
            ("/orders/1/by/name", "orders.by.name: Bob"),
            ("/orders/1/lines/0", "orders.lines: c"),
            ("/orders/2/by", "orders.by.id: 3"),
            ("/total", "total: 3"),
        ] {
            check(&orders, pointer, expected);
        }
        assert_eq!(node("/orders/3", &passages(&orders)), None);
        // The block begins in the midst of an element, and elements hold lists.
        let blocks = [
            ("/0/id", "id: 1\ntags: x\ntags: y\nat.day: 1\nid: 2\ntags: z"),
            ("/1/at/day", "at.day: 2\nid: 3\ntags: w\ntags: v\nat.day: 3\nid: 4"),
        ];
        for (pointer, expected) in [
            ("/0/tags/1", "tags: y"),
            ("/1/id", "id: 2"),
            ("/1/at", "at.day: 2"),
            ("/2/tags/1", "tags: v"),
            ("/2/at/day", "at.day: 3"),
            ("/3", "id: 4"),
        ] {
            check(&blocks, pointer, expected);
        }
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
