//! Numbers of an answer that are private: a card in a column of numbers, a password of digits.

use columns::Value;

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

/// Puts a mark in place of a number that `hide` gives one for, in lists too; gives how many.
pub fn hide_number(value: &mut Value, hide: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    let digits = match value {
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::List(items) => return items.iter_mut().map(|item| hide_number(item, hide)).sum(),
        Value::Null | Value::Text(_) | Value::Boolean(_) | Value::Timestamp(_) => return 0,
    };
    let Some(mark) = hide(&digits) else { return 0 };
    *value = Value::Text(mark);
    1
}
