//! The threads under every connection to a PostgreSQL, and waiting for what is asked over one.
//!
//! Services are synchronous and the client library is not, so whoever asks waits on the calling
//! thread. A client only talks to the task that drives its connection, which runs here: its
//! futures can be polled anywhere, also on a thread of another runtime, which would refuse to
//! block.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Threads that drive connections. They only move bytes; whoever asks reads the rows.
const N_THREADS: usize = 2;

/// Waits for a future of a PostgreSQL client on the calling thread.
///
/// Fails when the system gives no threads for connections.
pub fn wait_for<F: Future>(future: F) -> io::Result<F::Output> {
    // Timers and new sockets belong to the runtime that is entered.
    let _entered = runtime()?.enter();
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return Ok(output),
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Waits like [`wait_for`], and gives nothing when the limit comes first.
///
/// Fails when the system gives no threads for connections.
pub fn wait_at_most<F: Future>(limit: Duration, future: F) -> io::Result<Option<F::Output>> {
    wait_for(async { tokio::time::timeout(limit, future).await.ok() })
}

/// The one runtime of the process under all connections; started when it is first needed.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Builder::new_multi_thread()
        .worker_threads(N_THREADS)
        .thread_name("postgres")
        .enable_all()
        .build()?;
    Ok(RUNTIME.get_or_init(|| built))
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
