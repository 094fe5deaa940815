//! What REST takes, as types: bodies are read into them, and the OpenAPI document is made from
//! them. Values are checked by the families.

use contexts::{EndpointChange, NewEndpoint, NewProject, NewTool, ProjectChange, ToolChange};
use knowledge::{BaseChange, CollectionChange, DocumentChange, NewBase, NewCollection};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http::{Parameters, Takes};

/// Declares a body as the type of a family, with the schema of its fields.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident as $schema:literal = $inner:ty { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Deserialize)]
            #[serde(transparent)]
            pub(super) struct $name(pub(super) $inner);

            impl JsonSchema for $name {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    $schema.into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    #[derive(JsonSchema)]
                    #[schemars(deny_unknown_fields)]
                    #[expect(dead_code, reason = "names the fields of the family's type")]
                    struct Fields { $($(#[$field_doc])* $field: $kind,)* }
                    Fields::json_schema(generator)
                }
            }
        )*
    };
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "names values of the family's type")]
enum VisibilityName {
    Private,
    Public,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "names values of the family's type")]
enum ClearanceName {
    Public,
    Internal,
    Confidential,
    Secret,
    TopSecret,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "names values of the family's type")]
enum ToolKindName {
    Search,
    Get,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "names values of the family's type")]
enum ShortStringsName {
    Auto,
    Together,
    Ignore,
}

#[derive(JsonSchema)]
#[schemars(rename = "Sharing", deny_unknown_fields)]
#[expect(dead_code, reason = "names the fields of the family's type")]
struct SharingFields {
    users: Option<Vec<String>>,
    groups: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "names values of the family's type")]
enum RoleName {
    Reader,
    Editor,
}

#[derive(JsonSchema)]
#[schemars(rename = "Member", deny_unknown_fields)]
#[expect(dead_code, reason = "names the fields of the family's type")]
struct MemberFields {
    subject: String,
    #[serde(default)]
    #[schemars(default = "reader")]
    role: Option<RoleName>,
}

fn reader() -> &'static str {
    "reader"
}

bodies! {
    /// A knowledge base that is asked for.
    NewBaseBody as "NewKnowledgeBase" = NewBase {
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        description: String,
        #[serde(default = "private")]
        #[schemars(with = "VisibilityName")]
        visibility: &'static str,
        shared_with: Option<SharingFields>,
    }
    /// What changes about a knowledge base.
    BaseChangeBody as "KnowledgeBaseChange" = BaseChange {
        #[schemars(length(min = 1))]
        name: Option<String>,
        description: Option<String>,
        visibility: Option<VisibilityName>,
        shared_with: Option<SharingFields>,
    }
    /// What changes about a document.
    DocumentChangeBody as "DocumentChange" = DocumentChange {
        title: Option<String>,
        metadata: Option<Map<String, Value>>,
        tags: Option<Vec<String>>,
    }
    /// A collection that is asked for.
    NewCollectionBody as "NewCollection" = NewCollection {
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        description: String,
        department: Option<String>,
        #[serde(default = "internal")]
        #[schemars(with = "ClearanceName")]
        clearance: &'static str,
        shared_with: Option<SharingFields>,
    }
    /// What changes about a collection.
    CollectionChangeBody as "CollectionChange" = CollectionChange {
        #[schemars(length(min = 1))]
        name: Option<String>,
        description: Option<String>,
        department: Option<String>,
        clearance: Option<ClearanceName>,
        shared_with: Option<SharingFields>,
    }
    /// A project that is asked for.
    NewProjectBody as "NewProject" = NewProject {
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        #[schemars(with = "Vec<MemberFields>")]
        members: Vec<Value>,
    }
    /// What changes about a project.
    ProjectChangeBody as "ProjectChange" = ProjectChange {
        #[schemars(length(min = 1))]
        name: Option<String>,
        members: Option<Vec<MemberFields>>,
    }
    /// A tool that is asked for.
    NewToolBody as "NewTool" = NewTool {
        #[serde(default = "search")]
        #[schemars(with = "ToolKindName")]
        r#type: &'static str,
        table_id: String,
        /// RFC 6901 pointer of the part it works on; empty for the whole document
        #[serde(default)]
        json_path: String,
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        description: String,
        #[schemars(range(min = 1))]
        chunk_threshold_chars: Option<usize>,
        short_strings: Option<ShortStringsName>,
    }
    /// What changes about a tool.
    ToolChangeBody as "ToolChange" = ToolChange {
        #[schemars(length(min = 1))]
        name: Option<String>,
        description: Option<String>,
        json_path: Option<String>,
        #[schemars(range(min = 1))]
        chunk_threshold_chars: Option<usize>,
        short_strings: Option<ShortStringsName>,
    }
    /// An endpoint that is asked for.
    NewEndpointBody as "NewEndpoint" = NewEndpoint {
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        tool_ids: Vec<String>,
        project_id: Option<String>,
    }
    /// What changes about an endpoint.
    EndpointChangeBody as "EndpointChange" = EndpointChange {
        #[schemars(length(min = 1))]
        name: Option<String>,
        tool_ids: Option<Vec<String>>,
    }
}

