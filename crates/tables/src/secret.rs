//! Fields that are secret by a name: their own, that of their column in the source, or that of the
//! field of another table that a relation looks up.
//!
//! No value of such a field leaves, whatever its type, and no condition sees one: rows, facets,
//! groups, measures, exports and `search` hold a mark, or nothing, in its place. That a value is
//! there is no secret: null is shown and can be asked for, and so is the empty text.

use columns::{Case, Range, Test, Value as Cell};

use crate::config::Field;
use crate::response::{FacetMeta, FacetRow};
use crate::schema::is_redacted;

/// What is shown in place of a secret.
pub(crate) const MARK: &str = text::PrivateKind::Password.mark();

/// Tells whether a field is secret by its own name or by that of its column; not where the
/// administrator chose to show it.
pub(crate) fn is_secret(name: &str, field: &Field) -> bool {
    let mut names = [Some(name), field.column.as_deref()].into_iter().flatten();
    is_redacted(field) && names.any(text::is_secret_name)
}

/// Puts the mark in place of a value; gives how many values were hidden.
pub(crate) fn hide(cell: &mut Cell) -> usize {
    match cell {
        Cell::Null => 0,
        Cell::Text(text) if text.trim().is_empty() => 0,
        Cell::List(items) => items.iter_mut().map(hide).sum(),
        Cell::Text(_)
        | Cell::Integer(_)
        | Cell::Real(_)
        | Cell::Decimal(_)
        | Cell::Boolean(_)
        | Cell::Timestamp(_) => {
            *cell = Cell::Text(MARK.to_owned());
            1
        }
    }
}

/// Puts marks into the columns that are secret, row by row; gives how many.
pub(crate) fn hide_columns(rows: &mut [Vec<Cell>], is_secret: &[bool]) -> usize {
    if !is_secret.contains(&true) {
        return 0;
    }
    let cells = rows.iter_mut().flat_map(|row| row.iter_mut().zip(is_secret));
    cells.filter(|(_, is_secret)| **is_secret).map(|(cell, _)| hide(cell)).sum()
}

/// Leaves of a facet how often each value occurs, and none of the values.
pub(crate) fn hide_facet(facet: &mut FacetMeta) -> usize {
    (facet.min, facet.max, facet.distribution) = (None, None, None);
    facet.rows.iter_mut().map(|FacetRow { value, .. }| hide(value)).sum()
}

/// Gives a condition that sees of a secret only whether there is one.
pub(crate) fn seen(test: &Test) -> Test {
    if let Test::Not(inner) = test {
        return Test::Not(Box::new(seen(inner)));
    }
    let shown = [Cell::Null, Cell::Text(String::new())];
    Test::AnyOf(shown.into_iter().filter(|value| holds(test, value)).collect())
}

/// Tells whether null or a text fulfils a condition.
fn holds(test: &Test, value: &Cell) -> bool {
    let text = value.as_str();
    match test {
        Test::AnyOf(values) => values.contains(value),
        Test::HoldsAll(lists) => lists.iter().any(|list| list.iter().all(|item| item == value)),
        Test::Not(inner) => !holds(inner, value),
        Test::Contains { text: wanted, case: Case::Sensitive | Case::Ignored } => {
            text.is_some_and(|text| text.contains(wanted))
        }
        Test::HasPrefix(prefixes) => {
            text.is_some_and(|text| prefixes.iter().any(|prefix| text.starts_with(prefix)))
        }
        Test::Within(ranges) => text.is_some_and(|text| {
            let is_above = |low: &Cell| low.as_str().is_some_and(|low| text >= low);
            let is_below = |high: &Cell| high.as_str().is_some_and(|high| text <= high);
            ranges.iter().any(|Range { low, high }| {
                (*low == Cell::Null || is_above(low)) && (*high == Cell::Null || is_below(high))
            })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_sees_whether_there_is_a_value() {
        let any = |values: &[Cell]| Test::AnyOf(values.to_vec());
        let (null, empty, guess) = (Cell::Null, Cell::from(""), Cell::from("hunter2"));
        let contains = |text: &str| Test::Contains { text: text.to_owned(), case: Case::Ignored };
        let not = |test: Test| Test::Not(Box::new(test));
        let above =
            |low: i64| Test::Within(vec![Range { low: Cell::Integer(low), high: Cell::Null }]);
        for (test, expected) in [
            (any(&[guess.clone(), null.clone()]), any(std::slice::from_ref(&null))),
            (any(std::slice::from_ref(&empty)), any(std::slice::from_ref(&empty))),
            (not(any(std::slice::from_ref(&null))), not(any(std::slice::from_ref(&null)))),
            (not(any(&[guess])), not(any(&[]))),
            (contains("h"), any(&[])),
            (Test::HasPrefix(vec!["h".to_owned()]), any(&[])),
            (above(3), any(&[])),
        ] {
            assert_eq!(seen(&test), expected, "{test:?}");
        }
    }
}
