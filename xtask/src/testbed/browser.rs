//! A browser for tests of pages, installed only when a test asks for one.

use std::path::PathBuf;

use xshell::cmd;

use crate::process::{self, Limit};
use crate::project;

/// Names under which systems carry a browser that speaks the DevTools protocol.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// How long the system's package manager may take.
const BROWSER_INSTALL: Limit = Limit::minutes("installation of a browser", 10);

/// Tells whether any test starts a browser.
pub(super) fn is_needed() -> anyhow::Result<bool> {
    for file in project::files()? {
        let is_crate_source = file.starts_with("crates") && !file.starts_with("crates/testkit");
        if !is_crate_source || file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let source = fs_err::read_to_string(project::root().join(file))?;
        if source.contains("Browser::start") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds a browser, or installs the system's package where that is possible.
pub(super) fn install() -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let may_install = process::exists("apt-get") && rustix::process::geteuid().is_root();
    anyhow::ensure!(
        may_install,
        "tests of pages need a browser: none of `{}` was found; hint: install your system's `chromium` package",
        PROGRAMS.join("`, `")
    );
    eprintln!("testbed: installing chromium");
    let shell = xshell::Shell::new()?;
    shell.set_var("DEBIAN_FRONTEND", "noninteractive");
    process::run(cmd!(shell, "apt-get update -qq"), BROWSER_INSTALL)?;
    let install = cmd!(shell, "apt-get install -y -qq --no-install-recommends chromium");
    process::run(install, BROWSER_INSTALL)?;
    find().ok_or_else(|| anyhow::anyhow!("`chromium` was installed and is not on the PATH"))
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| PROGRAMS.map(|program| folder.join(program)))
        .find(|candidate| candidate.is_file())
}
