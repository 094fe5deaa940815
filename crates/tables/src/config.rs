//! A table as `dowse.toml` writes it.

use std::collections::BTreeMap;
use std::fmt;

use model::Access;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use columns::{DateOrder, DecimalMark, Epoch};

/// One `[[tables]]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableConfig {
    /// The name by which agents call it.
    pub name: String,
    /// A file, a folder of files, `book.xlsx#SHEET`, `sqlite:PATH#TABLE` or `postgres://…#TABLE`; paths are relative to the
    /// configuration. `?sslmode=require` before the `#` encrypts the way to PostgreSQL.
    pub source: String,
    /// What a row is, for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who may use it.
    #[serde(default, skip_serializing_if = "Access::is_everyone")]
    pub allow: Access,
    /// Texts that mean "nothing is there" in every column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub null_values: Vec<String>,
    /// What separates the cells of a CSV file; found in the first line when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The columns that exist for agents, in the order in which rows show them.
    pub fields: Fields,
    /// Columns of other tables that rows show, filter, sort and group by as if they were their
    /// own. This is the only way in which tables come together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationConfig>,
}

/// One `[[tables.relations]]`: a field whose value is the key of a row in another table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationConfig {
    /// The other table, by its name; in files like this one, or in the same database.
    pub table: String,
    /// The field of this table that holds the key; it may be hidden.
    pub on: String,
    /// The field of the other table that holds the key; a key that several rows have looks
    /// nothing up.
    pub key: String,
    /// The fields that rows of this table get: the name here, and the field of the other table.
    pub fields: BTreeMap<String, String>,
}

/// `[exports]`: links to whole results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExportsConfig {
    /// How many minutes a link is good.
    pub link_minutes: u64,
}

impl Default for ExportsConfig {
    fn default() -> Self {
        ExportsConfig { link_minutes: crate::EXPORT_LINK_MINUTES }
    }
}

/// Fields by name, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<(String, Field)>);

/// One field: a column, how it is filtered, and what the agent is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// What it holds.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// What an array holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Field>>,
    /// The values of a `stringLiteral`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// How an array filters.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub operator: Option<Operator>,
    /// Whether letters are compared without their case.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignore_case: bool,
    /// What it means, for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The unit of its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether it does not exist for agents.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The column's name in the source, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Says that a cell holds several values, and splits them where the source has one text;
    /// lists of JSON, Parquet and PostgreSQL are not split, but have to be said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// What a bare number means in a timestamp column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// What comes first in dates like `03/04/2024`: `dmy` or `mdy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// What comes before decimals in numbers like `1.234,56 €`: `.` or `,`. Thousands, a unit and
    /// brackets for a minus are read then, too; without it only plain numbers are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalMark>,
    /// Whether its text is redacted before it leaves; `false` for a field whose e-mail addresses
    /// or numbers are what the table is for.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub redact: bool,
}

/// The seven types of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldType {
    /// Text, filtered by what it contains.
    String,
    /// A number, filtered by equality.
    Number,
    /// True or false.
    Boolean,
    /// A point in time; one filters the whole day.
    Timestamp,
    /// One of a closed list of texts.
    StringLiteral,
    /// Several values at once, by membership or range.
    Array,
    /// The order of rows; no column.
    Sort,
}

/// How an array filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// Any of the values.
    In,
    /// One value, or the inclusive range between two.
    Range,
}

impl Field {
    /// Makes a field of a type with nothing else said.
    pub fn new(field_type: FieldType) -> Self {
        Field {
            field_type,
            items: None,
            values: Vec::new(),
            operator: None,
            ignore_case: false,
            description: None,
            unit: None,
            hidden: false,
            column: None,
            separator: None,
            epoch: None,
            date_order: None,
            decimal: None,
            redact: true,
        }
    }

    /// Gives what an array holds in the end, or the field itself.
    pub fn leaf(&self) -> &Field {
        let mut field = self;
        while let Some(items) = &field.items {
            field = items;
        }
        field
    }

    /// Names the operators that the field takes, beside a plain value.
    pub fn operators(&self) -> Vec<&'static str> {
        let mut names = vec!["eq", "not", "in", "is_null"];
        match self.leaf().field_type {
            FieldType::String | FieldType::StringLiteral => {
                names.extend(["contains", "starts_with"]);
            }
            FieldType::Number | FieldType::Timestamp => names.extend(["min", "max"]),
            FieldType::Boolean | FieldType::Array | FieldType::Sort => {}
        }
        names
    }

    /// Text, filtered by what it contains.
    pub fn string() -> Self {
        Field::new(FieldType::String)
    }

    /// A number, filtered by what it equals.
    pub fn number() -> Self {
        Field::new(FieldType::Number)
    }

    /// True or false.
    pub fn boolean() -> Self {
        Field::new(FieldType::Boolean)
    }

    /// A point in time.
    pub fn timestamp() -> Self {
        Field::new(FieldType::Timestamp)
    }

    /// One of a closed list of texts.
    pub fn string_literal<I: IntoIterator<Item: Into<String>>>(values: I) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Field { values, ..Field::new(FieldType::StringLiteral) }
    }

    /// Any of several values.
    pub fn any_of(items: Field) -> Self {
        Field::array(items, Operator::In)
    }

    /// One value, or the inclusive range between two.
    pub fn range(items: Field) -> Self {
        Field::array(items, Operator::Range)
    }

    /// The order of rows.
    pub fn sort() -> Self {
        Field::new(FieldType::Sort)
    }

    fn array(items: Field, operator: Operator) -> Self {
        Field {
            items: Some(Box::new(items)),
            operator: Some(operator),
            ..Field::new(FieldType::Array)
        }
    }
}

impl FieldType {
    /// Gives the name used in configuration and descriptions.
    pub fn as_str(self) -> &'static str {
        match self {
            FieldType::String => "string",
            FieldType::Number => "number",
            FieldType::Boolean => "boolean",
            FieldType::Timestamp => "timestamp",
            FieldType::StringLiteral => "stringLiteral",
            FieldType::Array => "array",
            FieldType::Sort => "sort",
        }
    }
}

impl<N: Into<String>, const LEN: usize> From<[(N, Field); LEN]> for Fields {
    fn from(fields: [(N, Field); LEN]) -> Self {
        Fields(fields.into_iter().map(|(name, field)| (name.into(), field)).collect())
    }
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, field) in &self.0 {
            map.serialize_entry(name, field)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of fields by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields: Vec<(String, Field)> = Vec::new();
        while let Some((name, field)) = map.next_entry::<String, Field>()? {
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(serde::de::Error::custom(format!("field `{name}` is given twice")));
            }
            fields.push((name, field));
        }
        Ok(Fields(fields))
    }
}
