//! What a question over a wide table costs an agent, from knowing nothing of it to the answer.

use std::time::Duration;

use model::{Caller, Deadline};
use serde_json::{Value, json};
use testkit::Folder;
use text::Budget;
use tools::tables::{AggregateTable, DescribeSchema};
use tools::{Call, Tool};

/// The most tokens of the question "flights of UA from JFK by month", with what an agent reads
/// and writes before it: the description of the table, the call, the answer.
const MOST_TOKENS: usize = 800;

/// A year of flights with nineteen columns, as airports publish them.
fn flights(folder: &Folder) -> tables::Service {
    let carriers = "9E AA AS B6 DL EV F9 FL HA MQ OO UA US VX WN YV";
    let carriers: Vec<&str> = carriers.split(' ').collect();
    let mut csv = "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,\
                   arr_delay,carrier,flight,tailnum,origin,dest,air_time,distance,hour,minute,\
                   time_hour\n"
        .to_owned();
    for n in 0..20_000_usize {
        let (month, day, hour) = (1 + n % 12, 1 + n % 28, 1 + n % 23);
        let carrier = carriers[(n / 12) % carriers.len()];
        let origin = ["EWR", "JFK", "LGA"][(n / 192) % 3];
        let (one, two) = (char::from(b'A' + (n % 26) as u8), char::from(b'A' + (n % 4) as u8));
        csv.push_str(&format!(
            "2013,{month},{day},{},{},{},{},{},{},{carrier},{},N{}{one}{two},{origin},{one}{two}X,\
             {},{},{hour},{},2013-{month:02}-{day:02}T{hour:02}:00:00Z\n",
            1 + n % 2400,
            106 + n % 2254,
            n as i64 % 1344 - 43,
            1 + n % 2400,
            1 + n % 2359,
            n as i64 % 1358 - 86,
            1 + n % 8500,
            100 + n % 900,
            20 + n % 676,
            17 + n % 4967,
            n % 60,
        ));
    }
    let path = folder.write("flights.csv", csv);
    let (config, _) = tables::infer_config(&path).unwrap();
    tables::Service::open(tables::ServiceConfig {
        tables: vec![config],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap()
}

fn ask(tool: &dyn Tool, arguments: &Value) -> Value {
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let accepted = tools::accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
    let call = Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &Deadline::after(Duration::from_secs(60)),
        budget: Budget { chars: 100_000, tokens: 25_000 },
        progress: &|_| {},
    };
    tool.call(&call).unwrap().value
}

#[test]
fn a_question_by_month_costs_few_tokens_with_all_that_leads_to_it() {
    let folder = Folder::new();
    let service = flights(&folder);
    let described = ask(&DescribeSchema::brief(service.clone()), &json!({}));
    let question = json!({
        "filters": { "carrier": ["UA"], "origin": ["JFK"] },
        "group_by": [{ "field": "time_hour", "bucket": "month" }],
        "time_zone": "America/New_York",
    });
    let answer = ask(&AggregateTable::new(service), &question);
    assert_eq!(answer["time_zone"], "America/New_York");
    assert!(answer["rows"].as_array().unwrap().len() >= 12, "{answer}");
    let vocabulary = tiktoken_rs::o200k_base_singleton();
    let tokens: Vec<usize> = [json!({}), described, question, answer]
        .iter()
        .map(|text| vocabulary.encode_ordinary(&text.to_string()).len())
        .collect();
    assert!(tokens.iter().sum::<usize>() <= MOST_TOKENS, "{tokens:?}");
}
