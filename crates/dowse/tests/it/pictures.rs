//! The page of a chart in a real browser: what is drawn, what is under it, light and dark,
//! wide and narrow. Without the test bed's browser there is nothing to look with.

use serde_json::{Value, json};
use testkit::{Browser, ColourScheme};

use crate::demo::Demo;

/// Measures what the drawing shows: the visible picture, its marks, and whether all of them
/// are inside it.
const DRAWING: &str = r#"(() => {
    const drawings = [...document.querySelectorAll('figure > svg')];
    const visible = drawings.filter(svg => getComputedStyle(svg).display !== 'none');
    const svg = visible[0];
    const box = svg.getBoundingClientRect();
    const marks = [...svg.querySelectorAll('path, rect, circle:not(.hit)')]
        .map(mark => mark.getBoundingClientRect())
        .filter(mark => mark.width > 0 || mark.height > 0);
    const texts = [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect())
        .filter(text => text.width > 0);
    const inside = part => part.left >= box.left - 1 && part.right <= box.right + 1
        && part.top >= box.top - 1 && part.bottom <= box.bottom + 1;
    return {
        n_visible: visible.length,
        class: svg.getAttribute('class'),
        role: svg.getAttribute('role'),
        spoken: svg.querySelector('desc').textContent,
        width: box.width,
        n_marks: marks.length,
        n_texts: texts.length,
        all_inside: marks.every(inside) && texts.every(inside),
        overflows: document.documentElement.scrollWidth > innerWidth,
    };
})()"#;

const TABLE: &str = r#"[...document.querySelectorAll('table')].map(table =>
    [...table.rows].map(row => [...row.cells].map(cell => cell.innerText.replace(/\s+/g, ' '))))"#;

const LINK: &str = r#"(() => {
    const link = document.querySelector('a[href$=".csv"]');
    return fetch(link.href).then(response => response.text().then(csv => {
        const disposition = response.headers.get('content-disposition');
        return { name: /filename="(.*)"/.exec(disposition)[1], csv };
    }));
})()"#;

/// The colours of the ground of the drawing, the letters and the first series.
const COLOURS: &str = r#"(() => {
    const style = selector => getComputedStyle(document.querySelector(selector));
    const mark = document.querySelector('figure > svg .line, figure > svg .bar, figure > svg .slice');
    const drawn = getComputedStyle(mark);
    return [style('figure').backgroundColor, style('body').color,
        drawn.stroke === 'none' ? drawn.fill : drawn.stroke];
})()"#;

#[test]
fn every_kind_of_chart_is_drawn() {
    let Some(mut browser) = Browser::start() else { return };
    let demo = Demo::start();
    for chart_type in ["line", "bar", "area", "pie"] {
        let made = demo.chart(chart_type);
        browser.resize(1200, 900);
        browser.prefer(ColourScheme::Light);
        browser.open(made["chart_url"].as_str().unwrap());
        let wide = browser.evaluate(DRAWING);
        check_drawing(&wide, "wide", chart_type);
        assert!(wide["width"].as_f64().unwrap() > 600.0, "{wide}");
        keep(&mut browser, &format!("{chart_type}-light"));

        let points = made["data_series"][0]["data_points"].as_array().unwrap();
        let tables = browser.evaluate(TABLE);
        assert_eq!(tables[0].as_array().unwrap().len(), points.len() + 1, "{tables}");
        for (row, point) in tables[0].as_array().unwrap().iter().skip(1).zip(points) {
            assert_eq!(row[0], point["x"]);
            let shown: String =
                row[1].as_str().unwrap().chars().filter(|char| *char != ',').collect();
            assert_eq!(shown.parse::<f64>().ok(), point["y"].as_f64(), "{row} {point}");
        }
        let link = browser.evaluate(LINK);
        assert_eq!(link["name"], "education-spending-cluj-2020-2024.csv");
        let expected: Vec<String> = points
            .iter()
            .map(|point| {
                format!("{},{}", point["x"].as_str().unwrap(), point["y"].as_f64().unwrap())
            })
            .collect();
        let lines: Vec<&str> = link["csv"].as_str().unwrap().lines().collect();
        assert_eq!(lines[0], "period,Cluj — Education (RON)");
        assert_eq!(lines[1..], expected);

        let light = browser.evaluate(COLOURS);
        browser.prefer(ColourScheme::Dark);
        let dark = browser.evaluate(COLOURS);
        for (light, dark) in light.as_array().unwrap().iter().zip(dark.as_array().unwrap()) {
            assert_ne!(light, dark, "{chart_type}: dark and light must differ");
        }
        assert!(luminance(&light[0]) > 0.8 && luminance(&light[1]) < 0.1, "{light}");
        assert!(luminance(&dark[0]) < 0.1 && luminance(&dark[1]) > 0.7, "{dark}");
        keep(&mut browser, &format!("{chart_type}-dark"));

        browser.resize(390, 800);
        let narrow = browser.evaluate(DRAWING);
        check_drawing(&narrow, "narrow", chart_type);
        keep(&mut browser, &format!("{chart_type}-narrow"));
    }
    browser.resize(900, 600);
    browser.open(&demo.server.url("/charts"));
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length"), 4);
    let first = browser.evaluate("document.querySelector('tbody a').href");
    browser.open(first.as_str().unwrap());
    assert_eq!(
        browser.evaluate("document.querySelector('h1').textContent"),
        "Education Spending — Cluj (2020-2024)"
    );
}

#[track_caller]
fn check_drawing(drawing: &Value, class: &str, chart_type: &str) {
    assert_eq!(drawing["n_visible"], 1, "{chart_type}: {drawing}");
    assert_eq!(drawing["class"], class, "{chart_type}");
    assert_eq!(drawing["role"], "img", "{chart_type}");
    assert!(drawing["spoken"].as_str().unwrap().contains("2024"), "{chart_type}: {drawing}");
    assert!(drawing["n_marks"].as_u64().unwrap() >= 1, "{chart_type}: {drawing}");
    assert!(drawing["n_texts"].as_u64().unwrap() >= 1, "{chart_type}: {drawing}");
    assert_eq!(drawing["all_inside"], json!(true), "{chart_type}: {drawing}");
    assert_eq!(drawing["overflows"], json!(false), "{chart_type}: {drawing}");
}

/// The relative luminance of `rgb(r, g, b)`, from 0 to 1.
fn luminance(colour: &Value) -> f64 {
    let text = colour.as_str().unwrap();
    let parts: Vec<f64> = text
        .trim_start_matches(|char: char| !char.is_ascii_digit())
        .trim_end_matches(')')
        .split(',')
        .map(|part| part.trim().parse::<f64>().unwrap() / 255.0)
        .map(|part| if part <= 0.04 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) })
        .collect();
    0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
}

/// Whoever wants to look at the pages names a folder.
fn keep(browser: &mut Browser, name: &str) {
    let picture = browser.screenshot();
    assert!(picture.len() > 5_000, "`{name}` is not empty");
    if let Some(folder) = std::env::var_os("DOWSE_TEST_PAGES") {
        fs_err::write(std::path::Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}
