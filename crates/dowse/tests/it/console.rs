//! The console over plain HTTP, without a script: who may see it, what a form needs, what is never
//! markup, and what becomes of a click.

use serde_json::json;
use testkit::{Http, Request, Response};

use crate::demo::Demo;
use crate::test_server::{TestServer, dowse};

const KEY: &str = "a key of a person who looks around";
const READER: &str = "a key of a reader who is no administrator";

const KEYS: &str = "[[auth.keys]]\nname = \"ann\"\nkey_env = \"TEST_KEY\"\nroles = [\"admin\"]\n\
                    [[auth.keys]]\nname = \"bob\"\nkey_env = \"TEST_READER\"\n";

pub(crate) fn page(http: &Http, path: &str, cookie: &str) -> Response {
    http.send(&Request::new("GET", path).header("Accept", "text/html").header("Cookie", cookie))
}

pub(crate) fn post(http: &Http, path: &str, cookie: &str, form: &[(&str, &str)]) -> Response {
    let pairs: Vec<String> =
        form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let request = Request::new("POST", path)
        .header("Accept", "text/html")
        .header("Cookie", cookie)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(pairs.join("&"));
    http.send(&request)
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The value of the hidden field that proves where a form comes from.
#[track_caller]
pub(crate) fn form_token(page: &Response) -> String {
    let text = page.text();
    let (_, after) = text.split_once("name=\"form_token\" value=\"").expect("the page has a form");
    after.split('"').next().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn sign_in(http: &Http, key: &str) -> String {
    let form = page(http, "/sign-in", "");
    let entered =
        post(http, "/sign-in", "", &[("form_token", &form_token(&form)), ("credential", key)]);
    assert_eq!(entered.status, 303, "{}", entered.text());
    let cookie = entered.header("set-cookie").expect("a session begins").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(cookie.contains("Max-Age=43200"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn one_signs_in_with_a_key_and_out_again() {
    let test_server = TestServer::start_with(KEYS, &[("TEST_KEY", KEY), ("TEST_READER", READER)]);
    let http = test_server.http();
    for path in ["/", "/tools", "/activity", "/open/x"] {
        let sent_on = page(http, path, "");
        assert_eq!(sent_on.status, 303, "{path}");
        assert!(sent_on.header("location").unwrap().starts_with("/sign-in?next="), "{path}");
    }
    // A program is told so, not sent to a form.
    assert_eq!(http.get("/tools").status, 401);
    let form = page(http, "/sign-in", "");
    let token = form_token(&form);
    let wrong = [("form_token", token.as_str()), ("credential", "not a key of this server")];
    let wrong = post(http, "/sign-in", "", &wrong);
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("not known"), "{}", wrong.text());
    let forged = post(http, "/sign-in", "", &[("credential", KEY)]);
    assert_eq!(forged.status, 403);
    let elsewhere =
        [("form_token", token.as_str()), ("credential", KEY), ("next", "//evil.example")];
    let elsewhere = post(http, "/sign-in", "", &elsewhere);
    assert_eq!(elsewhere.header("location"), Some("/"));

    let cookie = sign_in(http, KEY);
    let start = page(http, "/", &cookie);
    assert_eq!(start.status, 200);
    assert!(start.text().contains("ann"), "{}", start.text());
    assert_eq!(page(http, "/operations", &cookie).status, 200);
    let changed = format!("{cookie}x");
    assert_eq!(page(http, "/", &changed).status, 303, "a cookie that was changed is nothing");
    let out = post(http, "/sign-out", &cookie, &[("form_token", &form_token(&start))]);
    assert_eq!(out.status, 303);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    // Whoever copied the cookie is out, too, also of a server that was started since.
    assert_eq!(page(http, "/", &cookie).status, 303, "the session has ended");
    let again = sign_in(http, KEY);
    assert_eq!(page(http, "/", &again).status, 200, "another session of the same key goes on");

    let reader = sign_in(http, READER);
    assert_eq!(page(http, "/operations", &reader).status, 403);
    assert_eq!(page(http, "/view-as", &reader).status, 403);
}

#[test]
fn a_form_without_its_token_changes_nothing() {
    let test_server = TestServer::start("");
    let http = test_server.http();
    let name = [("name", "Made"), ("visibility", "public")];
    let refused = post(http, "/do/create-base", "", &name);
    assert_eq!(refused.status, 403);
    let listed = http.get("/v1/knowledge-bases").json();
    assert_eq!(listed["knowledge_bases"], json!([]));
    let token = form_token(&page(http, "/knowledge", ""));
    let mut name = name.to_vec();
    name.push(("form_token", &token));
    assert_eq!(post(http, "/do/create-base", "", &name).status, 303);
    let listed = http.get("/v1/knowledge-bases").json();
    assert_eq!(listed["knowledge_bases"][0]["name"], "Made");
    // A page of another origin is refused before the token is looked at.
    let foreign = Request::new("POST", "/do/create-base").header("Origin", "https://evil.example");
    assert_eq!(http.send(&foreign).status, 403);
}

#[test]
fn an_administrator_views_as_another_and_changes_nothing() {
    let test_server = TestServer::start("");
    let http = test_server.http();
    let token = form_token(&page(http, "/view-as", ""));
    let form = [("form_token", token.as_str()), ("subject", "eve"), ("tenant", "other")];
    let began = post(http, "/view-as", "", &form);
    let cookie = began.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let start = page(http, "/", &cookie).text();
    assert!(start.contains("Viewing as") && start.contains("eve"), "{start}");
    let form = [("form_token", token.as_str()), ("name", "Made"), ("visibility", "public")];
    let refused = post(http, "/do/create-base", &cookie, &form);
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("viewing as somebody else"), "{}", refused.text());
}

#[test]
fn pages_lie_below_the_path_of_the_public_address() {
    let test_server = TestServer::start("[server]\npublic_url = \"https://example.org/find/\"\n");
    let http = test_server.http();
    for path in ["/", "/find/", "/find"] {
        let start = page(http, path, "");
        assert_eq!(start.status, 200, "{path}");
        let text = start.text();
        assert!(
            text.contains("href=\"/find/tools\"") && !text.contains("href=\"/tools\""),
            "{text}"
        );
    }
    let text = page(http, "/find/tools", "").text();
    let (_, style) = text.split_once("rel=\"stylesheet\" href=\"").unwrap();
    let style = http.get(style.split('"').next().unwrap());
    assert_eq!(style.status, 200);
    assert!(style.header("cache-control").unwrap().contains("immutable"));
    assert_eq!(page(http, "/finding", "").status, 404);
}

#[test]
fn source_text_is_never_markup_and_no_script_is_inline() {
    let folder = testkit::Folder::new();
    let hostile = "Zanzibar <script>alert(1)</script> <img src=x onerror=alert(2)> \"quoted\"";
    fs_err::write(folder.join("hostile<b>.md"), hostile).unwrap();
    let mut command = dowse("serve");
    command.args(["--listen", "127.0.0.1:0"]).arg(folder.path()).current_dir(folder.path());
    let server = testkit::Server::start_command(command);
    let http = server.http();
    let found = || page(http, "/?q=zanzibar", "");
    let waited = std::time::Instant::now();
    while !found().text().contains("Zanzibar") {
        assert!(waited.elapsed().as_secs() < 60, "{}", found().text());
        std::thread::yield_now();
    }
    let text = found().text();
    assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{text}");
    let (_, id) = text.split_once("/open/").unwrap();
    let opened = page(http, &format!("/open/{}", id.split(['?', '"']).next().unwrap()), "");
    let document = opened.text();
    assert!(document.contains("Zanzibar") && !document.contains("<script>alert"), "{document}");
    let policy = opened.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    for text in [&text, &document] {
        assert!(!text.contains(" style=\"") && !text.contains(" onclick"), "{text}");
        for script in text.split("<script").skip(1) {
            assert!(script.starts_with(" src=\"/assets/"), "{script}");
        }
    }
}

#[test]
fn a_call_is_replayed_and_a_judged_result_is_a_case_for_eval() {
    let demo = Demo::start();
    let http = demo.server.http();
    let mcp = testkit::Mcp::new(http, "/mcp");
    let arguments = json!({ "query": "remote work allowance" });
    let answer = mcp.call("search", &arguments).success();
    let activity = page(http, "/activity", "").text();
    assert!(activity.contains("remote work allowance"), "{activity}");
    let mut links = activity.split("href=\"/activity/").skip(1);
    let call = links.find(|link| !link.starts_with("export")).unwrap();
    let call = call.split('"').next().unwrap().replace("&amp;", "&");
    let replayed = page(http, &format!("/activity/{call}"), "").text();
    assert!(replayed.contains("What the agent saw"), "{replayed}");
    assert!(
        replayed.contains("answer is the same") || replayed.contains("lines differ"),
        "{replayed}"
    );

    // Looking around is marked, and does not be between the agents' calls.
    assert!(page(http, "/?q=visitors", "").status == 200);
    assert!(!page(http, "/activity", "").text().contains(">visitors<"));
    assert!(page(http, "/activity?console=1", "").text().contains(">visitors<"));

    let token = form_token(&page(http, "/?q=remote", ""));
    let id = answer["results"][0]["id"].as_str().unwrap();
    let form = [
        ("form_token", token.as_str()),
        ("query", "remote work allowance"),
        ("id", id),
        ("verdict", "right"),
    ];
    assert_eq!(post(http, "/activity/judge", "", &form).status, 204);
    let judged = page(http, "/activity?view=judged", "").text();
    let (_, file) = judged.split_once("dowse eval ").unwrap();
    let file = file.split('<').next().unwrap().to_owned();
    let evaluated = std::process::Command::new(dowse("eval").get_program())
        .args(["eval", "--no-model", &file])
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&evaluated.stdout).into_owned();
    assert!(evaluated.status.success(), "{table}{}", String::from_utf8_lossy(&evaluated.stderr));
    assert!(table.contains("judged"), "{table}");
}
