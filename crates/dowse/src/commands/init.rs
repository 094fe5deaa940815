//! `dowse init`: a first `dowse.toml` from what is in a folder.
//!
//! Looks at names and beginnings only, writes one file and never overwrites one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::json;

use crate::cli::InitArgs;
use crate::print;

/// The most files that are looked at.
const MAX_FILES: usize = 20_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 6;
/// The most tables that are drafted.
const MAX_TABLES: usize = 20;
/// A JSON document of this size is worth a search tool.
const LARGE_JSON_BYTES: u64 = 256 * 1024;

/// What a folder holds, sorted by what can be made of it.
#[derive(Debug, Default)]
struct Survey {
    /// Files by extension that text is taken from.
    documents: BTreeMap<String, usize>,
    tables: Vec<PathBuf>,
    json: Vec<PathBuf>,
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
    let text = draft(&args.folder, &survey);
    if args.print {
        if args.json {
            return print::json(&json!({ "file": out, "is_written": false, "draft": text }));
        }
        print::line(text.trim_end());
        return Ok(());
    }
    // `create_new` so that a file which appeared meanwhile is not overwritten either.
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(&out)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    if args.json {
        print::json(&json!({ "file": out, "is_written": true, "draft": text }))?;
    }
    print::note(format!("wrote {}", out.display()));
    print::note(format!(
        "next: `dowse check --config {0}`, then `dowse serve --config {0}`",
        out.display()
    ));
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
            if depth + 1 < MAX_DEPTH && !matches!(name.as_str(), "node_modules" | "target") {
                look(root, &path, depth + 1, survey)?;
            }
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
            "json" if fs_err::metadata(&path)?.len() >= LARGE_JSON_BYTES => {
                survey.json.push(relative);
            }
            "" => {}
            other if extract::Format::of_extension(other).is_some() => {
                *survey.documents.entry(other.to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }
    Ok(())
}

fn draft(root: &Path, survey: &Survey) -> String {
    let mut text = String::from(
        "# Drafted from what is in this folder. Every key: docs/reference/configuration.md.\n\
         data_dir = \".dowse\"\n",
    );
    if survey.is_cut {
        let _ = writeln!(text, "# Only the first {MAX_FILES} files were looked at.");
    }
    if !survey.documents.is_empty() {
        let kinds: Vec<String> =
            survey.documents.iter().map(|(kind, n_files)| format!("{n_files} {kind}")).collect();
        let _ = write!(text, "\n# Documents: {}.\n[files]\nroots = [\".\"]\n", kinds.join(", "));
    }
    for file in survey.tables.iter().take(MAX_TABLES) {
        match tables::infer(&root.join(file)) {
            Ok(section) => {
                let section = section.replace(
                    &root.join(file).display().to_string(),
                    &file.display().to_string().replace('\\', "/"),
                );
                let _ = write!(text, "\n{}\n", section.trim_end());
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                let _ = write!(text, "\n# `{}` is no table: {error:#}\n", file.display());
            }
        }
    }
    if survey.tables.len() > MAX_TABLES {
        let n_more = survey.tables.len() - MAX_TABLES;
        let _ = write!(text, "\n# {n_more} more tables: `dowse tables infer FILE` drafts each.\n");
    }
    if !survey.json.is_empty() {
        text.push_str("\n# Large JSON documents become search tools with `dowse context`:\n");
        for file in survey.json.iter().take(MAX_TABLES) {
            let _ = writeln!(text, "#   {}", file.display());
        }
    }
    text
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
}
