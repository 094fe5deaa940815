//! `listFiles`: a folder of a root, entry by entry.

use std::sync::Arc;

use files::{FolderEntry, FolderRequest, MAX_LISTED, Service};
use model::{Caller, Timestamp, iso_seconds};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use crate::paging::{Filled, fill};
use crate::walk::{other_list, place_in};
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

/// Entries of a page when the caller does not say.
const DEFAULT_LIMIT: usize = 100;

/// The tool.
pub struct ListFiles {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// a root, or a folder inside one; may be left out when there is one root
    path: Option<String>,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// `next` of the page before
    cursor: Option<String>,
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}

impl ListFiles {
    /// Lists folders of a service.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "listFiles",
            "List files",
            "Browse a folder: names in order, folders with a / at their end, files with bytes and \
             date. To find something, use searchFiles.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "entries": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string" },
                            "bytes": { "type": "integer" },
                            "modified": { "type": "string" },
                        },
                        "required": ["name"],
                    },
                },
                "next": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } },
                "mcp_version": version_schema(),
            },
            "required": ["path", "entries", "mcp_version"],
        }));
        ListFiles { service, spec: Arc::new(spec) }
    }

    /// Gives the only root of a caller who names none.
    fn only_root(&self, caller: &Caller) -> Result<String, ToolError> {
        let roots = self.service.roots(caller);
        match roots.as_slice() {
            [only] => Ok(only.clone()),
            _ => {
                Err(ToolError::bad_request("path is required: expected a root or a folder in one")
                    .with_detail("argument", "path")
                    .with_detail("allowed", roots.iter().take(20).cloned().collect::<Vec<_>>())
                    .with_hint("call `listRoots` and pass one of its roots"))
            }
        }
    }
}

impl Tool for ListFiles {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { path, limit, cursor } = call.parse()?;
        let path = match path {
            Some(path) => path,
            None => self.only_root(call.caller)?,
        };
        let after = cursor.as_deref().map(place_in).transpose()?;
        let (after, mark) = after.map(|(after, mark)| (after.to_owned(), mark)).unzip();
        let request = FolderRequest { path, after, limit };
        let page = self.service.list_folder(call.caller, &request).map_err(error_of("path"))?;
        // One folder may be written in several ways.
        let walk = Walk::of("listFiles", &json!(page.path));
        if let (Some(cursor), Some(mark)) = (&cursor, mark)
            && !walk.has_mark(mark)
        {
            return Err(other_list(cursor));
        }
        let entries: Vec<Value> = page.entries.iter().map(entry_json).collect();
        let answer = versioned(json!({ "path": page.path, "entries": [] }));
        let answer = answer.with_warnings(&page.warnings);
        let Filled { mut value, n_kept } = fill(answer.value, "entries", entries, &call.budget);
        if n_kept < page.entries.len() || page.has_more {
            // The cursor is the last name that was given, so entries may come and go.
            let last = page.entries[..n_kept].last();
            value["next"] = json!(last.map(|entry| walk.written(&entry.name)));
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}

fn entry_json(entry: &FolderEntry) -> Value {
    let mut value = json!({ "name": entry.name });
    if let Some(bytes) = entry.bytes {
        value["bytes"] = json!(bytes);
    }
    if let Some(modified) = entry.modified {
        value["modified"] = json!(iso_seconds(Timestamp(modified)));
    }
    value
}
