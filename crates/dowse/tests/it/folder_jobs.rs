//! Jobs on folders are seen by those who may use the folder, and by nobody else.

use testkit::{Folder, Request};

use crate::test_server::TestServer;

const KEYS: [(&str, &str); 4] = [
    ("KEY_ADMIN", "admin-admin-admin-admin"),
    ("KEY_READER", "reader-reader-reader"),
    ("KEY_OTHER", "other-other-other-other"),
    ("KEY_LOCAL", "local-local-local-local"),
];

const CONFIG: &str = r#"
[embedder]
provider = "none"
[files]
roots = ["docs", { path = "legal", allow = { tenants = ["acme"], roles = ["legal", "admin"] } }]
[[auth.keys]]
name = "admin"
key_env = "KEY_ADMIN"
tenant = "acme"
roles = ["admin"]
[[auth.keys]]
name = "reader"
key_env = "KEY_READER"
tenant = "acme"
[[auth.keys]]
name = "other"
key_env = "KEY_OTHER"
tenant = "bolt"
roles = ["admin"]
[[auth.keys]]
name = "local"
key_env = "KEY_LOCAL"
"#;

#[test]
fn a_job_tells_nothing_of_a_folder_that_is_not_ones_own() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse");
    folder.write("legal/secret-merger.xlsx", "no workbook at all");
    let server = TestServer::start_in_with(folder, CONFIG, &KEYS);
    let [(_, admin), (_, reader), (_, other), (_, local)] = KEYS;
    let ask = |method: &str, path: &str, key: &str| {
        let request = Request::new(method, path).header("Authorization", &format!("Bearer {key}"));
        server.http().send(&request)
    };
    let jobs = |key: &str| ask("GET", "/v1/jobs", key).json();
    // Administrators see the run of the start on both folders.
    server.wait_until(|| {
        let text = jobs(admin).to_string();
        text.contains("secret-merger") && text.contains("/docs") && !text.contains("running")
    });
    let seen = jobs(reader);
    assert!(seen.to_string().contains("/docs") && !seen.to_string().contains("legal"), "{seen}");
    assert!(!seen.to_string().contains("merger"), "{seen}");
    for job in jobs(admin)["jobs"].as_array().unwrap() {
        let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
        let is_of_docs = job["subject"].as_str().unwrap().contains("/docs");
        assert_eq!(ask("GET", &path, reader).status == 200, is_of_docs);
        assert_eq!(ask("DELETE", &path, reader).status, 404);
        // An administrator of another tenant has no right to the folder: there is no such job.
        assert_eq!(jobs(other).to_string().contains(job["id"].as_str().unwrap()), is_of_docs);
        assert_eq!(ask("GET", &path, other).status == 200, is_of_docs);
        assert_eq!(ask("DELETE", &path, other).status == 200, is_of_docs);
        // The server's own jobs are of the tenant that keys have unless they name one.
        let expected = if is_of_docs { 403 } else { 404 };
        assert_eq!(ask("DELETE", &path, local).status, expected);
    }
}
