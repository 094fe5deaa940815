//! Jobs whose process ends while they run: nothing that they were asked to do is lost, and one
//! document that ends the process is found and left out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::{
    Block, BlockKind, DocumentId, NamespaceId, Passage, Pointer, TenantId, Timestamp, Warning,
};
use serde_json::json;
use store::{Config, DocumentPage, Manifest, Store};

use super::*;
use crate::{Cut, Hooks, Item, ItemContent, ListSource, Pipeline, Prepared, Unchanged, limits};

/// One store, with a queue for each process that has it open.
struct Machine {
    store: Arc<Store>,
    _folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = model::Clock::fixed(Timestamp(7));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        Machine { store: Arc::new(store), _folder: folder }
    }

    /// Opens the queue as the next process does.
    fn start(&self) -> Arc<JobQueue> {
        let runner: Arc<dyn Runner> = Arc::new(|_: &Job, _: &JobContext| Ok(json!("done")));
        let runners = [("test".to_owned(), runner)].into();
        let clock = model::Clock::fixed(Timestamp(7));
        let config = QueueConfig::for_one_machine();
        JobQueue::open(self.store.catalogue(), runners, config, clock).unwrap()
    }
}

fn new() -> NewJob {
    NewJob {
        kind: "test".to_owned(),
        subject: "folder".to_owned(),
        tenant: TenantId::local(),
        priority: Priority::Normal,
        arguments: json!({}),
    }
}

/// After three kills the job of a folder was dropped, and nobody knew that files were missing.
#[test]
fn a_job_survives_any_number_of_processes() {
    let machine = Machine::new();
    let id = machine.start().submit(new()).unwrap().id;
    for n_crashes in 0..10 {
        let queue = machine.start();
        let job = queue.get(&id).unwrap();
        assert_eq!((job.state, job.crashes.n_crashes), (JobState::Queued, n_crashes));
        assert_eq!(queue.active("test", "folder").unwrap().unwrap().id, id);
        // The process ends while it runs.
        drop(queue.next(Priority::Low).unwrap());
        // One that only looks meanwhile counts it once.
        machine.start();
    }
    let queue = machine.start();
    let (context, runner) = queue.next(Priority::Low).unwrap();
    let job = context.job.lock().clone();
    queue.end_surely(job.clone(), runner.run(&job, &context));
    let done = queue.get(&id).unwrap();
    assert_eq!((done.state, done.n_attempts, done.crashes.n_crashes), (JobState::Done, 1, 10));
}

/// Every Ctrl-C and every client that left during a long index counted as a crash, after three of
/// which documents were taken in small groups, and one of them could be left out.
#[test]
fn a_process_that_was_told_to_end_is_no_crash() {
    let machine = Machine::new();
    let id = machine.start().submit(new()).unwrap().id;
    for _ in 0..4 {
        let queue = machine.start();
        let (context, _) = queue.next(Priority::Low).unwrap();
        // It does not stop in time, and says how far it is once more.
        queue.stop_within(std::time::Duration::ZERO);
        assert!(context.progress().is_cancelled());
        assert!(!queue.note(&context.job.lock()));
    }
    let job = machine.start().get(&id).unwrap();
    let counts = (job.n_attempts, job.crashes.n_crashes);
    assert_eq!((job.state, counts), (JobState::Queued, (0, 0)));
}

