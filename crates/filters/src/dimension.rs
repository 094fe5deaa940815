//! One dimension, loaded: its rows, its index, and how an entry is shown.

use std::collections::HashMap;
use std::sync::Arc;

use lookup::{
    Answer, Entry, EntryIdx, Index, Name, NameEmbedder, Request, canonical_code, is_same_language,
};
use model::Warning;
use serde_json::{Map, Value};

use crate::classification::{CODE_PLACES, Classification, CodeForm, CodePlace};
use crate::config::{DimensionConfig, FilterKeyConfig, PerLocale};
use crate::response::SearchResult;
use crate::source::Table;
use crate::template::{self, CellType};
use crate::{Error, Result};

/// Separates aliases in a cell.
const ALIAS_SEPARATORS: [char; 2] = [';', '|'];

/// The most aliases of one entry.
const MAX_ALIASES: usize = 200;

/// A dimension that can be searched. Never changes: a reload makes another.
#[derive(Debug)]
pub(crate) struct Dimension {
    pub(crate) config: DimensionConfig,
    pub(crate) index: Index,
    /// What was not perfect about the source.
    pub(crate) warnings: Vec<Warning>,
    table: Table,
    /// The row of each entry.
    rows: Vec<usize>,
    columns: Columns,
    cell_types: Vec<CellType>,
    classification: Option<Classification>,
}

/// Positions of the columns that the configuration names.
#[derive(Debug)]
struct Columns {
    value: usize,
    code: Option<usize>,
    names: Vec<(Option<String>, usize)>,
    aliases: Option<usize>,
    metadata: Vec<(String, usize)>,
}

impl Dimension {
    /// Builds the dimension from what was read.
    ///
    /// Fails when the configuration names a column that is not there. Rows without a value or a
    /// name are left out and counted in a warning.
    pub(crate) fn build(
        config: DimensionConfig,
        table: Table,
        name_embedder: Option<Arc<dyn NameEmbedder>>,
    ) -> Result<Self> {
        let columns = Columns::find(&config, &table)?;
        let cell_types = cell_types(&config, &table, &columns);
        let classification = columns.code.map(|code| {
            let codes = table.rows.iter().map(|row| row[code].as_str()).enumerate();
            Classification::new(config.level_names(), codes)
        });
        let mut dimension = Dimension {
            config,
            index: Index::default(),
            warnings: Vec::new(),
            table,
            rows: Vec::new(),
            columns,
            cell_types,
            classification,
        };
        let entries = dimension.entries();
        dimension.index = Index::build(entries);
        if let Some(name_embedder) = name_embedder
            && let Err(error) = dimension.index.add_vectors(name_embedder)
        {
            dimension.warnings.push(Warning::new("meaning_unavailable", error.to_string()));
        }
        Ok(dimension)
    }

    /// Tells whether another state of the dimension was built from the same rows.
    pub(crate) fn has_same_rows(&self, other: &Dimension) -> bool {
        self.table == other.table
    }

    /// Looks a text up.
    pub(crate) fn lookup(&self, request: &Request<'_>) -> Answer {
        self.index.lookup(request)
    }

    /// Gives the locales that have names of their own, the default first.
    pub(crate) fn locales(&self) -> Vec<&str> {
        self.columns.names.iter().filter_map(|(locale, _)| locale.as_deref()).collect()
    }

    /// Gives the name of an entry in a locale, or in the default one.
    pub(crate) fn name(&self, entry: EntryIdx, locale: Option<&str>) -> String {
        self.name_of_row(self.rows[entry.0 as usize], locale)
    }

    /// Gives the names of what can be asked of an entry: the fields of its metadata and the
    /// names of its values.
    pub(crate) fn properties(&self) -> Vec<String> {
        let mut names: Vec<String> = self.config.metadata.keys().cloned().collect();
        if self.config.code.is_some() {
            let of_codes = ["code", "level", "levelName", "codeKind", "chapterCode", "chapterName"];
            names.extend(of_codes.map(str::to_owned));
        }
        names.extend(self.locales().into_iter().map(|locale| format!("name_{locale}")));
        names.extend(["context", "filterKey", "filterValue"].map(str::to_owned));
        names
    }

    pub(crate) fn property(&self, entry: EntryIdx, property: &str) -> Option<Value> {
        if let Some(locale) = property.strip_prefix("name_") {
            return Some(self.name(entry, Some(locale)).into());
        }
        let shown = self.show(entry, None);
        match property {
            "context" => shown.context.map(Value::from),
            "filterKey" => Some(shown.filter_key.into()),
            "filterValue" => Some(shown.filter_value.into()),
            other => shown.metadata?.remove(other),
        }
    }

