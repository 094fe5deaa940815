//! What the console can do, each driven in a real browser with mouse and keyboard as a person
//! would. Without the test bed's browser there is nothing to look with.

use std::time::Instant;

use serde_json::json;
use testkit::Mcp;

use crate::demo::Demo;
use crate::person::Person;
use crate::test_server::{PATIENCE, TestServer, dowse};

/// Search as one types, the stages with their times, why a document was not found, what an answer
/// costs, and a click that becomes a case for `dowse eval`.
#[test]
fn a_person_finds_out_what_agents_find_and_why() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/");
    person.fill("#q", "remote work");
    person.wait("document.querySelector('.hits .title')?.textContent === 'remote-work.md'");
    let agent =
        person.browser.evaluate("JSON.parse(document.querySelector('#agent-json').textContent)");
    assert_eq!(agent["results"][0]["title"], "remote-work.md");

    person.open("/?q=remote+work+allowance&view=explain");
    assert!(person.count(".stages svg") > 0);
    let stages = person.text(".stages-took");
    assert!(stages.contains("Words") && stages.contains("skipped"), "{stages}");
    let ms = person.browser.evaluate(
        "[...document.querySelectorAll('.stages-took td.num')].filter(it => Number(it.textContent) > 0).length",
    );
    assert!(ms.as_u64() > Some(0), "{stages}");

    // Lost at the number of results, found with more of them.
    person.open("/?q=calibration&view=missing");
    person.fill("#document", "no such document.pdf");
    person.browser.press("Enter");
    person.sees("Lost at: Read and indexed");
    person.open("/?q=remote+work+allowance&view=missing&document=remote-work.md");
    person.sees("It was found");
    assert_eq!(person.count(".steps .passed"), 6);
    person.open("/?q=remote+work+allowance&view=missing&document=remote-work.md&threshold=1.01");
    person.sees("Lost at: Threshold");
    person.open("/?q=torque+sensor+calibration&view=missing&document=remote-work.md&asked=1");
    person.sees("Lost at:");
    person.click("button[value=right]");
    person.wait("document.querySelector('button[value=right][aria-pressed=true]')");

    person.open("/?q=remote+work+allowance&view=cost&k=5&cap_tokens=300");
    let given = person.text("#given-results");
    assert!(given.ends_with("of 5") && !given.starts_with('5'), "{given}");

    // A click, and the file that an evaluation reads.
    person.open("/?q=remote+work+allowance");
    person.click(".judge button[value=right]");
    person.wait("document.querySelector('.judge [aria-pressed=true]')");
    // The click is shown at once and counts though its page is left; what it says comes later.
    person.reopens_until("/activity?view=judged", "2 judged queries");
    let cases = person.browser.evaluate(
        "fetch(document.querySelector('a[download]').href).then(answer => answer.text())",
    );
    let folder = testkit::Folder::new();
    let file = folder.join("judged.jsonl");
    fs_err::write(&file, cases.as_str().unwrap()).unwrap();
    let evaluated = std::process::Command::new(dowse("eval").get_program())
        .args(["eval", "--no-model"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(evaluated.status.success(), "{}", String::from_utf8_lossy(&evaluated.stderr));
    person.click("form[action$=forget] button");
    person.click("#ask [value=yes]");
    person.sees("1 judged query");
    person.has_not_complained();
}

/// Tables with facets, chips, sorting, pages, fields and export; a chart over a view; names.
#[test]
fn a_person_reads_tables_charts_and_names() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/tables/requests");
    let all = person.text(".head .note");
    person.click(".filters li a");
    person.wait("document.querySelector('.chips .chip[aria-current]')");
    assert_ne!(person.text(".head .note"), all);
    person.click("th a");
    person.wait("document.querySelector('th[aria-sort=ascending]')");
    let view = person.browser.evaluate("location.search").as_str().unwrap().to_owned();
    let shown = person.browser.evaluate(
        "[...document.querySelectorAll('[aria-label=Rows] tbody tr')].map(row => row.cells[0].textContent)",
    );
    let exported = person.browser.evaluate(
        "fetch(document.querySelector('a[href*=\"format=csv\"]').href).then(answer => answer.text())",
    );
    let lines: Vec<&str> = exported.as_str().unwrap().lines().collect();
    let total: usize = person
        .text(".head .note")
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap();
    assert_eq!(lines.len(), total + 1, "{view}");
    assert!(lines[1].starts_with(shown[0].as_str().unwrap()), "{} {shown}", lines[1]);
    person.sees("How it is filtered");
    person.open("/tables/requests");
    person.click("a[rel=next]");
    person.wait("location.search.includes('cursor=')");

    person.open("/tables/requests?f.level=error");
    person.unfold("Chart this view");
    person.browser.evaluate("document.querySelector('#by').value = ':method'");
    person.click("form[action$='/chart'] button");
    person.wait("location.pathname.startsWith('/charts/') && document.querySelector('figure svg')");
    person.open("/charts");
    person.sees("requests: number of rows by method");

    person.open("/names?category=uat");
    person.fill("#q", "Cluj");
    person.wait("document.querySelector('#results tbody tr')");
    person.fill("#q", "zzzzqqq");
    person.sees("Nothing has this name");
    person.fill("#lines", "Cluj\nnobody at all");
    person.click("form[method=post] button[type=submit]");
    person.sees("of 2 names");
    // What was pasted is an address that can be shared.
    let shared = person.browser.evaluate("location.pathname + location.search");
    person.open("/names");
    person.open(shared.as_str().unwrap());
    person.sees("of 2 names");
    person.sees("nobody at all");
    person.has_not_complained();
}

