//! The MCPB bundle: validated and packed by its own tool, unpacked, started as its manifest says.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;
use xshell::cmd;

use super::tools::Tools;
use super::{PACKAGE, emptied, place, session};
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::{Testbed, path_with, platform};

/// How long the bundle's tool may take.
const MCPB: Limit = Limit::minutes("mcpb", 20);

pub(super) fn run(bed: &Testbed, tools: &Tools, binary: &Path, out: &Path) -> anyhow::Result<()> {
    emptied(out)?;
    let shell = xshell::Shell::new()?;
    shell.set_var("PATH", path_with(&bed.node)?);
    let (node, tool) = (&bed.node, &tools.mcpb);
    let work = testkit::Folder::new();
    let folder = work.join("bundle");
    let manifest_path = project::root().join("packaging/mcpb/manifest.json");
    let manifest: Value = serde_json::from_slice(&fs_err::read(&manifest_path)?)?;
    let entry = manifest["server"]["entry_point"].as_str().context("an entry point")?;
    place(binary, &folder.join(entry))?;
    fs_err::copy(&manifest_path, folder.join("manifest.json"))?;
    process::run(cmd!(shell, "{node} {tool} validate {folder}"), MCPB)?;
    // Bundles of several platforms are put into one folder by a release.
    let bundle = out.join(format!("{PACKAGE}-{}.mcpb", platform()?));
    process::run(cmd!(shell, "{node} {tool} pack {folder} {bundle}"), MCPB)?;
    let unpacked = work.join("unpacked");
    process::run(cmd!(shell, "{node} {tool} unpack {bundle} {unpacked}"), MCPB)?;
    let program = unpacked.join(entry);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    }
    let words = &manifest["server"]["mcp_config"]["args"];
    anyhow::ensure!(words[0] == "mcp", "the manifest starts `dowse {}`", words[0]);
    session::answers(Command::new(program))
}
