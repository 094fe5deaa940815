//! Telephone numbers: international forms, the local forms of many countries, and any number
//! that a word such as `tel.` announces.
//!
//! What is not one, however many digits it has: dates, amounts with thousands, hierarchical
//! codes, company codes, book numbers, decimals, addresses of machines.

use super::check_digits::isbn_10;
use super::numbers::{Group, digits_of, is_inside_word};
use super::{PrivateKind, before};

/// Digits of an international number with its country code, by the numbering plan.
const INTERNATIONAL_DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Digits of a number that a word announces.
const ANNOUNCED_DIGITS: std::ops::RangeInclusive<usize> = MIN_PHONE_DIGITS..=15;
/// No number that is found has fewer digits, announced or not, and no card has.
pub(super) const MIN_PHONE_DIGITS: usize = 6;
/// How far before a number the word that announces it may be, in bytes.
const ANNOUNCING_BYTES: usize = 28;
/// How far before a number the word that forbids it may be, in bytes.
const FORBIDDING_BYTES: usize = 16;

/// Country codes whose numbers have a known length, code included.
const COUNTRY_LENGTHS: &[(&[u8], std::ops::RangeInclusive<usize>)] = &[
    (&[1], 11..=11),
    (&[7], 11..=11),
    (&[3, 0], 12..=12),
    (&[3, 1], 11..=11),
    (&[3, 2], 10..=11),
    (&[3, 3], 11..=11),
    (&[3, 4], 11..=11),
    (&[3, 6], 10..=11),
    (&[3, 7, 3], 11..=11),
    (&[3, 9], 11..=13),
    (&[4, 0], 11..=11),
    (&[4, 1], 11..=11),
    (&[4, 4], 12..=12),
    (&[4, 5], 10..=10),
    (&[4, 7], 10..=10),
    (&[4, 8], 11..=11),
    (&[6, 1], 11..=11),
    (&[8, 1], 11..=12),
    (&[8, 2], 10..=12),
    (&[8, 6], 11..=13),
    (&[9, 1], 12..=12),
];

/// Gives how many of the first groups are a telephone number.
pub(super) fn phone_groups(
    text: &str,
    groups: &[Group],
    previous: Option<&Group>,
) -> Option<usize> {
    let first = groups.first()?;
    let head = before(text, first.lead_start(), ANNOUNCING_BYTES);
    if is_forbidden(head) || starts_date(text, groups) {
        return None;
    }
    if continues_number(text, first, previous) {
        return None;
    }
    let fits = |n_groups: usize| {
        groups.get(n_groups - 1).is_some_and(|last| !is_inside_word(text, first, last))
    };
    let is_tail = previous.is_some_and(|previous| first.start - previous.end == 1);
    international(text, groups)
        .filter(|_| first.plus || !is_tail)
        .or_else(|| local(text, groups))
        .filter(|n_groups| fits(*n_groups))
        .or_else(|| announced(groups, head).filter(|n_groups| fits(*n_groups)))
}

/// Tells whether the group is the tail of a decimal, a code or a range that began before it.
fn continues_number(text: &str, first: &Group, previous: Option<&Group>) -> bool {
    let tight = previous.is_some_and(|previous| first.start - previous.end == 1);
    let signed = !first.plus && !first.opens && tight && first.separator != b' ';
    // A comma or a colon is no separator of groups, but it holds amounts and times together.
    let held = !first.plus
        && text.as_bytes().get(..first.lead_start()).is_some_and(|head| match head {
            [.., digit, b',' | b':' | b'.'] => digit.is_ascii_digit(),
            _ => false,
        });
    signed || held
}

/// `+40 722 123 456`, `0040 722 123 456`, `+1 (415) 555-2671`.
fn international(text: &str, groups: &[Group]) -> Option<usize> {
    let first = groups.first()?;
    let all = digits_of(text, groups);
    let n_zeros = if first.plus { 0 } else { 2 };
    let is_marked =
        first.plus || (all.starts_with(&[0, 0]) && all.get(2).is_some_and(|digit| *digit > 0));
    if !is_marked || all.get(n_zeros) == Some(&0) {
        return None;
    }
    let number = all.get(n_zeros..)?;
    let known = COUNTRY_LENGTHS.iter().find(|(code, _)| number.starts_with(code));
    let mut best = None;
    let mut n_digits = 0;
    // `+44 (0)20 7946 0958` writes the trunk zero that is not dialled.
    let mut n_trunk = 0;
    for (idx, group) in groups.iter().enumerate() {
        if idx > 0 && group.plus {
            break;
        }
        n_digits += group.len();
        if idx > 0 && group.opens && text.get(group.start..group.end) == Some("0") {
            n_trunk = 1;
        }
        let Some(n_number) = n_digits.checked_sub(n_zeros + n_trunk) else { continue };
        let fits = match known {
            Some((_, lengths)) => lengths.contains(&n_number),
            None => INTERNATIONAL_DIGITS.contains(&n_number),
        };
        if fits && !is_thousands(groups.get(..=idx)?) {
            best = Some(idx + 1);
        }
    }
    best
}

