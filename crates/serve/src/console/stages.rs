//! Why results are in this order, as a picture: each result is a line that runs from stage to
//! stage through its rank there. Drawn as SVG from figures alone; no text of a source but titles.

use maud::{Markup, html};
use serde_json::Value;

/// Results that are drawn.
const MAX_DRAWN: usize = 12;

/// Ranks lower than this share the lowest row.
const MAX_RANK: u64 = 15;

const COLUMN: f64 = 110.0;
const ROW: f64 = 24.0;
const TOP: f64 = 34.0;
const LEFT: f64 = 34.0;
const LABEL: f64 = 250.0;

/// Characters of a title beside its line.
const LABEL_CHARS: usize = 30;

/// One result with its way through the stages.
pub(crate) struct Way<'a> {
    pub(crate) title: &'a str,
    /// The place among the results shown, from 1.
    pub(crate) place: usize,
    pub(crate) score: f64,
    /// Stage, rank and raw figure, in pipeline order.
    pub(crate) stages: Vec<(&'a str, u64, f64)>,
}

/// Reads the stages out of an explanation.
pub(crate) fn stages_of(explanation: &Value) -> Vec<(&str, u64, f64)> {
    let stages = explanation["details"]["stages"].as_array();
    stages
        .into_iter()
        .flatten()
        .filter_map(|stage| {
            Some((stage["stage"].as_str()?, stage["rank"].as_u64()?, stage["score"].as_f64()?))
        })
        .collect()
}

/// What a stage is called, and what its figure is.
pub(crate) fn stage_name(stage: &str) -> (&str, &str) {
    match stage {
        "atlas" => ("Atlas", "collections by their summaries"),
        "sparse" => ("Words", "BM25 over the index"),
        "dense" => ("Vectors", "cosine to the query"),
        "rrf" => ("Fused", "reciprocal ranks, of 1"),
        "bm25" => ("BM25", "over the candidates"),
        "embed_candidates" => ("Missing vectors", "made for the first candidates"),
        "late_interaction" => ("Compared word by word", "relevance, of 1"),
        "cross_encoder" => ("Re-ranked", "relevance, of 1"),
        "cells" => ("Cells", "texts in the rows of tables"),
        "names" => ("Names", "names and codes of dimensions"),
        other => (other, ""),
    }
}

/// What a stage is called above its column, where names of neighbours must not touch.
fn stage_head(stage: &str) -> &str {
    match stage {
        "late_interaction" => "Word by word",
        other => stage_name(other).0,
    }
}

/// A title as far as there is room for it.
fn shortened(title: &str) -> String {
    match title.chars().nth(LABEL_CHARS) {
        None => title.to_owned(),
        Some(_) => {
            let cut: String = title.chars().take(LABEL_CHARS - 1).collect();
            format!("{}…", cut.trim_end())
        }
    }
}

/// Draws the ways of the results of one family.
pub(crate) fn picture(family: &str, ways: &[Way<'_>]) -> Markup {
    let ways = &ways[..ways.len().min(MAX_DRAWN)];
    let mut columns: Vec<&str> = Vec::new();
    for order in ["atlas", "sparse", "dense", "rrf", "bm25", "late_interaction", "cross_encoder"] {
        if ways.iter().any(|way| way.stages.iter().any(|(stage, ..)| *stage == order)) {
            columns.push(order);
        }
    }
    if columns.is_empty() {
        return html! { p .note { "This family does not say how its stages ranked these results." } };
    }
    let deepest = ways
        .iter()
        .flat_map(|way| way.stages.iter().map(|(_, rank, _)| (*rank).min(MAX_RANK)))
        .max()
        .unwrap_or(1)
        .max(ways.len() as u64);
    let x = |column: usize| LEFT + column as f64 * COLUMN;
    let y = |rank: u64| TOP + (rank.clamp(1, MAX_RANK) - 1) as f64 * ROW + ROW / 2.0;
    let last = x(columns.len());
    let width = last + LABEL;
    let height = TOP + deepest as f64 * ROW + 6.0;
    let spoken: Vec<String> = ways.iter().map(spoken).collect();
    html! {
        figure .stages tabindex="0" {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img" {
                title { "How the stages ranked the results of " (family) }
                desc { (spoken.join(". ")) }
                @for (position, stage) in columns.iter().enumerate() {
                    line .axis x1=(x(position)) y1=(TOP) x2=(x(position)) y2=(height - 6.0) {}
                    text .stage x=(x(position)) y="16" text-anchor="middle" { (stage_head(stage)) }
                }
                line .axis x1=(last) y1=(TOP) x2=(last) y2=(height - 6.0) {}
                text .stage x=(last) y="16" text-anchor="middle" { "Answer" }
                @for (position, way) in ways.iter().enumerate() {
                    (line_of(way, position, &columns, &x, &y, last))
                }
            }
            figcaption { "Each line is a result; its height is its rank at that stage, best at the top. "
                "A line that starts late was not seen by the stages before." }
        }
    }
}

