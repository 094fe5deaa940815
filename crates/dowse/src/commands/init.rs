//! `dowse init`: a first `dowse.toml` from what is in a folder.
//!
//! Writes one file and never overwrites one. What it writes passes `dowse check`: tables are read
//! whole, and one of which not all can be served is left in the draft as a comment, with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use model::{Caller, Deadline};
use serde_json::json;

use crate::cli::InitArgs;
use crate::commands::check::table_report;
use crate::config::data_dir_flag;
use crate::print;

/// The most files that are looked at.
const MAX_FILES: usize = 20_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 6;
/// The most tables that are drafted.
const MAX_TABLES: usize = 20;
/// A file of every data folder.
const OWN_FILE: &str = "console.secret";
/// So much of a JSON document is read to see what it is.
const BEGINNING_BYTES: u64 = 64;
/// How long one table may take to be read.
const READING_LIMIT: Duration = Duration::from_secs(30);
/// Things that are wrong with a table and are named.
const MAX_NAMED_PROBLEMS: usize = 3;
/// A JSON document of this size is worth a search tool.
const LARGE_JSON_BYTES: u64 = 256 * 1024;

/// What a folder holds, sorted by what can be made of it.
#[derive(Debug, Default)]
struct Survey {
    /// Files by extension that text is taken from.
    documents: BTreeMap<String, usize>,
    tables: Vec<PathBuf>,
    databases: Vec<PathBuf>,
    /// Files that are named as databases and are none.
    no_databases: Vec<PathBuf>,
    json: Vec<PathBuf>,
    /// Folders that could not be looked into, with the reason.
    closed: Vec<String>,
    n_files: usize,
    is_cut: bool,
}

pub(super) fn run(args: &InitArgs) -> anyhow::Result<()> {
    let out = args.folder.join("dowse.toml");
    anyhow::ensure!(
        args.folder.is_dir(),
        "`{}` is not a folder\nhint: name a folder that exists",
        args.folder.display()
    );
    if !args.print && out.exists() {
        bail!(
            "`{}` exists and was left alone\nhint: print a draft with `--print`, or name another folder",
            out.display()
        );
    }
    let mut survey = Survey::default();
    look(&args.folder, &args.folder, 0, &mut survey)?;
    let Draft { text, n_left_out } = draft(&args.folder, &survey)?;
    if n_left_out > 0 {
        let tables = print::counted(n_left_out, "table is", "tables are");
        print::note(format!(
            "note: {tables} left out, since not all rows fit; the draft says which"
        ));
    }
    if args.print {
        if args.json {
            return print::json(&json!({ "file": out, "is_written": false, "draft": text }));
        }
        print::line(text.trim_end());
        return Ok(());
    }
    // `create_new` so that a file which appeared meanwhile is not overwritten either.
    let mut file =
        fs_err::OpenOptions::new().write(true).create_new(true).open(&out).context(
            "the draft cannot be written there\nhint: add `--print` to print it instead",
        )?;
    if let Err(error) = std::io::Write::write_all(&mut file, text.as_bytes()) {
        // Half a draft would be taken for a configuration, and keep the next one from being made.
        let _ = fs_err::remove_file(&out);
        return Err(error.into());
    }
    if args.json {
        print::json(&json!({ "file": out, "is_written": true, "draft": text }))?;
    }
    print::note(format!("wrote {}", out.display()));
    // A `dowse.toml` here is found by itself.
    let config = match args.folder == Path::new(".") {
        true => String::new(),
        false => format!(" --config {}", print::in_shell(&out)),
    };
    print::note(format!("next: `dowse check{config}`, then `dowse serve{config}`"));
    Ok(())
}

