//! The packing of RTF bodies in Outlook's messages: back references into what was written, with
//! a fixed start that every message shares.

/// What is in the window before anything is written, from the specification.
const START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

const PACKED: u32 = 0x7546_5a4c;
const PLAIN: u32 = 0x414c_454d;

/// The size of the window that references reach back into.
const WINDOW: usize = 4096;

/// Unpacks a body; `None` when it is none.
pub(super) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let field = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes);
    let length = usize::try_from(field(4)?).ok()?;
    let kind = field(8)?;
    let body = bytes.get(16..)?;
    if kind == PLAIN {
        return Some(body.to_vec());
    }
    if kind != PACKED {
        return None;
    }
    // Each packed byte gives at most 17 bytes, so what a header claims cannot make this large.
    let limit = length.min(body.len().saturating_mul(17));
    let mut plain: Vec<u8> = START.to_vec();
    let mut packed = body.iter().copied();
    'all: while plain.len() - START.len() < limit {
        let Some(flags) = packed.next() else { break };
        for bit in 0..8 {
            if flags & (1 << bit) == 0 {
                match packed.next() {
                    Some(byte) => plain.push(byte),
                    None => break 'all,
                }
                continue;
            }
            let (Some(high), Some(low)) = (packed.next(), packed.next()) else { break 'all };
            let pair = usize::from(u16::from_be_bytes([high, low]));
            let (offset, count) = (pair >> 4, (pair & 0xf) + 2);
            let write_at = plain.len() % WINDOW;
            if offset == write_at {
                break 'all;
            }
            let distance = (write_at + WINDOW - offset) % WINDOW;
            for _ in 0..count {
                let byte = plain.len().checked_sub(distance).and_then(|at| plain.get(at)).copied();
                plain.push(byte.unwrap_or(b' '));
            }
        }
    }
    plain.drain(..START.len());
    plain.truncate(length);
    Some(plain)
}
