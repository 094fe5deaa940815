//! Callers for tests, each with as little set as the test needs.

use model::{Caller, Clearance, Identity, TenantId};

/// Makes a caller of a tenant who proved themselves with a token and is cleared for `internal`.
pub fn member(tenant: &str, roles: &[&str]) -> Caller {
    Caller {
        subject: "member".to_owned(),
        tenant: TenantId::new(tenant),
        department: None,
        clearance: Clearance::Internal,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        identity: Identity::Token,
    }
}

/// Makes the administrator of a tenant.
pub fn admin(tenant: &str) -> Caller {
    Caller { subject: "admin".to_owned(), ..member(tenant, &[Caller::ADMIN]) }
}

/// Makes a caller who is not in any tenant that a test configures.
pub fn stranger() -> Caller {
    Caller { subject: "stranger".to_owned(), ..member("elsewhere", &[]) }
}

/// Gives the same caller with another clearance.
pub fn cleared(caller: &Caller, clearance: Clearance) -> Caller {
    Caller { clearance, ..caller.clone() }
}
