//! Which values of a JSON document are private by names that are elsewhere in it: cells of rows
//! below headings, and values beside the name of a secret.
//!
//! Whoever reads a document value by value says what comes, in order: [`JsonHeadings::begin`],
//! [`JsonHeadings::key`], [`JsonHeadings::leaf`], [`JsonHeadings::end`]. Headings are a list of
//! words, or of objects with a name, of which some name a secret. They hold for the lists that
//! follow in their own list (`[["user", "password"], ["ann", …]]`); as a member of an object for
//! the lists inside its lists (`{"columns": [...], "rows": [["ann", …]]}`), and for what those
//! lists hold in turn; what describes a table beside its rows says its names from within
//! (`{"schema": {"fields": [...]}, "data": [["ann", …]]}`). Rows may be longer or shorter than headings, hold lists and objects, or be
//! one string with separators.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::json_names::{Container, Describes, MAX_NAME_BYTES, Names};

/// Values deeper than this are private where what they are in is.
const MAX_DEPTH: usize = 128;

/// What is read before the value of a secret whose name is elsewhere.
const OPENING_OF_SECRET: &str = "{\"name\":\"password\",\"value\":";

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

/// Names that come behind what they name: who read a document to its end knows them, and reads it
/// again with them.
#[derive(Debug, Clone, Default)]
pub struct LateNames {
    /// Those of columns, by the number of the object that they are in.
    columns: HashMap<usize, Arc<Names>>,
    /// Objects that are called a secret behind their value.
    secrets: HashSet<usize>,
}

impl LateNames {
    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.secrets.is_empty()
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
            inner.is_hidden = around.hides_next() || (!is_object && around.is_in_cells());
            inner.describes = around.describes(is_object);
            inner.scope.clone_from(&around.scope);
            let is_direct = !around.is_object;
            let is_row = |names: &Names| {
                let may_be_deeper = names.is_known && names.is_mixed;
                around.holds_rows && (is_direct || may_be_deeper)
            };
            if !is_object {
                inner.row = around.scope.clone().filter(|names| is_row(names));
            }
            inner.holds_rows = around.holds_rows || (!is_object && inner.scope.is_some());
            around.has_lists |= !is_object;
            around.has_objects |= is_object;
            around.pass_value();
            around.n_begun += 1;
        }
        if is_object {
            inner.number = self.n_objects;
            self.n_objects += 1;
            if let Some(names) = self.late.columns.get(&inner.number) {
                inner.scope = Some(Arc::clone(names));
                inner.holds_rows = false;
            }
            inner.is_secret = self.late.secrets.contains(&inner.number);
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
            object.read_key();
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
        around.pass_value();
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
        if inner.is_secret && inner.had_value {
            self.late.secrets.insert(inner.number);
        }
        let Some(around) = self.open.last_mut() else { return Ended::Plain };
        if inner.is_object {
            // Objects with names may be the headings of a table.
            around.is_no_names |= !inner.is_named;
            around.had_rows |= around.is_object && inner.had_rows;
            if inner.is_secret {
                around.add_secret();
            }
            let Some(names) = inner.said_to(around) else { return Ended::Plain };
            self.tell(names);
            return Ended::Names;
        }
        let is_pair = inner.may_be_pair
            && inner.n_begun == 2
            && inner.secrets == [0]
            && inner.row.is_none()
            && !around.is_object;
        if inner.secrets.first() == Some(&0) {
            // A column may be described by a list that begins with its name.
            around.add_secret();
        }
        let names = inner.names(around).filter(|_| !is_pair || around.n_begun == 1);
        if let Some(names) = names {
            self.tell(names);
            return if is_pair { Ended::Pair } else { Ended::Names };
        }
        around.had_rows |=
            around.is_object && (inner.is_no_names || inner.has_lists || inner.has_objects);
        if is_pair { Ended::Pair } else { Ended::Plain }
    }

    /// Takes in names that the innermost object or list said.
    fn tell(&mut self, names: Names) {
        let Some(around) = self.open.last_mut() else { return };
        if around.had_rows && names.is_known {
            let late = self.late.columns.entry(around.number);
            late.or_insert_with(|| Arc::new(names.clone()));
        }
        around.add(names);
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
        if inner.is_hidden || (inner.is_secret && (from > 0 || inner.had_value)) {
            // The name may be left out, and not the value.
            return Some(OPENING_OF_SECRET.to_owned());
        }
        let holds_rows = around.last().is_some_and(|around| {
            let is_same = |names| around.scope.as_ref().is_some_and(|it| Arc::ptr_eq(it, names));
            around.holds_rows && inner.scope.as_ref().is_some_and(is_same)
        });
        let mut names = inner.scope.as_deref().cloned();
        for late in self.late.columns.values().chain(late.columns.values()) {
            match &mut names {
                Some(names) => names.add(late),
                None => names = Some(Names::clone(late)),
            }
        }
        let described = match inner.describes {
            Describes::Columns => "\"columns\":",
            Describes::Column => "\"columns\":[",
            Describes::Keyed | Describes::Nothing => "",
        };
        let Some(mut names) = names else {
            return (!described.is_empty()).then(|| format!("{{{described}"));
        };
        if inner.row.is_some() {
            // Lists in it begin with their first.
            let rest = names.secrets.iter().filter_map(|at| at.checked_sub(from));
            names.secrets = rest.chain(names.secrets.clone()).collect();
        }
        match described {
            "" => Some(names.opening(holds_rows)),
            described => Some(names.opening_before(described)),
        }
    }

    /// Gives a line of headings for a string that comes next, where the string is a row.
    pub fn headings_of(&self, string: &str) -> Option<String> {
        self.open.last().filter(|_| self.n_deeper == 0)?.line_of(string).map(|line| line.headings())
    }

    /// Gives how many of the open objects and lists are outside of the outermost row, or value of
    /// a secret, that is open.
    pub(super) fn outside_rows(&self) -> usize {
        let is_inside = |one: &Container| one.row.is_some() || one.is_hidden;
        self.open.iter().position(is_inside).unwrap_or(self.open.len())
    }

    /// Gives a text to read before what comes next in the container at a depth, and whether it
    /// stands for all that is open.
    pub(super) fn opening_inside(&self, depth: usize) -> Option<(String, bool)> {
        if self.open.get(depth).is_some_and(|inner| inner.row.is_none() && inner.is_hidden) {
            let n_open = self.open.len() - depth + self.n_deeper.min(MAX_DEPTH);
            return Some((OPENING_OF_SECRET.to_owned() + &"[".repeat(n_open), true));
        }
        let around = self.open.get(..depth)?.last()?;
        Some((around.scope.as_ref()?.opening(around.holds_rows), false))
    }
}
