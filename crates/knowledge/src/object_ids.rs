//! Ids of the objects of this family: a type for each kind, so that signatures say which one is meant.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_text_in_json() {
        let id = KnowledgeDocumentId::new("7f2c");
        let written = serde_json::to_string(&id).unwrap();
        assert_eq!(written, "\"7f2c\"");
        assert_eq!(serde_json::from_str::<KnowledgeDocumentId>(&written).unwrap(), id);
    }
}
