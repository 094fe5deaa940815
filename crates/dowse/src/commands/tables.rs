//! `dowse tables`: a draft of a configuration, and whole results in files.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::tables::{ExportFormat, Exported, Service, ServiceConfig};
use anyhow::Context as _;
use model::{Caller, Deadline};
use serde_json::{Value, json};
use tools::tables::{query_request, redacted_cell};

use crate::cli::{TableExportArgs, TablesCommand};
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::unfinished::Unfinished;

/// The longest that an export may take.
const EXPORT_LIMIT: Duration = Duration::from_secs(3600);

pub(super) fn run(command: &TablesCommand) -> anyhow::Result<()> {
    if let TablesCommand::Infer { file, .. } = command {
        ensure_files(file)?;
    }
    match command {
        TablesCommand::Infer { file, json: false } => {
            print::line(::tables::infer(file)?);
            Ok(())
        }
        TablesCommand::Infer { file, json: true } => {
            let section: toml::Table = ::tables::infer(file)?.parse()?;
            print::json(&serde_json::to_value(section)?)
        }
        TablesCommand::Export(args) => export(args),
    }
}

/// Refuses pipes and devices, which would be waited for; a name that is none of a file is read by
/// whoever knows it.
fn ensure_files(file: &Path) -> anyhow::Result<()> {
    let is_odd = |path: &Path| path.exists() && !path.is_file() && !path.is_dir();
    let mut inside = Vec::new();
    if file.is_dir() {
        inside = fs_err::read_dir(file)?.flatten().map(|entry| entry.path()).collect();
    }
    let odd = inside.iter().map(PathBuf::as_path).chain([file]).find(|path| is_odd(path));
    match odd {
        None => Ok(()),
        Some(odd) => anyhow::bail!(
            "`{}` is not a regular file\nhint: write what it gives into a file first",
            odd.display()
        ),
    }
}

/// Writes what an agent would see over all pages: redacted, without hidden fields.
fn export(args: &TableExportArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let service = Service::open(ServiceConfig {
        tables: config.tables.clone(),
        base_folder: config.base.clone(),
        cache_folder: config.data_dir.join("tables"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })?;
    let filters: Value = serde_json::from_str(args.filters.as_deref().unwrap_or("{}"))
        .context("`--filters` must be a JSON object, such as '{\"level\": [\"error\"]}'")?;
    let mut arguments = json!({ "filters": filters, "columns": args.columns });
    if let Some(table) = &args.table {
        arguments["table"] = table.as_str().into();
    }
    let request = query_request(&arguments)?;
    let extension = args.output.extension().and_then(|extension| extension.to_str());
    let format = ExportFormat::named(extension.unwrap_or_default()).with_context(|| {
        format!("`{}` must end in .csv, .jsonl or .parquet", args.output.display())
    })?;
    let unfinished = Unfinished::beside(&args.output)?;
    let mut out = BufWriter::new(unfinished.file());
    let deadline = Deadline::after(EXPORT_LIMIT);
    let Exported { n_rows, warnings, .. } = service.export(
        &Caller::local_admin(),
        &request,
        format,
        &redacted_cell,
        &mut out,
        &deadline,
    )?;
    out.flush()?;
    drop(out);
    unfinished.finish()?;
    if args.json {
        let mut answer = json!({ "rows": n_rows, "file": args.output });
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        return print::json(&answer);
    }
    for warning in &warnings {
        print::note(format!("warning: {}", warning.message));
    }
    let rows = print::counted(n_rows as usize, "row", "rows");
    print::line(format!("{rows} in {}", args.output.display()));
    Ok(())
}
