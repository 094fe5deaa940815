//! What an object or list of JSON that is open says of the columns of a table, and what that says
//! of the values in it.

use std::ops::Range;
use std::sync::Arc;

use model::{
    CELL_MEMBERS, HEADING_MEMBERS, KEYED_MEMBERS, NAMING_MEMBERS, SCHEMA_MEMBERS, VALUE_MEMBERS,
    is_member_of, names_columns,
};

use super::credentials::is_secret_name;
use super::table_rows::{Quotes, Table, cells};

/// Names in one list at most.
pub(super) const MAX_NAMES: usize = 1_000;

/// The longest name, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 200;

/// The longest string of names or cells with separators, in bytes.
const MAX_LINE_BYTES: usize = 8_192;

/// Members whose words are no headings of anything.
const OTHER_MEMBERS: &[&str] = &[
    "required",
    "optional",
    "enum",
    "tags",
    "keywords",
    "scopes",
    "scope",
    "grant_types",
    "grant_types_supported",
    "grantTypes",
    "examples",
    "synonyms",
    "aliases",
];

/// What a name beside the name of a secret says in headings of two columns.
const USUAL_NAMES: &[&str] = &[
    "user",
    "username",
    "user_name",
    "login",
    "email",
    "e-mail",
    "mail",
    "name",
    "id",
    "account",
    "host",
    "server",
    "service",
    "role",
    "url",
    "system",
    "note",
    "notes",
    "comment",
    "date",
    "group",
    "key",
];

/// Names of columns some of which hold secrets.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) secrets: Vec<usize>,
    pub(super) n_names: usize,
    /// Whether a member that names columns says them.
    pub(super) is_known: bool,
    /// Whether one of the lists that said them has a name of no secret, so that they are headings
    /// and not words.
    pub(super) is_mixed: bool,
    /// The same names of rows that are one string.
    pub(super) line: Option<Table>,
}

/// An object or list that is open.
#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) is_object: bool,
    /// Elements, or members, that have begun.
    pub(super) n_begun: usize,
    pub(super) key: String,
    pub(super) is_hidden: bool,
    /// Names that hold in it, and whether a list that is in it is a row of them.
    pub(super) scope: Option<Arc<Names>>,
    pub(super) holds_rows: bool,
    /// The names of its elements, where it is a row.
    pub(super) row: Option<Arc<Names>>,
    /// What the list, if it turns out to be one of names, says.
    pub(super) secrets: Vec<usize>,
    pub(super) is_no_names: bool,
    pub(super) has_lists: bool,
    pub(super) has_objects: bool,
    /// The number of an object, and whether a list of lists or objects was in it.
    pub(super) number: usize,
    pub(super) had_rows: bool,
    /// Names of columns that an object or what is in it says.
    pub(super) said: Option<Names>,
    /// What an object is called, and whether that names a secret.
    pub(super) is_named: bool,
    pub(super) is_secret: bool,
    /// Whether a value came before the object was called a secret.
    pub(super) had_value: bool,
    pub(super) describes: Describes,
    /// Whether the second of two strings does not look like a name.
    pub(super) may_be_pair: bool,
}

/// What an object or list describes by the member that holds it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Describes {
    /// No column.
    #[default]
    Nothing,
    /// Columns, one in each element.
    Columns,
    /// Columns, by its own members.
    Keyed,
    /// One of the elements of such a list, where members such as `data` hold its cells.
    Column,
}

impl Names {
    pub(super) fn add(&mut self, other: &Names) {
        self.secrets.extend(&other.secrets);
        self.secrets.sort_unstable();
        self.secrets.dedup();
        self.n_names = self.n_names.max(other.n_names);
        self.is_known |= other.is_known;
        self.is_mixed |= other.is_mixed;
    }

    /// Gives the beginning of a document in which these names hold.
    pub(super) fn opening(&self, holds_rows: bool) -> String {
        let rows = if holds_rows { "[" } else { "" };
        self.opening_before(&format!("\"-\":{rows}"))
    }

