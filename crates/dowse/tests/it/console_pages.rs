//! Every page of the console in a real browser: what a person sees and does, light and dark, wide
//! and narrow, by keyboard, and what axe-core says of it. Without the test bed's browser there is
//! nothing to look with.

use serde_json::Value;
use testkit::{Browser, ColourScheme, bed};

use crate::demo::Demo;

/// Every page with the heading it has.
const PAGES: [(&str, &str); 24] = [
    ("start", "/"),
    ("search", "/?q=remote+work+allowance"),
    ("order", "/?q=torque+sensor+calibration&view=explain"),
    ("missing", "/?q=calibration&view=missing&document=remote-work.md"),
    ("tools", "/tools"),
    ("tool", "/tools/search?run=1&arg.query=calibration&arg.limit=3"),
    ("tool-error", "/tools/query_table?run=1&arg.page=0"),
    ("sources", "/sources"),
    ("jobs", "/jobs"),
    ("tables", "/tables"),
    ("table", "/tables/requests?f.level=error&sort=latency&desc=1"),
    ("names", "/names?category=uat&q=Cluj"),
    ("list-of-names", "/names?category=uat&lines=Cluj%0ATg.%20Ocna%0Anowhere"),
    ("charts", "/charts"),
    ("knowledge", "/knowledge"),
    ("contexts", "/contexts"),
    ("activity", "/activity?console=1"),
    ("weak", "/activity?view=weak&console=1&below=1"),
    ("cost", "/activity?view=cost&console=1"),
    ("judged", "/activity?view=judged"),
    ("simulator", "/?q=remote+work+allowance&view=cost"),
    ("operations", "/operations"),
    ("view-as", "/view-as"),
    ("not-found", "/no-such-page"),
];

/// Pages that are reached by links of others, as a person reaches them.
const REACHED: [(&str, &str, &[&str]); 9] = [
    ("document", "/?q=remote+work+allowance", &[".hits .title"]),
    ("file", "/sources", &["td.path a"]),
    ("base", "/knowledge", &[".cards a"]),
    ("collection", "/knowledge", &[".cards a", "td a"]),
    ("upload", "/knowledge", &[".cards a", "td a", "td.path a"]),
    ("project", "/contexts", &[".cards a"]),
    ("json", "/contexts", &[".cards a", "td a"]),
    ("chart", "/charts", &["tbody a"]),
    ("call", "/activity?console=1", &["tbody a"]),
];

/// Waits until an expression is true, also over a change of the page.
#[track_caller]
fn wait_until(browser: &mut Browser, expression: &str) {
    let begun = std::time::Instant::now();
    while !browser.is_true(expression) {
        assert!(begun.elapsed() < crate::test_server::PATIENCE, "never: {expression}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn every_page_fits_reads_and_is_accessible() {
    let Some(mut browser) = Browser::start() else { return };
    let demo = Demo::start();
    demo.chart("line");
    let mut pages: Vec<(String, String)> =
        PAGES.iter().map(|(name, path)| ((*name).to_owned(), demo.server.url(path))).collect();
    for (name, from, links) in REACHED {
        let mut address = demo.server.url(from);
        for link in links {
            browser.open(&address);
            // The same address with its hit would be no new page when it is opened again.
            let next =
                browser.evaluate(&format!("document.querySelector('{link}').href.split('#')[0]"));
            next.as_str().unwrap().clone_into(&mut address);
        }
        pages.push((name.to_owned(), address));
    }
    let axe = bed::node_modules()
        .map(|modules| modules.join("axe-core/axe.min.js"))
        .filter(|file| file.exists())
        .map(|file| fs_err::read_to_string(file).unwrap());
    for (name, address) in &pages {
        for (width, scheme) in
            [(1280, ColourScheme::Light), (1280, ColourScheme::Dark), (320, ColourScheme::Light)]
        {
            browser.resize(width, 900);
            browser.prefer(scheme);
            browser.open(address);
            let overflow =
                browser.evaluate("document.documentElement.scrollWidth - innerWidth").as_i64();
            assert!(overflow.unwrap() <= 0, "{name} at {width} is {overflow:?} too wide");
            assert_eq!(browser.evaluate("document.querySelectorAll('h1').length"), 1, "{name}");
            if let Some(axe) = &axe {
                check_with_axe(&mut browser, axe, name);
            }
            let complaints = browser.complaints();
            assert!(complaints.is_empty() || name == "not-found", "{name}: {complaints:#?}");
            keep(&mut browser, &format!("{name}-{width}-{scheme:?}"));
        }
    }
}

/// Nothing that axe-core calls serious or critical, by the rules of WCAG 2.2 AA.
fn check_with_axe(browser: &mut Browser, axe: &str, name: &str) {
    browser.evaluate(&format!("{axe}; true"));
    let found = browser.evaluate(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }).then(ran => \
         ran.violations.filter(found => ['serious', 'critical'].includes(found.impact)) \
         .map(found => [found.id, found.nodes.slice(0, 3).map(node => node.html + ' ' + node.failureSummary)]))",
    );
    assert_eq!(found, Value::Array(Vec::new()), "{name}: {found:#}");
}

