//! What says nothing is refused by every tool that searches, with a sentence of its own.

use model::Caller;
use serde_json::{Value, json};

use super::Fixture;
use super::fixture::soon;
use crate::everywhere::Search;
use crate::files::{RewriteQuery, SearchFiles, SummarizeResults};
use crate::knowledge::SearchDocuments;
use crate::{Call, Code, Tool, accept};

#[track_caller]
fn check_refused(tool: &dyn Tool, arguments: &Value) {
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let refused = match accept(&spec, arguments.as_object().unwrap().clone()) {
        Err(refused) => refused,
        Ok(accepted) => {
            let budget = text::Budget { chars: 100_000, tokens: 25_000 };
            let (arguments, deadline) = (&accepted.arguments, &soon());
            let call = Call { caller: &caller, arguments, deadline, budget, progress: &|_| {} };
            match tool.call(&call) {
                Err(refused) => refused,
                Ok(answer) => panic!("`{}` took {arguments:?}: {}", spec.name, answer.value),
            }
        }
    };
    assert_eq!(refused.code, Code::BadRequest, "`{}`: {refused}", spec.name);
}

/// A query of blanks was searched for once, and found nothing without a word.
#[test]
fn blank_queries_are_no_queries() {
    let fixture = Fixture::new();
    fixture.base_of(&Caller::local_admin());
    let links = "http://127.0.0.1:7700".to_owned();
    for blank in ["", " ", "\n\t  ", "\u{3000}", "\u{a0}", "\u{200b}", "\u{feff}\u{2060}"] {
        let query = json!({ "query": blank });
        check_refused(&Search::new(fixture.across.clone(), links.clone()), &query);
        check_refused(&SearchFiles::new(fixture.files.clone()), &query);
        check_refused(&RewriteQuery::new(fixture.files.clone()), &query);
        check_refused(&SearchDocuments::new(fixture.knowledge.clone()), &query);
        let results = json!([{ "path": "/a", "snippet": "b" }]);
        let summary = json!({ "query": blank, "results": results });
        check_refused(&SummarizeResults::new(fixture.files.clone()), &summary);
    }
}

/// Extensions that no file can have were searched for once, and found nothing without a word.
#[test]
fn extensions_are_extensions() {
    let fixture = Fixture::new();
    let tool = SearchFiles::new(fixture.files.clone());
    for exts in [json!(["nonsense!!"]), json!([".", "pdf"])] {
        check_refused(&tool, &json!({ "query": "x", "exts": exts }));
    }
    // A list of nothing is no list: it was refused, though an empty text in its place was not.
    let spec = tool.spec(&Caller::local_admin()).unwrap();
    for exts in [json!([""]), json!(["  ", null]), json!(["\u{200b}"])] {
        let arguments = json!({ "query": "x", "exts": exts });
        let taken = accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
        assert_eq!(taken.arguments.get("exts"), None, "{exts}");
    }
}

/// Two digits passed as a year once, and no file has that year.
#[test]
fn years_have_four_digits() {
    let fixture = Fixture::new();
    for years in [
        json!(["21"]),
        json!("21"),
        json!([21]),
        json!(["20211"]),
        json!(["MMXXI"]),
        json!(["0000"]),
        json!(["3021"]),
    ] {
        let tool = SearchFiles::new(fixture.files.clone());
        check_refused(&tool, &json!({ "query": "x", "years": years }));
    }
}
