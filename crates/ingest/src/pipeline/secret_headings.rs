//! Passages of a long table keep its headings where one of its columns holds secrets, so that
//! whoever shows a row knows which of its cells are private.

use model::{Block, Passage};

/// Adds the line of headings to the passages that begin in such a table, unless they have it.
pub(super) fn add_secret_headings(blocks: &[Block], passages: &mut [Passage]) {
    // Most documents have no such table, and are not copied to find that out.
    let may_have = blocks.iter().any(|block| !text::secret_tables(&block.text).is_empty());
    if !may_have {
        return;
    }
    let whole = Block::whole_text(blocks);
    let tables = text::secret_tables(&whole);
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
}
