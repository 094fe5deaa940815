//! What people do wrong at the console, and how they get on: addresses with parts that a page does
//! not know, forms that are refused, and what is not there or not theirs.

use serde_json::json;
use testkit::Request;

use crate::console::{form_token, page, post, sign_in};
use crate::demo::Demo;
use crate::library::{Library, id_of};
use crate::person::Person;
use crate::test_server::{PATIENCE, TestServer};

/// A part of an address that a page did not take was passed over in silence, or cost the page all
/// that it has to show.
#[test]
fn a_page_says_which_parts_of_its_address_it_left_out() {
    let demo = Demo::start();
    let http = demo.server.http();
    page(http, "/?q=remote+work", "");
    let is_recorded = || page(http, "/activity?console=1", "").text().contains("<tbody>");
    assert!(testkit::wait_until(PATIENCE, is_recorded));
    for (address, said, kept) in [
        ("/activity?since=lastyear&console=1", "since=lastyear</code> is left out", "Since"),
        ("/activity?outcome=nope", "<code>outcome</code> takes <code>ok</code>", "Outcome"),
        ("/activity?view=nope", "takes <code>calls</code>", "aria-current=\"page\">Calls<"),
        ("/activity?before=nonsense&console=1", "<code>before</code> is left out", "<tbody>"),
        ("/jobs?after=nonsense", "it is no place in this list", "<tbody>"),
        ("/knowledge?after=nonsense", "it is no place in this list", "class=\"cards\""),
        ("/contexts?after=nonsense", "it is no place in this list", "class=\"cards\""),
        ("/charts?after=nonsense", "it is no place in this list", "<h1>Charts</h1>"),
        ("/sources?root=/nowhere", "<code>root</code> is left out", "remote-work.md"),
        ("/sources?outcome=nope", "outcome=nope</code> is left out", "remote-work.md"),
        ("/sources?after=zzz", "No file comes after this place", "First page"),
        ("/names?category=nope&q=Cluj", "<code>category</code> is left out", "<h1>Names</h1>"),
        ("/tables/requests?colour=red", "<code>colour</code> is left out", " rows, all of them"),
        ("/?q=remote+work&k=many&view=cost", "<code>k</code> takes a whole number", "tokens"),
        ("/operations?since=day", "<code>since</code> is left out", "<h1>Operations</h1>"),
    ] {
        let shown = page(http, address, "");
        assert_eq!(shown.status, 200, "{address}");
        let text = shown.text();
        assert!(text.contains(said), "{address} does not say `{said}`: {text}");
        assert!(text.contains(kept), "{address} has lost `{kept}`: {text}");
        assert!(!text.contains("class=\"problem\""), "{address}: {text}");
    }
    for address in ["/", "/?q=remote+work", "/sources", "/activity?view=cost", "/tools/search"] {
        assert!(!page(http, address, "").text().contains("</code> is left out"), "{address}");
    }
}

/// What is not there was explained to people as to programs: by addresses of REST and names of
/// tools.
#[test]
fn what_is_not_there_is_said_to_people_and_to_programs() {
    let demo = Demo::start();
    let http = demo.server.http();
    for (address, section) in [
        ("/charts/x", "/charts"),
        ("/knowledge/x", "/knowledge"),
        ("/knowledge/collections/x", "/knowledge"),
        ("/knowledge/documents/x", "/knowledge"),
        ("/contexts/x", "/contexts"),
        ("/contexts/documents/x", "/contexts"),
        ("/files?path=/x", "/sources"),
        ("/open/x", "/"),
    ] {
        let missing = page(http, address, "");
        assert_eq!(missing.status, 404, "{address}");
        let text = missing.text();
        let (_, main) = text.split_once("<main").unwrap();
        assert!(!main.contains("/v1/") && !main.contains("<code>call"), "{address}: {main}");
        assert!(!main.contains("listRoots"), "{address}: {main}");
        assert!(main.contains(&format!("href=\"{section}\"")), "{address}: {main}");
    }
    let typed = |path: &str| http.send(&Request::new("GET", path).header("Accept", "*/*"));
    for path in ["/no-such-page", "/charts/a/b", "/v2/jobs"] {
        assert_eq!(typed(path).status, 404, "{path}");
        assert!(typed(path).text().contains("<h1>Not found</h1>"), "{path}");
    }
    for path in ["/v1/nothing", "/api/nothing", "/mcp/a/b", "/.well-known/nothing"] {
        assert_eq!(typed(path).json()["error"]["code"], "NOT_FOUND", "{path}");
    }
}

