//! What the address of a page may say. A part that a page does not know, or a value that it cannot
//! take, is left out of the view, and the page says so: none is passed over in silence, and one
//! slip costs nothing else of the view.

use axum::extract::Query;
use http::Uri;
use maud::{Markup, html};
use model::ReadOutcome;

use super::activity::{OUTCOMES, PERIODS};
use super::layout::sentence;
use super::table_filters::PREFIXES;

/// What a part of an address may hold.
#[derive(Clone, Copy)]
enum Takes {
    /// Words, ids, and places in a list: what is none there finds nothing, or the list says so.
    Text,
    /// A whole number.
    Whole,
    /// With a fraction or without one, and finite.
    Number,
    /// One of these.
    OneOf(fn() -> Vec<&'static str>),
}

use Takes::{Number, OneOf, Text, Whole};

/// The parts of a page's address. A name that ends in a dot begins the names of fields.
type Parts = &'static [(&'static str, Takes)];

/// The pages by path, where `*` is any one part of it.
const PAGES: [(&str, Parts); 27] = [
    ("/", SEARCH),
    ("/open/*", &[("q", Text), ("at", Text), ("from", Whole)]),
    ("/files", &[("path", Text), ("q", Text), ("at", Text), ("from", Whole)]),
    (
        "/sources",
        &[
            ("root", Text),
            ("q", Text),
            ("after", Text),
            ("problem", Text),
            ("outcome", OneOf(states)),
        ],
    ),
    ("/jobs", AFTER),
    ("/tables", &[]),
    ("/tables/*", &[("cursor", Text), ("sort", Text), ("desc", Text), ("all", Text)]),
    (
        "/names",
        &[("category", Text), ("q", Text), ("hint", Text), ("locale", Text), ("lines", Text), PART],
    ),
    ("/charts", AFTER),
    ("/charts/*", &[]),
    ("/knowledge", AFTER),
    ("/knowledge/*", &[("after", Text), ("q", Text), ("threshold", Number), PART]),
    ("/knowledge/collections/*", AFTER),
    ("/knowledge/documents/*", &[("q", Text), ("at", Text), ("from", Whole)]),
    ("/contexts", AFTER),
    ("/contexts/new-key", &[]),
    ("/contexts/*", &[]),
    ("/contexts/documents/*", &[("pointer", Text), ("offset", Whole)]),
    ("/confirm", &[("form", Text)]),
    ("/activity", ACTIVITY),
    ("/activity/call", &[("request", Text), ("at", Whole)]),
    ("/activity/*", &[("at", Whole)]),
    ("/operations", &[("check", Text), PART]),
    ("/tools", &[]),
    ("/tools/*", &[("at", Text), ("made", Text), ("run", Text), ("ran", Text), ("arg.", Text)]),
    ("/sign-in", &[("next", Text)]),
    ("/view-as", &[]),
];

/// Where a list goes on.
const AFTER: Parts = &[("after", Text)];

/// The part that a script asks for.
const PART: (&str, Takes) = ("part", Text);

const SEARCH: Parts = &[
    ("q", Text),
    ("source", Text),
    ("type", Text),
    ("view", OneOf(|| vec!["results", "explain", "missing", "cost"])),
    ("limit", Whole),
    ("k", Whole),
    ("after", Text),
    ("before", Whole),
    ("document", Text),
    ("asked", Whole),
    ("threshold", Number),
    ("cap_tokens", Whole),
    ("cap_chars", Whole),
    PART,
];

const ACTIVITY: Parts = &[
    ("view", OneOf(|| vec!["calls", "weak", "cost", "judged"])),
    ("tool", Text),
    ("who", Text),
    ("q", Text),
    ("outcome", OneOf(|| OUTCOMES.to_vec())),
    ("since", OneOf(|| PERIODS.iter().map(|(name, ..)| *name).collect())),
    ("console", Text),
    ("before", Text),
    ("from", Whole),
    ("below", Number),
    ("by", OneOf(|| vec!["tool", "client"])),
    ("after", Text),
];

fn states() -> Vec<&'static str> {
    ReadOutcome::ALL.iter().map(|outcome| outcome.code()).collect()
}

/// What is given to be kept, and is no page.
const DOWNLOADS: [&str; 6] = [
    "/sources.json",
    "/tables/*/export",
    "/knowledge/documents/*/original",
    "/activity/export",
    "/activity/judged.jsonl",
    "/operations/metrics",
];

/// What takes forms alone and has the form of a page's path.
const FORMS: [&str; 2] = ["/activity/judge", "/activity/forget"];

/// Tells whether a path shows or gives something to whoever opens it: not one that takes forms
/// alone, and not the page where one signs in.
pub(super) fn is_page(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let is_given = DOWNLOADS.iter().any(|pattern| is_at(pattern, path));
    path != "/sign-in" && !FORMS.contains(&path) && (is_given || parts_of(path).is_some())
}

/// Reads the parts of an address that its page takes; all of them where no page is.
pub(super) fn read(uri: &Uri) -> Vec<(String, String)> {
    let mut pairs = pairs_of(uri);
    if let Some(parts) = parts_of(uri.path()) {
        pairs.retain(|(name, value)| refused(parts, name, value).is_none());
    }
    pairs
}

/// Says which parts of an address its page left out, and why.
pub(super) fn left_out(here: &str) -> Markup {
    let Ok(uri) = here.parse::<Uri>() else { return html! {} };
    let Some(parts) = parts_of(uri.path()) else { return html! {} };
    let mut said: Vec<String> =
        pairs_of(&uri).iter().filter_map(|(name, value)| refused(parts, name, value)).collect();
    said.dedup();
    notes(&said)
}

