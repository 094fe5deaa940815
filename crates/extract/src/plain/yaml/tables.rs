//! Lists of lists in YAML that are tables, by the places of their values.

use std::collections::{HashMap, HashSet};

use model::{HEADING_MEMBERS, NAMING_MEMBERS, is_member_of};

use super::read::{Entry, ValuePlace};
use crate::plain::json_tables::Columns;

/// Cells of a row at most.
pub(super) const MAX_CELLS: usize = 1_000;

/// Names of columns, and the lists that they hold for.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What the lists in an object say, by the pointer of the object.
    columns: HashMap<String, Columns>,
    /// Lists that are tables.
    tables: HashSet<String>,
}

/// The row that a value is in.
pub(super) struct InRow<'a> {
    /// The pointer of the table.
    pub(super) list: &'a str,
    pub(super) pointer: &'a str,
    pub(super) columns: Option<&'a Columns>,
}

impl Names {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut names = Names::default();
        // What each list of words says, and the first rows of each list of lists.
        let mut words: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut first_rows: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut n_rows: HashMap<&str, usize> = HashMap::new();
        let mut other: HashSet<&str> = HashSet::new();
        for Entry { place, text, .. } in entries {
            let Some((around, last)) = place.pointer.rsplit_once('/') else { continue };
            match place.n_lists {
                0 if is_member_of(NAMING_MEMBERS, last) => {
                    // A column that is an object with a name.
                    if let Some((list, _)) = around.rsplit_once('/') {
                        let list = words.entry(list).or_default();
                        list.push(text);
                    }
                }
                0 => {}
                1 => words.entry(around).or_default().push(text),
                2 => {
                    let Some((list, row)) = around.rsplit_once('/') else { continue };
                    let n_rows = n_rows.entry(list).or_default();
                    *n_rows = row.parse().map_or(*n_rows, |row: usize| row + 1).max(*n_rows);
                    if row == "0" {
                        first_rows.entry(list).or_default().push(text);
                    }
                }
                _ => {
                    // Rows hold words alone.
                    let lists = place.pointer.rmatch_indices('/').map(|(at, _)| at);
                    other.extend(lists.take(3).filter_map(|at| place.pointer.get(..at)));
                }
            }
        }
        for (list, words) in &words {
            let Some((object, key)) = list.rsplit_once('/') else { continue };
            if is_member_of(HEADING_MEMBERS, key) && (2..=MAX_CELLS).contains(&words.len()) {
                let columns: Columns = words.iter().map(|word| (*word).to_owned()).collect();
                names.columns.insert(object.to_owned(), columns);
            }
        }
        for (list, n_rows) in n_rows {
            let is_word = |word: &&str| word.parse::<f64>().is_err() && !word.trim().is_empty();
            let first = first_rows.get(list).map(Vec::as_slice).unwrap_or_default();
            let has_own = n_rows > 1 && first.len() > 1 && first.iter().all(is_word);
            if !other.contains(list) && (has_own || names.columns_of(list).is_some()) {
                names.tables.insert(list.to_owned());
            }
        }
        names
    }

    /// Gives the row that a value is a cell of.
    pub(super) fn row_of<'a>(&'a self, place: &'a ValuePlace) -> Option<InRow<'a>> {
        if self.tables.is_empty() || place.n_lists != 2 {
            return None;
        }
        let (pointer, _) = place.pointer.rsplit_once('/')?;
        let (list, _) = pointer.rsplit_once('/')?;
        let columns = self.columns_of(list);
        self.tables.contains(list).then_some(InRow { list, pointer, columns })
    }

    fn columns_of(&self, list: &str) -> Option<&Columns> {
        let (object, _) = list.rsplit_once('/')?;
        self.columns.get(object)
    }
}

/// Gives the number that a pointer ends in.
pub(super) fn last_number(pointer: &str) -> Option<usize> {
    pointer.rsplit_once('/')?.1.parse().ok()
}
