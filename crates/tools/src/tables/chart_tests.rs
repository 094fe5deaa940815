//! Proves of charts over tables that: no group vanishes from a scale, whatever its step; what has
//! no place on it is said; zeros name the filter that made them; and the picture comes on request.

use std::sync::Arc;
use std::time::Duration;

use filters::charts::{Chart, ChartSettings, Charts};
use model::{Caller, Deadline};
use serde_json::{Value, json};
use testkit::{Folder, fixed_clock};
use text::Budget;

use super::ChartTable;
use crate::filters::ChartFigures;
use crate::{Answer, Call, ResourceBody, Resources as _, Tool as _, ToolError};

const SALES: &str = r#"{
    "name": "sales",
    "source": "sales.csv",
    "fields": {
        "at": { "type": "timestamp" },
        "shop": { "type": "number" },
        "amount": { "type": "array", "items": { "type": "number" }, "match": "range" },
        "rate": { "type": "array", "items": { "type": "number" }, "match": "range" },
        "mail": { "type": "string" }
    }
}"#;

const ROWS: &str = "at,shop,amount,rate,mail\n\
    2023-10-28T23:30:00Z,1001,0,0.001,ana@example.org\n\
    2023-10-29T02:10:00Z,5003,12.5,0.003,bob@example.org\n\
    2023-10-29T02:20:00Z,5003,10,0.002,bob@example.org\n\
    ,1001,0,0.004,ana@example.org\n";

struct Fixture {
    tool: ChartTable,
    charts: Arc<Charts>,
    _folder: Folder,
}

fn fixture() -> Fixture {
    fixture_of(ROWS)
}

