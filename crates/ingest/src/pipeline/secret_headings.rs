//! Passages of a long table keep its headings where one of its columns holds secrets, so that
//! whoever shows a row knows which of its cells are private.

use std::cell::Cell;
use std::ops::Range;

use model::{BLOCK_SEPARATOR, Block, Passage};
use text::SecretTable;

/// The tables of a document that have a column of secrets.
pub(super) struct SecretHeadings(Vec<Headed>);

/// The line of headings of such a table, and its rows.
struct Headed {
    heading: String,
    /// The characters of the whole text in which its rows are.
    rows: Range<usize>,
}

impl SecretHeadings {
    /// Finds them.
    pub(super) fn of(blocks: &[Block]) -> Self {
        // Most documents have no such table, and are not copied to find that out.
        let may_have = blocks.iter().any(|block| !text::secret_tables(&block.text).is_empty());
        if !may_have {
            return SecretHeadings(vec![]);
        }
        let whole = Block::whole_text(blocks);
        let chars = Chars { whole: &whole, at: Cell::default() };
        let tables =
            tables_of(&whole, blocks).into_iter().map(|SecretTable { heading, rows }| Headed {
                heading: whole.get(heading).unwrap_or_default().to_owned(),
                rows: chars.before(rows.start)..chars.before(rows.end),
            });
        SecretHeadings(tables.collect())
    }

    /// Adds the line of headings to the passages that begin in such a table, unless they have it.
    pub(super) fn add_to(&self, passages: &mut [Passage]) {
        if self.0.is_empty() {
            return;
        }
        for passage in passages {
            let begins = passage.span.start;
            let table = self.0.iter().rev().find(|table| table.rows.contains(&begins));
            if let Some(Headed { heading, .. }) = table
                && passage.headings.last().is_none_or(|last| last != heading)
            {
                passage.headings.push(heading.clone());
            }
        }
    }
}

/// Counts characters of a text up to a byte, mostly further on than the one before.
struct Chars<'a> {
    whole: &'a str,
    /// A byte, and the characters before it.
    at: Cell<(usize, usize)>,
}

impl Chars<'_> {
    fn before(&self, byte: usize) -> usize {
        let (at, n_chars) = match self.at.get() {
            (at, n_chars) if at <= byte => (at, n_chars),
            _ => (0, 0),
        };
        let n_more = self.whole.get(at..byte).map_or(0, |walked| walked.chars().count());
        self.at.set((byte, n_chars + n_more));
        n_chars + n_more
    }
}

/// Lists the tables of a document with a column of secrets; each is on one sheet.
fn tables_of(whole: &str, blocks: &[Block]) -> Vec<SecretTable> {
    let mut tables = Vec::new();
    let mut start = 0;
    for sheet in blocks.chunk_by(|one, next| one.pointer.sheet() == next.pointer.sheet()) {
        let n_bytes: usize =
            sheet.iter().map(|block| block.text.len() + BLOCK_SEPARATOR.len()).sum();
        let end = (start + n_bytes).min(whole.len());
        let found = text::secret_tables(whole.get(start..end).unwrap_or_default());
        tables.extend(found.into_iter().map(|table| SecretTable {
            heading: start + table.heading.start..start + table.heading.end,
            rows: start + table.rows.start..start + table.rows.end,
        }));
        start = end;
    }
    tables
}

#[cfg(test)]
mod tests {
    use model::{BlockKind, DocumentId, Pointer};

    use super::*;
    use crate::Cut;

    #[test]
    fn every_passage_of_the_table_knows_its_headings() {
        let table = |first: usize, heading: &str| {
            let rows: String =
                (first..first + 100).map(|n| format!("user{n} | word{n} | {n}\n")).collect();
            Block::new(format!("{heading}{rows}"), Pointer::Line(1), BlockKind::Table)
        };
        let prose = Block::new("Nothing else is in it.", Pointer::Whole, BlockKind::Paragraph);
        let heading = "user | password | age";
        let blocks = [table(0, &format!("{heading}\n")), table(100, ""), table(200, ""), prose];
        let secret_headings = SecretHeadings::of(&blocks);
        let mut passages = Cut::prose().passages(&DocumentId::new("d"), blocks.to_vec());
        secret_headings.add_to(&mut passages);
        assert!(passages.len() > 10, "{}", passages.len());
        for passage in &passages {
            let begins_with_row = passage.text.starts_with("user") && passage.ordinal > 0;
            let has_heading = passage.headings.last().is_some_and(|last| last == heading);
            assert_eq!(begins_with_row, has_heading, "{passage:?}");
        }
    }

    /// The rows of the next sheet were taken for more rows of the table.
    #[test]
    fn headings_of_a_sheet_are_not_those_of_the_next() {
        let sheet = |name: &str, text: &str| {
            let pointer = Pointer::Sheet { name: name.to_owned(), range: None };
            Block::new(text, pointer, BlockKind::Table)
        };
        let blocks = [
            sheet("Users", "login | password\nann | tiger\n"),
            sheet("Users", "bob | lion\n"),
            sheet("Orders", "number | city\n5 | Oslo\n"),
        ];
        let whole = Block::whole_text(&blocks);
        let tables = tables_of(&whole, &blocks);
        assert_eq!(tables.len(), 1);
        assert!(whole[tables[0].rows.clone()].ends_with("bob | lion"), "{tables:?}");
    }
}
