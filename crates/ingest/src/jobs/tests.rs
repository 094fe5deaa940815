//! Jobs run in order of priority, can be cancelled and tried again, and survive the process.

use std::sync::mpsc::channel;
use std::time::Duration;

use model::{Deadline, TenantId, Timestamp};
use serde_json::json;
use store::{Config, Store};

use super::*;
use crate::Stage;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

fn new(subject: &str, priority: Priority) -> NewJob {
    NewJob {
        kind: "test".to_owned(),
        subject: subject.to_owned(),
        tenant: TenantId::local(),
        priority,
        arguments: json!({"subject": subject}),
    }
}

fn open(
    folder: &std::path::Path,
    config: QueueConfig,
    runner: impl Runner + 'static,
) -> std::sync::Arc<JobQueue> {
    let clock = model::Clock::fixed(Timestamp(7));
    let store = Store::open(folder, &Config::for_one_machine(), clock.clone()).unwrap();
    let runner: std::sync::Arc<dyn Runner> = std::sync::Arc::new(runner);
    let runners = [("test".to_owned(), runner)].into();
    // The catalogue outlives the store that it came from.
    JobQueue::open(store.catalogue(), runners, config, clock).unwrap()
}

fn one_worker() -> QueueConfig {
    QueueConfig {
        n_workers: 1,
        n_high_priority_workers: 0,
        max_queued: 3,
        max_attempts: 2,
        max_finished: 100,
    }
}

/// A deletion that was made could not be followed by its job, since the queue had become full.
#[test]
fn space_is_kept_for_a_job_that_must_come() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(folder.path(), one_worker(), |_: &Job, _: &JobContext| Ok(json!(null)));
    queue.submit(new("a", Priority::Low)).unwrap();
    queue.submit(new("b", Priority::Low)).unwrap();
    let space = QueueSpace::wait(&queue, Duration::ZERO).unwrap();
    let is_full =
        |result: crate::Result<Job>| matches!(result, Err(crate::Error::QueueFull { allowed: 3 }));
    assert!(is_full(queue.submit(new("c", Priority::High))));
    assert!(QueueSpace::wait(&queue, Duration::ZERO).is_err());
    space.submit(new("kept", Priority::High)).unwrap();
    assert!(is_full(queue.submit(new("c", Priority::High))));
    let waiting = std::thread::spawn({
        let queue = std::sync::Arc::clone(&queue);
        move || QueueSpace::wait(&queue, Duration::from_secs(60)).is_ok()
    });
    let workers = Workers::start(&queue).unwrap();
    assert!(waiting.join().unwrap());
    drop(workers);
    // Space that was not needed is given back.
    drop(QueueSpace::wait(&queue, Duration::from_secs(60)).unwrap());
    assert_eq!(queue.state.lock().n_reserved, 0);
}

/// While one job ran and another waited, the running one was found first, so that each request
/// added one more.
#[test]
fn one_job_waits_for_all_who_ask() {
    let folder = tempfile::tempdir().unwrap();
    let (began, has_begun) = channel();
    let (release, released) = channel::<()>();
    let released = std::sync::Mutex::new(released);
    let config = QueueConfig { max_queued: 100, ..one_worker() };
    let queue = open(folder.path(), config, move |job: &Job, _: &JobContext| {
        began.send(job.id.clone()).unwrap();
        released.lock().unwrap().recv().ok();
        Ok(json!(null))
    });
    let ask = || queue.submit_or_join(new("a", Priority::Normal)).unwrap().id;
    let first = ask();
    assert_eq!(ask(), first);
    let workers = Workers::start(&queue).unwrap();
    assert_eq!(has_begun.recv().unwrap(), first);
    let second = ask();
    assert_ne!(second, first, "what runs may have read before the request");
    let space = || QueueSpace::wait(&queue, Duration::ZERO).unwrap();
    for _ in 0..20 {
        assert_eq!(ask(), second);
        assert_eq!(space().submit_or_join(new("a", Priority::Low)).unwrap().id, second);
    }
    assert_ne!(queue.submit_or_join(new("b", Priority::Normal)).unwrap().id, second);
    assert_eq!(queue.list().unwrap().len(), 3);
    drop(release);
    assert_eq!(queue.wait(&second, &soon()).unwrap().state, JobState::Done);
    drop(workers);
}

