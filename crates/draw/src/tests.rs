//! What every picture promises: it can be read by the renderer whatever its texts are, it shows
//! the colours of its series, its heading and its legend, and it says what it could not write.

use filters::charts::Chart;
use resvg::tiny_skia::Pixmap;
use serde_json::{Value, json};

use crate::pie::{N_COLOURS, slices};
use crate::{Scale, full, keys, render_png, render_svg};

fn series(label: &str, points: &[(&str, f64)]) -> Value {
    let data_points: Vec<Value> = points.iter().map(|(x, y)| json!({ "x": x, "y": y })).collect();
    let sum: f64 = points.iter().map(|point| point.1).sum();
    json!({
        "label": label,
        "series_id": "s1",
        "x_axis": { "name": "Month", "unit": "month" },
        "y_axis": { "name": "Amount", "unit": "rows" },
        "data_points": data_points,
        "statistics": { "min": 0.0, "max": 1.0, "avg": 0.5, "sum": sum, "count": points.len() },
    })
}

#[expect(clippy::needless_pass_by_value, reason = "series are written in place")]
fn chart(chart_type: &str, title: &str, series: Vec<Value>) -> Chart {
    serde_json::from_value(json!({
        "id": "c1",
        "tenant": "acme",
        "made_by": "agent",
        "made_at": 0,
        "expires_at": 1,
        "request": { "title": title, "chart_type": chart_type },
        "series": series,
        "words": [],
        "warnings": [],
    }))
    .unwrap()
}

const MONTHS: [(&str, f64); 4] =
    [("2024-01", 3.0), ("2024-02", 5.5), ("2024-03", 4.0), ("2024-05", 7.0)];

fn n_pixels(pixels: &Pixmap, colour: (u8, u8, u8)) -> usize {
    let colours = pixels.pixels().iter().map(|pixel| (pixel.red(), pixel.green(), pixel.blue()));
    colours.filter(|of_pixel| *of_pixel == colour).count()
}

/// Counts the pixels that are nearly as dark as letters.
fn n_dark(png: &[u8]) -> usize {
    let pixels = Pixmap::decode_png(png).unwrap();
    let is_dark = |colour: u8| colour < 0x60;
    let dark = pixels
        .pixels()
        .iter()
        .filter(|pixel| is_dark(pixel.red()) && is_dark(pixel.green()) && is_dark(pixel.blue()));
    dark.count()
}

#[test]
fn every_kind_of_chart_has_its_colours_as_pixels() {
    for chart_type in ["line", "bar", "area", "pie"] {
        let two = vec![series("UA", &MONTHS), series("B6", &MONTHS[..3])];
        let image = render_png(&chart(chart_type, "Flights", two), Scale::ForModels).unwrap();
        let pixels = Pixmap::decode_png(&image.bytes).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (image.width, image.height));
        // What a reader without custom properties draws of them is black.
        let (blue, orange, black) = ((0x0b, 0x6b, 0xcb), (0xc8, 0x50, 0x0a), (0, 0, 0));
        assert!(n_pixels(&pixels, blue) > 100, "{chart_type}");
        assert!(n_pixels(&pixels, orange) > 100, "{chart_type}");
        assert!(n_pixels(&pixels, black) < 20, "{chart_type}");
        assert_eq!(image.n_missing, 0, "{chart_type}");
    }
}

#[test]
fn heading_and_legend_are_in_the_picture() {
    let drawn = chart(
        "line",
        "Zboruri și întârzieri",
        vec![series("Țară <1>", &MONTHS), series("Ελλάδα", &MONTHS)],
    );
    let svg = render_svg(&drawn, "a line");
    for part in ["Zboruri și întârzieri", "Țară &lt;1&gt;", "Ελλάδα", "<desc>a line</desc>"]
    {
        assert!(svg.contains(part), "{part}");
    }
    assert!(!svg.contains("var("), "custom properties are not known everywhere");
    let with = render_png(&drawn, Scale::ForModels).unwrap();
    let without = render_png(
        &Chart { request: chart("line", "", Vec::new()).request, ..drawn },
        Scale::ForModels,
    )
    .unwrap();
    assert!(n_dark(&with.bytes) > n_dark(&without.bytes) + 100, "the heading is not drawn");
    assert_eq!(with.n_missing, 0);
}

