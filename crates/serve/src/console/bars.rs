//! A small bar chart of counts, drawn as SVG from figures alone.

use maud::{Markup, html};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 120.0;
const FOOT: f64 = 18.0;
const TOP: f64 = 14.0;

/// Draws one bar for each point; the first and last points and the greatest value are named.
pub(super) fn bars(title: &str, points: &[(String, f64)]) -> Markup {
    let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let step = WIDTH / points.len().max(1) as f64;
    let room = HEIGHT - FOOT - TOP;
    let label = |text: &str| text.chars().take(16).collect::<String>().replace('T', " ");
    html! {
        svg .bars viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
            title { (title) }
            desc { (points.len()) " bars, the greatest " (most) }
            text x="0" y="10" { (most) }
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
