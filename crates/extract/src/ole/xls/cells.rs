//! The values of cells in each of their records.

use encoding_rs::Encoding;

use crate::ole::bytes::{u16_at, u32_at};
use crate::ole::xls::strings::{flagged, paged};

/// What a record says about cells.
pub(super) enum CellRecord {
    /// Text, as it is shown.
    Text(u32, u32, String),
    /// A number with the number of its format.
    Number(u32, u32, f64, u16),
    /// A formula whose text follows in the next record.
    TextFollows(u32, u32),
    /// A formula whose value is an empty text, or that nobody computed.
    NoValue(u32, u32),
    /// The text of the formula before.
    FormulaText(String),
    /// A reference into the table of strings.
    Shared(u32, u32, usize),
}

/// How the version of a workbook writes its records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// 2, 3, 4, 5 or 8.
    pub(super) version: u8,
    pub(super) encoding: &'static Encoding,
}

/// Reads the cells of a record; none when it is about something else.
pub(super) fn cells_of(kind: u16, body: &[u8], dialect: Dialect) -> Vec<CellRecord> {
    read(kind, body, dialect).unwrap_or_default()
}

fn read(kind: u16, body: &[u8], dialect: Dialect) -> Option<Vec<CellRecord>> {
    if kind == 0x00bd {
        return Some(many_numbers(body));
    }
    if matches!(kind, 0x0207 | 0x0007) {
        let text = counted_text(body, dialect)?;
        return Some(vec![CellRecord::FormulaText(text)]);
    }
    let row = u32::from(u16_at(body, 0)?);
    let column = u32::from(u16_at(body, 2)?);
    // Excel 2 has three bytes of attributes where later versions have the number of a format.
    let is_oldest = matches!(kind, 0x0002..=0x0005) || (kind == 0x0006 && dialect.version == 2);
    let format = if is_oldest { 0 } else { u16_at(body, 4)? };
    let value = body.get(if is_oldest { 7 } else { 6 }..)?;
    let cell = match kind {
        0x00fd => CellRecord::Shared(row, column, u32_at(value, 0)? as usize),
        0x0004 => {
            let (length, text) = value.split_first()?;
            CellRecord::Text(row, column, paged(text, usize::from(*length), dialect.encoding))
        }
        0x0204 | 0x00d6 => CellRecord::Text(row, column, counted_text(value, dialect)?),
        0x0002 => CellRecord::Number(row, column, f64::from(u16_at(value, 0)?), format),
        0x0003 | 0x0203 => CellRecord::Number(row, column, float(value)?, format),
        0x027e => CellRecord::Number(row, column, packed_number(u32_at(value, 0)?), format),
        0x0005 | 0x0205 => {
            let &[value, is_error] = value.first_chunk::<2>()?;
            CellRecord::Text(row, column, truth_or_error(value, is_error != 0))
        }
        0x0006 | 0x0206 | 0x0406 => formula(row, column, value, format)?,
        _ => return None,
    };
    Some(vec![cell])
}

fn formula(row: u32, column: u32, value: &[u8], format: u16) -> Option<CellRecord> {
    let result = value.first_chunk::<8>()?;
    if result[6..] != [0xff, 0xff] {
        return Some(CellRecord::Number(row, column, f64::from_le_bytes(*result), format));
    }
    Some(match result[0] {
        0 => CellRecord::TextFollows(row, column),
        1 => CellRecord::Text(row, column, truth_or_error(result[2], false)),
        2 => CellRecord::Text(row, column, truth_or_error(result[2], true)),
        3 => CellRecord::NoValue(row, column),
        _ => return None,
    })
}

/// Reads a record of numbers that are next to each other.
fn many_numbers(body: &[u8]) -> Vec<CellRecord> {
    let (Some(row), Some(first)) = (u16_at(body, 0), u16_at(body, 2)) else { return Vec::new() };
    let numbers = body.get(4..body.len().saturating_sub(2)).unwrap_or_default();
    (u32::from(first)..)
        .zip(numbers.as_chunks::<6>().0)
        .filter_map(|(column, number)| {
            let value = packed_number(u32_at(number, 2)?);
            Some(CellRecord::Number(u32::from(row), column, value, u16_at(number, 0)?))
        })
        .collect()
}

fn counted_text(bytes: &[u8], dialect: Dialect) -> Option<String> {
    if dialect.version == 2 {
        let (length, text) = bytes.split_first()?;
        return Some(paged(text, usize::from(*length), dialect.encoding));
    }
    let length = usize::from(u16_at(bytes, 0)?);
    let text = bytes.get(2..)?;
    Some(match dialect.version {
        8 => flagged(text, length),
        _ => paged(text, length, dialect.encoding),
    })
}

fn float(bytes: &[u8]) -> Option<f64> {
    bytes.first_chunk().copied().map(f64::from_le_bytes)
}

/// Unpacks a number of four bytes: the upper half of a float or a whole number, perhaps in
/// hundredths.
fn packed_number(packed: u32) -> f64 {
    let value = if packed & 2 != 0 {
        f64::from((packed as i32) >> 2)
    } else {
        f64::from_bits(u64::from(packed & !3) << 32)
    };
    if packed & 1 != 0 { value / 100.0 } else { value }
}

fn truth_or_error(value: u8, is_error: bool) -> String {
    let text = match (is_error, value) {
        (false, 0) => "FALSE",
        (false, _) => "TRUE",
        (true, 0x00) => "#NULL!",
        (true, 0x07) => "#DIV/0!",
        (true, 0x0f) => "#VALUE!",
        (true, 0x17) => "#REF!",
        (true, 0x1d) => "#NAME?",
        (true, 0x24) => "#NUM!",
        (true, _) => "#N/A",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_numbers() {
        for (packed, expected) in [
            (0x3ff0_0000, 1.0),
            ((7 << 2) | 2, 7.0),
            ((1234 << 2) | 3, 12.34),
            (((-5_i32) << 2) as u32 | 2, -5.0),
        ] {
            assert_eq!(packed_number(packed), expected);
        }
    }
}
