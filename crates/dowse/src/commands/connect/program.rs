//! How a client starts this program: by a path that outlives an upgrade, or by the runner that
//! keeps no installation.
//!
//! The system knows this program by its resolved path. Package managers put a link to the current
//! version on the search path (`bin/dowse` to `Cellar/…/0.1.0/bin/dowse`), and an entry with the
//! version in it ends with the next upgrade. `uvx` and `npx` unpack into caches that they empty.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::absolute;

/// The package, whatever registry it is in.
pub(in crate::commands) const PACKAGE: &str = "dowse-search";
/// The folder in npm's cache where `npx` unpacks.
const NPX_FOLDER: &str = "_npx";
/// How folders of uv's cache begin where `uvx` unpacks.
const UVX_FOLDERS: [&str; 2] = ["archive-v", "environments-v"];

/// A command with the words that come before those of Dowse.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: String,
    pub(super) words: Vec<String>,
}

/// Says how this program is started again.
pub(super) fn own() -> anyhow::Result<Program> {
    let resolved = std::env::current_exe().context("this program's own path is not known")?;
    let typed = std::env::args_os().next();
    found(&resolved, typed.as_deref(), std::env::var_os("PATH").as_deref())
}

fn found(
    resolved: &Path,
    typed: Option<&OsStr>,
    search_path: Option<&OsStr>,
) -> anyhow::Result<Program> {
    if let Some((runner, words)) = runner_of(resolved) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        return Ok(Program { command: runner.to_owned(), words });
    }
    let is_this = |path: &PathBuf| {
        fs_err::canonicalize(path)
            .is_ok_and(|it| fs_err::canonicalize(resolved).is_ok_and(|own| own == it))
    };
    let named = typed.map(Path::new).and_then(|typed| match typed.components().count() {
        // A bare name was looked for on the search path.
        1 if typed.parent().is_some_and(|parent| parent.as_os_str().is_empty()) => {
            let mut folders = std::env::split_paths(search_path?).map(|it| it.join(typed));
            folders.find(is_this)
        }
        _ => Some(typed.to_owned()).filter(is_this),
    });
    let command = absolute(named.as_deref().unwrap_or(resolved))?;
    Ok(Program { command, words: vec![] })
}

/// Gives the runner whose cache a program is in, with the words that start Dowse.
fn runner_of(program: &Path) -> Option<(&'static str, &'static [&'static str])> {
    let mut folders = program.iter().filter_map(OsStr::to_str);
    folders.find_map(|folder| {
        if folder == NPX_FOLDER {
            return Some(("npx", &["--yes", PACKAGE][..]));
        }
        let is_uvx = UVX_FOLDERS.iter().any(|known| folder.starts_with(known));
        is_uvx.then_some(("uvx", &["--from", PACKAGE, "dowse"][..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry named `Cellar/dowse-search/0.1.0/bin/dowse`, which the next upgrade removes.
    #[cfg(unix)]
    #[test]
    fn a_link_on_the_search_path_is_named_and_not_what_it_leads_to() {
        let folder = testkit::Folder::new();
        let program = folder.write("cellar/0.1.0/dowse", "");
        folder.write("bin/keep", "");
        let link = folder.join("bin/dowse");
        std::os::unix::fs::symlink("../cellar/0.1.0/dowse", &link).unwrap();
        // Another program of the name comes first on the search path.
        folder.write("other/dowse", "");
        let search_path = std::env::join_paths([folder.join("other"), folder.join("bin")]).unwrap();
        let program = fs_err::canonicalize(program).unwrap();
        let named = |typed: &Path| {
            let typed = Some(typed.as_os_str());
            found(&program, typed, Some(&search_path)).unwrap().command
        };
        let link = link.to_str().unwrap();
        assert_eq!(named(Path::new("dowse")), link);
        assert_eq!(named(Path::new(link)), link);
        // What was typed is something else, or gone.
        let own = program.to_str().unwrap();
        assert_eq!(named(&folder.join("other/dowse")), own);
        assert_eq!(named(Path::new("nowhere")), own);
        assert_eq!(found(&program, None, None).unwrap().command, own);
    }

    /// The entry named a file of a cache, which `uv cache prune` empties.
    #[test]
    fn what_runs_from_a_cache_is_started_by_its_runner() {
        let of = |program: &str| found(Path::new(program), None, None).unwrap();
        let uvx = of("/home/a/.cache/uv/archive-v0/Xy12/bin/dowse");
        assert_eq!(
            (uvx.command.as_str(), uvx.words.join(" ")),
            ("uvx", "--from dowse-search dowse".to_owned())
        );
        let npx = of("/home/a/.npm/_npx/4f2/node_modules/dowse-search-linux-x64/dowse");
        assert_eq!(
            (npx.command.as_str(), npx.words.join(" ")),
            ("npx", "--yes dowse-search".to_owned())
        );
        assert_eq!(
            of("/usr/bin/dowse"),
            Program { command: "/usr/bin/dowse".to_owned(), words: vec![] }
        );
    }
}