/// Folders with files that failed and why, trying again, jobs; a document with its passages.
#[test]
fn a_person_sees_what_was_indexed_and_what_was_not() {
    let folder = testkit::Folder::new();
    let long = "x".repeat(400);
    let hostile = format!(
        "Zanzibar <script>window.hacked = 1</script> <img src=x onerror=\"window.hacked = 1\"> \
         \u{202e}gnitirw esrever\u{202c} {long}\n"
    );
    fs_err::write(folder.join("hostile <b>.txt"), hostile.repeat(40)).unwrap();
    fs_err::write(folder.join("broken.pdf"), b"%PDF-1.7 not a document").unwrap();
    fs_err::write(folder.join("empty.txt"), b"").unwrap();
    let mut command = dowse("serve");
    command
        .args(["--no-model", "--listen", "127.0.0.1:0"])
        .arg(folder.path())
        .current_dir(folder.path());
    let server = testkit::Server::start_command(command);
    let Some(mut person) = Person::at(server.url("")) else { return };
    let begun = Instant::now();
    loop {
        person.open("/sources");
        if person.text("main").contains("1 of 3 files") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", person.text("main"));
    }
    let problems = person.text("section[aria-labelledby=failed]");
    assert!(problems.contains("broken.pdf") && problems.contains("empty.txt"), "{problems}");
    let listed = server.http().get("/v1/roots").json();
    assert_eq!(listed["roots"][0]["files"], 3);

    // Mended, and read again at the press of a button.
    fs_err::write(folder.join("empty.txt"), "A walrus after all").unwrap();
    person.browser.evaluate("window.isOldPage = true");
    person.click("form[action$='/sources/retry'] button");
    person.wait("!window.isOldPage && location.pathname === '/sources' && document.querySelector('#jobs table')");
    let begun = Instant::now();
    loop {
        person.open("/?q=walrus");
        if person.text(".hits").contains("walrus") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", person.text("main"));
    }

    // What a source says is text, in results, in the document and in the agent's JSON.
    for width in [1280, 390] {
        person.browser.resize(width, 900);
        person.open("/?q=zanzibar");
        person.click(".hits .title");
        person.wait("document.querySelector('.passage')");
        assert!(person.text(".reading").contains("<script>window.hacked"));
        assert_eq!(person.browser.evaluate("window.hacked ?? 0"), 0);
        let overflow = person.browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(overflow.as_i64().unwrap() <= 0, "{overflow} at {width}");
    }
    person.has_not_complained();
}

