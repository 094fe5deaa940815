//! Proves that what a server gives a link to is found on the others: the page of a chart and an
//! export; that a chart comes along when a catalogue is moved or restored; and that a link ends.

use serde_json::json;
use testkit::{Folder, Request};

use super::{Bed, Member, start_in};
use crate::test_server::dowse;

const TABLE: &str = "\n[[tables]]\nname = \"visits\"\nsource = \"visits.csv\"\n\
                     [tables.fields]\ncity = { type = \"string\" }\n\
                     n = { type = \"array\", items = { type = \"number\" }, match = \"range\" }\n";
const ROWS: &str = "city,n\nLisbon,3\nPorto,4\nLisbon,5\n";

fn with_table(config: &str) -> Folder {
    let folder = Folder::new();
    folder.write("dowse.toml", format!("{config}{TABLE}"));
    folder.write("visits.csv", ROWS);
    folder
}

fn started(folder: Folder) -> Member {
    Member { server: start_in(&folder), folder }
}

/// Makes a chart and gives its id.
#[track_caller]
fn chart(member: &Member) -> String {
    let call = json!({
        "title": "Visits", "group_by": ["city"], "measures": [{ "op": "sum", "field": "n" }],
    });
    let made = member.http().post_json("/v1/call/chart_table", &call);
    assert_eq!(made.status, 200, "{}", made.text());
    made.json()["chart_id"].as_str().unwrap().to_owned()
}

/// Gives the statuses of a chart's page, its picture and its figures.
fn opened(member: &Member, id: &str) -> Vec<u16> {
    let paths = [format!("/charts/{id}"), format!("/charts/{id}.svg"), format!("/v1/charts/{id}")];
    paths.iter().map(|path| member.http().get(path).status).collect()
}

#[test]
fn links_of_one_server_open_on_the_others() {
    let Some(bed) = Bed::embedded() else { return };
    let [one, other] = [0, 1].map(|_| started(with_table(&bed.config())));
    let id = chart(&one);
    for member in [&one, &other] {
        assert_eq!(opened(member, &id), [200, 200, 200]);
        let listed = member.http().get("/v1/charts").json();
        assert_eq!(listed["charts"][0]["id"], id, "{listed}");
    }
    let call = json!({ "filters": { "city": "Lisbon" }, "export": "csv" });
    let asked = one.http().post_json("/v1/call/query_table", &call).json();
    let url = asked["export"]["url"].as_str().unwrap();
    let path = format!("/v1/exports/{}", url.rsplit('/').next().unwrap());
    for member in [&one, &other] {
        assert_eq!(member.http().get(&path).text(), "city,n\r\nLisbon,3\r\nLisbon,5\r\n");
    }
    // What is forgotten on one is gone on the other.
    let gone = other.http().send(&Request::new("DELETE", &format!("/v1/charts/{id}")));
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(opened(&one, &id), [404, 404, 404]);
    // Nothing of either is in the folder of the server that made it.
    assert!(!one.folder.join(format!("data/charts/charts/{id}.json")).exists());
}

#[test]
fn charts_come_along_when_a_catalogue_moves_and_when_it_is_restored() {
    let Some(bed) = Bed::embedded() else { return };
    let local = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n";
    let alone = started(with_table(local));
    let id = chart(&alone);
    let Member { server, folder: here } = alone;
    assert!(server.stop().success());
    let there = with_table(&bed.config());
    let run = |command: &str, from: &Folder, arguments: &[&str]| {
        let mut command = dowse(command);
        let output = command.arg("--config").arg(from.join("dowse.toml")).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let to = there.join("dowse.toml").to_str().unwrap().to_owned();
    run("move", &here, &["--to", &to]);
    let shared = started(there);
    assert_eq!(opened(&shared, &id), [200, 200, 200]);
    let later = chart(&shared);
    let file = shared.folder.join("copy.zip").to_str().unwrap().to_owned();
    run("backup", &shared.folder, &[&file]);
    let restored = with_table(local);
    run("restore", &restored, &[&file]);
    let Member { server, folder: there } = shared;
    assert!(server.stop().success());
    let back = with_table(local);
    let to = back.join("dowse.toml").to_str().unwrap().to_owned();
    run("move", &there, &["--to", &to]);
    for folder in [restored, back] {
        let member = started(folder);
        for id in [&id, &later] {
            assert_eq!(opened(&member, id), [200, 200, 200]);
        }
    }
}
