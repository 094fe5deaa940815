//! Reference tables for normalisation: inhabitants by unit and year, and the euro by period.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::charts::period::{Period, PeriodType};
use crate::source::{self, Table};
use crate::{Error, Result};

/// Inhabitants by unit and county.
#[derive(Debug, Default)]
pub(crate) struct Population {
    units: BTreeMap<String, Unit>,
    counties: BTreeMap<String, ByYear>,
}

#[derive(Debug, Default)]
struct Unit {
    county: String,
    is_county: bool,
    inhabitants: ByYear,
}

/// A figure by year; a year without one takes the nearest, the earlier of two.
#[derive(Debug, Default, Clone)]
struct ByYear(BTreeMap<i32, f64>);

impl Population {
    /// Reads a table with a column of inhabitants, one of units or counties (or both), and
    /// perhaps one of years and one that tells counties from units inside them.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self> {
        let table = source::read_file(&folder.join(name))?;
        let inhabitants = required(&table, name, &["population", "pop", "inhabitants"])?;
        let unit = table.column_of(&["uat_id", "uat", "unit", "id", "siruta"]);
        let county = table.column_of(&["county_code", "county", "judet"]);
        let year = table.column_of(&["year", "period", "an"]);
        let is_county = table.column_of(&["is_county"]);
        let mut population = Population::default();
        let mut sums_of_units: BTreeMap<String, BTreeMap<i32, f64>> = BTreeMap::new();
        for row in &table.rows {
            let cell = |at: Option<usize>| at.map_or("", |at| row[at].as_str());
            let Ok(n_inhabitants) = row[inhabitants].replace(',', "").parse::<f64>() else {
                continue;
            };
            let year = Period::parse_cell(cell(year)).map_or(0, Period::year);
            let (unit, county) = (cell(unit), cell(county));
            let stands_for_county = matches!(cell(is_county), "true" | "1" | "t" | "TRUE");
            if !unit.is_empty() {
                let known = population.units.entry(unit.to_owned()).or_default();
                county.clone_into(&mut known.county);
                known.is_county = stands_for_county;
                known.inhabitants.0.insert(year, n_inhabitants);
            }
            if county.is_empty() {
                continue;
            }
            if stands_for_county || unit.is_empty() {
                let known = population.counties.entry(county.to_owned()).or_default();
                known.0.insert(year, n_inhabitants);
            } else {
                let sums = sums_of_units.entry(county.to_owned()).or_default();
                *sums.entry(year).or_default() += n_inhabitants;
            }
        }
        // A county without a row of its own has the inhabitants of its units.
        for (county, sums) in sums_of_units {
            population.counties.entry(county).or_insert(ByYear(sums));
        }
        Ok(population)
    }

    /// Counts the inhabitants of units; a unit inside a county that is counted too adds none.
    pub(crate) fn of_units(&self, units: &[String], year: i32) -> Option<f64> {
        let known: Vec<&Unit> = units.iter().filter_map(|unit| self.units.get(unit)).collect();
        let counties: BTreeSet<&str> =
            known.iter().filter(|unit| unit.is_county).map(|unit| unit.county.as_str()).collect();
        let counted = known
            .iter()
            .filter(|unit| unit.is_county || !counties.contains(unit.county.as_str()))
            .filter_map(|unit| unit.inhabitants.of(year));
        positive(counted.sum())
    }

    /// Counts the inhabitants of counties.
    pub(crate) fn of_counties(&self, counties: &[String], year: i32) -> Option<f64> {
        let counted = counties.iter().filter_map(|county| self.counties.get(county)?.of(year));
        positive(counted.sum())
    }

    /// Counts the inhabitants of the whole.
    pub(crate) fn of_all(&self, year: i32) -> Option<f64> {
        if self.counties.is_empty() {
            return positive(
                self.units.values().filter_map(|unit| unit.inhabitants.of(year)).sum(),
            );
        }
        positive(self.counties.values().filter_map(|county| county.of(year)).sum())
    }
}

impl ByYear {
    fn of(&self, year: i32) -> Option<f64> {
        let before = self.0.range(..=year).next_back();
        let after = || self.0.range(year..).next();
        before.or_else(after).map(|(_, figure)| *figure)
    }
}

/// Currency units for one euro.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    by_period: BTreeMap<Period, f64>,
}

impl Rates {
    /// Reads a table with a column of periods and one of rates.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self> {
        let table = source::read_file(&folder.join(name))?;
        let period = required(&table, name, &["period", "year", "month", "date", "an"])?;
        let rate = required(&table, name, &["rate", "eur", "value", "ron_per_eur", "curs"])?;
        let by_period = table
            .rows
            .iter()
            .filter_map(|row| {
                let rate: f64 = row[rate].parse().ok()?;
                Some((Period::parse_cell(&row[period])?, positive(rate)?))
            })
            .collect();
        Ok(Rates { by_period })
    }

    /// Gives the rate of a period: its own, or the mean of the shorter ones inside, or that of
    /// its year, or the nearest year's before or after.
    pub(crate) fn of(&self, period: Period) -> Option<f64> {
        if let Some(rate) = self.by_period.get(&period) {
            return Some(*rate);
        }
        let inside: Vec<f64> = self
            .by_period
            .iter()
            .filter(|(of, _)| of.within(period.period_type()) == Some(period))
            .map(|(_, rate)| *rate)
            .collect();
        if !inside.is_empty() {
            return Some(inside.iter().sum::<f64>() / inside.len() as f64);
        }
        let mut by_year: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
        for (of, rate) in &self.by_period {
            by_year.entry(of.year()).or_default().push(*rate);
        }
        let means = by_year
            .into_iter()
            .map(|(year, rates)| (year, rates.iter().sum::<f64>() / rates.len() as f64));
        ByYear(means.collect()).of(period.within(PeriodType::Year)?.year())
    }
}

fn required(table: &Table, name: &str, columns: &[&str]) -> Result<usize> {
    table.column_of(columns).ok_or_else(|| Error::MissingColumn {
        category: "charts".to_owned(),
        column: columns[0].to_owned(),
        origin: name.to_owned(),
        available: table.columns.clone(),
    })
}

fn positive(figure: f64) -> Option<f64> {
    (figure > 0.0).then_some(figure)
}