    /// Gives the same before a member.
    pub(super) fn opening_before(&self, member: &str) -> String {
        let headings = match &self.line {
            Some(line) => format!("{:?}", line.headings()),
            None => {
                // Where all of them name secrets they would be no headings.
                let n_names = self.n_names + usize::from(self.secrets.len() >= self.n_names);
                let names: Vec<&str> = (0..n_names)
                    .map(|at| if self.secrets.contains(&at) { "\"password\"" } else { "\"-\"" })
                    .collect();
                format!("[{}]", names.join(","))
            }
        };
        format!("{{\"columns\":{headings},{member}")
    }
}

impl Container {
    /// Tells what an object or list describes that begins in it.
    pub(super) fn describes(&self, is_object: bool) -> Describes {
        match (self.is_object, is_object) {
            (true, false) if is_member_of(HEADING_MEMBERS, &self.key) => Describes::Columns,
            (true, true) if is_member_of(KEYED_MEMBERS, &self.key) => Describes::Keyed,
            (false, true) if self.describes == Describes::Columns => Describes::Column,
            _ => Describes::Nothing,
        }
    }

    /// Tells whether the member that comes next holds the cells of a column of secrets.
    pub(super) fn is_in_cells(&self) -> bool {
        self.describes == Describes::Column
            && self.is_secret
            && is_member_of(CELL_MEMBERS, &self.key)
    }

    /// Sees that a value of an object comes which may be called a secret later.
    pub(super) fn pass_value(&mut self) {
        let is_column = self.describes == Describes::Column;
        self.had_value |= self.is_object
            && !self.is_secret
            && (is_member_of(VALUE_MEMBERS, &self.key)
                || (is_column && is_member_of(CELL_MEMBERS, &self.key)));
    }

    /// Reads the name of a member as that of a column, where members are columns.
    pub(super) fn read_key(&mut self) {
        if self.describes == Describes::Keyed
            && self.n_begun < MAX_NAMES
            && is_secret_name(&self.key)
        {
            self.secrets.push(self.n_begun);
        }
    }

    /// Sees that the last element of a list names a secret.
    pub(super) fn add_secret(&mut self) {
        if !self.is_object && self.secrets.len() < MAX_NAMES {
            self.secrets.push(self.n_begun.saturating_sub(1));
        }
    }

    /// Gives the names that an object which ended in `around` says of the rows beside it.
    pub(super) fn said_to(self, around: &Container) -> Option<Names> {
        let of_keys = || {
            let is_mixed = !self.secrets.is_empty() && self.secrets.len() < self.n_begun;
            (self.describes == Describes::Keyed && is_mixed).then(|| Names {
                secrets: self.secrets.clone(),
                n_names: self.n_begun,
                is_known: true,
                is_mixed,
                line: None,
            })
        };
        let is_schema =
            is_member_of(SCHEMA_MEMBERS, &around.key) || is_member_of(KEYED_MEMBERS, &around.key);
        if !around.is_object || !is_schema {
            return None;
        }
        self.said.clone().or_else(of_keys)
    }

    /// Tells whether the next element or member is private as a whole.
    pub(super) fn hides_next(&self) -> bool {
        let is_cell = || {
            !self.is_object
                && self
                    .row
                    .as_ref()
                    .is_some_and(|row| row.line.is_none() && row.secrets.contains(&self.n_begun))
        };
        let is_value =
            || self.is_object && self.is_secret && is_member_of(VALUE_MEMBERS, &self.key);
        self.is_hidden || is_cell() || is_value()
    }

    /// Reads a string as a name.
    pub(super) fn read(&mut self, string: &str, element: usize) {
        if self.is_object {
            if !self.is_named && is_member_of(NAMING_MEMBERS, &self.key) {
                self.is_named = true;
                self.is_secret = is_name(string) && is_secret_name(string);
            } else if is_member_of(NAMING_MEMBERS, &self.key) && !self.is_secret {
                self.is_secret = is_name(string) && is_secret_name(string);
            } else if self.describes == Describes::Keyed
                && let Ok(column) = self.key.parse::<usize>()
                && column < MAX_NAMES
                && is_name(string)
                && is_secret_name(string)
            {
                self.secrets.push(column);
            }
            return;
        }
        if self.is_no_names || element >= MAX_NAMES || !is_name(string) {
            self.is_no_names = true;
        } else if is_secret_name(string) {
            self.secrets.push(element);
        }
        if element == 1 {
            let is_usual = USUAL_NAMES.iter().any(|name| name.eq_ignore_ascii_case(string.trim()));
            self.may_be_pair = !is_usual && !is_secret_name(string) && string.len() > 2;
        }
    }

