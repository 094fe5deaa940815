//! What cells of OpenDocument sheets show that have no text: values, and formulas that no program
//! has computed.

/// Gives what a cell without text is shown as: its value, or the formula that nobody computed.
pub(crate) fn value_or_formula(attribute: &dyn Fn(&str) -> Option<String>) -> String {
    let values = ["value", "date-value", "time-value", "boolean-value", "string-value"];
    if let Some(value) = values.into_iter().find_map(attribute) {
        return value;
    }
    // A value that is an empty text is computed.
    match attribute("formula") {
        Some(formula) if attribute("value-type").is_none() => {
            format!("={}", plain_formula(&formula))
        }
        _ => String::new(),
    }
}

/// Writes a formula as people see it: without the name of its syntax before it, and with cells as
/// `A1` in place of `[.A1]`.
fn plain_formula(formula: &str) -> String {
    let formula = match formula.split_once(":=") {
        Some((syntax, formula)) if syntax.chars().all(char::is_alphanumeric) => formula,
        _ => formula.trim_start_matches('='),
    };
    let mut plain = String::with_capacity(formula.len());
    let (mut in_text, mut in_cells) = (false, false);
    for char in formula.chars() {
        match char {
            '"' => in_text = !in_text,
            '[' if !in_text => in_cells = true,
            ']' if !in_text => in_cells = false,
            _ => {}
        }
        let is_mark = !in_text && matches!(char, '[' | ']');
        let is_own_sheet = in_cells && char == '.' && !plain.ends_with(char::is_alphanumeric);
        if !is_mark && !is_own_sheet {
            plain.push(char);
        }
    }
    plain
}
