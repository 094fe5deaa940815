//! What became of a document that was read: indexed, or why there is no text.

use std::fmt;

use model::Warning;
use serde::{Deserialize, Serialize};

use crate::Prepared;

/// Names of files that are pictures, or hold pages as pictures when they hold no text.
const PICTURES: [&str; 11] =
    ["pdf", "tif", "tiff", "png", "jpg", "jpeg", "gif", "bmp", "webp", "heic", "djvu"];

/// What became of a document that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadState {
    /// Its text can be found.
    Indexed,
    /// It was read to its end and holds no text.
    NoText,
    /// It holds pages as pictures only.
    Scan,
    /// It needs a password.
    Encrypted,
    /// It is damaged, or no reader understands it.
    Broken,
    /// It is over a limit of size, time or memory.
    TooLarge,
    /// No reader knows the format.
    Unsupported,
    /// The system did not let it be read.
    Unreadable,
}

impl ReadState {
    /// Every state, in the order of reports.
    pub const ALL: [ReadState; 8] = [
        ReadState::Indexed,
        ReadState::NoText,
        ReadState::Scan,
        ReadState::Encrypted,
        ReadState::Broken,
        ReadState::TooLarge,
        ReadState::Unsupported,
        ReadState::Unreadable,
    ];

    /// Gives the word that answers, metrics and attributes use.
    pub fn as_str(self) -> &'static str {
        match self {
            ReadState::Indexed => "indexed",
            ReadState::NoText => "no_text",
            ReadState::Scan => "scan",
            ReadState::Encrypted => "encrypted",
            ReadState::Broken => "broken",
            ReadState::TooLarge => "too_large",
            ReadState::Unsupported => "unsupported",
            ReadState::Unreadable => "unreadable",
        }
    }

    /// Reads the word.
    pub fn of_word(word: &str) -> Option<Self> {
        ReadState::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Tells what became of a document, with the reason where it has no text.
    pub fn of(prepared: &Prepared, file_name: &str) -> (Self, Option<String>) {
        if !prepared.document.passages.is_empty() {
            return (ReadState::Indexed, None);
        }
        let ext = file_name.rsplit_once('.').map(|(_, ext)| ext.to_lowercase());
        let is_picture = ext.is_some_and(|ext| PICTURES.contains(&ext.as_str()));
        let found = prepared.warnings.iter().find_map(|warning| {
            let state = match warning.code.as_str() {
                "encrypted" => ReadState::Encrypted,
                "broken" | "parser_panicked" | "worker_died" => ReadState::Broken,
                "unsupported_format" if is_picture => ReadState::Scan,
                "unsupported_format" => ReadState::Unsupported,
                "unreadable" | "worker_unavailable" | "outside_root" => ReadState::Unreadable,
                "scan" => ReadState::Scan,
                "empty_file" => ReadState::NoText,
                code if code.ends_with("_cap") || code == "too_large" => ReadState::TooLarge,
                _ => return None,
            };
            Some((state, Some(warning.message.clone())))
        });
        found.unwrap_or_else(|| {
            let no_text =
                prepared.warnings.iter().find(|warning| warning.code == extract::warning::NO_TEXT);
            let state = if is_picture { ReadState::Scan } else { ReadState::NoText };
            (state, Some(reason(state, no_text)))
        })
    }
}

impl fmt::Display for ReadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn reason(state: ReadState, no_text: Option<&Warning>) -> String {
    match (state, no_text) {
        (ReadState::Scan, _) => {
            "the pages are pictures without text: it may be a scan, which needs OCR first".to_owned()
        }
        (_, Some(warning)) => warning.message.clone(),
        (_, None) => "the document holds no text".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::{Attributes, DocumentId, Passage, PassageId, Pointer, Span};
    use serde_json::Value;
    use store::Document;

    use super::*;

    fn prepared(n_passages: u32, codes: &[&str]) -> Prepared {
        let passage = |ordinal| Passage {
            id: PassageId::new(format!("d#{ordinal}")),
            ordinal,
            text: "text".to_owned(),
            span: Span::new(0, 4),
            pointer: Pointer::Whole,
            headings: vec![],
        };
        Prepared {
            document: Document {
                id: DocumentId::new("d"),
                title: String::new(),
                attributes: Attributes::new(),
                metadata: Value::Null,
                fingerprint: String::new(),
                passages: (0..n_passages).map(passage).collect(),
            },
            warnings: codes.iter().map(|code| Warning::new(*code, format!("{code}!"))).collect(),
        }
    }

    #[test]
    fn every_document_without_text_has_a_state_and_a_reason() {
        let check = |codes: &[&str], name: &str, state: ReadState, reason: &str| {
            let found = ReadState::of(&prepared(0, codes), name);
            assert_eq!(found.0, state, "{codes:?} {name}");
            assert!(found.1.as_deref().unwrap().contains(reason), "{found:?}");
        };
        check(&["no_text"], "a.docx", ReadState::NoText, "no_text!");
        check(&["no_text"], "a.PDF", ReadState::Scan, "scan");
        check(&[], "a.txt", ReadState::NoText, "no text");
        check(&["extension_mismatch", "encrypted"], "a.pdf", ReadState::Encrypted, "encrypted!");
        check(&["time_cap"], "a.xlsx", ReadState::TooLarge, "time_cap!");
        check(&["parser_panicked"], "a.ppt", ReadState::Broken, "panicked");
        check(&["unsupported_format"], "a.bin", ReadState::Unsupported, "unsupported");
        check(&["unreadable"], "a.txt", ReadState::Unreadable, "unreadable");
        assert_eq!(ReadState::of(&prepared(1, &["repaired"]), "a"), (ReadState::Indexed, None));
    }

    #[test]
    fn words_of_states_are_read_back() {
        for state in ReadState::ALL {
            assert_eq!(ReadState::of_word(state.as_str()), Some(state));
        }
        assert_eq!(ReadState::of_word("fine"), None);
    }
}