/// One who may not see a collection could tell it from one that is not there.
#[test]
fn what_somebody_may_not_see_is_as_what_is_not_there() {
    let config = "[[auth.keys]]\nname = \"ann\"\nkey_env = \"TEST_ANN\"\nroles = [\"admin\"]\nclearance = \"secret\"\n\
                  [[auth.keys]]\nname = \"bob\"\nkey_env = \"TEST_BOB\"\n";
    let (ann, bob) = ("a key of ann, who sees all of it", "a key of bob, who sees some of it");
    let server = TestServer::start_with(config, &[("TEST_ANN", ann), ("TEST_BOB", bob)]);
    let http = server.http();
    let rest = |path: &str, body: &serde_json::Value| {
        let request = Request::new("POST", path).header("Authorization", &format!("Bearer {ann}"));
        let made = http.send(&request.json(body));
        assert!(made.status < 300, "{}", made.text());
        made.json()
    };
    let base = rest("/v1/knowledge-bases", &json!({ "name": "Open", "visibility": "public" }));
    let base = base["id"].as_str().unwrap();
    let secret = json!({ "name": "Secret", "clearance": "secret" });
    let collection = rest(&format!("/v1/knowledge-bases/{base}/collections"), &secret);
    let collection = collection["id"].as_str().unwrap();
    let text = json!({ "title": "vault", "text": "The vault opens at nine." });
    let added = rest(&format!("/v1/collections/{collection}/documents"), &text);
    let document = added["id"].as_str().unwrap();
    let cookie = sign_in(http, bob);
    for (path, id) in [("/knowledge/collections", collection), ("/knowledge/documents", document)] {
        let seen = |id: &str| {
            let answer = page(http, &format!("{path}/{id}"), &cookie);
            let text = answer.text();
            let main = text.split_once("<main").unwrap().1.split("</main>").next().unwrap();
            (answer.status, main.replace(id, "ID"))
        };
        let nothing = seen("3f0c7bd2-0000-4000-8000-000000000000");
        assert_eq!(nothing.0, 404, "{path}");
        assert_eq!(seen(id), nothing, "{path}");
    }
}

/// One who signed in was led to an address that takes forms alone.
#[test]
fn signing_in_leads_to_pages_alone() {
    let config = "[[auth.keys]]\nname = \"ann\"\nkey_env = \"TEST_ANN\"\n";
    let key = "a key of ann, who signs in";
    let server = TestServer::start_with(config, &[("TEST_ANN", key)]);
    let http = server.http();
    let token = form_token(&page(http, "/sign-in", ""));
    let led_to = |next: &str| {
        let form = [("form_token", token.as_str()), ("credential", key), ("next", next)];
        let entered = post(http, "/sign-in", "", &form);
        assert_eq!(entered.status, 303, "{next}: {}", entered.text());
        entered.header("location").unwrap().to_owned()
    };
    for next in ["/sign-out", "/sign-in?next=/x", "/do/delete-base", "/activity/judge", "/no/page"]
    {
        assert_eq!(led_to(next), "/", "{next}");
    }
    for next in ["/", "/activity?since=day#x", "/knowledge/7?q=a", "/activity/export"] {
        assert_eq!(led_to(next), next);
    }
}

