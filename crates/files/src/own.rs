//! What is Dowse's own in a data folder, which is never indexed, whatever folder is served.

use std::path::{Path, PathBuf};

/// What a Dowse has in its data folder. Where somebody's project is the data folder, too, everything
/// else in there is theirs.
const FOLDERS: [&str; 9] =
    ["answers", "audit", "charts", "eval", "names", "staging", "store", "tables", "uploads"];
const FILES: [&str; 8] = [
    "console.secret",
    "control.sock",
    "demo-endpoint.json",
    "folders.json",
    "folders.json.damaged",
    "judged.jsonl",
    "last-backup.json",
    "store.mark",
];
/// How the names begin, and what is in them, of those of which there may be several.
const PATTERNS: [(&str, &str); 2] = [("judged-", ".jsonl"), ("backup-", ".unfinished")];

/// Tells whether a folder is the data folder of a Dowse, this one or any other: it holds what other
/// callers asked, and copies of documents that not everybody may see.
pub(crate) fn is_data_folder(folder: &Path) -> bool {
    // A catalogue that is elsewhere leaves no mark.
    folder.join("store").is_dir()
        && (folder.join("store.mark").is_file() || folder.join("audit/audit.jsonl").is_file())
}

/// Tells whether a path is, or is in, something of Dowse's own in a data folder that `is_data` knows.
pub(crate) fn is_own_in(path: &Path, is_data: impl Fn(&Path) -> bool) -> bool {
    path.ancestors().any(|one| {
        // The name first: nearly none is one of these, and the disk is not asked.
        one.file_name().and_then(|name| name.to_str()).is_some_and(is_own_name)
            && one.parent().is_some_and(&is_data)
    })
}

/// Lists what is Dowse's own in a data folder, as far as its names are known.
pub(crate) fn own_in(data_dir: &Path) -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().chain(&FILES).map(|name| data_dir.join(name))
}

fn is_own_name(name: &str) -> bool {
    let is_like = |(start, part): &(&str, &str)| name.starts_with(start) && name.contains(part);
    FOLDERS.contains(&name) || FILES.contains(&name) || PATTERNS.iter().any(is_like)
}
