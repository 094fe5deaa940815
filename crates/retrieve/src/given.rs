//! Where a walk through a ranked list is: what was given already.
//!
//! An order by rank moves as things come and go, so a position alone would repeat some and leave
//! out others. What a walk has given is therefore named, by a short mark of each, and the next
//! page is what is best now without it. Nothing is remembered on a server.
//!
//! Marks cost tokens, so a cursor names no more than [`MAX_NAMED`] things. A walk beyond them
//! goes on in an order that never moves, of which the place of the last one is enough.

/// Things that a cursor names by their marks; a page that began before may bring a few more.
pub const MAX_NAMED: usize = 100;

/// A cursor with more marks than this was not made here: a page gives at most as many again, and
/// what says the same as one of them.
const MAX_MARKS: usize = 4 * MAX_NAMED;

/// Bits of a mark: five characters. Where a hundred things were given and ten thousand are to
/// come, one walk in a thousand has two with the same mark.
const MARK_BITS: u32 = 30;

/// Bits of a place in the order that never moves: ten characters.
const PLACE_BITS: u32 = 60;

/// Begins every cursor, so that none looks like a number.
const BEGIN: char = 'w';

/// Is before the place in the order that never moves.
const PLACE: char = '.';

/// Six bits each, none of which needs to be escaped in an address.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What the pages before gave.
///
/// ```
/// use retrieve::Given;
///
/// let given = Given::default().with(["/a.txt", "/b.txt"]);
/// assert!(given.holds("/a.txt") && !given.holds("/c.txt"));
/// assert_eq!(Given::decode(&given.encode()), Some(given));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given {
    marks: Vec<u64>,
    place: Option<u64>,
}

impl Given {
    /// Reads what [`Given::encode`] wrote; nothing for anything else.
    pub fn decode(text: &str) -> Option<Self> {
        let text = text.strip_prefix(BEGIN)?;
        let (marks, place) = match text.split_once(PLACE) {
            Some((marks, place)) => match numbers(place, PLACE_BITS)?.as_slice() {
                [] => (marks, Some(0)),
                [place] => (marks, Some(*place)),
                _ => return None,
            },
            None => (text, None),
        };
        let marks = numbers(marks, MARK_BITS)?;
        (marks.len() <= MAX_MARKS).then_some(Given { marks, place })
    }

    /// Writes it as an opaque text.
    pub fn encode(&self) -> String {
        let mut text = String::from(BEGIN);
        self.marks.iter().for_each(|mark| write(*mark, MARK_BITS, &mut text));
        if let Some(place) = self.place {
            text.push(PLACE);
            if place > 0 {
                write(place, PLACE_BITS, &mut text);
            }
        }
        text
    }

    /// Adds what a page gives by rank.
    #[must_use]
    pub fn with<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        for id in ids {
            let mark = hash(id) >> (u64::BITS - MARK_BITS);
            if !self.marks.contains(&mark) {
                self.marks.push(mark);
            }
        }
        self
    }

    /// Names no more: from here on the order is that of [`Given::place_of`], from its start.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.place = self.place.or(Some(0));
        self
    }

    /// Goes on behind this one, in the order of [`Given::place_of`].
    #[must_use]
    pub fn behind(mut self, id: &str) -> Self {
        self.place = Some(Given::place_of(id));
        self
    }

    /// Goes on behind a place in the order of [`Given::place_of`] that was looked at, whatever was
    /// given of it.
    #[must_use]
    pub fn behind_place(mut self, place: u64) -> Self {
        self.place = Some(self.place.unwrap_or(0).max(place));
        self
    }

    /// Gives the place of a thing in the order of [`Given::place_of`], unless it was given.
    pub fn place_behind(&self, id: &str) -> Option<u64> {
        (!self.holds(id)).then(|| Given::place_of(id))
    }

    /// Tells whether a thing was given.
    pub fn holds(&self, id: &str) -> bool {
        self.marks.contains(&(hash(id) >> (u64::BITS - MARK_BITS)))
            || self.place.is_some_and(|place| Given::place_of(id) <= place)
    }

    /// Tells whether the walk goes on in the order of [`Given::place_of`].
    pub fn is_closed(&self) -> bool {
        self.place.is_some()
    }

    /// Counts those that were given by rank.
    pub fn n_named(&self) -> usize {
        self.marks.len()
    }

    /// Gives the place of a thing in an order that depends on nothing but its id.
    pub fn place_of(id: &str) -> u64 {
        hash(id) & (u64::MAX >> (u64::BITS - PLACE_BITS))
    }
}

/// FNV-1a with the last step of MurmurHash3, which spreads short texts over all bits: the same
/// in every version, as cursors outlive a server.
fn hash(id: &str) -> u64 {
    let folded = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (folded ^ (folded >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

fn write(number: u64, n_bits: u32, text: &mut String) {
    for digit in (0..n_bits / 6).rev() {
        let at = (number >> (digit * 6)) & 63;
        text.push(char::from(DIGITS[at as usize]));
    }
}

/// Reads numbers of so many bits behind each other.
fn numbers(text: &str, n_bits: u32) -> Option<Vec<u64>> {
    let n_digits = (n_bits / 6) as usize;
    if !text.len().is_multiple_of(n_digits) {
        return None;
    }
    let digits: Vec<u64> = text
        .bytes()
        .map(|byte| DIGITS.iter().position(|digit| *digit == byte).map(|at| at as u64))
        .collect::<Option<_>>()?;
    let number = |digits: &[u64]| digits.iter().fold(0, |number, digit| (number << 6) | digit);
    Some(digits.chunks(n_digits).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_nonsense_does_not() {
        let given = Given::default().with(["/a", "/b", "/資料", "/a"]);
        let read = Given::decode(&given.encode()).unwrap();
        assert_eq!((&read, read.n_named()), (&given, 3));
        assert!(read.holds("/b") && !read.holds("/c"));
        let behind = given.behind("/c");
        assert_eq!(Given::decode(&behind.encode()), Some(behind.clone()));
        assert!(behind.holds("/c") && behind.is_closed());
        let closed = Given::default().with(["/a"]).closed();
        assert_eq!(closed.encode().len(), 7);
        assert_eq!(Given::decode(&closed.encode()), Some(closed));
        assert_eq!(Given::decode("w"), Some(Given::default()));
        let long = format!("w{}", "A".repeat(5 * MAX_MARKS + 5));
        for nonsense in ["", "10", "w!", "wAAA", "AAAAA", "w.AAAAA", "w資料", &long] {
            assert_eq!(Given::decode(nonsense), None, "{nonsense}");
        }
    }

    /// A cursor of a walk through ten thousand files had 66,000 characters.
    #[test]
    fn a_cursor_is_short_wherever_the_walk_is() {
        let ids: Vec<String> = (0..10_000).map(|n| format!("/folder/file {n}.txt")).collect();
        let named = Given::default().with(ids.iter().take(MAX_NAMED).map(String::as_str));
        let n_held = ids.iter().filter(|id| named.holds(id)).count();
        assert_eq!(n_held, MAX_NAMED);
        let mut rest: Vec<&String> = ids.iter().skip(MAX_NAMED).collect();
        rest.sort_by_key(|id| Given::place_of(id));
        let halfway = named.behind(rest[4_949]);
        assert_eq!(ids.iter().filter(|id| halfway.holds(id)).count(), MAX_NAMED + 4_950);
        assert!(halfway.encode().len() <= 1 + 5 * MAX_NAMED + 11);
    }
}
