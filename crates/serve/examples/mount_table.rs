//! A program of its own that lets agents query its data: `cargo run -p serve --example
//! mount_table`, then connect an MCP client to `http://127.0.0.1:3000/api/mcp`.

use serve::{MountConfig, table_router};
use tables::{
    Direction, Field, Fields, Filter, GetDataOptions, GetDataResult, Row, Schema, Sort,
    TableHandler, Test,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mcp = table_router(handler()?, MountConfig::default());
    let app = axum::Router::new().nest("/api/mcp", mcp);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, app).await?)
}

/// The program's own data: it filters, sorts and gives one page of what it was asked for.
pub(crate) fn handler() -> tables::Result<TableHandler> {
    let fields = Fields::from([("name", Field::string()), ("born", Field::range(Field::number()))]);
    let schema = Schema::new("people", Some("Pioneers of computing".into()), fields)?;
    Ok(TableHandler::new(schema, |options: GetDataOptions| async move {
        let people = [("Ada Lovelace", 1815), ("Alan Turing", 1912), ("Grace Hopper", 1906)];
        let mut passing: Vec<_> =
            people.into_iter().filter(|person| passes(&options, *person)).collect();
        passing.sort_by(|left, right| order(&options.sort, *left, *right));
        let total = passing.len() as u64;
        let first = ((options.page - 1) * options.page_size) as usize;
        let page = passing.into_iter().skip(first).take(options.page_size as usize);
        let row = |(name, born): Person| {
            Row::from([("name".to_owned(), name.into()), ("born".to_owned(), born.into())])
        };
        let rows = page.map(row).collect();
        Ok(GetDataResult { rows, total, facets: None })
    }))
}

/// Filters arrive checked and typed: all of them must hold, and one alternative of each `any`.
fn passes(options: &GetDataOptions, person: Person) -> bool {
    let all = |filters: &[Filter]| filters.iter().all(|filter| holds(&filter.test, filter, person));
    all(&options.filters)
        && options.any.iter().all(|group| group.alternatives.iter().any(|filters| all(filters)))
}

type Person = (&'static str, i64);

fn holds(test: &Test, filter: &Filter, (name, born): Person) -> bool {
    let is_name = filter.column == "name";
    match test {
        Test::Contains { text, .. } => name.contains(text.as_str()),
        Test::HasPrefix(prefixes) => prefixes.iter().any(|prefix| name.starts_with(prefix)),
        Test::AnyOf(values) if is_name => values.iter().any(|value| value.as_str() == Some(name)),
        Test::AnyOf(values) => values.iter().any(|value| value.as_f64() == Some(born as f64)),
        Test::Within(ranges) => ranges.iter().any(|range| {
            let from = range.low.as_f64().unwrap_or(f64::NEG_INFINITY);
            let to = range.high.as_f64().unwrap_or(f64::INFINITY);
            (from..=to).contains(&(born as f64))
        }),
        Test::Not(inner) => !holds(inner, filter, (name, born)),
        Test::HoldsAll(_) => false,
    }
}

/// The first field that tells two people apart decides.
fn order(sort: &[Sort], left: Person, right: Person) -> std::cmp::Ordering {
    sort.iter()
        .map(|sort| {
            let by = if sort.column == "name" { left.0.cmp(right.0) } else { left.1.cmp(&right.1) };
            if sort.direction == Direction::Descending { by.reverse() } else { by }
        })
        .find(|by| by.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}
