//! What is said of a root whose first index is not complete.

use ingest::{JobQueue, JobState};
use model::Warning;

use crate::{INDEX_JOB, Indexer, Result};

/// Says how far the first index of a root is, while it is not complete: more may be found later.
pub(crate) fn first_index(
    indexer: &Indexer,
    queue: &JobQueue,
    root: &str,
) -> Result<Option<Warning>> {
    if indexer.is_completed(root)? {
        return Ok(None);
    }
    let Some(job) = queue.active(INDEX_JOB, root)? else {
        // A folder that was indexed in parts is not called empty, and not whole either.
        let message = match indexer.has_documents(root)? {
            true => format!(
                "`{root}` was never indexed to its end: more may be found when indexFolder has \
                 gone over it"
            ),
            false => format!("nothing of `{root}` is indexed yet: indexFolder begins it"),
        };
        return Ok(Some(Warning::new("not_indexed", message)));
    };
    let n_done = job.progress.n_done;
    let so_far = match (job.state, job.progress.n_total) {
        (JobState::Queued, _) if n_done == 0 => "it has not begun".to_owned(),
        (_, Some(n_total)) => format!("{n_done} of {} files so far", n_total.max(n_done)),
        (_, None) => format!("{n_done} files so far"),
    };
    if !queue.is_worked() {
        let message = format!(
            "the first index of `{root}` was stopped ({so_far}), and nothing goes on with it now: \
             indexFolder does"
        );
        return Ok(Some(Warning::new("not_indexed", message)));
    }
    let message = format!(
        "`{root}` is being indexed for the first time: {so_far}; more may be found when it is done"
    );
    Ok(Some(Warning::new("first_index", message)))
}
