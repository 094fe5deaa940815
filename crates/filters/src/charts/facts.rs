//! The fact table under charts: sums by period for what a filter selects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use columns::{ColumnSpec, Dataset, Filter, GroupQuery, Kind, LiveTable, TableSpec, Test, Value};
use model::Deadline;

use crate::charts::config::{ChartColumns, ChartsConfig};
use crate::charts::period::Period;
use crate::charts::request::{AccountCategory, ChartFilter, Exclusion, FIELDS};
use crate::config::FilterKeyConfig;
use crate::postgres::{self, Condition, Database};
use crate::{Error, Result, Service};

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
    selecting: Vec<Selecting>,
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

/// Gives where the columns of facts are that were read from a file.
pub fn facts_in(data_folder: &Path) -> PathBuf {
    data_folder.join("facts")
}

impl Facts {
    /// Opens the fact table; column files are kept in the cache folder.
    ///
    /// Fails when it cannot be read, lacks a configured column, or names a dimension that is not
    /// configured.
    pub(crate) fn open(
        folder: &Path,
        config: &ChartsConfig,
        dimensions: &Service,
        cache_folder: &Path,
    ) -> Result<Self> {
        let named = &config.columns;
        let selecting = selecting(named, dimensions)?;
        let mut specs = vec![
            spec(PERIOD, &named.period, Kind::Text),
            spec(ACCOUNT, &named.account, Kind::Text),
            spec(AMOUNT, &named.amount, Kind::Number),
        ];
        specs.extend(
            selecting.iter().map(|fields| spec(&fields.column, &fields.source, Kind::Text)),
        );
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
        Ok(Facts { engine, origin, selecting })
    }

