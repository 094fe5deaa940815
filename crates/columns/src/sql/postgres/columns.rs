//! From the types of a table's columns to expressions that give their typed values.

use tokio_postgres::Client;

use super::Inner;
use crate::decimal::MAX_DIGITS;
use crate::moment::{MAX_MILLIS, MIN_MILLIS};
use crate::sql::statement::{Dates, ITEM, List, SqlColumn, quoted};
use crate::{Cells, ColumnSpec, Epoch, Error, Kind, Result};

/// The largest number that a float holds, and one near the smallest that has all its digits.
const LARGEST: &str = "1.7976931348623157e308";
const SMALLEST: &str = "2.3e-308";

/// A column of a table as the database describes it.
#[derive(Debug, Clone)]
pub(super) struct DescribedColumn {
    pub(super) name: String,
    /// The name of the type; of a domain, that of the type it is made of.
    pub(super) type_name: String,
    /// What an array holds; none for what is no array, and for arrays of records.
    pub(super) items: Option<String>,
    /// The values of an enum, in their order.
    pub(super) labels: Vec<String>,
}

/// A value that an expression gives.
struct Typed {
    /// The value, or null where it does not fit.
    expression: String,
    /// The condition that something is there which does not fit; none where everything fits.
    misfit: Option<String>,
    /// The condition that it has more digits than are kept.
    rounded: Option<String>,
    is_whole: bool,
    is_decimal: bool,
    dates: Dates,
}

impl Inner {
    /// Learns the columns of a table and their types.
    pub(super) async fn types_of(
        &self,
        client: &Client,
        table: &str,
    ) -> Result<Vec<DescribedColumn>> {
        let columns = client
            .query(
                "SELECT a.attname::text, t.typname::text, \
                 CASE WHEN t.typcategory = 'A' AND e.typtype <> 'c' THEN coalesce(b.typname, e.typname)::text END, \
                 ARRAY(SELECT l.enumlabel::text FROM pg_enum l WHERE l.enumtypid = t.oid ORDER BY l.enumsortorder) \
                 FROM pg_attribute a \
                 JOIN pg_type d ON d.oid = a.atttypid \
                 JOIN pg_type t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END \
                 LEFT JOIN pg_type e ON e.oid = t.typelem \
                 LEFT JOIN pg_type b ON b.oid = e.typbasetype \
                 WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped \
                 ORDER BY a.attnum",
                &[&table],
            )
            .await
            .map_err(|cause| self.failed(cause))?;
        let known = columns.iter().map(|row| DescribedColumn {
            name: row.get(0),
            type_name: row.get(1),
            items: row.get(2),
            labels: row.get(3),
        });
        Ok(known.collect())
    }

    pub(super) fn sql_column(
        &self,
        spec: &ColumnSpec,
        known: &[DescribedColumn],
    ) -> Result<SqlColumn> {
        let found = known.iter().find(|column| column.name == spec.source_name);
        let Some(found) = found else {
            return Err(Error::MissingColumn {
                source_name: self.source_name.clone(),
                column: spec.source_name.clone(),
                known: known.iter().map(|column| column.name.clone()).collect(),
            });
        };
        let unfit = || Error::UnfitColumn {
            source_name: self.source_name.clone(),
            column: spec.source_name.clone(),
            found: found.type_name.clone(),
            kind: spec.kind.as_str(),
        };
        let name = quoted(&spec.source_name);
        if let Cells::Many { separator } = spec.cells {
            return listed(spec, found, separator).ok_or_else(unfit);
        }
        // An array is shown as other sources show one: as JSON.
        let shown = match &found.items {
            Some(_) => format!("array_to_json({name})"),
            None => name.clone(),
        };
        let Typed { expression, misfit, rounded, is_whole, is_decimal, dates } =
            typed(spec, &shown, &found.type_name).ok_or_else(unfit)?;
        Ok(SqlColumn {
            name: spec.name.clone(),
            kind: spec.kind,
            misfit,
            expression,
            source: name,
            rounded,
            is_whole,
            is_decimal,
            dates,
            list: None,
        })
    }
}

