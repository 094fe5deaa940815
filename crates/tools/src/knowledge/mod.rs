//! Tools of the knowledge family.

mod answer;

mod get_knowledge_base_summary;
mod list_knowledge_bases;
mod metadata_filters;
mod normalize_ocr_text;
mod search_documents;

pub use answer::{error, resolved};
pub use get_knowledge_base_summary::GetKnowledgeBaseSummary;
pub use list_knowledge_bases::ListKnowledgeBases;
pub use normalize_ocr_text::NormalizeOcrText;
pub use search_documents::{SearchDocuments, chunk_json};

#[cfg(test)]
mod tests;
