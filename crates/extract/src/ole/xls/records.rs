//! The records of a workbook's stream, by number and length.

use crate::ole::bytes::u16_at;

/// What follows in the next record because one has no room for more.
pub(super) const CONTINUE: u16 = 0x003c;

/// One record and where it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) at: usize,
    pub(super) body: &'a [u8],
}

/// Walks records from a place on; a cut record ends the walk with what is there of it.
pub(super) fn records(stream: &[u8]) -> impl Iterator<Item = Record<'_>> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        let kind = u16_at(stream, at)?;
        let length = usize::from(u16_at(stream, at + 2)?);
        let body = stream.get(at + 4..)?;
        let body = body.get(..length).unwrap_or(body);
        let record = Record { kind, at, body };
        at += 4 + body.len();
        Some(record)
    })
}

/// Gives what continues a record: the bodies of the records right behind it.
pub(super) fn continued<'a>(
    first: &'a [u8],
    following: impl Iterator<Item = Record<'a>>,
) -> Vec<&'a [u8]> {
    let mut bodies = vec![first];
    bodies.extend(following.take_while(|record| record.kind == CONTINUE).map(|record| record.body));
    bodies
}
