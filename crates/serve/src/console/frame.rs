//! What is around every page: the head, the sections, who is looking, and the keys.
//!
//! Everything is in a page once: a narrow screen opens the same sections from a button. The forms
//! of what is around a page come after it, so that the first form of a page is its own.

use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::layout::{Section, form_token, icon};
use super::viewer::Viewer;

/// The forms whose buttons are in the sections and in the bar at the top.
const LEAVE: &str = "leave";
const STOP: &str = "stop-viewing";

/// A page with the sections around it.
pub(super) fn document(
    viewer: &Viewer,
    section: Option<Section>,
    title: &str,
    body: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-base=(viewer.base) {
            (head(&viewer.base, title))
            body {
                a .skip href="#main" { "Skip to the content" }
                header .side {
                    div .brand {
                        a .name href=(viewer.href("/")) { (mark()) "Dowse" }
                        button .theme type="button" data-theme-switch hidden
                            aria-label="Change between light and dark" { (theme_icon()) }
                        button .menu type="button" popovertarget="sections" { "Menu" }
                    }
                    div #sections .sections popover {
                        nav aria-label="Sections" { (menu(viewer, section)) }
                        (person(viewer))
                    }
                }
                div .page {
                    @if viewer.is_viewing_as() { (viewing_as(viewer)) }
                    main #main tabindex="-1" { (body) }
                }
                @if viewer.app.authenticator.is_required() { (form(viewer, LEAVE, "/sign-out")) }
                @if viewer.is_viewing_as() { (form(viewer, STOP, "/view-as/stop")) }
                (keys())
                (question())
            }
        }
    }
}

/// A sign-in page and others without the sections.
pub(crate) fn bare(base: &str, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-base=(base) {
            (head(base, title))
            body .bare { (body) }
        }
    }
}

fn head(base: &str, title: &str) -> Markup {
    let asset = |name: &str| format!("{base}{}", assets::address(name));
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Dowse" }
            link rel="icon" href=(ICON);
            link rel="stylesheet" href=(asset("console.css"));
            script src=(asset("theme.js")) {}
            script src=(asset("console.js")) defer {}
        }
    }
}

const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E%3Cpath d='M5 2c0 5 5 5 5 9s0 5 0 7M15 2c0 5-5 5-5 9' fill='none' stroke='%230d7377' stroke-width='2.4' stroke-linecap='round'/%3E%3C/svg%3E";

/// The forked branch of a dowser.
pub(super) fn mark() -> Markup {
    html! {
        svg .mark viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" {
            path d="M5 2c0 5 5 5 5 9s0 5 0 7M15 2c0 5-5 5-5 9" {}
        }
    }
}

fn theme_icon() -> Markup {
    html! {
        svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" {
            circle cx="10" cy="10" r="7" .ring {}
            path d="M10 3a7 7 0 0 1 0 14z" .half {}
        }
    }
}

fn menu(viewer: &Viewer, current: Option<Section>) -> Markup {
    html! {
        @for (group, sections) in Section::GROUPS {
            p .group { (group) }
            ul {
                @for section in sections.iter().filter(|section| section.is_for(viewer)) {
                    li {
                        a href=(viewer.href(section.path())) data-go=(section.key())
                            aria-current=[(current == Some(*section)).then_some("page")]
                        { (icon(*section)) (section.name()) }
                    }
                }
            }
        }
    }
}

fn person(viewer: &Viewer) -> Markup {
    let caller = &viewer.signed_in;
    let is_required = viewer.app.authenticator.is_required();
    html! {
        div .person {
            @if is_required {
                p .who { (caller.subject) span .tenant { (caller.tenant) } }
                button .link type="submit" form=(LEAVE) { "Sign out" }
            } @else {
                p .who { "Local administrator" span .tenant { "authentication is off" } }
            }
            @if caller.is_admin() {
                a .link href=(viewer.href("/view-as")) { "View as…" }
            }
            button .link type="button" data-keys hidden { "Keyboard" }
        }
    }
}

fn viewing_as(viewer: &Viewer) -> Markup {
    let caller = &viewer.caller;
    let roles: Vec<&str> = caller.roles.iter().map(String::as_str).collect();
    html! {
        div .viewing role="status" {
            p {
                "Viewing as " strong { (caller.subject) } " of " strong { (caller.tenant) }
                @if let Some(department) = &caller.department { ", department " strong { (department) } }
                ", clearance " strong { (caller.clearance) }
                @if !roles.is_empty() { ", roles " strong { (roles.join(", ")) } }
                ". Nothing can be changed."
                @if !viewer.left_out.is_empty() {
                    " Left out, since they are not yours: " strong { (viewer.left_out.join(", ")) } "."
                }
            }
            button type="submit" form=(STOP) { "Stop" }
        }
    }
}

/// A form that its button elsewhere in the page sends.
fn form(viewer: &Viewer, id: &str, action: &str) -> Markup {
    html! { form id=(id) method="post" action=(viewer.href(action)) { (form_token(viewer)) } }
}

/// The keys that the script knows, as a dialog.
fn keys() -> Markup {
    let rows = [
        ("/", "search"),
        ("j k", "next and previous result"),
        ("Enter", "open the result"),
        ("g s", "go to Search; g t Tables, g n Names, g c Charts, g f Sources, g k Knowledge"),
        ("g p", "go to Tools; g x Contexts, g a Activity, g o Operations"),
        ("Esc", "leave a field or this list"),
        ("?", "this list"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keyboard" }
            dl {
                @for (key, meaning) in rows { dt { kbd { (key) } } dd { (meaning) } }
            }
            label .check { input type="checkbox" data-letters checked; "Letters are keys" }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// Where the script asks about what cannot be undone; each form brings its own question.
fn question() -> Markup {
    html! {
        dialog #ask aria-labelledby="ask-question" {
            h2 #ask-question { "Are you sure?" }
            form .actions method="dialog" {
                button value="" autofocus { "Cancel" }
                button .danger value="yes" { "Delete" }
            }
        }
    }
}
