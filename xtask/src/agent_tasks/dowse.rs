//! The demo's tasks through Dowse.

use serde_json::{Value, json};
use testkit::Mcp;

use super::agent::{Agent, MAX_OPENED, MAX_PAGES};
use super::facts::{AGGREGATE, CHART, FILTER, Facts, QUESTIONS, Question, document_task};
use super::{Outcome, Played};

const NAME: &str = "dowse";

/// Plays every task.
pub(super) fn play(mcp: &mut Mcp, facts: &Facts) -> Vec<Played> {
    let mut agent = Agent::new(mcp);
    let mut played = Vec::new();
    for question in &QUESTIONS {
        let task = |kind: &str| document_task(kind, question);
        played.push(Played::of(NAME, &task("find"), &mut agent, |agent| find(agent, question)));
        played.push(Played::of(NAME, &task("read"), &mut agent, |agent| read(agent, question)));
        played.push(Played::of(NAME, &task("cite"), &mut agent, |agent| cite(agent, question)));
    }
    played.push(Played::of(NAME, FILTER, &mut agent, |agent| filter(agent, facts)));
    played.push(Played::of(NAME, AGGREGATE, &mut agent, |agent| aggregate(agent, facts)));
    played.push(Played::of(NAME, CHART, &mut agent, chart));
    played
}

/// Finds the file: its name is in a result.
fn find(agent: &mut Agent<'_>, question: &Question) -> anyhow::Result<Outcome> {
    let mut arguments = json!({ "query": question.words, "limit": "5", "cursor": null });
    for _ in 0..MAX_PAGES {
        let page = agent.json("search", &arguments)?;
        if page["results"].to_string().contains(question.file) {
            return Ok(Outcome::Success);
        }
        match page.get("next") {
            Some(next) => arguments["cursor"] = next.clone(),
            None => break,
        }
    }
    Ok(Outcome::Failed(format!("`{}` was not found", question.file)))
}

/// Reads what the file says, from the first results on.
fn read(agent: &mut Agent<'_>, question: &Question) -> anyhow::Result<Outcome> {
    let page = agent.json("search", &json!({ "query": question.words, "limit": 5 }))?;
    for result in page["results"].as_array().into_iter().flatten().take(MAX_OPENED) {
        let text = agent.text("fetch", &json!({ "id": result["id"] }))?;
        if text.contains(question.says) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("`{}` was not read", question.says)))
}

/// Cites: path and pointer of a result, at which the file says it.
fn cite(agent: &mut Agent<'_>, question: &Question) -> anyhow::Result<Outcome> {
    let arguments = json!({ "query": question.words, "k": "3", "exts": null, "offset": 0 });
    let page = agent.json("searchFiles", &arguments)?;
    for item in page["items"].as_array().into_iter().flatten().take(MAX_OPENED) {
        let place = json!({ "path": item["path"], "pointer": item["pointer"] });
        let opened = agent.json("openFile", &place)?;
        let is_right = item["path"].as_str().is_some_and(|path| path.ends_with(question.file));
        if is_right && opened["preview"].as_str().is_some_and(|text| text.contains(question.says)) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("no place of `{}` shows it", question.file)))
}

fn filter(agent: &mut Agent<'_>, facts: &Facts) -> anyhow::Result<Outcome> {
    agent.json("describe_schema", &json!({}))?;
    // One value where a list is expected, and a number as text, as models write them.
    let filters = json!({ "level": "error", "host": facts.host });
    let page = agent.json("query_table", &json!({ "filters": filters, "pageSize": "1" }))?;
    Ok(match page["total"].as_u64() {
        Some(total) if total == facts.n_errors => Outcome::Success,
        total => Outcome::Failed(format!("{total:?} instead of {}", facts.n_errors)),
    })
}

fn aggregate(agent: &mut Agent<'_>, facts: &Facts) -> anyhow::Result<Outcome> {
    agent.json("describe_schema", &json!({}))?;
    let measure = json!({ "op": "avg", "field": "latency", "as": "mean" });
    let arguments = json!({ "group_by": "level", "measures": measure });
    let answer = agent.json("aggregate_table", &arguments)?;
    let is_right = |row: &Value| {
        let mean = row["level"].as_str().and_then(|level| facts.mean_latency.get(level));
        mean.zip(row["mean"].as_f64())
            .is_some_and(|(expected, mean)| (expected - mean).abs() < 0.01)
    };
    let rows = answer["rows"].as_array().cloned().unwrap_or_default();
    let is_whole = rows.len() == facts.mean_latency.len() && rows.iter().all(is_right);
    Ok(if is_whole { Outcome::Success } else { Outcome::Failed(format!("{rows:?}")) })
}

fn chart(agent: &mut Agent<'_>) -> anyhow::Result<Outcome> {
    let mut filter = json!({
        "report_period": {
            "type": "YEAR", "selection": { "interval": { "start": "2020", "end": "2024" } },
        },
        "account_category": "ch",
    });
    let lookups = [("uat", "Cluj"), ("functional_classification", "educație")];
    for (category, query) in lookups {
        let found =
            agent.json("search_filters", &json!({ "category": category, "query": query }))?;
        let pick = found.get("bestMatch").unwrap_or(&found["results"][0]);
        let Some(key) = pick["filterKey"].as_str() else {
            return Ok(Outcome::Failed(format!("no value for `{query}`")));
        };
        filter[key] = json!([pick["filterValue"]]);
    }
    let series = json!([{ "label": "Cluj", "filter": filter }]);
    let arguments = json!({
        "title": "Education in Cluj", "chart_type": "line", "series_definitions": series,
    });
    let chart = agent.json("generate_chart_data", &arguments)?;
    let has_page = chart["chart_url"].as_str().is_some_and(|url| url.contains("/charts/"));
    let sum = chart["data_series"][0]["statistics"]["sum"].as_f64().unwrap_or(0.0);
    Ok(if has_page && sum > 0.0 { Outcome::Success } else { Outcome::Failed(chart.to_string()) })
}
