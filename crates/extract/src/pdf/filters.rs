//! Packed streams → bytes: the filters that text can be behind. Those of pictures are not.

use crate::archive::{Wrapping, inflate};
use crate::error::Result;
use crate::output::Output;

use super::object::{Dict, Object};

/// How a predictor lays out the bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Predictor {
    pub(super) kind: i64,
    pub(super) n_colors: usize,
    pub(super) n_bits: usize,
    pub(super) n_columns: usize,
    pub(super) early_change: bool,
}

impl Predictor {
    pub(super) fn of(parameters: Option<&Dict>, value: impl Fn(&Object) -> Option<i64>) -> Self {
        let number = |name: &str, usual: i64| {
            parameters.and_then(|dict| dict.raw(name)).and_then(&value).unwrap_or(usual)
        };
        let size = |name: &str, usual: i64| number(name, usual).clamp(1, 1 << 16) as usize;
        Predictor {
            kind: number("Predictor", 1),
            n_colors: size("Colors", 1),
            n_bits: size("BitsPerComponent", 8),
            n_columns: size("Columns", 1),
            early_change: number("EarlyChange", 1) != 0,
        }
    }
}

/// Undoes one filter; `None` when it is one of pictures.
pub(super) fn unfiltered(
    name: &str,
    packed: &[u8],
    predictor: Predictor,
    output: &mut Output,
) -> Result<Option<Vec<u8>>> {
    let bytes = match name {
        "FlateDecode" | "Fl" => unpredicted(inflated(packed, output)?, predictor),
        "LZWDecode" | "LZW" => unpredicted(lzw(packed, predictor.early_change, output)?, predictor),
        "ASCIIHexDecode" | "AHx" => ascii_hex(packed),
        "ASCII85Decode" | "A85" => ascii_85(packed),
        "RunLengthDecode" | "RL" => run_length(packed, output)?,
        "Crypt" => packed.to_vec(),
        _ => return Ok(None),
    };
    Ok(Some(bytes))
}

fn inflated(packed: &[u8], output: &mut Output) -> Result<Vec<u8>> {
    // Some writers leave a line break before the data.
    let trimmed = packed.trim_ascii_start();
    let looks_right = |bytes: &[u8]| {
        bytes
            .first_chunk::<2>()
            .is_some_and(|head| head[0] & 0x0f == 8 && u16::from_be_bytes(*head).is_multiple_of(31))
    };
    let packed = if !looks_right(packed) && looks_right(trimmed) { trimmed } else { packed };
    let unpacked = inflate(packed, Wrapping::Zlib, output)?;
    if unpacked.is_damaged && unpacked.bytes.is_empty() {
        // The two bytes in front may be all that is wrong.
        return Ok(inflate(packed.get(2..).unwrap_or_default(), Wrapping::Raw, output)?.bytes);
    }
    Ok(unpacked.bytes)
}

fn lzw(packed: &[u8], early_change: bool, output: &mut Output) -> Result<Vec<u8>> {
    const CLEAR: u32 = 256;
    const END: u32 = 257;
    let mut unpacked: Vec<u8> = Vec::new();
    // Every entry is a stretch of what was already written.
    let mut entries: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut buffer, mut n_buffered, mut width) = (0_u32, 0_u32, 9_u32);
    let mut counted = 0;
    for byte in packed {
        buffer = (buffer << 8 | u32::from(*byte)) & 0x00ff_ffff;
        n_buffered += 8;
        if n_buffered < width {
            continue;
        }
        n_buffered -= width;
        let code = buffer >> n_buffered & ((1 << width) - 1);
        match code {
            CLEAR => {
                entries.clear();
                previous = None;
                width = 9;
                continue;
            }
            END => break,
            _ => {}
        }
        let start = unpacked.len();
        if let Ok(byte) = u8::try_from(code) {
            unpacked.push(byte);
        } else {
            let entry = entries.get((code - 258) as usize).copied();
            match (entry, previous) {
                (Some((from, to)), _) => unpacked.extend_from_within(from..to),
                (None, Some((from, to))) => {
                    unpacked.extend_from_within(from..to);
                    unpacked.extend_from_within(from..from + 1);
                }
                (None, None) => break,
            }
        }
        if let Some((from, to)) = previous
            && entries.len() < 4096 - 258
        {
            entries.push((from, to + 1));
        }
        previous = Some((start, unpacked.len()));
        let n_codes = entries.len() + 258 + usize::from(early_change) + 1;
        width = match n_codes {
            0..=512 => 9,
            513..=1024 => 10,
            1025..=2048 => 11,
            _ => 12,
        };
        if unpacked.len() - counted > 1 << 20 {
            output.expanded((unpacked.len() - counted) as u64)?;
            counted = unpacked.len();
        }
    }
    output.expanded((unpacked.len() - counted) as u64)?;
    Ok(unpacked)
}

