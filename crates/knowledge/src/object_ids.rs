//! Ids of the objects of this family: one kind can never be passed where another is asked for.

ingest::object_id! {
    /// A collection of documents of a knowledge base.
    CollectionId
}

ingest::object_id! {
    /// A knowledge base, which collections belong to.
    KnowledgeBaseId
}
