//! Which tool answers a question, and an answer in words from what was found.

mod answer;
mod by_model;
mod rules;

#[cfg(test)]
mod questions;

use infer::TokensUsed;
use model::{Deadline, Warning};

use by_model::Chosen;
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

/// What a language model gave a tool, as far as the tool takes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChosenArguments {
    /// Better words for a search.
    pub query: Option<String>,
    /// The least score of a result, 0 to 1.
    pub threshold: Option<f64>,
    /// How many results.
    pub max_results: Option<u64>,
    /// The name of the base that the question is about.
    pub knowledge_base: Option<String>,
    /// Conditions on the metadata of documents: a JSON object as the model wrote it, which the tool
    /// reads as it reads that of any caller.
    pub filters: Option<String>,
    /// Text to repair.
    pub text: Option<String>,
}

/// A tool that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Which one, to be called with `arguments`.
    pub tool: ToolName,
    /// What chose it: `forced`, `rules`, or the model's name.
    pub by: String,
    /// What the model gave the tool; nothing where no model chose.
    pub arguments: ChosenArguments,
    /// What the choice cost.
    pub tokens_used: TokensUsed,
    /// Why the model did not choose, where it should have, and what of its choice was left out.
    pub warnings: Vec<Warning>,
}

impl Choice {
    fn plain(tool: ToolName, by: &str) -> Self {
        Choice {
            tool,
            by: by.to_owned(),
            arguments: ChosenArguments::default(),
            tokens_used: TokensUsed::default(),
            warnings: vec![],
        }
    }
}

impl Service {
    /// Chooses the tool for a question: the forced one, or by the language model where one is
    /// configured, or by rules. The model may choose one of the named bases too.
    pub fn choose_tool(
        &self,
        query: &str,
        bases: &[&str],
        forced: Option<ToolName>,
        deadline: &Deadline,
    ) -> Choice {
        if let Some(tool) = forced {
            return Choice::plain(tool, "forced");
        }
        let Some(llm) = self.0.llm.as_deref() else {
            return Choice::plain(choose_by_rules(query), "rules");
        };
        let (chosen, tokens_used) = by_model::choose(llm, query, bases, deadline);
        match chosen {
            Ok(Chosen { tool, arguments, dropped }) => {
                let by = llm.name().to_owned();
                let warnings = (!dropped.is_empty()).then(|| {
                    let names: Vec<String> =
                        dropped.iter().map(|name| format!("`{name}`")).collect();
                    let message = format!(
                        "the language model gave `{}` arguments that it does not take here, or not \
                         with these values; they were left out: {}",
                        tool.as_str(),
                        names.join(", ")
                    );
                    Warning::new("llm_arguments_dropped", message)
                });
                let warnings = warnings.into_iter().collect();
                Choice { tool, by, arguments, tokens_used, warnings }
            }
            Err(problem) => {
                let message = format!("the tool was chosen by rules: {problem}");
                let warnings = vec![Warning::new("llm_choice_skipped", message)];
                Choice { warnings, tokens_used, ..Choice::plain(choose_by_rules(query), "rules") }
            }
        }
    }
}

/// Takes away what could close a mark around text that a model reads.
pub(crate) fn unforgeable(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›")
}
