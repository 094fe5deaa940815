//! A chart as a small table: its titles, then one row for each category with the series' values.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::grid::TextTable;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::package::Package;
use crate::output::Output;

/// The most points of a series that are kept.
const MAX_POINTS: usize = 4096;

#[derive(Default)]
struct Series {
    name: String,
    categories: Vec<String>,
    values: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChartPart {
    Elsewhere,
    Name,
    Categories,
    Values,
}

pub(crate) fn push_chart(
    package: &Package,
    part: &str,
    pointer: &Pointer,
    output: &mut Output,
) -> Result<()> {
    let text = package.text_or_warn(part, output)?;
    let mut reader = package.walk(&text, output);
    let mut all_series: Vec<Series> = Vec::new();
    let mut titles = String::new();
    let mut place = ChartPart::Elsewhere;
    let mut in_series = false;
    let mut element = String::new();
    let mut point_idx = 0_usize;
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => {
                element = tag.local_name().as_ref().to_owned();
                match element.as_str() {
                    "ser" => {
                        in_series = true;
                        all_series.push(Series::default());
                    }
                    "tx" if in_series => place = ChartPart::Name,
                    "cat" | "xVal" => place = ChartPart::Categories,
                    "val" | "yVal" => place = ChartPart::Values,
                    "pt" => {
                        let idx = local_attribute(&tag, "idx").and_then(|idx| idx.parse().ok());
                        point_idx = idx.unwrap_or(point_idx);
                    }
                    _ => {}
                }
            }
            Ok(Some(XmlEvent::End(name))) => {
                match name.as_str() {
                    "ser" => in_series = false,
                    "tx" | "cat" | "xVal" | "val" | "yVal" => place = ChartPart::Elsewhere,
                    "p" => titles.push('\n'),
                    _ => {}
                }
                element.clear();
            }
            Ok(Some(XmlEvent::Text(text))) => match (element.as_str(), place) {
                ("t", _) => titles.push_str(&text),
                ("v", ChartPart::Name) => {
                    if let Some(series) = all_series.last_mut() {
                        series.name.push_str(&text);
                    }
                }
                ("v", ChartPart::Categories) => {
                    put(&mut all_series, point_idx, &text, |series| &mut series.categories)
                }
                ("v", ChartPart::Values) => {
                    put(&mut all_series, point_idx, &text, |series| &mut series.values)
                }
                _ => {}
            },
            Ok(None) => break,
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => {
                output.warn_of(&error);
                break;
            }
        }
    }
    output.push(BlockKind::Other, pointer, &titles)?;
    push_series(&all_series, pointer, output)
}

fn put(
    all_series: &mut [Series],
    point_idx: usize,
    text: &str,
    list: fn(&mut Series) -> &mut Vec<String>,
) {
    let Some(series) = all_series.last_mut().filter(|_| point_idx < MAX_POINTS) else { return };
    let list = list(series);
    if list.len() <= point_idx {
        list.resize(point_idx + 1, String::new());
    }
    if let Some(slot) = list.get_mut(point_idx) {
        slot.push_str(text);
    }
}

fn push_series(all_series: &[Series], pointer: &Pointer, output: &mut Output) -> Result<()> {
    let Some(first) = all_series.first() else { return Ok(()) };
    let mut table = TextTable::default();
    if all_series.iter().any(|series| !series.name.is_empty()) {
        table.cell("");
        for series in all_series {
            table.cell(&series.name);
        }
        table.end_row(pointer, output)?;
    }
    let n_rows = all_series.iter().map(|series| series.values.len()).max().unwrap_or_default();
    for row_idx in 0..n_rows.max(first.categories.len()) {
        table.cell(first.categories.get(row_idx).map_or("", String::as_str));
        for series in all_series {
            table.cell(series.values.get(row_idx).map_or("", String::as_str));
        }
        table.end_row(pointer, output)?;
    }
    table.end(pointer, output)
}