/// The forms people use inside a country.
fn local(text: &str, groups: &[Group]) -> Option<usize> {
    let first = groups.first()?;
    if first.plus {
        return None;
    }
    // The longest reading that is a number wins.
    (1..=groups.len().min(5)).rev().find(|n_groups| {
        groups.get(..*n_groups).is_some_and(|groups| {
            let digits = digits_of(text, groups);
            match groups {
                [_] => is_unbroken(&digits),
                _ => is_trunk_form(groups, &digits) || is_plain_form(groups, &digits),
            }
        })
    })
}

/// A number in one piece must have the shape of a plan that leaves little room for doubt.
fn is_unbroken(digits: &[u8]) -> bool {
    let n_zeros_at_end = digits.iter().rev().take_while(|digit| **digit == 0).count();
    if n_zeros_at_end >= 6 {
        return false;
    }
    match digits {
        // Romania: mobile 07…, fixed 021, 031, 02[3-6]…, 03[3-7]….
        [0, 7, _, ..] if digits.len() == 10 => true,
        [0, 2 | 3, area, ..] if digits.len() == 10 => matches!(area, 1 | 3..=7) && !isbn_10(digits),
        // France: mobile.
        [0, 6, ..] if digits.len() == 10 => !isbn_10(digits),
        // Japan: mobile; Britain: mobile; Korea: mobile.
        [0, 7..=9, 0, ..] | [0, 7, ..] | [0, 1, 0, ..] if digits.len() == 11 => true,
        // China: mobile.
        [1, 3..=9, ..] if digits.len() == 11 => true,
        _ => false,
    }
}

/// A trunk zero, an area and one to four more groups: `0264 123 456`, `03-1234-5678`.
fn is_trunk_form(groups: &[Group], digits: &[u8]) -> bool {
    let (Some(first), Some(second)) = (groups.first(), groups.get(1)) else { return false };
    let starts_well = matches!(digits, [0, 1..=9, ..]);
    let n_digits = digits.len();
    let is_size = (9..=11).contains(&n_digits) || (n_digits == 12 && first.len() >= 4);
    let is_area = (2..=5).contains(&first.len());
    let groups_fit = groups.iter().skip(1).all(|group| (2..=8).contains(&group.len()))
        || (first.len() == 5 && second.len() == 1 && groups.len() == 3);
    let same_sign =
        groups.iter().skip(2).all(|group| group.separator == second.separator) || first.opens;
    // Two groups with a point are a decimal; five pairs with points are a budget code.
    let is_code = second.separator == b'.'
        && (groups.len() == 2 || groups.iter().all(|group| group.len() == 2));
    let is_fraction = second.separator == b'/' && groups.len() > 2;
    // A short last group after a space belongs to the next thing that is counted.
    let ends_well = groups.last().is_some_and(|last| last.len() > 1);
    starts_well
        && is_size
        && is_area
        && groups_fit
        && same_sign
        && !is_code
        && !is_fraction
        && ends_well
        && is_known_shape(groups, n_digits)
}

/// Lists the ways in which the digits after a trunk zero are grouped.
fn is_known_shape(groups: &[Group], n_digits: usize) -> bool {
    let lengths: Vec<usize> = groups.iter().map(Group::len).collect();
    match lengths.as_slice() {
        [2..=5, rest] => (5..=8).contains(rest),
        [2, 4, 4] | [3, 4, 4] | [3, 3, 4] | [4, 3, 3] | [4, 3, 4] | [4, 2, 4] | [5, 1, 4] => true,
        [5, 3, 3] | [3, 4, 3] | [2, 3, 4] | [4, 4, 4] | [3, 3, 3] | [4, 2, 3] => true,
        [3 | 4, 2 | 3, 2, 2] | [2, 3, 2, 2] => n_digits >= 9,
        [2, 2, 2, 2, 2] => true,
        _ => false,
    }
}

/// Forms without a trunk zero: `(415) 555-2671`, `1-415-555-2671`, `138 0013 8000`.
fn is_plain_form(groups: &[Group], digits: &[u8]) -> bool {
    let (groups, digits) = match (groups, digits) {
        ([first, rest @ ..], [1, digits @ ..]) if first.len() == 1 && rest.len() == 3 => {
            (rest, digits)
        }
        _ => (groups, digits),
    };
    let lengths: Vec<usize> = groups.iter().map(Group::len).collect();
    match (lengths.as_slice(), digits) {
        ([3, 3, 4], [2..=9, _, _, exchange, ..]) => {
            let (Some(first), Some(second), Some(third)) =
                (groups.first(), groups.get(1), groups.get(2))
            else {
                return false;
            };
            let same_sign = second.separator == third.separator || first.opens;
            let is_dashed = third.separator == b'-';
            same_sign && third.separator != b'/' && (is_dashed || *exchange >= 2)
        }
        ([3, 4, 4], [1, 3..=9, ..]) => {
            groups.iter().skip(2).all(|group| group.separator != b'/' && group.separator != b'.')
        }
        _ => false,
    }
}

