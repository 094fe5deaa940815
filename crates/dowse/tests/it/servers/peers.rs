//! Proves, with two servers over a Qdrant cluster of three peers, that: a killed peer costs no read
//! and no write, and what is there afterwards equals a rebuild; a network that is cut to one peer
//! costs neither; a cluster that is away is said with its sentence, and found again without a restart;
//! nothing but the protocol goes to the standard output.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use testkit::{Proxy, Request};

use super::{Bed, Collection, Member, is_long};
use crate::test_server::dowse;

/// Reads until it is over; every read must find something.
fn read(member: &Member, collection: &Collection, is_over: &AtomicBool, n_reads: &AtomicUsize) {
    while !is_over.load(Ordering::Relaxed) {
        let answer = member.search(collection, "harbour");
        assert_eq!(answer.status, 200, "{}", answer.text());
        let results = answer.json()["results"].as_array().map_or(0, Vec::len);
        assert!(results > 0, "{}", answer.text());
        n_reads.fetch_add(1, Ordering::Relaxed);
    }
}

fn write(member: &Member, collection: &Collection, name: &str, n: usize) -> Vec<String> {
    let text = |n: usize| format!("{name}{n} seen from the harbour.");
    (0..n).map(|n| member.add(collection, &format!("{name}{n}"), &text(n))).collect()
}

/// While servers read and write, something happens to the cluster and passes.
fn under_load(bed: &mut Bed, fault: impl Fn(&mut Bed), mend: impl Fn(&mut Bed)) {
    let members = bed.start_many(2);
    let collection = members[0].collection();
    let mut ids = write(&members[0], &collection, "before", 3);
    for member in &members {
        member.wait_until_ready(&ids);
        member.wait_until("not found", || member.found(&collection, "harbour").len() == 3);
    }
    let (is_over, n_reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let n_during = if is_long() { 40 } else { 8 };
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(&members[1], &collection, &is_over, &n_reads));
        fault(bed);
        ids.extend(write(&members[0], &collection, "during", n_during));
        members[0].wait_until_ready(&ids);
        let before = n_reads.load(Ordering::Relaxed);
        members[1].wait_until("no reads", || {
            n_reads.load(Ordering::Relaxed) >= before + 20 || reader.is_finished()
        });
        mend(bed);
        ids.extend(write(&members[1], &collection, "after", 3));
        members[0].wait_until_ready(&ids);
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(n_reads.load(Ordering::Relaxed) >= 20);
    for member in &members {
        member.wait_until("not all are found", || {
            member.found(&collection, "harbour").len() == ids.len()
        });
    }
    let before = members[0].found(&collection, "harbour");
    for id in &ids {
        members[0].assert_once(id);
    }
    // What is there equals what a rebuild makes.
    let folders: Vec<testkit::Folder> = members
        .into_iter()
        .map(|member| {
            assert!(member.server.stop().success());
            member.folder
        })
        .collect();
    let config = folders[0].join("dowse.toml");
    let checked = dowse("check").arg("--config").arg(&config).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    bed.postgres.run(
        "UPDATE dowse.objects SET body = jsonb_set(body::jsonb, '{seen}', '0')::text \
                      WHERE kind = 'qdrant_namespace'",
    );
    let rebuilt = bed.start();
    rebuilt
        .wait_until("it is not rebuilt alike", || rebuilt.found(&collection, "harbour") == before);
}

#[test]
fn a_killed_peer_costs_no_read_and_no_write() {
    let Some(mut bed) = Bed::qdrant(3) else { return };
    let kill = |bed: &mut Bed| bed.qdrant.as_mut().unwrap().kill(1);
    let start = |bed: &mut Bed| bed.qdrant.as_mut().unwrap().start_again(1);
    under_load(&mut bed, kill, start);
}

#[test]
fn a_network_that_is_cut_to_one_peer_costs_no_read_and_no_write() {
    let Some(mut bed) = Bed::qdrant(3) else { return };
    let urls = bed.qdrant.as_ref().unwrap().urls();
    let port = urls[0].rsplit(':').next().unwrap().parse().unwrap();
    let proxy = Proxy::start(port);
    let mut through = urls.clone();
    through[0] = format!("http://127.0.0.1:{}", proxy.port());
    bed.qdrant_urls = Some(through);
    under_load(&mut bed, |_| proxy.cut(), |_| proxy.mend());
}

