//! One document: mappings and lists by indentation.

use super::flow;
use super::read::{Entry, ValuePlace};
use super::scalar::{closing_quote, comment_of, unquoted, without_comment};

/// Deeper documents are not read.
pub(super) const MAX_DEPTH: usize = 128;

/// Reads a document line by line.
///
/// Functions give nothing when they meet what is not read here; then the whole file is given up.
pub(super) struct Document<'a> {
    lines: Vec<&'a str>,
    /// The line that is read next.
    at: usize,
    /// The indentation and the content of that line, once it was looked at; a list's item is put
    /// here without its dash.
    current: Option<(usize, &'a str)>,
    entries: Vec<Entry>,
    /// Comments that wait for the value they are about.
    comments: Vec<String>,
}

impl<'a> Document<'a> {
    pub(super) fn new(lines: Vec<&'a str>) -> Self {
        Document { lines, at: 0, current: None, entries: Vec::new(), comments: Vec::new() }
    }

    pub(super) fn read(mut self, root: &ValuePlace) -> Option<Vec<Entry>> {
        let (_, content) = self.peek()?;
        let has_structure =
            is_item(content) || entry_of(content).is_some() || content.starts_with(['{', '[']);
        if !has_structure {
            return None;
        }
        self.node(None, root, 0)?;
        if self.peek().is_some() {
            return None;
        }
        // What is said behind the last value belongs to it.
        let rest = std::mem::take(&mut self.comments).join(" ");
        let last = self.entries.last_mut()?;
        last.comment = joined(&last.comment, &rest);
        Some(self.entries)
    }

    /// Gives the indentation and the content of the next line that has any.
    fn peek(&mut self) -> Option<(usize, &'a str)> {
        while self.current.is_none() {
            let line = *self.lines.get(self.at)?;
            let content = line.trim_start_matches(' ');
            let indent = line.len() - content.len();
            let content = content.trim_end();
            if let Some(comment) = content.strip_prefix('#') {
                self.comments.push(comment.trim_matches(['#', ' ']).to_owned());
            }
            if content.is_empty() || content.starts_with('#') {
                self.at += 1;
            } else {
                self.current = Some((indent, content));
            }
        }
        self.current
    }

    fn advance(&mut self) {
        self.current = None;
        self.at += 1;
    }

    /// Reads what begins on the next line. `parent` is the indentation of what holds it.
    fn node(&mut self, parent: Option<usize>, place: &ValuePlace, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (indent, content) = self.peek()?;
        if is_item(content) {
            return self.list(indent, place, depth);
        }
        if entry_of(content).is_some() {
            return self.mapping(indent, place, depth);
        }
        self.advance();
        self.value(content, parent, place, depth)
    }

    fn list(&mut self, indent: usize, place: &ValuePlace, depth: usize) -> Option<()> {
        let mut item_idx = 0;
        while let Some((at, content)) = self.peek() {
            if at != indent || !is_item(content) {
                break;
            }
            let item = place.item(item_idx);
            let rest = content.get(1..)?;
            let inner = rest.trim_start_matches(' ');
            let is_empty = inner.is_empty() || inner.starts_with('#');
            if is_empty {
                self.advance();
                self.value(inner, Some(indent), &item, depth)?;
            } else {
                // What is behind the dash is indented by where it is.
                self.current = Some((indent + 1 + rest.len() - inner.len(), inner));
                self.node(Some(indent), &item, depth + 1)?;
            }
            item_idx += 1;
        }
        self.ends_above(indent)
    }

    fn mapping(&mut self, indent: usize, place: &ValuePlace, depth: usize) -> Option<()> {
        while let Some((at, content)) = self.peek() {
            if at != indent || is_item(content) {
                break;
            }
            let (key, rest) = entry_of(content)?;
            self.advance();
            let rest = without_properties(rest);
            let is_below = rest.is_empty() || rest.starts_with('#');
            // A list may be as far to the left as the key that it belongs to.
            let is_beside = is_below
                && self.peek().is_some_and(|(next, content)| next == indent && is_item(content));
            let parent = match is_beside {
                true => indent.checked_sub(1),
                false => Some(indent),
            };
            self.value(rest, parent, &place.key(&key), depth)?;
        }
        self.ends_above(indent)
    }

