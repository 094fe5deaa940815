//! Who may see and change what: the rules of the family in one place.
//!
//! Another tenant's object does not exist. Inside a tenant an administrator sees everything,
//! everyone else their own knowledge bases, public ones and those shared with them by name, and of
//! these the collections that their clearance reaches and that are for their department or shared
//! with them by name.

use std::collections::BTreeSet;

use model::Caller;
use store::Filter;

use crate::objects::{Collection, KnowledgeBase, Visibility};
use crate::{Error, Result};

/// Names of attributes by which passages are filtered.
pub(crate) mod attribute {
    pub(crate) const TENANT: &str = "tenant";
    pub(crate) const BASE: &str = "knowledge_base";
    pub(crate) const COLLECTION: &str = "collection";
    /// The department; empty for all.
    pub(crate) const DEPARTMENT: &str = "department";
    /// The clearance as a number.
    pub(crate) const CLEARANCE: &str = "clearance";
}

/// What a caller wants to do with a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    Read,
    Change,
}

/// Lets a caller pass, or says why not.
pub(crate) fn check(base: &KnowledgeBase, caller: &Caller, right: Right) -> Result<()> {
    if base.tenant != caller.tenant {
        return Err(Error::no_base(&base.id));
    }
    let owns = caller.is_admin() || caller.made(&base.owner, base.owner_identity);
    let is_open = base.visibility == Visibility::Public || base.shared_with.names(caller);
    let reads = right == Right::Read && is_open;
    if owns || reads { Ok(()) } else { Err(Error::Denied) }
}

/// Tells whether a caller who may read a knowledge base sees this collection of it.
pub(crate) fn sees(collection: &Collection, caller: &Caller) -> bool {
    if collection.tenant != caller.tenant {
        return false;
    }
    let is_cleared = collection.clearance <= caller.clearance;
    let is_in_department =
        collection.department.is_none() || collection.department == caller.department;
    let is_reached = is_in_department || collection.shared_with.names(caller);
    caller.is_admin() || (is_cleared && is_reached)
}

/// The same rules as a condition inside a search of one namespace, beside the collections to
/// look in, which are of one knowledge base.
pub(crate) fn filter(caller: &Caller, collections: &[&Collection]) -> Filter {
    let ids = collections.iter().map(|collection| collection.id.as_str());
    let bases: BTreeSet<&str> =
        collections.iter().map(|collection| collection.knowledge_base_id.as_str()).collect();
    let mut conditions = vec![
        Filter::equals(attribute::TENANT, caller.tenant.as_str()),
        Filter::any_of(attribute::BASE, bases),
        Filter::any_of(attribute::COLLECTION, ids),
    ];
    if !caller.is_admin() {
        let level = i64::from(caller.clearance.level());
        let shared = collections.iter().filter(|collection| collection.shared_with.names(caller));
        let departments: BTreeSet<&str> = [""]
            .into_iter()
            .chain(caller.department.as_deref())
            .chain(shared.filter_map(|collection| collection.department.as_deref()))
            .collect();
        conditions.push(Filter::range(attribute::CLEARANCE, 0..=level));
        conditions.push(Filter::any_of(attribute::DEPARTMENT, departments));
    }
    Filter::And(conditions)
}
