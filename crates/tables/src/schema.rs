//! A checked schema: what exists for agents, and how the engine reads it.

use columns::{Cells, ColumnSpec, Kind, TableSpec};

use crate::config::{Field, FieldType, Fields, Operator, TableConfig};
use crate::secret::is_secret;
use crate::{Error, Result};

/// How deep arrays may be nested.
pub const MAX_NESTING: usize = 2;

/// A schema that makes sense. Hidden fields are not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The name by which agents call the table.
    pub name: String,
    /// What a row is, for the agent.
    pub description: Option<String>,
    pub(crate) fields: Vec<(String, Field)>,
    /// The fields that are secret by a name.
    secrets: Vec<String>,
}

impl Schema {
    /// Checks fields: literals have values, arrays have items and an operator, ranges hold what
    /// can be compared.
    pub fn new(
        name: impl Into<String>,
        description: Option<String>,
        fields: Fields,
    ) -> Result<Self> {
        let name = name.into();
        let mut shown = Vec::new();
        for (field_name, field) in fields.0 {
            check(&field, 0).map_err(|problem| Error::BadSchema {
                table: name.clone(),
                field: field_name.clone(),
                problem,
            })?;
            if !field.hidden {
                shown.push((field_name, with_operator(field)));
            }
        }
        if !shown.iter().any(|(_, field)| field.field_type != FieldType::Sort) {
            return Err(Error::BadSchema {
                table: name,
                field: "*".to_owned(),
                problem: "a table needs at least one field that is not hidden".to_owned(),
            });
        }
        let secrets = shown.iter().filter(|(name, field)| is_secret(name, field));
        let secrets = secrets.map(|(name, _)| name.clone()).collect();
        Ok(Schema { name, description, fields: shown, secrets })
    }

    /// Makes more fields secret: those whose origin has the name of a secret.
    pub(crate) fn with_secrets(mut self, names: Vec<String>) -> Self {
        self.secrets.extend(names);
        self
    }

    /// Tells whether no value of a field may leave, by the field's name or by that of the column
    /// it is read from; what is no field is judged by its name alone.
    pub fn is_secret(&self, name: &str) -> bool {
        match self.field(name) {
            Some(_) => self.secrets.iter().any(|secret| secret == name),
            None => text::is_secret_name(name),
        }
    }

    /// Names the fields that are columns, in the order in which rows show them.
    pub fn column_names(&self) -> Vec<String> {
        self.columns().map(|(name, _)| name.clone()).collect()
    }

    /// Gives the fields whose text is redacted before it leaves; `None` when all of them are.
    pub fn redacted_names(&self) -> Option<Vec<String>> {
        let redacted: Vec<String> = self
            .columns()
            .filter(|(_, field)| is_redacted(field))
            .map(|(name, _)| name.clone())
            .collect();
        (redacted.len() < self.columns().count()).then_some(redacted)
    }

    /// Gives the unit of a field's numbers.
    pub fn unit(&self, name: &str) -> Option<&str> {
        let field = self.field(name)?;
        field.unit.as_deref().or(leaf(field).unit.as_deref())
    }

    /// Tells whether a field's text is redacted before it leaves; what is no field is.
    pub fn is_redacted(&self, name: &str) -> bool {
        self.field(name).is_none_or(is_redacted)
    }

    /// Gives what a call may filter by, in the order of the schema.
    pub fn filter_names(&self) -> Vec<String> {
        self.fields.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Gives all fields that filter, in the order of the configuration.
    pub fn fields(&self) -> &[(String, Field)] {
        &self.fields
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    /// Gives the fields that are columns, in the order in which rows show them.
    pub fn columns(&self) -> impl Iterator<Item = &(String, Field)> {
        self.fields.iter().filter(|(_, field)| field.field_type != FieldType::Sort)
    }
}

/// Says how the engine reads a configured table; hidden keys are read too, for it alone.
pub(crate) fn table_spec(config: &TableConfig, hidden_keys: Vec<ColumnSpec>) -> TableSpec {
    let shown = config
        .fields
        .0
        .iter()
        .filter(|(_, field)| !field.hidden && field.field_type != FieldType::Sort)
        .map(|(name, field)| column_spec(name, field));
    TableSpec {
        columns: shown.chain(hidden_keys).collect(),
        null_values: config.null_values.clone(),
        delimiter: config.delimiter,
        sheet: None,
    }
}

/// Says how the engine reads a field.
pub(crate) fn column_spec(name: &str, field: &Field) -> ColumnSpec {
    let leaf = leaf(field);
    let separator = field.separator.or(leaf.separator);
    ColumnSpec {
        name: name.to_owned(),
        source_name: field.column.clone().unwrap_or_else(|| name.to_owned()),
        kind: kind(leaf.field_type),
        cells: separator.map_or(Cells::One, |separator| Cells::Many { separator }),
        epoch: field.epoch.or(leaf.epoch).unwrap_or_default(),
        date_order: field.date_order.or(leaf.date_order),
        decimal: field.decimal.or(leaf.decimal),
    }
}

/// Tells whether a field's text is redacted before it leaves.
pub(crate) fn is_redacted(field: &Field) -> bool {
    field.redact && leaf(field).redact
}

/// Short for [`Field::leaf`].
pub(crate) fn leaf(field: &Field) -> &Field {
    field.leaf()
}

pub(crate) fn kind(field_type: FieldType) -> Kind {
    match field_type {
        FieldType::Number => Kind::Number,
        FieldType::Boolean => Kind::Boolean,
        FieldType::Timestamp => Kind::Timestamp,
        FieldType::String | FieldType::StringLiteral | FieldType::Array | FieldType::Sort => {
            Kind::Text
        }
    }
}

fn check(field: &Field, depth: usize) -> std::result::Result<(), String> {
    let is_array = field.field_type == FieldType::Array;
    let is_literal = field.field_type == FieldType::StringLiteral;
    if is_literal && field.values.is_empty() {
        return Err("a stringLiteral needs `values`".to_owned());
    }
    if !is_literal && !field.values.is_empty() {
        return Err(format!("`values` is for stringLiteral, not {}", field.field_type.as_str()));
    }
    if !is_array {
        return match (&field.items, field.operator) {
            (Some(_), _) => Err(format!("`items` is for array, not {}", field.field_type.as_str())),
            (_, Some(_)) => Err(format!("`match` is for array, not {}", field.field_type.as_str())),
            (None, None) => Ok(()),
        };
    }
    let Some(items) = &field.items else {
        return Err("an array needs `items`".to_owned());
    };
    if items.field_type == FieldType::Sort {
        return Err("an array of sort means nothing".to_owned());
    }
    if depth + 1 > MAX_NESTING {
        return Err(format!("arrays may be nested at most {MAX_NESTING} deep"));
    }
    check(items, depth + 1)?;
    let leaf = leaf(field).field_type;
    let can_be_range = matches!(leaf, FieldType::Number | FieldType::Timestamp);
    match field.operator {
        None if can_be_range && depth == 0 => {
            Err("an array of numbers or timestamps needs `match = \"in\"` or `match = \"range\"`"
                .to_owned())
        }
        Some(Operator::Range) if !can_be_range => {
            Err(format!("`match = \"range\"` needs numbers or timestamps, not {}", leaf.as_str()))
        }
        None | Some(Operator::In | Operator::Range) => Ok(()),
    }
}

/// An array of texts or booleans can only mean membership.
fn with_operator(mut field: Field) -> Field {
    if field.field_type == FieldType::Array {
        field.operator = field.operator.or(Some(Operator::In));
    }
    field
}