#[test]
fn jobs_run_by_priority_and_give_their_result() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let queue = open(folder.path(), one_worker(), move |job: &Job, context: &JobContext| {
        context.progress().begin(Stage::Writing, Some(2));
        context.progress().advance(Stage::Writing, 2);
        sender.send(job.subject.clone()).unwrap();
        Ok(json!({"was": job.subject}))
    });
    let low = queue.submit(new("low", Priority::Low)).unwrap();
    queue.submit(new("first", Priority::Normal)).unwrap();
    queue.submit(new("high", Priority::High)).unwrap();
    let error = queue.submit(new("full", Priority::High)).unwrap_err();
    assert!(matches!(error, crate::Error::QueueFull { allowed: 3 }));
    assert_eq!(queue.active("test", "low").unwrap().unwrap().id, low.id);
    let workers = Workers::start(&queue).unwrap();
    let done = queue.wait(&low.id, &soon()).unwrap();
    assert_eq!((done.state, &done.result), (JobState::Done, &json!({"was": "low"})));
    assert_eq!((done.progress.n_done, done.progress.n_total), (2, Some(2)));
    assert_eq!(queue.active("test", "low").unwrap(), None);
    assert_eq!(receiver.iter().take(3).collect::<Vec<_>>(), ["high", "first", "low"]);
    assert_eq!(queue.list().unwrap().len(), 3);
    drop(workers);
}

/// What must be quick does not wait until something long is done; what need not does.
#[test]
fn a_job_of_high_priority_runs_beside_a_long_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = QueueConfig { n_high_priority_workers: 1, ..one_worker() };
    let queue = open(folder.path(), config, |job: &Job, context: &JobContext| {
        while job.subject == "long" && !context.progress().is_cancelled() {
            std::thread::yield_now();
        }
        Ok(json!(null))
    });
    let _workers = Workers::start(&queue).unwrap();
    let long = queue.submit(new("long", Priority::Normal)).unwrap();
    while queue.running("test").is_empty() {
        std::thread::yield_now();
    }
    let normal = queue.submit(new("normal", Priority::Normal)).unwrap();
    let high = queue.submit(new("high", Priority::High)).unwrap();
    assert_eq!(queue.wait(&high.id, &soon()).unwrap().state, JobState::Done);
    assert_eq!(queue.get(&normal.id).unwrap().state, JobState::Queued);
    let subjects = |jobs: Vec<Job>| jobs.into_iter().map(|job| job.subject).collect::<Vec<_>>();
    assert_eq!(subjects(queue.running("test")), ["long"]);
    assert_eq!(subjects(queue.running("other")), [""; 0]);
    queue.cancel(&long.id).unwrap();
    assert_eq!(queue.wait(&normal.id, &soon()).unwrap().state, JobState::Done);
}

#[test]
fn a_job_without_its_service_holds_up_no_end_and_loses_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let queue = open(folder.path(), one_worker(), move |_: &Job, context: &JobContext| {
        sender.send(()).unwrap();
        context.wait_for(|| None::<()>)?;
        Ok(json!(null))
    });
    let job = queue.submit(new("waits", Priority::Normal)).unwrap();
    let workers = Workers::start(&queue).unwrap();
    receiver.recv().unwrap();
    drop(workers);
    let job = queue.get(&job.id).unwrap();
    assert_eq!((job.state, job.n_attempts), (JobState::Queued, 0));
}

#[test]
fn waiting_and_running_jobs_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let queue = open(folder.path(), one_worker(), move |_: &Job, context: &JobContext| {
        sender.send(()).unwrap();
        while !context.progress().is_cancelled() {
            std::thread::yield_now();
        }
        Err(JobFailure::Cancelled)
    });
    let running = queue.submit(new("running", Priority::Normal)).unwrap();
    let waiting = queue.submit(new("waiting", Priority::Low)).unwrap();
    let _workers = Workers::start(&queue).unwrap();
    receiver.recv().unwrap();
    let cancelled = queue.cancel(&waiting.id).unwrap();
    assert_eq!(
        (cancelled.state, cancelled.error.as_deref()),
        (JobState::Failed, Some("cancelled"))
    );
    assert!(queue.cancel(&running.id).unwrap().is_cancelled);
    let ended = queue.wait(&running.id, &soon()).unwrap();
    assert_eq!((ended.state, ended.is_cancelled), (JobState::Failed, true));
}

