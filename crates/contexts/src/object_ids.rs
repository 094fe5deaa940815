//! Ids of the objects of this family: a type for each kind, so that signatures say which one is meant.

model::object_id! {
    /// An MCP address with keys of its own.
    EndpointId
}

model::object_id! {
    /// One version of a table's JSON document.
    JsonDocumentId
}

model::object_id! {
    /// A key of an endpoint; it names the key and opens nothing.
    KeyId
}

model::object_id! {
    /// A project, which tables, tools and endpoints belong to.
    ProjectId
}

model::object_id! {
    /// A table of a project: one JSON document.
    TableId
}

model::object_id! {
    /// A tool over a part of a table.
    ToolId
}
