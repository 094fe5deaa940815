//! Folders and files that nobody but the server's own user may read.
//!
//! What was made by an earlier version with wider rights is narrowed. On systems without Unix
//! permissions the folder's own access list counts, and nothing is changed.

use std::path::Path;

use fs_err::File;

/// Makes a folder, with its parents, that only its owner may enter; narrows one that is there,
/// and the files directly in it.
pub fn create_folder(folder: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(folder)?;
    narrow(folder, FOLDER)?;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() {
            unless_gone(narrow(&entry.path(), FILE))?;
        } else if kind.is_dir() {
            unless_gone(narrow(&entry.path(), FOLDER))?;
        }
    }
    Ok(())
}

/// A server that ends takes away what its database has beside itself, also while the next one
/// begins: what is gone needs no rights.
fn unless_gone(narrowed: std::io::Result<()>) -> std::io::Result<()> {
    narrowed.or_else(|error| {
        let is_gone = error.kind() == std::io::ErrorKind::NotFound;
        if is_gone { Ok(()) } else { Err(error) }
    })
}

/// Opens a file to append to it, readable for its owner alone.
pub(crate) fn open_to_append(path: &Path) -> std::io::Result<File> {
    let mut options = fs_err::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt;
        options.mode(FILE);
    }
    let file = options.open(path)?;
    narrow(path, FILE)?;
    Ok(file)
}

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;

#[cfg(unix)]
fn narrow(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs_err::metadata(path)?.permissions();
    // Rights are taken away, never given.
    let narrowed = permissions.mode() & 0o777 & mode;
    if permissions.mode() & 0o777 != narrowed {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(narrowed))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn narrow(_path: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}