/// Any number after a word such as `tel.`.
fn announced(groups: &[Group], head: &str) -> Option<usize> {
    if !is_announced(head) {
        return None;
    }
    let mut best = None;
    let mut n_digits = 0;
    for (idx, group) in groups.iter().enumerate() {
        // Another country code starts another number.
        if idx > 0 && group.plus {
            break;
        }
        n_digits += group.len();
        let is_whole = ANNOUNCED_DIGITS.contains(&n_digits);
        let groups = groups.get(..=idx)?;
        let sizes_fit = groups.iter().skip(1).all(|group| group.len() >= 2);
        if is_whole && sizes_fit {
            best = Some(idx + 1);
        }
    }
    best
}

fn is_announced(head: &str) -> bool {
    const WORDS: &[&str] = &[
        "tel",
        "telefon",
        "telefonul",
        "telephone",
        "phone",
        "phones",
        "mobile",
        "mobil",
        "mobilul",
        "cell",
        "fax",
        "whatsapp",
        "sms",
        "hotline",
        "handy",
        "ph",
        "tlf",
        "teléfono",
        "téléphone",
        "telefono",
        "telefone",
        "тел",
        "телефон",
    ];
    const LINKS: &[&str] = &[
        "number", "numbers", "no", "nr", "num", "numar", "număr", "numărul", "fix", "home", "work",
        "office", "direct", "is", "la", "at", "us", "me", "or", "sau", "and", "și",
    ];
    const SIGNS: &[&str] =
        &["電話", "携帯", "电话", "手机", "手機", "传真", "ファックス", "☎", "☏", "📞", "전화"];
    // The mark of an earlier redaction announces nothing.
    let head = head.rsplit(PrivateKind::Phone.mark()).next().unwrap_or_default();
    let tail = head.trim_end_matches(|char: char| !char.is_alphabetic() && !is_sign(char));
    if SIGNS.iter().any(|sign| tail.ends_with(sign)) || tail.ends_with("電話番号") {
        return true;
    }
    let words = tail.rsplit(|char: char| !char.is_alphabetic()).filter(|word| !word.is_empty());
    // `phone number: …`, `mobil, nr. …`: at most two words may be between.
    for word in words.take(3).map(str::to_lowercase) {
        if WORDS.contains(&word.as_str()) {
            return true;
        }
        if !LINKS.contains(&word.as_str()) {
            return false;
        }
    }
    false
}

fn is_sign(char: char) -> bool {
    matches!(char, '☎' | '☏' | '📞')
}

/// Tells whether the word before says that the number is of another kind.
fn is_forbidden(head: &str) -> bool {
    const WORDS: &[&str] = &[
        "isbn",
        "issn",
        "cui",
        "cif",
        "ean",
        "upc",
        "gtin",
        "doi",
        "pmid",
        "imei",
        "cnp",
        "siren",
        "siret",
        "vin",
        "orcid",
        "duns",
        "ipv",
        "rfc",
        "iso",
        "版",
        "法人番号",
    ];
    let tail = before(head, head.len(), FORBIDDING_BYTES).to_lowercase();
    let words = tail.split(|char: char| !char.is_alphabetic());
    // `C.U.I.` and `I.S.B.N.` are spelled with points.
    let squeezed: String = tail.chars().filter(|char| char.is_alphabetic()).collect();
    words.into_iter().any(|word| WORDS.contains(&word))
        || ["cui", "isbn", "cif"].iter().any(|word| {
            squeezed.ends_with(word) && tail.trim_end_matches([' ', ':']).ends_with('.')
        })
}

/// Tells whether the first three groups are a date.
fn starts_date(text: &str, groups: &[Group]) -> bool {
    let [first, second, third, ..] = groups else { return false };
    if first.plus || first.opens || second.separator != third.separator || second.separator == b' '
    {
        return false;
    }
    let value = |group: &Group| {
        text.get(group.start..group.end).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(0)
    };
    let (one, two, three) = (value(first), value(second), value(third));
    let is_year = |group: &Group, year: u32| group.len() == 4 && (1500..=2200).contains(&year);
    let is_small = |group: &Group, value: u32| group.len() <= 2 && (1..=31).contains(&value);
    (is_year(first, one) && is_small(second, two) && is_small(third, three))
        || (is_small(first, one) && is_small(second, two) && is_year(third, three))
}

/// Tells whether the groups are an amount: one to three digits, then threes with one sign.
fn is_thousands(groups: &[Group]) -> bool {
    let [first, second, rest @ ..] = groups else { return false };
    first.len() <= 3
        && second.len() == 3
        && (second.separator == b'.' || (second.separator == b' ' && !first.plus))
        && rest.iter().all(|group| group.len() == 3 && group.separator == second.separator)
}
