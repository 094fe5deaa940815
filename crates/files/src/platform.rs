//! What differs between operating systems: opening a file beneath its root, which volume a file is
//! on, and whether that is a network's.
//!
//! | | how a file is kept beneath its root |
//! |---|---|
//! | Linux | the kernel resolves the whole path (`openat2`) and refuses every way out; as below where it lacks the call |
//! | macOS, BSD | each component is opened in the one before, and no link is followed |
//! | others | the path is resolved and compared, and compared again with what was opened |
//!
//! Callers give paths that are resolved already, so that a link met here was swapped in between.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use model::Timestamp;

/// Opens a file beneath a folder. Every way out is refused: `..`, absolute links, links that leave
/// the folder, and links of the process file system, even when something is swapped between check
/// and open.
#[cfg(target_os = "linux")]
pub(crate) fn open_beneath(folder: &Path, relative: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

    let place = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // A pipe or a device must not hold up the reader, so opening never blocks.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    or_by_component(openat2(&place, relative, flags, Mode::empty(), resolve), folder, relative)
}

/// Opens a file by its components where the call that resolves a path as a whole is not there:
/// kernels before 5.6, gVisor and Valgrind do not know it, and containers whose list of calls is
/// older refuse it with `EPERM`, as they do all that they do not know.
#[cfg(target_os = "linux")]
fn or_by_component(
    opened: rustix::io::Result<rustix::fd::OwnedFd>,
    folder: &Path,
    relative: &Path,
) -> io::Result<File> {
    use rustix::io::Errno;
    match opened {
        Err(Errno::NOSYS | Errno::PERM) => open_by_component(folder, relative),
        opened => Ok(File::from(opened?)),
    }
}

/// Opens a file beneath a folder, component by component, following no link.
#[cfg(unix)]
pub(crate) fn open_by_component(folder: &Path, relative: &Path) -> io::Result<File> {
    use std::path::Component;

    use rustix::fs::{Mode, OFlags, open, openat};

    let inside = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut place =
        open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut components = relative.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        };
        let flags = match components.peek() {
            Some(_) => inside | OFlags::DIRECTORY,
            // A pipe or a device must not hold up the reader, so opening never blocks.
            None => inside | OFlags::NONBLOCK | OFlags::NOCTTY,
        };
        place = openat(&place, name, flags, Mode::empty())?;
    }
    Ok(File::from(place))
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use open_by_component as open_beneath;

/// Opens a file whose resolved path is beneath the resolved folder, and is so after it was opened.
#[cfg(not(unix))]
pub(crate) fn open_beneath(folder: &Path, relative: &Path) -> io::Result<File> {
    let folder = fs_err::canonicalize(folder)?;
    let path = folder.join(relative);
    let resolve = || fs_err::canonicalize(&path).map(|it| (it.starts_with(&folder), it));
    let (is_inside, before) = resolve()?;
    if !is_inside {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    let file = fs_err::File::open(&before)?.into_file();
    match resolve()? {
        (true, after) if after == before => Ok(file),
        _ => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
    }
}

/// Gives the number of the volume that a file is on, where the system tells.
#[cfg(unix)]
pub(crate) fn device(metadata: &Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(metadata.dev())
}

/// The standard library does not tell here.
#[cfg(not(unix))]
pub(crate) fn device(_metadata: &Metadata) -> Option<u64> {
    None
}

/// Writes when a file's content and when its entry changed, exactly, where the system tells: a
/// content that is put into place with the size and the time of another one changes the second. The
/// number of the file is not part of it, since shares may number their files anew with each mount.
#[cfg(unix)]
pub(crate) fn exact_times(metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    Some(format!(
        "{}.{:09} {}.{:09}",
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec()
    ))
}

/// The standard library tells one time here, in steps of 100 nanoseconds.
#[cfg(not(unix))]
pub(crate) fn exact_times(metadata: &Metadata) -> Option<String> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(since.as_nanos().to_string())
}

/// Tells when a file, or its entry, was changed last, as the system's clock went.
#[cfg(unix)]
pub(crate) fn changed_at(metadata: &Metadata) -> Option<Timestamp> {
    use std::os::unix::fs::MetadataExt;
    Some(Timestamp(metadata.ctime() * 1_000 + metadata.ctime_nsec() / 1_000_000))
}

/// A file that was copied into place keeps the time of its content, and is made then.
#[cfg(not(unix))]
pub(crate) fn changed_at(metadata: &Metadata) -> Option<Timestamp> {
    let times = [metadata.modified().ok(), metadata.created().ok()];
    times.into_iter().flatten().max().map(Timestamp::from)
}

/// What tells one folder from another that has come into its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderIdentity(u64, u64);

/// Tells which folder is at a path now; nothing when there is none.
#[cfg(unix)]
pub fn identity(folder: &Path) -> Option<FolderIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs_err::metadata(folder).ok().filter(Metadata::is_dir)?;
    Some(FolderIdentity(metadata.dev(), metadata.ino()))
}

/// One folder is as good as another here: only whether there is one is known.
#[cfg(not(unix))]
pub fn identity(folder: &Path) -> Option<FolderIdentity> {
    fs_err::metadata(folder).ok().filter(Metadata::is_dir).map(|_| FolderIdentity(0, 0))
}

/// File systems whose changes other machines make, so that no event tells them: NFS, SMB, CIFS,
/// AFS, 9p, FUSE, Ceph, Lustre (`statfs(2)`).
#[cfg(target_os = "linux")]
const NETWORK: [u64; 9] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x5346_414f,
    0x0102_1997,
    0x6573_5546,
    0x00c3_6400,
    0x0bd0_0bd0,
];

/// Tells whether a folder is on a network, whose changes are not always told.
#[cfg(target_os = "linux")]
pub fn is_on_network(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|found| NETWORK.contains(&(found.f_type as u64)))
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn is_on_network(_folder: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The way of the other systems holds here, too: what is inside is read, and no way leads out.
    #[test]
    fn both_ways_of_opening_refuse_what_leaves_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs_err::create_dir_all(at("root/sub")).unwrap();
        fs_err::write(at("root/sub/in.txt"), "in").unwrap();
        fs_err::write(at("out.txt"), "out").unwrap();
        std::os::unix::fs::symlink(at("out.txt"), at("root/link.txt")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("root/up")).unwrap();
        #[cfg(target_os = "linux")]
        let without_the_call = |folder: &Path, relative: &Path| {
            let refused = or_by_component(Err(rustix::io::Errno::ACCESS), folder, relative);
            assert!(refused.is_err(), "the file may not be read");
            or_by_component(Err(rustix::io::Errno::NOSYS), folder, relative)
        };
        #[cfg(not(target_os = "linux"))]
        let without_the_call = open_by_component;
        for open in [open_beneath, open_by_component, without_the_call] {
            let opens = |relative: &str| open(&at("root"), Path::new(relative)).is_ok();
            assert!(opens("sub/in.txt"));
            for way_out in
                ["../out.txt", "link.txt", "up/out.txt", "sub/../../out.txt", "/etc/passwd"]
            {
                assert!(!opens(way_out), "{way_out}");
            }
        }
    }
}
