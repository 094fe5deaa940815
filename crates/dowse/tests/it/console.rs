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
    let typed = |path: &str| http.send(&Request::new("GET", path).header("Accept", "*/*"));
    for path in ["/", "/tools", "/activity?view=cost"] {
        let asked = typed(path);
        assert_eq!(asked.status, 401, "{path}");
        assert!(asked.header("www-authenticate").is_some(), "{path}");
        assert!(asked.header("content-type").unwrap().starts_with("text/html"), "{path}");
        assert!(asked.text().contains("action=\"/sign-in\""), "{}", asked.text());
    }
    for path in ["/sources.json", "/activity/export", "/v1/jobs"] {
        assert_eq!(typed(path).json()["error"]["code"], "UNAUTHORIZED", "{path}");
    }
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
    for next in ["/\t/evil.example", "/\n/evil.example", "/\\evil.example", "/\r\nx: y"] {
        let elsewhere = [("form_token", token.as_str()), ("credential", KEY), ("next", next)];
        let elsewhere = post(http, "/sign-in", "", &elsewhere);
        assert_eq!((elsewhere.status, elsewhere.header("location")), (303, Some("/")), "{next:?}");
    }

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

/// The first form of a page was signing out, and the sections were in every page twice.
#[test]
fn a_page_begins_with_its_own_form_and_has_everything_once() {
    let test_server = TestServer::start_with(KEYS, &[("TEST_KEY", KEY), ("TEST_READER", READER)]);
    let http = test_server.http();
    let ann = sign_in(http, KEY);
    let token = form_token(&page(http, "/view-as", &ann));
    let began = post(http, "/view-as", &ann, &[("form_token", token.as_str()), ("subject", "bob")]);
    let view = began.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    for cookie in [ann.clone(), format!("{ann}; {view}")] {
        let start = page(http, "/", &cookie).text();
        let (_, form) = start.split_once("<form ").unwrap();
        let form = form.split('>').next().unwrap();
        assert!(form.contains("role=\"search\"") && form.contains("method=\"get\""), "{form}");
        assert_eq!(start.matches("data-go=\"t\"").count(), 1, "{start}");
        assert_eq!(start.matches("Sign out").count(), 1, "{start}");
        assert_eq!(start.matches("action=\"/sign-out\"").count(), 1, "{start}");
    }
}

