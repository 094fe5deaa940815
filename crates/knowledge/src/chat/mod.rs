//! Which tool answers a question, and an answer in words from what was found.

mod answer;
mod by_model;
mod rules;

#[cfg(test)]
mod questions;

use model::{Deadline, Warning};

pub use rules::{choose_by_rules, ocr_payload};

use crate::Service;

/// The tools that a question can be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolName {
    /// Specific information in documents.
    SearchDocuments,
    /// What the knowledge base is about and how much is in it.
    GetKnowledgeBaseSummary,
    /// Repair of OCR text.
    NormalizeOcrText,
}

impl ToolName {
    /// Every tool.
    pub const ALL: [ToolName; 3] =
        [ToolName::SearchDocuments, ToolName::GetKnowledgeBaseSummary, ToolName::NormalizeOcrText];

    /// Gives the name under which it is called.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolName::SearchDocuments => "search_documents",
            ToolName::GetKnowledgeBaseSummary => "get_knowledge_base_summary",
            ToolName::NormalizeOcrText => "normalize_ocr_text",
        }
    }

    /// Finds a tool by the name under which it is called.
    pub fn of(name: &str) -> Option<Self> {
        ToolName::ALL.into_iter().find(|tool| tool.as_str() == name)
    }
}

/// A tool that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The tool.
    pub tool: ToolName,
    /// What chose it: `forced`, `rules`, or the model's name.
    pub by: String,
    /// Why the model did not choose, where it should have.
    pub warnings: Vec<Warning>,
}

impl Service {
    /// Chooses the tool for a question: the forced one, or by the language model where one is
    /// configured, or by rules.
    pub fn choose_tool(
        &self,
        query: &str,
        forced: Option<ToolName>,
        deadline: &Deadline,
    ) -> Choice {
        if let Some(tool) = forced {
            return Choice { tool, by: "forced".to_owned(), warnings: vec![] };
        }
        let mut warnings = vec![];
        if let Some(llm) = self.0.llm.as_deref() {
            match by_model::choose(llm, query, deadline) {
                Ok(tool) => return Choice { tool, by: llm.name().to_owned(), warnings },
                Err(problem) => warnings.push(Warning::new(
                    "llm_choice_skipped",
                    format!("the tool was chosen by rules: {problem}"),
                )),
            }
        }
        Choice { tool: choose_by_rules(query), by: "rules".to_owned(), warnings }
    }
}

/// Takes away what could close a mark around text that a model reads.
pub(crate) fn unforgeable(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›")
}
