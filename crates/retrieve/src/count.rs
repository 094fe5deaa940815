//! How many documents a query matches by words, where they are more than were looked at.

use store::Filter;

use crate::question::analyse;
use crate::{Request, Result, Retriever, Total};

impl Retriever {
    /// Counts the documents that a search by words finds, behind the filters of the scopes. Nothing
    /// is read or judged for it; nothing is told where an engine cannot count.
    pub fn count_by_words(&self, request: &Request<'_>) -> Result<Option<Total>> {
        let mut total = Total { n: 0, is_exact: true };
        let languages = self.languages(request);
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
            total.n += counted.n_documents;
            total.is_exact &= counted.is_exact;
        }
        Ok(Some(total))
    }
}