/// Projects with JSON dropped into them, tools, endpoints and a key that is shown once; knowledge
/// bases with clearance and a threshold.
#[test]
fn a_person_makes_things_for_agents() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/contexts");
    person.fill("form[action$=create-project] input[name=name]", "Handbook");
    person.click("form[action$=create-project] button");
    person.wait("document.querySelector('[data-upload]')");
    let text = "How the walrus is fed on Tuesdays. ".repeat(400);
    person.drop_file("manual.json", &json!({ "feeding": { "walrus": text } }).to_string());
    person.wait("document.querySelector('[data-refresh] a')?.textContent === 'manual'");
    let project = person.browser.evaluate("location.pathname").as_str().unwrap().to_owned();
    person.open(&project);
    person.unfold("Change its name or members");
    for (position, name) in ["ann", "bob"].into_iter().enumerate() {
        // The row for one more comes as the last one is filled.
        person.fill(&format!("#change-project-member-{position}"), name);
    }
    person.click("form[action$=update-project] button");
    person.sees("members: ann (reads), bob (reads)");
    person.unfold("New tool");
    person.fill("form[action$=create-tool] input[name=name]", "search_manual");
    person.click("form[action$=create-tool] button");
    person.sees("search_manual");
    person.unfold("New endpoint");
    person.fill("form[action$=create-endpoint] input[name=name]", "Keepers");
    person.click("form[action$=create-endpoint] button");
    person.sees("Copy it now");
    let key = person.text("#new-key");
    assert!(person.text("#client-keepers-0").contains(&key), "the lines for clients hold the key");
    person.open(&project);
    assert!(
        !person
            .browser
            .evaluate("document.documentElement.outerHTML")
            .as_str()
            .unwrap()
            .contains(&key)
    );
    // Nothing happens to whoever has second thoughts.
    person.click("form[action$=revoke-key] button");
    person.sees("Revoke this key?");
    person.browser.press("Escape");
    person.wait("!document.querySelector('dialog[open]')");
    assert_eq!(person.count("form[action$=revoke-key]"), 1);
    person.click("form[action$=revoke-key] button");
    person.click("#ask [value=yes]");
    person.wait("!document.querySelector('form[action$=revoke-key]')");
    person.click("td a[href*='/contexts/documents/']");
    person.click(".tree a");
    person.sees("walrus");

    person.open("/knowledge");
    person.click(".cards a");
    person.fill("#q", "torque sensor");
    person.wait("document.querySelector('#results tbody tr')");
    let before = person.count("#results .badge.ok");
    person.browser.evaluate(
        "const slider = document.querySelector('#threshold'); slider.value = 0; \
         slider.dispatchEvent(new Event('input', { bubbles: true }))",
    );
    person.wait(&format!("document.querySelectorAll('#results .badge.ok').length > {before}"));
    person.has_not_complained();
}

/// A page that nobody sees holds no connection: a browser has six, and pages in the background
/// kept all of them.
#[test]
fn a_page_in_the_background_leaves_its_connection_to_others() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/sources");
    person.wait("document.querySelector('[data-events]')");
    // What is opened and closed from here on is counted.
    person.browser.evaluate(
        "window.opened = []; const Real = EventSource; \
         window.EventSource = class extends Real { constructor(at) { super(at); opened.push(this); } }; \
         window.seen = is => { Object.defineProperty(document, 'hidden', { get: () => !is, configurable: true }); \
         document.dispatchEvent(new Event('visibilitychange')); }; \
         seen(false); seen(true); seen(true)",
    );
    assert_eq!(person.browser.evaluate("opened.length"), json!(1), "one for both parts");
    person.browser.evaluate("seen(false)");
    assert_eq!(person.browser.evaluate("opened[0].readyState"), json!(2));
    person.browser.evaluate("seen(true)");
    assert_eq!(person.browser.evaluate("opened.length"), json!(2));
    person.has_not_complained();
}

/// On a phone the sections open from a button; a question that was typed is a step, and Back leads
/// to the page before it.
#[test]
fn a_person_opens_the_menu_and_goes_back_from_a_question() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    let is_shown = "document.querySelector('.sections').checkVisibility()";
    person.open("/");
    assert!(person.browser.is_true(is_shown), "beside the page where it is wide");
    person.browser.resize(390, 800);
    person.open("/");
    assert!(!person.browser.is_true(is_shown));
    person.click(".menu");
    person.wait(is_shown);
    person.click(".sections a[href='/sources']");
    person.wait("location.pathname === '/sources' && document.querySelector('.grid')");
    person.open("/");
    person.fill("#q", "remote work");
    person.wait("document.querySelector('.hits .title') && location.search !== ''");
    person.browser.evaluate("history.back()");
    person.wait("location.search === '' && document.querySelector('.start')?.checkVisibility()");
    assert_eq!(person.count(".hits"), 0);
    person.browser.evaluate("history.forward()");
    person.wait("document.querySelector('.hits .title') && location.search !== ''");
    person.has_not_complained();
}

/// Letters are keys, and can be switched off; what a search found is said in one sentence.
#[test]
fn a_person_switches_keys_off_and_hears_what_was_found() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/");
    person.fill("#q", "remote work");
    person.wait("document.querySelector('[role=status]').textContent.includes(' of ')");
    person.wait("document.title === 'remote work · Dowse'");
    person.browser.press("Escape");
    person.browser.press("?");
    person.wait("document.querySelector('#keys').open");
    person.browser.evaluate("document.querySelector('[data-letters]').click()");
    person.click("#keys form button");
    person.wait("!document.querySelector('#keys').open");
    person.browser.press("?");
    assert!(!person.browser.is_true("document.querySelector('#keys').open"));
    person.open("/tables");
    person.browser.press("?");
    assert!(!person.browser.is_true("document.querySelector('#keys').open"));
    person.has_not_complained();
}

