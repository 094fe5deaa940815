//! What goes into a store and what comes back.

use model::{Attributes, DocumentId, NamespaceId, Passage, PassageId, Timestamp};
use serde::{Deserialize, Serialize};
use text::Language;

/// One version of a document with all its passages, as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Unique in its namespace; writing it again replaces the earlier version.
    pub id: DocumentId,
    /// The title or name, searched with a weight of its own.
    pub title: String,
    /// What the document can be filtered by.
    pub attributes: Attributes,
    /// Whatever the owner wants back; not searched, not filtered.
    pub metadata: serde_json::Value,
    /// What the owner compares to see that nothing changed: a hash, or size and time.
    pub fingerprint: String,
    /// The passages, in order.
    pub passages: Vec<Passage>,
}

/// A document in a list, without its passages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentInfo {
    /// Unique in its namespace.
    pub id: DocumentId,
    /// The title or name.
    pub title: String,
    /// What the document can be filtered by.
    pub attributes: Attributes,
    /// Whatever the owner gave.
    pub metadata: serde_json::Value,
    /// What the owner compares to see that nothing changed.
    pub fingerprint: String,
    /// How many passages it has.
    pub n_passages: usize,
    /// When this version was written.
    pub updated_at: Timestamp,
}

/// What tells whether a document has changed, without the rest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Unique in its namespace.
    pub id: DocumentId,
    /// What the owner compares to see that nothing changed.
    pub fingerprint: String,
    /// How many passages it has.
    pub n_passages: usize,
}

/// How many documents have the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentCount {
    /// The values of the attributes that were asked for, in that order.
    pub values: Vec<Option<String>>,
    /// Whether these documents have passages.
    pub has_passages: bool,
    /// How many there are.
    pub n_documents: usize,
}

/// Which part of a listing is asked for. Documents are listed in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentPage {
    /// Only documents whose id starts with this.
    pub prefix: String,
    /// Only documents whose id comes after this one.
    pub after: Option<DocumentId>,
    /// At most this many; at most [`crate::limits::MAX_PAGE`].
    pub limit: usize,
}

/// Where an engine keeps a passage, in its own names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The namespace in the engine.
    pub namespace: String,
    /// The id in the engine.
    pub id: String,
}

impl Place {
    /// Gives where a passage is in an engine that has our names.
    pub fn ours(namespace: &NamespaceId, stored: &StoredPassage) -> Self {
        Place { namespace: namespace.to_string(), id: stored.passage.id.to_string() }
    }
}

/// A passage together with the document that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPassage {
    /// Whose passage it is.
    pub document: DocumentId,
    /// The document's title.
    pub title: String,
    /// The language that the whole document was cut into words in.
    pub language: Language,
    /// With its text, unredacted.
    pub passage: Passage,
}

impl StoredPassage {
    /// Gives the passage's id.
    pub fn id(&self) -> &PassageId {
        &self.passage.id
    }

    /// Gives what the vector of the passage is made of: the title of its document, its headings and
    /// its text. A passage from the middle of a document seldom says what it speaks of.
    pub fn embedded_text(&self) -> String {
        let headings = self.passage.headings.iter().map(String::as_str);
        let above = std::iter::once(self.title.as_str()).chain(headings);
        let mut text = String::new();
        let mut last = "";
        for line in above.filter(|line| !line.trim().is_empty()) {
            // The first heading of a document is often its title.
            if line != last && !self.passage.text.starts_with(line) {
                text.push_str(line);
                text.push('\n');
            }
            last = line;
        }
        text.push_str(&self.passage.text);
        // A score must not tell what an answer hides, nor a model elsewhere read it.
        text::redact(&text).text
    }
}

#[cfg(test)]
mod tests {
    use model::{Pointer, Span};

    use super::*;

    #[test]
    fn a_vector_is_made_of_title_headings_and_text_each_once() {
        let check = |title: &str, headings: &[&str], text: &str, expected: &str| {
            let passage = Passage {
                id: PassageId::new("p"),
                ordinal: 0,
                text: text.to_owned(),
                span: Span::new(0, 1),
                pointer: Pointer::Whole,
                headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
            };
            let (document, title) = (DocumentId::new("d"), title.to_owned());
            let language = "en".parse().unwrap();
            let stored = StoredPassage { document, title, language, passage };
            assert_eq!(stored.embedded_text(), expected);
        };
        check("Report", &["Costs", "2024"], "They fell.", "Report\nCosts\n2024\nThey fell.");
        check("Report", &["Report", "Costs"], "They fell.", "Report\nCosts\nThey fell.");
        check("Report", &[], "Report\nThey fell.", "Report\nThey fell.");
        check("", &[], "They fell.", "They fell.");
        check("", &[], "Write to ann@example.org.", "Write to [email].");
    }
}
