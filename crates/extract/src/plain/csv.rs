//! Rows of values: the delimiter is found by how evenly it cuts the first rows, and every block
//! of rows points at its first line.

use model::BlockKind;

use crate::Format;
use crate::error::Result;
use crate::output::Output;
use crate::plain::lines::at_line;

/// Rows are put together into blocks of about this many bytes.
const BLOCK_BYTES: usize = 4 << 10;

/// How many lines the search for the delimiter looks at.
const SAMPLE_LINES: usize = 20;

pub(crate) fn read_csv(format: Format, bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    let (declared, text, skipped) = match text.strip_prefix("sep=") {
        Some(rest) => {
            let (line, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            (line.chars().next(), rest, 1)
        }
        None => (None, text.as_str(), 0),
    };
    let delimiter = declared
        .unwrap_or_else(|| if format == Format::Tsv { '\t' } else { guessed_delimiter(text) });
    let mut block = String::new();
    let mut block_line = 1;
    for row in rows(text, delimiter) {
        if row.fields.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        if block.is_empty() {
            block_line = row.line + skipped;
        }
        push_row(&row.fields, &mut block);
        if block.len() > BLOCK_BYTES {
            output.push(BlockKind::Table, &at_line(block_line), &block)?;
            block.clear();
        }
    }
    output.push(BlockKind::Table, &at_line(block_line), &block)
}

fn push_row(fields: &[String], block: &mut String) {
    for (field_idx, field) in fields.iter().enumerate() {
        if field_idx > 0 {
            block.push_str(" | ");
        }
        let mut words = field.split_whitespace();
        block.extend(words.next());
        for word in words {
            block.push(' ');
            block.push_str(word);
        }
    }
    block.truncate(block.trim_end_matches([' ', '|']).len());
    block.push('\n');
}

fn guessed_delimiter(text: &str) -> char {
    let mut best = (',', 0.0);
    for delimiter in [',', ';', '\t', '|', ':'] {
        let counts: Vec<usize> = rows(text, delimiter)
            .take(SAMPLE_LINES)
            .map(|row| row.fields.len().saturating_sub(1))
            .collect();
        let Some(most) = counts.iter().copied().max().filter(|most| *most > 0) else { continue };
        let same =
            counts.iter().filter(|count| Some(count) == counts.first().as_ref()).count() as f64;
        let evenness = same / counts.len() as f64;
        let weight = evenness * evenness * (1.0 + (most as f64).ln());
        let weight = if delimiter == ':' { weight * 0.3 } else { weight };
        if weight > best.1 {
            best = (delimiter, weight);
        }
    }
    best.0
}

struct Row {
    line: u32,
    fields: Vec<String>,
}

/// Walks RFC 4180 rows; a quote that is never closed ends with the text.
fn rows(text: &str, delimiter: char) -> impl Iterator<Item = Row> + '_ {
    let mut chars = text.chars().peekable();
    let mut line = 1_u32;
    std::iter::from_fn(move || {
        chars.peek()?;
        let mut row = Row { line, fields: Vec::new() };
        let mut field = String::new();
        let mut is_quoted = false;
        while let Some(char) = chars.next() {
            if char == '\n' {
                line = line.saturating_add(1);
            }
            if is_quoted {
                match char {
                    '"' if chars.peek() == Some(&'"') => {
                        field.push('"');
                        chars.next();
                    }
                    '"' => is_quoted = false,
                    _ => field.push(char),
                }
            } else if char == '"' && field.trim().is_empty() {
                field.clear();
                is_quoted = true;
            } else if char == delimiter {
                row.fields.push(std::mem::take(&mut field));
            } else if char == '\n' {
                break;
            } else {
                field.push(char);
            }
        }
        row.fields.push(field);
        Some(row)
    })
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