    /// What follows a list or a mapping is further to the left than it, or at its own place where
    /// the list was beside its key.
    fn ends_above(&mut self, indent: usize) -> Option<()> {
        self.peek().is_none_or(|(next, _)| next <= indent).then_some(())
    }

    /// Reads a value whose first line, or what is left of it, was taken already.
    fn value(
        &mut self,
        text: &'a str,
        parent: Option<usize>,
        place: &ValuePlace,
        depth: usize,
    ) -> Option<()> {
        let text = without_properties(text);
        match text.chars().next() {
            None | Some('#') => {
                self.comments.extend(comment_of(text));
                match self.peek() {
                    Some((next, _)) if is_deeper(next, parent) => {
                        self.node(parent, place, depth + 1)
                    }
                    _ => Some(()),
                }
            }
            Some('|' | '>') => self.block_scalar(text, parent, place),
            Some('"' | '\'') => self.quoted(text, place),
            Some('{' | '[') => self.flow(text, place, depth),
            Some('@' | '`' | '%') => None,
            Some('?') if text == "?" || text.starts_with("? ") => None,
            Some(_) => self.plain(text, parent, place),
        }
    }

    fn plain(&mut self, text: &'a str, parent: Option<usize>, place: &ValuePlace) -> Option<()> {
        // The comments that come now are about what follows.
        let mut said = std::mem::take(&mut self.comments);
        let (first, mut comment) = without_comment(text);
        let mut whole = first.to_owned();
        while comment.is_none()
            && let Some((indent, content)) = self.peek()
            && is_deeper(indent, parent)
        {
            if is_item(content) {
                return None;
            }
            let (more, behind) = without_comment(content);
            whole.push(' ');
            whole.push_str(more);
            comment = behind;
            self.advance();
        }
        // A second colon is no YAML: something else was meant.
        if whole.contains(": ") || whole.ends_with(':') {
            return None;
        }
        let is_null = ["~", "null", "Null", "NULL"].contains(&whole.as_str());
        said.extend(comment);
        if is_null {
            said.append(&mut self.comments);
            self.comments = said;
        } else {
            let comment = said.join(" ");
            self.entries.push(Entry { place: place.clone(), text: whole, comment });
        }
        Some(())
    }

    fn quoted(&mut self, text: &str, place: &ValuePlace) -> Option<()> {
        let quote = text.chars().next()?;
        let mut whole = text.get(1..)?.to_owned();
        let mut from = 0;
        let end = loop {
            if let Some(end) = closing_quote(whole.get(from..)?, quote) {
                break from + end;
            }
            // Quotes never span a line's end with half of an escape, so the search goes on there.
            from = whole.len();
            let line = self.lines.get(self.at)?.trim();
            self.at += 1;
            whole.push_str(if line.is_empty() { "\n" } else { " " });
            whole.push_str(line);
        };
        let rest = whole.get(end + 1..)?.trim_start();
        if !rest.is_empty() && !rest.starts_with('#') {
            return None;
        }
        self.comments.extend(comment_of(rest));
        let string = unquoted(whole.get(..end)?, quote);
        self.push(place, string);
        Some(())
    }