/// The playground, the record with its filters, what the agent saw and today's answer, weak
/// queries, cost, latency by tool and stage, health and what `dowse check` says.
#[test]
fn a_person_sees_what_agents_did() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    let mcp = Mcp::new(demo.server.http(), "/mcp");
    mcp.call("search", &json!({ "query": "remote work allowance" })).success();
    for _ in 0..2 {
        mcp.call("search", &json!({ "query": "qqqzzz wwwyyy" })).success();
    }
    person.open("/tools");
    person.click("td a[href$='/tools/search']");
    person.fill("[id='arg.query']", "calibration");
    person.browser.press("Enter");
    person.wait("document.querySelector('#answer-json')");
    let curl = person.text("#request-curl");
    assert!(curl.contains("tools/call") && curl.contains("calibration"), "{curl}");
    person.open("/tools/query_table?run=1&arg.page=0");
    person.wait("document.querySelector('.problem')");

    person.open("/activity");
    person.fill("#by-q", "remote");
    person.browser.press("Enter");
    person.wait("location.search.includes('q=remote') && document.querySelectorAll('tbody tr').length === 1");
    let row = person.text("tbody tr");
    assert!(row.contains("remote work allowance") && !row.contains("console"), "{row}");
    person.click("tbody a");
    person.sees("What the agent saw");
    let seen =
        person.browser.evaluate("JSON.parse(document.querySelector('#kept-json').textContent)");
    assert_eq!(seen["results"][0]["title"], "remote-work.md");
    person.sees("answer is the same");
    assert!(person.text("main").contains("index generation"));

    person.open("/activity?view=weak");
    let weak = person.text("tbody tr");
    assert!(weak.contains("qqqzzz wwwyyy") && weak.contains('2'), "{weak}");
    person.open("/activity?view=cost&by=client");
    person.sees("tools/list");
    let paid = person.text("main table:last-of-type");
    assert!(!paid.is_empty());
    person.sees("local/");

    person.open("/operations");
    person.sees("By stage of a search");
    assert!(person.text("section[aria-labelledby=by-tool]").contains("search"));
    assert!(person.text("section[aria-labelledby=by-stage]").contains("Words"));
    person.sees("never copied");
    person.click("form[data-part=check] button");
    person.sees("every source can be read");
    let file = testkit::Folder::new();
    let copied = std::process::Command::new(dowse("backup").get_program())
        .args(["backup", "--config"])
        .arg(demo.config())
        .arg(file.join("copy.zip"))
        .output()
        .unwrap();
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    person.open("/operations");
    person.sees("Last copied");
    person.has_not_complained();
}

const KEYS: &str = "[[auth.keys]]\nname = \"ann\"\nkey_env = \"TEST_ANN\"\nroles = [\"admin\"]\nclearance = \"secret\"\n\
                    [[auth.keys]]\nname = \"bob\"\nkey_env = \"TEST_BOB\"\n";
const ANN: &str = "a key of ann, who looks after things";
const BOB: &str = "a key of bob, who only reads";

