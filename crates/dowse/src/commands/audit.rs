//! `dowse audit`: who called what, and how it ended.

use guard::Audit;

use crate::cli::AuditArgs;
use crate::commands::variable;
use crate::config::load;
use crate::print;

pub(super) fn run(args: &AuditArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let entries = Audit::tail(&config.data_dir.join("audit"), args.entries, |entry| {
        args.tool.as_ref().is_none_or(|tool| *tool == entry.tool)
            && args.caller.as_ref().is_none_or(|caller| *caller == entry.caller)
    })?;
    if args.json {
        for entry in &entries {
            print::line(serde_json::to_string(entry)?);
        }
        return Ok(());
    }
    let head = ["time (ms)", "tool", "tenant/caller", "outcome", "results", "ms", "query"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for entry in &entries {
        let outcome = match &entry.code {
            Some(code) => code.clone(),
            None => "ok".to_owned(),
        };
        rows.push(vec![
            entry.at.millis().to_string(),
            entry.tool.clone(),
            format!("{}/{}", entry.tenant, entry.caller),
            outcome,
            entry.results.to_string(),
            format!("{:.1}", entry.latency_ms),
            entry.query.as_deref().unwrap_or("-").chars().take(60).collect(),
        ]);
    }
    print::line(print::table(&rows));
    Ok(())
}
