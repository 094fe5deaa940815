//! How fast answers are taken. Whoever asks and never reads would hold a connection for ever:
//! the answer is given up when nothing of it was taken for a while, or too little in all.
//!
//! Only the time counts in which there is something to send and the client does not take it:
//! a stream of events that is silent costs nothing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// An answer of which nothing is taken for so long is given up.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A client may keep the server waiting this long in all, however little it takes.
const GRACE: Duration = Duration::from_secs(120);

/// Beyond the grace it must take so many bytes for each second of waiting.
const MIN_BYTES_PER_SECOND: u64 = 1_024;

/// Since when the client of a connection takes nothing, while there is something for it.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Option<Instant>>);

impl Pace {
    /// Gives for how long the client has taken nothing; nothing when there is nothing to take.
    pub(super) fn stalled_for(&self) -> Option<Duration> {
        self.0.lock().map(|since| since.elapsed())
    }

    fn set(&self, since: Option<Instant>) {
        *self.0.lock() = since;
    }
}

/// A connection that fails when its client does not take what is sent.
pub(super) struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
    n_bytes: u64,
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, pace: Arc<Pace>) -> Self {
        Paced { stream, pace, n_bytes: 0, waited: Duration::ZERO, waiting: None }
    }

    /// Looks at what became of an attempt to send something.
    fn sent(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match sent {
            Poll::Ready(sent) => {
                if let Some((since, _)) = self.waiting.take() {
                    self.waited += since.elapsed();
                    self.pace.set(None);
                }
                self.n_bytes += sent.as_ref().map_or(0, |n_bytes| *n_bytes as u64);
                Poll::Ready(sent)
            }
            Poll::Pending => {
                let allowed = allowed_wait(self.n_bytes, self.waited);
                let pace = &self.pace;
                let (_, sleep) = self.waiting.get_or_insert_with(|| {
                    let now = Instant::now();
                    pace.set(Some(now));
                    (now, Box::pin(tokio::time::sleep(allowed)))
                });
                sleep.as_mut().poll(context).map(|()| {
                    tracing::debug!("an answer was dropped: its client does not read it");
                    Err(io::ErrorKind::TimedOut.into())
                })
            }
        }
    }
}

/// Gives how long the client may take nothing, after so many bytes for which was waited so long.
fn allowed_wait(n_bytes: u64, waited: Duration) -> Duration {
    let earned = GRACE + Duration::from_secs(n_bytes / MIN_BYTES_PER_SECOND);
    earned.saturating_sub(waited).min(STALL_TIMEOUT)
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.sent(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.sent(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_is_given_up() {
        let (mut client, server) = tokio::io::duplex(1_000);
        let pace = Arc::new(Pace::default());
        let mut server = Paced::new(server, Arc::clone(&pace));
        let begun = Instant::now();
        let failed = server.write_all(&[0; 5_000]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), STALL_TIMEOUT.as_secs());
        assert!(pace.stalled_for().is_some());
        let mut taken = [0; 10];
        client.read_exact(&mut taken).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_must_take_enough_in_all() {
        let (mut client, server) = tokio::io::duplex(10);
        let mut server = Paced::new(server, Arc::default());
        let begun = Instant::now();
        let reading = tokio::spawn(async move {
            let mut taken = [0; 10];
            while client.read_exact(&mut taken).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
        });
        assert!(server.write_all(&[0; 100_000]).await.is_err());
        assert!(begun.elapsed() <= GRACE + STALL_TIMEOUT, "{:?}", begun.elapsed());
        drop(server);
        reading.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn silence_costs_nothing() {
        let (mut client, server) = tokio::io::duplex(1_000);
        let mut server = Paced::new(server, Arc::default());
        for _ in 0..10 {
            server.write_all(b"event").await.unwrap();
            let mut taken = [0; 5];
            client.read_exact(&mut taken).await.unwrap();
            tokio::time::sleep(10 * GRACE).await;
        }
    }
}
