//! The fact table under charts: sums by period for what a filter selects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use columns::{ColumnSpec, Dataset, Filter, GroupQuery, Kind, LiveTable, TableSpec, Test, Value};
use model::Deadline;

use crate::charts::config::{ChartColumns, ChartsConfig};
use crate::charts::period::Period;
use crate::charts::request::{AccountCategory, ChartFilter, Exclusion};
use crate::postgres::{self, Condition, Database};
use crate::{Error, Result};

/// The names by which this crate calls the columns of any fact table.
const PERIOD: &str = "period";
const ACCOUNT: &str = "account";
const AMOUNT: &str = "amount";
const ENTITY: &str = "entity";
const UAT: &str = "uat";
const COUNTY: &str = "county";
const FUNCTIONAL: &str = "functional";
const ECONOMIC: &str = "economic";

/// Facts that can be summed.
pub(crate) struct Facts {
    engine: Engine,
    origin: String,
    columns: BTreeSet<&'static str>,
}

/// Where facts are summed.
enum Engine {
    /// In columns, following their file when it changes.
    Columns(LiveTable),
    /// In the database that holds them.
    Postgres { database: Database, table: String, names: Box<ChartColumns> },
}

/// Sums by period, and what could not be counted.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) by_period: BTreeMap<Period, f64>,
    /// Facts whose period is longer than the one asked for: a year has no months.
    pub(crate) n_too_long: u64,
    /// Facts whose period cannot be read.
    pub(crate) n_without_period: u64,
}

impl Facts {
    /// Opens the fact table; column files are kept in the cache folder.
    ///
    /// Fails when it cannot be read or lacks a configured column.
    pub(crate) fn open(folder: &Path, config: &ChartsConfig, cache_folder: &Path) -> Result<Self> {
        let named = &config.columns;
        let optional = [
            (ENTITY, &named.entity),
            (UAT, &named.uat),
            (COUNTY, &named.county),
            (FUNCTIONAL, &named.functional),
            (ECONOMIC, &named.economic),
        ];
        let mut specs = vec![
            spec(PERIOD, &named.period, Kind::Text),
            spec(ACCOUNT, &named.account, Kind::Text),
            spec(AMOUNT, &named.amount, Kind::Number),
        ];
        let mut columns = BTreeSet::new();
        for (name, column) in optional {
            if let Some(column) = column {
                specs.push(spec(name, column, Kind::Text));
                columns.insert(name);
            }
        }
        let (engine, origin) = match config.source.rsplit_once('#') {
            Some((url, table)) if url.starts_with("postgres") => {
                let database = Database::open(url)?;
                let origin = database.origin.clone();
                let (table, names) = (table.to_owned(), Box::new(named.clone()));
                (Engine::Postgres { database, table, names }, origin)
            }
            Some(_) | None => {
                let path = folder.join(&config.source);
                let table = LiveTable::open(&path, TableSpec::of(specs), cache_folder)
                    .map_err(|source| Error::Columns { origin: config.source.clone(), source })?;
                (Engine::Columns(table), config.source.clone())
            }
        };
        Ok(Facts { engine, origin, columns })
    }

    /// Sums the amounts that a filter selects, by period of its type.
    ///
    /// Fails when the filter names a field that the facts do not have, or on the deadline.
    pub(crate) fn sums(&self, filter: &ChartFilter, deadline: &Deadline) -> Result<Sums> {
        let groups = match &self.engine {
            Engine::Columns(table) => {
                table.refresh();
                let dataset = table.snapshot();
                let query = GroupQuery {
                    filters: self.filters(&dataset, filter)?,
                    group_by: vec![PERIOD.to_owned()],
                    sum: Some(AMOUNT.to_owned()),
                };
                columns::series(&dataset, &query, deadline)
                    .map_err(|source| self.failed(source))?
                    .into_iter()
                    .map(|group| (first_text(&group.keys), group.sum, group.count))
                    .collect()
            }
            Engine::Postgres { database, table, names } => {
                let conditions = self.conditions(names, filter)?;
                let limit = deadline.remaining();
                postgres::sums(database, table, &names.period, &names.amount, &conditions, limit)?
            }
        };
        let mut sums = Sums::default();
        for (period, sum, count) in groups {
            let Some(period) = Period::parse_cell(&period) else {
                sums.n_without_period += count;
                continue;
            };
            match period.within(filter.report_period.period_type) {
                Some(period) => *sums.by_period.entry(period).or_default() += sum,
                None => sums.n_too_long += count,
            }
        }
        Ok(sums)
    }

    /// Gives the units that institutions belong to.
    pub(crate) fn units_of(&self, entities: &[String], deadline: &Deadline) -> Result<Vec<String>> {
        if !self.columns.contains(UAT) || !self.columns.contains(ENTITY) {
            return Ok(Vec::new());
        }
        match &self.engine {
            Engine::Columns(table) => {
                let values = entities.iter().map(|entity| Value::from(entity.as_str())).collect();
                let query = GroupQuery {
                    filters: vec![Filter::new(ENTITY, Test::AnyOf(values))],
                    group_by: vec![UAT.to_owned()],
                    sum: None,
                };
                let groups = columns::series(&table.snapshot(), &query, deadline)
                    .map_err(|source| self.failed(source))?;
                Ok(groups.iter().map(|group| first_text(&group.keys)).collect())
            }
            Engine::Postgres { database, table, names } => {
                let condition = Condition {
                    column: column_of(names, ENTITY).to_owned(),
                    exact: entities.to_vec(),
                    prefixes: Vec::new(),
                    is_excluded: false,
                };
                let unit = column_of(names, UAT);
                let limit = deadline.remaining();
                let groups =
                    postgres::sums(database, table, unit, &names.amount, &[condition], limit)?;
                Ok(groups.into_iter().map(|(unit, _, _)| unit).collect())
            }
        }
    }