fn look(root: &Path, folder: &Path, depth: usize, survey: &mut Survey) -> anyhow::Result<()> {
    let mut entries: Vec<PathBuf> = fs_err::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            // What this program keeps is no source.
            let is_own = path.join(OWN_FILE).exists();
            let is_foreign = matches!(name.as_str(), "node_modules" | "target");
            if depth + 1 < MAX_DEPTH
                && !is_own
                && !is_foreign
                && let Err(error) = look(root, &path, depth + 1, survey)
            {
                survey.closed.push(format!("{error:#}"));
            }
            continue;
        }
        // A pipe or a device would be waited for.
        if !path.is_file() {
            continue;
        }
        if survey.n_files >= MAX_FILES {
            survey.is_cut = true;
            return Ok(());
        }
        survey.n_files += 1;
        let extension =
            path.extension().map(|text| text.to_string_lossy().to_lowercase()).unwrap_or_default();
        let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
        match extension.as_str() {
            "csv" | "tsv" | "parquet" | "jsonl" | "ndjson" => survey.tables.push(relative),
            "json" if is_records(&path) => survey.tables.push(relative),
            "json" if path.metadata().is_ok_and(|file| file.len() >= LARGE_JSON_BYTES) => {
                survey.json.push(relative);
            }
            other if extract::Format::of_extension(other).is_some() => {
                *survey.documents.entry(other.to_owned()).or_default() += 1;
            }
            // Databases have all kinds of names.
            _ if tables::is_sqlite(&path) => survey.databases.push(relative),
            "sqlite" | "sqlite3" | "db" => survey.no_databases.push(relative),
            _ => {}
        }
    }
    Ok(())
}

/// Tells whether a JSON file is a list of objects, which are rows.
fn is_records(file: &Path) -> bool {
    let mut beginning = Vec::new();
    let opened = fs_err::File::open(file);
    let read = opened.and_then(|file| file.take(BEGINNING_BYTES).read_to_end(&mut beginning));
    let beginning = String::from_utf8_lossy(&beginning);
    let inside = beginning.trim_start_matches('\u{feff}').trim_start().strip_prefix('[');
    read.is_ok() && inside.is_some_and(|inside| inside.trim_start().starts_with('{'))
}

/// What a server would be told, and how many tables were left out of it.
struct Draft {
    text: String,
    n_left_out: usize,
}

fn draft(root: &Path, survey: &Survey) -> anyhow::Result<Draft> {
    let data_dir = data_dir_flag().map_or(".dowse".into(), Path::to_string_lossy);
    let mut text = format!(
        "# Drafted from what is in this folder. Every key: docs/reference/configuration.md.\n\
         data_dir = {}\n",
        toml::Value::String(data_dir.into_owned())
    );
    if survey.is_cut {
        let _ = writeln!(text, "# Only the first {MAX_FILES} files were read.");
    }
    for problem in &survey.closed {
        let _ = writeln!(text, "# Not looked into: {}", in_comment(problem));
    }
    if !survey.documents.is_empty() {
        let kinds: Vec<String> =
            survey.documents.iter().map(|(kind, n_files)| format!("{n_files} {kind}")).collect();
        let kinds = in_comment(&kinds.join(", "));
        let _ = write!(text, "\n# Documents: {kinds}.\n[files]\nroots = [\".\"]\n");
    }
    for file in survey.no_databases.iter().take(MAX_TABLES) {
        let shown = in_comment(&file.display().to_string());
        let _ = write!(text, "\n# `{shown}` is no SQLite database, and was passed over.\n");
    }
    let sources = sources(root, survey, &mut text);
    let (mut names, mut n_left_out) = (BTreeSet::new(), 0);
    for source in sources.iter().take(MAX_TABLES) {
        match tables::infer_config(Path::new(&source.absolute)) {
            Ok((mut config, notes)) => {
                config.name = unused(&source.names(&config.name), &names);
                names.insert(config.name.clone());
                config.source.clone_from(&source.relative);
                let table = tables::to_toml(&config, &notes, None);
                let problems = problems_of(root, config)?;
                if problems.is_empty() {
                    let _ = write!(text, "\n{table}");
                    continue;
                }
                n_left_out += 1;
                let shown = in_comment(&source.relative);
                let _ = write!(
                    text,
                    "\n# `{shown}` is left out, since not all of it can be served: {}.\n\
                     # Mend it, or take away the first `#` of these lines: `dowse check` tells what \
                     does not fit.\n",
                    in_comment(&problems.join("; "))
                );
                table.lines().for_each(|line| text.push_str(&format!("# {line}\n")));
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                let (shown, problem) =
                    (in_comment(&source.relative), in_comment(&format!("{error:#}")));
                let _ = write!(text, "\n# `{shown}` is not a table: {problem}\n");
            }
        }
    }
    if sources.len() > MAX_TABLES {
        let more = print::counted(sources.len() - MAX_TABLES, "more table", "more tables");
        let _ = write!(text, "\n# {more}: `dowse tables infer FILE` drafts each.\n");
    }
    if !survey.json.is_empty() {
        text.push_str("\n# Large JSON documents become search tools with `dowse context`:\n");
        for file in survey.json.iter().take(MAX_TABLES) {
            let _ = writeln!(text, "#   {}", in_comment(&file.display().to_string()));
        }
    }
    Ok(Draft { text, n_left_out })
}

