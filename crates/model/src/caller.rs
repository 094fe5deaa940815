//! Who is calling. Every service call of every crate takes one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Access, Clearance, TenantId};

/// How a caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// No login: the server is bound to loopback, or the process speaks over its own pipes.
    Local,
    /// An API key of the configuration.
    Key,
    /// A signed token.
    Token,
    /// The key of one MCP endpoint; opens nothing but the tools bound to it.
    Endpoint,
}

/// The person or program behind a call, as far as the server could verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The subject of the token, the name of the key, or `local`. Where a token has the name of a
    /// key of its tenant, or one that is reserved, [`Caller::TOKEN`] is in front of it.
    pub subject: String,
    /// The tenant that owns what this caller makes.
    pub tenant: TenantId,
    /// The department, where the token names one.
    pub department: Option<String>,
    /// How far the caller is trusted.
    pub clearance: Clearance,
    /// Roles; `admin` sees everything inside its tenant.
    pub roles: BTreeSet<String>,
    /// How the identity was proved.
    pub identity: Identity,
}

impl Caller {
    /// The role that sees all objects of its tenant.
    pub const ADMIN: &'static str = "admin";

    /// What a role begins with that says which group its caller belongs to.
    pub const GROUP: &'static str = "group:";

    /// What the name of a token's subject begins with where it would be taken for another's.
    pub const TOKEN: &'static str = "token:";

    /// What no key may be called: names that begin like this mean a caller of that kind.
    pub const RESERVED: [&'static str; 3] = [Caller::TOKEN, "key:", "endpoint:"];

    /// The caller on loopback without authentication: the administrator of the only tenant.
    pub fn local_admin() -> Self {
        Caller {
            subject: "local".to_owned(),
            tenant: TenantId::local(),
            department: None,
            clearance: Clearance::TopSecret,
            roles: BTreeSet::from([Caller::ADMIN.to_owned()]),
            identity: Identity::Local,
        }
    }

    /// Tells whether the caller administers their tenant.
    pub fn is_admin(&self) -> bool {
        self.has_role(Caller::ADMIN)
    }

    /// Tells whether the caller's key, token or session has a role, compared as it is written.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role)
    }

    /// Gives the role that says that its caller belongs to a group.
    pub fn role_of_group(group: &str) -> String {
        format!("{}{group}", Caller::GROUP)
    }

    /// Tells whether the caller belongs to a group of their tenant. A group is kept among the
    /// roles, as `group:` and its name.
    pub fn is_in_group(&self, group: &str) -> bool {
        self.roles.iter().any(|role| role.strip_prefix(Caller::GROUP) == Some(group))
    }

    /// Gives the name that things which the caller makes are kept under, beside its identity:
    /// it stays the same when a key of that name comes or goes.
    pub fn own_name(&self) -> &str {
        match self.identity {
            Identity::Token => self.subject.strip_prefix(Caller::TOKEN).unwrap_or(&self.subject),
            Identity::Local | Identity::Key | Identity::Endpoint => &self.subject,
        }
    }

    /// Tells whether the caller made something. An earlier version kept no identity: such a thing
    /// belongs to the key of that name where one is configured, and else to the token.
    pub fn made(&self, owner: &str, identity: Option<Identity>) -> bool {
        match identity {
            Some(identity) => identity == self.identity && owner == self.own_name(),
            None => owner == self.subject,
        }
    }

    /// Tells whether a name that people wrote means the caller: `ann` is the key of that name, or
    /// the token where no key has it; `key:ann` and `token:ann` leave no doubt.
    pub fn is_meant_by(&self, name: &str) -> bool {
        let of_kind = match self.identity {
            Identity::Key => name.strip_prefix("key:"),
            Identity::Token => name.strip_prefix(Caller::TOKEN),
            Identity::Local | Identity::Endpoint => None,
        };
        name == self.subject || of_kind == Some(self.own_name())
    }

    /// Tells whether the caller may use a source with this access list.
    ///
    /// The local administrator may use everything: whoever can reach loopback without a login
    /// owns the machine's configuration anyway.
    pub fn may_use(&self, access: &Access) -> bool {
        if self.identity == Identity::Local {
            return true;
        }
        let tenant_fits = access.tenants.is_empty() || access.tenants.contains(&self.tenant);
        let role_fits =
            access.roles.is_empty() || access.roles.iter().any(|role| self.has_role(role));
        tenant_fits && role_fits
    }

    /// Gives the key under which what the caller does is counted and kept. No name holds a line
    /// break, while `a/b` may be a tenant or a part of a subject.
    pub fn client_key(&self) -> String {
        Caller::client_key_of(&self.tenant, &self.subject)
    }

    /// Gives the same for whoever has a name in a tenant.
    pub fn client_key_of(tenant: &TenantId, subject: &str) -> String {
        format!("{tenant}\n{subject}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(tenant: &str, roles: &[&str]) -> Caller {
        Caller {
            subject: "someone".to_owned(),
            tenant: TenantId::new(tenant),
            department: None,
            clearance: Clearance::Internal,
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            identity: Identity::Key,
        }
    }

    #[track_caller]
    fn check(tenants: &[&str], roles: &[&str], caller: &Caller, expected: bool) {
        let access = Access {
            tenants: tenants.iter().map(|tenant| TenantId::new(*tenant)).collect(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        };
        assert_eq!(caller.may_use(&access), expected);
    }

    #[test]
    fn tenants_and_roles_both_have_to_fit() {
        let caller = reader("acme", &["finance"]);
        check(&[], &[], &caller, true);
        check(&["acme"], &[], &caller, true);
        check(&["other"], &[], &caller, false);
        check(&[], &["finance"], &caller, true);
        check(&[], &["hr"], &caller, false);
        check(&["acme"], &["hr"], &caller, false);
        check(&["acme", "other"], &["hr", "finance"], &caller, true);
    }

    #[test]
    fn names_mean_keys_before_tokens() {
        let key = Caller { subject: "ann".to_owned(), ..reader("acme", &[]) };
        let token = |subject: &str| Caller {
            subject: subject.to_owned(),
            identity: Identity::Token,
            ..reader("acme", &[])
        };
        let cases = [
            ("ann", key.clone(), true),
            ("key:ann", key.clone(), true),
            ("token:ann", key, false),
            ("ann", token("ann"), true),
            ("token:ann", token("ann"), true),
            ("key:ann", token("ann"), false),
            ("ann", token("token:ann"), false),
            ("token:ann", token("token:ann"), true),
            ("key:ann", token("token:key:ann"), false),
        ];
        for (name, caller, expected) in cases {
            assert_eq!(caller.is_meant_by(name), expected, "{name} {}", caller.subject);
        }
    }

    /// `a/b` of `c` and `b/c` of `a` shared rates, slots and pages of the console.
    #[test]
    fn callers_of_two_tenants_have_two_keys() {
        let named = |tenant: &str, subject: &str| {
            Caller { subject: subject.to_owned(), ..reader(tenant, &[]) }.client_key()
        };
        assert_ne!(named("a/b", "c"), named("a", "b/c"));
        assert_eq!(named("a", "c"), named("a", "c"));
    }

    #[test]
    fn admin_of_a_tenant_is_still_bound_by_the_access_list() {
        check(&["other"], &[], &reader("acme", &["admin"]), false);
        check(&["other"], &["x"], &Caller::local_admin(), true);
    }
}
