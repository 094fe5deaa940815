//! Proves that: a parameter is a value and never a part of the question; what has no value is left
//! out; a view that could not be asked stops the start and says why; hidden fields do not exist for
//! views either.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tables::{EXPORT_LINK_MINUTES, Result, Service, ServiceConfig};

use super::views::{View, ViewRequest};

const PEOPLE: &str = r#"
name = "people"
source = "people.csv"
[fields]
name = { type = "string" }
team = { type = "string" }
rank = { type = "stringLiteral", values = ["low", "high"], column = "team" }
size = { type = "number" }
born = { type = "timestamp" }
secret = { type = "string", hidden = true }
"#;

fn service() -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(
        folder.path().join("people.csv"),
        "name,team,size,born,secret\nAda,red,3,1990-01-02,x\nBob,blue,5,1991-03-04,y\n\
         Cyd,red,8,1992-05-06,z\n",
    )
    .unwrap();
    let service = Service::open(ServiceConfig {
        tables: vec![toml::from_str(PEOPLE).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: EXPORT_LINK_MINUTES,
    })
    .unwrap();
    (service, folder)
}

fn view(text: &str) -> Result<View> {
    let (service, _folder) = service();
    View::new(toml::from_str(text).unwrap(), &service)
}

const OF_TEAM: &str = r#"
name = "of_team"
description = "People of a team, the tallest first"
table = "people"
[parameters.team]
type = "string"
description = "A team"
[parameters.least]
type = "number"
required = false
min = 0
[query]
columns = ["name", "size"]
sort = [{ id = "size", desc = true }]
[query.filters]
team = { eq = "{team}" }
size = { min = "{least}" }
"#;

fn names(view: &View, values: Value) -> Vec<String> {
    let (service, _folder) = service();
    let Value::Object(values) = values else { unreachable!("written as an object") };
    let ViewRequest::Query(request) = view.request(&values).unwrap() else {
        unreachable!("it asks for rows")
    };
    let deadline = model::Deadline::after(std::time::Duration::from_secs(60));
    let answer = service.query(&model::Caller::local_admin(), &request, &deadline).unwrap();
    answer.rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).collect()
}

#[test]
fn parameters_take_their_places_and_absent_ones_none() {
    let view = view(OF_TEAM).unwrap();
    assert_eq!(names(&view, json!({ "team": "red" })), ["Cyd", "Ada"]);
    assert_eq!(names(&view, json!({ "team": "red", "least": 5 })), ["Cyd"]);
    assert_eq!(
        view.input_schema(),
        json!({
            "type": "object",
            "properties": {
                "team": { "type": "string", "description": "A team" },
                "least": { "type": "number", "minimum": 0 }
            },
            "additionalProperties": false,
            "required": ["team"]
        })
    );
}

#[test]
fn a_wrong_value_names_its_parameter() {
    let view = view(OF_TEAM).unwrap();
    let refuse = |values: Value| view.request(values.as_object().unwrap()).unwrap_err().to_string();
    assert_eq!(refuse(json!({})), "the parameter `team` is required: give a string");
    assert_eq!(refuse(json!({ "team": 5 })), "`team` takes a string, received `5`");
    assert_eq!(
        refuse(json!({ "team": "red", "least": -1 })),
        "`least` is `-1`, it must be a number from 0"
    );
    assert_eq!(
        refuse(json!({ "team": "red", "taem": "blue" })),
        "unknown parameter `taem`: expected one of `team`, `least`; did you mean `team`?"
    );
}

#[track_caller]
fn refuses(from: &str, to: &str, expected: &str) {
    assert!(OF_TEAM.contains(from), "`{from}` is in the example");
    let error = view(&OF_TEAM.replace(from, to)).unwrap_err().to_string();
    assert!(error.starts_with("view `"), "{error}");
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_view_that_cannot_be_asked_stops_the_start() {
    refuses("\"size\", desc", "\"seize\", desc", "unknown sort field `seize`");
    refuses("team = { eq", "secret = { eq", "unknown filter `secret`");
    refuses("[\"name\", \"size\"]", "[\"secret\"]", "unknown column `secret`");
    refuses("\"{team}\"", "\"red\"", "nothing uses the parameter `team`");
    refuses("\"{least}\"", "\"{most}\"", "`{most}` is not one of its parameters");
    refuses("\"people\"", "\"poeple\"", "unknown table `poeple`");
    refuses("name = \"of_team\"", "name = \"of team\"", "letters, digits");
    refuses(
        "type = \"number\"\nrequired",
        "type = \"number\"\ndefault = \"x\"\nrequired",
        "is a number",
    );
    refuses("[query]", "[aggregate]\nmeasures = [\"count\"]\n[query]", "either `query` or");
}

#[test]
fn a_parameter_of_a_closed_list_need_not_repeat_it() {
    let of_rank = r#"
name = "of_rank"
description = "People of a rank and of teams"
table = "people"
[parameters.rank]
type = "string"
required = false
[parameters.ranks]
type = "strings"
[parameters.name]
type = "string"
[query]
filters = { any = [{ rank = "{rank}", name = "{name}" }, { rank = { in = "{ranks}" } }] }
"#;
    assert_eq!(view(of_rank).unwrap().parameters().len(), 3);
    let bad = of_rank
        .replace("rank = \"{rank}\"", "rank = \"best\"")
        .replace("[parameters.rank]\ntype = \"string\"\nrequired = false\n", "");
    let refused = self::view(&bad).unwrap_err().to_string();
    assert!(refused.contains("does not take `best`"), "{refused}");
}

#[test]
fn groups_are_asked_too() {
    let view = view(
        r#"
name = "sizes"
description = "Mean size by team"
table = "people"
[parameters.teams]
type = "strings"
default = ["red", "blue"]
[aggregate]
group_by = ["team"]
measures = [{ op = "avg", field = "size", as = "mean" }]
[aggregate.filters]
team = { in = ["{teams}"] }
"#,
    )
    .unwrap();
    let (service, _folder) = service();
    let deadline = model::Deadline::after(std::time::Duration::from_secs(60));
    let ask = |values: Value| {
        let ViewRequest::Aggregate(request) = view.request(values.as_object().unwrap()).unwrap()
        else {
            unreachable!("it asks for groups")
        };
        let groups = service.aggregate(&model::Caller::local_admin(), &request, &deadline);
        let rows = groups.unwrap().rows;
        rows.iter()
            .map(|row| row.iter().map(tables::Value::to_json).collect())
            .collect::<Vec<Vec<_>>>()
    };
    assert_eq!(ask(json!({})), [vec![json!("blue"), json!(5)], vec![json!("red"), json!(5.5)]]);
    assert_eq!(ask(json!({ "teams": ["red"] })), [vec![json!("red"), json!(5.5)]]);
}

proptest! {
    /// Whatever a caller gives is the value of the filter, letter for letter: it cannot add a
    /// filter, name another field or be read as a parameter.
    #[test]
    fn a_text_is_always_only_a_value(text in "[ -~]{0,40}|\\{team\\}|\\{least\\}|\\PC{0,20}") {
        static VIEW: LazyLock<View> = LazyLock::new(|| view(OF_TEAM).unwrap());
        let values = Map::from_iter([("team".to_owned(), Value::from(text.as_str()))]);
        let ViewRequest::Query(request) = VIEW.request(&values).unwrap() else {
            unreachable!("it asks for rows")
        };
        prop_assert_eq!(json!(request.filters), json!({ "team": { "eq": text }, "size": {} }));
    }
}
