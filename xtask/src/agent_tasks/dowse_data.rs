//! The tasks over data that is not ours, through Dowse.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use super::agent::{Agent, MAX_OPENED};
use super::data::{DataFacts, Flights, LATE_MINUTES, Sentence};
use super::facts::{AGGREGATE_FLIGHTS, CHART_FLIGHTS, FILTER_FLIGHTS, name_task};
use super::{Outcome, Played};
use crate::process::{self, Limit};

const NAME: &str = "dowse";

/// How long a draft of a table's configuration may take.
const INFER: Limit = Limit::minutes("`dowse tables infer`", 10);

/// Serves the data, waits for its index and plays every task.
pub(super) fn play(binary: &Path, facts: &DataFacts) -> anyhow::Result<Vec<Played>> {
    let folder = Folder::new();
    let config = folder.write("dowse.toml", configuration(binary, facts)?);
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(config);
    let server = Server::start_command(command);
    let mut mcp = Mcp::new(server.http(), "/mcp");
    loop {
        let answer = mcp.call("indexFolder", &json!({ "root": facts.documents }));
        anyhow::ensure!(!answer.is_error, "{}", answer.text);
        if answer.text_json()["status"] == "done" {
            break;
        }
    }
    let mut agent = Agent::new(&mut mcp);
    let mut played = Vec::new();
    for sentence in &facts.sentences {
        let task = sentence.task();
        played.push(Played::of(NAME, &task, &mut agent, |agent| cite(agent, sentence)));
    }
    if let Some(flights) = &facts.flights {
        played.push(Played::of(NAME, FILTER_FLIGHTS, &mut agent, |agent| filter(agent, flights)));
        played.push(Played::of(NAME, AGGREGATE_FLIGHTS, &mut agent, |agent| {
            aggregate(agent, flights)
        }));
        played.push(Played::of(NAME, CHART_FLIGHTS, &mut agent, |agent| chart(agent, flights)));
    }
    for (name, code) in facts.names.iter().flat_map(|names| &names.lookups) {
        played.push(Played::of(NAME, &name_task(name), &mut agent, |agent| {
            look_up(agent, name, code)
        }));
    }
    server.stop();
    Ok(played)
}

fn configuration(binary: &Path, facts: &DataFacts) -> anyhow::Result<String> {
    let roots = serde_json::to_string(&facts.documents)?;
    let mut config = format!(
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
         [files]\nroots = [{roots}]\nwatch = false\n\
         [limits]\nrate_per_minute = {{ default = 100000, searchFiles = 100000, openFile = 100000 }}\n"
    );
    if let Some(flights) = &facts.flights {
        // What `infer` drafts is served as it is, as somebody would who tries a table.
        let mut command = Command::new(binary);
        command.args(["tables", "infer"]).arg(&flights.path);
        let drafted = process::read(command, INFER)?;
        anyhow::ensure!(drafted.status.success(), "`dowse tables infer`: {}", drafted.stderr);
        config.push('\n');
        config.push_str(&drafted.stdout);
    }
    if let Some(names) = &facts.names {
        let source = serde_json::to_string(&names.path)?;
        config.push_str(&format!(
            "\n[[dimensions]]\ncategory = \"entity\"\nsource = {source}\nvalue = \"CIF\"\n\
             filter_key = \"entity_cuis\"\nname = \"ENTITATE\"\ncontext = \"County: {{JUDET}}\"\n"
        ));
    }
    Ok(config)
}

/// Cites: path and pointer of a result, at which a file says the words.
fn cite(agent: &mut Agent<'_>, sentence: &Sentence) -> anyhow::Result<Outcome> {
    let page = agent.json("searchFiles", &json!({ "query": sentence.words, "k": 5 }))?;
    for item in page["items"].as_array().into_iter().flatten().take(MAX_OPENED) {
        let place = json!({ "path": item["path"], "pointer": item["pointer"] });
        let opened = agent.json("openFile", &place)?;
        if sentence.is_in(opened["preview"].as_str().unwrap_or_default()) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("`{}` was not shown", sentence.line)))
}

fn filter(agent: &mut Agent<'_>, flights: &Flights) -> anyhow::Result<Outcome> {
    agent.json("describe_schema", &json!({}))?;
    let filters = json!({
        "carrier": flights.carrier, "origin": flights.origin,
        "dep_delay": { "min": LATE_MINUTES },
    });
    let page = agent.json("query_table", &json!({ "filters": filters, "pageSize": 1 }))?;
    Ok(match page["total"].as_u64() {
        Some(total) if total == flights.n_late => Outcome::Success,
        total => Outcome::Failed(format!("{total:?} instead of {}", flights.n_late)),
    })
}

fn aggregate(agent: &mut Agent<'_>, flights: &Flights) -> anyhow::Result<Outcome> {
    agent.json("describe_schema", &json!({}))?;
    let measure = json!({ "op": "avg", "field": "arr_delay", "as": "mean" });
    let arguments = json!({ "group_by": "carrier", "measures": [measure] });
    let answer = agent.json("aggregate_table", &arguments)?;
    let rows = answer["rows"].as_array().context("there are no rows")?;
    let is_right = |row: &Value| {
        let mean = row["carrier"].as_str().and_then(|carrier| flights.mean_delay.get(carrier));
        mean.zip(row["mean"].as_f64())
            .is_some_and(|(expected, mean)| (expected - mean).abs() < 0.01)
    };
    let is_whole = rows.len() == flights.mean_delay.len() && rows.iter().all(is_right);
    Ok(if is_whole { Outcome::Success } else { Outcome::Failed(format!("{rows:?}")) })
}

fn chart(agent: &mut Agent<'_>, flights: &Flights) -> anyhow::Result<Outcome> {
    agent.json("describe_schema", &json!({}))?;
    let arguments = json!({ "title": "Flights by month", "group_by": "month" });
    let chart = agent.json("chart_table", &arguments)?;
    let has_page = chart["chart_url"].as_str().is_some_and(|url| url.contains("/charts/"));
    let statistics = &chart["series"][0]["statistics"];
    let figure = |name: &str| statistics[name].as_f64().map(|figure| figure as u64);
    let months = flights.by_month.values();
    let is_right = has_page
        && figure("count") == Some(flights.by_month.len() as u64)
        && figure("sum") == Some(months.clone().sum())
        && figure("min") == months.clone().min().copied()
        && figure("max") == months.max().copied();
    Ok(if is_right { Outcome::Success } else { Outcome::Failed(chart.to_string()) })
}

fn look_up(agent: &mut Agent<'_>, name: &str, code: &str) -> anyhow::Result<Outcome> {
    let found = agent.json("search_filters", &json!({ "category": "entity", "query": name }))?;
    let pick = found.get("bestMatch").unwrap_or(&found["results"][0]);
    Ok(match pick["filterValue"].as_str() {
        Some(value) if value == code => Outcome::Success,
        value => Outcome::Failed(format!("{value:?} instead of {code}")),
    })
}
