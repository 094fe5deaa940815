//! The start page below the search: every section, and how an agent is connected.

use maud::{Markup, html};

use super::json_view::text_box;
use super::layout::{Section, icon};
use super::viewer::Viewer;

/// Links to every section, and the lines for clients.
pub(super) fn sections(viewer: &Viewer) -> Markup {
    let n_tools = viewer.app.tools.list(&viewer.caller).len();
    html! {
        div .start {
            @for (group, sections) in Section::GROUPS {
                section aria-label=(group) {
                    h2 .group { (group) }
                    ul .cards {
                        @for section in sections.iter().filter(|section| **section != Section::Search && section.is_for(viewer)) {
                            li { a href=(viewer.href(section.path())) {
                                strong { (icon(*section)) (section.name()) } span { (section.about()) } } }
                        }
                    }
                }
            }
            section .card aria-labelledby="connect" {
                h2 #connect { "Connect an agent" }
                p .note { (n_tools) " tools are served at "
                    code { (viewer.app.server.link_base()) "/mcp" } "." }
                (clients(viewer, &format!("{}/mcp", viewer.app.server.link_base()), "dowse", "dowse", None))
            }
        }
    }
}

/// Lines that connect the common clients to an address; `id` tells them from others of the page.
pub(super) fn clients(
    viewer: &Viewer,
    url: &str,
    name: &str,
    id: &str,
    key: Option<&str>,
) -> Markup {
    let needs_key = key.is_some() || viewer.app.authenticator.is_required();
    let key = key.unwrap_or("YOUR_KEY");
    let (claude_header, cursor_headers, remote_header) = if needs_key {
        (
            format!(" --header \"Authorization: Bearer {key}\""),
            format!(", \"headers\": {{ \"Authorization\": \"Bearer {key}\" }}"),
            format!(", \"--header\", \"Authorization: Bearer {key}\""),
        )
    } else {
        Default::default()
    };
    let lines = [
        ("Claude Code", format!("claude mcp add --transport http {name} {url}{claude_header}")),
        (
            "Cursor",
            format!(
                "{{ \"mcpServers\": {{ \"{name}\": {{ \"url\": \"{url}\"{cursor_headers} }} }} }}"
            ),
        ),
        (
            "Claude Desktop",
            format!(
                "{{ \"mcpServers\": {{ \"{name}\": {{ \"command\": \"npx\", \"args\": [\"mcp-remote\", \"{url}\"{remote_header}] }} }} }}"
            ),
        ),
    ];
    html! {
        dl .clients {
            @for (position, (client, line)) in lines.iter().enumerate() {
                dt { (client) }
                dd { (text_box(&format!("client-{id}-{position}"), line)) }
            }
        }
    }
}
