//! Lists of lists in YAML that are tables, by the places of their values.

use std::collections::{HashMap, HashSet};

use model::{
    HEADING_MEMBERS, KEYED_MEMBERS, NAMING_MEMBERS, SCHEMA_MEMBERS, is_member_of, names_columns,
};

use super::read::{Entry, ValuePlace};
use crate::plain::json_tables::{Columns, is_value_member};

/// Cells of a row at most.
pub(super) const MAX_CELLS: usize = 1_000;

/// Objects and lists around a value that are looked at for what they are called.
const MAX_VALUE_DEPTH: usize = 6;

/// Names of columns, and the lists that they hold for.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What the lists in an object say, by the pointer of the object.
    columns: HashMap<String, Columns>,
    /// Lists that are tables.
    tables: HashSet<String>,
    /// What an object is called, by its pointer: how good the name is, the name, and how many bytes
    /// of its label are that of the object.
    called: HashMap<String, (usize, String, usize)>,
}

/// The row that a value is in.
pub(super) struct InRow<'a> {
    /// The pointer of the table.
    pub(super) list: &'a str,
    pub(super) pointer: &'a str,
    pub(super) columns: Option<&'a Columns>,
}

/// What the values of a file say, by the pointers of the lists and objects that they are in.
#[derive(Default)]
struct Transcript<'a> {
    /// What each list of words says.
    words: HashMap<&'a str, Vec<&'a str>>,
    /// How good the name of an object is, and which of the words of its list it is.
    named: HashMap<&'a str, (usize, usize)>,
    /// Members of objects whose members may be columns, with what they say.
    members: HashMap<&'a str, Vec<(&'a str, &'a str)>>,
    /// The first rows of lists of lists, and how many rows there are.
    first_rows: HashMap<&'a str, Vec<&'a str>>,
    n_rows: HashMap<&'a str, usize>,
    /// Lists in lists that hold more than words.
    other: HashSet<&'a str>,
}

impl<'a> Transcript<'a> {
    fn take(&mut self, place: &'a ValuePlace, text: &'a str) {
        let Some((around, last)) = place.pointer.rsplit_once('/') else { return };
        match place.n_lists {
            0 => {
                if let Some(rank) = naming_rank(last)
                    && let Some((list, _)) = around.rsplit_once('/')
                {
                    // A column that is an object with a name, or with several.
                    let words = self.words.entry(list).or_default();
                    let (best, at) = *self.named.entry(around).or_insert((rank, words.len()));
                    match words.get_mut(at) {
                        None => words.push(text),
                        Some(word) if rank < best => {
                            *word = text;
                            self.named.insert(around, (rank, at));
                        }
                        Some(_) => {}
                    }
                }
                // A column that is a member, perhaps with members of its own.
                self.take_member(around, last, text);
                if let Some((outer, member)) = around.rsplit_once('/') {
                    self.take_member(outer, member, "");
                }
            }
            1 => self.words.entry(around).or_default().push(text),
            2 => {
                let Some((list, row)) = around.rsplit_once('/') else { return };
                let n_rows = self.n_rows.entry(list).or_default();
                *n_rows = row.parse().map_or(*n_rows, |row: usize| row + 1).max(*n_rows);
                if row == "0" {
                    self.first_rows.entry(list).or_default().push(text);
                }
                if last == "0" {
                    // A column that is a list which begins with its name.
                    self.words.entry(list).or_default().push(text);
                }
            }
            _ => {
                // Rows hold words alone.
                let lists = place.pointer.rmatch_indices('/').map(|(at, _)| at);
                self.other.extend(lists.take(3).filter_map(|at| place.pointer.get(..at)));
            }
        }
    }

    fn take_member(&mut self, object: &'a str, member: &'a str, text: &'a str) {
        if is_member_of(KEYED_MEMBERS, last_key(object)) {
            let members = self.members.entry(object).or_default();
            if members.last().is_none_or(|(last, _)| *last != member) {
                members.push((member, text));
            }
        }
    }