#[test]
fn passing_failures_are_tried_again_and_final_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(folder.path(), one_worker(), |job: &Job, _: &JobContext| {
        match (job.subject.as_str(), job.n_attempts) {
            ("flaky", 1) => Err(JobFailure::Passing("busy".to_owned())),
            ("flaky", _) => Ok(json!(job.n_attempts)),
            ("down", _) => Err(JobFailure::Passing("down".to_owned())),
            ("panics", _) => panic!("on purpose"),
            _ => Err(JobFailure::Final("bad".to_owned())),
        }
    });
    let _workers = Workers::start(&queue).unwrap();
    let end = |subject: &str| {
        let job = queue.submit(new(subject, Priority::Normal)).unwrap();
        queue.wait(&job.id, &soon()).unwrap()
    };
    assert_eq!(end("flaky").result, json!(2));
    let down = end("down");
    assert_eq!((down.state, down.n_attempts), (JobState::Failed, 2));
    let bad = end("bad");
    assert_eq!(
        (bad.state, bad.n_attempts, bad.error.as_deref()),
        (JobState::Failed, 1, Some("bad"))
    );
    assert_eq!(end("panics").state, JobState::Failed);
    let again = queue.retry(&bad.id).unwrap();
    assert_eq!(queue.wait(&again.id, &soon()).unwrap().state, JobState::Failed);
}

/// Three attempts without a pause were over within milliseconds, before a lock or a file that was
/// in the way had been let go.
#[test]
fn a_job_rests_between_two_attempts_and_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let queue = open(folder.path(), one_worker(), move |job: &Job, _: &JobContext| {
        sender.send((job.subject.clone(), std::time::Instant::now())).unwrap();
        match (job.subject.as_str(), job.n_attempts) {
            ("flaky", 1) => Err(JobFailure::Passing("busy".to_owned())),
            _ => Ok(json!(null)),
        }
    });
    let flaky = queue.submit(new("flaky", Priority::High)).unwrap();
    let other = queue.submit(new("other", Priority::Low)).unwrap();
    let _workers = Workers::start(&queue).unwrap();
    let (first, begun) = receiver.recv().unwrap();
    assert_eq!((first.as_str(), receiver.recv().unwrap().0.as_str()), ("flaky", "other"));
    assert_eq!(queue.wait(&other.id, &soon()).unwrap().state, JobState::Done);
    let (again, begun_again) = receiver.recv().unwrap();
    assert_eq!(again, "flaky");
    assert!(begun_again - begun >= crate::limits::FIRST_REST, "it did not rest");
    assert_eq!(queue.wait(&flaky.id, &soon()).unwrap().state, JobState::Done);
    assert_eq!(queue.counts(), (0, 0));
}

/// A job that rests counts among those that wait, and can be stopped.
#[test]
fn a_job_that_rests_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(folder.path(), one_worker(), |_: &Job, _: &JobContext| Ok(json!(null)));
    let mut job = queue.submit(new("rests", Priority::Normal)).unwrap();
    queue.state.lock().waiting.clear();
    job.n_attempts = u32::MAX;
    queue.rest(&mut job).unwrap();
    assert_eq!(queue.counts(), (1, 0));
    assert_eq!(queue.active("test", "rests").unwrap().unwrap().state, JobState::Queued);
    assert_eq!(queue.cancel(&job.id).unwrap().state, JobState::Failed);
    assert_eq!(queue.counts(), (0, 0));
}

