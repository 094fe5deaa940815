//! The data of the demo: embedded in the binary, unpacked into the demo's folder.

use std::path::Path;

use anyhow::Context;

/// Rows of the generated request log.
const N_REQUESTS: usize = 50_000;

/// The seed of the generated request log.
const SEED: u64 = 1;

/// The request log's file.
const REQUESTS: &str = "requests.csv";

/// The configuration's file.
pub(super) const CONFIG: &str = "dowse.toml";

/// The document behind the search tools.
pub(super) const MANUAL: &str = "contexts/t200-manual.json";

/// The folder of the knowledge base; its folders are the collections.
const KNOWLEDGE: &str = "knowledge/";

/// Where the demo keeps what it builds, beside the folder of its files: a server that is started
/// with the demo's configuration serves what the demo serves.
const DATA: &str = "data_dir = \"../data\"\n\n";

/// The table over the generated request log, which is not in the repository.
const REQUESTS_TABLE: &str = r#"
[[tables]]
name = "requests"
source = "requests.csv"
description = "HTTP requests, one row each"

[tables.fields]
level = { type = "array", items = { type = "stringLiteral", values = ["success", "warning", "error"] }, match = "in" }
method = { type = "array", items = { type = "stringLiteral", values = ["GET", "POST", "PUT", "DELETE"] }, match = "in" }
host = { type = "string" }
pathname = { type = "string" }
latency = { type = "array", items = { type = "number" }, match = "range", unit = "ms" }
status = { type = "array", items = { type = "number" }, match = "in" }
regions = { type = "array", items = { type = "stringLiteral", values = ["ams", "fra", "gru", "hkg", "iad", "syd"] }, match = "in", separator = ";" }
date = { type = "array", items = { type = "timestamp" }, match = "range" }
"#;

/// Gives the configuration of the demo: the one of the repository, with its data and the request
/// log.
fn configuration() -> anyhow::Result<String> {
    let (_, text) = FILES.iter().find(|(name, _)| *name == CONFIG).context("it is embedded")?;
    Ok(format!("{DATA}{}{REQUESTS_TABLE}", std::str::from_utf8(text)?))
}

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../../../demo/", $path)).as_slice())),*]
    };
}

/// Every file of the world, by its path inside the folder.
const FILES: &[(&str, &[u8])] = embedded![
    "dowse.toml",
    "documents/handbook/remote-work.md",
    "documents/handbook/副業規程.md",
    "documents/handbook/concediu.md",
    "documents/handbook/出差制度.md",
    "documents/projects/lighthouse-2023.html",
    "documents/projects/harbour-notes.txt",
    "documents/projects/sensors.csv",
    "documents/projects/strategy-2025.pptx",
    "documents/contracts/vendor-northwind-2021.md",
    "documents/contracts/notice.eml",
    "documents/contracts/maintenance-osaka-2022.docx",
    "knowledge/calibration/recalibration.md",
    "knowledge/calibration/zero-drift.md",
    "knowledge/calibration/校正手順.md",
    "knowledge/plants/visitors.md",
    "knowledge/plants/energie-cluj.md",
    "contexts/t200-manual.json",
    "finance/entity.csv",
    "finance/uat.csv",
    "finance/functional.csv",
    "finance/economic.csv",
    "finance/execution.csv",
    "finance/population.csv",
    "finance/eur.csv",
];

/// Names the collections of the knowledge base.
pub(super) fn collections() -> Vec<&'static str> {
    let inside = FILES.iter().filter_map(|(path, _)| path.strip_prefix(KNOWLEDGE));
    let mut names: Vec<&str> = inside.filter_map(|path| Some(path.split_once('/')?.0)).collect();
    names.dedup();
    names
}

/// Gives the documents of a collection, by their paths inside the folder.
pub(super) fn documents_of(collection: &str) -> impl Iterator<Item = &'static str> {
    let folder = format!("{KNOWLEDGE}{collection}/");
    FILES.iter().map(|(path, _)| *path).filter(move |path| path.starts_with(&folder))
}

/// Writes what is not there yet or differs, so that a second start finds nothing changed.
pub(super) fn unpack(folder: &Path) -> anyhow::Result<()> {
    let configuration = configuration()?;
    for (name, content) in FILES {
        let content = if *name == CONFIG { configuration.as_bytes() } else { content };
        let path = folder.join(name);
        if fs_err::read(&path).is_ok_and(|there| there == content) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, content)?;
    }
    let requests = folder.join(REQUESTS);
    if !requests.exists() {
        tables::demo::requests(SEED, N_REQUESTS, &requests)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names every file below a folder of the repository's demo.
    fn below(folder: &Path, prefix: &str, names: &mut Vec<String>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                below(&entry.path(), &format!("{name}/"), names);
            } else {
                names.push(name);
            }
        }
    }

    #[test]
    fn the_configuration_has_the_generated_table() {
        let config: crate::config::Config = toml::from_str(&configuration().unwrap()).unwrap();
        assert_eq!(config.tables, [tables::demo::table_config(REQUESTS)]);
    }

    #[test]
    fn every_file_of_the_demo_is_embedded() {
        let mut names = Vec::new();
        below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo")), "", &mut names);
        names.retain(|name| !name.ends_with("README.md") && name != "finance/dowse.toml");
        names.sort();
        let mut embedded: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        embedded.sort();
        assert_eq!(embedded, names);
    }
}