#[test]
fn a_person_searches_opens_filters_and_goes_on_by_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    let demo = Demo::start();
    browser.resize(1280, 900);
    browser.open(&demo.server.url("/"));
    browser.evaluate(
        "const field = document.querySelector('#q'); field.value = 'remote work'; \
         field.dispatchEvent(new Event('input', { bubbles: true }))",
    );
    wait_until(&mut browser, "document.querySelector('.hits .title')");
    assert!(browser.evaluate("location.search").as_str().unwrap().contains("q=remote"));
    let first = browser.evaluate("document.querySelector('.hits .title').textContent");
    assert_eq!(first, "remote-work.md");
    assert!(
        browser.evaluate("document.querySelectorAll('.snippet mark').length").as_u64() > Some(0)
    );
    let agent = browser.evaluate("JSON.parse(document.querySelector('#agent-json').textContent)");
    assert_eq!(agent["results"][0]["title"], first);

    // The facet narrows, and its address says so.
    browser.evaluate("document.querySelector('.facets .chip').click()");
    wait_until(&mut browser, "document.querySelector('.facets .chip[aria-current]')");
    assert!(browser.evaluate("location.search").as_str().unwrap().contains("source="));

    // By keyboard: to the first result, and into it.
    browser.evaluate(
        "document.activeElement.blur(); \
         document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))",
    );
    let focused = browser.evaluate("document.activeElement.className");
    assert_eq!(focused, "title");
    browser.evaluate("document.activeElement.click()");
    wait_until(&mut browser, "document.querySelector('.passage')");
    let shown = browser.evaluate("document.querySelector('.reading').textContent");
    assert!(shown.as_str().unwrap().contains("remote work allowance of 120 euros"), "{shown}");

    // To another section with two keys.
    browser.evaluate(
        "for (const key of ['g', 'p']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))",
    );
    wait_until(&mut browser, "location.pathname === '/tools' && document.querySelector('table')");
}

#[test]
fn a_person_makes_a_collection_and_drops_a_file_into_it() {
    let Some(mut browser) = Browser::start() else { return };
    let demo = Demo::start();
    browser.open(&demo.server.url("/knowledge"));
    browser.evaluate("document.querySelector('.cards a').click()");
    wait_until(&mut browser, "document.querySelector('form[action$=\"create-collection\"]')");
    browser.evaluate(
        "const form = document.querySelector('form[action$=\"create-collection\"]'); \
         form.elements.name.value = 'dropped'; form.elements.clearance.value = 'internal'; form.submit()",
    );
    wait_until(&mut browser, "document.querySelector('[data-upload]')");
    browser.evaluate(
        "const given = new DataTransfer(); \
         given.items.add(new File(['The walrus sleeps on Tuesdays.'], 'walrus.txt', { type: 'text/plain' })); \
         document.querySelector('[data-upload]').dispatchEvent(new DragEvent('drop', { dataTransfer: given, bubbles: true }))",
    );
    wait_until(&mut browser, "document.querySelector('[data-uploads] li.ok')");
    let search = demo.server.url("/?q=walrus+sleeps");
    for round in 0.. {
        assert!(round < 200, "the file is never found");
        browser.open(&search);
        let found = browser.evaluate("document.querySelector('.hits')?.textContent || ''");
        if found.as_str().unwrap().contains("walrus") {
            break;
        }
    }
}

/// Whoever wants to look at the pages names a folder.
fn keep(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("DOWSE_TEST_PAGES") {
        let picture = browser.screenshot();
        fs_err::write(std::path::Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}