/// Writes a value of a type; none where the type cannot be of the kind.
fn typed(spec: &ColumnSpec, name: &str, found: &str) -> Option<Typed> {
    let is_whole = matches!(found, "int2" | "int4" | "int8");
    let is_real = matches!(found, "float4" | "float8" | "numeric");
    let is_moment = matches!(found, "timestamptz" | "timestamp" | "date");
    let expression = match spec.kind {
        Kind::Text => format!("({name})::text COLLATE \"C\""),
        Kind::Number if is_whole => format!("({name})::int8"),
        // A decimal outside of what a float holds stops the whole statement when it is cast.
        Kind::Number if found == "numeric" => format!(
            "CASE WHEN {name} BETWEEN -{LARGEST} AND {LARGEST} THEN CASE WHEN abs({name}) < {SMALLEST} THEN 0 ELSE {name} END END"
        ),
        // A float stands for the decimal that it is shown as, whatever its width.
        Kind::Number if found == "float4" => format!(
            "CASE WHEN {name}::float8 BETWEEN -{LARGEST} AND {LARGEST} THEN {name}::text::float8 END"
        ),
        // NaN is above infinity in PostgreSQL, so one range leaves out both.
        Kind::Number if is_real => format!(
            "CASE WHEN {name}::float8 BETWEEN -{LARGEST} AND {LARGEST} THEN {name}::float8 END"
        ),
        Kind::Boolean if found == "bool" => name.to_owned(),
        // Compared in its own type, so that neither infinity nor a year of six digits is cast.
        Kind::Timestamp if is_moment => format!(
            "CASE WHEN {name} >= '0001-01-01'::{found} AND {name} < '10000-01-01'::{found} THEN floor(extract(epoch FROM {name}) * 1000)::int8 END"
        ),
        Kind::Timestamp if is_whole => {
            let millis = match spec.epoch {
                Epoch::S => format!("{name}::numeric * 1000"),
                Epoch::Ms => format!("{name}::numeric"),
                Epoch::Us => format!("floor({name}::numeric / 1000)"),
                Epoch::Ns => format!("floor({name}::numeric / 1000000)"),
            };
            format!(
                "CASE WHEN {millis} BETWEEN {MIN_MILLIS} AND {MAX_MILLIS} THEN ({millis})::int8 END"
            )
        }
        Kind::Number | Kind::Boolean | Kind::Timestamp => return None,
    };
    let expression = format!("({expression})");
    let is_decimal = spec.kind == Kind::Number && found == "numeric";
    // As text a float has the fewest digits that give it back, which is what rows show.
    let rounded = is_decimal.then(|| {
        let trimmed = format!("trim_scale({name})");
        format!(
            "({expression} IS NOT NULL AND ({expression} <> {name} OR \
             (scale({trimmed}) > {MAX_DIGITS} OR \
             length(ltrim(replace(abs({trimmed})::text, '.', ''), '0')) > {MAX_DIGITS}) AND \
             {expression}::float8::text::numeric <> {name}))"
        )
    });
    let holds_dates = spec.kind == Kind::Timestamp && found == "date";
    let misfit = match spec.kind {
        // "Not a number" is how a typed source leaves a number empty.
        Kind::Number if is_real => {
            Some(format!("({name} IS NOT NULL AND {expression} IS NULL AND {name}::text <> 'NaN')"))
        }
        Kind::Timestamp => Some(format!("({name} IS NOT NULL AND {expression} IS NULL)")),
        Kind::Text | Kind::Number | Kind::Boolean => None,
    };
    Some(Typed {
        expression,
        misfit,
        rounded,
        is_whole: spec.kind == Kind::Number && is_whole,
        is_decimal,
        dates: if holds_dates { Dates::Yes } else { Dates::No },
    })
}

/// The raw values of a cell, and their places in it.
const RAW: &str = "dowse_raw";
const PLACES: &str = "dowse_raws(dowse_raw, dowse_place)";

