//! Listings by attribute for catalogues that cannot ask their database for them: every document is
//! looked at.

use std::collections::BTreeMap;

use model::{AttributeValue, NamespaceId};

use crate::{Catalogue, DocumentCount, DocumentInfo, DocumentPage, Result, limits};

pub(super) fn count_documents(
    catalogue: &(impl Catalogue + ?Sized),
    namespace: &NamespaceId,
    attributes: &[&str],
) -> Result<Vec<DocumentCount>> {
    let mut counted: BTreeMap<(Vec<Option<String>>, bool), usize> = BTreeMap::new();
    each(catalogue, namespace, &DocumentPage::default(), |document| {
        let values = attributes.iter().map(|name| word(&document, name).map(str::to_owned));
        *counted.entry((values.collect(), document.n_passages > 0)).or_default() += 1;
        true
    })?;
    let count =
        |((values, has_passages), n_documents)| DocumentCount { values, has_passages, n_documents };
    Ok(counted.into_iter().map(count).collect())
}

pub(super) fn documents_with(
    catalogue: &(impl Catalogue + ?Sized),
    namespace: &NamespaceId,
    attribute: &str,
    values: &[Option<&str>],
    page: &DocumentPage,
) -> Result<Vec<DocumentInfo>> {
    let mut found = vec![];
    if page.limit > 0 {
        each(catalogue, namespace, page, |document| {
            if values.contains(&word(&document, attribute)) {
                found.push(document);
            }
            found.len() < page.limit.min(limits::MAX_PAGE)
        })?;
    }
    Ok(found)
}

fn word<'a>(document: &'a DocumentInfo, name: &str) -> Option<&'a str> {
    match document.attributes.get(name) {
        Some(AttributeValue::Keyword(word)) => Some(word),
        _ => None,
    }
}

/// Shows documents from where a page begins until `take` has enough.
fn each(
    catalogue: &(impl Catalogue + ?Sized),
    namespace: &NamespaceId,
    page: &DocumentPage,
    mut take: impl FnMut(DocumentInfo) -> bool,
) -> Result<()> {
    let mut page = DocumentPage { limit: limits::MAX_PAGE, ..page.clone() };
    loop {
        let documents = catalogue.documents(namespace, &page)?;
        let Some(last) = documents.last() else { return Ok(()) };
        page.after = Some(last.id.clone());
        for document in documents {
            if !take(document) {
                return Ok(());
            }
        }
    }
}
