//! Markdown by `pulldown-cmark`: headings, list items, tables, code and paragraphs, each pointing
//! at its first line, with the marks of inline formatting taken out and the text of links kept.

use model::{BlockKind, Pointer};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::error::Result;
use crate::flow::list_indent;
use crate::grid::TextTable;
use crate::output::Output;
use crate::plain::lines::at_line;

/// How many events pass between two looks at the clock.
const EVENTS_PER_CHECK: usize = 4096;

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
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    let mut walk = Walk { text, fixed, ..Walk::default() };
    let events = Parser::new_ext(text, options).into_offset_iter();
    for (event_idx, (event, range)) in events.enumerate() {
        if event_idx.is_multiple_of(EVENTS_PER_CHECK) {
            output.check_time()?;
        }
        walk.event(event, range.start, output)?;
    }
    walk.end_block(output)
}

#[derive(Default)]
struct Walk<'t> {
    text: &'t str,
    fixed: Option<&'t Pointer>,
    block: String,
    kind: Option<BlockKind>,
    /// Where the block starts in the text.
    start: usize,
    /// How far lines were counted, and how many there were.
    counted: (usize, u32),
    table: TextTable,
    is_block_full: bool,
    /// For each open list, the number of its next item; none for lists without numbers.
    lists: Vec<Option<u64>>,
    /// HTML between the blocks, until it ends.
    html: Option<String>,
}

