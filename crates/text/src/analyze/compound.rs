//! Takes identifiers, codes, addresses, numbers and hyphenated words apart.
//!
//! A compound is kept as a whole and in parts, so that `getUserName`, `get_user_name` and "user
//! name" meet, `e-mail` meets `email`, and `20.30` is found as it is written. In the folded
//! spelling of the whole, signs between letters vanish; beside a digit they mean something and
//! stay, except that the separators of a number's thousands vanish (`1.234.567,8` and
//! `1,234,567.8` are the same number).

use crate::analyze::forms::{Buffers, Forms};
use crate::analyze::scan::{Class, class_of};
use crate::fold;
use crate::language::{Language, script_of_word, stemming_language};

/// Letters beside digits are parts of their own only this many times in one piece: a product
/// name is worth taking apart, a checksum is not.
const MAX_DIGIT_TURNS: usize = 3;

/// A part of a compound, in offsets from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) byte_start: usize,
    pub(crate) byte_end: usize,
    pub(crate) char_start: usize,
    pub(crate) char_end: usize,
}

/// Lists the parts of a compound in order.
///
/// `parts` is cleared first. What comes out covers every letter and digit of the compound once.
pub(crate) fn split(compound: &str, parts: &mut Vec<Part>) {
    parts.clear();
    let mut piece_start = 0;
    let mut piece_char_start = 0;
    for (char_at, (byte_at, char)) in compound.char_indices().enumerate() {
        if is_sign(class_of(char)) {
            split_piece(compound, piece_start, byte_at, piece_char_start, parts);
            piece_start = byte_at + char.len_utf8();
            piece_char_start = char_at + 1;
        }
    }
    split_piece(compound, piece_start, compound.len(), piece_char_start, parts);
}

/// Gives the word inside a possessive such as `Anna's` or a plural such as `PDFs`.
///
/// Stemmers do not know that the `s` of `PDFs` is an ending, since such words have no vowels.
pub(crate) fn without_ending(compound: &str) -> Option<&str> {
    let word = compound.strip_suffix(['s', 'S'])?;
    if let Some(owner) = word.strip_suffix(['\'', '\u{2019}']) {
        let is_plain = !owner.chars().any(|char| is_sign(class_of(char)));
        return (is_plain && !owner.is_empty()).then_some(owner);
    }
    let is_acronym = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_acronym && compound.ends_with('s')).then_some(word)
}

/// Spells a compound as a whole.
pub(crate) fn forms(compound: &str, language: Language, buffers: &mut Buffers) -> Forms {
    let Buffers { exact, folded, stem } = buffers;
    exact.clear();
    folded.clear();
    fold::exact_into(compound, exact);
    fold::fold_into(exact, folded);
    let has_digit = folded.contains(|char: char| char.is_numeric());
    if has_digit {
        if let Some(number) = plain_number(folded) {
            *folded = number;
        }
        return Forms::assemble(exact, folded, None, stem);
    }
    if folded.contains('@') {
        return Forms::assemble(exact, folded, None, stem);
    }
    let is_acronym = folded.split('.').all(|letter| letter.chars().nth(1).is_none());
    if folded.contains('.') && !is_acronym {
        return Forms::assemble(exact, folded, None, stem);
    }
    folded.retain(|char| !matches!(char, '_' | '-' | '\'' | '&' | '.'));
    let language = stemming_language(script_of_word(folded), language);
    Forms::assemble(exact, folded, language, stem)
}

/// Cuts a piece without signs at inner capitals and between letters and digits.
fn split_piece(
    compound: &str,
    byte_start: usize,
    byte_end: usize,
    char_start: usize,
    parts: &mut Vec<Part>,
) {
    let Some(piece) = compound.get(byte_start..byte_end).filter(|piece| !piece.is_empty()) else {
        return;
    };
    let n_digit_turns = digit_turns(piece);
    let turns_at_digits = n_digit_turns <= MAX_DIGIT_TURNS;
    // A checksum's letters change case at random; only names use capitals to mark words.
    let turns_at_capitals = turns_at_digits;
    let mut start = (byte_start, char_start);
    let mut previous = Class::Separator;
    let mut char_at = char_start;
    for (offset, char) in piece.char_indices() {
        let class = class_of(char);
        let mut ahead = piece.get(offset..).unwrap_or_default().chars().skip(1).map(class_of);
        let starts_word = ahead.next() == Some(Class::Lower) && ahead.next() == Some(Class::Lower);
        let at_digit = turns_at_digits
            && (previous == Class::Digit) != (class == Class::Digit)
            && matches!(class, Class::Digit | Class::Lower | Class::Upper);
        let at_capital = turns_at_capitals
            && class == Class::Upper
            && (previous == Class::Lower || (previous == Class::Upper && starts_word));
        if previous != Class::Separator && (at_digit || at_capital) {
            parts.push(Part {
                byte_start: start.0,
                byte_end: byte_start + offset,
                char_start: start.1,
                char_end: char_at,
            });
            start = (byte_start + offset, char_at);
        }
        if !matches!(class, Class::Mark | Class::Ignorable) {
            previous = class;
        }
        char_at += 1;
    }
    parts.push(Part { byte_start: start.0, byte_end, char_start: start.1, char_end: char_at });
}

fn digit_turns(piece: &str) -> usize {
    let mut n_turns = 0;
    let mut previous = None;
    for char in piece.chars() {
        let is_digit = class_of(char) == Class::Digit;
        n_turns += usize::from(previous.is_some_and(|previous: bool| previous != is_digit));
        previous = Some(is_digit);
    }
    n_turns
}

fn is_sign(class: Class) -> bool {
    matches!(class, Class::Joining(_) | Class::Separator)
}

/// Drops the separators of thousands, and writes the decimal sign as a point.
///
/// A single group of three after one sign is taken as thousands: `1.234` and `1,234` meet
/// `1234`. Everything else that is not plainly a number (a date, a code, a version) is left.
fn plain_number(folded: &str) -> Option<String> {
    if !folded.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',') {
        return None;
    }
    let decimal = match (folded.rfind('.'), folded.rfind(',')) {
        (Some(point), Some(comma)) => Some(point.max(comma)),
        _ => None,
    };
    let (whole, fraction) = match decimal {
        Some(at) => (folded.get(..at)?, folded.get(at + 1..)),
        None => (folded, None),
    };
    let mut groups = whole.split(['.', ',']);
    let first = groups.next()?;
    let mut plain = String::with_capacity(folded.len());
    plain.push_str(first);
    let mut n_groups = 0;
    for group in groups {
        if group.len() != 3 || first.len() > 3 || first.starts_with('0') {
            return None;
        }
        n_groups += 1;
        plain.push_str(group);
    }
    match fraction {
        Some(fraction) => {
            plain.push('.');
            plain.push_str(fraction);
            Some(plain)
        }
        None => (n_groups > 0).then_some(plain),
    }
}
