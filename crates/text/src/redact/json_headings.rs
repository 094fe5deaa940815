//! Which values of a JSON document are private by names that are elsewhere in it: cells of rows
//! below headings, and values beside the name of a secret.
//!
//! Whoever reads a document value by value says what comes, in order: [`JsonHeadings::begin`],
//! [`JsonHeadings::key`], [`JsonHeadings::leaf`], [`JsonHeadings::end`]. Headings are a list of
//! words, or of objects with a name, of which some name a secret. They hold for the lists that
//! follow in their own list (`[["user", "password"], ["ann", …]]`); as a member of an object for
//! the lists inside its lists (`{"columns": [...], "rows": [["ann", …]]}`), and for what those
//! lists hold in turn. Rows may be longer or shorter than headings, hold lists and objects, or be
//! one string with separators.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use model::{HEADING_MEMBERS, NAMING_MEMBERS, is_member_of};

use super::credentials::is_secret_name;
use super::table_rows::{Quotes, Table, cells};

/// Names in one list at most.
const MAX_NAMES: usize = 1_000;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Values deeper than this are private where what they are in is.
const MAX_DEPTH: usize = 128;

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

/// Members that hold the value of what the object is called.
const VALUE_MEMBERS: &[&str] = &["value", "val", "v"];

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

/// Whether a value is private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing here says so.
    Open,
    /// All of it is.
    Whole,
    /// These bytes of the string are.
    Parts(Vec<Range<usize>>),
}

/// Names of columns some of which hold secrets.
#[derive(Debug, Clone)]
struct Names {
    secrets: Vec<usize>,
    n_names: usize,
    /// Whether a member that names columns says them.
    is_known: bool,
    /// The same names of rows that are one string.
    line: Option<Table>,
}

/// An object or list that is open.
#[derive(Debug, Default)]
struct Container {
    is_object: bool,
    /// Elements, or members, that have begun.
    n_begun: usize,
    key: String,
    is_hidden: bool,
    /// Names that hold in it, and whether a list that is in it is a row of them.
    scope: Option<Arc<Names>>,
    holds_rows: bool,
    /// The names of its elements, where it is a row.
    row: Option<Arc<Names>>,
    /// What the list, if it turns out to be one of names, says.
    secrets: Vec<usize>,
    is_no_names: bool,
    has_objects: bool,
    /// The number of an object, and whether a list of lists or objects was in it.
    number: usize,
    had_rows: bool,
    /// What an object is called, and whether that names a secret.
    is_named: bool,
    is_secret: bool,
    /// Whether the second of two strings does not look like a name.
    may_be_pair: bool,
}

/// What ended with an object or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing that says what others hold.
    Plain,
    /// Names of columns, for what follows.
    Names,
    /// Two strings, of which the second is private since the first names a secret:
    /// `["password", "…"]`.
    Pair,
}

/// Names of columns that come behind their rows: who read a document to its end knows them, and
/// reads it again with them.
#[derive(Debug, Clone, Default)]
pub struct LateNames(HashMap<usize, Arc<Names>>);

impl LateNames {
    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Follows a document.
#[derive(Debug, Default)]
pub struct JsonHeadings {
    open: Vec<Container>,
    /// Containers beyond [`MAX_DEPTH`].
    n_deeper: usize,
    /// Objects that have begun, so that those with late names are known again.
    n_objects: usize,
    late: LateNames,
}

impl JsonHeadings {
    /// Nothing of a document was read.
    pub fn new() -> Self {
        JsonHeadings::default()
    }

    /// Nothing was read of a document of which late names are known.
    pub fn with_late(late: LateNames) -> Self {
        JsonHeadings { late, ..JsonHeadings::default() }
    }

    /// Gives the names that came behind their rows.
    pub fn into_late(self) -> LateNames {
        self.late
    }

    /// Nothing of what was read goes on.
    pub(super) fn restart(&mut self) {
        self.open.clear();
        self.n_deeper = 0;
    }

