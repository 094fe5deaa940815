//! Systems without Unix sockets and signals. Commands beside a running server are not possible
//! there yet: they say that the data folder is in use.

use std::convert::Infallible;
use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::time::Duration;

/// A connection that cannot be made here.
#[derive(Debug)]
pub(crate) struct LocalStream(Infallible);

/// The same for async code.
pub(crate) type AsyncLocalStream = tokio::io::DuplexStream;

/// Where connections would come in.
pub(crate) struct LocalListener(Infallible);

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no sockets in folders; stop the server for commands on its data",
    ))
}

impl LocalListener {
    pub(crate) fn bind(_path: &Path) -> io::Result<Self> {
        unsupported()
    }

    pub(crate) fn accept(&self) -> io::Result<LocalStream> {
        match self.0 {}
    }
}

/// Connects to whoever listens at a path.
pub(crate) fn connect(_path: &Path) -> io::Result<LocalStream> {
    unsupported()
}

/// Makes a connection inside this process.
pub(crate) fn pair() -> io::Result<(LocalStream, LocalStream)> {
    unsupported()
}

impl LocalStream {
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        match self.0 {}
    }

    pub(crate) fn set_read_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn set_write_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn shutdown(&self, _how: Shutdown) -> io::Result<()> {
        match self.0 {}
    }
}

impl io::Read for LocalStream {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl io::Write for LocalStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

impl io::Write for &LocalStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Hands a connection to async code.
pub(crate) fn into_async(stream: LocalStream) -> io::Result<AsyncLocalStream> {
    match stream.0 {}
}

/// Requests of the operating system.
pub(crate) struct Signals {
    has_any: bool,
}

impl Signals {
    /// Ctrl-C.
    pub(crate) fn of_stopping() -> io::Result<Self> {
        Ok(Signals { has_any: true })
    }

    /// None: the configuration is read again when its file changes.
    pub(crate) fn of_reloading() -> io::Result<Self> {
        Ok(Signals { has_any: false })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if !self.has_any || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// There is no such limit to raise.
pub(crate) fn raise_open_files() -> Option<u64> {
    None
}

/// Not known here.
pub(crate) fn free_bytes(_existing: &Path) -> Option<u64> {
    None
}

/// Tells whether this user may write a file or into a folder; a folder's own access list is not asked.
pub(crate) fn may_write(path: &Path) -> bool {
    fs_err::metadata(path).map_or(true, |found| found.is_dir() || !found.permissions().readonly())
}

/// Files have the access list of their folder.
pub(crate) fn keep_private() {}