/// A form that did not say where it was led to the start when it was refused or called off.
#[test]
fn a_refused_form_leads_back_to_its_page() {
    let library = Library::open();
    let http = library.0.http();
    let base = library.post(None, "/v1/knowledge-bases", &json!({ "name": "Rules" }));
    let base = id_of(&base.json());
    let place = format!("/knowledge/{base}");
    let token = form_token(&page(http, &place, ""));
    let send = |action: &str, form: &[(&str, &str)], headers: &[(&str, &str)]| {
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::new("POST", action)
            .header("Accept", "text/html")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body.join("&"));
        http.send(
            &headers.iter().fold(request, |request, (name, value)| request.header(name, value)),
        )
    };
    let referer = format!("{}{place}", library.0.server.url(""));
    let from = [("Referer", referer.as_str())];
    let nameless = [("form_token", token.as_str()), ("parent", &base), ("name", "")];
    let refused = send("/do/create-collection", &nameless, &from);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains(&format!("href=\"{place}\"")), "{}", refused.text());
    let elsewhere = [("Referer", "https://evil.example/x/y")];
    let refused = send("/do/create-collection", &nameless, &elsewhere);
    assert!(!refused.text().contains("x/y"), "{}", refused.text());

    let deletion = [("form_token", token.as_str()), ("id", &base)];
    let asked = send("/do/delete-base", &deletion, &from);
    assert_eq!(asked.status, 303);
    let question = page(http, asked.header("location").unwrap(), "").text();
    assert!(question.contains(&format!("href=\"{place}\">No, go back")), "{question}");

    // A script is told what was wrong as a part of its page, and where to go when all is right.
    let script = [("X-Requested-With", "console"), ("Accept", "*/*")];
    let refused = send("/do/create-collection", &nameless, &script);
    assert_eq!(refused.status, 400);
    assert!(refused.text().starts_with("<div class=\"problem\""), "{}", refused.text());
    let named = [
        ("form_token", token.as_str()),
        ("parent", &base),
        ("name", "All"),
        ("clearance", "internal"),
    ];
    let made = send("/do/create-collection", &named, &script);
    assert_eq!(made.status, 200, "{}", made.text());
    assert!(made.header("x-dowse-next").unwrap().starts_with("/knowledge/collections/"));
}

/// A form that was refused took what was typed with it; a chart was a page without the sections.
#[test]
fn a_person_mends_a_refused_form_and_reads_a_chart_within_the_sections() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/knowledge");
    person.fill("form[action$=create-base] input[name=name]", &"x".repeat(300));
    person.fill("form[action$=create-base] input[name=description]", "What I had to say");
    person.click("form[action$=create-base] button");
    person.sees("the limit is 200");
    let kept = "document.querySelector('form[action$=create-base]').elements.description.value";
    assert_eq!(person.browser.evaluate(kept), "What I had to say");
    // A browser names every answer that is an error.
    assert!(person.browser.complaints().iter().all(|complaint| complaint.contains("413")));
    person.fill("form[action$=create-base] input[name=name]", "Short");
    person.click("form[action$=create-base] button");
    person.wait("/^.knowledge.[0-9a-f-]{36}$/.test(location.pathname)");
    person.sees("What I had to say");

    person.open("/tables/requests?f.level=error&min.latency=100&max.latency=900");
    person.sees("latency from 100 to 900");
    person.unfold("Chart this view");
    person.click("form[action$='/chart'] button");
    person.wait("location.pathname.startsWith('/charts/') && document.querySelector('figure svg')");
    let title = person.text("h1");
    assert!(title.contains("level: error") && title.contains("latency from 100 to 900"), "{title}");
    assert_eq!(person.count("nav a[aria-current=page][data-go=c]"), 1);
    assert_eq!(person.count("link[rel=icon]"), 1);
    let colours = "getComputedStyle(document.querySelector('.drawn .bar, .drawn .line')).getPropertyValue('--c')";
    let light = person.browser.evaluate(colours);
    person.click("[data-theme-switch]");
    assert_ne!(person.browser.evaluate(colours), light, "the chart follows the theme");
    person.click("[data-theme-switch]");
    person.open("/charts");
    person.sees("level: error");
    person.has_not_complained();
}

/// Files that were added appeared among those with text and without when the page was loaded again.
#[test]
fn the_lists_of_sources_follow_the_folder() {
    let demo = Demo::start();
    let Some(mut person) = Person::at(demo.server.url("")) else { return };
    person.open("/sources");
    person.sees("remote-work.md");
    let documents = demo.config().parent().unwrap().join("documents");
    fs_err::write(documents.join("nothing-in-it.txt"), "").unwrap();
    fs_err::write(documents.join("walrus.txt"), "The walrus sleeps on Tuesdays.").unwrap();
    person.wait("document.querySelector('[data-part=files]').innerText.includes('walrus.txt')");
    person.wait(
        "document.querySelector('[data-part=problems]').innerText.includes('nothing-in-it.txt')",
    );
    person.has_not_complained();
}
