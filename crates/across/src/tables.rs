//! Tables as a source: what they are about, and the texts inside them.

use std::time::{Duration, Instant};

use model::{Around, Caller, Deadline, Warning};
use retrieve::StageTiming;
use serde_json::json;
use tables::{MAX_FOUND_VALUES, Rows, Schema, Service, ValueMatch, to_markdown};

use crate::words::Words;
use crate::{Error, Explanation, Fetched, Hit, Part, Result, Source, SourceHits, Stretch};

/// Words of a question that are looked for in cells.
const MAX_SOUGHT_WORDS: usize = 6;

/// What a word of a table's name or of its fields is worth beside one that is not.
const NAME_WORTH: f64 = 0.5;

/// How long the tables may take together; one that is slow must not hold up the other families.
const TABLES_WAIT: Duration = Duration::from_secs(3);

/// How long the rows of a thing may take.
const FETCH_WAIT: Duration = Duration::from_secs(10);

/// Rows of a thing that one answer gives; `next` goes on behind them.
const MAX_ROWS: usize = 50;

/// What is said behind a row that alone is longer than an answer.
const ROW_CUT: &str = "… (this row is longer than one answer: `query_table` with `columns` gives \
                       its cells one by one)";

/// Values that are compared with what an id names.
const MAX_COMPARED: usize = 1_000_000;

/// Characters of a value that a result shows.
const SHOWN_CHARS: usize = 500;

/// Splits the parts of a key.
const BETWEEN: char = '\u{1f}';

/// The tables of a server.
pub struct Tables(Service);

impl Tables {
    /// Searches the tables of a service.
    pub fn new(service: Service) -> Self {
        Tables(service)
    }

    /// Finds values in a table, and tells whether some column has more of them.
    fn search_table(
        &self,
        caller: &Caller,
        schema: &Schema,
        words: &Words,
        deadline: &Deadline,
    ) -> tables::Result<(Vec<Hit>, bool)> {
        let about = about(schema);
        let mut hits = vec![];
        let is_name = words.are_in(&about);
        // Names of tables and fields are common words: they say less than what was written.
        let even: Vec<f64> = is_name.iter().map(|is| if *is { NAME_WORTH } else { 1.0 }).collect();
        let of_table = words.fit(&even, &about);
        if !of_table.found.is_empty() {
            hits.push(Hit {
                thing: schema.name.clone(),
                position: 0,
                title: schema.name.clone(),
                snippet: about.clone(),
                around: Around::default(),
                pointer: None,
                score: of_table.score,
                explanation: Some(Explanation::Cells {
                    matched: of_table.found,
                    coverage: of_table.coverage,
                    rows: None,
                }),
                chance: None,
                same: vec![],
                no_text: None,
            });
        }
        let sought = words.longest(MAX_SOUGHT_WORDS);
        let roots: Vec<String> = sought.iter().map(|(_, root)| root.clone()).collect();
        let found = self.0.find_text(caller, &schema.name, &roots, deadline)?;
        let n_rows = found.n_rows as f64;
        // What a word is worth, as in a search over passages: the rarer, the more.
        let mut worth = vec![(1.0 + (n_rows + 0.5) / 0.5).ln(); words.len()];
        for ((word_idx, _), n_with) in sought.iter().zip(&found.n_rows_with) {
            let n_with = *n_with as f64;
            worth[*word_idx] = (1.0 + (n_rows - n_with + 0.5).max(0.0) / (n_with + 0.5)).ln();
        }
        // Every row has the names of the table and its fields. No cell may have them, and they would
        // be worth more than a rare word of a cell.
        let everywhere = (1.0 + 0.5 / (n_rows + 0.5)).ln();
        for (worth, is_name) in worth.iter_mut().zip(&is_name) {
            if *is_name {
                *worth = everywhere;
            }
        }
        let mut is_cut = false;
        for field in schema.column_names() {
            let n_values = found.values.iter().filter(|value| value.field == field).count();
            is_cut |= n_values >= MAX_FOUND_VALUES;
        }
        for value in found.values {
            let own = words.fit(&worth, &value.value);
            if own.found.is_empty() {
                continue;
            }
            let ValueMatch { field, value, n_rows } = value;
            // The table and the field are to a value what a title is to a passage.
            let fit = words.fit(&worth, &format!("{value}\n{field} {about}"));
            let shown: String = value.chars().take(SHOWN_CHARS).collect();
            hits.push(Hit {
                thing: format!("{}{BETWEEN}{field}", schema.name),
                position: mark_of(&value),
                title: format!("{}: {field}", schema.name),
                snippet: format!(
                    "{field}: {shown} ({n_rows} {})",
                    if n_rows == 1 { "row" } else { "rows" }
                ),
                around: Around::default(),
                pointer: Some(format!("{}.{field}", schema.name)),
                score: fit.score,
                explanation: Some(Explanation::Cells {
                    matched: fit.found,
                    coverage: fit.coverage,
                    rows: Some(n_rows),
                }),
                chance: None,
                same: vec![],
                no_text: None,
            });
        }
        Ok((hits, is_cut))
    }
}