/// An address that nothing has was a page without the sections.
#[test]
fn an_unknown_address_is_within_the_sections_for_who_may_see_them() {
    let test_server = TestServer::start_with(KEYS, &[("TEST_KEY", KEY), ("TEST_READER", READER)]);
    let http = test_server.http();
    for path in ["/no-such-page", "/knowledge/a/b/c", "/activity/a/b"] {
        let stranger = page(http, path, "");
        assert_eq!(stranger.status, 404, "{path}");
        assert!(!stranger.text().contains("data-go"), "{}", stranger.text());
        let known = page(http, path, &sign_in(http, READER));
        assert_eq!(known.status, 404, "{path}");
        assert!(known.text().contains("data-go=\"t\""), "{}", known.text());
        assert!(known.text().contains("<h1>Not found</h1>"), "{}", known.text());
        // A program is told in its own form.
        let program = http.get(path);
        assert_eq!(program.status, 404);
        assert_eq!(program.json()["error"]["code"], "NOT_FOUND");
    }
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
    let foreign_page = http.send(&foreign.clone().header("Accept", "text/html"));
    assert_eq!(http.send(&foreign).status, 403);
    // A person sees a page, also where a form was sent from elsewhere.
    assert_eq!(foreign_page.status, 403);
    assert!(foreign_page.text().contains("Not allowed"), "{}", foreign_page.text());
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

/// The record says who really looked, and the one who was looked as sees none of it.
#[test]
fn the_record_names_who_views_as_another() {
    let test_server = TestServer::start_with(KEYS, &[("TEST_KEY", KEY), ("TEST_READER", READER)]);
    let http = test_server.http();
    let ann = sign_in(http, KEY);
    let token = form_token(&page(http, "/view-as", &ann));
    let form = [("form_token", token.as_str()), ("subject", "bob"), ("clearance", "public")];
    let began = post(http, "/view-as", &ann, &form);
    let view = began.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let both = format!("{ann}; {view}");
    assert_eq!(page(http, "/?q=walrus", &both).status, 200);
    let while_viewing = page(http, "/activity?console=1", &both).text();
    assert!(!while_viewing.contains(">walrus<"), "{while_viewing}");
    let bob = sign_in(http, READER);
    let of_bob = page(http, "/activity?console=1", &bob).text();
    assert!(!of_bob.contains(">walrus<") && !of_bob.contains("view-as"), "{of_bob}");
    let export = page(http, "/activity/export?console=1", &ann).text();
    let lines: Vec<serde_json::Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let began = lines.iter().find(|line| line["tool"] == "POST /view-as").unwrap();
    assert_eq!((&began["caller"], &began["viewing_as"]), (&json!("ann"), &json!("local/bob")));
    assert!(began["query"].as_str().unwrap().contains("clearance public"), "{began}");
    // What the administrator would see beside it is asked for in their own name.
    let is_view =
        |line: &&serde_json::Value| line["query"] == "walrus" && !line["viewing_as"].is_null();
    let looked = lines.iter().find(is_view).unwrap();
    assert_eq!((&looked["caller"], &looked["viewing_as"]), (&json!("ann"), &json!("local/bob")));
    assert!(!lines.iter().any(|line| line["caller"] == "bob" && line["query"] == "walrus"));
    let listed = page(http, "/activity?console=1&q=walrus", &ann).text();
    assert!(listed.contains("viewing as local/bob"), "{listed}");
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
    // The id that the agent's own log has is enough.
    let (request, _) = call.split_once('?').unwrap();
    let by_id = page(http, &format!("/activity/{request}"), "").text();
    assert!(by_id.contains("What the agent saw"), "{by_id}");

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
    assert!(judged.contains("remote-work.md") && judged.contains("dowse eval"), "{judged}");
    let folder = testkit::Folder::new();
    let file = folder.join("judged.jsonl");
    fs_err::write(&file, page(http, "/activity/judged.jsonl", "").text()).unwrap();
    let evaluated = std::process::Command::new(dowse("eval").get_program())
        .args(["eval", "--no-model"])
        .arg(&file)
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&evaluated.stdout).into_owned();
    assert!(evaluated.status.success(), "{table}{}", String::from_utf8_lossy(&evaluated.stderr));
    assert!(table.contains("judged"), "{table}");
}

const CHIEF: &str = "a key of a chief who is not of the lawyers";

