//! Proves that: what one server takes is found on the others, and originals come from any of them;
//! servers that start at once on an empty database make its tables once; a schedule runs once; two
//! servers that write one document leave one; a folder of one server is not forgotten by another.

use serde_json::json;
use testkit::Request;

use super::{Bed, Member};

fn what_one_takes_the_others_find(bed: &Bed) {
    let members = bed.start_many(3);
    let identities = "SELECT count(*) FROM dowse.about WHERE key = 'identity'";
    assert_eq!(bed.postgres.run(identities).trim(), "1");
    let [a, b, c] = &members[..] else { panic!("three were started") };
    let collection = a.collection();
    let text = "The yellow tram climbs to the castle of Lisbon.";
    let id = a.add(&collection, "Lisbon", text);
    for member in &members {
        member.wait_until_ready(std::slice::from_ref(&id));
        member.wait_until("it is not found", || {
            member.found(&collection, "yellow tram").first().is_some_and(|(found, _)| *found == id)
        });
        assert_eq!(member.original(&id).text(), text);
    }
    // Scores are the same wherever they are asked for.
    assert_eq!(a.found(&collection, "castle"), b.found(&collection, "castle"));
    let other = b.add(&collection, "Porto", "The river boat leaves from Porto.");
    c.wait_until_ready(std::slice::from_ref(&other));
    c.wait_until("it is not found", || !c.found(&collection, "river boat").is_empty());
    // What is deleted on one is gone on the others.
    assert!(c.http().send(&Request::new("DELETE", &format!("/v1/documents/{id}"))).status < 300);
    for member in &members {
        member.wait_until("it is still found", || {
            member.found(&collection, "yellow tram").iter().all(|(found, _)| *found != id)
        });
        let ready = member.http().get("/readyz");
        assert_eq!((ready.status, &ready.json()["reads"]), (200, &json!(true)));
    }
}

#[test]
fn servers_with_indexes_of_their_own_find_what_any_of_them_takes() {
    let Some(bed) = Bed::embedded() else { return };
    what_one_takes_the_others_find(&bed);
}

#[test]
fn servers_over_qdrant_find_what_any_of_them_takes() {
    let Some(bed) = Bed::qdrant(1) else { return };
    what_one_takes_the_others_find(&bed);
}

#[test]
fn two_servers_that_write_one_document_leave_one() {
    let Some(bed) = Bed::embedded() else { return };
    writers_of_one_document_leave_one(&bed);
}

#[test]
fn two_servers_that_write_one_document_leave_one_over_qdrant() {
    let Some(bed) = Bed::qdrant(1) else { return };
    writers_of_one_document_leave_one(&bed);
}

fn writers_of_one_document_leave_one(bed: &Bed) {
    let members = bed.start_many(2);
    let collection = members[0].collection();
    let id = members[0].add(&collection, "shared", "The very first words.");
    members[0].wait_until_ready(std::slice::from_ref(&id));
    let replace = |member: &Member, round: usize| {
        let body =
            json!({ "title": "shared", "text": format!("content number{round} of a writer") });
        let request = Request::new("PUT", &format!("/v1/documents/{id}")).json(&body);
        let answer = member.http().send(&request);
        // Both may be told that the other one was first.
        assert!([200, 202, 409].contains(&answer.status), "{}", answer.text());
    };
    std::thread::scope(|scope| {
        for (idx, member) in members.iter().enumerate() {
            scope.spawn(move || (0..10).for_each(|round| replace(member, 2 * round + idx)));
        }
    });
    members[0].wait_until("it is not settled", || members.iter().all(|one| one.is_ready(&id)));
    let last = &members[0].original(&id).text();
    let number = last.split_whitespace().nth(1).unwrap().to_owned();
    for member in &members {
        assert_eq!(member.original(&id).text(), *last);
        assert_eq!(member.n_documents(&collection), 1);
        member.wait_until("the last content is not found", || {
            member.found(&collection, &number).len() == 1
                && member.found(&collection, "content").len() == 1
        });
    }
}

#[test]
fn a_folder_that_two_servers_see_feeds_its_collection_once() {
    let Some(bed) = Bed::embedded() else { return };
    let members = bed.start_many(2);
    let collection = members[0].collection();
    let shared = testkit::Folder::new();
    for n in 0..12 {
        shared.write(format!("note{n}.txt"), format!("Note number{n} about the harbour."));
    }
    for member in &members {
        let feed = format!(
            "{}\n[[knowledge.folders]]\npath = {:?}\ncollection = \"{}\"\n",
            bed.config(),
            shared.path(),
            collection.id
        );
        member.folder.write("dowse.toml", feed);
    }
    for member in &members {
        assert!(
            member.server.wait_for_log("the new configuration is in place"),
            "{}",
            member.server.stderr()
        );
    }
    members[1]
        .wait_until("the folder is not followed", || members[1].n_documents(&collection) == 12);
    // Another file wakes both again.
    shared.write("late.txt", "A late note about the harbour.");
    members[0].wait_until("the late file is missing", || members[0].n_documents(&collection) == 13);
    let documents = members[1].http().get(&format!("/v1/collections/{}/documents", collection.id));
    let listed = documents.json();
    assert_eq!(listed["documents"].as_array().map(Vec::len), Some(13), "{listed}");
}

#[test]
fn the_folder_of_one_server_stays_when_another_has_none() {
    let Some(bed) = Bed::embedded() else { return };
    let mut with_folder = bed.start();
    with_folder.folder.write("documents/lisbon.txt", "The yellow tram climbs to the castle.");
    let config = format!("{}\n[files]\nroots = [\"documents\"]\n", bed.config());
    with_folder.server.signal(rustix::process::Signal::TERM);
    with_folder.folder.write("dowse.toml", config);
    with_folder.start_again();
    let search = |member: &Member| {
        let call = json!({ "query": "yellow tram" });
        member.http().post_json("/v1/call/search", &call).text()
    };
    with_folder.wait_until("not indexed", || search(&with_folder).contains("lisbon.txt"));
    let without = bed.start();
    without.wait_until("not ready", || without.http().get("/readyz").status == 200);
    assert!(search(&with_folder).contains("lisbon.txt"), "{}", search(&with_folder));
}
