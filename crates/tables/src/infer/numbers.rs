//! Columns of numbers as people write them: which mark comes before decimals, and the unit.

use columns::{DecimalMark, Numeral, read_numeral};

use super::MIN_FITTING;
use super::codes::are_phones;

/// How the numbers of a column are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) mark: DecimalMark,
    /// The unit that is written beside each of them.
    pub(super) unit: Option<String>,
    /// Whether both marks fit, so that another column must decide, or a person.
    pub(super) is_ambiguous: bool,
    /// How many of the different cells are read so.
    pub(super) n_fitting: usize,
}

/// Tells how numbers are written that are not plain ones; nothing when they are no numbers.
pub(super) fn written(texts: &[String]) -> Option<Written> {
    if texts.is_empty() || are_phones(texts) {
        return None;
    }
    let read = |mark| -> Vec<Numeral> {
        texts.iter().filter_map(|text| read_numeral(text, mark)).collect()
    };
    let (point, comma) = (read(DecimalMark::Point), read(DecimalMark::Comma));
    let fits = |numerals: &[Numeral]| numerals.len() as f64 >= texts.len() as f64 * MIN_FITTING;
    let is_marked = |numerals: &[Numeral]| numerals.iter().any(|numeral| numeral.is_marked);
    let (mark, numerals, is_ambiguous) = match (fits(&point), fits(&comma)) {
        // One cell more may tell: `1,234` and `1,5` can only be decimals.
        (true, true) if point.len() != comma.len() => match point.len() > comma.len() {
            true => (DecimalMark::Point, point, false),
            false => (DecimalMark::Comma, comma, false),
        },
        (true, true) => {
            // A space or an apostrophe separates thousands only.
            let has_mark = texts.iter().any(|text| text.contains([',', '.']));
            let is_ambiguous = has_mark && (is_marked(&point) || is_marked(&comma));
            (DecimalMark::Point, point, is_ambiguous)
        }
        (true, false) => (DecimalMark::Point, point, false),
        (false, true) => (DecimalMark::Comma, comma, false),
        (false, false) => return None,
    };
    let n_fitting = numerals.len();
    Some(Written { mark, unit: unit_of(&numerals)?, is_ambiguous, n_fitting })
}

/// Tells whether every point of plain numbers can as well be one between thousands: three digits
/// are behind each, and the first before it is no zero.
pub(super) fn may_be_thousands(texts: &[String]) -> bool {
    let mut with_point = texts.iter().filter_map(|text| text.trim().split_once('.')).peekable();
    let is_whole =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    with_point.peek().is_some()
        && with_point.all(|(before, behind)| {
            let before = before.trim_start_matches(['-', '+']);
            is_whole(before)
                && before.len() <= 3
                && !before.starts_with('0')
                && behind.len() == 3
                && is_whole(behind)
        })
}

/// Gives the one unit of all numbers, or none where none is written; nothing at all where several
/// are: they must not be added up.
fn unit_of(numerals: &[Numeral]) -> Option<Option<String>> {
    let mut units: Vec<&String> = numerals.iter().filter_map(|it| it.unit.as_ref()).collect();
    units.sort_unstable();
    units.dedup();
    match units.as_slice() {
        [] => Some(None),
        [unit] => Some(Some((*unit).clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: Option<(char, Option<&str>, bool)>) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let found = written(&texts);
        let found =
            found.as_ref().map(|it| (it.mark.as_char(), it.unit.as_deref(), it.is_ambiguous));
        assert_eq!(found, expected, "{texts:?}");
    }

    #[test]
    fn a_column_tells_its_mark() {
        check(&["1,234.50", "12.00"], Some(('.', None, false)));
        check(&["1.234,50", "12,00"], Some((',', None, false)));
        check(&["1,234", "5,678"], Some(('.', None, true)));
        check(&["1,234", "5,67"], Some((',', None, false)));
        check(&["1 234", "5 678"], Some(('.', None, false)));
        check(&["12 %", "5 %"], Some(('.', Some("%"), false)));
        check(&["$1,000", "$12.50"], Some(('.', Some("$"), false)));
    }

    #[test]
    fn what_must_not_be_added_up_is_no_number() {
        check(&["$5", "€5"], None);
        check(&["721 123 456", "722 123 456"], None);
        check(&["abc", "12"], None);
        check(&[], None);
    }
}
