//! Which tools are served, and to whom: lists of names in the configuration, for the whole server,
//! for an address of its own, and for one API key.
//!
//! A tool that is not exposed to a caller does not exist for them, and what it reads cannot be
//! read as a resource either.

use std::collections::BTreeMap;

use model::{Caller, Identity};
use serde::Deserialize;

/// Names of tools that are served, and of tools that are not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolNames {
    /// The tools that are served; all of them when empty.
    pub tools: Vec<String>,
    /// The tools that are not served; wins over `tools`.
    pub hidden_tools: Vec<String>,
}

impl ToolNames {
    /// Tells whether a tool is served.
    pub fn allows(&self, name: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|known| known == name);
        (self.tools.is_empty() || has(&self.tools)) && !has(&self.hidden_tools)
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.tools.iter().chain(&self.hidden_tools)
    }
}

/// What is exposed at one address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    /// To everyone; each of them must allow a tool.
    pub everywhere: Vec<ToolNames>,
    /// To holders of an API key, by [`Caller::client_key`]: tenants may have keys of one name, and a
    /// name may have several keys, each of whose lists must allow a tool.
    pub by_key: BTreeMap<String, Vec<ToolNames>>,
}

impl Exposure {
    /// Tells whether a tool is served to a caller.
    pub fn allows(&self, name: &str, caller: &Caller) -> bool {
        let of_key = match caller.identity {
            Identity::Key => self.by_key.get(&caller.client_key()),
            Identity::Local | Identity::Token | Identity::Endpoint => None,
        };
        self.everywhere.iter().chain(of_key.into_iter().flatten()).all(|names| names.allows(name))
    }

    /// Adds the lists of an address.
    #[must_use]
    pub fn and(&self, names: &ToolNames) -> Self {
        let mut narrower = self.clone();
        narrower.everywhere.push(names.clone());
        narrower
    }

    /// Gives a name that is in a list and is no tool: a misspelt one would hide a tool, or show
    /// one, in silence.
    pub fn unknown(&self, is_tool: impl Fn(&str) -> bool) -> Option<&str> {
        let lists = self.everywhere.iter().chain(self.by_key.values().flatten());
        lists.flat_map(ToolNames::all).find(|name| !is_tool(name)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[&str], hidden: &[&str]) -> ToolNames {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolNames { tools: owned(tools), hidden_tools: owned(hidden) }
    }

    #[test]
    fn every_list_must_allow_a_tool() {
        let key = |name: &str| Caller {
            subject: name.to_owned(),
            identity: Identity::Key,
            ..Caller::local_admin()
        };
        let exposure = Exposure {
            everywhere: vec![names(&[], &["indexFolder"])],
            by_key: [(
                key("ci").client_key(),
                vec![names(&["search", "fetch", "indexFolder"], &["fetch"]), names(&[], &["ping"])],
            )]
            .into(),
        };
        let check = |caller: &Caller, name: &str, expected: bool| {
            assert_eq!(exposure.allows(name, caller), expected, "{name} {}", caller.subject);
        };
        check(&Caller::local_admin(), "search", true);
        check(&Caller::local_admin(), "indexFolder", false);
        check(&key("other"), "openFile", true);
        check(&key("ci"), "search", true);
        check(&key("ci"), "openFile", false);
        check(&key("ci"), "ping", false);
        let of_another_tenant = Caller { tenant: model::TenantId::new("other"), ..key("ci") };
        check(&of_another_tenant, "openFile", true);
        // What is hidden stays so, whatever else allows it.
        check(&key("ci"), "fetch", false);
        check(&key("ci"), "indexFolder", false);
        let narrower = exposure.and(&names(&["fetch"], &[]));
        assert!(!narrower.allows("search", &Caller::local_admin()));
        assert_eq!(narrower.unknown(|name| name != "indexFolder"), Some("indexFolder"));
        assert_eq!(narrower.unknown(|_| true), None);
    }
}
