//! Ids of the objects of this family: one kind can never be passed where another is asked for.

ingest::object_id! {
    /// An MCP address with keys of its own.
    EndpointId
}

ingest::object_id! {
    /// A project, which tables, tools and endpoints belong to.
    ProjectId
}

ingest::object_id! {
    /// A table of a project: one JSON document.
    TableId
}

ingest::object_id! {
    /// A tool over a part of a table.
    ToolId
}
