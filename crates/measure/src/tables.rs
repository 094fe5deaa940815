//! Tables beside DuckDB, polars and DataFusion: the same query and the same aggregates over the same
//! file, read into memory by each, in one run. DataFusion is measured where Python has it.

use std::path::Path;
use std::process::Command;

use columns::bench::{Measured, N_RUNS, run_beside};
use model::Report;

use crate::python;

/// Measures a folder of tables here and in Python.
pub(crate) fn run(folder: &Path) -> columns::Result<Report> {
    run_beside(folder, &compare)
}

/// Runs the same in Python and adds its figures, or says why not.
fn compare(report: &mut Report, measured: Measured<'_>) {
    let Measured { name, path, facets } = measured;
    let (script, facets) = match facets {
        Some(facets) => (include_str!("tables_stats.py"), facets.join(",")),
        None => (include_str!("tables_aggregates.py"), String::new()),
    };
    let python = python();
    let output = Command::new(&python)
        .arg("-c")
        .arg(script)
        // A folder is all its files.
        .arg(if path.is_dir() { path.join("*.csv") } else { path.to_owned() })
        .arg(facets)
        .arg(N_RUNS.to_string())
        .output();
    let (figures, problem) = match output {
        Ok(output) if output.status.success() => {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let figures = serde_json::from_str::<serde_json::Value>(printed.trim());
            (figures.ok(), "it printed no figures".to_owned())
        }
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            (None, complaint.lines().last().unwrap_or_default().to_owned())
        }
        Err(error) => (None, error.to_string()),
    };
    let Some(figures) = figures else {
        let note = format!(
            "`{python}` must have duckdb and polars (DOWSE_BENCH_PYTHON names another): {problem}"
        );
        report.add_noted(format!("{name} comparison skipped"), 0.0, "", note);
        return;
    };
    for figure in figures.as_array().into_iter().flatten() {
        let text = |key: &str| figure[key].as_str().unwrap_or_default().to_owned();
        let value = figure["value"].as_f64().unwrap_or(f64::NAN);
        add_ratio(report, &format!("{name} {}", text("name")), value);
        report.add_noted(format!("{name} {}", text("name")), value, text("unit"), text("note"));
    }
}

/// Adds how many times longer another engine takes for what was measured here, in the same run.
fn add_ratio(report: &mut Report, named: &str, value: f64) {
    for engine in ["DuckDB", "polars", "DataFusion"] {
        let ours = named.strip_suffix(&format!(", {engine}")).map(str::to_owned).or_else(|| {
            named
                .strip_suffix(&format!("{} query", engine.to_lowercase()))
                .map(|name| format!("{name}query"))
        });
        let Some(ours) = ours else { continue };
        let known = report.figures.iter().find(|figure| figure.name == ours);
        if let Some(own) = known.map(|figure| figure.value).filter(|value| *value > 0.0) {
            report.add(format!("{ours}: {engine} over ours"), value / own, "ratio");
        }
    }
}
