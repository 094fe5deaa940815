//! Relations of the configuration: which columns of other tables the rows of a table have.
//!
//! A relation shows what the administrator named and nothing else: a hidden field of the other
//! table cannot be looked up, nor one of a table that not everybody who uses this one may use.

use columns::{ColumnSpec, Lookup, TableSpec};

use crate::config::{Field, FieldType, RelationConfig, TableConfig};
use crate::schema::{column_spec, kind, leaf};
use crate::secret::is_secret;
use crate::{Error, Result};

/// The most relations of one table.
pub const MAX_RELATIONS: usize = 16;

/// What relations add to a table.
#[derive(Debug, Default)]
pub(crate) struct Related {
    /// Fields for agents, as the other tables describe them.
    pub(crate) fields: Vec<(String, Field)>,
    /// Those of them that are secret where they come from.
    pub(crate) secrets: Vec<String>,
    /// Keys that are hidden, which the engine reads and nobody else.
    pub(crate) hidden_keys: Vec<ColumnSpec>,
    /// What the engine looks up.
    pub(crate) lookups: Vec<Lookup>,
}

/// Reads the relations of a table, among all that are configured.
///
/// Fails when one names what does not exist, is hidden, has another type or another audience.
pub(crate) fn related(config: &TableConfig, tables: &[TableConfig]) -> Result<Related> {
    let mut related = Related::default();
    if config.relations.len() > MAX_RELATIONS {
        let problem = format!(
            "{} relations are more than the {MAX_RELATIONS} that a table may have",
            config.relations.len()
        );
        return Err(wrong(config, "relations", problem));
    }
    for relation in &config.relations {
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let other = tables.iter().find(|table| table.name == relation.table).ok_or_else(|| {
            let table = &relation.table;
            let problem = format!("no table `{table}` is configured: there are {}", listed(&names));
            wrong(config, "relations.table", problem)
        })?;
        if !other.allow.is_everyone() && other.allow != config.allow {
            let problem = format!(
                "`{}` has another `allow` than this table, so that its columns would be shown to \
                 others than may use it: give both the same `allow`",
                other.name
            );
            return Err(wrong(config, "relations.table", problem));
        }
        let on = field(config, config, &relation.on, "relations.on")?;
        let key = field(config, other, &relation.key, "relations.key")?;
        let kinds = (kind(leaf(on).field_type), kind(leaf(key).field_type));
        if kinds.0 != kinds.1 {
            let problem = format!(
                "`{}` holds {} and `{}` of `{}` holds {}: a key must have one type on both sides",
                relation.on,
                kinds.0.as_str(),
                relation.key,
                other.name,
                kinds.1.as_str()
            );
            return Err(wrong(config, "relations.on", problem));
        }
        let known = related.hidden_keys.iter().any(|known| known.name == relation.on);
        if on.hidden && !known {
            related.hidden_keys.push(column_spec(&relation.on, on));
        }
        let lookup = lookup(config, other, relation, (on, key), &mut related)?;
        related.lookups.push(lookup);
    }
    Ok(related)
}

fn lookup(
    config: &TableConfig,
    other: &TableConfig,
    relation: &RelationConfig,
    (on, key): (&Field, &Field),
    related: &mut Related,
) -> Result<Lookup> {
    let mut specs = vec![column_spec(&relation.key, key)];
    let mut columns = Vec::new();
    for (name, there) in &relation.fields {
        let place = format!("relations.fields.{name}");
        let mut looked_up = field(config, other, there, &place)?.clone();
        if looked_up.hidden {
            let problem =
                format!("`{there}` of `{}` is hidden and cannot be looked up", other.name);
            return Err(wrong(config, &place, problem));
        }
        let is_taken =
            config.fields.0.iter().chain(&related.fields).any(|(known, _)| known == name);
        if is_taken {
            let problem = "this table has a field of this name: choose another".to_owned();
            return Err(wrong(config, &place, problem));
        }
        if specs.iter().all(|spec| spec.name != *there) {
            specs.push(column_spec(there, &looked_up));
        }
        if is_secret(there, &looked_up) {
            related.secrets.push(name.clone());
        }
        looked_up.column = None;
        related.fields.push((name.clone(), looked_up));
        columns.push((name.clone(), there.clone()));
    }
    if columns.is_empty() {
        let problem = "a relation needs `fields`, such as `{ airline = \"name\" }`".to_owned();
        return Err(wrong(config, "relations.fields", problem));
    }
    Ok(Lookup {
        table: other.name.clone(),
        source: other.source.clone(),
        spec: TableSpec {
            columns: specs,
            null_values: other.null_values.clone(),
            delimiter: other.delimiter,
            sheet: None,
        },
        on: relation.on.clone(),
        is_on_shown: !on.hidden,
        key: relation.key.clone(),
        columns,
    })
}

/// Finds a field that has one value in a cell.
fn field<'t>(
    config: &TableConfig,
    table: &'t TableConfig,
    name: &str,
    place: &str,
) -> Result<&'t Field> {
    let fields = &table.fields.0;
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    let found = fields.iter().find(|(known, _)| known == name).map(|(_, field)| field);
    let found = found.filter(|field| field.field_type != FieldType::Sort).ok_or_else(|| {
        let table = &table.name;
        let problem = format!("`{table}` has no field `{name}`: it has {}", listed(&names));
        wrong(config, place, problem)
    })?;
    if found.separator.or(leaf(found).separator).is_some() {
        let problem = format!("`{name}` of `{}` holds several values in a cell", table.name);
        return Err(wrong(config, place, problem));
    }
    Ok(found)
}

fn wrong(config: &TableConfig, field: &str, problem: String) -> Error {
    Error::BadSchema { table: config.name.clone(), field: field.to_owned(), problem }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