    /// Gives the private cells of a string that is a row.
    pub(super) fn parts_of(&self, string: &str) -> Vec<Range<usize>> {
        let Some(line) = self.line_of(string) else { return vec![] };
        line.secrets_of(&cells(string, line.separator, Quotes::Hold))
    }

    /// Gives the table that a string is a row of.
    pub(super) fn line_of(&self, string: &str) -> Option<Table> {
        let is_line = !self.is_object
            && self.row.is_none()
            && self.holds_rows
            && string.len() <= MAX_LINE_BYTES;
        let names = self.scope.as_ref().filter(|_| is_line)?;
        if let Some(line) = &names.line {
            return string.contains(line.separator).then(|| line.clone());
        }
        if !names.is_mixed {
            return None;
        }
        let n_cells = |separator: char| cells(string, separator, Quotes::Hold).len();
        let separator =
            [';', '|', '\t', ','].into_iter().find(|it| n_cells(*it) == names.n_names)?;
        let secrets = names.secrets.clone();
        Some(Table { separator, n_cells: names.n_names, secrets, names: vec![] })
    }

    /// Reads a string as headings with separators, which hold for the strings that follow.
    pub(super) fn read_line(&mut self, string: &str) {
        let may_be = string.len() <= MAX_LINE_BYTES
            && string.contains([';', '|', '\t', ','])
            && !string.contains('\n');
        if !may_be || (self.is_object && is_member_of(OTHER_MEMBERS, &self.key)) {
            return;
        }
        let Some(table) = Table::of(string) else { return };
        let names = Names {
            secrets: table.secrets.clone(),
            n_names: table.n_cells,
            is_known: false,
            is_mixed: table.secrets.len() < table.n_cells,
            line: Some(table),
        };
        self.scope = Some(Arc::new(names));
        self.holds_rows = !self.is_object;
    }

    /// Gives the names that a list says which ended in `around`.
    pub(super) fn names(&self, around: &Container) -> Option<Names> {
        let is_sure = around.is_object && names_columns(&around.key);
        // Where every element names a secret they are words, and no headings.
        let is_mixed = self.n_begun >= 2 && self.secrets.len() < self.n_begun;
        let is_names = !self.is_no_names
            && self.may_name_others(around)
            && !self.secrets.is_empty()
            && (is_sure || is_mixed)
            && !(around.is_object && is_member_of(OTHER_MEMBERS, &around.key));
        let is_known = around.is_object && is_member_of(HEADING_MEMBERS, &around.key);
        let is_list_of_words = !self.has_objects && !self.has_lists;
        (is_names && (is_known || is_list_of_words)).then(|| Names {
            secrets: self.secrets.clone(),
            n_names: self.n_begun,
            is_known,
            is_mixed: self.secrets.len() < self.n_begun,
            line: None,
        })
    }

    /// Tells whether a list may be headings: it is no row of others, or the first one, which may
    /// be headings of its own table where those of another are around it.
    fn may_name_others(&self, around: &Container) -> bool {
        let is_first = !around.is_object && around.n_begun == 1;
        self.row.as_ref().is_none_or(|row| is_first && row.line.is_none())
    }

    /// Takes in names for what follows in it: those that hold already go on to.
    pub(super) fn add(&mut self, mut names: Names) {
        if self.is_object && names.is_known {
            match &mut self.said {
                Some(said) => said.add(&names),
                None => self.said = Some(names.clone()),
            }
        }
        let go_on = !self.is_object || !self.holds_rows;
        if let Some(known) = self.scope.as_ref().filter(|_| go_on)
            && known.line.is_none()
        {
            names.add(known);
        }
        self.scope = Some(Arc::new(names));
        self.holds_rows = !self.is_object;
    }
}

fn is_name(string: &str) -> bool {
    string.len() <= MAX_NAME_BYTES
}
