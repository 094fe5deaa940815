//! Rows of values, cut by the `csv` crate; every block of rows points at its first line.

use csv::{ReaderBuilder, StringRecord};
use model::BlockKind;

use crate::Format;
use crate::error::{Error, Result};
use crate::grid::TextTable;
use crate::output::Output;
use crate::plain::lines::at_line;

pub(crate) fn read_csv(format: Format, bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    // Spreadsheets write, and read, a first line that names the delimiter.
    let (line, below) = text.split_once('\n').unwrap_or((&text, ""));
    let declared = model::declared_delimiter(line.as_bytes());
    let (text, n_skipped) = if declared.is_some() { (below, 1) } else { (text.as_str(), 0) };
    let is_tsv = format == Format::Tsv;
    let guessed = || if is_tsv { b'\t' } else { model::guess_delimiter(text.as_bytes()) };
    let delimiter = declared.unwrap_or_else(guessed);
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = TextTable::default();
    let mut block_line = None;
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| Error::broken(format, error))? {
        if record.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        let line = record.position().map_or(1, csv::Position::line);
        let first = *block_line.get_or_insert(line);
        record.iter().for_each(|field| rows.cell(field));
        if let Some(block) = rows.finish_row() {
            output.push(BlockKind::Table, &pointer(first, n_skipped), block)?;
            block_line = None;
        }
        output.check_time()?;
    }
    let rest = rows.finish();
    output.push(BlockKind::Table, &pointer(block_line.unwrap_or(1), n_skipped), rest)
}

fn pointer(line: u64, n_skipped: u32) -> model::Pointer {
    at_line(u32::try_from(line).unwrap_or(u32::MAX).saturating_add(n_skipped))
}

#[cfg(test)]
mod tests {
    use crate::{Caps, extract};

    #[track_caller]
    fn check(csv: &str, expected: &str) {
        let (extracted, warnings) = extract(csv.as_bytes(), "rows.csv", &Caps::standard());
        assert_eq!(extracted.text(), expected);
        assert_eq!(warnings, []);
    }

    #[test]
    fn delimiters_are_found() {
        check("a,b\n1,2\n", "a | b\n1 | 2");
        check("a;b,c;d\n1;2;3\n", "a | b,c | d\n1 | 2 | 3");
        check("a\tb\n1\t2\n", "a | b\n1 | 2");
        check("sep=|\na|b\n", "a | b");
        // A title above the names of the columns; what separates them separates the rows.
        check("Report 2024\nid;name\n1;a,b\n2;c\n", "Report 2024\nid | name\n1 | a,b\n2 | c");
    }

    #[test]
    fn quotes_hold_delimiters_and_lines() {
        check("a,\"b, \"\"c\"\"\nd\"\n1,2\n", "a | b, \"c\" d\n1 | 2");
        check("a,\"never closed\n1,2", "a | never closed 1,2");
    }

    #[test]
    fn blocks_point_at_their_lines() {
        let csv: String = (0..1000).map(|row| format!("{row},some value\n")).collect();
        let (extracted, _) = extract(csv.as_bytes(), "rows.csv", &Caps::standard());
        let second = &extracted.blocks[1];
        let first: usize = second.text.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(second.pointer.to_string(), format!("line {}", first + 1));
    }
}
