//! What a hierarchical code says of itself: its level, its chapter, its subchapter.

use std::collections::{HashMap, HashSet};

use lookup::canonical_code;
use serde_json::{Map, Value};

/// Codes of a dimension with the names of all levels.
#[derive(Debug, Default)]
pub(crate) struct Classification {
    level_names: Vec<String>,
    /// Canonical code to row.
    rows: HashMap<String, usize>,
    /// Canonical codes that others are under.
    parents: HashSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodePlace {
    pub(crate) code: String,
    /// 1 for chapters.
    pub(crate) level: usize,
    pub(crate) level_name: Option<String>,
    pub(crate) is_prefix: bool,
    pub(crate) chapter: CodeAbove,
    /// The code of the second level, where that level is called a subchapter.
    pub(crate) subchapter: Option<CodeAbove>,
}

/// The two forms in which a code with others under it can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeForm {
    /// `65.`: the code and all under it.
    Prefix,
    /// `65`: the code itself.
    Exact,
}

impl CodeForm {
    pub(crate) fn write(self, code: &str) -> String {
        match self {
            CodeForm::Prefix => format!("{}.", canonical_code(code)),
            CodeForm::Exact => code.trim_end_matches('.').to_owned(),
        }
    }

    /// Tells which form a query means first: a chapter, or a code written with a dot or `.00` at
    /// its end, is meant with all under it, any other full code as it is. Names mean everything
    /// that they cover.
    pub(crate) fn first_for(query: &str, is_code: bool, level: usize) -> Self {
        let query = query.trim();
        let is_open = query.ends_with('.') || query.ends_with(".00") || level <= 1;
        if !is_code || is_open { CodeForm::Prefix } else { CodeForm::Exact }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            CodeForm::Prefix => CodeForm::Exact,
            CodeForm::Exact => CodeForm::Prefix,
        }
    }
}

/// A code on the way to another, and its row where the dimension has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeAbove {
    pub(crate) code: String,
    pub(crate) row: Option<usize>,
}

impl Classification {
    pub(crate) fn new<'a>(
        level_names: Vec<String>,
        codes: impl Iterator<Item = (usize, &'a str)>,
    ) -> Self {
        let mut rows = HashMap::new();
        let mut parents = HashSet::new();
        for (row, code) in codes {
            let canonical = canonical_code(code);
            let mut above = canonical.as_str();
            while let Some((parent, _)) = above.rsplit_once('.') {
                parents.insert(parent.to_owned());
                above = parent;
            }
            rows.entry(canonical).or_insert(row);
        }
        Classification { level_names, rows, parents }
    }

    /// Tells whether a code can be meant with all that lies under it.
    pub(crate) fn has_children(&self, code: &str) -> bool {
        code.ends_with('.') || self.parents.contains(&canonical_code(code))
    }

    pub(crate) fn place(&self, code: &str) -> CodePlace {
        let canonical = canonical_code(code);
        let components: Vec<&str> = canonical.split('.').collect();
        let above = |n_components: usize| {
            let code = components[..n_components].join(".");
            let row = self.rows.get(&code).copied();
            CodeAbove { code, row }
        };
        let has_subchapters = self.level_names.get(1).is_some_and(|name| name == "Subchapter");
        CodePlace {
            code: code.to_owned(),
            level: components.len(),
            level_name: self.level_names.get(components.len() - 1).cloned(),
            is_prefix: code.ends_with('.'),
            chapter: above(1),
            subchapter: (has_subchapters && components.len() >= 2).then(|| above(2)),
        }
    }
}

impl CodePlace {
    /// Gives the same place in one of the two forms of its code.
    pub(crate) fn in_form(mut self, form: CodeForm) -> Self {
        self.code = form.write(&self.code);
        self.is_prefix = form == CodeForm::Prefix;
        self
    }

    /// Adds the fields of this place to a result's metadata.
    pub(crate) fn add_to(
        &self,
        metadata: &mut Map<String, Value>,
        name_of: impl Fn(usize) -> String,
    ) {
        let mut add = |key: &str, value: Value| {
            metadata.entry(key.to_owned()).or_insert(value);
        };
        add("code", self.code.clone().into());
        add("level", self.level.into());
        if let Some(level_name) = &self.level_name {
            add("levelName", level_name.clone().into());
        }
        add("codeKind", if self.is_prefix { "prefix" } else { "exact" }.into());
        let chapters = [(Some(&self.chapter), "chapter"), (self.subchapter.as_ref(), "subchapter")];
        for (above, kind) in chapters {
            let Some(above) = above else { continue };
            add(&format!("{kind}Code"), above.code.clone().into());
            if let Some(row) = above.row {
                add(&format!("{kind}Name"), name_of(row).into());
            }
        }
    }

    /// Gives the text for a place of a context template, if it speaks of codes.
    pub(crate) fn text(&self, place: &str, name_of: impl Fn(usize) -> String) -> Option<String> {
        // A subchapter is context only for what is under it.
        let subchapter = self.subchapter.as_ref().filter(|_| self.level > 2);
        match place {
            "code" => Some(self.code.clone()),
            "level" => Some(self.level.to_string()),
            "level_name" => self.level_name.clone(),
            "chapter_code" => Some(self.chapter.code.clone()),
            "chapter_name" => self.chapter.row.map(name_of),
            "subchapter_code" => subchapter.map(|above| above.code.clone()),
            "subchapter_name" => subchapter.and_then(|above| above.row).map(name_of),
            _ => None,
        }
    }
}

/// Places that [`CodePlace::text`] knows.
pub(crate) const CODE_PLACES: [&str; 7] = [
    "code",
    "level",
    "level_name",
    "chapter_code",
    "chapter_name",
    "subchapter_code",
    "subchapter_name",
];
