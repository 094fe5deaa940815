//! Candidates for a lookup, found by pg_trgm over unaccented names.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use lookup::{Request, canonical_code};

use crate::config::DimensionConfig;
use crate::dimension::Dimension;
use crate::postgres::database::{Failure, Rows};
use crate::postgres::{Database, Parameter, quoted};
use crate::source::Table;
use crate::{Error, Result};

/// Candidates that are scored.
const MAX_CANDIDATES: usize = 200;

/// How alike a part of a name must be for the trigram index to give it, at first and where that
/// gives nothing sure. Of a million names a tenth are a little like `Școala Gimnazială …`: comparing
/// them takes seconds, and those that are much like it some milliseconds.
const NEAR: f32 = 0.6;
const FAR: f32 = 0.45;

/// The same for a word with a slip: one wrong letter of five leaves half of its trigrams, two
/// letters that changed places a third.
const SLIPPED: f32 = 0.3;

/// The same for a word of up to [`SHORT_CHARS`] letters, where nothing else was found: one wrong
/// letter of four leaves a fifth of its trigrams next to each other.
const SHORT: f32 = 0.19;
const SHORT_CHARS: usize = 4;

/// The score from which on a name is what was meant, so that names further away are not asked for.
const SURE: f64 = 0.85;

/// The score from which on words are not looked for with a slip in them.
const WORTH_A_LOOK: f64 = 0.7;

/// The most words of a query that are looked for one by one.
const MAX_WORDS: usize = 6;

/// The names that each of them may give.
const NAMES_OF_A_WORD: usize = 100;

/// The longest word of which every two neighbours are also tried the other way round: in longer
/// ones enough trigrams are left.
const SWAPPED_CHARS: usize = 7;

/// How long a lookup may take in the database.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);

/// How long words with a slip may be looked for, of which a large register has many.
const SLIPPED_LIMIT: Duration = Duration::from_secs(1);

/// What is looked up to see whether the database has what lookups need. Few names hold anything
/// like it: one letter alone is like a tenth of a million names, and took seconds at each start.
const PROBE: &str = "zqxjv";

