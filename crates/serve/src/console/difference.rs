//! Two answers line by line: what is gone, what is new, what stayed.

use maud::{Markup, html};
use serde_json::Value;

/// Lines of either answer that are compared.
const MAX_LINES: usize = 1_500;

/// Lines around a change that are shown.
const AROUND: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Shows how the second answer differs from the first.
pub(super) fn difference(before: &Value, after: &Value) -> Markup {
    if before == after {
        return html! { div .good { p { "Today's answer is the same." } } };
    }
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let (before, after) = (pretty(before), pretty(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        return html! { p .note { "The answers differ, and are too long to be compared line by line." } };
    }
    let lines = compared(&old, &new);
    let is_near: Vec<bool> = (0..lines.len())
        .map(|at| {
            let (from, until) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(lines.len()));
            lines[from..until].iter().any(|line| !matches!(line, Line::Same(_)))
        })
        .collect();
    let n_changed = lines.iter().filter(|line| !matches!(line, Line::Same(_))).count();
    html! {
        p .note { (n_changed) " lines differ: " span .removed { "− then" } ", " span .added { "+ today" } }
        div .code { pre .diff tabindex="0" {
            @for (at, line) in lines.iter().enumerate() {
                @if is_near[at] { @match line {
                    Line::Same(text) => span { "  " (text) },
                    Line::Removed(text) => span .removed { "− " (text) },
                    Line::Added(text) => span .added { "+ " (text) },
                } } @else if at == 0 || is_near[at - 1] { span .note { "…" } }
            }
        } }
    }
}

/// Compares by the longest common subsequence.
fn compared<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j >= new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            lines.push(Line::Removed(old[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn both_sides_can_be_read_back(
            old in proptest::collection::vec("[ab]{1}", 0..12),
            new in proptest::collection::vec("[ab]{1}", 0..12),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let lines = compared(&old, &new);
            let before: Vec<&str> = lines.iter().filter_map(|line| match line {
                Line::Same(text) | Line::Removed(text) => Some(*text),
                Line::Added(_) => None,
            }).collect();
            let after: Vec<&str> = lines.iter().filter_map(|line| match line {
                Line::Same(text) | Line::Added(text) => Some(*text),
                Line::Removed(_) => None,
            }).collect();
            proptest::prop_assert_eq!(before, old);
            proptest::prop_assert_eq!(after, new);
        }
    }

    #[test]
    fn what_stayed_is_not_shown_as_changed() {
        let lines = compared(&["a", "b", "c"], &["a", "x", "c"]);
        assert_eq!(lines, [Line::Same("a"), Line::Removed("b"), Line::Added("x"), Line::Same("c")]);
    }
}