#[test]
fn a_cluster_that_is_away_is_said_and_found_again() {
    let Some(mut bed) = Bed::qdrant(1) else { return };
    let member = bed.start();
    let collection = member.collection();
    let ids = write(&member, &collection, "before", 2);
    member.wait_until_ready(&ids);
    bed.qdrant.as_mut().unwrap().kill(0);
    // It is known before anybody asks or writes.
    member.wait_until("nobody says that the engine is away", || {
        let ready = member.http().get("/readyz").json();
        let is_said = ready["degraded"][0]["what"] == "engine";
        ready["reads"] == true && ready["writes"] == false && is_said
    });
    let answer = member.search(&collection, "harbour");
    assert_eq!(answer.status, 503, "{}", answer.text());
    let message = answer.json()["error"]["message"].clone();
    assert_eq!(message, "Failed to connect to api-admin service", "{}", answer.text());
    assert!(answer.header("retry-after").is_some());
    writes_are_refused(&member, &collection, &ids[0]);
    // Documents are read from the catalogue, and what goes is gone at once.
    assert_eq!(member.http().send(&Request::new("GET", "/v1/knowledge-bases")).status, 200);
    let path = format!("/v1/documents/{}", ids[1]);
    assert_eq!(member.http().send(&Request::new("DELETE", &path)).status, 202);
    assert_eq!(member.http().get(&path).status, 404);
    bed.qdrant.as_mut().unwrap().start_again(0);
    let late = added_when_taken(&member, &collection);
    member.wait_until_ready(std::slice::from_ref(&late));
    member.wait_until("it is not found", || member.found(&collection, "harbour").len() == 2);
    member.wait_until("it is still degraded", || {
        member.http().get("/readyz").json()["status"] == "ready"
    });
}

/// What cannot be found is not taken: every way to send or change a document says so.
fn writes_are_refused(member: &Member, collection: &Collection, known: &str) {
    let document = json!({ "title": "late", "text": "A late letter from the harbour." });
    let path = format!("/v1/collections/{}/documents", collection.id);
    let refused = [
        member.http().post_json(&path, &document),
        member.http().send(
            &Request::new("PATCH", &format!("/v1/documents/{known}"))
                .json(&json!({ "title": "another" })),
        ),
    ];
    for answer in refused {
        assert_eq!(answer.status, 503, "{}", answer.text());
        let message = answer.json()["error"]["message"].clone();
        assert_eq!(message, "Failed to connect to api-admin service", "{}", answer.text());
        assert!(answer.header("retry-after").is_some());
    }
    let title = member.http().get(&format!("/v1/documents/{known}")).json()["title"].clone();
    assert_ne!(title, "another", "nothing is half stored");
}

/// Sends a document until it is taken: recovery needs no restart.
fn added_when_taken(member: &Member, collection: &Collection) -> String {
    member.wait_until("writes are still refused", || {
        member.http().get("/readyz").json()["writes"] == true
    });
    member.add(collection, "late", "A late letter from the harbour.")
}

#[test]
fn a_cluster_that_hangs_is_said_and_found_again() {
    let Some(bed) = Bed::qdrant(1) else { return };
    let member = bed.start();
    let collection = member.collection();
    let ids = write(&member, &collection, "before", 2);
    member.wait_until_ready(&ids);
    member.wait_until("not found", || member.found(&collection, "harbour").len() == 2);
    bed.qdrant.as_ref().unwrap().hang(0);
    // Single words may be in the server's memory by now; their order is in Qdrant alone.
    let answer = member.search(&collection, "\"the harbour\"");
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.json()["error"]["message"], "Failed to connect to api-admin service");
    assert!(answer.header("retry-after").is_some());
    member.wait_until("nobody says that the engine is away", || {
        let ready = member.http().get("/readyz");
        ready.status == 200 && ready.json()["degraded"][0]["what"] == "engine"
    });
    writes_are_refused(&member, &collection, &ids[0]);
    bed.qdrant.as_ref().unwrap().go_on(0);
    let late = added_when_taken(&member, &collection);
    member.wait_until_ready(std::slice::from_ref(&late));
    member.wait_until("it is not found", || member.found(&collection, "harbour").len() == 3);
    member.wait_until("it is still degraded", || {
        member.http().get("/readyz").json()["status"] == "ready"
    });
}

#[test]
fn a_client_of_another_version_prints_nothing_between_the_messages() {
    let Some(bed) = Bed::qdrant(1) else { return };
    let member = bed.start();
    let collection = member.collection();
    let ids = write(&member, &collection, "before", 2);
    member.wait_until_ready(&ids);
    let folder = testkit::Folder::new();
    folder.write("dowse.toml", bed.config());
    let mut command = dowse("mcp");
    command.arg("--config").arg(folder.join("dowse.toml"));
    // Every line that is not a message fails the session.
    let mut session = testkit::StdioSession::start(command);
    session.initialize("2025-11-25");
    let arguments = json!({ "query": "harbour", "knowledge_base_id": collection.base });
    let call = json!({ "name": "search_documents", "arguments": arguments });
    let answer = session.request("tools/call", &call);
    assert!(answer.to_string().contains("harbour"), "{answer}");
}
