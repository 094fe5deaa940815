//! `fetch`: the whole text of something that `search` found.

use std::sync::Arc;

use across::{Error, Fetched, Part, Service, Stretch};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::search::url;
use crate::read_on::{self, From, ReadOn};
use crate::{Answer, Call, Code, Spec, Tool, ToolError, Walk};

/// The longest text of one answer, in characters.
const MAX_TEXT_CHARS: usize = 60_000;

/// How often less is read when an answer is over its budget.
const MAX_ROUNDS: usize = 8;

/// The tool.
pub struct Fetch {
    service: Service,
    link_base: String,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = 8_192))]
    id: String,
    /// where to read on: `next` or `prev` of the answer before
    #[schemars(with = "Option<usize>", extend("type" = ["integer", "string"]))]
    offset: Option<ReadOn>,
}

impl Fetch {
    /// Fetches from a service; links in answers begin with `link_base`.
    pub fn new(service: Service, link_base: String) -> Self {
        let spec = Spec::read_only(
            "fetch",
            "Fetch",
            "Get the whole text of a result of search, by its id. A long text is shown around the \
             hit: pass `next` or `prev` as `offset` for the rest.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "title": { "type": "string" },
                "text": { "type": "string" },
                "url": { "type": "string" },
                "metadata": { "type": "object" },
                "truncated": { "type": "boolean" },
                "next": { "type": "string" },
                "prev": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["id", "title", "text", "url"],
        }))
        .with_source_text(&["/text", "/title", "/metadata/details/**"]);
        Fetch { service, link_base, spec: Arc::new(spec) }
    }
}

/// Writes an error of the family with the codes that every family has.
pub fn error(error: Error) -> ToolError {
    let message = error.to_string();
    match error {
        Error::NotFound { id } => ToolError::new(Code::NotFound, message)
            .with_detail("argument", "id")
            .with_detail("received", id)
            .with_hint("call `search` and pass one of its ids"),
        Error::Failed { cause, .. } => {
            // The sentence of the family itself, where it has one for a store that is away.
            let sentence = cause.to_string();
            tracing::error!(cause = model::with_causes(&*cause), "a source failed");
            ToolError::new(Code::Unavailable, sentence)
                .with_detail("retry_after_seconds", crate::STORE_RETRY_SECONDS)
                .with_hint("try again later")
        }
    }
}

/// How often a shorter step back is tried until the page there reaches up to this one.
const MAX_STEPS: usize = 6;

/// A page of a text, as it is answered.
struct Page {
    value: Value,
    fetched: Fetched,
}

impl Fetch {
    fn written(&self, id: &str, source: &str, fetched: &Fetched) -> Value {
        let mut metadata = fetched.metadata.as_object().cloned().unwrap_or_default();
        metadata.insert("source".to_owned(), json!(source));
        let mut value = json!({
            "id": id,
            "title": fetched.title,
            "text": fetched.text,
            "url": url(&self.link_base, id),
            "metadata": metadata,
        });
        if let Some(Stretch { start, end, total }) = fetched.span
            && (start > 0 || end < total)
        {
            value["truncated"] = json!(true);
            if end < total {
                value["next"] = json!(read_on::next(&walk_of(id), end));
            }
            if start == end {
                let unit = if source == "tables" { "row" } else { "character" };
                value["warnings"] = json!([format!(
                    "nothing is there: it ends at {unit} {total}; give a smaller `offset`, or \
                     leave it out to begin again"
                )]);
            }
            if start > 0 {
                // As long as the place that it is going to be.
                value["prev"] = json!(read_on::prev(&walk_of(id), start, start));
            }
        }
        value
    }

    /// Reads as much from a place as an answer holds.
    fn page(&self, call: &Call<'_>, id: &str, from: Option<From>) -> Result<Page, ToolError> {
        let most = MAX_TEXT_CHARS.min(call.budget.chars);
        let mut part = Part { offset: from.map(|from| from.start), max_chars: most };
        let end = from.and_then(|from| from.end);
        let mut n_rounds = 0;
        loop {
            let (source, fetched) = self.service.fetch(call.caller, id, &part).map_err(error)?;
            let value = self.written(id, source, &fetched);
            n_rounds += 1;
            // What is asked for up to a place is not shown behind it, where it is counted in characters.
            if let (Some(end), Some(span)) = (end, fetched.span)
                && source != "tables"
                && span.end > end
                && n_rounds < MAX_ROUNDS
            {
                part.max_chars = end.saturating_sub(span.start).max(1);
                continue;
            }
            match call.budget.allowed_chars(&value.to_string()) {
                // The text is what makes it long: less of it is read, from the same place.
                Some(allowed) if n_rounds < MAX_ROUNDS && part.max_chars > 1 => {
                    let n_chars = fetched.text.chars().count();
                    part.max_chars = (allowed * 3 / 4).min(n_chars * 3 / 4).max(1);
                }
                _ => return Ok(Page { value, fetched }),
            }
        }
    }

    /// Gives the place of the page before: one whose page reaches up to this one. How much a page
    /// holds depends on how many tokens its text has, so that only reading it tells.
    fn place_before(&self, call: &Call<'_>, id: &str, page: &Stretch) -> Result<usize, ToolError> {
        let Stretch { start, end, total } = *page;
        // The last part of a text may be short: the one before it is not for that.
        let least = if end == total { MAX_TEXT_CHARS / 2 } else { 1 };
        let mut n_back = (end - start).max(least).min(start);
        for _ in 0..MAX_STEPS {
            let before =
                self.page(call, id, Some(From { start: start - n_back, end: None }))?.fetched.span;
            let Some(before) = before.filter(|before| before.end < start) else {
                return Ok(start - n_back);
            };
            let n_held = before.end.saturating_sub(before.start);
            n_back = (n_held * 15 / 16).min(n_back - 1).max(1);
        }
        // Every page holds one at least.
        Ok(start - 1)
    }
}

/// Gives the walk through the text of an id.
fn walk_of(id: &str) -> Walk {
    Walk::of("fetch", &json!([id]))
}

/// Takes an id, or the `url` that `search` gave with it.
fn id_in(given: &str) -> &str {
    let given = given.trim();
    match given.rsplit_once("/open/") {
        Some((_, id)) => id.split(['?', '#', '/']).next().unwrap_or(id),
        None => given,
    }
}

impl Tool for Fetch {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { id, offset } = call.parse()?;
        let id = id_in(&id).to_owned();
        let walk = walk_of(&id);
        let from = offset.map(|offset| offset.place(&walk)).transpose()?;
        let Page { mut value, fetched } = self.page(call, &id, from)?;
        if let Some(page) = fetched.span.as_ref().filter(|page| page.start > 0) {
            value["prev"] =
                json!(read_on::prev(&walk, self.place_before(call, &id, page)?, page.start));
        }
        Ok(Answer::new(value).with_around(fetched.around.at("/text")))
    }
}

#[cfg(test)]
mod tests {
    use super::id_in;

    #[test]
    fn the_address_of_a_result_is_its_id() {
        for given in ["fAbc-1", " fAbc-1 ", "https://x.org/open/fAbc-1", "/open/fAbc-1?at=2#hit"] {
            assert_eq!(id_in(given), "fAbc-1", "{given}");
        }
    }
}
