//! Documents of knowledge bases as people keep them: originals and who may have them, versions,
//! duplicates, tags, sharing by name, folders that feed a collection, and folders that say what
//! became of their files.

use serde_json::{Value, json};
use testkit::{Folder, Request};

use crate::library::{Library, events_of, id_of, token};
use crate::test_server::{TestServer, dowse};

fn titles(library: &Library, token: Option<&str>, collection: &str) -> Vec<String> {
    let path = format!("/v1/collections/{collection}/documents");
    let listed = library.get(token, &path).json();
    let documents = listed["documents"].as_array().cloned().unwrap_or_default();
    let mut titles: Vec<String> = documents
        .iter()
        .filter(|document| document["status"] == "ready")
        .map(|document| document["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles
}

/// Sends a file as a form, and waits until it was read.
fn upload(
    library: &Library,
    token: Option<&str>,
    collection: &str,
    name: &str,
    text: &str,
) -> Value {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nrules, hr\r\n--b\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n--b--\r\n"
    );
    let request = Request::new("POST", &format!("/v1/collections/{collection}/documents"))
        .header("Content-Type", "multipart/form-data; boundary=b")
        .body(body);
    let added = library.send(token, request);
    assert_eq!(added.status, 202, "{}", added.text());
    let added = added.json();
    library.wait(token, added["job"]["id"].as_str().unwrap());
    added
}

#[test]
fn an_original_is_downloaded_with_a_role_and_erased_with_its_document() {
    let library = Library::with_tokens();
    let boss = token("boss", "acme", &json!({ "roles": ["admin"] }));
    let ann = token("ann", "acme", &json!({}));
    let (_, collection) =
        library.base(Some(&ann), &json!({ "name": "Rules", "visibility": "public" }));
    let text = "# Rules\n\nWrite to qzxuvorak@example.org.\n";
    let added = upload(&library, Some(&ann), &collection, "rules \u{2713}.md", text);
    let id = id_of(&added);
    let path = format!("/v1/documents/{id}/original");
    let original = library.get(Some(&boss), &path);
    assert_eq!((original.status, original.text().as_str()), (200, text));
    assert_eq!(original.header("content-type"), Some("application/octet-stream"));
    assert_eq!(original.header("x-content-type-options"), Some("nosniff"));
    let disposition = original.header("content-disposition").unwrap();
    assert!(disposition.starts_with("attachment; filename=\"rules _.md\""), "{disposition}");
    // Whoever may read the document and has no role gets its text alone, redacted.
    let denied = library.get(Some(&ann), &path);
    assert_eq!(denied.status, 403, "{}", denied.text());
    assert!(denied.text().contains("one of the roles `admin`"), "{}", denied.text());
    let stranger = token("eve", "other", &json!({ "roles": ["admin"] }));
    assert_eq!(library.get(Some(&stranger), &path).status, 404);
    let chunk = library.get(Some(&boss), &format!("/v1/chunks/{id}:0")).json();
    assert!(!chunk["content"].as_str().unwrap().contains("qzxuvorak"), "{chunk}");
    let deleted = library.send(Some(&ann), Request::new("DELETE", &format!("/v1/documents/{id}")));
    library.wait(Some(&ann), deleted.json()["job"]["id"].as_str().unwrap());
    assert_eq!(library.get(Some(&boss), &path).status, 404);
    let uploads = library.0.folder.join("data/uploads").join(&collection);
    assert_eq!(fs_err::read_dir(uploads).map_or(0, Iterator::count), 0);
}

#[test]
fn versions_duplicates_and_tags_are_told() {
    let library = Library::open();
    let (_, collection) = library.base(None, &json!({ "name": "Rules" }));
    let first = upload(&library, None, &collection, "a.txt", "One rule.\n\nAnother rule.\n");
    assert!(first.get("duplicates").is_none(), "{first}");
    let id = id_of(&first);
    let twice = upload(&library, None, &collection, "b.txt", "One rule.\n\nAnother rule.\n");
    assert_eq!(twice["duplicates"][0]["of"]["id"], id.as_str(), "{twice}");
    assert!(twice["warnings"][0].as_str().unwrap().contains("duplicates"), "{twice}");
    let path = format!("/v1/documents/{id}");
    let body = json!({ "title": "A", "text": "One rule.\n\nA rule of ann@example.org.\n" });
    let replaced = library.send(None, Request::new("PUT", &path).json(&body)).json();
    library.wait(None, replaced["job"]["id"].as_str().unwrap());
    let versions = library.get(None, &format!("{path}/versions")).json();
    let newest = &versions["versions"][0];
    assert_eq!((&newest["version"], &newest["lines_added"]), (&json!(2), &json!(1)), "{versions}");
    let difference = newest["difference"].as_str().unwrap();
    assert!(difference.contains("-Another rule."), "{difference}");
    assert!(difference.contains("+A rule of [email]"), "{difference}");
    let document = library.get(None, &path).json();
    assert_eq!(document["tags"], json!(["rules", "hr"]), "{document}");
    let change = json!({ "tags": ["it"], "metadata": { "year": 2024 } });
    let changed = library.send(None, Request::new("PATCH", &path).json(&change));
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(changed.json()["metadata"], json!({ "year": 2024, "tags": ["it"] }));
    let wrong = library.send(None, Request::new("PATCH", &path).json(&json!({ "text": "x" })));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
}

/// What is said of a base or a collection was shown to readers as it was written, and was redacted
/// by the tools alone.
#[test]
fn readers_see_descriptions_redacted_and_owners_as_they_are() {
    let library = Library::with_tokens();
    let ann = token("ann", "acme", &json!({}));
    let bob = token("bob", "acme", &json!({}));
    let description = "Ask ann@example.org";
    let new = json!({ "name": "Rules", "visibility": "public", "description": description });
    let (base, _) = library.base(Some(&ann), &new);
    let base = format!("/v1/knowledge-bases/{base}");
    let new = json!({ "name": "Terms", "description": description });
    let collection = library.post(Some(&ann), &format!("{base}/collections"), &new).json();
    let collection = format!("/v1/collections/{}", id_of(&collection));
    for path in ["/v1/knowledge-bases", &base, &format!("{base}/collections"), &collection] {
        let [own, others] = [&ann, &bob].map(|token| library.get(Some(token), path));
        assert_eq!((own.status, others.status), (200, 200), "{path}: {}", others.text());
        assert!(own.text().contains(description), "{path}: {}", own.text());
        assert!(!others.text().contains("ann@"), "{path}: {}", others.text());
        assert!(others.text().contains("Ask [email]"), "{path}: {}", others.text());
    }
}

#[test]
fn a_private_base_is_shared_with_users_and_groups_by_name() {
    let library = Library::with_tokens();
    let ann = token("ann", "acme", &json!({}));
    let bob = token("bob", "acme", &json!({}));
    let board = token("carol", "acme", &json!({ "groups": ["board"] }));
    let eve = token("eve", "acme", &json!({ "groups": ["other"], "roles": ["board"] }));
    let new = json!({
        "name": "Plans", "shared_with": { "users": ["bob"], "groups": ["board"] },
    });
    let (base, collection) = library.base(Some(&ann), &new);
    library.add(Some(&ann), &collection, &json!({ "title": "Plan", "text": "The tram expands." }));
    let n_bases = |token: &str| {
        let listed = library.get(Some(token), "/v1/knowledge-bases").json();
        listed["knowledge_bases"].as_array().unwrap().len()
    };
    assert_eq!([&ann, &bob, &board, &eve].map(|token| n_bases(token)), [1, 1, 1, 0]);
    assert_eq!(library.get(Some(&eve), &format!("/v1/knowledge-bases/{base}")).status, 403);
    let arguments = json!({ "knowledge_base_id": base, "query": "tram", "threshold": 0.0 });
    let found = library.mcp(Some(&bob)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1, "{found}");
    // Readers do not change what is shared with them.
    let body = json!({ "title": "x", "text": "y" });
    let path = format!("/v1/collections/{collection}/documents");
    assert_eq!(library.post(Some(&bob), &path, &body).status, 403);
    let change = json!({ "shared_with": { "users": [], "groups": ["board"] } });
    let path = format!("/v1/knowledge-bases/{base}");
    let changed = library.send(Some(&ann), Request::new("PATCH", &path).json(&change));
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!([&bob, &board].map(|token| n_bases(token)), [0, 1]);
}

#[test]
fn a_folder_feeds_a_collection() {
    let library = Library::open();
    let (base, collection) = library.base(None, &json!({ "name": "Handbook" }));
    library.0.folder.write("handbook/a.md", "# Tram\n\nIt climbs.");
    library.0.folder.write("handbook/sub/b.txt", "The ferry crosses.");
    library.0.folder.write("handbook/.hidden.txt", "Nobody looks.");
    library.0.rewrite(&format!(
        "[embedder]\nprovider = \"none\"\n[[knowledge.folders]]\npath = \"handbook\"\n\
         collection = \"{collection}\"\n"
    ));
    library.0.wait_until(|| titles(&library, None, &collection) == ["a.md", "b.txt"]);
    library.0.folder.write("handbook/c.txt", "A funicular.");
    library.0.wait_until(|| titles(&library, None, &collection) == ["a.md", "b.txt", "c.txt"]);
    fs_err::remove_file(library.0.folder.join("handbook/sub/b.txt")).unwrap();
    library.0.folder.write("handbook/a.md", "# Tram\n\nIt descends now.");
    let arguments = json!({ "knowledge_base_id": base, "query": "descends", "threshold": 0.0 });
    library.0.wait_until(|| {
        let found = library.mcp(None).call("search_documents", &arguments).success();
        found["count"] == 1 && titles(&library, None, &collection) == ["a.md", "c.txt"]
    });
    // The file says what its document holds: nothing else would last.
    let path = format!("/v1/collections/{collection}/documents");
    let listed = library.get(None, &path).json();
    let documents = listed["documents"].as_array().unwrap();
    let of_file = documents.iter().find(|one| one["follows"] == "c.txt").unwrap();
    let path = format!("/v1/documents/{}", of_file["id"].as_str().unwrap());
    let other = json!({ "title": "c.txt", "text": "Something else." });
    for request in [Request::new("DELETE", &path), Request::new("PUT", &path).json(&other)] {
        let refused = library.send(None, request);
        assert_eq!(refused.status, 409, "{}", refused.text());
        assert!(refused.text().contains("follows the file `c.txt`"), "{}", refused.text());
    }
    let tagged = Request::new("PATCH", &path).json(&json!({ "tags": ["rail"] }));
    assert_eq!(library.send(None, tagged).status, 200);
    // One that is deleted may come back.
    fs_err::remove_dir_all(library.0.folder.join("handbook")).unwrap();
    let readiness = || library.get(None, "/readyz").text();
    library.0.wait_until(|| readiness().contains("collection folder"));
    assert_eq!(titles(&library, None, &collection), ["a.md", "c.txt"]);
    library.0.folder.write("handbook/d.txt", "A cable car.");
    library.0.wait_until(|| titles(&library, None, &collection) == ["d.txt"]);
    library.0.wait_until(|| !readiness().contains("collection folder"));
    // A document whose folder feeds the collection no more is one as any other.
    library.0.rewrite("[embedder]\nprovider = \"none\"\n");
    let path = format!("/v1/collections/{collection}/documents");
    let listed = library.get(None, &path).json();
    let path = format!("/v1/documents/{}", listed["documents"][0]["id"].as_str().unwrap());
    library.0.wait_until(|| library.send(None, Request::new("DELETE", &path)).status != 409);
    assert!(titles(&library, None, &collection).is_empty());
}

/// The configuration is named from the working directory, and the folder from the configuration.
#[test]
fn a_folder_named_from_the_working_directory_is_watched_and_says_what_it_leaves_out() {
    let folder = Folder::new();
    let settings = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
                    [files]\nmax_file_bytes = 1000\n";
    folder.write("dowse.toml", settings);
    let place = folder.path().to_owned();
    let kb = |words: &[&str]| {
        let mut command = dowse("kb");
        command.current_dir(&place).args(words).args(["--config", "dowse.toml"]);
        let said = command.output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap()
    };
    kb(&["create", "Handbook", "--public"]);
    // A command names a collection by its name, too.
    let collection = kb(&["collection", "create", "Handbook", "rules"]);
    folder.write("handbook/a.md", "It climbs.");
    folder.write(
        "dowse.toml",
        format!(
            "{settings}[[knowledge.folders]]\npath = \"handbook\"\ncollection = {:?}\n",
            collection.trim()
        ),
    );
    let mut command = dowse("serve");
    command.current_dir(folder.path());
    command.args(["--config", "dowse.toml", "--listen", "127.0.0.1:0"]);
    let server = testkit::Server::start_command(command);
    let server = TestServer { server, folder };
    for name in ["rules", "Handbook/rules", collection.trim()] {
        kb(&["documents", name]);
    }
    let path = format!("/v1/collections/{}/documents", collection.trim());
    let n_ready = || {
        let listed = server.http().get(&path).json();
        let documents = listed["documents"].as_array().cloned().unwrap_or_default();
        documents.iter().filter(|document| document["status"] == "ready").count()
    };
    server.wait_until(|| n_ready() == 1);
    // The next look that nobody asks for is ten minutes away.
    server.folder.write("handbook/b.md", "It descends.");
    server.wait_until(|| n_ready() == 2);
    server.folder.write("handbook/large.md", "It is long. ".repeat(200));
    let readiness = || server.http().get("/readyz").text();
    server.wait_until(|| readiness().contains("1 of its files are left out"));
    assert!(readiness().contains("`large.md`"), "{}", readiness());
    fs_err::remove_file(server.folder.join("handbook/large.md")).unwrap();
    server.wait_until(|| !readiness().contains("left out"));
}

/// A deployment turns a link to another folder: nobody tells of that, and what the link led to
/// before is still there.
#[cfg(unix)]
#[test]
fn a_folder_behind_a_link_that_is_turned_is_followed() {
    let library = Library::open();
    let (_, collection) = library.base(None, &json!({ "name": "Handbook" }));
    let folder = &library.0.folder;
    folder.write("one/a.md", "It climbs.");
    folder.write("two/b.md", "It descends.");
    let turn_to = |release: &str| {
        let (link, new) = (folder.join("current"), folder.join("next"));
        std::os::unix::fs::symlink(folder.join(release), &new).unwrap();
        fs_err::rename(new, link).unwrap();
    };
    turn_to("one");
    library.0.rewrite(&format!(
        "[embedder]\nprovider = \"none\"\n[[knowledge.folders]]\npath = \"current\"\n\
         collection = \"{collection}\"\n"
    ));
    library.0.wait_until(|| titles(&library, None, &collection) == ["a.md"]);
    turn_to("two");
    library.0.wait_until(|| titles(&library, None, &collection) == ["b.md"]);
    folder.write("two/c.md", "It stops.");
    library.0.wait_until(|| titles(&library, None, &collection) == ["b.md", "c.md"]);
    // Renamed: the same document.
    let of_c = || {
        let path = format!("/v1/collections/{collection}/documents");
        let listed = library.get(None, &path).json();
        let documents = listed["documents"].as_array().unwrap().clone();
        let found = documents.into_iter().find(|one| one["title"] != "b.md");
        found.map(|one| (one["id"].clone(), one["follows"].clone()))
    };
    let (id, _) = of_c().unwrap();
    fs_err::rename(folder.join("two/c.md"), folder.join("two/stops.md")).unwrap();
    library.0.wait_until(|| of_c() == Some((id.clone(), json!("stops.md"))));
}

#[test]
fn a_question_goes_to_every_base_that_the_caller_sees() {
    let library = Library::open();
    for (name, text) in [("Work", "Remote work is allowed."), ("Trams", "The tram climbs.")] {
        let (_, collection) = library.base(None, &json!({ "name": name }));
        library.add(None, &collection, &json!({ "title": name, "text": text }));
    }
    let body =
        json!({ "query": "remote work", "threshold": 0.0, "force_tool": "search_documents" });
    let events = events_of(&library.post(None, "/v1/chat", &body));
    let (_, done) = events.last().unwrap();
    assert_eq!(done["status"], "success", "{events:?}");
    assert_eq!(done["knowledge_bases"].as_array().unwrap().len(), 2, "{done}");
    let (_, found) = events.iter().find(|(name, _)| name == "search_result").unwrap();
    assert_eq!(found["results"][0]["metadata"]["knowledge_base"], "Work", "{found}");
    // That the other base has nothing is not said next to what this one has.
    let body = json!({ "query": "remote work", "force_tool": "search_documents" });
    let events = events_of(&library.post(None, "/v1/chat", &body));
    let (_, found) = events.iter().find(|(name, _)| name == "search_result").unwrap();
    assert_eq!(found["count"], 1, "{found}");
    let warnings = found["warnings"].to_string();
    assert!(!warnings.contains("best result") && !warnings.contains("No results"), "{found}");
    let body = json!({ "query": "x", "force_tool": "get_knowledge_base_summary" });
    let events = events_of(&library.post(None, "/v1/chat", &body));
    let (_, found) = events.iter().find(|(name, _)| name == "search_result").unwrap();
    assert_eq!(found["statistics"]["total_documents"], 2, "{found}");
    assert_eq!(found["summaries"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn states_of_files_are_the_same_in_rest_and_metrics() {
    let folder = Folder::new();
    folder.write("documents/a.txt", "The tram climbs.");
    folder.write("documents/b.txt", "");
    folder.write("documents/c.txt", "The ferry crosses.");
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    let server =
        testkit::Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &folder.join("dowse.toml"));
    let test_server = TestServer { server, folder };
    let roots = || test_server.http().get("/v1/roots").json();
    test_server.wait_until(|| roots()["roots"][0]["files"] == 3);
    let counts = roots()["roots"][0]["outcomes"].clone();
    assert_eq!(counts, json!({ "indexed": 2, "empty": 1 }));
    let metrics = test_server.http().get("/metrics").text();
    assert!(metrics.contains("dowse_files{outcome=\"indexed\"} 2"), "{metrics}");
    assert!(metrics.contains("dowse_files{outcome=\"empty\"} 1"), "{metrics}");
    let listed = test_server.http().get("/v1/roots/files/empty").json();
    let files = listed["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{listed}");
    assert!(files[0]["path"].as_str().unwrap().ends_with("b.txt"), "{listed}");
    assert!(files[0]["reason"].is_string(), "{listed}");
    assert_eq!(test_server.http().get("/v1/roots/files/lost").status, 400);
    // The command line says the same, of a running server too.
    let status = |words: &[&str]| {
        let mut command = dowse("status");
        command.arg("--config").arg(test_server.folder.join("dowse.toml")).args(words);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(status(&[]).contains("2 indexed, without text: 1 empty"), "{}", status(&[]));
    let missing = status(&["--missing"]);
    assert!(
        missing.contains("empty: ") && missing.contains("b.txt: the file is empty"),
        "{missing}"
    );
    let missing: serde_json::Value =
        serde_json::from_str(&status(&["--missing", "--json"])).unwrap();
    assert_eq!(missing["data"][0]["files"][0]["outcome"], "empty", "{missing}");
    // A folder that is away is among what is degraded.
    let (there, away) = (test_server.folder.join("documents"), test_server.folder.join("away"));
    let readiness = || test_server.http().get("/readyz").json();
    assert_eq!(readiness()["status"], "ready");
    fs_err::rename(&there, &away).unwrap();
    test_server.wait_until(|| readiness()["degraded"][0]["what"] == "folder");
    fs_err::rename(&away, &there).unwrap();
    test_server.wait_until(|| readiness()["status"] == "ready");
}