    /// Gives the filter keys of dimensions beside those that every chart has.
    ///
    /// Fails when the columns name a dimension that is not configured.
    pub(crate) fn own_filter_keys(
        config: &ChartsConfig,
        dimensions: &Service,
    ) -> Result<Vec<String>> {
        let selecting = selecting(&config.columns, dimensions)?;
        let keys = selecting.iter().flat_map(|fields| [&fields.exact, &fields.prefix]);
        let keys = keys.flatten().filter(|key| !FIELDS.contains(&key.as_str()));
        Ok(keys.cloned().collect())
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
        let column = |name: &str| self.selecting.iter().find(|fields| fields.column == name);
        let (Some(unit), Some(entity)) = (column(UAT), column(ENTITY)) else {
            return Ok(Vec::new());
        };
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
                    column: entity.source.clone(),
                    exact: entities.to_vec(),
                    prefixes: Vec::new(),
                    is_excluded: false,
                };
                let limit = deadline.remaining();
                let groups = postgres::sums(
                    database,
                    table,
                    &unit.source,
                    &names.amount,
                    &[condition],
                    limit,
                )?;
                Ok(groups.into_iter().map(|(unit, _, _)| unit).collect())
            }
        }
    }

    /// Gives the conditions of a filter for the database.
    fn conditions(&self, names: &ChartColumns, filter: &ChartFilter) -> Result<Vec<Condition>> {
        self.check(filter)?;
        let mut conditions = vec![Condition {
            column: names.account.clone(),
            exact: vec![account(filter.account_category).to_owned()],
            prefixes: Vec::new(),
            is_excluded: false,
        }];
        for fields in &self.selecting {
            for (named, is_excluded) in [(&filter.only, false), (&filter.exclude, true)] {
                let (exact, prefixes) = fields.values(named);
                if exact.is_empty() && prefixes.is_empty() {
                    continue;
                }
                let column = fields.source.clone();
                let (exact, prefixes) = (exact.to_vec(), prefixes.to_vec());
                conditions.push(Condition { column, exact, prefixes, is_excluded });
            }
        }
        Ok(conditions)
    }

    /// Checks that the facts have a column for every field of a filter, and that prefixes end in
    /// a dot.
    fn check(&self, filter: &ChartFilter) -> Result<()> {
        for (named, place) in [(&filter.only, ""), (&filter.exclude, "exclude.")] {
            for field in named.fields() {
                let is_it = |key: &Option<String>| key.as_deref() == Some(field);
                let known = self.selecting.iter();
                let known =
                    known.clone().find(|fields| is_it(&fields.exact) || is_it(&fields.prefix));
                let Some(fields) = known else {
                    return Err(Error::NotAvailable {
                        name: field.to_owned(),
                        reason: "the fact table has no such column",
                    });
                };
                let without_dot = named.values(field).iter().find(|value| !value.ends_with('.'));
                if let Some(received) = without_dot.filter(|_| is_it(&fields.prefix)) {
                    let name = format!("{place}{field}");
                    return Err(Error::PrefixWithoutDot { name, received: received.clone() });
                }
            }
        }
        Ok(())
    }

    fn filters(&self, dataset: &Dataset, filter: &ChartFilter) -> Result<Vec<Filter>> {
        self.check(filter)?;
        let account = Value::from(account(filter.account_category));
        let mut filters = vec![Filter::new(ACCOUNT, Test::AnyOf(vec![account]))];
        for fields in &self.selecting {
            if let Some(values) = self.selected(dataset, &filter.only, fields)? {
                filters.push(Filter::new(&fields.column, Test::AnyOf(values)));
            }
            if let Some(values) = self.selected(dataset, &filter.exclude, fields)? {
                let excluded = Test::Not(Box::new(Test::AnyOf(values)));
                filters.push(Filter::new(&fields.column, excluded));
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
        fields: &Selecting,
    ) -> Result<Option<Vec<Value>>> {
        let (exact, prefixes) = fields.values(named);
        if exact.is_empty() && prefixes.is_empty() {
            return Ok(None);
        }
        let mut values: Vec<Value> =
            exact.iter().map(|value| Value::from(value.as_str())).collect();
        if !prefixes.is_empty() {
            let column = dataset.column(&fields.column).map_err(|source| self.failed(source))?;
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
#[derive(Debug, Clone)]
struct Selecting {
    /// Our name of the column.
    column: String,
    /// The source's name of it.
    source: String,
    exact: Option<String>,
    prefix: Option<String>,
}

impl Selecting {
    /// Gives the columns that every fact table may have, as far as this one has them.
    fn of_columns(named: &ChartColumns) -> Vec<Self> {
        let known = [
            (ENTITY, &named.entity, "entity_cuis", None),
            (UAT, &named.uat, "uat_ids", None),
            (COUNTY, &named.county, "county_codes", None),
            (FUNCTIONAL, &named.functional, "functional_codes", Some("functional_prefixes")),
            (ECONOMIC, &named.economic, "economic_codes", Some("economic_prefixes")),
        ];
        let known = known.into_iter().filter_map(|(column, source, exact, prefix)| {
            Some(Selecting {
                column: column.to_owned(),
                source: source.clone()?,
                exact: Some(exact.to_owned()),
                prefix: prefix.map(str::to_owned),
            })
        });
        known.collect()
    }

    /// Gives the column of a dimension of one's own.
    fn of_dimension(category: &str, source: &str, key: FilterKeyConfig) -> Self {
        let (exact, prefix) = match key {
            FilterKeyConfig::One(key) => (key, None),
            FilterKeyConfig::ByKind { prefix, exact } => (exact, Some(prefix)),
        };
        // No name of ours has a colon.
        let column = format!("own:{category}");
        Selecting { column, source: source.to_owned(), exact: Some(exact), prefix }
    }

    /// Gives the exact values and the prefixes of this column.
    fn values<'n>(&self, named: &'n Exclusion) -> (&'n [String], &'n [String]) {
        let of = |key: &Option<String>| key.as_deref().map_or(&[][..], |key| named.values(key));
        (of(&self.exact), of(&self.prefix))
    }
}

/// Tells whether a code is the one a prefix names, or is under it: `70.` selects `70` too.
/// Gives the columns that filters select by, those of dimensions among them.
fn selecting(named: &ChartColumns, dimensions: &Service) -> Result<Vec<Selecting>> {
    let mut selecting = Selecting::of_columns(named);
    for (category, column) in &named.dimensions {
        let key = dimensions.filter_key(category).ok_or_else(|| Error::NoSuchDimension {
            category: category.clone(),
            available: dimensions.all_categories(),
        })?;
        selecting.push(Selecting::of_dimension(category, column, key));
    }
    Ok(selecting)
}

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

fn spec(name: &str, source_name: &str, kind: Kind) -> ColumnSpec {
    ColumnSpec { source_name: source_name.to_owned(), ..ColumnSpec::new(name, kind) }
}