fn fixture_of(rows: &str) -> Fixture {
    let folder = Folder::new();
    folder.write("sales.csv", rows);
    let service = tables::Service::open(tables::ServiceConfig {
        tables: vec![serde_json::from_str(SALES).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    });
    let charts = Charts::open(ChartSettings {
        config: None,
        folder: folder.path().to_owned(),
        data_folder: folder.path().join("charts"),
        base_url: "http://127.0.0.1:7700".to_owned(),
        clock: fixed_clock(),
        dimensions: None,
    });
    let charts = Arc::new(charts.unwrap());
    Fixture {
        tool: ChartTable::new(service.unwrap(), Arc::clone(&charts)),
        charts,
        _folder: folder,
    }
}

impl Fixture {
    fn ask(&self, arguments: Value) -> (Answer, Chart) {
        let answer = self.try_ask(arguments).unwrap();
        let id = answer.value["chart_id"].as_str().unwrap();
        let chart =
            self.charts.get(&Caller::local_admin(), &filters::charts::ChartId::new(id)).unwrap();
        (answer, chart)
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments are written in place")]
    fn try_ask(&self, arguments: Value) -> Result<Answer, ToolError> {
        let caller = Caller::local_admin();
        let spec = self.tool.spec(&caller).unwrap();
        let accepted = crate::accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
        let call = Call {
            caller: &caller,
            arguments: &accepted.arguments,
            deadline: &Deadline::after(Duration::from_secs(60)),
            budget: Budget { chars: 100_000, tokens: 100_000 },
            progress: &|_| {},
        };
        let answer = self.tool.call(&call)?;
        spec.check_output(&answer.value).unwrap();
        Ok(answer)
    }
}

fn places(chart: &Chart) -> Vec<String> {
    chart.places().iter().map(ToString::to_string).collect()
}

fn says(chart: &Chart, part: &str) -> bool {
    chart.warnings.iter().any(|warning| warning.message.contains(part))
}

#[test]
fn rows_without_a_time_leave_the_axis_of_time_whole() {
    let fixture = fixture();
    let by_day = json!({ "title": "Days", "group_by": [{ "field": "at", "bucket": "day" }] });
    let (_, chart) = fixture.ask(by_day);
    // One null turned every day into a mere name, and the gaps between days vanished.
    assert_eq!(places(&chart), ["2023-10-28", "2023-10-29"]);
    assert!(says(&chart, "rows without a value of `day`"), "{:?}", chart.warnings);
}

#[test]
fn hours_without_rows_are_on_the_axis() {
    let fixture = fixture();
    let (_, chart) = fixture.ask(json!({
        "title": "Hours", "time_zone": "Europe/Bucharest", "chart_type": "line",
        "group_by": [{ "field": "at", "bucket": "hour" }],
        "measures": [{ "op": "avg", "field": "rate" }],
    }));
    let expected = [
        "2023-10-29T02:00+03:00",
        "2023-10-29T03:00+03:00",
        "2023-10-29T03:00+02:00",
        "2023-10-29T04:00+02:00",
    ];
    assert_eq!(places(&chart), expected, "an hour is there twice when clocks go back");
    assert_eq!(chart.series[0].data_points.len(), 2);
    assert!(says(&chart, "gaps, not zeros"));
}

/// One series said its gaps, several did not.
#[test]
fn each_series_says_the_points_that_it_lacks() {
    let fixture = fixture();
    let by_two = |op: &str| {
        let (_, chart) = fixture.ask(json!({
            "title": "Days", "chart_type": "line",
            "group_by": [{ "field": "at", "bucket": "day" }, "shop"],
            "measures": [{ "op": op, "field": "rate" }],
        }));
        chart
    };
    let chart = by_two("avg");
    assert!(says(&chart, "gaps and not zeros: `1001` lacks 1 of 2, `5003` lacks 1 of 2"));
    let counted = by_two("count_distinct");
    assert!(!says(&counted, "lacks"), "{:?}", counted.warnings);
}

#[test]
fn numbers_of_shops_are_no_years() {
    let fixture = fixture();
    let (_, chart) = fixture.ask(json!({ "title": "Shops", "group_by": ["shop"] }));
    assert_eq!(places(&chart), ["1001", "5003"]);
    let widths = json!({ "title": "Shops", "group_by": [{ "field": "shop", "width": 1000 }] });
    let (_, chart) = fixture.ask(widths);
    assert_eq!(places(&chart), ["1000", "2000", "3000", "4000", "5000"]);
}

#[test]
fn small_measures_are_not_rounded_to_zero() {
    let fixture = fixture();
    let (answer, _) = fixture.ask(json!({
        "title": "Rates", "group_by": ["shop"], "measures": [{ "op": "avg", "field": "rate" }],
    }));
    assert_eq!(answer.value["series"][0]["statistics"]["avg"], 0.0025);
}

#[test]
fn figures_that_no_float_keeps_are_said_to_be_rounded() {
    let fixture = fixture_of(&ROWS.replace("1001,0,0.001", "1001,36893488147419103231,0.001"));
    let (answer, _) = fixture.ask(json!({
        "title": "Shops", "group_by": ["shop"], "measures": [{ "op": "sum", "field": "amount" }],
    }));
    let said = answer.value["warnings"].to_string();
    assert!(said.contains("rounded to 15 digits") && !said.contains("those are text"), "{said}");
}

/// The latest moment of each shop was drawn as nothing at all, with statistics of zeros.
#[test]
fn what_is_no_number_is_refused() {
    let fixture = fixture();
    for (op, field) in [("max", "at"), ("min", "mail")] {
        let measures = json!([{ "op": op, "field": field }]);
        let asked = json!({ "title": "Last", "group_by": ["shop"], "measures": measures });
        let refused = fixture.try_ask(asked).unwrap_err();
        assert!(refused.message.contains("is not a number"), "{}", refused.message);
    }
}

#[test]
fn a_pie_of_negative_amounts_is_refused() {
    let fixture = fixture_of(&ROWS.replace("1001,0,0.001", "1001,-7,0.001"));
    let measures = json!([{ "op": "sum", "field": "amount" }]);
    let mut asked = json!({ "title": "Shops", "group_by": ["shop"], "measures": measures });
    asked["chart_type"] = "pie".into();
    let refused = fixture.try_ask(asked.clone()).unwrap_err();
    assert!(refused.message.contains("pie with 1001 at -7"), "{}", refused.message);
    asked["chart_type"] = "bar".into();
    fixture.try_ask(asked).unwrap();
}

/// Both were the place `[email]`, and only the first was drawn.
#[test]
fn groups_that_redaction_makes_alike_are_all_drawn() {
    let fixture = fixture();
    let (_, chart) = fixture.ask(json!({ "title": "People", "group_by": ["mail"] }));
    assert_eq!(places(&chart), ["[email]", "[email] (2)"]);
    assert_eq!(chart.series[0].statistics.sum, 4.0);
}

#[test]
fn zeros_name_the_filter_that_made_them() {
    let fixture = fixture();
    let (_, chart) = fixture.ask(json!({
        "title": "Amounts", "group_by": ["shop"], "filters": { "shop": 1001 },
        "measures": [{ "op": "sum", "field": "amount" }],
    }));
    assert!(says(&chart, "without the filter `shop` not every point is 0"));
    assert!(says(&chart, "every point is 0"));
}

#[test]
fn the_picture_comes_on_request() {
    let fixture = fixture();
    let (plain, _) = fixture.ask(json!({ "title": "Shops", "group_by": ["shop"] }));
    assert!(plain.images.is_empty() && plain.value.get("image_url").is_none());
    let asked = json!({ "title": "Shops", "group_by": ["shop"], "image": true });
    let (answer, chart) = fixture.ask(asked);
    assert_eq!(answer.images.len(), 1);
    assert_eq!(answer.images[0].mime_type, "image/png");
    assert!(answer.images[0].bytes.starts_with(b"\x89PNG"));
    let expected = format!("http://127.0.0.1:7700/charts/{}.png", chart.id);
    assert_eq!(answer.value["image_url"], expected);
    let read = ChartFigures::new(Arc::clone(&fixture.charts));
    let deadline = Deadline::after(Duration::from_secs(60));
    let caller = Caller::local_admin();
    let uri = format!("dowse://charts/{}.png", chart.id);
    let content = read.read(&caller, &uri, &deadline).unwrap().unwrap();
    assert_eq!(content.mime_type, "image/png");
    assert_eq!(content.body, ResourceBody::Bytes(answer.images[0].bytes.clone()));
    assert!(read.read(&caller, "dowse://charts/none.png", &deadline).unwrap().is_none());
}