/// What one administrator judged is no way for another to read it, and no text stays behind when
/// its source is deleted.
#[test]
fn a_judged_result_is_read_with_the_rights_of_whoever_asks() {
    let folder = testkit::Folder::new();
    folder.write("legal/merger.txt", "The qzxuvorak merger is signed in May.");
    let test_server = TestServer::start_in_with(
        folder,
        "[embedder]\nprovider = \"none\"\n\
         [files]\nroots = [{ path = \"legal\", allow = { roles = [\"legal\"] } }]\n\
         [[auth.keys]]\nname = \"boss\"\nkey_env = \"TEST_KEY\"\nroles = [\"admin\", \"legal\"]\n\
         [[auth.keys]]\nname = \"chief\"\nkey_env = \"TEST_CHIEF\"\nroles = [\"admin\"]\n",
        &[("TEST_KEY", KEY), ("TEST_CHIEF", CHIEF)],
    );
    let library = crate::library::Library(test_server);
    let http = library.0.http();
    let (boss, chief) = (sign_in(http, KEY), sign_in(http, CHIEF));
    let search = || library.mcp(Some(KEY)).call("search", &json!({ "query": "merger" })).success();
    library.0.wait_until(|| search()["results"][0]["id"].is_string());
    let found = search();
    let id = found["results"][0]["id"].as_str().unwrap();
    let token = form_token(&page(http, "/?q=merger", &boss));
    let form =
        [("form_token", token.as_str()), ("query", "merger"), ("id", id), ("verdict", "right")];
    assert_eq!(post(http, "/activity/judge", &boss, &form).status, 204);
    let pressed = page(http, "/?q=merger", &boss).text();
    assert!(pressed.contains("value=\"right\" aria-pressed=\"true\""), "{pressed}");

    let own = page(http, "/activity/judged.jsonl", &boss).text();
    assert!(own.contains("qzxuvorak") && own.contains("\"relevant\""), "{own}");
    let others = page(http, "/activity/judged.jsonl", &chief).text();
    assert!(!others.contains("qzxuvorak") && !others.contains("signed in May"), "{others}");
    let listed = page(http, "/activity?view=judged", &chief).text();
    assert!(listed.contains("you may not see") && !listed.contains("The qzxuvorak"), "{listed}");

    let kept = library.0.folder.join("data/judged.jsonl");
    let tenants: Vec<String> = fs_err::read_dir(kept.parent().unwrap())
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().contains("judged"))
        .map(|path| fs_err::read_to_string(path).unwrap())
        .collect();
    assert_eq!(tenants.len(), 1);
    assert!(!tenants[0].contains("qzxuvorak"), "{tenants:?}");
    fs_err::remove_file(library.0.folder.join("legal/merger.txt")).unwrap();
    let own = || page(http, "/activity/judged.jsonl", &boss).text();
    library.0.wait_until(|| !own().contains("qzxuvorak"));
}

/// Every value at the side shows as many rows as were counted for it; what an address cannot mean
/// is refused, in the page and in the export.
#[test]
fn a_click_on_a_value_shows_what_was_counted_and_nonsense_is_refused() {
    let folder = testkit::Folder::new();
    folder.write("people.csv", "name,age\nAnn,30\nAnna,31\nAnn,32\n,33\n");
    let config = "[[tables]]\nname = \"people\"\nsource = \"people.csv\"\n\
                  fields = { name = { type = \"string\" }, age = { type = \"array\", items = { type = \"number\" }, match = \"range\" } }\n";
    let test_server = TestServer::start_in(folder, config);
    let http = test_server.http();
    let table = page(http, "/tables/people", "").text();
    let values: Vec<&str> =
        table.split("href=\"").filter(|rest| rest.starts_with("/tables/people?is.name=")).collect();
    assert!(values.len() >= 2, "{table}");
    for value in values {
        let link = value.split('"').next().unwrap().replace("&amp;", "&");
        let (_, count) = value.split_once("class=\"count\">").unwrap();
        let count = count.split('<').next().unwrap();
        let shown = page(http, &link, "").text();
        let counted = if count == "1" { "1 row".to_owned() } else { format!("{count} rows") };
        assert!(shown.contains(&format!("{counted}, all of them as")), "{link}: {shown}");
        assert!(shown.contains("aria-current=\"true\""), "{link}: {shown}");
    }
    let contained = page(http, "/tables/people?f.name=Ann", "").text();
    assert!(contained.contains("3 rows, all of them as"), "{contained}");
    assert!(contained.contains("name contains Ann"), "{contained}");
    for query in ["f.nope=1", "f.age=abc", "min.name=1", "sort=nope", "cursor=nonsense"] {
        let refused = page(http, &format!("/tables/people?{query}"), "");
        assert_eq!(refused.status, 400, "{query}: {}", refused.text());
        let text = refused.text();
        assert!(text.contains("class=\"problem\"") && !text.contains(" rows, all"), "{text}");
    }
    // What was typed stays, with the reason below it, and so do the filters beside it.
    for (typed, why) in [
        ("min.age=1%2C5", "value=\"1,5\" placeholder=\"30\" aria-label=\"age at least\""),
        ("min.age=40&max.age=31", "value=\"40\" placeholder=\"30\" aria-label=\"age at least\""),
        ("sort=nope", "aria-label=\"age at least\""),
    ] {
        let text = page(http, &format!("/tables/people?f.name=Ann&{typed}"), "").text();
        let text = text.replace(" aria-invalid=\"true\"", "");
        assert!(text.contains(why), "{typed}: {text}");
        assert!(text.contains("name contains Ann"), "{typed}: {text}");
        assert!(
            text.contains("href=\"/tables/people?f.name=Ann\">Show the rest"),
            "{typed}: {text}"
        );
        let below = text.split("Apply</button></form>").nth(1).unwrap_or_default();
        assert_eq!(below.starts_with("<p class=\"hint\">"), typed != "sort=nope", "{below}");
    }
    // Of two that are refused, in the address or by the table itself, each is said, and the others
    // stay.
    for typed in
        ["min.age=x&f.nope=1", "min.age=40&max.age=31&sort=nope", "min.age=40&max.age=31&f.zz=1"]
    {
        let text = page(http, &format!("/tables/people?f.name=Ann&{typed}"), "").text();
        assert_eq!(text.matches("class=\"problem\"").count(), 2, "{typed}: {text}");
        let rest = "href=\"/tables/people?f.name=Ann\">Show the rest";
        assert!(text.contains(rest) && text.contains("name contains Ann"), "{typed}: {text}");
    }
    let alone = page(http, "/tables/people?f.nope=1&min.age=x", "").text();
    assert!(!alone.contains("Show the rest"), "{alone}");
    let export = page(http, "/tables/people/export?format=csv&f.nope=1", "");
    assert_eq!(export.status, 400, "{}", export.text());
}

