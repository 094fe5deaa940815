//! What a table's columns should hold: the schema by which a source is read.

use serde::{Deserialize, Serialize};

use crate::{DateOrder, DecimalMark, Epoch};

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Compared by its code points.
    Text,
    /// A whole or broken number.
    Number,
    /// True or false.
    Boolean,
    /// A point in time.
    Timestamp,
}

impl Kind {
    /// Gives the plural that messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Number => "numbers",
            Kind::Boolean => "booleans",
            Kind::Timestamp => "timestamps",
        }
    }
}

/// How many values are in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// One value, or none.
    One,
    /// Any number of values: a JSON array, or text split at the separator.
    Many {
        /// What splits the values where the source has only text.
        separator: char,
    },
}

/// One column of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnSpec {
    /// The name by which queries call it.
    pub name: String,
    /// As a header, a JSON key or a database calls it.
    pub source_name: String,
    /// What its cells hold.
    pub kind: Kind,
    /// How many values a cell holds.
    pub cells: Cells,
    /// What a bare number means in a timestamp column.
    pub epoch: Epoch,
    /// What comes first in dates like `03/04/2024`; such dates do not fit without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// What comes before decimals in numbers like `1.234,56 €`; only plain numbers fit without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalMark>,
}

impl ColumnSpec {
    /// Makes the specification of a column with one value per cell and the source's name.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        let name = name.into();
        ColumnSpec {
            source_name: name.clone(),
            name,
            kind,
            cells: Cells::One,
            epoch: Epoch::default(),
            date_order: None,
            decimal: None,
        }
    }
}

/// How a source is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct TableSpec {
    /// The columns to read, in the order in which rows show them; empty reads every column of
    /// the source as text.
    pub columns: Vec<ColumnSpec>,
    /// Texts that mean "nothing is there" in every column of a text format. Columns of other
    /// types than text also take [`NULL_WORDS`].
    pub null_values: Vec<String>,
    /// What separates the cells of a CSV file; found in the first line when absent.
    pub delimiter: Option<char>,
    /// The sheet of a workbook; its first one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
}

impl TableSpec {
    /// Reads the given columns.
    pub fn of(columns: Vec<ColumnSpec>) -> Self {
        TableSpec { columns, ..TableSpec::default() }
    }

    /// Reads every column as text: right for reference tables, whose codes must keep their
    /// zeros.
    pub fn all_text() -> Self {
        TableSpec::default()
    }
}

/// Pairs of words that are true and false, in small letters.
pub const FLAG_WORDS: [[&str; 2]; 20] = [
    ["true", "false"],
    ["yes", "no"],
    ["y", "n"],
    ["t", "f"],
    ["ja", "nein"],
    ["ja", "nee"],
    ["ja", "nej"],
    ["wahr", "falsch"],
    ["oui", "non"],
    ["vrai", "faux"],
    ["da", "nu"],
    ["sí", "no"],
    ["si", "no"],
    ["verdadero", "falso"],
    ["sim", "não"],
    ["tak", "nie"],
    ["да", "нет"],
    ["はい", "いいえ"],
    ["是", "否"],
    ["예", "아니오"],
];

/// Reads a word that is true or false.
pub(crate) fn flag_of(word: &str) -> Option<bool> {
    let word = word.trim().to_lowercase();
    match word.as_str() {
        "1" => return Some(true),
        "0" => return Some(false),
        _ => {}
    }
    let is_it = |flag: usize| FLAG_WORDS.iter().any(|pair| pair[flag] == word);
    match (is_it(0), is_it(1)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// What means "nothing is there" in a column of numbers, booleans or timestamps.
pub const NULL_WORDS: [&str; 15] = [
    "", "NA", "N/A", "n/a", "na", "#N/A", "null", "NULL", "Null", "NaN", "nan", "None", "-", "--",
    "\\N",
];
