//! Passages of a long table keep its headings where one of its columns holds secrets, so that
//! whoever shows a row knows which of its cells are private.

use model::{BLOCK_SEPARATOR, Block, Passage};
use text::SecretTable;

/// Adds the line of headings to the passages that begin in such a table, unless they have it.
pub(super) fn add_secret_headings(blocks: &[Block], passages: &mut [Passage]) {
    // Most documents have no such table, and are not copied to find that out.
    let may_have = blocks.iter().any(|block| !text::secret_tables(&block.text).is_empty());
    if !may_have {
        return;
    }
    let whole = Block::whole_text(blocks);
    let tables = tables_of(&whole, blocks);
    let (mut at_byte, mut at_char) = (0, 0);
    for passage in passages {
        // Passages come in the order of the text.
        if passage.span.start < at_char {
            (at_byte, at_char) = (0, 0);
        }
        let rest = whole.get(at_byte..).unwrap_or_default();
        let step = rest.char_indices().nth(passage.span.start - at_char);
        (at_byte, at_char) = (at_byte + step.map_or(rest.len(), |(at, _)| at), passage.span.start);
        let table = tables.iter().rev().find(|table| table.rows.contains(&at_byte));
        let heading = table.and_then(|table| whole.get(table.heading.clone()));
        if let Some(heading) = heading
            && passage.headings.last().is_none_or(|last| last != heading)
        {
            passage.headings.push(heading.to_owned());
        }
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
        let mut passages = Cut::prose().passages(&DocumentId::new("d"), &blocks);
        add_secret_headings(&blocks, &mut passages);
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