/// A job of the catalogue that nobody here knew was joined by whoever asked, and never ran.
#[test]
fn a_job_that_nobody_waits_for_is_taken_up_once() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let config = QueueConfig { n_workers: 2, max_queued: 10, ..one_worker() };
    let queue = open(folder.path(), config, move |job: &Job, _: &JobContext| {
        sender.send(job.subject.clone()).unwrap();
        Ok(json!(null))
    });
    let lost = queue.submit(new("lost", Priority::Normal)).unwrap();
    let mut began = queue.submit(new("began", Priority::Normal)).unwrap();
    let known = queue.submit(new("known", Priority::Normal)).unwrap();
    queue.state.lock().waiting.retain(|_, id| *id == known.id);
    began.state = JobState::Running;
    queue.keep(&began).unwrap();
    assert_eq!(queue.submit_or_join(new("lost", Priority::Normal)).unwrap().id, lost.id);
    let _workers = Workers::start(&queue).unwrap();
    assert_eq!(queue.wait(&known.id, &soon()).unwrap().state, JobState::Done);
    assert_eq!(receiver.recv().unwrap(), "known");
    assert_eq!(queue.take_up_lost().unwrap(), 2);
    for job in [&lost, &began] {
        assert_eq!(queue.wait(&job.id, &soon()).unwrap().state, JobState::Done);
    }
    assert_eq!(queue.take_up_lost().unwrap(), 0);
    let mut ran: Vec<String> = receiver.try_iter().collect();
    ran.sort();
    assert_eq!(ran, ["began", "lost"]);
}

/// However often it is looked for lost jobs while others come and end, each job runs once.
#[test]
fn looking_for_lost_jobs_begins_none_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let config = QueueConfig { n_workers: 3, max_queued: 200, ..one_worker() };
    let queue = open(folder.path(), config, move |job: &Job, _: &JobContext| {
        sender.send(job.id.clone()).unwrap();
        Ok(json!(null))
    });
    let _workers = Workers::start(&queue).unwrap();
    let jobs: Vec<Job> = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            (0..60).map(|n| queue.submit(new(&n.to_string(), Priority::Normal)).unwrap()).collect()
        });
        while !asking.is_finished() {
            queue.take_up_lost().unwrap();
        }
        asking.join().unwrap()
    });
    for job in &jobs {
        assert_eq!(queue.wait(&job.id, &soon()).unwrap().state, JobState::Done);
    }
    assert_eq!(receiver.try_iter().count(), jobs.len());
}

/// Whoever asks for the jobs of a subject at the moment at which one ends is told of those that are
/// left: one that was forgotten meanwhile made the request fail, after its row was written.
#[test]
fn a_job_that_ends_while_it_is_asked_for_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = QueueConfig { max_finished: 0, max_queued: 200, ..one_worker() };
    let queue = open(folder.path(), config, |_: &Job, _: &JobContext| Ok(json!(null)));
    let _workers = Workers::start(&queue).unwrap();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            for _ in 0..100 {
                queue.submit(new("a", Priority::Normal)).unwrap();
            }
        });
        while !asking.is_finished() {
            let active = queue.active_jobs("test", "a").unwrap();
            assert!(active.iter().all(|job| !job.state.is_final()));
        }
    });
}

/// Two summaries that waited for a language model held up every document that came.
#[test]
fn what_can_wait_never_has_all_workers() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel::<()>();
    let release = std::sync::Mutex::new(receiver);
    let config = QueueConfig { n_workers: 2, max_queued: 10, ..one_worker() };
    let queue = open(folder.path(), config, move |job: &Job, _: &JobContext| {
        if job.priority == Priority::Low {
            release.lock().unwrap().recv().unwrap();
        }
        Ok(json!(null))
    });
    let low: Vec<Job> = (0..3).map(|_| queue.submit(new("low", Priority::Low)).unwrap()).collect();
    let workers = Workers::start(&queue).unwrap();
    while queue.counts().1 == 0 {
        std::thread::yield_now();
    }
    let normal = queue.submit(new("normal", Priority::Normal)).unwrap();
    assert_eq!(queue.wait(&normal.id, &soon()).unwrap().state, JobState::Done);
    low.iter().for_each(|_| sender.send(()).unwrap());
    for job in &low {
        assert_eq!(queue.wait(&job.id, &soon()).unwrap().state, JobState::Done);
    }
    drop(workers);
}

