//! Which part of the index a search is over: roots, or folders inside of them.

use model::Caller;
use store::Filter;

use crate::index::{attribute, below};
use crate::{Error, Indexer, Result};

/// The roots of a search, and the folders that it keeps to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchedRoots {
    /// Each root of which anything is searched, once, by its name.
    pub(crate) names: Vec<String>,
    filter: Filter,
}

impl SearchedRoots {
    /// Reads what a caller wants to search; all that they may use when nothing is named.
    ///
    /// Fails for what is not inside a root that the caller may use, and for files.
    pub(crate) fn of(
        indexer: &Indexer,
        caller: &Caller,
        wanted: Option<&[String]>,
    ) -> Result<Self> {
        let of_root = |name: &str| Filter::equals(attribute::ROOT, name);
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            let visible = indexer.roots().visible(caller);
            return Ok(SearchedRoots::whole(
                visible.iter().map(|root| root.name.clone()).collect(),
            ));
        };
        let (mut names, mut parts, mut is_whole) = (Vec::new(), Vec::new(), true);
        for given in wanted {
            let (root, resolved) = indexer.roots().locate(caller, given)?;
            if resolved == root.path {
                parts.push(of_root(&root.name));
            } else if resolved.is_dir() {
                is_whole = false;
                let inside = Filter::DocumentPrefix(below(&resolved));
                parts.push(Filter::And(vec![of_root(&root.name), inside]));
            } else {
                return Err(Error::BadPath { path: given.clone(), problem: "is not a root" });
            }
            if !names.contains(&root.name) {
                names.push(root.name.clone());
            }
        }
        Ok(match is_whole {
            true => SearchedRoots::whole(names),
            false => SearchedRoots { names, filter: Filter::Or(parts) },
        })
    }

    fn whole(names: Vec<String>) -> Self {
        SearchedRoots { filter: Filter::any_of(attribute::ROOT, names.clone()), names }
    }

    /// Gives what the index must hold of a file.
    pub(crate) fn filter(&self) -> Filter {
        self.filter.clone()
    }
}