#[test]
fn twice_as_many_pixels_for_screens() {
    let drawn = chart("bar", "Flights", vec![series("count", &MONTHS)]);
    let small = render_png(&drawn, Scale::ForModels).unwrap();
    let large = render_png(&drawn, Scale::ForScreens).unwrap();
    assert_eq!((large.width, large.height), (2 * small.width, 2 * small.height));
    // Models shrink what is larger.
    assert!(small.width <= 1_092 && small.height <= 1_092);
}

#[test]
fn any_text_can_be_drawn() {
    let hostile = "a\u{0}b\u{b}c\u{fffe}]]>&<script>\u{202e}x\u{1F600}\n\ty";
    let long = "very long name ".repeat(40);
    for title in [hostile, long.as_str(), "", "　"] {
        for chart_type in ["line", "bar", "area", "pie"] {
            let drawn = chart(
                chart_type,
                title,
                vec![series(title, &[(title, 1.0), ("b", -2.0), ("c", 0.0)]), series("empty", &[])],
            );
            assert!(!render_svg(&drawn, title).contains("<script"));
            render_png(&drawn, Scale::ForModels).unwrap();
        }
    }
}

#[test]
fn what_no_font_has_is_counted() {
    // A character of a private area is in no font.
    let drawn = chart("bar", "\u{f8fe}\u{10fffd}", vec![series("count", &MONTHS)]);
    assert!(render_png(&drawn, Scale::ForModels).unwrap().n_missing > 0);
}

#[test]
fn no_two_slices_share_a_colour() {
    let points: Vec<(String, f64)> =
        (0..30).map(|at| (format!("g{at}"), f64::from(at % 7))).collect();
    let points: Vec<(&str, f64)> =
        points.iter().map(|(name, amount)| (name.as_str(), *amount)).collect();
    let drawn = chart("pie", "Shares", vec![series("count", &points)]);
    let slices = slices(&drawn);
    assert_eq!(slices.len(), N_COLOURS);
    assert_eq!(slices[9].label, "21 others");
    let whole: f64 = slices.iter().map(|slice| slice.amount).sum();
    assert_eq!(whole, points.iter().map(|point| point.1).sum::<f64>());
    assert!((slices.iter().map(|slice| slice.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(keys(&drawn).len(), N_COLOURS);
}

#[test]
fn small_amounts_have_labels_of_their_own() {
    let drawn =
        chart("line", "Rates", vec![series("rate", &[("2024-01", 0.001), ("2024-02", 0.0034)])]);
    let svg = render_svg(&drawn, "");
    assert!(svg.contains(">0.001<") && svg.contains(">0.003<"), "{svg}");
    assert_eq!(full(0.0034), "0.0034");
}

/// Of fourteen bars four had a name.
#[test]
fn every_bar_has_its_name_and_days_are_counted() {
    let named = |n_groups: usize, name: fn(usize) -> String| {
        let groups: Vec<String> = (0..n_groups).map(name).collect();
        let points: Vec<(&str, f64)> = groups.iter().map(|group| (group.as_str(), 3.0)).collect();
        let drawn = chart("bar", "Requests", vec![series("count", &points)]);
        render_png(&drawn, Scale::ForModels).unwrap();
        let svg = render_svg(&drawn, "");
        let is_written = |group: &&String| svg.contains(&format!(">{group}</text>"));
        (groups.iter().filter(is_written).count(), svg.contains("rotate(-45"))
    };
    let path = |at: usize| format!("/api/path-{at}");
    assert_eq!(named(4, path), (4, false));
    assert_eq!(named(14, path), (14, true));
    assert_eq!(named(40, path), (40, true));
    let (n_named, is_aslant) = named(400, path);
    assert!(n_named > 1 && n_named < 60 && !is_aslant, "too many to be read: {n_named}");
    let (n_named, is_aslant) = named(28, |at| format!("2024-02-{:02}", at + 1));
    assert!(n_named < 28 && !is_aslant, "{n_named}");
}