fn line_of(
    way: &Way<'_>,
    position: usize,
    columns: &[&str],
    x: &dyn Fn(usize) -> f64,
    y: &dyn Fn(u64) -> f64,
    last: f64,
) -> Markup {
    let place = position as u64 + 1;
    let mut points: Vec<(f64, f64, u64, f64)> = columns
        .iter()
        .enumerate()
        .filter_map(|(column, stage)| {
            let (_, rank, score) = way.stages.iter().find(|(known, ..)| known == stage)?;
            Some((x(column), y(*rank), *rank, *score))
        })
        .collect();
    points.push((last, y(place), place, way.score));
    let mut path = String::new();
    for (index, (px, py, ..)) in points.iter().enumerate() {
        if index == 0 {
            path.push_str(&format!("M{px} {py}"));
        } else {
            let (before, by, ..) = points[index - 1];
            let middle = (before + px) / 2.0;
            path.push_str(&format!("C{middle} {by} {middle} {py} {px} {py}"));
        }
    }
    let class = format!("way w{}", position % 6);
    let label = shortened(way.title);
    html! {
        g class=(class) {
            path d=(path) {}
            @for (px, py, rank, score) in &points {
                circle cx=(px) cy=(py) r="4" { title { "rank " (rank) ", " (figure(*score)) } }
            }
            text .label x=(last + 12.0) y=(y(place) + 4.0) { (way.place) ". " (label) }
        }
    }
}

fn spoken(way: &Way<'_>) -> String {
    let stages: Vec<String> = way
        .stages
        .iter()
        .map(|(stage, rank, _)| format!("{} rank {rank}", stage_name(stage).0))
        .collect();
    format!("{}: {}, score {:.2}", way.title, stages.join(", "), way.score)
}

/// Draws what each stage of each family took, and names those that were skipped with the reason.
pub(crate) fn waterfall(timings: &Value) -> Markup {
    let timings = timings.as_array().map(Vec::as_slice).unwrap_or_default();
    if timings.is_empty() {
        return html! { p .note { "No family that was asked works in stages." } };
    }
    let ms = |timing: &Value| timing["ms"].as_f64().unwrap_or_default();
    let most = timings.iter().map(ms).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        div .scroll tabindex="0" { table .stages-took {
            thead { tr { th scope="col" { "Family" } th scope="col" { "Stage" } th scope="col" .num { "ms" } th scope="col" { "Share" } th scope="col" { "What happened" } } }
            tbody { @for timing in timings {
                @let stage = timing["stage"].as_str().unwrap_or_default();
                @let (name, meaning) = stage_name(stage);
                tr {
                    td { (timing["source"].as_str().unwrap_or_default()) }
                    td { (name) }
                    @match timing["skipped"].as_str() {
                        Some(reason) => { td .num { "—" } td { span .badge.skipped { "skipped" } } td .note { (reason) } },
                        None => { td .num { (figure(ms(timing))) } td { (super::cost::bar(ms(timing) / most)) } td .note { (meaning) } },
                    }
                }
            } }
        } }
        p .note { "Words and vectors are looked for side by side, so that the times do not add up." }
    }
}

/// Writes a raw figure with as many digits as it is worth.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        small if small < 0.01 => format!("{value:.4}"),
        medium if medium < 10.0 => format!("{value:.3}"),
        _ => format!("{value:.1}"),
    }
}

/// A score from 0 to 1 as a bar and a number.
pub(crate) fn score_bar(score: f64) -> Markup {
    let width = (score.clamp(0.0, 1.0) * 48.0).max(1.0);
    html! {
        span .score {
            svg viewBox="0 0 48 6" width="48" height="6" aria-hidden="true" {
                rect .rail width="48" height="6" rx="3" {}
                rect .fill width=(width) height="6" rx="3" {}
            }
            span .number { (format!("{score:.2}")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_do_not_touch_and_cut_titles_say_so() {
        let stages =
            ["atlas", "sparse", "dense", "rrf", "bm25", "late_interaction", "cross_encoder"];
        for stage in stages {
            // Semibold letters of 12 pixels are about 7 wide.
            let width = stage_head(stage).chars().count() as f64 * 7.0;
            assert!(width < COLUMN, "{stage}");
        }
        assert_eq!(shortened("remote-work.md"), "remote-work.md");
        assert_eq!(shortened(&"x".repeat(30)), "x".repeat(30));
        assert_eq!(shortened(&"x".repeat(31)), format!("{}…", "x".repeat(29)));
    }
}