#[test]
fn an_interrupted_job_goes_on_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = channel();
    let queue = open(folder.path(), one_worker(), move |_: &Job, context: &JobContext| {
        context.save_checkpoint(json!({"at": 41})).unwrap();
        sender.send(()).unwrap();
        while !context.progress().is_cancelled() {
            std::thread::yield_now();
        }
        Err(JobFailure::Cancelled)
    });
    let job = queue.submit(new("long", Priority::Normal)).unwrap();
    let workers = Workers::start(&queue).unwrap();
    receiver.recv().unwrap();
    drop(workers);
    drop(queue);

    let queue =
        open(folder.path(), one_worker(), |_: &Job, context: &JobContext| Ok(context.checkpoint()));
    assert_eq!(queue.get(&job.id).unwrap().state, JobState::Queued);
    let _workers = Workers::start(&queue).unwrap();
    assert_eq!(queue.wait(&job.id, &soon()).unwrap().result, json!({"at": 41}));
}

/// Counts how often all objects of a kind are listed.
struct Counting {
    inner: std::sync::Arc<dyn store::Objects>,
    n_lists: std::sync::atomic::AtomicUsize,
}

impl store::Objects for Counting {
    fn get_many(&self, kind: &str, ids: &[&str]) -> store::Result<Vec<Option<store::Object>>> {
        self.inner.get_many(kind, ids)
    }

    fn list(&self, page: &store::ObjectPage) -> store::Result<Vec<store::Object>> {
        self.n_lists.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.inner.list(page)
    }

    fn find(&self, kind: &str, lookup: &store::Lookup) -> store::Result<Vec<store::Object>> {
        self.inner.find(kind, lookup)
    }

    fn apply(&self, changes: &[store::Change]) -> store::Result<Vec<u64>> {
        self.inner.apply(changes)
    }
}

#[test]
fn the_end_of_a_job_lists_nothing_and_old_ones_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let clock = model::Clock::fixed(Timestamp(7));
    let store = Store::open(folder.path(), &Config::for_one_machine(), clock.clone()).unwrap();
    let catalogue = std::sync::Arc::new(Counting {
        inner: store.catalogue(),
        n_lists: std::sync::atomic::AtomicUsize::new(0),
    });
    let runner: std::sync::Arc<dyn Runner> =
        std::sync::Arc::new(|_: &Job, _: &JobContext| Ok(serde_json::Value::Null));
    let config = QueueConfig { max_finished: 3, ..one_worker() };
    let again = |catalogue: std::sync::Arc<Counting>| {
        let runners = [("test".to_owned(), runner.clone())].into();
        JobQueue::open(catalogue, runners, config.clone(), clock.clone()).unwrap()
    };
    let queue = again(catalogue.clone());
    let n_lists = || catalogue.n_lists.load(std::sync::atomic::Ordering::Relaxed);
    let before = n_lists();
    let mut ids = vec![];
    {
        let _workers = Workers::start(&queue).unwrap();
        for number in 0..8 {
            let job = queue.submit(new(&number.to_string(), Priority::Normal)).unwrap();
            queue.wait(&job.id, &soon()).unwrap();
            ids.push(job.id);
        }
    }
    assert_eq!(n_lists(), before);
    let known = |queue: &JobQueue| -> Vec<JobId> {
        queue.list().unwrap().into_iter().map(|job| job.id).collect()
    };
    ids.reverse();
    assert_eq!(known(&queue), ids[..3]);
    drop(queue);
    assert_eq!(known(&again(catalogue.clone())), ids[..3]);
}

/// A catalogue on a disk that is full for a while.
struct Full {
    inner: std::sync::Arc<dyn store::Objects>,
    n_refusals: std::sync::atomic::AtomicUsize,
}

impl store::Objects for Full {
    fn get_many(&self, kind: &str, ids: &[&str]) -> store::Result<Vec<Option<store::Object>>> {
        self.inner.get_many(kind, ids)
    }

    fn list(&self, page: &store::ObjectPage) -> store::Result<Vec<store::Object>> {
        self.inner.list(page)
    }

