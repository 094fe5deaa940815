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
    let unfinished = Unfinished::beside(&args.output)?;
    let mut out = BufWriter::new(unfinished.file.as_file());
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

/// A file that takes the place of another once it is whole. Where it does not get that far, what
/// was there stays and nothing is left beside it.
struct Unfinished {
    file: tempfile::NamedTempFile,
    output: PathBuf,
}

impl Unfinished {
    fn beside(output: &Path) -> anyhow::Result<Self> {
        // A link stays one: what it leads to is written.
        let output = fs_err::canonicalize(output).unwrap_or_else(|_| output.to_owned());
        let kept = fs_err::metadata(&output).ok();
        anyhow::ensure!(
            kept.as_ref().is_none_or(std::fs::Metadata::is_file),
            "`{}` is no regular file\nhint: name a file that may be written",
            output.display()
        );
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // As any new file is, not for its user alone as temporary ones are.
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".dowse-export-").tempfile_in(folder).with_context(|| {
            format!("no file can be made in `{}`\nhint: name another place", folder.display())
        })?;
        if let Some(kept) = kept {
            fs_err::set_permissions(file.path(), kept.permissions())?;
        }
        Ok(Unfinished { file, output })
    }

    fn finish(self) -> anyhow::Result<()> {
        let Unfinished { file, output } = self;
        file.persist(&output).with_context(|| format!("`{}` stays as it was", output.display()))?;
        Ok(())
    }
}
