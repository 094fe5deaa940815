//! Markdown by its lines: headings, lists, tables, code and paragraphs, each pointing at its
//! first line, with the marks of inline formatting taken out and the text of links kept.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::output::Output;
use crate::plain::lines::{Gathered, numbered_lines};
use crate::plain::markdown_inline::without_marks;

pub(crate) fn read_markdown(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    push_markdown(&text, None, output)
}

/// Pushes the blocks of a text; `fixed` replaces the lines as pointers.
pub(crate) fn push_markdown(
    text: &str,
    fixed: Option<&Pointer>,
    output: &mut Output,
) -> Result<()> {
    let mut walk = Walk { fixed, gathered: Gathered::default(), kind: BlockKind::Paragraph };
    let mut fence: Option<String> = None;
    let mut in_front_matter = false;
    let mut lines = numbered_lines(text).peekable();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim();
        if let Some(mark) = &fence {
            if trimmed.starts_with(mark.as_str()) && trimmed.trim_matches(['`', '~']).is_empty() {
                fence = None;
                walk.end(output)?;
            } else {
                walk.gathered.add(number, line);
            }
            continue;
        }
        if number == 1 && trimmed == "---" {
            in_front_matter = true;
            continue;
        }
        if in_front_matter {
            in_front_matter = trimmed != "---" && trimmed != "...";
            front_matter(number, trimmed, in_front_matter, &mut walk, output)?;
            continue;
        }
        if let Some(mark) = fence_mark(trimmed) {
            walk.end(output)?;
            walk.kind = BlockKind::Code;
            fence = Some(mark);
            continue;
        }
        if trimmed.is_empty() {
            walk.end(output)?;
            continue;
        }
        if let Some((level, heading)) = heading(trimmed) {
            walk.end(output)?;
            walk.one(BlockKind::Heading(level), number, heading, output)?;
            continue;
        }
        if let Some(level) = underline(trimmed)
            && walk.kind == BlockKind::Paragraph
            && !walk.gathered.is_empty()
        {
            walk.kind = BlockKind::Heading(level);
            walk.end(output)?;
            continue;
        }
        if is_rule(trimmed) {
            walk.end(output)?;
            continue;
        }
        let opens_table = trimmed.contains('|')
            && lines.peek().is_some_and(|(_, next)| is_table_rule(next.trim()));
        if opens_table || (walk.kind == BlockKind::Table && trimmed.contains('|')) {
            if walk.kind != BlockKind::Table {
                walk.end(output)?;
                walk.kind = BlockKind::Table;
            }
            if !is_table_rule(trimmed) {
                walk.gathered.add(number, &row(trimmed));
            }
            continue;
        }
        let quoted = trimmed.trim_start_matches('>').trim_start();
        if let Some(item) = list_item(quoted) {
            walk.end(output)?;
            walk.kind = BlockKind::ListItem;
            walk.gathered.add(number, item);
            continue;
        }
        if walk.kind == BlockKind::Table {
            walk.end(output)?;
        }
        let is_indented_code =
            walk.gathered.is_empty() && (line.starts_with("    ") || line.starts_with('\t'));
        if is_indented_code {
            walk.kind = BlockKind::Code;
        }
        walk.gathered.add(number, if walk.kind == BlockKind::Code { line } else { quoted });
    }
    walk.end(output)
}

struct Walk<'a> {
    fixed: Option<&'a Pointer>,
    gathered: Gathered,
    kind: BlockKind,
}

impl Walk<'_> {
    /// Ends the block that is being gathered.
    fn end(&mut self, output: &mut Output) -> Result<()> {
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        if self.gathered.is_empty() {
            return Ok(());
        }
        let (text, pointer) = self.gathered.take();
        let pointer = self.fixed.unwrap_or(&pointer);
        if kind == BlockKind::Code {
            return output.push(kind, pointer, text);
        }
        output.push(kind, pointer, without_marks(&text))
    }

    fn one(&mut self, kind: BlockKind, number: u32, line: &str, output: &mut Output) -> Result<()> {
        self.gathered.add(number, line);
        self.kind = kind;
        self.end(output)
    }
}

fn front_matter(
    number: u32,
    line: &str,
    goes_on: bool,
    walk: &mut Walk,
    output: &mut Output,
) -> Result<()> {
    if !goes_on {
        walk.kind = BlockKind::Other;
        return walk.end(output);
    }
    if let Some(title) = line.strip_prefix("title:") {
        output.set_title(title.trim().trim_matches(['"', '\'']));
    }
    walk.gathered.add(number, line);
    Ok(())
}

fn fence_mark(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|char| matches!(char, '`' | '~'))?;
    let length = line.chars().take_while(|char| *char == mark).count();
    let info = line.get(length..).unwrap_or_default();
    (length >= 3 && !info.contains('`')).then(|| mark.to_string().repeat(length))
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level as u8, rest.trim().trim_end_matches('#').trim_end()))
}

fn underline(line: &str) -> Option<u8> {
    if line.bytes().all(|byte| byte == b'=') {
        return Some(1);
    }
    (line.len() >= 2 && line.bytes().all(|byte| byte == b'-')).then_some(2)
}

fn is_rule(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ["*", "-", "_"].iter().any(|mark| marks.trim_start_matches(mark).is_empty())
}

fn is_table_rule(line: &str) -> bool {
    line.contains('-')
        && line.chars().all(|char| matches!(char, '|' | '-' | ':' | '+' | ' ' | '\t'))
        && (line.contains('|') || line.contains(':'))
}

fn row(line: &str) -> String {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|').map(str::trim).collect::<Vec<_>>().join(" | ")
}

fn list_item(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
        let rest = ["[ ] ", "[x] ", "[X] "]
            .iter()
            .find_map(|mark| rest.strip_prefix(mark))
            .unwrap_or(rest);
        return Some(rest);
    }
    let n_digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(n_digits..)?.strip_prefix(['.', ')'])?;
    // The number stays: people refer to it.
    (1..=9).contains(&n_digits).then_some(())?;
    rest.starts_with([' ', '\t']).then_some(line)
}
