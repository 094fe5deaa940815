//! Contexts and metadata: text with `{column}` places, and cells with the type they show.

use serde_json::{Number, Value};

/// Separates the parts of a context; a part whose places are all empty is left out.
const PART: &str = " | ";

/// Fills a template. `value_of` gives the text for a place, or nothing.
pub(crate) fn fill(template: &str, value_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    let parts: Vec<String> =
        template.split(PART).filter_map(|part| fill_part(part, &value_of)).collect();
    (!parts.is_empty()).then(|| parts.join(PART))
}

/// Gives the names of all places of a template.
pub(crate) fn places(template: &str) -> Vec<&str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|after| after.split_once('}').map(|(place, _)| place))
        .collect()
}

fn fill_part(part: &str, value_of: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::new();
    let mut n_places = 0;
    let mut n_filled = 0;
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((place, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        n_places += 1;
        if let Some(value) = value_of(place).filter(|value| !value.is_empty()) {
            n_filled += 1;
            filled.push_str(&value);
        }
        rest = after;
    }
    filled.push_str(rest);
    let says_something = n_places == 0 || n_filled > 0;
    (says_something && !filled.trim().is_empty()).then(|| filled.trim_end().to_owned())
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellType {
    Text,
    Number,
    Boolean,
}

/// Tells what the cells of a column are, from all of them: ids and codes stay text, however
/// much they look like numbers.
pub(crate) fn cell_type<'a>(
    column: &str,
    cells: impl Iterator<Item = &'a str> + Clone,
) -> CellType {
    let mut filled = cells.filter(|cell| !cell.is_empty()).peekable();
    if names_an_id(column) || filled.peek().is_none() {
        return CellType::Text;
    }
    let says_truth = |cell: &str| truth(cell).is_some();
    let asks_truth = column.starts_with("is") || column.starts_with("has");
    let mut all_truth = true;
    let mut all_numbers = true;
    for cell in filled {
        all_truth &= says_truth(cell) && (asks_truth || cell.parse::<u8>().is_err());
        all_numbers &= is_number(cell);
        if !all_truth && !all_numbers {
            return CellType::Text;
        }
    }
    if all_truth { CellType::Boolean } else { CellType::Number }
}

/// Gives a cell as JSON, or nothing when it is empty.
pub(crate) fn cell_value(cell: &str, cell_type: CellType) -> Option<Value> {
    if cell.is_empty() {
        return None;
    }
    let text = || Value::String(cell.to_owned());
    Some(match cell_type {
        CellType::Text => text(),
        CellType::Boolean => truth(cell).map_or_else(text, Value::Bool),
        CellType::Number => match cell.parse::<i64>() {
            Ok(whole) => Value::Number(whole.into()),
            Err(_) => {
                cell.parse::<f64>().ok().and_then(Number::from_f64).map_or_else(text, Value::Number)
            }
        },
    })
}

/// Gives a cell as people read it: whole numbers with thousands separated, `691,106`.
pub(crate) fn cell_text(cell: &str, cell_type: CellType) -> String {
    match (cell_type, cell.parse::<i64>()) {
        (CellType::Number, Ok(whole)) => thousands(whole),
        _ => cell.to_owned(),
    }
}

/// Writes a whole number with its thousands separated by commas.
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn truth(cell: &str) -> Option<bool> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "1" => Some(true),
        "false" | "f" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let has_leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    !has_leading_zero
        && digits.starts_with(|char: char| char.is_ascii_digit())
        && cell.parse::<f64>().is_ok()
}

/// Tells whether a column's last word is one for identifiers: `uat_id`, `countyCode`, `cui`.
fn names_an_id(column: &str) -> bool {
    let start_of_last = column.rfind(['_', '-', ' ']).map_or(0, |at| at + 1);
    let last = &column[start_of_last..];
    let last = last.rfind(char::is_uppercase).filter(|at| *at > 0).map_or(last, |at| &last[at..]);
    ["id", "ids", "cui", "cif", "code", "cod", "key", "siruta", "zip", "phone", "year", "an"]
        .contains(&last.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, expected: Option<&str>) {
        let filled = fill(template, |place| match place {
            "county" => Some("CJ".to_owned()),
            "people" => Some("691,106".to_owned()),
            _ => None,
        });
        assert_eq!(filled.as_deref(), expected);
    }

    #[test]
    fn empty_parts_are_left_out() {
        check("County: {county} | Population: {people}", Some("County: CJ | Population: 691,106"));
        check("County: {county} | Type: {kind}", Some("County: CJ"));
        check("Type: {kind}", None);
        check("fixed", Some("fixed"));
        check("", None);
        check("open {county", Some("open {county"));
    }

    #[test]
    fn cells_show_their_type() {
        let of = |column: &str, cells: &[&str]| cell_type(column, cells.iter().copied());
        assert_eq!(of("population", &["691106", "", "5"]), CellType::Number);
        assert_eq!(of("uat_id", &["123"]), CellType::Text);
        assert_eq!(of("countyCode", &["1"]), CellType::Text);
        assert_eq!(of("post", &["012"]), CellType::Text);
        assert_eq!(of("is_county", &["true", "false"]), CellType::Boolean);
        assert_eq!(of("is_county", &["1", "0"]), CellType::Boolean);
        assert_eq!(of("n", &["1", "0"]), CellType::Number);
        assert_eq!(of("n", &["inf"]), CellType::Text);
    }

    #[test]
    fn thousands_are_separated() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (691_106, "691,106"),
            (-1_234_567, "-1,234,567"),
        ] {
            assert_eq!(thousands(number), expected);
        }
    }
}