    fn block_scalar(
        &mut self,
        header: &str,
        parent: Option<usize>,
        place: &ValuePlace,
    ) -> Option<()> {
        let (header, comment) = without_comment(header);
        let is_folded = header.starts_with('>');
        if !matches!(header.get(1..)?, "" | "-" | "+") {
            return None;
        }
        let mut lines: Vec<&str> = Vec::new();
        let mut block_indent = None;
        while let Some(line) = self.lines.get(self.at) {
            let n_spaces = line.len() - line.trim_start_matches(' ').len();
            let is_blank = line.trim().is_empty();
            let is_inside = match block_indent {
                Some(block_indent) => n_spaces >= block_indent,
                None => is_deeper(n_spaces, parent),
            };
            if !is_blank && !is_inside {
                break;
            }
            if !is_blank && block_indent.is_none() {
                block_indent = Some(n_spaces);
            }
            lines.push(line.get(block_indent.unwrap_or(0)..).unwrap_or_default());
            self.at += 1;
        }
        self.comments.extend(comment);
        let text = match is_folded {
            true => folded(&lines),
            false => lines.join("\n").trim_end().to_owned(),
        };
        if !text.is_empty() {
            self.push(place, text);
        }
        Some(())
    }

    fn flow(&mut self, text: &str, place: &ValuePlace, depth: usize) -> Option<()> {
        let mut balance = flow::Balance::default();
        let mut whole = text.to_owned();
        let mut end = balance.end_in(text)?;
        while end.is_none() {
            let line = self.lines.get(self.at)?.trim();
            self.at += 1;
            let n_before = whole.len() + 1;
            whole.push(' ');
            whole.push_str(line);
            end = balance.end_in(line)?.map(|end| n_before + end);
        }
        let (value, rest) = whole.split_at_checked(end?)?;
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            return None;
        }
        self.comments.extend(comment_of(rest));
        for (place, text) in flow::values(value, place, depth)? {
            self.push(&place, text);
        }
        Some(())
    }

    fn push(&mut self, place: &ValuePlace, text: String) {
        let comment = std::mem::take(&mut self.comments).join(" ");
        self.entries.push(Entry { place: place.clone(), text, comment });
    }
}

fn is_deeper(indent: usize, parent: Option<usize>) -> bool {
    parent.is_none_or(|parent| indent > parent)
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// Cuts a line into a key and what is behind its colon; nothing where it has none.
fn entry_of(content: &str) -> Option<(String, &str)> {
    let first = content.chars().next()?;
    if matches!(first, '"' | '\'') {
        let inner = content.get(1..)?;
        let end = closing_quote(inner, first)?;
        let rest = inner.get(end + 1..)?.trim_start().strip_prefix(':')?;
        let key = unquoted(inner.get(..end)?, first);
        return (rest.is_empty() || rest.starts_with(' ')).then(|| (key, rest.trim_start()));
    }
    if matches!(first, '[' | '{' | '#' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' | ':')
        || content.starts_with("? ")
        || content == "?"
    {
        return None;
    }
    let colon = content.match_indices(':').map(|(at, _)| at).find(|at| {
        let rest = content.get(at + 1..).unwrap_or_default();
        rest.is_empty() || rest.starts_with(' ')
    })?;
    let key = content.get(..colon)?.trim_end();
    // A colon in a comment is none.
    let is_key = !key.is_empty() && without_comment(key).1.is_none();
    let rest = content.get(colon + 1..)?.trim_start();
    is_key.then(|| (key.to_owned(), rest))
}

/// Leaves out tags and anchors before a value.
fn without_properties(mut text: &str) -> &str {
    while text.starts_with(['!', '&']) {
        let end = text.find(' ').unwrap_or(text.len());
        text = text.get(end..).unwrap_or_default().trim_start();
    }
    text
}

/// Joins lines to sentences: a blank line is a line break, and so is one that is indented more.
fn folded(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let is_own = line.starts_with(' ') || line.trim().is_empty();
        if is_own || text.ends_with('\n') || text.is_empty() {
            if is_own && !text.ends_with('\n') && !text.is_empty() {
                text.push('\n');
            }
        } else {
            text.push(' ');
        }
        text.push_str(line.trim_end());
    }
    text.trim_end().to_owned()
}

fn joined(one: &str, other: &str) -> String {
    [one, other].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
