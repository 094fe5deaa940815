//! The start page below the search: every section, and how an agent is connected.

use maud::{Markup, html};
use model::ReadOutcome;

use super::json_view::text_box;
use super::layout::{Section, icon};
use super::time::{counted, thousands};
use super::viewer::Viewer;
use super::{knowledge, names, sources, tables};

/// What there is in the sections, as far as the caller may see it.
#[derive(Default)]
struct Amounts {
    n_files: usize,
    /// Files whose text is not in the index.
    n_without_text: usize,
    bases: Option<String>,
    projects: Option<String>,
    charts: Option<String>,
}

/// Links to every section with what is in it, and the lines for clients.
pub(super) async fn sections(viewer: &Viewer) -> Markup {
    let n_tools = viewer.app.tools.list(&viewer.caller).len();
    let amounts = amounts(viewer).await;
    html! {
        div .start {
            @for (group, sections) in Section::GROUPS {
                section aria-label=(group) {
                    h2 .group { (group) }
                    ul .cards {
                        @for section in sections.iter().filter(|section| **section != Section::Search && section.is_for(viewer)) {
                            li { a href=(viewer.href(section.path())) {
                                strong { (icon(*section)) (section.name()) (amount(viewer, *section, &amounts)) }
                                span { (section.about()) } } }
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

/// Counts what is in the sections. What cannot be counted is left out: its own page says why.
async fn amounts(viewer: &Viewer) -> Amounts {
    let (outcomes, bases, projects, charts) = tokio::join!(
        sources::outcomes(viewer),
        length(viewer, "/v1/knowledge-bases", "knowledge_bases", "base"),
        length(viewer, "/v1/projects", "projects", "project"),
        length(viewer, "/v1/charts", "charts", "chart"),
    );
    let mut amounts = Amounts { bases, projects, charts, ..Amounts::default() };
    for (outcome, count) in outcomes.iter().flat_map(|root| &root.counts) {
        amounts.n_files += count;
        amounts.n_without_text += if *outcome == ReadOutcome::Indexed { 0 } else { *count };
    }
    amounts
}

/// How many elements a list of REST has: those of its first page, and a sign of more.
async fn length(viewer: &Viewer, list: &str, name: &str, noun: &str) -> Option<String> {
    let answer = viewer.get(list).await.ok()?;
    let n_elements = knowledge::array(&answer[name]).len();
    Some(match answer["next"].as_str() {
        Some(_) => format!("over {}", counted(n_elements as u64, noun)),
        None if n_elements == 0 => "none yet".to_owned(),
        None => counted(n_elements as u64, noun),
    })
}

/// How much a section holds, in words.
fn amount(viewer: &Viewer, section: Section, amounts: &Amounts) -> Markup {
    let some = |count: usize, noun: &str| match count {
        0 => "none".to_owned(),
        count => counted(count as u64, noun),
    };
    let words = match section {
        Section::Tables => Some(some(tables::n_tables(viewer), "table")),
        Section::Names => Some(some(names::categories(viewer).len(), "list")),
        Section::Charts => amounts.charts.clone(),
        Section::Sources => Some(some(amounts.n_files, "file")),
        Section::Knowledge => amounts.bases.clone(),
        Section::Contexts => amounts.projects.clone(),
        Section::Tools => Some(some(viewer.app.tools.list(&viewer.caller).len(), "tool")),
        Section::Search | Section::Activity | Section::Operations => None,
    };
    html! {
        @if let Some(words) = words { small { (words)
            @if section == Section::Sources && amounts.n_without_text > 0 {
                ", " (thousands(amounts.n_without_text)) " without text" } } }
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
