//! A program of its own that lets agents query its data: `cargo run -p serve --example
//! mount_table`, then connect an MCP client to `http://127.0.0.1:3000/api/mcp`.

use serde_json::json;
use serve::{MountConfig, table_router};
use tables::{Field, Fields, GetDataOptions, GetDataResult, Schema, TableHandler, Test};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fields = Fields::from([("name", Field::string()), ("born", Field::range(Field::number()))]);
    let schema = Schema::new("people", Some("Pioneers of computing".into()), fields)?;
    let handler = TableHandler::new(schema, |options: GetDataOptions| async move {
        let people = [("Ada Lovelace", 1815), ("Alan Turing", 1912), ("Grace Hopper", 1906)];
        let passing = people.into_iter().filter(|person| passes(&options, *person));
        let rows: Vec<_> =
            passing.map(|(name, born)| json!({ "name": name, "born": born })).collect();
        let total = rows.len() as u64;
        let first = ((options.page - 1) * options.page_size) as usize;
        let page = rows.iter().skip(first).take(options.page_size as usize);
        let rows = page.filter_map(|row| row.as_object().cloned()).collect();
        Ok(GetDataResult { rows, total, facets: None })
    });
    let app = axum::Router::new().nest("/api/mcp", table_router(handler, MountConfig::default()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, app).await?)
}

/// Filters arrive checked and typed, one test for each.
fn passes(options: &GetDataOptions, (name, born): (&str, i64)) -> bool {
    options.filters.iter().all(|filter| match &filter.test {
        Test::Contains { text, .. } => name.contains(text.as_str()),
        Test::Within(ranges) => ranges.iter().any(|range| {
            let from = range.low.as_f64().unwrap_or(f64::NEG_INFINITY);
            let to = range.high.as_f64().unwrap_or(f64::INFINITY);
            (from..=to).contains(&(born as f64))
        }),
        Test::AnyOf(_) | Test::HasPrefix(_) | Test::HoldsAll(_) | Test::Not(_) => false,
    })
}