fn private() -> &'static str {
    "private"
}

fn internal() -> &'static str {
    "internal"
}

fn search() -> &'static str {
    "search"
}

/// One text of an upload, or several as `documents`.
#[derive(JsonSchema)]
#[schemars(rename = "Upload", deny_unknown_fields)]
#[expect(dead_code, reason = "an upload is read as it arrives")]
pub(super) struct UploadBody {
    title: Option<String>,
    text: Option<String>,
    metadata: Option<Map<String, Value>>,
    tags: Option<Vec<String>>,
    normalize_ocr: Option<bool>,
    #[schemars(length(max = 1000))]
    documents: Option<Vec<UploadedText>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "an upload is read as it arrives")]
struct UploadedText {
    title: Option<String>,
    text: String,
    metadata: Option<Map<String, Value>>,
    tags: Option<Vec<String>>,
    normalize_ocr: Option<bool>,
}

/// Files of a form.
#[derive(JsonSchema)]
#[schemars(rename = "FileUpload")]
#[expect(dead_code, reason = "a form is read as it arrives")]
pub(super) struct FileUploadBody {
    #[schemars(extend("format" = "binary"))]
    file: String,
    title: Option<String>,
    /// JSON
    metadata: Option<String>,
    /// separated by commas
    tags: Option<String>,
    normalize_ocr: Option<String>,
}

/// A document with the name of its table, or the document itself with `?name=`.
#[derive(JsonSchema)]
#[schemars(rename = "TableDocument", untagged)]
#[expect(dead_code, reason = "a document is read as it arrives")]
pub(super) enum TableBody {
    Named(NewTableBody),
    Document(Value),
}

/// A document with the name of its table.
#[derive(JsonSchema)]
#[schemars(rename = "NewTable", deny_unknown_fields)]
#[expect(dead_code, reason = "a document is read as it arrives")]
pub(super) struct NewTableBody {
    #[schemars(length(min = 1))]
    name: String,
    /// any JSON
    data: Value,
}

/// Another name.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Rename")]
#[serde(deny_unknown_fields)]
pub(super) struct RenameBody {
    #[schemars(length(min = 1))]
    pub(super) name: String,
}

/// A question to a knowledge base.
#[derive(JsonSchema)]
#[schemars(rename = "Search", deny_unknown_fields)]
#[expect(dead_code, reason = "read as the arguments of `search_documents`")]
pub(super) struct SearchBody {
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
    #[schemars(range(min = 1, max = 50))]
    max_results: Option<usize>,
    filters: Option<Map<String, Value>>,
    explain: Option<bool>,
    cursor: Option<String>,
}

/// A question to a tool.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ToolSearch")]
#[serde(deny_unknown_fields)]
pub(super) struct ToolSearchBody {
    #[schemars(length(min = 1, max = 2000))]
    pub(super) query: String,
    #[schemars(range(min = 1, max = 20))]
    pub(super) top_k: Option<usize>,
    /// `next` of the answer before
    pub(super) cursor: Option<String>,
}

/// Which node of a document.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeParameters {
    /// RFC 6901 pointer; empty for the whole document
    #[serde(default)]
    pub(super) pointer: String,
    /// characters of a string, or members of a list or object, to pass over; `next` of the piece before
    #[serde(default)]
    pub(super) offset: usize,
    pub(super) max_chars: Option<usize>,
    /// `members` gives the beginning of each member of a list or object, and in `members` how much it holds
    #[serde(default)]
    pub(super) view: String,
}

impl Parameters for NodeParameters {
    const TAKEN: &'static [(&'static str, Takes)] = &[
        ("pointer", Takes::Text),
        ("offset", Takes::Number { from: 0, most: None }),
        ("max_chars", Takes::Number { from: 0, most: None }),
        ("view", Takes::Text),
    ];
}

/// The name of a table whose document is the body itself.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the upload")]
pub(super) struct NameParameter {
    /// the table's name, where the body is the document itself
    name: Option<String>,
}

/// Which points of a chart.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PointParameters {
    /// `next` of the answer before
    pub(super) after: Option<String>,
}

impl Parameters for PointParameters {
    const TAKEN: &'static [(&'static str, Takes)] = &[("after", Takes::Text)];
}

/// A question to a chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "Chat")]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct ChatBody {
    /// a question, or a text to repair
    #[schemars(length(min = 1, max = 10000))]
    pub(in crate::api) query: String,
    /// one base, by id or by a name that only one has; all that you may read when absent
    #[serde(default)]
    pub(in crate::api) knowledge_base_id: Option<String>,
    /// `search_documents`, `get_knowledge_base_summary` or `normalize_ocr_text`
    #[serde(default)]
    pub(in crate::api) force_tool: Option<String>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(in crate::api) threshold: Option<f64>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub(in crate::api) max_results: Option<usize>,
}