    /// Gives the forms in which an entry's code can be used, the one that a query means first;
    /// none where it has one form only.
    pub(crate) fn forms(
        &self,
        entry: EntryIdx,
        query: &str,
        is_code: bool,
    ) -> Option<[CodeForm; 2]> {
        let has_both_keys = matches!(self.config.filter_key, FilterKeyConfig::ByKind { .. });
        let code = self.index.entry(entry).code.as_deref()?;
        let classification = self.classification.as_ref().filter(|_| has_both_keys)?;
        let level = canonical_code(code).split('.').count();
        let first = CodeForm::first_for(query, is_code, level);
        classification.has_children(code).then(|| [first, first.other()])
    }

    /// Finds the entry of a value, in either form of a code.
    pub(crate) fn find_value(&self, value: &str) -> Option<EntryIdx> {
        self.index.find_value(value).or_else(|| {
            self.config.code.as_ref()?;
            let bare = value.trim_end_matches('.');
            self.index.find_value(bare).or_else(|| self.index.find_value(&format!("{bare}.")))
        })
    }

    /// Shows an entry as a result, without a score.
    pub(crate) fn show(&self, entry: EntryIdx, locale: Option<&str>) -> SearchResult {
        self.show_form(entry, locale, None)
    }

    /// Shows an entry in one of the forms of its code.
    pub(crate) fn show_form(
        &self,
        entry: EntryIdx,
        locale: Option<&str>,
        form: Option<CodeForm>,
    ) -> SearchResult {
        let row = self.rows[entry.0 as usize];
        let place = self.place(row).map(|place| match form {
            Some(form) => place.in_form(form),
            None => place,
        });
        let value = &self.index.entry(entry).value;
        let value = form.map_or_else(|| value.clone(), |form| form.write(value));
        SearchResult {
            name: self.name_of_row(row, locale),
            category: self.config.category.clone(),
            context: self.context(row, place.as_ref(), locale),
            score: model::Score::default(),
            filter_key: self.filter_key(&value).to_owned(),
            metadata: self.metadata(row, place.as_ref(), locale),
            filter_value: value,
            explanation: None,
        }
    }

    fn filter_key(&self, value: &str) -> &str {
        match &self.config.filter_key {
            FilterKeyConfig::One(key) => key,
            FilterKeyConfig::ByKind { prefix, .. } if value.ends_with('.') => prefix,
            FilterKeyConfig::ByKind { exact, .. } => exact,
        }
    }

    fn context(
        &self,
        row: usize,
        place: Option<&CodePlace>,
        locale: Option<&str>,
    ) -> Option<String> {
        template::fill(self.config.context_template(locale), |wanted| {
            let name_of = |row| self.name_of_row(row, locale);
            if let Some(text) = place.and_then(|place| place.text(wanted, name_of)) {
                return Some(text);
            }
            if wanted == "name" {
                return Some(self.name_of_row(row, locale));
            }
            let at = self.table.column(wanted)?;
            Some(template::cell_text(&self.table.rows[row][at], self.cell_types[at]))
        })
    }

    fn metadata(
        &self,
        row: usize,
        place: Option<&CodePlace>,
        locale: Option<&str>,
    ) -> Option<Map<String, Value>> {
        let mut metadata = Map::new();
        for (key, at) in &self.columns.metadata {
            if let Some(value) =
                template::cell_value(&self.table.rows[row][*at], self.cell_types[*at])
            {
                metadata.insert(key.clone(), value);
            }
        }
        if let Some(place) = place {
            place.add_to(&mut metadata, |row| self.name_of_row(row, locale));
        }
        (!metadata.is_empty()).then_some(metadata)
    }

    fn place(&self, row: usize) -> Option<CodePlace> {
        let classification = self.classification.as_ref()?;
        Some(classification.place(&self.table.rows[row][self.columns.code?]))
    }

    fn name_of_row(&self, row: usize, locale: Option<&str>) -> String {
        let cells = &self.table.rows[row];
        let wanted = self.columns.names.iter().find(|(of, _)| {
            let pair = of.as_deref().zip(locale);
            pair.is_some_and(|(of, locale)| is_same_language(of, locale))
        });
        let filled = |at: &usize| !cells[*at].is_empty();
        wanted
            .map(|(_, at)| at)
            .filter(|at| filled(at))
            .or_else(|| self.columns.names.iter().map(|(_, at)| at).find(|at| filled(at)))
            .map(|at| cells[*at].clone())
            .unwrap_or_default()
    }

