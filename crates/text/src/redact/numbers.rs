//! Runs of digits: cut once into groups, then asked whether they are a card or a telephone.

use super::payment_card::card_groups;
use super::phone::{MIN_PHONE_DIGITS, phone_groups};
use super::signs::next_digit;
use super::{PrivateKind, PrivatePiece};

/// Groups of one run that are looked at together; no number is written in more.
pub(super) const MAX_GROUPS: usize = 9;

/// A group of digits of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Where its digits are.
    pub(super) start: usize,
    /// One past its last digit.
    pub(super) end: usize,
    /// The separator before it: the last sign other than a space, or a space, or 0 at the start.
    pub(super) separator: u8,
    /// Whether `(` is directly before it, or before its `+`.
    pub(super) opens: bool,
    /// Whether `+` is directly before it, or before its parenthesis.
    pub(super) plus: bool,
}

impl Group {
    /// Counts the digits.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Gives where the signs that open the group start.
    pub(super) fn lead_start(&self) -> usize {
        self.start - usize::from(self.opens) - usize::from(self.plus)
    }
}

/// Finds payment cards and telephone numbers.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let bytes = text.as_bytes();
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while let Some(digit) = next_digit(bytes, at) {
        at = read_run(bytes, digit, &mut groups);
        // Most numbers of a text are years and counts.
        if groups.iter().map(Group::len).sum::<usize>() >= MIN_PHONE_DIGITS {
            find_in_run(text, &groups, found);
        }
    }
}

/// Reads the groups of a run whose first digit is at `at`; gives where the run ends.
fn read_run(bytes: &[u8], at: usize, groups: &mut Vec<Group>) -> usize {
    groups.clear();
    let mut at = at;
    let mut separator = 0;
    loop {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let byte_before = |n: usize| start.checked_sub(n).and_then(|at| bytes.get(at)).copied();
        let (opens, plus) = match (byte_before(2), byte_before(1)) {
            (Some(b'('), Some(b'+')) | (Some(b'+'), Some(b'(')) => (true, true),
            (_, Some(b'(')) => (true, false),
            (_, Some(b'+')) => (false, true),
            _ => (false, false),
        };
        groups.push(Group { start, end: at, separator, opens, plus });
        match gap(bytes, at) {
            Some((next, next_separator)) => {
                at = next;
                separator = next_separator;
            }
            None => return at,
        }
    }
}

/// Reads what is between two groups of one number: a space, a sign, a parenthesis.
fn gap(bytes: &[u8], from: usize) -> Option<(usize, u8)> {
    let mut separator = b' ';
    let mut at = from;
    // `) `, ` (`, `)-`, ` - `, `) (` are the longest that people write.
    for _ in 0..=3 {
        let byte = *bytes.get(at)?;
        match byte {
            b'0'..=b'9' if at > from => return Some((at, separator)),
            b' ' | b'(' | b')' | b'+' => at += 1,
            b'-' | b'.' | b'/' | b'_' if separator == b' ' => {
                separator = byte;
                at += 1;
            }
            // A no-break space, thin spaces and the typographic hyphens are the plain ones.
            0xc2 if bytes.get(at + 1) == Some(&0xa0) => at += 2,
            0xe2 if bytes.get(at + 1) == Some(&0x80)
                && bytes.get(at + 2).is_some_and(|last| (0x90..=0x95).contains(last)) =>
            {
                separator = b'-';
                at += 3;
            }
            _ => return None,
        }
    }
    None
}

fn find_in_run(text: &str, groups: &[Group], found: &mut Vec<PrivatePiece>) {
    let mut group_idx = 0;
    // A group after a number that was found starts afresh.
    let mut fresh_from = 0;
    while let Some(rest) = groups.get(group_idx..).filter(|rest| !rest.is_empty()) {
        let window = rest.get(..MAX_GROUPS).unwrap_or(rest);
        let before_window = group_idx.checked_sub(1).filter(|idx| *idx >= fresh_from);
        let before_window = before_window.and_then(|idx| groups.get(idx));
        let card = card_groups(text, window).map(|n_groups| (PrivateKind::PaymentCard, n_groups));
        let piece = card.or_else(|| {
            // A low line is in cards and in names, and never in a telephone number.
            let n_groups =
                window.iter().skip(1).take_while(|group| group.separator != b'_').count();
            let window = window.get(..=n_groups).unwrap_or(window);
            phone_groups(text, window, before_window).map(|n_groups| (PrivateKind::Phone, n_groups))
        });
        let Some((kind, n_groups)) = piece else {
            group_idx += 1;
            continue;
        };
        let (Some(first), Some(last)) = (window.first(), window.get(n_groups - 1)) else { return };
        // A parenthesis around the whole number is not part of it.
        let closes = text.get(first.start..last.end).is_some_and(|number| number.contains(')'));
        let start = if first.opens && !closes {
            first.start - usize::from(first.plus)
        } else {
            first.lead_start()
        };
        found.push(PrivatePiece { kind, bytes: start..last.end });
        group_idx += n_groups;
        fresh_from = group_idx;
    }
}

/// Collects the digits of some groups as values 0 to 9.
pub(super) fn digits_of(text: &str, groups: &[Group]) -> Vec<u8> {
    groups
        .iter()
        .filter_map(|group| text.as_bytes().get(group.start..group.end))
        .flatten()
        .map(|byte| byte - b'0')
        .collect()
}

/// Tells whether a letter, digit or sign of a longer number or name touches the groups.
pub(super) fn is_inside_word(text: &str, first: &Group, last: &Group) -> bool {
    let before = text.get(..first.lead_start()).and_then(|head| head.chars().next_back());
    let after = text.get(last.end..).and_then(|tail| tail.chars().next());
    let touches =
        |char: char| char == '_' || (char.is_alphanumeric() && !crate::analyze::is_ideograph(char));
    before.is_some_and(|char| touches(char) || matches!(char, '$' | '€' | '£' | '#'))
        || after.is_some_and(|char| touches(char) || matches!(char, '%' | '@'))
}
