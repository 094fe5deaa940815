//! A question in natural language as filters and a query string.
//!
//! Without a language model the filters are read by rules and the words are joined; with one,
//! the model may write the query, and its filters are checked as ours are.

use infer::{Llm, Message};
use model::{Clock, Deadline};
use serde::Serialize;
use text::{Analyzer, LanguageSet, query_filters};

use crate::walk::normal_ext;
use crate::{Error, Result};

/// Words after which a question is no longer rewritten by the rules.
const MAX_WORDS: usize = 32;

/// Tokens that the model may write.
const MAX_TOKENS: u32 = 200;

/// Filters that were read out of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RewrittenFilters {
    /// Extensions with their point.
    pub exts: Vec<String>,
    /// Years.
    pub years: Vec<String>,
}

/// A question, rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The query string.
    pub fts: String,
    /// The filters.
    pub filters: RewrittenFilters,
    /// What was done.
    pub notes: String,
    /// What did it: `rules`, or the model's name.
    pub engine: String,
}

/// Rewrites a question.
pub(crate) fn rewrite(
    llm: Option<&dyn Llm>,
    clock: &Clock,
    query: &str,
    deadline: &Deadline,
) -> Result<Rewritten> {
    let said = query_filters(query, clock);
    let filters = RewrittenFilters {
        exts: said.extensions.iter().map(|ext| normal_ext(ext)).collect(),
        years: said.years.iter().map(i32::to_string).collect(),
    };
    let by_rules = fts(&said.text, &filters.years);
    let Some(llm) = llm else {
        return Ok(Rewritten {
            notes: "read by rules: words joined, extensions and years taken as filters".to_owned(),
            fts: by_rules,
            filters,
            engine: "rules".to_owned(),
        });
    };
    let prompt = format!(
        "Rewrite the question between the marks as a short full-text query: important words \
         only, phrases in double quotes, AND and OR. Answer with the query alone.\n\
         <question>\n{}\n</question>",
        query.replace('<', "‹").replace('>', "›")
    );
    let completion = llm
        .complete(&[Message::user(prompt)], MAX_TOKENS, &deadline.for_upstream())
        .map_err(Error::Llm)?;
    let line = completion.text.lines().map(str::trim).find(|line| !line.is_empty());
    Ok(Rewritten {
        fts: line.map_or(by_rules, str::to_owned),
        filters,
        notes: "query by the language model, filters by rules".to_owned(),
        engine: llm.name().to_owned(),
    })
}

fn fts(text: &str, years: &[String]) -> String {
    let words = Analyzer::new().analyze_query(text, LanguageSet::all());
    let mut parts: Vec<String> = words
        .iter()
        .filter(|word| word.kind.is_sequential())
        .take(MAX_WORDS)
        .map(|word| word.exact.clone())
        .collect();
    parts.dedup();
    let mut fts = parts.join(" AND ");
    if !years.is_empty() {
        let years = format!("({})", years.join(" OR "));
        fts = if fts.is_empty() { years } else { format!("{fts} AND {years}") };
    }
    fts
}