/// Ends the process, as far as a test can, over some documents.
struct Deadly(BTreeSet<&'static str>);

impl Hooks for Deadly {
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> Result<Vec<Passage>, Warning> {
        let is_deadly = self.0.contains(item.id.as_str()) && !blocks.is_empty();
        assert!(!is_deadly, "this panic is the end of the process");
        Cut::prose().cut(item, blocks)
    }

    fn finish(&self, prepared: &mut Prepared) {
        prepared.document.metadata = json!({ "reason": prepared.reason });
    }
}

/// Somebody ends the process soon after each of its starts, whatever it works on.
struct Hasty {
    started: std::time::Instant,
}

impl Hooks for Hasty {
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> Result<Vec<Passage>, Warning> {
        let is_killed = self.started.elapsed() < limits::CALM_BEFORE_SUSPECT / 2;
        assert!(!is_killed || blocks.is_empty(), "this panic is the end of the process");
        Cut::prose().cut(item, blocks)
    }
}

/// Six kills within three seconds left a plain text out for ever.
#[test]
fn a_document_is_not_blamed_for_kills_that_follow_each_other() {
    let machine = Machine::new();
    let namespace = NamespaceId::new("documents");
    machine.store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    machine.start().submit(new()).unwrap();
    for n_crashes in 0_u32.. {
        assert!(n_crashes <= limits::CRASHES_BEFORE_GROUPS + 1, "it is tried too soon");
        let queue = machine.start();
        let (context, _) = queue.next(Priority::Low).unwrap();
        let hooks = Hasty { started: std::time::Instant::now() };
        let pipeline = Pipeline::in_process(machine.store.clone(), namespace.clone(), hooks);
        let block = Block::new("Text.".to_owned(), Pointer::Line(1), BlockKind::Paragraph);
        let item = Item::new(DocumentId::new("innocent"), "");
        let mut source = ListSource::new(vec![(item, ItemContent::Blocks(vec![block]))]);
        let run = || pipeline.run(&mut source, context.progress());
        if let Ok(report) = catch_unwind(AssertUnwindSafe(run)) {
            assert_eq!(report.unwrap().n_written, 1);
            break;
        }
    }
    let page = DocumentPage { limit: 10, ..DocumentPage::default() };
    let documents = machine.store.documents(&namespace, &page).unwrap();
    assert_eq!((documents.len(), documents[0].n_passages), (1, 1));
}

#[test]
fn one_document_that_ends_the_process_is_left_out_and_no_other() {
    const N_DOCUMENTS: usize = 300;
    for unchanged in [Unchanged::Skip, Unchanged::Rewrite] {
        let machine = Machine::new();
        let namespace = NamespaceId::new("documents");
        machine.store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
        let deadly = ["d077", "d230"];
        let mut pipeline = Pipeline::in_process(
            machine.store.clone(),
            namespace.clone(),
            Deadly(deadly.into_iter().collect()),
        );
        pipeline.unchanged = unchanged;
        pipeline.n_extractors = 2;
        let source = || {
            let document = |n: usize| {
                let mut item = Item::new(DocumentId::new(format!("d{n:03}")), "");
                item.fingerprint = "1".to_owned();
                let text = format!("Text {n}.");
                let block = Block::new(text, Pointer::Line(1), BlockKind::Paragraph);
                (item, ItemContent::Blocks(vec![block]))
            };
            ListSource::new((0..N_DOCUMENTS).map(document).collect())
        };
        let id = machine.start().submit(new()).unwrap().id;
        let mut n_crashes = 0;
        loop {
            let queue = machine.start();
            let (context, _) = queue.next(Priority::Low).unwrap();
            let run = || pipeline.run(&mut source(), context.progress());
            match catch_unwind(AssertUnwindSafe(run)) {
                Err(_) => n_crashes += 1,
                Ok(report) => {
                    let job = context.job.lock().clone();
                    assert!(report.unwrap().is_complete);
                    queue.end_surely(job, Ok(json!(null)));
                    break;
                }
            }
            assert!(n_crashes < 100, "the process never stays");
        }
        // In groups of 64, of 8, and alone.
        let most = limits::CRASHES_BEFORE_GROUPS + 2 * (2 + limits::CRASHES_PER_DOCUMENT);
        assert!(n_crashes <= most, "{n_crashes} of at most {most}");
        assert_eq!(machine.start().get(&id).unwrap().state, JobState::Done);
        let page = DocumentPage { limit: N_DOCUMENTS + 1, ..DocumentPage::default() };
        let documents = machine.store.documents(&namespace, &page).unwrap();
        assert_eq!(documents.len(), N_DOCUMENTS);
        for document in documents {
            let is_deadly = deadly.contains(&document.id.as_str());
            assert_eq!(document.n_passages == 0, is_deadly, "{}", document.id);
            let reason = document.metadata["reason"].as_str().unwrap_or_default();
            assert_eq!(reason.contains("the program ended 3 times"), is_deadly, "{reason}");
        }
        // The next run does not try them again, as long as they do not change.
        if unchanged == Unchanged::Skip {
            let again = pipeline.run(&mut source(), &crate::Progress::silent()).unwrap();
            assert_eq!((again.n_unchanged, again.n_written), (N_DOCUMENTS, 0));
        }
    }
}