/// Reads a table as a server would, and gives what `dowse check` would say is wrong with it; of many
/// things the first.
fn problems_of(root: &Path, config: tables::TableConfig) -> anyhow::Result<Vec<String>> {
    let cache = tempfile::tempdir()?;
    let opened = tables::Service::open(tables::ServiceConfig {
        tables: vec![config],
        base_folder: root.to_owned(),
        cache_folder: cache.path().to_owned(),
        export_link_minutes: 1,
    });
    let service = match opened {
        Ok(service) => service,
        Err(error) => return Ok(vec![format!("{:#}", anyhow::Error::from(error))]),
    };
    let deadline = Deadline::after(READING_LIMIT);
    let reports = service.load_reports(&Caller::local_admin(), &deadline);
    let problems = reports.into_iter().flat_map(|(name, read)| table_report(name, read).problems);
    Ok(problems.take(MAX_NAMED_PROBLEMS).collect())
}

/// Rows that a table can be made of.
struct TableSource {
    /// As it is opened from here.
    absolute: String,
    /// As the configuration beside it says it.
    relative: String,
    /// The folders and the file that lead to it, from the outside in.
    parts: Vec<String>,
}

impl TableSource {
    fn new(root: &Path, file: &Path, table: Option<&str>) -> Option<Self> {
        let inner = file.to_str()?;
        // Elsewhere it is a letter of the name.
        let inner = if cfg!(windows) { inner.replace('\\', "/") } else { inner.to_owned() };
        let whole = root.join(file);
        let whole = whole.to_str()?;
        let (absolute, relative) = match table {
            Some(table) => (format!("sqlite:{whole}#{table}"), format!("sqlite:{inner}#{table}")),
            None => (whole.to_owned(), inner),
        };
        let mut parts: Vec<String> = file
            .with_extension("")
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        if table.is_none() {
            parts.pop();
        }
        Some(TableSource { absolute, relative, parts })
    }

    /// The names it may have, each with one more folder before it than the one before.
    fn names(&self, own: &str) -> Vec<String> {
        let mut names = vec![own.to_owned()];
        for part in self.parts.iter().rev() {
            let name = format!("{part}_{}", names.last().map_or(own, String::as_str));
            names.push(name);
        }
        names
    }
}

/// Finds everything that has rows; what cannot be named is said in the draft.
fn sources(root: &Path, survey: &Survey, text: &mut String) -> Vec<TableSource> {
    let mut found: Vec<(PathBuf, Option<String>)> =
        survey.tables.iter().map(|file| (file.clone(), None)).collect();
    for file in &survey.databases {
        match tables::sqlite_tables(&root.join(file)) {
            Ok(names) => found.extend(names.into_iter().map(|name| (file.clone(), Some(name)))),
            Err(error) => {
                let error = in_comment(&format!("{:#}", anyhow::Error::from(error)));
                let shown = in_comment(&file.display().to_string());
                let _ = write!(text, "\n# `{shown}` cannot be read: {error}\n");
            }
        }
    }
    let mut sources = Vec::new();
    for (file, table) in found {
        let is_plain = table.as_ref().is_none_or(|name| !name.contains('#'));
        match TableSource::new(root, &file, table.as_deref()).filter(|_| is_plain) {
            Some(source) => sources.push(source),
            None => {
                let shown = in_comment(&file.display().to_string());
                let _ = write!(text, "\n# `{shown}` has a name that cannot be written here.\n");
            }
        }
    }
    // What lies outermost keeps its plain name.
    sources.sort_by_key(|source| source.parts.len());
    sources
}

