//! Columns of a database whose types say what they hold: a guess never reads one as what its type
//! cannot be.

use columns::{Column, DatabaseColumn, Kind};

use super::codes::names_code;
use super::dates::{Digits, moments_in_digits};
use super::{Guess, MAX_LITERALS, number, text};
use crate::config::Field;

/// What splits the values of a text cell; an array needs none, but has to have one.
const SEPARATOR: char = ';';

pub(super) fn guess(
    known: &DatabaseColumn,
    column: &Column,
    texts: &[String],
    n_rows: usize,
) -> Guess {
    if known.has_lists {
        let (item, note) = match known.kind {
            Kind::Text => (Field::string(), "lists"),
            Kind::Number => (Field::number(), "lists of numbers"),
            Kind::Boolean => (Field::boolean(), "lists of booleans"),
            Kind::Timestamp => (Field::timestamp(), "lists of timestamps"),
        };
        let mut field = Field::any_of(item);
        field.separator = Some(SEPARATOR);
        return Guess::said(field, note);
    }
    let n_labels = known.labels.len();
    if (1..=MAX_LITERALS).contains(&n_labels) {
        let field = Field::any_of(Field::string_literal(known.labels.clone()));
        return Guess::said(field, format!("{n_labels} values of an enum"));
    }
    match known.kind {
        Kind::Boolean => Guess::said(Field::boolean(), "booleans"),
        Kind::Timestamp => Guess::measured(Field::range(Field::timestamp()), "timestamp"),
        Kind::Number if names_code(column.name()) => text(column, texts, n_rows),
        Kind::Number => {
            let moments = moments_in_digits(column.name(), texts).filter(|_| known.is_whole);
            let Some(Digits::Since1970(epoch)) = moments else { return number(texts) };
            let mut field = Field::range(Field::timestamp());
            field.epoch = Some(epoch);
            Guess::measured(field, "timestamp")
        }
        Kind::Text => text(column, texts, n_rows),
    }
}
