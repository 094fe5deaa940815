//! Which documents of a namespace a source answers for.

use model::DocumentId;

/// The documents that a source answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub(super) parts: Vec<ScopePart>,
    except: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScopePart {
    /// Documents whose ids begin so.
    Prefix(String),
    /// One document.
    One(DocumentId),
}

impl Scope {
    /// Everything in the namespace.
    pub fn everything() -> Self {
        Scope::below("")
    }

    /// Documents whose ids begin so.
    pub fn below(prefix: impl Into<String>) -> Self {
        Scope { parts: vec![ScopePart::Prefix(prefix.into())], except: vec![] }
    }

    /// Single documents, and those whose ids begin so. What is a document has nothing below it: a
    /// prefix that is the id of one of them with a `/` is for what was there before or is after.
    pub fn of(documents: Vec<DocumentId>, prefixes: Vec<String>) -> Self {
        let documents = documents.into_iter().map(ScopePart::One);
        let prefixes = prefixes.into_iter().map(ScopePart::Prefix);
        Scope { parts: documents.chain(prefixes).collect(), except: vec![] }
    }

    /// Leaves out documents whose ids begin with one of these: they belong to other sources.
    #[must_use]
    pub fn except(mut self, prefixes: Vec<String>) -> Self {
        self.except = prefixes;
        self
    }

    /// Tells whether the source answers for a document.
    pub fn holds(&self, document: &DocumentId) -> bool {
        let id = document.as_str();
        let is_in = self.parts.iter().any(|part| match part {
            ScopePart::Prefix(prefix) => id.starts_with(prefix),
            ScopePart::One(one) => one == document,
        });
        is_in && !self.except.iter().any(|other| id.starts_with(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_holds_its_parts_but_for_those_of_others() {
        let scope = Scope::of(vec![DocumentId::new("/a/one")], vec!["/a/b/".to_owned()])
            .except(vec!["/a/b/inner/".to_owned()]);
        let check = |id: &str, holds: bool| {
            assert_eq!(scope.holds(&DocumentId::new(id)), holds, "{id}");
        };
        check("/a/one", true);
        check("/a/one.txt", false);
        check("/a/b/x", true);
        check("/a/b/inner/x", false);
        check("/a/bc", false);
        assert!(Scope::everything().holds(&DocumentId::new("")));
    }
}