impl Source for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        let words = Words::of(query);
        let mut found = SourceHits::default();
        if words.is_empty() {
            return found;
        }
        let deadline = deadline.part(1.0, TABLES_WAIT);
        let (schemas, begun) = (self.0.schemas(caller), Instant::now());
        let has_tables = !schemas.is_empty();
        for schema in schemas {
            match self.search_table(caller, schema, &words, &deadline) {
                Ok((hits, is_cut)) => {
                    found.hits.extend(hits);
                    found.others_by = found.others_by.or(is_cut.then_some("query_table"));
                }
                Err(error) => {
                    let message = format!("table `{}` was not searched: {error}", schema.name);
                    found.warnings.push(Warning::new("table_skipped", message));
                }
            }
        }
        found.timings.extend(has_tables.then(|| StageTiming::since("cells", begun)));
        found.hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        found.hits.truncate(limit);
        found
    }

    fn letter(&self) -> char {
        't'
    }

    fn key(&self, thing: &str, position: u32) -> String {
        // A thing without a field is the table itself.
        if thing.contains(BETWEEN) {
            format!("{thing}{BETWEEN}{position:08x}{BETWEEN}")
        } else {
            thing.to_owned()
        }
    }

    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        for schema in self.0.schemas(caller) {
            if is_it(&schema.name) {
                return Ok(Some(schema.name.clone()));
            }
            for field in schema.column_names() {
                let thing = format!("{}{BETWEEN}{field}", schema.name);
                if is_it(&thing) {
                    return Ok(Some(thing));
                }
            }
        }
        Ok(None)
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        let mut parts = key.split(BETWEEN);
        let table = parts.next().unwrap_or_default();
        let Some(schema) = self.0.schemas(caller).into_iter().find(|schema| schema.name == table)
        else {
            return Ok(None);
        };
        let failed =
            |error: tables::Error| Error::Failed { source_name: "tables", cause: Box::new(error) };
        let deadline = Deadline::after(FETCH_WAIT);
        let start = part.offset.unwrap_or(0);
        let places = start..start.saturating_add(MAX_ROWS);
        let (title, rows) = match (parts.next(), parts.next(), parts.next()) {
            (None, _, _) => {
                let rows = self.0.some_rows(caller, table, places, &deadline).map_err(failed)?;
                (table.to_owned(), rows)
            }
            (Some(field), Some(mark), Some(words)) => {
                if !schema.column_names().iter().any(|name| name == field) {
                    return Ok(None);
                }
                let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
                let values = self
                    .0
                    .values_with(caller, table, field, &words, MAX_COMPARED, &deadline)
                    .map_err(failed)?;
                let Some(found) = values
                    .into_iter()
                    .find(|found| format!("{:08x}", mark_of(&found.value)) == mark)
                else {
                    return Ok(None);
                };
                let rows =
                    self.0.rows_with(caller, table, &found, places, &deadline).map_err(failed)?;
                (format!("{table}: {field}"), rows)
            }
            _ => return Ok(None),
        };
        let head = if start == 0 { format!("{}\n\n", about(schema)) } else { String::new() };
        let (text, n_shown) = rows_within(&head, &rows, part.max_chars);
        let total = usize::try_from(rows.total).unwrap_or(usize::MAX);
        let start = start.min(total);
        Ok(Some(Fetched {
            title,
            text,
            around: Around::default(),
            span: Some(Stretch { start, end: start + n_shown, total }),
            metadata: json!({
                "table": table,
                "total_rows": rows.total,
                "shown_rows": n_shown,
                "truncated": n_shown < total,
            }),
        }))
    }

    fn has_many_places(&self) -> bool {
        true
    }
}

/// Writes as many rows as fit, at least one, and counts them.
fn rows_within(head: &str, rows: &Rows, max_chars: usize) -> (String, usize) {
    let mut n_shown = rows.rows.len();
    loop {
        let shown = rows.rows.get(..n_shown).unwrap_or_default();
        let text = format!("{head}{}", to_markdown(&rows.columns, shown));
        let n_chars = text.chars().count();
        if n_chars <= max_chars {
            return (text, n_shown);
        }
        if n_shown <= 1 {
            let kept: String = text.chars().take(max_chars).collect();
            return (format!("{kept}{ROW_CUT}"), n_shown);
        }
        n_shown = (n_shown * max_chars / n_chars).clamp(1, n_shown - 1);
    }
}

/// Says what a table is about: its name, its description and its fields.
fn about(schema: &Schema) -> String {
    let mut about = schema.name.clone();
    if let Some(description) = &schema.description {
        about.push_str(&format!(": {description}"));
    }
    about.push_str(&format!("\nfields: {}", schema.column_names().join(", ")));
    about
}

/// Tells values of one column apart: 32 bits of FNV-1a, which are the same in every version.
fn mark_of(value: &str) -> u32 {
    value
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
