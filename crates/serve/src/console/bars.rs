//! A small bar chart of counts, drawn as SVG from figures alone.

use maud::{Markup, html};

use super::time::thousands;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 120.0;
const FOOT: f64 = 18.0;
const TOP: f64 = 14.0;

/// The first and the last point and the greatest value, for screens on which their labels would be
/// too small to be read.
pub(super) fn in_words(points: &[(String, f64)]) -> String {
    let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else {
        return String::new();
    };
    let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    format!("{} to {}, at most {} each", label(first), label(last), thousands(most as usize))
}

fn label(text: &str) -> String {
    text.chars().take(16).collect::<String>().replace('T', " ")
}

/// Draws one bar for each point; the first and last points and the greatest value are named.
pub(super) fn bars(title: &str, points: &[(String, f64)]) -> Markup {
    let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let step = WIDTH / points.len().max(1) as f64;
    let room = HEIGHT - FOOT - TOP;
    html! {
        svg .bars viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
            title { (title) }
            desc { (points.len()) " bars, the greatest " (most) }
            text x="0" y="10" { (thousands(most as usize)) }
            line .axis x1="0" y1=(HEIGHT - FOOT) x2=(WIDTH) y2=(HEIGHT - FOOT) {}
            @for (position, (at, value)) in points.iter().enumerate() {
                @let height = (value / most * room).max(if *value > 0.0 { 1.0 } else { 0.0 });
                rect x=(format!("{:.2}", position as f64 * step + step * 0.1)) width=(format!("{:.2}", step * 0.8))
                    y=(format!("{:.2}", HEIGHT - FOOT - height)) height=(format!("{height:.2}")) { title { (at) ": " (value) } }
            }
            @if let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) {
                text x="0" y=(HEIGHT - 4.0) { (label(first)) }
                text x=(WIDTH) y=(HEIGHT - 4.0) text-anchor="end" { (label(last)) }
            }
        }
    }
}