/// Takes the first name that no other table has, with a number where all are taken.
fn unused(names: &[String], taken: &BTreeSet<String>) -> String {
    let longest = names.last().map_or("table", String::as_str);
    let numbered = (2..).map(|number| format!("{longest}_{number}"));
    let mut all = names.iter().cloned().chain(numbered);
    all.find(|name| !taken.contains(name)).unwrap_or_else(|| longest.to_owned())
}

/// A comment ends with its line, and has no control characters.
fn in_comment(text: &str) -> String {
    let shown: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_names_what_is_there_and_overwrites_nothing() {
        let folder = testkit::Folder::new();
        folder.write("notes/a.md", "# A");
        folder.write("notes/b.docx", "");
        folder.write("sales.csv", "day,amount\n2024-01-01,3\n2024-01-02,4\n");
        folder.write(".git/config", "");
        let args = InitArgs { folder: folder.path().to_owned(), print: false, json: false };
        run(&args).unwrap();
        let text = folder.read("dowse.toml");
        assert!(text.contains("# Documents: 1 docx, 1 md."), "{text}");
        assert!(text.contains("[[tables]]") && text.contains("source = \"sales.csv\""), "{text}");
        toml::from_str::<crate::config::Config>(&text).unwrap();
        let error = run(&args).unwrap_err().to_string();
        assert!(error.contains("was left alone"), "{error}");
        assert_eq!(folder.read("dowse.toml"), text);
    }

    /// A list of records was counted as a document, a broken database was passed over without a
    /// word, and a pipe was waited for without an end.
    #[test]
    fn records_are_rows_and_what_is_no_file_is_not_read() {
        let folder = testkit::Folder::new();
        folder.write("orders.json", " [\n {\"id\": 1, \"n\": 2}, {\"id\": 2, \"n\": 3}]");
        folder.write("settings.json", "{\"id\": 1}");
        folder.write("names.json", "[\"a\", \"b\"]");
        folder.write("notdb.sqlite", "no database");
        #[cfg(unix)]
        for name in ["pipe.csv", "pipe"] {
            let made = std::process::Command::new("mkfifo").arg(folder.join(name)).status();
            assert!(made.unwrap().success());
        }
        let args = InitArgs { folder: folder.path().to_owned(), print: false, json: false };
        run(&args).unwrap();
        let text = folder.read("dowse.toml");
        let config: crate::config::Config = toml::from_str(&text).unwrap();
        let sources: Vec<&str> = config.tables.iter().map(|table| table.source.as_str()).collect();
        assert_eq!(sources, ["orders.json"], "{text}");
        assert!(text.contains("# `notdb.sqlite` is no SQLite database"), "{text}");
        assert!(text.contains("2 json"), "{text}");
    }

    /// Two files of one name made two tables of one name, which no server takes, and databases
    /// were passed over.
    #[test]
    fn every_table_of_every_file_and_database_has_a_name_of_its_own() {
        let folder = testkit::Folder::new();
        for path in ["sales.csv", "2023/sales.csv", "2024/eu/sales.csv", "2024/us/sales.csv"] {
            folder.write(path, "day,amount\n2024-01-01,3\n2024-01-02,4\n");
        }
        folder.write("odd \"quoted\" 東京.csv", "a,b\n1,2\n");
        folder.write("2024/sales.tsv", "day\tamount\n2024-01-01\t3\n");
        folder.write("thumbs.db", "no database");
        // It has two tables: `sales`, and one with a blank in its name.
        folder.write("shop.db", include_bytes!("../../tests/data/shop.sqlite"));
        let args = InitArgs { folder: folder.path().to_owned(), print: false, json: false };
        run(&args).unwrap();
        let text = folder.read("dowse.toml");
        let config: crate::config::Config = toml::from_str(&text).unwrap();
        let names: BTreeSet<&str> = config.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names.len(), config.tables.len(), "{text}");
        assert_eq!(config.tables.len(), 8, "{text}");
        assert!(names.contains("shop_sales") && names.contains("us_sales"), "{names:?}");
        // What is drafted can be served as it is.
        let service = tables::Service::open(tables::ServiceConfig {
            tables: config.tables.clone(),
            base_folder: folder.path().to_owned(),
            cache_folder: folder.join("cache"),
            export_link_minutes: 1,
        });
        service.unwrap();
    }
}