fn ascii_hex(packed: &[u8]) -> Vec<u8> {
    let mut digits = packed
        .iter()
        .take_while(|byte| **byte != b'>')
        .filter_map(|byte| super::lexer::hex_digit(*byte));
    let mut bytes = Vec::with_capacity(packed.len() / 2);
    while let Some(high) = digits.next() {
        bytes.push(high << 4 | digits.next().unwrap_or_default());
    }
    bytes
}

fn ascii_85(packed: &[u8]) -> Vec<u8> {
    let packed = packed.strip_prefix(b"<~").unwrap_or(packed);
    let mut bytes = Vec::with_capacity(packed.len() / 5 * 4);
    let mut group = [0_u32; 5];
    let mut n_group = 0;
    for byte in packed {
        match byte {
            b'~' => break,
            b'z' if n_group == 0 => bytes.extend_from_slice(&[0; 4]),
            b'!'..=b'u' => {
                if let Some(slot) = group.get_mut(n_group) {
                    *slot = u32::from(byte - b'!');
                }
                n_group += 1;
                if n_group == 5 {
                    bytes.extend_from_slice(&base_85(&group).to_be_bytes());
                    n_group = 0;
                }
            }
            _ => {}
        }
    }
    if n_group > 1 {
        for slot in group.iter_mut().skip(n_group) {
            *slot = 84;
        }
        let value = base_85(&group).to_be_bytes();
        bytes.extend_from_slice(value.get(..n_group - 1).unwrap_or_default());
    }
    bytes
}

fn base_85(group: &[u32; 5]) -> u32 {
    group.iter().fold(0_u32, |value, digit| value.wrapping_mul(85).wrapping_add(*digit))
}

fn run_length(packed: &[u8], output: &mut Output) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = packed;
    while let Some((length, after)) = rest.split_first() {
        match usize::from(*length) {
            128 => break,
            length @ 0..128 => {
                let run = after.get(..length + 1).unwrap_or(after);
                bytes.extend_from_slice(run);
                rest = after.get(run.len()..).unwrap_or_default();
            }
            length => {
                let Some((byte, after)) = after.split_first() else { break };
                bytes.extend(std::iter::repeat_n(*byte, 257 - length));
                rest = after;
            }
        }
    }
    output.expanded(bytes.len() as u64)?;
    Ok(bytes)
}

fn unpredicted(bytes: Vec<u8>, predictor: Predictor) -> Vec<u8> {
    if predictor.kind < 2 {
        return bytes;
    }
    let n_pixel = (predictor.n_colors * predictor.n_bits).div_ceil(8).max(1);
    let n_row = (predictor.n_colors * predictor.n_bits * predictor.n_columns).div_ceil(8).max(1);
    if predictor.kind == 2 {
        let mut bytes = bytes;
        if predictor.n_bits == 8 {
            for row in bytes.chunks_mut(n_row) {
                for at in n_pixel..row.len() {
                    row[at] = row[at].wrapping_add(row[at - n_pixel]);
                }
            }
        }
        return bytes;
    }
    let mut plain: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut above = vec![0_u8; n_row];
    for line in bytes.chunks(n_row + 1) {
        let Some((kind, packed)) = line.split_first() else { break };
        let mut row = packed.to_vec();
        for at in 0..row.len() {
            let left = if at >= n_pixel { row[at - n_pixel] } else { 0 };
            let up = above[at];
            let up_left = if at >= n_pixel { above[at - n_pixel] } else { 0 };
            let predicted = match kind {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, up_left),
                _ => 0,
            };
            row[at] = row[at].wrapping_add(predicted);
        }
        plain.extend_from_slice(&row);
        row.resize(n_row, 0);
        above = row;
    }
    plain
}

fn paeth(left: u8, up: u8, up_left: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(up) - i16::from(up_left);
    let distance = |value: u8| (estimate - i16::from(value)).abs();
    if distance(left) <= distance(up) && distance(left) <= distance(up_left) {
        left
    } else if distance(up) <= distance(up_left) {
        up
    } else {
        up_left
    }
}