/// A dimension whose lookups start in PostgreSQL.
#[derive(Debug)]
pub(crate) struct Candidates {
    database: Database,
    config: DimensionConfig,
    columns: Vec<String>,
    /// The table, quoted.
    table: String,
    /// Expressions over names that a trigram index of the database covers, as it writes them; names
    /// without case and accents where there is none.
    searched: Vec<String>,
    /// Whether a trigram index covers them.
    has_index: bool,
    /// Whether the column of values holds text, so that an index on it can be used.
    has_text_values: bool,
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
        let mut candidates = Candidates {
            database: Database::open(url)?,
            columns: config.columns(),
            table: quoted(table),
            config: config.clone(),
            searched: Vec::new(),
            has_index: true,
            has_text_values: false,
        };
        candidates.inspect()?;
        candidates.find(PROBE)?;
        Ok(candidates)
    }

    /// Learns which trigram indexes the table has, and of which type its values are.
    fn inspect(&mut self) -> Result<()> {
        let table = vec![Parameter::Text(self.table.clone())];
        let statement = "SELECT pg_get_indexdef(i.indexrelid, k.n, false) FROM pg_index i \
             CROSS JOIN LATERAL generate_series(1, i.indnkeyatts::int) AS k(n) \
             JOIN pg_opclass o ON o.oid = i.indclass[k.n - 1] \
             WHERE i.indrelid = to_regclass($1::text) AND i.indisvalid AND i.indpred IS NULL \
             AND o.opcname IN ('gin_trgm_ops', 'gist_trgm_ops')";
        let rows = self.database.query(statement, &table, LOOKUP_LIMIT)?;
        let names = self.name_columns();
        self.searched = rows
            .into_iter()
            .filter_map(|row| row.into_iter().next().flatten())
            .filter(|expression| names.iter().any(|name| expression.contains(name.as_str())))
            .collect();
        self.has_index = !self.searched.is_empty();
        if !self.has_index {
            let names = names.iter().map(|name| quoted(name));
            let folded = names.map(|name| format!("lower(unaccent(coalesce({name}::text, '')))"));
            self.searched = folded.collect();
            tracing::warn!(
                category = self.config.category,
                "no trigram index on the names, so each lookup reads the whole table"
            );
        }
        let statement = "SELECT t.typname::text FROM pg_attribute a \
             JOIN pg_type t ON t.oid = a.atttypid \
             WHERE a.attrelid = to_regclass($1::text) AND a.attname = $2::text";
        let value = self.config.value.as_ref().or(self.config.code.as_ref());
        let mut parameters = table;
        parameters.push(Parameter::Text(value.cloned().unwrap_or_default()));
        let rows = self.database.query(statement, &parameters, LOOKUP_LIMIT)?;
        let kind = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        self.has_text_values = kind.is_some_and(|kind| matches!(kind.as_str(), "text" | "varchar"));
        Ok(())
    }

    /// The columns that hold names and aliases.
    fn name_columns(&self) -> Vec<String> {
        let pairs = self.config.name.pairs();
        let mut names: Vec<String> =
            pairs.into_iter().map(|(_, column)| column.to_owned()).collect();
        names.extend(self.config.aliases.clone());
        names
    }

    /// Writes the rows whose names hold something like the query, and the one with this value.
    fn rows_like(&self, query: &str, variants: &[String], value: &str) -> Statement {
        let mut parameters: Vec<Parameter> =
            variants.iter().map(|variant| Parameter::Text(variant.clone())).collect();
        let places: Vec<String> =
            (1..=variants.len()).map(|place| format!("${place}::text")).collect();
        let each = |write: &dyn Fn(&str, &str) -> String| -> Vec<String> {
            self.searched
                .iter()
                .flat_map(|expression| places.iter().map(|place| write(place, expression)))
                .collect()
        };
        let tests = each(&|place, expression| format!("{place} <% ({expression})"));
        let likeness = each(&|place, expression| {
            format!("word_similarity({place}, ({expression})), similarity(({expression}), {place})")
        });
        parameters.push(Parameter::Text(query.trim().to_owned()));
        let place = parameters.len();
        let is_value = if self.has_text_values {
            format!("{value} = ${place}::text")
        } else {
            format!("{value}::text = ${place}::text")
        };
        let is_number = query.trim().bytes().all(|byte| byte.is_ascii_digit());
        // Comparing text with the values of another type reads the whole table, so it is only
        // done for what may be a value, and where all of it is read anyway.
        let may_be_value = self.has_text_values || is_number || !self.has_index;
        let by_value = if may_be_value && !query.trim().is_empty() {
            format!(" UNION ALL (SELECT *, 1::real FROM {} WHERE {is_value} LIMIT 20)", self.table)
        } else {
            format!(
                " UNION ALL (SELECT *, 1::real FROM {} WHERE ${place}::text IS NULL LIMIT 0)",
                self.table
            )
        };
        let sql = format!(
            "(SELECT *, greatest({})::real AS dowse_likeness FROM {} WHERE {} \
             ORDER BY dowse_likeness DESC LIMIT {MAX_CANDIDATES}){by_value}",
            likeness.join(", "),
            self.table,
            tests.join(" OR "),
        );
        Statement { sql, parameters }
    }

    /// Counts the entries.
    pub(crate) fn count(&self) -> Result<usize> {
        let statement = format!("SELECT count(*)::text FROM {}", self.table);
        let rows = self.database.query(&statement, &[], LOOKUP_LIMIT)?;
        let count = rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    /// Gives a small dimension of the rows that may match a query, and of the codes above them.
    pub(crate) fn find(&self, query: &str) -> Result<Dimension> {
        let code = canonical_code(query.split_whitespace().next_back().unwrap_or_default());
        let value = self.config.value.as_ref().or(self.config.code.as_ref());
        let value = quoted(value.map_or("", String::as_str));
        let old = text::fold(&query.to_lowercase().replace('â', "î"));
        let mut variants = vec![text::fold(query), old, query.trim().to_lowercase()];
        variants.sort();
        variants.dedup();
        let Statement { sql, mut parameters } = self.rows_like(query, &variants, &value);
        let mut statement = format!("SELECT {} FROM ({sql}", self.selected());
        let may_be_code = code.bytes().any(|byte| byte.is_ascii_digit());
        if let Some(column) = self.config.code.as_ref().filter(|_| may_be_code) {
            let column = quoted(column);
            parameters.push(Parameter::Text(escape_like(&code)));
            let place = parameters.len();
            statement.push_str(&format!(
                " UNION ALL (SELECT *, 1::real FROM {} WHERE rtrim({column}::text, '.') = ${place} \
                 OR {column}::text LIKE ${place} || '.%' \
                 OR replace({column}::text, '.', '') = ${place} LIMIT {MAX_CANDIDATES})",
                self.table
            ));
        }
        statement.push_str(") AS dowse_rows ORDER BY dowse_likeness DESC");
        let began = Instant::now();
        let left = || LOOKUP_LIMIT.saturating_sub(began.elapsed());
        let near = self.alike(NEAR, &statement, &parameters, LOOKUP_LIMIT)?;
        let mut found = self.built(near.clone())?;
        let mut best = Best::of(&found, query);
        if best.score >= SURE && !best.is_misspelt {
            return Ok(found);
        }
        // A word beside the name, such as where it lies, makes the whole query unlike it.
        let words = plain_words(query);
        let by_word = self.word_rows(&words);
        let far = self.alike(FAR, &statement, &parameters, left());
        let far = far.and_then(|mut far| {
            if words.len() > 1 {
                far.extend(self.alike(FAR, &by_word.sql, &by_word.parameters, left())?);
            }
            Ok(far)
        });
        let mut all = near;
        match far {
            // What was found in time is better than nothing.
            Err(Error::Database { source: Failure::TimedOut, .. }) if best.score > 0.0 => {
                return Ok(found);
            }
            answered => all.extend(answered?),
        }
        found = self.built(all.clone())?;
        best = Best::of(&found, query);
        let is_enough = best.score >= WORTH_A_LOOK && !best.is_misspelt;
        if is_enough || words.is_empty() {
            return Ok(found);
        }
        let short = words.iter().filter(|word| word.chars().count() <= SHORT_CHARS);
        let short: Vec<String> = short.cloned().collect();
        for (likeness, words) in [(SLIPPED, with_swaps(&words)), (SHORT, short)] {
            let is_asked = likeness == SLIPPED || Best::of(&found, query).score == 0.0;
            if words.is_empty() || !is_asked {
                break;
            }
            let slipped = self.word_rows(&words);
            let limit = left().min(SLIPPED_LIMIT);
            match self.alike(likeness, &slipped.sql, &slipped.parameters, limit) {
                Err(Error::Database { source: Failure::TimedOut, .. }) => break,
                answered => all.extend(answered?),
            }
            found = self.built(all.clone())?;
        }
        Ok(found)
    }

    /// Writes the rows whose names hold something like one of these words, for each word the names
    /// that are most like it alone.
    fn word_rows(&self, words: &[String]) -> Statement {
        let selects = (1..=words.len()).flat_map(|place| {
            self.searched.iter().map(move |expression| {
                format!(
                    "(SELECT *, similarity(({expression}), ${place}::text) AS dowse_likeness \
                     FROM {} WHERE ${place}::text <% ({expression}) \
                     ORDER BY dowse_likeness DESC LIMIT {NAMES_OF_A_WORD})",
                    self.table
                )
            })
        });
        let selects: Vec<String> = selects.collect();
        let sql = format!(
            "SELECT {} FROM ({}) AS dowse_rows ORDER BY dowse_likeness DESC",
            self.selected(),
            selects.join(" UNION ALL ")
        );
        Statement { sql, parameters: words.iter().cloned().map(Parameter::Text).collect() }
    }

    /// Gives the rows of which a part is so much like the query.
    fn alike(
        &self,
        likeness: f32,
        statement: &str,
        parameters: &[Parameter],
        limit: Duration,
    ) -> Result<Vec<Vec<String>>> {
        let setting = format!("SET pg_trgm.word_similarity_threshold = {likeness}");
        let rows = self.database.query_with(&setting, statement, parameters, limit)?;
        Ok(self.table(rows).rows)
    }

    /// Makes a small dimension of rows, each of which is in it once.
    fn built(&self, mut rows: Vec<Vec<String>>) -> Result<Dimension> {
        let mut seen = HashSet::new();
        rows.retain(|row| seen.insert(row.clone()));
        let mut table = Table { columns: self.columns.clone(), rows };
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
        let parents = self.read(&statement, &[Parameter::Texts(above)])?;
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

    fn read(&self, statement: &str, parameters: &[Parameter]) -> Result<Table> {
        Ok(self.table(self.database.query(statement, parameters, LOOKUP_LIMIT)?))
    }

    fn table(&self, rows: Rows) -> Table {
        let cells = |row: Vec<Option<String>>| {
            row.into_iter().map(|cell| cell.unwrap_or_default().trim().to_owned()).collect()
        };
        Table { columns: self.columns.clone(), rows: rows.into_iter().map(cells).collect() }
    }
}

/// SQL text and its parameters in order.
struct Statement {
    sql: String,
    parameters: Vec<Parameter>,
}

/// The best match of a query so far.
struct Best {
    score: f64,
    /// Whether a slip leads to it: the name that is meant may be further away for the database,
    /// to which two neighbours the other way round are a larger difference than one letter.
    is_misspelt: bool,
}

impl Best {
    fn of(dimension: &Dimension, query: &str) -> Self {
        let request = Request { text: query, locale: None, hint: None, limit: 1 };
        let first = dimension.lookup(&request).matches.into_iter().next();
        first.map_or(Best { score: 0.0, is_misspelt: false }, |found| Best {
            score: found.score.get(),
            is_misspelt: found.is_misspelt,
        })
    }
}

/// The longest words of a query that say something, as they are written and without their accents.
fn plain_words(query: &str) -> Vec<String> {
    let mut words = lookup::plain_words(query);
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.truncate(MAX_WORDS);
    let folded: Vec<String> = words.iter().map(|word| text::fold(word)).collect();
    words.extend(folded);
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words
}

/// Adds to short words what they are with two neighbours the other way round.
fn with_swaps(words: &[String]) -> Vec<String> {
    let mut all = words.to_vec();
    for word in words {
        let letters: Vec<char> = word.chars().collect();
        if letters.len() <= SWAPPED_CHARS {
            for at in 1..letters.len() {
                let mut swapped = letters.clone();
                swapped.swap(at - 1, at);
                all.push(swapped.into_iter().collect());
            }
        }
    }
    all
}

fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
