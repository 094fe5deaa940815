//! Files that take the place of others once they are whole.
//!
//! Whoever reads such a file meanwhile sees what was there before, and where the new one does not
//! get that far, as on a full disk, what was there stays and nothing is left beside it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// How the name of a file begins that is not whole yet.
const PREFIX: &str = ".dowse-unfinished-";

/// A file that is not whole yet.
pub(crate) struct Unfinished {
    file: NamedTempFile,
    output: PathBuf,
}

impl Unfinished {
    /// Begins a file beside the one whose place it takes.
    ///
    /// # Errors
    ///
    /// When no file can be made there, or something else than a file has the name.
    pub(crate) fn beside(output: &Path) -> anyhow::Result<Self> {
        // A link stays one: what it leads to is written.
        let output = fs_err::canonicalize(output).unwrap_or_else(|_| output.to_owned());
        let kept = fs_err::metadata(&output).ok();
        anyhow::ensure!(
            kept.as_ref().is_none_or(std::fs::Metadata::is_file),
            "`{}` is not a regular file\nhint: name a file that may be written",
            output.display()
        );
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let file = new_in(folder).with_context(|| {
            format!("no file can be made in `{}`\nhint: name another place", folder.display())
        })?;
        if let Some(kept) = kept {
            fs_err::set_permissions(file.path(), kept.permissions())?;
        }
        Ok(Unfinished { file, output })
    }

    /// Where it is written.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Puts it in its place.
    ///
    /// # Errors
    ///
    /// When it cannot take that place.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Unfinished { file, output } = self;
        file.persist(&output).with_context(|| format!("`{}` stays as it was", output.display()))?;
        Ok(())
    }
}

/// Writes a small file that others may be reading.
///
/// # Errors
///
/// When it cannot be written; what was there stays.
pub(crate) fn write_whole(output: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = new_in(output.parent().unwrap_or(Path::new(".")))?;
    file.write_all(content)?;
    file.persist(output)?;
    Ok(())
}

/// Makes a file as any new one is, not for its user alone as temporary ones are.
fn new_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(PREFIX).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_a_file_sees_what_was_there_until_the_new_one_is_whole() {
        let folder = testkit::Folder::new();
        folder.write("a.json", "before");
        let file = folder.join("a.json");
        let reading = fs_err::File::open(&file).unwrap();
        write_whole(&file, b"after").unwrap();
        assert_eq!(std::io::read_to_string(reading).unwrap(), "before");
        assert_eq!(folder.read("a.json"), "after");
        assert_eq!(
            fs_err::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        assert!(write_whole(folder.path(), b"").is_err(), "a folder is no file");
    }
}
