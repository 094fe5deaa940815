//! Who may see and stop a job on a folder, and how a job ends whose folders are gone.

use std::collections::HashMap;
use std::sync::Arc;

use ingest::{
    Job, JobQueue, JobService as _, JobState, NewJob, Priority, QueueConfig, Runner, Workers,
};
use model::{Access, Caller, Clock, Identity, TenantId, Timestamp};
use serde_json::{Value, json};

use super::{Fixture, soon};
use crate::{FilesConfig, INDEX_JOB, JOBS, RootConfig, ServiceSlot};

fn caller(tenant: &str, roles: &[&str]) -> Caller {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    let (tenant, identity) = (TenantId::new(tenant), Identity::Token);
    Caller { tenant, roles, identity, ..Caller::local_admin() }
}

fn job(queue: &JobQueue, root: &str, tenant: TenantId) -> Job {
    let arguments = json!({ "root": root, "folder": root, "full": false });
    let (kind, subject) = (INDEX_JOB.to_owned(), root.to_owned());
    queue.submit(NewJob { kind, subject, tenant, priority: Priority::Normal, arguments }).unwrap()
}

#[test]
fn a_job_is_of_a_tenant_and_of_a_folder() {
    let fixture = Fixture::new();
    let legal = fixture.folder.path().join("root/legal");
    fs_err::create_dir(&legal).unwrap();
    let allow = Access { roles: vec!["legal".to_owned()], ..Access::default() };
    let root = RootConfig::Restricted { path: "root/legal".into(), allow };
    let opened = fixture.open(FilesConfig { roots: vec![root], ..FilesConfig::default() });
    let name = opened.indexer.roots().all()[0].name.clone();
    let own = job(&opened.queue, &name, caller("acme", &[]).tenant);
    let of_server = job(&opened.queue, &name, TenantId::local());

    let check = |who: &Caller, job: &Job, sees: bool, stops: bool| {
        assert_eq!(opened.service.check_job(who, job).is_ok(), sees, "{who:?}");
        assert_eq!(opened.service.may_cancel_job(who, job), stops, "{who:?}");
        assert_eq!(opened.service.job(who, &job.id).is_ok(), sees, "{who:?}");
    };
    check(&caller("acme", &["legal"]), &own, true, false);
    check(&caller("acme", &["legal", "admin"]), &own, true, true);
    check(&caller("acme", &["admin"]), &own, false, false);
    check(&caller("acme", &[]), &own, false, false);
    check(&caller("other", &["legal", "admin"]), &own, false, false);
    check(&caller("acme", &["legal"]), &of_server, true, false);
    check(&caller("other", &["legal", "admin"]), &of_server, true, true);
    check(&caller("other", &["admin"]), &of_server, false, false);
    check(&caller("other", &[]), &of_server, false, false);
    let left = job(&opened.queue, "/gone", caller("acme", &[]).tenant);
    check(&caller("acme", &["admin"]), &left, true, true);
    check(&caller("acme", &["legal"]), &left, false, false);
    check(&caller("other", &["admin"]), &left, false, false);
    let folder = |who: &Caller| opened.service.folder_of(who, &own);
    assert_eq!(folder(&caller("acme", &["legal"])), Some(name));
    assert_eq!(folder(&caller("acme", &[])), None);
}

#[test]
fn a_job_ends_when_no_folder_is_configured_any_more() {
    let fixture = Fixture::new();
    let slot = ServiceSlot::default();
    slot.switch_off("no folders are configured any more");
    let runners: HashMap<String, Arc<dyn Runner>> =
        JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
    let (bounds, clock) = (QueueConfig::for_one_machine(), Clock::fixed(Timestamp(0)));
    let queue = JobQueue::open(fixture.store.catalogue(), runners, bounds, clock).unwrap();
    let job = job(&queue, "/gone", TenantId::local());
    let _workers = Workers::start(&queue).unwrap();
    let job = queue.wait(&job.id, &soon()).unwrap();
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(job.error.as_deref(), Some("no folders are configured any more"));
    assert_eq!(job.result, Value::Null);
}