    /// Gives the conditions of a filter for the database.
    fn conditions(&self, names: &ChartColumns, filter: &ChartFilter) -> Result<Vec<Condition>> {
        let mut conditions = vec![Condition {
            column: names.account.clone(),
            exact: vec![account(filter.account_category).to_owned()],
            prefixes: Vec::new(),
            is_excluded: false,
        }];
        for fields in SELECTING {
            for (named, is_excluded) in [(&filter.only, false), (&filter.exclude, true)] {
                let exact = named.values(fields.exact).to_vec();
                let prefixes = fields.prefix.map_or(&[][..], |field| named.values(field)).to_vec();
                if exact.is_empty() && prefixes.is_empty() {
                    continue;
                }
                self.check_column(fields, exact.is_empty())?;
                let column = column_of(names, fields.column).to_owned();
                conditions.push(Condition { column, exact, prefixes, is_excluded });
            }
        }
        Ok(conditions)
    }

    fn check_column(&self, fields: Selecting, is_prefix: bool) -> Result<()> {
        if self.columns.contains(fields.column) {
            return Ok(());
        }
        let name = if is_prefix { fields.prefix.unwrap_or(fields.exact) } else { fields.exact };
        Err(Error::NotAvailable {
            name: name.to_owned(),
            reason: "the fact table has no such column",
        })
    }

    fn filters(&self, dataset: &Dataset, filter: &ChartFilter) -> Result<Vec<Filter>> {
        let account = Value::from(account(filter.account_category));
        let mut filters = vec![Filter::new(ACCOUNT, Test::AnyOf(vec![account]))];
        for fields in SELECTING {
            if let Some(values) = self.selected(dataset, &filter.only, fields)? {
                filters.push(Filter::new(fields.column, Test::AnyOf(values)));
            }
            if let Some(values) = self.selected(dataset, &filter.exclude, fields)? {
                let excluded = Test::Not(Box::new(Test::AnyOf(values)));
                filters.push(Filter::new(fields.column, excluded));
            }
        }
        Ok(filters)
    }

    /// Gives the values of a column that fields select, or nothing when they do not restrict.
    ///
    /// A column of codes has few distinct values: each is tested once against all prefixes.
    fn selected(
        &self,
        dataset: &Dataset,
        named: &Exclusion,
        fields: Selecting,
    ) -> Result<Option<Vec<Value>>> {
        let exact = named.values(fields.exact);
        let prefixes = fields.prefix.map_or(&[][..], |field| named.values(field));
        if exact.is_empty() && prefixes.is_empty() {
            return Ok(None);
        }
        self.check_column(fields, exact.is_empty())?;
        let mut values: Vec<Value> =
            exact.iter().map(|value| Value::from(value.as_str())).collect();
        if !prefixes.is_empty() {
            let column = dataset.column(fields.column).map_err(|source| self.failed(source))?;
            values.extend(column.distinct_values().filter(|value| {
                value
                    .as_str()
                    .is_some_and(|code| prefixes.iter().any(|prefix| is_under(code, prefix)))
            }));
        }
        Ok(Some(values))
    }

    fn failed(&self, source: columns::Error) -> Error {
        Error::Columns { origin: self.origin.clone(), source }
    }
}

impl std::fmt::Debug for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Fields of a filter that select by one column.
#[derive(Clone, Copy)]
struct Selecting {
    column: &'static str,
    exact: &'static str,
    prefix: Option<&'static str>,
}

const SELECTING: [Selecting; 5] = [
    Selecting { column: ENTITY, exact: "entity_cuis", prefix: None },
    Selecting { column: UAT, exact: "uat_ids", prefix: None },
    Selecting { column: COUNTY, exact: "county_codes", prefix: None },
    Selecting {
        column: FUNCTIONAL,
        exact: "functional_codes",
        prefix: Some("functional_prefixes"),
    },
    Selecting { column: ECONOMIC, exact: "economic_codes", prefix: Some("economic_prefixes") },
];

/// Tells whether a code is the one a prefix names, or is under it: `70.` selects `70` too.
fn is_under(code: &str, prefix: &str) -> bool {
    code.starts_with(prefix) || prefix.strip_suffix('.') == Some(code)
}

fn account(category: AccountCategory) -> &'static str {
    match category {
        AccountCategory::Ch => "ch",
        AccountCategory::Vn => "vn",
    }
}

fn first_text(keys: &[Value]) -> String {
    keys.first().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Gives the name that the source has for one of our columns.
fn column_of<'a>(names: &'a ChartColumns, column: &str) -> &'a str {
    let name = match column {
        ENTITY => &names.entity,
        UAT => &names.uat,
        COUNTY => &names.county,
        FUNCTIONAL => &names.functional,
        _ => &names.economic,
    };
    name.as_deref().unwrap_or_default()
}

fn spec(name: &str, source_name: &str, kind: Kind) -> ColumnSpec {
    ColumnSpec { source_name: source_name.to_owned(), ..ColumnSpec::new(name, kind) }
}
