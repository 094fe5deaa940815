//! What is kept, and what is served of it.

use serve::App;
use store::Repair;

use super::{Finding, machine};
use crate::commands::check::{self, CheckOptions};
use crate::commands::status;
use crate::wiring::{SharedState, describe_store};

/// Looks at the model, the engine, the indexes and the sources.
pub(super) fn findings(
    shared_state: &SharedState,
    app: &App,
    options: &CheckOptions,
) -> anyhow::Result<Vec<Finding>> {
    let store = &shared_state.open_store()?.store;
    let report = check::look(shared_state, app, options)?;
    let mut findings = vec![machine::model_in(&shared_state.embedder.state())];
    if !report.problems.iter().any(|problem| problem.what == "engine") {
        findings.push(Finding::ok("engine", describe_store(store)));
    }
    // The model was said first.
    for problem in report.problems.iter().filter(|problem| problem.what != "model") {
        findings.push(Finding::problem(&problem.what, &problem.problem, &problem.hint));
    }
    let never_indexed = status::never_indexed(shared_state, app, options)?;
    for problem in &never_indexed {
        findings.push(Finding::problem(&problem.what, &problem.problem, &problem.hint));
    }
    let is_away = check::is_engine_away(store);
    let damaged = if is_away { vec![] } else { store.check(Repair::No)? };
    if damaged.is_empty() && !is_away {
        findings.push(Finding::ok("index", "catalogue and indexes agree"));
    }
    for one in damaged {
        let place = one.namespace.as_ref().map_or("catalogue", |name| name.as_str());
        findings.push(Finding::problem(
            "index",
            format!("{place}: {}", one.problem),
            "stop the server and run `dowse check --repair`",
        ));
    }
    for (kind, sources) in [("table", &report.tables), ("dimension", &report.dimensions)] {
        for source in sources {
            let check = format!("{kind} {}", source.name);
            if source.problems.is_empty() {
                findings.push(Finding::ok(&check, "can be read"));
            } else {
                findings.push(Finding::problem(
                    &check,
                    source.problems.join("; "),
                    "fix the source or its section in the configuration; `dowse check` shows the cells",
                ));
            }
        }
    }
    Ok(findings)
}