    fn find(&self, kind: &str, lookup: &store::Lookup) -> store::Result<Vec<store::Object>> {
        self.inner.find(kind, lookup)
    }

    fn apply(&self, changes: &[store::Change]) -> store::Result<Vec<u64>> {
        use std::sync::atomic::Ordering::SeqCst;
        let is_refused =
            self.n_refusals.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        if is_refused {
            let source = Box::new(std::io::Error::from(std::io::ErrorKind::StorageFull));
            return Err(store::Error::DiskFull { what: "the catalogue", source });
        }
        self.inner.apply(changes)
    }
}

/// Jobs once stayed dead until a restart when the disk was full as they began or ended.
#[test]
fn jobs_go_on_by_themselves_when_a_full_disk_has_room_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let clock = model::Clock::fixed(Timestamp(7));
    let store = Store::open(folder.path(), &Config::for_one_machine(), clock.clone()).unwrap();
    let catalogue =
        std::sync::Arc::new(Full { inner: store.objects(), n_refusals: AtomicUsize::new(0) });
    let n_runs = std::sync::Arc::new(AtomicUsize::new(0));
    let full = catalogue.clone();
    let counted = n_runs.clone();
    let runner: std::sync::Arc<dyn Runner> =
        std::sync::Arc::new(move |_: &Job, context: &JobContext| {
            // The first run finds no room for what it writes, and neither does its end.
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                full.n_refusals.store(2, Ordering::SeqCst);
                return match context.save_checkpoint(json!(1)) {
                    Ok(()) => Ok(json!("there was room")),
                    Err(error) => Err(JobFailure::Final(error.to_string())),
                };
            }
            Ok(json!("done"))
        });
    let runners = [("test".to_owned(), runner)].into();
    let config = QueueConfig { max_attempts: 1, ..one_worker() };
    let queue = JobQueue::open(catalogue.clone(), runners, config, clock).unwrap();
    let job = queue.submit(new("full", Priority::Normal)).unwrap();
    // The job cannot be begun at first.
    catalogue.n_refusals.store(1, Ordering::SeqCst);
    let _workers = Workers::start(&queue).unwrap();
    let ended = queue.wait(&job.id, &soon()).unwrap();
    assert_eq!((ended.state, ended.result), (JobState::Done, json!("done")));
    assert_eq!(n_runs.load(Ordering::SeqCst), 2);
}

/// A server once did not start on a full disk, though it could have answered every question.
#[test]
fn a_queue_opens_on_a_full_disk_and_goes_on_when_there_is_room() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let clock = model::Clock::fixed(Timestamp(7));
    let store = Store::open(folder.path(), &Config::for_one_machine(), clock.clone()).unwrap();
    let catalogue =
        std::sync::Arc::new(Full { inner: store.objects(), n_refusals: AtomicUsize::new(0) });
    let open = || {
        let runner: std::sync::Arc<dyn Runner> =
            std::sync::Arc::new(|_: &Job, _: &JobContext| Ok(json!("done")));
        let runners = [("test".to_owned(), runner)].into();
        JobQueue::open(catalogue.clone(), runners, one_worker(), clock.clone()).unwrap()
    };
    let before = open();
    let waiting = before.submit(new("waiting", Priority::Normal)).unwrap();
    let mut running = before.submit(new("running", Priority::Normal)).unwrap();
    // As a process leaves it that is killed while the job runs.
    running.state = JobState::Running;
    before.keep(&running).unwrap();
    drop(before);

    catalogue.n_refusals.store(usize::MAX, Ordering::SeqCst);
    let queue = open();
    assert_eq!(queue.counts(), (2, 0));
    let _workers = Workers::start(&queue).unwrap();
    catalogue.n_refusals.store(0, Ordering::SeqCst);
    for job in [waiting, running] {
        assert_eq!(queue.wait(&job.id, &soon()).unwrap().state, JobState::Done);
    }
}

/// Two queues over one catalogue, as two servers have them.
mod shared {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use store::{Catalogue, Lookup, TypedObject};

    use super::*;

    struct Servers {
        catalogue: Arc<dyn Catalogue>,
        clock: testkit::ManualClock,
        _folder: tempfile::TempDir,
    }

