//! Doing an installation once: a stamp file holds the text of what was asked for.

use std::path::Path;

/// Runs `install` on an empty folder unless the stamp beside it says the same was installed.
///
/// A half-finished installation has no stamp, so the next run starts it from nothing.
pub(crate) fn once(
    folder: &Path,
    wanted: &str,
    install: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stamp = folder.join("installed.txt");
    let is_current = fs_err::read_to_string(&stamp).is_ok_and(|installed| installed == wanted);
    if is_current {
        return Ok(());
    }
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    fs_err::create_dir_all(folder)?;
    install()?;
    fs_err::write(&stamp, wanted)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installs_again_only_when_something_else_is_wanted() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("part");
        let mut n_installed = 0;
        for wanted in ["one", "one", "two", "two", "one"] {
            once(&folder, wanted, || {
                n_installed += 1;
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(n_installed, 3);
    }

    #[test]
    fn failed_installation_is_tried_again() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("part");
        once(&folder, "one", || anyhow::bail!("no network")).unwrap_err();
        let mut is_installed = false;
        once(&folder, "one", || {
            is_installed = true;
            Ok(())
        })
        .unwrap();
        assert!(is_installed);
    }
}
