//! `dowse tools`: the registry, and what it costs an agent to read it.

use anyhow::Context;
use model::Caller;
use serde_json::{Value, json};

use crate::cli::ToolsArgs;
use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, Reach, reach_to_read, typed};
use crate::commands::serve::configured;
use crate::control::Typed;
use crate::print;
use crate::wiring::{Jobs, app};

/// Characters of a description on a terminal, which is only so wide.
const TERMINAL_CHARS: usize = 80;

pub(super) fn run(args: &ToolsArgs) -> anyhow::Result<Outcome> {
    let config = configured(&args.files)?.config;
    let typed = typed(Form::Typed)?;
    let reading = reach_to_read(&config, Jobs::Leave)?;
    match reading.reach {
        Reach::Running(connection) => Ok(Outcome::of(connection.run(typed)?)),
        Reach::Here(shared_state) => {
            let (app, _) = app(&reading.config, &shared_state)?;
            list(&app.tools, &typed, args.json)
        }
    }
}

/// Lists what a running server serves.
pub(super) fn hosted(host: &Host, typed: &Typed, args: &ToolsArgs) -> anyhow::Result<Outcome> {
    list(&host.app().tools, typed, args.json || typed.is_json)
}

fn list(tools: &tools::Registry, typed: &Typed, is_json: bool) -> anyhow::Result<Outcome> {
    let caller = Caller::local_admin();
    let costs = ::serve::list_cost(tools, &caller);
    let total: usize = costs.iter().map(|(_, n_tokens)| n_tokens).sum();
    let listed = tools.list(&caller);
    if is_json {
        let tools: Vec<Value> = listed
            .iter()
            .zip(&costs)
            .map(|(listed, (name, n_tokens))| {
                json!({
                    "name": name,
                    "tokens": n_tokens,
                    "description": listed.spec.description,
                })
            })
            .collect();
        print::json(&json!({ "tools": tools, "tokens": total }))?;
        return Ok(Outcome::Done);
    }
    let n_chars = if typed.is_terminal { TERMINAL_CHARS } else { usize::MAX };
    let mut rows = print::Table::new(["tool", "tokens", "what for"]);
    for (listed, (name, n_tokens)) in listed.iter().zip(&costs) {
        let what: String = listed.spec.description.chars().take(n_chars).collect();
        rows.row([json!(name), json!(n_tokens), json!(what)]);
    }
    rows.row([json!("tools/list"), json!(total), Value::Null]);
    rows.print(false).context("a table is lines")?;
    Ok(Outcome::Done)
}
