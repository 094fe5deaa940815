//! What files must be like: kinds that are wanted, kinds that are not, and years.

use store::Filter;
use text::QueryFilters;

use crate::SearchRequest;
use crate::index::attribute;
use crate::walk::normal_ext;
use crate::years::spelled_out;

/// What files must be like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filters {
    /// One of these, unless there are none.
    pub(crate) exts: Vec<String>,
    /// None of these.
    pub(crate) without_exts: Vec<String>,
    pub(crate) years: Vec<String>,
}

/// Is before an extension that is not wanted.
pub(crate) const WITHOUT: char = '-';

impl Filters {
    /// Takes what was given as arguments, and else what the query says.
    pub(crate) fn of(request: &SearchRequest, said: &QueryFilters) -> Filters {
        let mut filters = Filters::of_query(said);
        if let Some(exts) = &request.exts {
            let (without, exts): (Vec<&str>, Vec<&str>) =
                exts.iter().map(|ext| ext.trim()).partition(|ext| ext.starts_with(WITHOUT));
            filters.exts = widened(&exts);
            let without: Vec<&str> =
                without.iter().map(|ext| ext.trim_start_matches(WITHOUT)).collect();
            filters.without_exts = widened(&without);
        }
        if let Some(years) = &request.years {
            filters.years = spelled_out(years);
        }
        filters
    }

    /// Takes the filters that a query names.
    pub(crate) fn of_query(said: &QueryFilters) -> Filters {
        let normal = |exts: &[String]| exts.iter().map(|ext| normal_ext(ext)).collect();
        Filters {
            exts: normal(&said.extensions),
            without_exts: normal(&said.without_extensions),
            years: said.years.iter().map(i32::to_string).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_exts() && self.years.is_empty()
    }

    /// Tells whether the kind of a file matters.
    pub(crate) fn has_exts(&self) -> bool {
        !self.exts.is_empty() || !self.without_exts.is_empty()
    }

    /// Gives the same whatever the kind of a file is.
    pub(crate) fn of_any_kind(&self) -> Filters {
        Filters { years: self.years.clone(), ..Filters::default() }
    }

    /// Writes the extensions as an argument takes them.
    pub(crate) fn shown_exts(&self) -> Vec<String> {
        let without = self.without_exts.iter().map(|ext| format!("{WITHOUT}{ext}"));
        self.exts.iter().cloned().chain(without).collect()
    }

    /// Gives what the index must hold of a file.
    pub(crate) fn conditions(&self) -> Vec<Filter> {
        let mut conditions = Vec::new();
        if !self.exts.is_empty() {
            conditions.push(Filter::any_of(attribute::EXT, self.exts.clone()));
        }
        if !self.without_exts.is_empty() {
            let unwanted = Filter::any_of(attribute::EXT, self.without_exts.clone());
            conditions.push(Filter::Not(Box::new(unwanted)));
        }
        if !self.years.is_empty() {
            conditions.push(Filter::any_of(attribute::YEARS, self.years.clone()));
        }
        conditions
    }
}

/// `ppt` means `.ppt` and `.pptx`, and so for the other old office formats; `markdown` means `.md`.
fn widened(exts: &[&str]) -> Vec<String> {
    let mut wide = Vec::new();
    for ext in exts {
        let named = text::extensions_named(ext);
        if !named.is_empty() {
            wide.extend(named.iter().map(|ext| normal_ext(ext)));
            continue;
        }
        let ext = normal_ext(ext);
        if [".ppt", ".doc", ".xls"].contains(&ext.as_str()) {
            wide.push(format!("{ext}x"));
        }
        wide.push(ext);
    }
    wide.sort();
    wide.dedup();
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*.md` and `markdown` were extensions that no file has.
    #[test]
    fn extensions_are_understood_as_people_name_them() {
        assert_eq!(widened(&["*.md", "Markdown", ".MD"]), [".md"]);
        assert_eq!(widened(&["excel", "ppt"]), [".ppt", ".pptx", ".xls", ".xlsx"]);
        assert_eq!(widened(&["rs"]), [".rs"]);
    }
}