    /// Gives what lists and objects say of the columns of rows beside them, by the object that both
    /// are in.
    fn columns(&self) -> HashMap<String, Columns> {
        let mut columns = HashMap::new();
        for (list, words) in &self.words {
            let Some((object, key)) = list.rsplit_once('/') else { continue };
            let n_min = if names_columns(key) { 1 } else { 2 };
            if is_member_of(HEADING_MEMBERS, key) && (n_min..=MAX_CELLS).contains(&words.len()) {
                put_columns(object, words.iter().copied(), &mut columns);
            }
        }
        for (object, members) in &self.members {
            let is_numbered =
                members.iter().enumerate().all(|(at, (key, _))| *key == at.to_string());
            let names = members.iter().map(|(key, text)| if is_numbered { *text } else { *key });
            let Some((around, _)) = object.rsplit_once('/') else { continue };
            let is_row = |row: &Vec<&str>| row.len() == members.len();
            let rows = self.first_rows.iter().filter(|(_, row)| is_row(row));
            let mut beside = rows.filter_map(|(list, _)| list.rsplit_once('/'));
            if members.len() > 1
                && !columns.contains_key(around)
                && beside.any(|(it, _)| it == around)
            {
                put_columns(around, names, &mut columns);
            }
        }
        columns
    }
}

/// Keeps names for the rows in an object, and in those that it describes rows of.
fn put_columns<'a>(
    object: &str,
    names: impl Iterator<Item = &'a str>,
    columns: &mut HashMap<String, Columns>,
) {
    let names: Columns = names.map(str::to_owned).collect();
    let mut object = object;
    columns.insert(object.to_owned(), names.clone());
    while let Some((outer, key)) = object.rsplit_once('/')
        && is_member_of(SCHEMA_MEMBERS, key)
    {
        columns.entry(outer.to_owned()).or_insert_with(|| names.clone());
        object = outer;
    }
}

/// Gives how well a member says what the object is called; the best is 0.
fn naming_rank(member: &str) -> Option<usize> {
    NAMING_MEMBERS.iter().position(|name| name.eq_ignore_ascii_case(member))
}

fn last_key(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(_, key)| key)
}

impl Names {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut said = Transcript::default();
        let mut names = Names::default();
        for Entry { place, text, .. } in entries {
            said.take(place, text);
            if let Some((object, key)) = place.pointer.rsplit_once('/')
                && let Some(rank) = naming_rank(key)
                && place.n_lists == 0
            {
                let n_label = place.label.len().saturating_sub(key.len());
                let called = names.called.entry(object.to_owned());
                let called = called.or_insert_with(|| (usize::MAX, text.clone(), n_label));
                if rank < called.0 {
                    *called = (rank, text.clone(), n_label);
                }
            }
        }
        names.columns = said.columns();
        for (list, n_rows) in &said.n_rows {
            let is_word = |word: &&str| word.parse::<f64>().is_err() && !word.trim().is_empty();
            let first = said.first_rows.get(list).map(Vec::as_slice).unwrap_or_default();
            let has_own = *n_rows > 1 && first.len() > 1 && first.iter().all(is_word);
            if !said.other.contains(list) && (has_own || names.columns_of(list).is_some()) {
                names.tables.insert((*list).to_owned());
            }
        }
        names
    }

    /// Gives the label of a value that one of several is of what the object around them is called:
    /// the name is in the place of the member that holds them.
    pub(super) fn label_of(&self, place: &ValuePlace) -> Option<String> {
        let ends = place.pointer.rmatch_indices('/').map(|(at, _)| at);
        let mut end = place.pointer.len();
        for at in ends.take(MAX_VALUE_DEPTH) {
            let (object, inner) = place.pointer.split_at(at);
            let member = place.pointer.get(at + 1..end)?;
            if end < place.pointer.len()
                && is_value_member(member, object)
                && let Some((_, name, n_label)) = self.called.get(object)
            {
                debug_assert!(inner.len() > member.len());
                let rest = place.label.get(n_label + member.len()..)?;
                return Some(format!("{}{name}{rest}", place.label.get(..*n_label)?));
            }
            end = at;
        }
        None
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
        let mut inner = list;
        while let Some((object, _)) = inner.rsplit_once('/') {
            if let Some(columns) = self.columns.get(object) {
                return Some(columns);
            }
            inner = object;
        }
        None
    }
}

/// Gives the number that a pointer ends in.
pub(super) fn last_number(pointer: &str) -> Option<usize> {
    pointer.rsplit_once('/')?.1.parse().ok()
}
