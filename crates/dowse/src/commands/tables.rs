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
            "`{}` is no regular file\nhint: write what it gives into a file first",
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
    let mut out = BufWriter::new(fs_err::File::create(&args.output)?);
    let deadline = Deadline::after(EXPORT_LIMIT);
    let Exported { n_rows, .. } = service.export(
        &Caller::local_admin(),
        &request,
        format,
        &redacted_cell,
        &mut out,
        &deadline,
    )?;
    out.flush()?;
    if args.json {
        return print::json(&json!({ "rows": n_rows, "file": args.output }));
    }
    print::line(format!("{n_rows} rows in {}", args.output.display()));
    Ok(())
}