impl Walk<'_> {
    fn event(&mut self, event: Event, at: usize, output: &mut Output) -> Result<()> {
        match event {
            Event::Start(tag) => self.start(&tag, at, output)?,
            Event::End(tag) => self.end(tag, output)?,
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.add(&text, at),
            Event::FootnoteReference(label) => self.add(&format!("[{label}]"), at),
            Event::SoftBreak | Event::HardBreak => self.add("\n", at),
            Event::Html(html) => {
                if let Some(gathered) = &mut self.html {
                    gathered.push_str(&html);
                }
            }
            // Tags among words: those that separate what they are between.
            Event::InlineHtml(tag) => {
                let tag = tag.trim_start_matches(['<', '/']);
                if ["br", "p", "td", "th", "li", "div", "tr"]
                    .iter()
                    .any(|name| tag.starts_with(name))
                {
                    self.add(" ", at);
                }
            }
            Event::Rule => self.end_block(output)?,
            Event::TaskListMarker(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag, at: usize, output: &mut Output) -> Result<()> {
        match tag {
            Tag::Heading { level, .. } => {
                self.begin(BlockKind::Heading(level_of(*level)), at, output)?;
            }
            Tag::Paragraph | Tag::DefinitionListTitle if self.kind.is_none() => {
                self.begin(BlockKind::Paragraph, at, output)?;
            }
            // A list item's second paragraph.
            Tag::Paragraph if !self.block.is_empty() && !self.block.ends_with(' ') => {
                self.add("\n", at);
            }
            Tag::CodeBlock(_) => self.begin(BlockKind::Code, at, output)?,
            Tag::MetadataBlock(_) => self.begin(BlockKind::Other, at, output)?,
            Tag::FootnoteDefinition(label) => {
                self.begin(BlockKind::Other, at, output)?;
                self.add(&format!("[{label}] "), at);
            }
            Tag::HtmlBlock => {
                self.begin(BlockKind::Paragraph, at, output)?;
                self.html = Some(String::new());
            }
            Tag::List(first) => self.lists.push(*first),
            Tag::Item => {
                self.begin(BlockKind::ListItem, at, output)?;
                self.block = list_indent(self.lists.len());
                // The number stays: people refer to it.
                if let Some(Some(number)) = self.lists.last_mut() {
                    self.block.push_str(&format!("{number}. "));
                    *number = number.saturating_add(1);
                }
            }
            Tag::Table(_) => self.begin(BlockKind::Table, at, output)?,
            // Rows after a full block begin the next one.
            Tag::TableRow if std::mem::take(&mut self.is_block_full) => self.start = at,
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd, output: &mut Output) -> Result<()> {
        match tag {
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.block);
                self.table.cell(&cell);
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(rows) = self.table.finish_row() {
                    let pointer = self.pointer();
                    self.is_block_full = true;
                    output.push(BlockKind::Table, &pointer, rows)?;
                }
            }
            TagEnd::Table => {
                let pointer = self.pointer();
                self.table.end(&pointer, output)?;
                self.kind = None;
            }
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                let pointer = self.pointer();
                crate::markup::read_html_text(&html, &pointer, output)?;
                self.kind = None;
            }
            TagEnd::MetadataBlock(_) => {
                let title = self.block.lines().find_map(|line| line.strip_prefix("title:"));
                if let Some(title) = title {
                    output.set_title(title.trim().trim_matches(['"', '\'']));
                }
                self.end_block(output)?;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.end_block(output)?;
            }
            TagEnd::Paragraph if !self.lists.is_empty() => {}
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::Item
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => self.end_block(output)?,
            TagEnd::BlockQuote(_)
            | TagEnd::DefinitionList
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => {}
        }
        Ok(())
    }

    fn add(&mut self, text: &str, at: usize) {
        if self.kind.is_none() {
            self.kind = Some(if self.lists.is_empty() {
                BlockKind::Paragraph
            } else {
                BlockKind::ListItem
            });
            self.start = at;
        }
        // What is between fences begins after the first of them.
        if self.block.is_empty() && matches!(self.kind, Some(BlockKind::Code | BlockKind::Other)) {
            self.start = at;
        }
        self.block.push_str(text);
    }

    fn begin(&mut self, kind: BlockKind, at: usize, output: &mut Output) -> Result<()> {
        self.end_block(output)?;
        self.kind = Some(kind);
        self.start = at;
        Ok(())
    }

    fn end_block(&mut self, output: &mut Output) -> Result<()> {
        let Some(kind) = self.kind.take() else { return Ok(()) };
        let block = std::mem::take(&mut self.block);
        let pointer = self.pointer();
        output.push(kind, &pointer, block)
    }

    /// Points at the line where the block starts; lines are counted once.
    fn pointer(&mut self) -> Pointer {
        if let Some(fixed) = self.fixed {
            return fixed.clone();
        }
        let (from, n_lines) = self.counted;
        if let Some(between) = self.text.get(from..self.start) {
            let n_more = memchr::memchr_iter(b'\n', between.as_bytes()).count();
            let n_more = u32::try_from(n_more).unwrap_or(u32::MAX);
            self.counted = (self.start, n_lines.saturating_add(n_more));
        }
        at_line(self.counted.1.saturating_add(1))
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Caps, extract};

    #[track_caller]
    fn check(markdown: &str, expected: &[&str]) {
        let (document, warnings) = extract(markdown.as_bytes(), "a.md", &Caps::standard());
        assert_eq!(warnings, []);
        let shown: Vec<String> = document
            .blocks
            .iter()
            .map(|block| format!("{} {:?}: {}", block.pointer, block.kind, block.text))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn marks_go_and_words_stay() {
        check("**bold** and _slanted_ `code`", &["line 1 Paragraph: bold and slanted code"]);
        check("[the text](http://a.b/c_(d)) after", &["line 1 Paragraph: the text after"]);
        check("![a picture](a.png)", &["line 1 Paragraph: a picture"]);
        check("snake_case_name, 2 * 3 = 6", &["line 1 Paragraph: snake_case_name, 2 * 3 = 6"]);
        check("&amp; &copy; &unknown; R&D", &["line 1 Paragraph: & © &unknown; R&D"]);
        check("one<br>two <https://a.b> x < y", &["line 1 Paragraph: one two https://a.b x < y"]);
    }

    #[test]
    fn lists_keep_their_numbers_and_their_items_apart() {
        check(
            "- one\n  - inner\n- [x] two\n\n3. three\n\n   more\n4. four\n",
            &[
                "line 1 ListItem: - one",
                "line 2 ListItem:   - inner",
                "line 3 ListItem: - two",
                "line 5 ListItem: 3. three\nmore",
                "line 8 ListItem: 4. four",
            ],
        );
    }

    #[test]
    fn html_between_blocks_is_read_as_html() {
        check(
            "# A\n\n<div><!-- unseen -->\n<p>Words <b>here</b></p></div>\n\nAfter\n",
            &["line 1 Heading(1): # A", "line 3 Paragraph: Words here", "line 6 Paragraph: After"],
        );
    }

    #[test]
    fn long_tables_point_at_their_rows() {
        let rows: String = (0..900).map(|row| format!("| {row} | value |\n")).collect();
        let markdown = format!("| n | what |\n|---|---|\n{rows}");
        let (document, _) = extract(markdown.as_bytes(), "a.md", &Caps::standard());
        let second = &document.blocks[1];
        let first: usize = second.text.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(second.pointer.to_string(), format!("line {}", first + 3));
    }
}
