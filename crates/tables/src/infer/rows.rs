//! Rows that may be something else: a first one that holds values and was read as names, and a last
//! one that is the sum of the others.

use columns::{Column, Dataset, Value, parse_moment};

use super::is_numeric;
use crate::config::{Epoch, Field, FieldType, TableConfig};

/// Tells whether the names of columns are values of them: all are numbers, or those of all columns
/// of numbers and moments are such, as in `17,Ana,2024-01-31`, or one is a value of its own column.
/// Years and other numbers in their order are names of columns beside one that is not.
pub(super) fn has_values_for_names(config: &TableConfig, as_text: &Dataset) -> bool {
    let fields = &config.fields.0;
    if fields.iter().all(|(name, _)| is_numeric(name))
        || as_text.all_columns().iter().any(has_its_name)
    {
        return true;
    }
    let leaf = |field: &Field| field.leaf().field_type;
    let is_typed = |field: &Field| matches!(leaf(field), FieldType::Number | FieldType::Timestamp);
    let is_value = |name: &str, field: &Field| {
        if leaf(field) == FieldType::Number {
            is_numeric(name) && !is_year(name)
        } else {
            !is_numeric(name) && parse_moment(name, Epoch::Ms).is_some()
        }
    };
    let typed = || fields.iter().filter(|(_, field)| is_typed(field));
    let has_moment = typed().any(|(_, field)| leaf(field) == FieldType::Timestamp);
    let numbers = typed().filter(|(_, field)| leaf(field) == FieldType::Number);
    let numbers: Vec<f64> = numbers.filter_map(|(name, _)| name.trim().parse().ok()).collect();
    (has_moment || !numbers.is_empty() && !are_in_order(&numbers))
        && typed().all(|(name, field)| is_value(name, field))
}

/// Tells whether a column has its name as one of several values, or is one of addresses and so is
/// its name. A column of nothing but its name is an answer that was ticked.
fn has_its_name(column: &Column) -> bool {
    let name = column.name();
    let values = || column.distinct_values();
    let is_of = |mark: &str| {
        name.contains(mark)
            && values().all(|value| value.as_str().is_some_and(|text| text.contains(mark)))
    };
    let is_value = || values().any(|value| value.as_str() == Some(name));
    let n_said =
        values().filter(|value| value.as_str().is_some_and(|text| !text.is_empty())).count();
    n_said > 1 && (is_of("@") || is_of("://") || is_value())
}

/// Tells whether numbers have the same step from each to the next, as months and years of a table
/// that is wide have.
fn are_in_order(numbers: &[f64]) -> bool {
    let mut steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
    steps.next().is_some_and(|first| first > 0.0 && steps.all(|step| step == first))
}

fn is_year(name: &str) -> bool {
    name.trim().len() == 4 && name.trim().parse().is_ok_and(|year| (1800..2200).contains(&year))
}

/// Words for a sum of rows, in small letters.
const TOTALS: [&str; 24] = [
    "total",
    "totals",
    "grand total",
    "sum",
    "subtotal",
    "gesamt",
    "summe",
    "insgesamt",
    "totaux",
    "total général",
    "total general",
    "totale",
    "totaal",
    "suma",
    "razem",
    "ogółem",
    "celkem",
    "итого",
    "всего",
    "合计",
    "总计",
    "合計",
    "総計",
    "합계",
];

/// Gives the word by which the last row says that it is the sum of the others, which have none.
pub(super) fn total_at_the_end(as_text: &Dataset) -> Option<String> {
    let last = as_text.n_rows().checked_sub(1)?;
    let says_total = |text: &str| {
        let text = text.trim().trim_end_matches([':', '.', '：']).to_lowercase();
        TOTALS.contains(&text.as_str())
    };
    as_text.all_columns().iter().find_map(|column| {
        let word = column.text(last).filter(|text| says_total(text))?;
        let n_said = (0..=last).filter(|row| column.value(*row) == Value::from(word)).count();
        (n_said == 1).then(|| word.trim().to_owned())
    })
}