/// One more key of an endpoint comes with the address of the endpoint, and its use is shown.
#[test]
fn a_new_key_opens_its_endpoint_and_its_last_use_is_shown() {
    let library = crate::library::Library::open();
    let id = |path: &str, body: serde_json::Value| {
        let made = library.post(None, path, &body);
        assert!(made.status < 300, "{path}: {}", made.text());
        crate::library::id_of(&made.json())
    };
    let project = id("/v1/projects", json!({ "name": "Manuals" }));
    let manual = json!({ "name": "manual", "data": { "chapters": ["How to calibrate."] } });
    let table = id(&format!("/v1/projects/{project}/tables"), manual);
    let tool = id("/v1/tools", json!({ "type": "get", "table_id": table, "name": "read_manual" }));
    let endpoint = json!({ "name": "agents", "tool_ids": [tool], "project_id": project });
    let endpoint = id("/v1/endpoints", endpoint);
    let http = library.0.http();
    let place = format!("/contexts/{project}");
    let before = page(http, &place, "");
    assert!(before.text().contains("not used yet"), "{}", before.text());
    let form = [("form_token", form_token(&before)), ("id", endpoint.clone())];
    let form: Vec<(&str, &str)> =
        form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let sent = post(http, "/do/add-key", "", &form);
    assert_eq!(sent.status, 303, "{}", sent.text());
    let cookie = sent.header("set-cookie").unwrap().split(';').next().unwrap();
    let made = page(http, sent.header("location").unwrap(), cookie).text();
    assert!(made.contains(&format!("/mcp/{endpoint}")), "{made}");
    assert!(made.contains(&format!("href=\"{place}\"")), "{made}");
    let (_, key) = made.split_once("id=\"new-key\"").unwrap();
    let (_, key) = key.split_once("dowse_").unwrap();
    let key = format!("dowse_{}", key.split('<').next().unwrap().trim());
    let mcp = testkit::Mcp::new(http, &format!("/mcp/{endpoint}"));
    let mcp = mcp.header("Authorization", &format!("Bearer {key}"));
    mcp.call("read_manual", &json!({ "json_path": "/chapters" })).success();
    let after = page(http, &place, "").text();
    assert!(after.contains("last used"), "{after}");
    let listed = library.get(None, &format!("/v1/endpoints/{endpoint}")).json();
    let keys = listed["keys"].as_array().unwrap();
    assert_eq!(keys.iter().filter(|key| key["last_used_at"].is_string()).count(), 1, "{listed}");
}
