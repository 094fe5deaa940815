//! `dowse audit`: who called what, and how it ended.

use std::io::IsTerminal as _;

use guard::Audit;
use model::iso;
use serde_json::json;

use crate::cli::AuditArgs;
use crate::commands::sets::load_placed;
use crate::config::Purpose;
use crate::print;

/// Characters of a query on a terminal.
const QUERY_CHARS: usize = 60;

pub(super) fn run(args: &AuditArgs) -> anyhow::Result<()> {
    let config = load_placed(&args.config, &args.data, Purpose::Look)?.config;
    let folder = config.data_dir.join("audit");
    let (entries, n_unread) = Audit::tail_and_unread(&folder, args.entries, |entry| {
        args.tool.as_ref().is_none_or(|tool| *tool == entry.tool)
            && args.caller.as_ref().is_none_or(|caller| *caller == entry.caller)
    })?;
    if n_unread > 0 {
        let lines = print::counted(n_unread, "line", "lines");
        print::note(format!(
            "note: {lines} of the audit in `{}` cannot be read, since they were cut short or \
             changed; the entries that they held are left out",
            folder.display()
        ));
    }
    if args.json {
        for entry in &entries {
            print::line(serde_json::to_string(entry)?);
        }
        return Ok(());
    }
    let mut rows =
        print::Table::new(["time", "tool", "tenant/caller", "outcome", "results", "ms", "query"]);
    // Whoever reads a pipe gets the whole query.
    let room = std::io::stdout().is_terminal().then_some(QUERY_CHARS);
    for entry in &entries {
        let query = entry.query.as_deref().map(|query| print::on_one_line(query, room));
        rows.row([
            json!(iso(entry.at)),
            json!(entry.tool),
            json!(format!("{}/{}", entry.tenant, entry.caller)),
            json!(entry.code.as_deref().unwrap_or("ok")),
            json!(entry.results),
            json!(format!("{:.1}", entry.latency_ms)),
            json!(query.as_deref().unwrap_or("-")),
        ]);
    }
    rows.print(false)
}