    /// Makes one entry for each value: rows that repeat a value add their names to it.
    fn entries(&mut self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.table.rows.len());
        let mut by_value: HashMap<String, usize> = HashMap::new();
        let mut rows = Vec::with_capacity(self.table.rows.len());
        let (mut n_unusable, mut n_repeated) = (0, 0);
        for row in 0..self.table.rows.len() {
            let Some(entry) = self.entry(row) else {
                n_unusable += 1;
                continue;
            };
            if let Some(first) = by_value.get(&entry.value) {
                n_repeated += 1;
                let aliases = entry.names.into_iter().map(|name| name.text).chain(entry.aliases);
                let known = &mut entries[*first];
                aliases.take(MAX_ALIASES - known.aliases.len().min(MAX_ALIASES)).for_each(
                    |alias| {
                        if known.names.iter().all(|name| name.text != alias) {
                            known.aliases.push(alias);
                        }
                    },
                );
                continue;
            }
            by_value.insert(entry.value.clone(), entries.len());
            entries.push(entry);
            rows.push(row);
        }
        self.rows = rows;
        self.warn_of_rows(n_unusable, n_repeated);
        entries
    }

    fn entry(&self, row: usize) -> Option<Entry> {
        let cells = &self.table.rows[row];
        let value = cells[self.columns.value].clone();
        let names: Vec<Name> = self
            .columns
            .names
            .iter()
            .filter(|(_, at)| !cells[*at].is_empty())
            .map(|(locale, at)| Name { locale: locale.clone(), text: cells[*at].clone() })
            .collect();
        if value.is_empty() || names.is_empty() {
            return None;
        }
        let aliases = self.columns.aliases.map_or("", |at| cells[at].as_str());
        let aliases = aliases
            .split(ALIAS_SEPARATORS)
            .map(str::trim)
            .filter(|alias| !alias.is_empty())
            .take(MAX_ALIASES)
            .map(str::to_owned)
            .collect();
        let place = self.place(row);
        let traits = self
            .context(row, place.as_ref(), None)
            .into_iter()
            .chain(place.and_then(|place| place.level_name))
            .chain(self.columns.metadata.iter().map(|(_, at)| cells[*at].clone()))
            .collect();
        let code = self.columns.code.map(|at| cells[at].clone()).filter(|code| !code.is_empty());
        Some(Entry { value, code, names, aliases, traits })
    }

    fn warn_of_rows(&mut self, n_unusable: usize, n_repeated: usize) {
        let category = &self.config.category;
        if n_unusable > 0 {
            let (rows, lack) =
                if n_unusable == 1 { ("row", "it lacks") } else { ("rows", "they lack") };
            let message = format!(
                "{n_unusable} {rows} of dimension `{category}` could not be used: {lack} a value or \
                 a name"
            );
            self.warnings.push(Warning::new("rows_skipped", message));
        }
        if n_repeated > 0 {
            let rows = if n_repeated == 1 { "row repeats" } else { "rows repeat" };
            let message = format!(
                "{n_repeated} {rows} a value of dimension `{category}`: other names became aliases \
                 of the first"
            );
            self.warnings.push(Warning::new("rows_merged", message));
        }
    }
}

impl Columns {
    fn find(config: &DimensionConfig, table: &Table) -> Result<Self> {
        let column = |name: &str| {
            table.column(name).ok_or_else(|| Error::MissingColumn {
                category: config.category.clone(),
                column: name.to_owned(),
                origin: config.source.clone(),
                available: table.columns.clone(),
            })
        };
        let value = config.value.as_ref().or(config.code.as_ref());
        let value = value.ok_or_else(|| Error::BadDimension {
            category: config.category.clone(),
            problem: "names neither a `value` nor a `code` column",
        })?;
        let names = config
            .name
            .pairs()
            .into_iter()
            .map(|(locale, name)| Ok((locale.map(str::to_owned), column(name)?)));
        for template in config.context.iter().flat_map(PerLocale::pairs) {
            for place in template::places(template.1) {
                let is_of_codes = config.code.is_some() && CODE_PLACES.contains(&place);
                if !is_of_codes && place != "name" {
                    column(place)?;
                }
            }
        }
        Ok(Columns {
            value: column(value)?,
            code: config.code.as_deref().map(column).transpose()?,
            names: names.collect::<Result<_>>()?,
            aliases: config.aliases.as_deref().map(column).transpose()?,
            metadata: config
                .metadata
                .iter()
                .map(|(key, name)| Ok((key.clone(), column(name)?)))
                .collect::<Result<_>>()?,
        })
    }
}

/// The value and code columns stay text, and so does what metadata calls an id.
fn cell_types(config: &DimensionConfig, table: &Table, columns: &Columns) -> Vec<CellType> {
    (0..table.columns.len())
        .map(|at| {
            if at == columns.value || Some(at) == columns.code {
                return CellType::Text;
            }
            let cells = table.rows.iter().map(|row| row[at].as_str());
            let by_column = template::cell_type(&table.columns[at], cells.clone());
            let keys = config.metadata.iter().filter(|(_, name)| **name == table.columns[at]);
            keys.map(|(key, _)| template::cell_type(key, cells.clone()))
                .find(|by_key| *by_key == CellType::Text)
                .unwrap_or(by_column)
        })
        .collect()
}