/// Writes a column whose cells have several values: of an array, of a list in JSON, or of a text
/// that a separator splits.
fn listed(spec: &ColumnSpec, found: &DescribedColumn, separator: char) -> Option<SqlColumn> {
    let name = quoted(&spec.source_name);
    let (raws, value) = match (&found.items, found.type_name.as_str()) {
        (Some(items), _) => (format!("unnest({name})"), typed(spec, RAW, items)?),
        (None, "json" | "jsonb") => {
            let json = format!("{name}::jsonb");
            (
                format!(
                    "jsonb_array_elements(CASE WHEN jsonb_typeof({json}) = 'array' THEN {json} ELSE jsonb_build_array({json}) END)"
                ),
                typed_json(spec)?,
            )
        }
        (None, "text" | "varchar" | "bpchar" | "name" | "citext") if spec.kind == Kind::Text => {
            let separator = format!("chr({})", u32::from(separator));
            let typed = typed(spec, &format!("nullif(btrim({RAW}, E' \\t\\r\\n'), '')"), "text")?;
            (format!("unnest(string_to_array({name}::text, {separator}))"), typed)
        }
        (None, other) => (format!("unnest(ARRAY[{name}])"), typed(spec, RAW, other)?),
    };
    let Typed { expression, misfit, is_whole, is_decimal, dates, .. } = value;
    let from_raws = format!("FROM {raws} WITH ORDINALITY AS {PLACES}");
    let items = format!("(SELECT {expression} AS {ITEM} {from_raws}) AS dowse_items");
    let whole = format!(
        "(SELECT array_agg({ITEM} ORDER BY dowse_first) FROM \
         (SELECT {ITEM}, min(dowse_place) AS dowse_first FROM \
         (SELECT {expression} AS {ITEM}, dowse_place {from_raws}) AS dowse_typed \
         WHERE {ITEM} IS NOT NULL GROUP BY 1) AS dowse_once)"
    );
    let n_repeated = format!("(SELECT count({ITEM}) - count(DISTINCT {ITEM}) FROM {items})");
    let n_nulls = match (&found.items, found.type_name.as_str()) {
        (Some(_), _) => format!("(SELECT count(*) - count({RAW}) {from_raws})"),
        (None, "json" | "jsonb") => format!(
            "CASE WHEN jsonb_typeof({name}::jsonb) = 'array' THEN \
             (SELECT count(*) - count({RAW} #>> '{{}}') {from_raws}) ELSE 0 END"
        ),
        (None, _) => "0".to_owned(),
    };
    let first = match spec.kind {
        Kind::Text => format!("(({whole})[1] COLLATE \"C\")"),
        Kind::Number | Kind::Boolean | Kind::Timestamp => format!("(({whole})[1])"),
    };
    Some(SqlColumn {
        name: spec.name.clone(),
        kind: spec.kind,
        expression: first,
        misfit: misfit.map(|misfit| format!("EXISTS (SELECT 1 {from_raws} WHERE {misfit})")),
        source: name,
        rounded: None,
        is_whole,
        is_decimal,
        dates,
        list: Some(List { whole, items, n_repeated, n_nulls }),
    })
}

/// Writes the value of an item of a list in JSON.
fn typed_json(spec: &ColumnSpec) -> Option<Typed> {
    let text = format!("({RAW} #>> '{{}}')");
    let of_type = |kind: &str, value: &str| {
        format!("CASE WHEN jsonb_typeof({RAW}) = '{kind}' THEN {value} END")
    };
    let value = match spec.kind {
        Kind::Text => return typed(spec, &text, "text"),
        Kind::Number => of_type("number", &format!("{text}::numeric")),
        Kind::Boolean => of_type("boolean", &format!("{text}::bool")),
        Kind::Timestamp => return None,
    };
    let found = if spec.kind == Kind::Number { "numeric" } else { "bool" };
    let value = typed(spec, &format!("({value})"), found)?;
    let misfit = format!("(jsonb_typeof({RAW}) <> 'null' AND {} IS NULL)", value.expression);
    Some(Typed { misfit: Some(misfit), ..value })
}