    /// An object or list begins.
    pub fn begin(&mut self, is_object: bool) {
        if self.open.len() >= MAX_DEPTH {
            self.n_deeper += 1;
            return;
        }
        let mut inner = Container { is_object, ..Container::default() };
        if let Some(around) = self.open.last_mut() {
            inner.is_hidden = around.hides_next();
            inner.scope.clone_from(&around.scope);
            let is_direct = !around.is_object;
            let is_row = |names: &Names| around.holds_rows && (is_direct || names.is_known);
            if !is_object {
                inner.row = around.scope.clone().filter(|names| is_row(names));
            }
            inner.holds_rows = around.holds_rows || (!is_object && inner.scope.is_some());
            around.is_no_names |= !is_object;
            around.has_objects |= is_object;
            around.n_begun += 1;
        }
        if is_object {
            inner.number = self.n_objects;
            self.n_objects += 1;
            if let Some(names) = self.late.0.get(&inner.number) {
                inner.scope = Some(Arc::clone(names));
                inner.holds_rows = false;
            }
        }
        self.open.push(inner);
    }

    /// What comes next is at this place of the innermost object or list.
    pub fn at(&mut self, component: &str) {
        match self.open.last() {
            Some(object) if object.is_object => self.key(component),
            Some(_) => self.skip_to(component.parse().unwrap_or(usize::MAX)),
            None => {}
        }
    }

    /// A member begins: its value comes next.
    pub fn key(&mut self, name: &str) {
        if self.n_deeper == 0
            && let Some(object) = self.open.last_mut()
        {
            object.key.clear();
            object.key.push_str(if name.len() <= MAX_NAME_BYTES { name } else { "" });
        }
    }

    /// A string comes, or another value that is none.
    pub fn leaf(&mut self, string: Option<&str>) -> Verdict {
        let Some(around) = self.open.last_mut() else { return Verdict::Open };
        if self.n_deeper > 0 {
            return if around.is_hidden { Verdict::Whole } else { Verdict::Open };
        }
        let is_hidden = around.hides_next();
        let element = around.n_begun;
        around.n_begun += 1;
        let Some(string) = string else {
            around.is_no_names = true;
            return if is_hidden { Verdict::Whole } else { Verdict::Open };
        };
        around.read(string, element);
        if is_hidden {
            return Verdict::Whole;
        }
        let parts = around.parts_of(string);
        if parts.is_empty() {
            around.read_line(string);
            return Verdict::Open;
        }
        Verdict::Parts(parts)
    }

    /// The innermost object or list ends.
    pub fn end(&mut self) -> Ended {
        if self.n_deeper > 0 {
            self.n_deeper -= 1;
            return Ended::Plain;
        }
        let Some(inner) = self.open.pop() else { return Ended::Plain };
        let Some(around) = self.open.last_mut() else { return Ended::Plain };
        if inner.is_object {
            // Objects with names may be the headings of a table.
            around.is_no_names |= !inner.is_named;
            if inner.is_secret && !around.is_object && around.secrets.len() < MAX_NAMES {
                around.secrets.push(around.n_begun.saturating_sub(1));
            }
            return Ended::Plain;
        }
        let is_pair = inner.may_be_pair
            && inner.n_begun == 2
            && inner.secrets == [0]
            && inner.row.is_none()
            && !around.is_object;
        let names = inner.names(around).filter(|_| !is_pair || around.n_begun == 1);
        if let Some(names) = names {
            if around.had_rows && names.is_known {
                self.late.0.entry(around.number).or_insert_with(|| Arc::new(names.clone()));
            }
            around.add(names);
            return if is_pair { Ended::Pair } else { Ended::Names };
        }
        around.had_rows |= around.is_object && inner.is_no_names;
        if is_pair { Ended::Pair } else { Ended::Plain }
    }

    /// Goes on with a later element of the innermost list.
    fn skip_to(&mut self, element: usize) {
        if let Some(list) = self.open.last_mut().filter(|_| self.n_deeper == 0) {
            list.n_begun = element;
        }
    }

    /// Tells whether all that comes next in the innermost list or object is private.
    pub fn hides_next(&self) -> bool {
        self.open.last().is_some_and(|around| match self.n_deeper {
            0 => around.hides_next(),
            _ => around.is_hidden,
        })
    }

    /// Gives a text to read before the innermost object or list that is open, or a part of it, so
    /// that the names hold in it that hold here, and those that come behind what they name;
    /// nothing where there are none. `from` members or elements are left out.
    pub fn opening(&self, from: usize, late: &LateNames) -> Option<String> {
        let (inner, around) = self.open.split_last()?;
        if inner.is_secret && from > 0 {
            // The name may be left out, and not the value.
            return Some("{\"name\":\"password\",\"value\":".to_owned());
        }
        let holds_rows = around.last().is_some_and(|around| {
            let is_same = |names| around.scope.as_ref().is_some_and(|it| Arc::ptr_eq(it, names));
            around.holds_rows && inner.scope.as_ref().is_some_and(is_same)
        });
        let mut names = inner.scope.as_deref().cloned();
        for late in self.late.0.values().chain(late.0.values()) {
            match &mut names {
                Some(names) => names.add(late),
                None => names = Some(Names::clone(late)),
            }
        }
        let mut names = names?;
        if inner.row.is_some() {
            // Lists in it begin with their first.
            let rest = names.secrets.iter().filter_map(|at| at.checked_sub(from));
            names.secrets = rest.chain(names.secrets.clone()).collect();
        }
        Some(names.opening(holds_rows))
    }

