//! Candidates for a lookup, found by pg_trgm over unaccented names.

use std::time::Duration;

use lookup::canonical_code;

use crate::config::DimensionConfig;
use crate::dimension::Dimension;
use crate::postgres::{Database, Parameter, quoted};
use crate::source::Table;
use crate::{Error, Result};

/// Candidates that are scored.
const MAX_CANDIDATES: usize = 200;

/// Names below this similarity are no candidates.
const LEAST_SIMILARITY: f64 = 0.3;

/// How long a lookup may take in the database.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);

/// A dimension whose lookups start in PostgreSQL.
#[derive(Debug)]
pub(crate) struct Candidates {
    database: Database,
    config: DimensionConfig,
    columns: Vec<String>,
    /// The table, quoted.
    table: String,
}

impl Candidates {
    /// Opens the dimension and checks that the database has what it needs.
    ///
    /// Fails when it cannot be reached, or lacks the table, a column, or an extension.
    pub(crate) fn open(config: &DimensionConfig) -> Result<Self> {
        let (url, table) = config.source.rsplit_once('#').ok_or_else(|| Error::BadDimension {
            category: config.category.clone(),
            problem: "names no table: expected `postgres://…#TABLE`",
        })?;
        let candidates = Candidates {
            database: Database::open(url)?,
            columns: config.columns(),
            table: quoted(table),
            config: config.clone(),
        };
        candidates.find("a")?;
        Ok(candidates)
    }

    /// Counts the entries.
    pub(crate) fn count(&self) -> Result<usize> {
        let statement = format!("SELECT count(*)::text FROM {}", self.table);
        let rows = self.database.query(statement, Vec::new(), LOOKUP_LIMIT)?;
        let count = rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    /// Gives a small dimension of the rows that may match a query, and of the codes above them.
    pub(crate) fn find(&self, query: &str) -> Result<Dimension> {
        let folded = text::fold(query);
        let old = text::fold(&query.to_lowercase().replace('â', "î"));
        let code = canonical_code(query.split_whitespace().next_back().unwrap_or_default());
        let value = self.config.value.as_ref().or(self.config.code.as_ref());
        let value = quoted(value.map_or("", String::as_str));
        let mut names: Vec<&str> =
            self.config.name.pairs().into_iter().map(|(_, column)| column).collect();
        names.extend(self.config.aliases.as_deref());
        let likeness: Vec<String> = names
            .iter()
            .map(|name| {
                let name = format!("lower(unaccent(coalesce({}::text, '')))", quoted(name));
                format!(
                    "similarity({name}, $1), word_similarity($1, {name}), word_similarity($2, {name})"
                )
            })
            .collect();
        let mut statement = format!(
            "SELECT {} FROM (SELECT *, greatest({}) AS dowse_likeness FROM {}) AS dowse_rows \
             WHERE dowse_likeness >= {LEAST_SIMILARITY} OR {value}::text = $3",
            self.selected(),
            likeness.join(", "),
            self.table,
        );
        let mut parameters = vec![
            Parameter::Text(folded),
            Parameter::Text(old),
            Parameter::Text(query.trim().to_owned()),
        ];
        if let Some(column) = &self.config.code {
            let column = quoted(column);
            statement.push_str(&format!(
                " OR rtrim({column}::text, '.') = $4 OR {column}::text LIKE $4 || '.%' \
                 OR replace({column}::text, '.', '') = $4"
            ));
            parameters.push(Parameter::Text(escape_like(&code)));
        }
        statement
            .push_str(&format!(" ORDER BY dowse_likeness DESC, {value} LIMIT {MAX_CANDIDATES}"));
        let mut table = self.read(statement, parameters)?;
        self.add_codes_above(&mut table)?;
        Dimension::build(self.config.clone(), table, None)
    }

    /// Adds the chapters and subchapters that contexts and metadata name.
    fn add_codes_above(&self, table: &mut Table) -> Result<()> {
        let Some(column) = &self.config.code else { return Ok(()) };
        let Some(at) = table.column(column) else { return Ok(()) };
        let mut above: Vec<String> = Vec::new();
        for row in &table.rows {
            let code = canonical_code(&row[at]);
            let mut rest = code.as_str();
            while let Some((parent, _)) = rest.rsplit_once('.') {
                above.push(parent.to_owned());
                rest = parent;
            }
        }
        above.sort();
        above.dedup();
        if above.is_empty() {
            return Ok(());
        }
        let statement = format!(
            "SELECT {} FROM {} WHERE rtrim({}::text, '.') = ANY($1) LIMIT {MAX_CANDIDATES}",
            self.selected(),
            self.table,
            quoted(column)
        );
        let parents = self.read(statement, vec![Parameter::Texts(above)])?;
        for row in parents.rows {
            if !table.rows.contains(&row) {
                table.rows.push(row);
            }
        }
        Ok(())
    }

    fn selected(&self) -> String {
        let columns = self.columns.iter().map(|column| format!("{}::text", quoted(column)));
        columns.collect::<Vec<_>>().join(", ")
    }

    fn read(&self, statement: String, parameters: Vec<Parameter>) -> Result<Table> {
        let rows = self.database.query(statement, parameters, LOOKUP_LIMIT)?;
        let cells = |row: Vec<Option<String>>| {
            row.into_iter().map(|cell| cell.unwrap_or_default().trim().to_owned()).collect()
        };
        Ok(Table { columns: self.columns.clone(), rows: rows.into_iter().map(cells).collect() })
    }
}

fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