    const LEASE: Duration = Duration::from_secs(30);

    impl Servers {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let clock = testkit::ManualClock::new();
            let store =
                Store::open(folder.path(), &Config::for_one_machine(), clock.clock()).unwrap();
            Servers { catalogue: store.catalogue(), clock, _folder: folder }
        }

        fn queue(&self, runner: impl Runner + 'static) -> Arc<JobQueue> {
            self.queue_at(self.clock.clock(), runner)
        }

        /// A queue of a server whose own clock is another one than the catalogue's.
        fn queue_at(&self, clock: model::Clock, runner: impl Runner + 'static) -> Arc<JobQueue> {
            let runner: Arc<dyn Runner> = Arc::new(runner);
            let runners = [("test".to_owned(), runner)].into();
            let config = QueueConfig { max_queued: 100, ..one_worker() };
            JobQueue::open_shared(Arc::clone(&self.catalogue), runners, config, clock, LEASE)
                .unwrap()
        }
    }

    fn done(_: &Job, _: &JobContext) -> Result<serde_json::Value, JobFailure> {
        Ok(json!({}))
    }

    #[test]
    fn every_job_runs_once_whoever_takes_it() {
        let servers = Servers::new();
        let runs = Arc::new(AtomicUsize::new(0));
        let counting = || {
            let runs = Arc::clone(&runs);
            move |_: &Job, _: &JobContext| {
                runs.fetch_add(1, Ordering::SeqCst);
                Ok(json!({}))
            }
        };
        let (one, two) = (servers.queue(counting()), servers.queue(counting()));
        let _workers = [Workers::start(&one).unwrap(), Workers::start(&two).unwrap()];
        let jobs: Vec<_> =
            (0..20).map(|at| one.submit(new(&at.to_string(), Priority::Normal)).unwrap()).collect();
        for job in &jobs {
            // Either of them knows how it ended.
            assert_eq!(two.wait(&job.id, &soon()).unwrap().state, JobState::Done);
        }
        assert_eq!(runs.load(Ordering::SeqCst), 20);
    }

    #[test]
    fn a_server_that_dies_loses_its_lease_and_nothing_else() {
        let servers = Servers::new();
        let dying = servers.queue(done);
        let job = dying.submit(new("handed over", Priority::Normal)).unwrap();
        let (context, _) = dying.next(Priority::Low).unwrap();
        context.save_checkpoint(json!({"at": 7})).unwrap();
        // It says nothing more from here on; another one starts.
        let other = servers.queue(|_: &Job, context: &JobContext| Ok(context.checkpoint()));
        assert_eq!(other.get(&job.id).unwrap().state, JobState::Running, "its lease lasts");
        let workers = Workers::start(&other).unwrap();
        let active = Lookup::new("state", "running");
        assert_eq!(servers.catalogue.find(Job::KIND, &active).unwrap().len(), 1);
        servers.clock.advance(LEASE);
        let ended = other.wait(&job.id, &soon()).unwrap();
        assert_eq!((ended.state, ended.result), (JobState::Done, json!({"at": 7})));
        // The end of a process is no failure of the job.
        assert_eq!((ended.n_attempts, ended.crashes.n_crashes), (1, 1));
        // What the first one still says is refused.
        let error = context.save_checkpoint(json!({"at": 8})).unwrap_err();
        assert!(matches!(error, crate::Error::JobLost { .. }), "{error}");
        let zombie = context.job.lock().clone();
        dying.end_surely(zombie, Ok(json!({"from": "the dead"})));
        assert_eq!(other.get(&job.id).unwrap().result, json!({"at": 7}));
        drop(workers);
    }

    #[test]
    fn a_job_that_runs_elsewhere_can_be_stopped_and_one_out_of_reach_is_left_to_others() {
        struct Local(AtomicBool);
        impl Runner for Local {
            fn run(&self, _: &Job, context: &JobContext) -> Result<serde_json::Value, JobFailure> {
                self.0.store(true, Ordering::SeqCst);
                while !context.progress().is_cancelled() {
                    std::thread::yield_now();
                }
                Err(JobFailure::Cancelled)
            }

            fn can_run(&self, job: &Job) -> bool {
                job.subject == "mine"
            }
        }
        let servers = Servers::new();
        let (local, other) = (servers.queue(Local(AtomicBool::new(false))), servers.queue(done));
        let workers = Workers::start(&local).unwrap();
        let elsewhere = local.submit(new("elsewhere", Priority::High)).unwrap();
        let mine = local.submit(new("mine", Priority::Normal)).unwrap();
        while local.get(&mine.id).unwrap().state != JobState::Running {
            std::thread::yield_now();
        }
        assert_eq!(local.get(&elsewhere.id).unwrap().state, JobState::Queued);
        assert!(other.cancel(&mine.id).unwrap().is_cancelled);
        let stopped = other.wait(&mine.id, &soon()).unwrap();
        assert_eq!(
            (stopped.state, stopped.error.as_deref()),
            (JobState::Failed, Some("cancelled"))
        );
        let _workers = (workers, Workers::start(&other).unwrap());
        assert_eq!(local.wait(&elsewhere.id, &soon()).unwrap().state, JobState::Done);
    }

    /// What a server's own clock says changes nothing: leases are counted by the catalogue's.
    #[test]
    fn a_server_whose_clock_is_wrong_takes_nothing_too_early_and_loses_nothing() {
        let servers = Servers::new();
        let day = 24 * 3_600 * 1_000;
        let now = servers.clock.clock().now().millis();
        let ahead = model::Clock::fixed(Timestamp(now + day));
        let behind = model::Clock::fixed(Timestamp(now - day));
        let slow = servers.queue_at(behind, done);
        let job = slow.submit(new("skewed", Priority::Normal)).unwrap();
        let (context, _) = slow.next(Priority::Low).unwrap();
        let fast = servers.queue_at(ahead, done);
        assert_eq!(fast.get(&job.id).unwrap().state, JobState::Running, "its lease lasts");
        slow.end_surely(context.job.lock().clone(), Ok(json!({"by": "slow"})));
        assert_eq!(fast.get(&job.id).unwrap().result, json!({"by": "slow"}));
        // The other way round: the one that is ahead loses its job after a lease, not before.
        let job = fast.submit(new("skewed", Priority::Normal)).unwrap();
        let _begun = fast.next(Priority::Low).unwrap();
        let third = servers.queue(done);
        assert_eq!(third.get(&job.id).unwrap().state, JobState::Running);
        servers.clock.advance(LEASE);
        let _workers = Workers::start(&third).unwrap();
        assert_eq!(third.wait(&job.id, &soon()).unwrap().state, JobState::Done);
    }

    /// Whoever had read that the last job was done could still find its subject taken.
    #[test]
    fn jobs_on_one_subject_never_run_on_two_servers_at_once() {
        let servers = Servers::new();
        let (running, most, n_runs) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let n_runs = Arc::new(n_runs);
        let watching = || {
            let (running, most, n_runs) =
                (Arc::clone(&running), Arc::clone(&most), Arc::clone(&n_runs));
            move |_: &Job, _: &JobContext| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..1_000 {
                    std::thread::yield_now();
                }
                running.fetch_sub(1, Ordering::SeqCst);
                n_runs.fetch_add(1, Ordering::SeqCst);
                Ok(json!({}))
            }
        };
        let queues = [servers.queue(watching()), servers.queue(watching())];
        let _workers = queues.each_ref().map(|queue| Workers::start(queue).unwrap());
        let jobs: Vec<_> = (0..8)
            .map(|at| queues[at % 2].submit(new("one collection", Priority::Normal)).unwrap())
            .collect();
        for job in &jobs {
            assert_eq!(queues[0].wait(&job.id, &soon()).unwrap().state, JobState::Done);
        }
        assert_eq!((n_runs.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (8, 1));
        // A server that had read a job as waiting may take its subject once more, finds the job
        // ended, and lets go: nobody keeps it.
        let is_free = || servers.catalogue.lease("subject/one collection").unwrap().is_none();
        assert!(testkit::wait_until(Duration::from_secs(30), is_free));
    }
}
