//! Charts by dimensions of one's own.

use serde_json::{Value, json};
use testkit::{Folder, Mcp};

use crate::test_server::TestServer;

const CONFIG: &str = r#"
[embedder]
provider = "none"
[[tables]]
name = "orders"
source = "orders.csv"
[tables.fields]
supplier = { type = "string" }
paid = { type = "number", unit = "EUR" }
[[dimensions]]
category = "supplier"
source = "suppliers.csv"
value = "id"
filter_key = "supplier_ids"
name = "name"
[[dimensions]]
category = "goods"
source = "goods.csv"
code = "code"
filter_key = { prefix = "goods_below", exact = "goods_codes" }
name = "name"
[charts]
source = "facts.csv"
columns = { period = "year", account = "account", amount = "amount", dimensions = { supplier = "supplier", goods = "goods" } }
"#;

fn start() -> TestServer {
    let folder = Folder::new();
    folder.write("orders.csv", "supplier,paid\nAcme,10\nBolt,30\nAcme,5\n");
    folder.write("suppliers.csv", "id,name\ns1,Acme Tools\ns2,Bolt and Sons\n");
    folder.write("goods.csv", "code,name\n10,Metal\n10.01,Steel\n20,Wood\n");
    folder.write(
        "facts.csv",
        "year,account,amount,supplier,goods\n2023,ch,5,s1,10.01\n2023,ch,7,s2,10\n2024,ch,11,s1,20\n",
    );
    TestServer::start_in(folder, CONFIG)
}

#[test]
fn dimensions_of_ones_own_are_charted() {
    let server = start();
    let mcp = Mcp::new(server.http(), "/mcp");
    let chart = |filter: &Value| {
        let mut filter = filter.clone();
        filter["account_category"] = json!("ch");
        filter["report_period"] = json!({
            "type": "YEAR", "selection": { "interval": { "start": "2023", "end": "2024" } },
        });
        mcp.call(
            "generate_chart_data",
            &json!({
                "title": "Goods", "chart_type": "bar",
                "series_definitions": [{ "label": "all", "filter": filter }],
            }),
        )
    };
    let sums = |filter: &Value| -> Value {
        let made = chart(filter).success();
        let points = made["data_series"][0]["data_points"].as_array().unwrap().clone();
        points.into_iter().map(|point| json!([point["x"], point["y"]])).collect()
    };
    let found = mcp.call("search_filters", &json!({ "category": "supplier", "query": "Acme" }));
    let best = found.success()["bestMatch"].clone();
    assert_eq!(best["filterKey"], "supplier_ids");
    let by_supplier = json!({ "supplier_ids": [best["filterValue"]] });
    assert_eq!(sums(&by_supplier), json!([["2023", 5.0], ["2024", 11.0]]));
    assert_eq!(sums(&json!({ "goods_below": ["10."] })), json!([["2023", 12.0]]));
    assert_eq!(sums(&json!({ "goods_codes": ["10"] })), json!([["2023", 7.0]]));
    assert_eq!(sums(&json!({ "exclude": { "supplier_ids": ["s1"] } })), json!([["2023", 7.0]]));

    let empty = json!({ "supplier_ids": ["s2"], "goods_codes": ["20"] });
    let warned = chart(&empty).success()["warnings"].to_string();
    assert!(warned.contains("without `goods_codes` there are facts"), "{warned}");
    let wrong = chart(&json!({ "goods_below": ["10"] })).error().to_string();
    assert!(wrong.contains("must end in a dot"), "{wrong}");
    let unknown = chart(&json!({ "buyers": ["b1"] })).error().to_string();
    assert!(unknown.contains("buyers"), "{unknown}");
}
