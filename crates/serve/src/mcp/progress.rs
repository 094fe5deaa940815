//! Progress of a call on its way to the client: in order, never after the answer.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tools::Progress;

/// Messages that may wait to be sent before further ones are dropped: progress may be lost.
const QUEUE: usize = 64;

/// How long the answer waits for a slow client to take the last messages.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// Where a call reports, for a client that asked for it.
pub(super) struct Reporting {
    report: Arc<dyn Fn(Progress) + Send + Sync>,
    sending: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Reporting {
    /// Listens to a call.
    pub(super) fn start(context: &RequestContext<RoleServer>) -> Self {
        let Some(token) = context.meta.get_progress_token() else {
            return Reporting { report: Arc::new(|_| {}), sending: None };
        };
        let (sender, mut receiver) = mpsc::channel::<Progress>(QUEUE);
        let (end, mut ended) = oneshot::channel::<()>();
        let peer = context.peer.clone();
        let task = tokio::spawn(async move {
            loop {
                let progress = tokio::select! {
                    biased;
                    progress = receiver.recv() => progress,
                    _ = &mut ended, if !receiver.is_closed() => {
                        // What was reported until now is still sent, nothing else is taken.
                        receiver.close();
                        continue;
                    }
                };
                let Some(progress) = progress else { return };
                let mut params = ProgressNotificationParam::new(token.clone(), progress.done);
                params.total = progress.total;
                params.message = progress.message;
                if peer.notify_progress(params).await.is_err() {
                    return;
                }
            }
        });
        let report = Arc::new(move |progress| {
            let _ = sender.try_send(progress);
        });
        Reporting { report, sending: Some((end, task)) }
    }

    /// Gives what the call reports to.
    pub(super) fn reporter(&self) -> Arc<dyn Fn(Progress) + Send + Sync> {
        Arc::clone(&self.report)
    }

    /// Sends what is left; afterwards nothing more is sent.
    pub(super) async fn finish(self) {
        if let Some((end, task)) = self.sending {
            drop(end);
            let stop = task.abort_handle();
            if tokio::time::timeout(DRAIN_LIMIT, task).await.is_err() {
                stop.abort();
            }
        }
    }
}
