//! Who may see and change what: the rules of the family in one place.
//!
//! Another tenant's object does not exist. Inside a tenant an administrator and the owner of a
//! project may do everything in it, an editor everything but end it or let others in, a reader
//! look and search. The key of an endpoint opens its bound tools and nothing else.

use model::{Caller, Identity};

use crate::objects::{Project, Role};
use crate::{Error, Result};

/// What a caller wants to do in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// Look and search.
    Read,
    /// Make, change and delete what is in it.
    Edit,
    /// Let others in, and delete it.
    Own,
}

/// Lets a caller pass, or says why not.
pub(crate) fn check(project: &Project, caller: &Caller, right: Right) -> Result<()> {
    if project.tenant != caller.tenant || caller.identity == Identity::Endpoint {
        return Err(Error::missing("Project", project.id.as_str()));
    }
    let role = project.role_of(caller);
    let may = match right {
        _ if project.is_owned_by(caller) => true,
        Right::Read => role.is_some(),
        Right::Edit => role == Some(Role::Editor),
        Right::Own => false,
    };
    if may { Ok(()) } else { Err(Error::Denied) }
}