/// Signing in and out, roles, and the console through another caller's eyes.
#[test]
fn a_person_signs_in_and_looks_through_other_eyes() {
    let test_server = TestServer::start_with(KEYS, &[("TEST_ANN", ANN), ("TEST_BOB", BOB)]);
    let Some(mut person) = Person::at(test_server.server.url("")) else { return };
    person.open("/activity");
    person.fill("#credential", "not a key of this server at all");
    person.browser.press("Enter");
    person.sees("not known");
    person.fill("#credential", ANN);
    person.browser.press("Enter");
    person.wait("location.pathname === '/activity' && document.querySelector('.person')");

    // A secret document that only the clearance of ann opens.
    person.open("/knowledge");
    person.fill("form[action$=create-base] input[name=name]", "Plans");
    person.browser.evaluate("document.querySelector('#visibility').value = 'public'");
    person.click("form[action$=create-base] button");
    person.unfold("New collection");
    person.fill("form[action$=create-collection] input[name=name]", "Hidden");
    person.browser.evaluate("document.querySelector('form[action$=create-collection] [name=clearance]').value = 'secret'");
    person.click("form[action$=create-collection] button");
    person.wait("document.querySelector('[data-upload]')");
    person.drop_file("walrus.txt", "The walrus moves to Antwerp in May.");
    let begun = Instant::now();
    loop {
        person.open("/?q=walrus+antwerp");
        if person.text(".hits").contains("walrus") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", person.text("main"));
    }
    person.open("/view-as");
    person.fill("#subject", "eve");
    person.browser.evaluate("document.querySelector('#clearance').value = 'internal'");
    person.click("main form button");
    person.sees("Viewing as eve");
    person.open("/?q=walrus+antwerp");
    assert!(!person.text(".hits").contains("walrus"));
    let hidden = person.text("section[aria-labelledby=hidden]");
    assert!(
        hidden.contains("1 result that you see and eve does not") && hidden.contains("walrus"),
        "{hidden}"
    );
    person.open("/?q=walrus+antwerp&view=missing&document=walrus.txt");
    person.sees("Lost at: Visible");
    person.click(".viewing button");
    person.wait("!document.querySelector('.viewing')");

    person.click(".side .person button");
    person.wait("location.pathname === '/sign-in'");
    person.open("/");
    person.wait("location.pathname === '/sign-in'");
    person.fill("#credential", BOB);
    person.browser.press("Enter");
    person.wait("document.querySelector('#q')");
    person.open("/operations");
    person.sees("Not allowed");
    person.open("/?q=walrus+antwerp");
    assert_eq!(person.count(".judge"), 0);
}

/// Everything that only shows something does so without a script.
#[test]
fn pages_are_read_and_walked_without_a_script() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.browser.run_scripts(false);
    person.open("/");
    person.fill("#q", "remote work allowance");
    person.browser.press("Enter");
    person.wait("document.querySelector('.hits .title')");
    person.click(".hits .title");
    person.wait("document.querySelector('.passage.hit')");
    for (path, shown) in [
        ("/tables/requests?f.level=error", "tbody tr"),
        ("/names?category=uat&q=Cluj", "tbody tr"),
        ("/sources", "td.path a"),
        ("/tools/search?run=1&arg.query=calibration", "#answer-json"),
        ("/operations?check=1", "#checked .good"),
        ("/activity?console=1", "tbody tr"),
    ] {
        person.open(path);
        assert!(person.count(shown) > 0, "{path}");
    }
}

/// A folder of many files is never listed whole. `DOWSE_TEST_FILES` makes it larger.
#[test]
fn many_files_are_shown_a_page_at_a_time() {
    let n_files: usize =
        std::env::var("DOWSE_TEST_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_500);
    let folder = testkit::Folder::new();
    for n in 0..n_files {
        let inner = folder.join(format!("{:03}", n / 500));
        if n % 500 == 0 {
            fs_err::create_dir(&inner).unwrap();
        }
        let text = if n % 50 == 0 { String::new() } else { format!("note {n} of the archive") };
        fs_err::write(inner.join(format!("note-{n:06}.txt")), text).unwrap();
    }
    let data = testkit::Folder::new();
    let mut command = dowse("serve");
    command
        .args(["--no-model", "--listen", "127.0.0.1:0"])
        .arg(folder.path())
        .current_dir(data.path());
    let server = testkit::Server::start_command(command);
    let Some(mut person) = Person::at(server.url("")) else { return };
    let mut n_looked = 0;
    let begun = Instant::now();
    loop {
        let roots = server.http().get("/v1/roots").json();
        if roots["roots"][0]["files"] == json!(n_files) {
            break;
        }
        n_looked += 1;
        assert!(begun.elapsed() < 10 * PATIENCE, "{roots} after {n_looked} looks");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    person.open("/sources");
    let rows = person.count("tbody tr");
    assert!(rows <= 100 + 50 + 12, "{rows}");
    assert!(person.text("section[aria-labelledby=failed]").contains("files without text"));
    person.click("a[rel=next]");
    person.wait("location.search.includes('after=') || location.search.includes('problem=')");
    let rows = person.count("tbody tr");
    assert!(rows <= 100 + 50 + 12, "{rows}");
    person.open("/sources?q=note-000777");
    person.sees("note-000777.txt");
    person.open("/?q=archive");
    person.wait("document.querySelector('.hits .title')");
    for path in ["/sources", "/?q=archive", "/sources?outcome=empty", "/operations"] {
        person.open(path);
        let first_byte =
            person.browser.evaluate("performance.getEntriesByType('navigation')[0].responseStart");
        println!("{path}: first byte after {first_byte} ms with {n_files} files");
    }
    person.has_not_complained();
}
