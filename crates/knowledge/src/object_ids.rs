//! Ids of the objects of this family: one kind can never be passed where another is asked for.

model::object_id! {
    /// A collection of documents of a knowledge base.
    CollectionId
}

model::object_id! {
    /// A knowledge base, which collections belong to.
    KnowledgeBaseId
}

model::object_id! {
    /// A document of a collection. In the store it has another id, which names the collection too.
    KnowledgeDocumentId
}
