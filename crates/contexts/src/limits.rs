//! Every limit of the family, by name.

/// The longest name of a project, table or endpoint, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// The longest name of a tool, in characters: what MCP clients accept.
pub const MAX_TOOL_NAME_CHARS: usize = 64;
/// The longest description of a tool, in characters; every agent reads it on every turn.
pub const MAX_DESCRIPTION_CHARS: usize = 1_500;
/// Projects of one tenant.
pub const MAX_PROJECTS: usize = 10_000;
/// Members of one project.
pub const MAX_MEMBERS: usize = 1_000;
/// Tables of one project.
pub const MAX_TABLES: usize = 10_000;
/// Tools of one table.
pub const MAX_TOOLS: usize = 10_000;
/// Endpoints of one project.
pub const MAX_ENDPOINTS: usize = 10_000;
/// Tools that can be bound to one endpoint; an agent chooses badly among more.
pub const MAX_TOOLS_PER_ENDPOINT: usize = 128;
/// Keys of one endpoint that are valid at the same time.
pub const MAX_KEYS: usize = 10;
/// Uploads of documents that run at the same time.
pub const MAX_UPLOADS: usize = 8;

/// How deep containers of a document may nest.
pub const MAX_DEPTH: usize = 1_000_000;
/// The longest key of a document, in bytes.
pub const MAX_KEY_BYTES: usize = 1_048_576;
/// The longest number of a document, in bytes.
pub const MAX_NUMBER_BYTES: usize = 65_536;
/// Keys of all objects that are open at one place of a document.
pub const MAX_OPEN_KEYS: usize = 8_000_000;
/// The longest pointer of a string that is indexed, in bytes.
pub const MAX_POINTER_BYTES: usize = 16_384;
/// The longest `json_path` of a tool or a question, in bytes.
pub const MAX_PATH_BYTES: usize = 16_384;

/// A piece of a document as the catalogue keeps it, in bytes.
pub const PART_BYTES: usize = 262_144;
/// Pieces of a document written in one commit; they are in memory until then.
pub const PARTS_PER_COMMIT: usize = 8;
/// Places of a document that are in one row of the catalogue.
pub const MARKS_PER_ROW: usize = 2_048;
/// Places of one document where a walk can begin; each takes 24 bytes of memory while the
/// document arrives.
pub const MAX_MARKS: usize = 2_000_000;
/// Strings of one document that are indexed.
pub const MAX_INDEXED_NODES: usize = 2_000_000;
/// Rows looked at in one go.
pub const LIST_PAGE: usize = 500;
/// Problems of single strings that `last_error` names; the others are counted.
pub const MAX_NAMED_PROBLEMS: usize = 5;

/// The longest question, in characters.
pub const MAX_QUERY_CHARS: usize = 2_000;
/// Results of one search.
pub const MAX_TOP_K: usize = 20;
/// Results that one question ranks at most.
pub const MAX_RANKED: usize = 1_000;
/// Results of a search that does not say how many.
pub const DEFAULT_TOP_K: usize = 5;
/// Tables that one question over everything looks at.
pub const MAX_TABLES_AT_ONCE: usize = 100;
/// The longest text of a node that is given at once, in characters.
pub const MAX_NODE_CHARS: usize = 50_000;
/// The text of a node that is given when nobody says how much, in characters.
pub const DEFAULT_NODE_CHARS: usize = 10_000;
