//! DuckDB behind MCP: SQL over the tables.

use std::process::Command;

use anyhow::Context as _;
use serde_json::json;
use testkit::{StdioSession, bed};
use xshell::cmd;

use super::{INSTALL, PROTOCOL, PeerRequest, PeerRun, impossible, without_documents};
use crate::agent_tasks::agent::{Agent, ToolServer as _, list_tokens};
use crate::agent_tasks::data::{DataFacts, Flights, LATE_MINUTES};
use crate::agent_tasks::facts::{
    AGGREGATE, AGGREGATE_FLIGHTS, CHART, CHART_FLIGHTS, FILTER, FILTER_FLIGHTS, Facts, name_task,
};
use crate::agent_tasks::{Outcome, Played};
use crate::process;
use crate::testbed::stamp;

pub(super) const NAME: &str = "mcp-server-motherduck";

pub(super) fn play(asked: PeerRequest<'_>) -> anyhow::Result<PeerRun> {
    let folder = bed::folder().join("peer-duckdb");
    stamp::once(&folder, NAME, || {
        let shell = xshell::Shell::new()?;
        process::run(cmd!(shell, "python3 -m venv {folder}"), INSTALL)?;
        let python = folder.join("bin/python");
        let package = NAME;
        let install =
            cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check {package}");
        process::run(install, INSTALL)
    })?;
    let mut command = Command::new(folder.join("bin/mcp-server-motherduck"));
    command.args(["--db-path", ":memory:", "--read-write"]);
    let mut session = StdioSession::start(command);
    session.initialize(PROTOCOL);
    let tools = session.tools();
    let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    let query = names
        .clone()
        .find(|name| name.contains("query"))
        .context("it has no tool for queries")?
        .to_owned();
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let mut played = without_documents(NAME, &mut agent, asked);
    played.extend(over_demo(&query, &mut agent, asked.demo));
    played.extend(impossible(NAME, &mut agent, vec![CHART.to_owned()]));
    if let Some(data) = asked.data {
        played.extend(over_data(&query, &mut agent, data));
    }
    Ok(PeerRun { list_tokens, played })
}

fn over_demo(query: &str, agent: &mut Agent<'_>, facts: &Facts) -> Vec<Played> {
    let table = format!("read_csv_auto('{}')", facts.requests.display());
    let filter = Played::of(NAME, FILTER, agent, |agent| {
        agent.text(query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let host = &facts.host;
        let sql = format!("SELECT count(*) FROM {table} WHERE level = 'error' AND host = '{host}'");
        count(agent, query, &sql, facts.n_errors)
    });
    let aggregate = Played::of(NAME, AGGREGATE, agent, |agent| {
        agent.text(query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let sql = format!("SELECT level, avg(latency) FROM {table} GROUP BY level");
        means(agent, query, &sql, facts.mean_latency.values())
    });
    vec![filter, aggregate]
}

fn over_data(query: &str, agent: &mut Agent<'_>, data: &DataFacts) -> Vec<Played> {
    let mut played = Vec::new();
    if let Some(flights) = &data.flights {
        played.extend(over_flights(query, agent, flights));
        played.extend(impossible(NAME, agent, vec![CHART_FLIGHTS.to_owned()]));
    }
    if let Some(names) = &data.names {
        let table = format!("read_csv_auto('{}', delim = ';')", names.path.display());
        for (name, code) in &names.lookups {
            played.push(Played::of(NAME, &name_task(name), agent, |agent| {
                agent.text(query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
                let quoted = name.replace('\'', "''");
                let sql = format!(
                    "SELECT CIF, ENTITATE FROM {table} WHERE ENTITATE ILIKE '%{quoted}%' LIMIT 10"
                );
                let answer = agent.text(query, &json!({ "sql": sql }))?;
                // An agent picks the right row of ten by its name.
                Ok(match answer.contains(code) {
                    true => Outcome::Success,
                    false => Outcome::Failed(format!("no row with {code}")),
                })
            }));
        }
    }
    played
}

fn over_flights(query: &str, agent: &mut Agent<'_>, flights: &Flights) -> Vec<Played> {
    let table = format!("read_csv_auto('{}', nullstr = 'NA')", flights.path.display());
    let filter = Played::of(NAME, FILTER_FLIGHTS, agent, |agent| {
        agent.text(query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let Flights { carrier, origin, .. } = flights;
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE carrier = '{carrier}' AND origin = '{origin}' AND \
             dep_delay >= {LATE_MINUTES}"
        );
        count(agent, query, &sql, flights.n_late)
    });
    let aggregate = Played::of(NAME, AGGREGATE_FLIGHTS, agent, |agent| {
        agent.text(query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let sql = format!("SELECT carrier, avg(arr_delay) FROM {table} GROUP BY carrier");
        means(agent, query, &sql, flights.mean_delay.values())
    });
    vec![filter, aggregate]
}

fn count(agent: &mut Agent<'_>, query: &str, sql: &str, n: u64) -> anyhow::Result<Outcome> {
    let answer = agent.text(query, &json!({ "sql": sql }))?;
    let is_right = answer.contains(&n.to_string());
    Ok(if is_right { Outcome::Success } else { Outcome::Failed(answer) })
}

fn means<'m>(
    agent: &mut Agent<'_>,
    query: &str,
    sql: &str,
    mut means: impl Iterator<Item = &'m f64>,
) -> anyhow::Result<Outcome> {
    let answer = agent.text(query, &json!({ "sql": sql }))?;
    // The digits before the last that may be rounded.
    let is_right =
        means.all(|mean| answer.contains(&format!("{:.1}", (mean * 10.0).trunc() / 10.0)));
    Ok(if is_right { Outcome::Success } else { Outcome::Failed(answer) })
}
