//! How many documents a query matches by words, where they are more than were looked at.

use model::Warning;
use store::limits::MAX_CANDIDATES;
use store::{Filter, Matched};

use crate::question::analyse;
use crate::scopes::KnownScopes;
use crate::{Request, Result, Retriever};

/// Says that more passages match than a walk goes through.
pub fn bounded(counted: Option<Matched>) -> Option<Warning> {
    let n_passages = counted?.n_passages;
    (n_passages > MAX_CANDIDATES).then(|| {
        let message = format!(
            "{n_passages} passages match, and a walk goes through the best {MAX_CANDIDATES} of \
             them: narrow the query for the others"
        );
        Warning::new(WALK_TOO_LONG, message)
    })
}

/// The code of the warning that a walk ends before everything that matches was given.
pub const WALK_TOO_LONG: &str = "walk_too_long";

impl Retriever {
    /// Counts the passages that a search by words finds, where there can be more than a walk goes
    /// through.
    pub(crate) fn count_passages_by_words(
        &self,
        request: &Request<'_>,
        n_stored: usize,
    ) -> Result<Option<Matched>> {
        if n_stored > MAX_CANDIDATES { self.count_by_words(request) } else { Ok(None) }
    }

    /// Counts the documents that a search by words finds, behind the filters of the scopes, and
    /// their passages. Nothing is read or judged for it; nothing is told where an engine cannot count.
    pub fn count_by_words(&self, request: &Request<'_>) -> Result<Option<Matched>> {
        let mut total = Matched { n_documents: 0, n_passages: 0, is_exact: true };
        let languages = KnownScopes::read(&self.store, request.scopes)?.languages();
        if languages.is_empty() {
            // Nothing was ever written there, such as names of files without text.
            return Ok(Some(total));
        }
        let question = analyse(request.query, request.pipeline, languages);
        for scope in request.scopes {
            let filter: Filter = scope.filter.clone().and(question.filter.clone());
            let (words, deadline) = (&question.for_words, request.deadline);
            let counted = self.store.count(&scope.namespace, Some(words), &filter, deadline)?;
            let Some(counted) = counted else { return Ok(None) };
            total.n_documents += counted.n_documents;
            total.n_passages += counted.n_passages;
            total.is_exact &= counted.is_exact;
        }
        Ok(Some(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk ended behind ten thousand passages, and said so on its last pages alone.
    #[test]
    fn more_than_a_walk_goes_through_is_said() {
        let matched = |n_passages| Matched { n_documents: 1, n_passages, is_exact: true };
        assert_eq!(bounded(None), None);
        assert_eq!(bounded(Some(matched(MAX_CANDIDATES))), None);
        let warning = bounded(Some(matched(MAX_CANDIDATES + 1))).unwrap();
        assert!(warning.message.starts_with("10001 passages match"), "{}", warning.message);
    }
}