    /// Gives a line of headings for a string that comes next, where the string is a row.
    pub fn headings_of(&self, string: &str) -> Option<String> {
        self.open.last().filter(|_| self.n_deeper == 0)?.line_of(string).map(|line| line.headings())
    }

    /// Gives how many of the open objects and lists are outside of the outermost row that is open.
    pub(super) fn outside_rows(&self) -> usize {
        self.open.iter().position(|one| one.row.is_some()).unwrap_or(self.open.len())
    }

    /// Gives a text to read before what comes next in the container at a depth.
    pub(super) fn opening_inside(&self, depth: usize) -> Option<String> {
        let around = self.open.get(..depth)?.last()?;
        Some(around.scope.as_ref()?.opening(around.holds_rows))
    }
}

impl Names {
    fn add(&mut self, other: &Names) {
        self.secrets.extend(&other.secrets);
        self.secrets.sort_unstable();
        self.secrets.dedup();
        self.n_names = self.n_names.max(other.n_names);
        self.is_known |= other.is_known;
    }

    /// Gives the beginning of a document in which these names hold.
    fn opening(&self, holds_rows: bool) -> String {
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
        let rows = if holds_rows { "[" } else { "" };
        format!("{{\"columns\":{headings},\"-\":{rows}")
    }
}

impl Container {
    /// Tells whether the next element or member is private as a whole.
    fn hides_next(&self) -> bool {
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
    fn read(&mut self, string: &str, element: usize) {
        if self.is_object {
            if !self.is_named && is_member_of(NAMING_MEMBERS, &self.key) {
                self.is_named = true;
                self.is_secret = is_name(string) && is_secret_name(string);
            } else if is_member_of(NAMING_MEMBERS, &self.key) && !self.is_secret {
                self.is_secret = is_name(string) && is_secret_name(string);
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
    fn parts_of(&self, string: &str) -> Vec<Range<usize>> {
        let Some(line) = self.line_of(string) else { return vec![] };
        line.secrets_of(&cells(string, line.separator, Quotes::Hold))
    }

    /// Gives the table that a string is a row of.
    fn line_of(&self, string: &str) -> Option<Table> {
        let is_line = !self.is_object
            && self.row.is_none()
            && self.holds_rows
            && string.len() <= MAX_LINE_BYTES;
        let names = self.scope.as_ref().filter(|_| is_line)?;
        if let Some(line) = &names.line {
            return string.contains(line.separator).then(|| line.clone());
        }
        let n_cells = |separator: char| cells(string, separator, Quotes::Hold).len();
        let separator =
            [';', '|', '\t', ','].into_iter().find(|it| n_cells(*it) == names.n_names)?;
        let secrets = names.secrets.clone();
        Some(Table { separator, n_cells: names.n_names, secrets, names: vec![] })
    }

    /// Reads a string as headings with separators, which hold for the strings that follow.
    fn read_line(&mut self, string: &str) {
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
            line: Some(table),
        };
        self.scope = Some(Arc::new(names));
        self.holds_rows = !self.is_object;
    }

    /// Gives the names that a list says which ended in `around`.
    fn names(&self, around: &Container) -> Option<Names> {
        let is_names = !self.is_no_names
            && self.row.is_none()
            && self.n_begun >= 2
            && !self.secrets.is_empty()
            // Where every element names a secret they are words, and no headings.
            && self.secrets.len() < self.n_begun
            && !(around.is_object && is_member_of(OTHER_MEMBERS, &around.key));
        let is_known = around.is_object && is_member_of(HEADING_MEMBERS, &around.key);
        (is_names && (is_known || !self.has_objects)).then(|| Names {
            secrets: self.secrets.clone(),
            n_names: self.n_begun,
            is_known,
            line: None,
        })
    }

    /// Takes in names for what follows in it.
    fn add(&mut self, mut names: Names) {
        if let Some(known) = self.scope.as_ref().filter(|_| self.is_object && !self.holds_rows)
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
