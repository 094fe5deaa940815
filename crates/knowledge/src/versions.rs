//! What changed from one content of a document to the next.

use std::time::Duration;

use model::{Caller, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use store::{Change, Lookup, ObjectKey, TypedObject};

use crate::access::Right;
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::objects::{Collection, Document};
use crate::{Result, Service, limits};

/// How long two texts may be compared; what is found until then is coarser.
const COMPARE_WAIT: Duration = Duration::from_secs(2);

/// Lines around a change that are shown with it.
const N_CONTEXT_LINES: usize = 1;

/// One content of a document, once it was indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentVersion {
    /// Of which it is, or was, the content.
    pub document_id: KnowledgeDocumentId,
    pub(crate) collection_id: CollectionId,
    pub(crate) tenant: TenantId,
    /// Counts the contents of the document, from 1.
    pub version: u64,
    /// When it could be found.
    pub indexed_at: Timestamp,
    /// The name of its file; empty for text.
    pub file_name: String,
    /// The size of its file.
    pub n_bytes: u64,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
    /// Passages that its text was cut into.
    pub n_chunks: usize,
    /// Lines of its text that the version before did not have.
    pub n_lines_added: usize,
    /// Lines of the version before that it does not have.
    pub n_lines_removed: usize,
    /// The lines that changed, as a unified difference of the redacted texts; nothing for the first.
    pub difference: String,
    /// Whether the difference is cut, or was not made since the texts are too long.
    pub is_cut: bool,
}

impl TypedObject for DocumentVersion {
    type Id = str;

    const KIND: &'static str = "knowledge_version";

    fn id(&self) -> String {
        format!("{}.{}", self.document_id, self.version)
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    /// It goes with the collection, as its document does.
    fn parent(&self) -> Option<String> {
        Some(self.collection_id.to_string())
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![versions_of(&self.document_id)]
    }
}

fn versions_of(document: &KnowledgeDocumentId) -> Lookup {
    Lookup::new("version_of", document.as_str())
}

impl Service {
    /// Lists the contents that a document had, the newest first, each with what changed.
    pub fn document_versions(
        &self,
        caller: &Caller,
        document: &KnowledgeDocumentId,
    ) -> Result<Vec<DocumentVersion>> {
        let (_, document, _) = self.document_of(caller, document, Right::Read)?;
        self.versions(&document.id)
    }

    fn versions(&self, document: &KnowledgeDocumentId) -> Result<Vec<DocumentVersion>> {
        let found = self.0.catalogue.find(DocumentVersion::KIND, &versions_of(document))?;
        let mut versions = found
            .into_iter()
            .map(DocumentVersion::from_object)
            .collect::<store::Result<Vec<_>>>()?;
        versions.sort_by_key(|version| std::cmp::Reverse(version.version));
        Ok(versions)
    }

    /// Names the rows of a document's versions, which go with it.
    pub(crate) fn version_keys(&self, document: &KnowledgeDocumentId) -> Result<Vec<ObjectKey>> {
        let versions = self.versions(document)?;
        Ok(versions.iter().map(|one| ObjectKey::new(DocumentVersion::KIND, one.id())).collect())
    }

    /// Describes what a content changes, and lets the oldest versions go.
    pub(crate) fn version_changes(
        &self,
        collection: &Collection,
        document: &Document,
        n_bytes: u64,
        compared: &Compared,
    ) -> Result<Vec<Change>> {
        let version = DocumentVersion {
            document_id: document.id.clone(),
            collection_id: collection.id.clone(),
            tenant: collection.tenant.clone(),
            version: document.version,
            indexed_at: self.0.clock.now(),
            file_name: document.file_name.clone(),
            n_bytes,
            sha256: document.sha256.clone(),
            n_chunks: document.n_chunks,
            n_lines_added: compared.n_added,
            n_lines_removed: compared.n_removed,
            difference: compared.difference.clone(),
            is_cut: compared.is_cut,
        };
        // The first content has none before it, and most documents have one content.
        let earlier = match document.version {
            1 => vec![],
            _ => self.versions(&document.id)?,
        };
        let old = earlier.iter().skip(limits::MAX_VERSIONS.saturating_sub(1));
        let mut changes: Vec<Change> = old
            .map(|one| Change::Delete(ObjectKey::new(DocumentVersion::KIND, one.id())))
            .collect();
        changes.push(Change::Put(version.to_object(0)?));
        Ok(changes)
    }
}

/// How two texts differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    n_added: usize,
    n_removed: usize,
    difference: String,
    is_cut: bool,
}

