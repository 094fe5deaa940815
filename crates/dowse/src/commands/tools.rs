//! `dowse tools`: the registry, and what it costs an agent to read it.

use std::io::IsTerminal;

use model::Caller;

use crate::cli::ConfigArgs;
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{SharedState, app};

/// Characters of a description on a terminal.
const TERMINAL_CHARS: usize = 80;

pub(super) fn run(args: &ConfigArgs) -> anyhow::Result<()> {
    let config = load(args.config.as_deref(), &variable)?.config;
    let (app, _) = app(&config, &SharedState::open(&config)?)?;
    let caller = Caller::local_admin();
    let costs = ::serve::list_cost(&app.tools, &caller);
    let mut rows = vec![vec!["tool".to_owned(), "tokens".to_owned(), "what for".to_owned()]];
    for (listed, (name, n_tokens)) in app.tools.list(&caller).iter().zip(&costs) {
        // A terminal has only so much room; whoever reads the output gets all of it.
        let is_cut = std::io::stdout().is_terminal();
        let n_chars = if is_cut { TERMINAL_CHARS } else { usize::MAX };
        let what: String = listed.spec.description.chars().take(n_chars).collect();
        rows.push(vec![name.clone(), n_tokens.to_string(), what]);
    }
    let total: usize = costs.iter().map(|(_, n_tokens)| n_tokens).sum();
    rows.push(vec!["tools/list".to_owned(), total.to_string(), String::new()]);
    print::line(print::table(&rows));
    Ok(())
}
