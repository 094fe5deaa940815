//! Queries that found nothing, or nothing that is good enough, grouped: what is missing most.

use std::collections::BTreeMap;

use guard::{Entry, Outcome};
use maud::{Markup, html};
use model::Timestamp;

use super::layout::empty;
use super::params::Params;
use super::stages::score_bar;
use super::time::{ago, thousands};
use super::viewer::Viewer;

/// The part of an address that says how many groups are before those of its page.
const FROM: &str = "from";

/// Groups of one page.
const SHOWN: usize = 50;

/// Best scores below this are called low unless the address says otherwise.
const LOW: f64 = 0.5;

/// The same question to the same tool, asked once or more.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    tool: String,
    /// As it was last typed.
    query: String,
    n_asked: usize,
    last: Timestamp,
    /// The best that any of the calls found; nothing when none found anything.
    best: Option<f64>,
}

/// Groups calls that found nothing or only what is below a score, the most frequent first.
fn grouped(entries: &[Entry], below: f64) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.outcome == Outcome::Ok) {
        let Some(query) = &entry.query else { continue };
        let is_weak = entry.results == 0 || entry.best_score.is_some_and(|best| best < below);
        if !is_weak {
            continue;
        }
        let key = (entry.tool.clone(), text::fold(query.trim()));
        let group = groups.entry(key).or_insert_with(|| Group {
            tool: entry.tool.clone(),
            query: query.clone(),
            n_asked: 0,
            last: entry.at,
            best: None,
        });
        group.n_asked += 1;
        group.last = group.last.max(entry.at);
        let found = entry.best_score.filter(|_| entry.results > 0);
        group.best = [group.best, found].into_iter().flatten().max_by(f64::total_cmp);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.n_asked), std::cmp::Reverse(group.last.0)));
    groups
}

/// The groups as a table, each with the way to its explanation.
pub(super) fn groups(viewer: &Viewer, params: &Params, entries: &[Entry]) -> Markup {
    let below = params.get("below").and_then(|text| text.parse().ok()).unwrap_or(LOW);
    let groups = grouped(entries, below);
    let from = params.number(FROM, 0, groups.len().saturating_sub(1));
    let now = viewer.app.clock.now();
    html! {
        form .toolbar method="get" action=(viewer.href("/activity")) {
            @for (name, value) in params.without("below").without("view").without(FROM).pairs() { input type="hidden" name=(name) value=(value); }
            input type="hidden" name="view" value="weak";
            div .field { label for="below" { "Best score below" }
                input #below type="number" name="below" min="0" max="1" step="0.05" value=(below); }
            button type="submit" { "Show" }
        }
        @if viewer.app.audit_config.omit_queries {
            (empty("Queries are not recorded.", &html! {
                p { "With " code { "audit.omit_queries" } " nobody can tell which of them found little." } }))
        } @else if entries.is_empty() {
            (empty("Nobody has asked anything yet.", &html! {
                p { "Queries of agents without results, or with low scores, are grouped here. " a href=(viewer.href("/")) { "Connect an agent" } }
            }))
        } @else if groups.is_empty() {
            (empty("Every query found something good.", &html! {
                p { "Queries without results, or with low scores, are grouped here." } }))
        } @else {
            div .scroll tabindex="0" { table {
                thead { tr { th scope="col" { "Query" } th scope="col" { "Tool" } th scope="col" .num { "Times" } th scope="col" { "Best score" } th scope="col" { "Last" } th scope="col" { "Next" } } }
                tbody { @for group in groups.iter().skip(from).take(SHOWN) { tr {
                    td .cell { (group.query) } td { code { (group.tool) } } td .num { (group.n_asked) }
                    td { @match group.best { Some(best) => (score_bar(best)), None => span .badge.warning { "nothing" } } }
                    td .nowrap { (ago(group.last, now)) }
                    td .nowrap {
                        a href=(viewer.link("/", &Params::default().with("q", &group.query).with("view", "explain"))) { "Explain" } " · "
                        a href=(viewer.link("/", &Params::default().with("q", &group.query).with("view", "missing"))) { "What should it find?" }
                    }
                } } }
            } }
            @if groups.len() > SHOWN { div .pager {
                @if from > 0 { a .button rel="first" href=(viewer.link("/activity", &params.without(FROM))) { "Most frequent" } }
                span .note { (thousands((from + 1).min(groups.len()))) "–" (thousands((from + SHOWN).min(groups.len()))) " of " (thousands(groups.len())) }
                @if from + SHOWN < groups.len() { a .button rel="next" href=(viewer.link("/activity", &params.with(FROM, &(from + SHOWN).to_string()))) { "Less frequent" } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(query: &str, results: u64, best_score: Option<f64>, at: i64) -> Entry {
        Entry {
            at: Timestamp(at),
            request: at.to_string(),
            tool: "search".to_owned(),
            tenant: "local".to_owned(),
            caller: "ann".to_owned(),
            outcome: Outcome::Ok,
            code: None,
            results,
            redacted: 0,
            latency_ms: 1.0,
            tokens: None,
            best_score,
            query: Some(query.to_owned()),
            via: None,
            viewing_as: None,
        }
    }

    #[test]
    fn empty_and_low_answers_are_grouped_by_what_was_asked() {
        let entries = [
            entry("Walrus", 0, None, 1),
            entry("walrus ", 3, Some(0.1), 5),
            entry("good", 3, Some(0.9), 2),
            entry("rows", 3, None, 3),
            entry("low", 1, Some(0.4), 4),
        ];
        let groups = grouped(&entries, 0.5);
        assert_eq!(groups.len(), 2, "{groups:?}");
        assert_eq!(
            (groups[0].n_asked, groups[0].best, groups[0].last),
            (2, Some(0.1), Timestamp(5))
        );
        assert_eq!((groups[1].query.as_str(), groups[1].best), ("low", Some(0.4)));
        assert_eq!(grouped(&entries, 0.0).len(), 1, "what found nothing is always there");
    }
}