impl Compared {
    /// The first content of a document.
    pub(crate) fn first(text: &str) -> Self {
        Compared { n_added: compared_lines(text).lines().count(), ..Compared::default() }
    }

    /// Compares the text before with the text now, line by line.
    ///
    /// Both are redacted as wholes before lines are taken out of them: a row of a difference is far
    /// from the headings that say what it holds.
    pub(crate) fn of(before: &str, now: &str) -> Self {
        if before.len() + now.len() > limits::MAX_COMPARED_BYTES {
            return Compared { is_cut: true, ..Compared::default() };
        }
        let lines = (compared_lines(before), compared_lines(now));
        let diff = TextDiff::configure().timeout(COMPARE_WAIT).diff_lines(&lines.0, &lines.1);
        let mut compared = Compared::default();
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => compared.n_added += 1,
                ChangeTag::Delete => compared.n_removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let redacted = |text: &str| compared_lines(&text::redact(text).text);
        let (before, now) = (redacted(before), redacted(now));
        let written = TextDiff::configure()
            .timeout(COMPARE_WAIT)
            .diff_lines(&before, &now)
            .unified_diff()
            .context_radius(N_CONTEXT_LINES)
            .missing_newline_hint(false)
            .to_string();
        match written.char_indices().nth(limits::MAX_DIFFERENCE_CHARS) {
            Some((at, _)) => {
                compared.difference = written.get(..at).unwrap_or_default().to_owned();
                compared.is_cut = true;
            }
            None => compared.difference = written,
        }
        compared
    }
}

/// Gives the lines of a text that are compared. Empty ones are between passages, which are cut
/// anew with each content, and the last line may end in a break or not.
fn compared_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + 1);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_changed_are_counted() {
        for (before, now, expected) in [
            ("A\nB\nThe third stays.", "A\nB\nThe third stays.\nnew", (1, 0)),
            ("A\nB\nThe third goes.", "A\nB", (0, 1)),
            ("A\n\nB\nC\n\nD", "A\nB\n\nnew\nC\nD\n", (1, 0)),
        ] {
            let compared = Compared::of(before, now);
            assert_eq!((compared.n_added, compared.n_removed), expected, "{compared:?}");
            assert!(!compared.difference.contains("-The third stays."), "{compared:?}");
        }
    }

    #[test]
    fn changed_lines_are_named_with_what_is_around_them() {
        let before = "One rule.\nAnother rule.\nThe third.\nThe last.\n";
        let now = "One rule.\nA better rule.\nThe third.\nThe last.\nOne more.\n";
        let compared = Compared::of(before, now);
        assert_eq!((compared.n_added, compared.n_removed), (2, 1));
        assert!(compared.difference.contains("-Another rule.\n+A better rule."), "{compared:?}");
        assert!(!compared.is_cut);
        assert_eq!(Compared::of(before, before), Compared::default());
    }

    /// A row without its headings showed the password in it.
    #[test]
    fn what_is_private_in_the_whole_is_hidden_in_a_difference() {
        let rows = |note: &str| {
            let rows = (0..90).map(|n| format!("user{n},tigerlily{n},{note}{}\n", n == 80));
            format!("user,password,note\n{}", rows.collect::<String>())
        };
        let secret = |value: &str| format!("one\ntwo\npassword:\n  {value}\nend\n");
        for (before, now) in [
            (rows("a"), rows("a").replace("atrue", "b")),
            (secret("tigerlily-7x"), secret("tigerlily-8x")),
        ] {
            let compared = Compared::of(&before, &now);
            assert_eq!((compared.n_added, compared.n_removed), (1, 1));
            assert!(!compared.difference.contains("tigerlily"), "{compared:?}");
        }
        assert!(Compared::of(&rows("a"), &rows("b")).difference.contains("+user80,[password],b"));
    }

    #[test]
    fn what_is_too_long_says_so() {
        let lines: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let compared = Compared::of("", &lines);
        assert!(compared.is_cut && compared.n_added == 20_000);
        assert_eq!(compared.difference.chars().count(), limits::MAX_DIFFERENCE_CHARS);
        let huge = "x".repeat(limits::MAX_COMPARED_BYTES);
        assert!(Compared::of(&huge, "y").is_cut);
    }
}
