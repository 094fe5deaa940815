//! Numbers of an answer that are private: a card in a column of numbers, a password of digits.

use columns::Value;

use crate::aggregate::AggregateResponse;
use crate::response::{FacetMeta, QueryResponse};

impl QueryResponse {
    /// Puts marks in place of numbers in cells, facets and suggestions: `hide` is given the name
    /// of the field and the digits, and gives the mark, or none to leave the number.
    ///
    /// What is said of a facet's numbers as a whole is left out where one of them is hidden: its
    /// ends and quantiles are values of rows.
    pub fn hide_numbers(&mut self, mut hide: impl FnMut(&str, &str) -> Option<String>) {
        for row in &mut self.rows {
            for (name, cell) in self.columns.iter().zip(row) {
                hide_number(cell, &mut |digits| hide(name, digits));
            }
        }
        for (name, facet) in self.facets.iter_mut().flatten() {
            facet.hide_numbers(&mut |digits| hide(name, digits));
        }
        for meant in &mut self.did_you_mean {
            for value in &mut meant.suggestions {
                hide_number(value, &mut |digits| hide(&meant.field, digits));
            }
        }
    }
}

impl FacetMeta {
    fn hide_numbers(&mut self, hide: &mut dyn FnMut(&str) -> Option<String>) {
        let mut n_hidden = 0;
        for row in &mut self.rows {
            n_hidden += hide_number(&mut row.value, hide);
        }
        let quantiles = self.distribution.iter().flat_map(|spread| &spread.quantiles);
        let mut figures: Vec<Value> = quantiles.map(|(_, value)| value.clone()).collect();
        figures.extend(self.min.iter().chain(&self.max).cloned());
        n_hidden += figures.iter_mut().map(|figure| hide_number(figure, hide)).sum::<usize>();
        if n_hidden > 0 {
            (self.min, self.max, self.distribution) = (None, None, None);
        }
    }
}

impl AggregateResponse {
    /// Puts marks in place of the numbers of a column that are values of rows, as
    /// [`QueryResponse::hide_numbers`] does; gives how many.
    pub fn hide_numbers(
        &mut self,
        column_idx: usize,
        hide: &mut dyn FnMut(&str) -> Option<String>,
    ) -> usize {
        let mut n_hidden = 0;
        for (row_idx, row) in self.rows.iter_mut().enumerate() {
            let is_of_many = self.of_many.contains(&(row_idx, column_idx));
            let Some(cell) = row.get_mut(column_idx) else { continue };
            n_hidden += match (is_of_many, digits_of(cell)) {
                // A sum over rows is the number of none of them, whatever it looks like.
                (true, Some(_)) => usize::from(put(cell, hide(NO_CODE))),
                (true, None) => 0,
                (false, _) => hide_number(cell, hide),
            };
        }
        n_hidden
    }
}

/// Puts a mark in place of a number that `hide` gives one for, in lists too; gives how many.
fn hide_number(value: &mut Value, hide: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    if let Value::List(items) = value {
        return items.iter_mut().map(|item| hide_number(item, hide)).sum();
    }
    let mark = digits_of(value).and_then(|digits| hide(&digits));
    usize::from(put(value, mark))
}

fn put(value: &mut Value, mark: Option<String>) -> bool {
    let Some(mark) = mark else { return false };
    *value = Value::Text(mark);
    true
}

/// What stands for a number that can be no card and no telephone number: it is hidden where all
/// numbers of a field are, and nowhere else.
const NO_CODE: &str = "0";

/// The largest whole number up to which a float keeps every one.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Gives the digits of a number by which it may be a card or a telephone number, which are whole:
/// the decimals of a longitude are no card. Nor are they below zero. None for what is no number.
pub(crate) fn digits_of(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) if *number >= 0 => Some(number.to_string()),
        Value::Real(number) if number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(number) => {
            Some(number.to_string())
        }
        Value::Decimal(number) if number.is_whole() && !number.is_negative() => {
            Some(number.to_string())
        }
        Value::Integer(_) | Value::Real(_) | Value::Decimal(_) => Some(NO_CODE.to_owned()),
        Value::Null | Value::Text(_) | Value::Boolean(_) | Value::Timestamp(_) | Value::List(_) => {
            None
        }
    }
}
