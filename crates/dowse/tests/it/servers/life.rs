//! Proves that: what one server takes is found on the others, and originals come from any of them;
//! servers that start at once on an empty database make its tables once; a schedule runs once; two
//! servers that write one document leave one; a folder of one server is not forgotten by another, and
//! is when the last one lets go of it; answers that are kept are on no server's disk, and are erased
//! with their source whoever gave them.

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

/// Answers that are kept for replay were files of the server that gave them: text stayed there when
/// its source was deleted on another one, and with an engine elsewhere too.
fn answers_are_kept_by_none_and_erased_for_all(bed: &Bed) {
    let mut members = bed.start_many(2);
    let collection = members[0].collection();
    let text = "The yellow submarine dives at dawn.";
    let id = members[0].add(&collection, "secret", text);
    let kept = "SELECT count(*) FROM dowse.objects
                WHERE kind = 'moment_answer' AND body LIKE '%submarine dives%'";
    let n_kept = || bed.postgres.run(kept).trim().parse::<usize>().unwrap();
    for member in &members {
        member.wait_until_ready(std::slice::from_ref(&id));
        let before = n_kept();
        let call = json!({ "query": "yellow", "knowledge_base_id": collection.base });
        member.wait_until("it is not found", || {
            let found = member.http().post_json("/v1/call/search_documents", &call);
            found.text().contains("submarine dives")
        });
        member.wait_until("the answer is not kept", || n_kept() > before);
    }
    if bed.qdrant.is_some() {
        for member in &mut members {
            assert_eq!(files_with(member, "submarine dives"), [""; 0]);
            member.server.signal(rustix::process::Signal::TERM);
            member.start_again();
            assert_eq!(files_with(member, "submarine dives"), [""; 0]);
        }
    }
    let gone = members[0].http().send(&Request::new("DELETE", &format!("/v1/documents/{id}")));
    assert!(gone.status < 300, "{}", gone.text());
    assert_eq!(n_kept(), 0);
}

/// Names the files of a server's data folder that hold some text.
fn files_with(member: &Member, text: &str) -> Vec<String> {
    let mut folders = vec![member.folder.join("data")];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs_err::read(&path)
                && bytes.windows(text.len()).any(|window| window == text.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn answers_are_erased_with_their_source_whoever_kept_them() {
    let Some(bed) = Bed::embedded() else { return };
    answers_are_kept_by_none_and_erased_for_all(&bed);
}

#[test]
fn a_server_over_qdrant_has_no_passage_on_its_disk() {
    let Some(bed) = Bed::qdrant(1) else { return };
    answers_are_kept_by_none_and_erased_for_all(&bed);
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
fn a_folder_leaves_with_the_last_server_that_has_it_and_its_job_is_its_own() {
    let Some(bed) = Bed::embedded() else { return };
    let shared = testkit::Folder::new();
    for n in 0..40 {
        shared.write(format!("note{n}.txt"), format!("Note number{n} about the lighthouse."));
    }
    let own = testkit::Folder::new();
    own.write("own.txt", "A word about the castle.");
    let with = |roots: &[&testkit::Folder]| {
        let roots: Vec<_> = roots.iter().map(|folder| folder.path()).collect();
        format!("{}\n[files]\nroots = {roots:?}\n", bed.config())
    };
    let started = |roots: &[&testkit::Folder]| {
        let folder = testkit::Folder::new();
        folder.write("dowse.toml", with(roots));
        Member { server: super::start_in(&folder), folder }
    };
    let one = started(&[&shared]);
    // It starts while the first one may still index, and leaves that job alone.
    let other = started(&[&own]);
    let indexed = |root: &testkit::Folder| {
        let sql = format!(
            "SELECT count(*) FROM dowse.documents WHERE id LIKE '{}/%'",
            root.path().canonicalize().unwrap().display()
        );
        bed.postgres.run(&sql).trim().to_owned()
    };
    one.wait_until("the folder is not indexed", || indexed(&shared) == "40");
    other.wait_until("its own folder is not indexed", || indexed(&own) == "1");
    let change = |member: &Member, roots: &[&testkit::Folder]| {
        member.folder.write("dowse.toml", with(roots));
        let is_in_place = member.server.wait_for_log("the new configuration is in place");
        assert!(is_in_place, "{}", member.server.stderr());
    };
    // Both have it; one lets go, and then the last one.
    change(&other, &[&own, &shared]);
    change(&one, &[]);
    assert_eq!(indexed(&shared), "40");
    let mut last = other;
    last.server.signal(rustix::process::Signal::TERM);
    last.folder.write("dowse.toml", with(&[&own]));
    last.start_again();
    last.wait_until("it is still there", || indexed(&shared) == "0");
    assert_eq!(indexed(&own), "1");
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