/// Says what of an address does not hold, in the form of [`left_out`].
pub(super) fn notes(said: &[String]) -> Markup {
    html! {
        @if !said.is_empty() {
            div .warnings role="status" { @for reason in said.iter().take(MOST_SAID) { p { (sentence(reason)) } }
                @if said.len() > MOST_SAID { p { "And " (said.len() - MOST_SAID) " others." } } }
        }
    }
}

/// Parts that a page names as left out.
const MOST_SAID: usize = 5;

fn pairs_of(uri: &Uri) -> Vec<(String, String)> {
    let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
    query.map(|Query(pairs)| pairs).unwrap_or_default()
}

/// The parts of the page at a path. A download has no place to say what it left out, and reads
/// what its page reads.
fn parts_of(path: &str) -> Option<Parts> {
    if DOWNLOADS.iter().any(|pattern| is_at(pattern, path)) {
        return None;
    }
    PAGES.iter().find(|(pattern, _)| is_at(pattern, path)).map(|(_, parts)| *parts)
}

fn is_at(pattern: &str, path: &str) -> bool {
    let (mut known, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (known.next(), given.next()) {
            (None, None) => return true,
            (Some("*"), Some(part)) if !part.is_empty() => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

/// Why a page does not take a part of its address; nothing where it does, or where it is blank.
fn refused(parts: Parts, name: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    let begins = |known: &&str| known.ends_with('.') && name.starts_with(*known);
    let is_filter = parts.iter().any(|(known, _)| *known == "cursor")
        && PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let known = parts.iter().find(|(known, _)| *known == name || begins(known));
    let shown = |text: &str| -> String {
        let mut shown: String = text.chars().filter(|char| *char != '`').take(40).collect();
        if text.chars().count() > 40 {
            shown.push('…');
        }
        shown
    };
    let wrong = |what: &str| {
        let (name, value) = (shown(name), shown(value));
        Some(format!("`{name}={value}` is left out: `{name}` takes {what}."))
    };
    match known {
        None if is_filter => None,
        None => Some(format!("`{}` is left out: this page has no such part.", shown(name))),
        Some((_, Text)) => None,
        Some((_, Whole)) => match value.parse::<u64>() {
            Ok(_) => None,
            Err(_) => wrong("a whole number"),
        },
        Some((_, Number)) => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => None,
            _ => wrong("a number"),
        },
        Some((_, OneOf(names))) => match names() {
            names if names.contains(&value) => None,
            names => wrong(&format!("`{}`", names.join("`, `"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_does_not_take_is_left_out_and_named() {
        let check = |address: &str, n_taken: usize, said: &str| {
            let uri: Uri = address.parse().unwrap();
            assert_eq!(read(&uri).len(), n_taken, "{address}");
            let text = left_out(address).0;
            match said {
                "" => assert_eq!(text, "", "{address}"),
                said => assert!(text.contains(said), "{address}: {text}"),
            }
        };
        check("/?q=a&type=pdf&view=cost&k=3", 4, "");
        check("/?q=a&k=three", 1, "<code>k=three</code> is left out: <code>k</code> takes a whole");
        check("/?q=a&view=&utm_source=x", 2, "<code>utm_source</code> is left out");
        check("/activity?since=lastyear&who=a", 1, "takes <code>hour</code>, <code>day</code>");
        check("/activity?since=day&outcome=ok&below=0.5", 3, "");
        check("/knowledge/7?threshold=NaN&q=x", 1, "takes a number");
        check("/tables/t?f.name=x&min.age=3&cursor=c&zz=1", 3, "<code>zz</code>");
        check("/tools/search?run=1&arg.query=x", 2, "");
        check("/charts/x?y=1", 0, "<code>y</code>");
        check("/v1/anything?y=1", 1, "");
        // Not a call whose id is `export`.
        check("/activity/export?console=1&since=day", 2, "");
    }

    #[test]
    fn what_is_long_or_hostile_is_shown_short() {
        let address = format!("/jobs?{}=1&%60%3Cb%3E=1", "x".repeat(500));
        let text = left_out(&address).0;
        assert!(text.len() < 400 && text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
    }

    /// Whoever adds a page says what its address takes.
    #[test]
    fn every_page_is_listed() {
        // What the pages load.
        const LOADED: [&str; 3] = ["/events/jobs", "/events/folders", "/assets/*/*"];
        let routes = include_str!("mod.rs");
        let mut n_pages = 0;
        for route in routes.split(".route(\"").skip(1) {
            let (path, rest) = route.split_once('"').unwrap();
            let handlers = rest.split(".route(").next().unwrap();
            let pattern: Vec<&str> = path
                .split('/')
                .map(|part| if part.starts_with('{') { "*" } else { part })
                .collect();
            let pattern = pattern.join("/");
            if LOADED.contains(&pattern.as_str()) {
                continue;
            }
            if !handlers.contains("get(") {
                assert!(!is_page(&pattern), "{pattern} takes forms alone");
                continue;
            }
            if DOWNLOADS.contains(&pattern.as_str()) {
                continue;
            }
            n_pages += 1;
            assert!(PAGES.iter().any(|(known, _)| *known == pattern), "{pattern} is not listed");
        }
        assert_eq!(n_pages, PAGES.len());
    }
}
