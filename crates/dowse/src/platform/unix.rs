//! Linux and macOS.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A connection inside this machine, to whoever may enter the folder of its socket.
pub(crate) type LocalStream = std::os::unix::net::UnixStream;

/// The same for async code.
pub(crate) type AsyncLocalStream = tokio::net::UnixStream;

/// Longer paths do not fit the address of a socket (104 bytes on macOS, 108 on Linux).
const MAX_SOCKET_PATH: usize = 100;

/// More than this is never asked for: some libraries walk over every possible descriptor.
const ENOUGH_FILES: u64 = 65_536;

/// Lets nobody but this user read what the process writes from now on.
pub(crate) fn keep_private() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Tells whether this user may write a file or into a folder, as far as the system tells; what is not
/// there may be made.
pub(crate) fn may_write(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;
    let asked = accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS);
    !matches!(asked, Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

/// Where connections come in.
pub(crate) struct LocalListener(std::os::unix::net::UnixListener);

impl LocalListener {
    /// Listens at a path, in the place of a socket that is left from before.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let _ = fs_err::remove_file(path);
        let address = Address::of(path)?;
        std::os::unix::net::UnixListener::bind(address.path()).map(LocalListener)
    }

    pub(crate) fn accept(&self) -> io::Result<LocalStream> {
        self.0.accept().map(|(stream, _)| stream)
    }
}

/// Connects to whoever listens at a path.
pub(crate) fn connect(path: &Path) -> io::Result<LocalStream> {
    LocalStream::connect(Address::of(path)?.path())
}

/// A path that fits: the folder by its descriptor where the whole is too long.
struct Address {
    path: PathBuf,
    /// Keeps the descriptor open for as long as the path is used.
    #[cfg(target_os = "linux")]
    _folder: Option<std::os::fd::OwnedFd>,
}

impl Address {
    fn of(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        if path.as_os_str().len() <= MAX_SOCKET_PATH {
            return Ok(Address {
                path,
                #[cfg(target_os = "linux")]
                _folder: None,
            });
        }
        Address::of_long(&path)
    }

    #[cfg(target_os = "linux")]
    fn of_long(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{Mode, OFlags, open};

        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(folder, flags, Mode::empty())?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Address { path, _folder: Some(folder) })
    }

    #[cfg(not(target_os = "linux"))]
    fn of_long(_path: &Path) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("its path has more than {MAX_SOCKET_PATH} bytes: choose a shorter `data_dir`"),
        ))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a connection inside this process.
pub(crate) fn pair() -> io::Result<(LocalStream, LocalStream)> {
    LocalStream::pair()
}

/// Hands a connection to async code. Must be called inside a runtime.
pub(crate) fn into_async(stream: LocalStream) -> io::Result<AsyncLocalStream> {
    stream.set_nonblocking(true)?;
    AsyncLocalStream::from_std(stream)
}

/// Requests of the operating system.
pub(crate) struct Signals(Vec<Signal>);

impl Signals {
    /// Ctrl-C and SIGTERM.
    pub(crate) fn of_stopping() -> io::Result<Self> {
        Ok(Signals(vec![signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]))
    }

    /// SIGHUP, which asks for the configuration to be read again.
    pub(crate) fn of_reloading() -> io::Result<Self> {
        Ok(Signals(vec![signal(SignalKind::hangup())?]))
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        let waiting = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        let mut waiting: Vec<_> = waiting.collect();
        std::future::poll_fn(|context| {
            let is_here = waiting.iter_mut().any(|one| one.as_mut().poll(context).is_ready());
            if is_here { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// Raises the limit of open files, and gives the one in force.
pub(crate) fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(ENOUGH_FILES).min(ENOUGH_FILES);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= allowed {
        return Some(current);
    }
    let raised = Rlimit { current: Some(allowed), maximum: limit.maximum };
    Some(setrlimit(Resource::Nofile, raised).map_or(current, |()| allowed))
}

/// Gives the space that is free on the volume of an existing folder.
pub(crate) fn free_bytes(existing: &Path) -> Option<u64> {
    let volume = rustix::fs::statvfs(existing).ok()?;
    Some(volume.f_bavail.saturating_mul(volume.f_frsize))
}
