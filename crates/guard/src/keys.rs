//! API keys of the configuration, compared in constant time.

use model::{Caller, Identity, TenantId};
use subtle::ConstantTimeEq;

use crate::tokens::has_unseen;
use crate::{KeyConfig, SetupError};

/// Keys shorter than this can be guessed.
const MIN_KEY_CHARS: usize = 16;

/// The configured keys with the callers they stand for.
pub(crate) struct Keys(Vec<(Vec<u8>, Caller)>);

impl Keys {
    /// Reads the keys from the environment through `variable`.
    pub(crate) fn load(
        configs: &[KeyConfig],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SetupError> {
        let mut keys: Vec<(Vec<u8>, Caller)> = Vec::with_capacity(configs.len());
        for config in configs {
            check_names(config)?;
            let setting = format!("`auth.keys` entry `{}`", config.name);
            let key = read_key(&setting, &config.key_env, variable)?;
            // Who calls with it could not be told.
            if let Some((_, other)) = keys.iter().find(|(one, _)| *one == key) {
                let names = [other.subject.clone(), config.name.clone()];
                return Err(SetupError::SameKey { names });
            }
            keys.push((key, caller(config)));
        }
        Ok(Keys(keys))
    }

    /// Lists the keys themselves, which no answer may show.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(key, _)| key.as_slice())
    }

    /// Finds the caller of a key. Every key is compared, so that time tells nothing.
    pub(crate) fn find(&self, given: &str) -> Option<&Caller> {
        self.find_bytes(given.as_bytes())
    }

    /// Finds the caller of a key by its bytes.
    pub(crate) fn find_bytes(&self, given: &[u8]) -> Option<&Caller> {
        let mut found = None;
        for (key, caller) in &self.0 {
            if bool::from(key.ct_eq(given)) {
                found = Some(caller);
            }
        }
        found
    }

    /// Tells whether a tenant has a key of this name.
    pub(crate) fn has_name(&self, tenant: &TenantId, name: &str) -> bool {
        self.0.iter().any(|(_, caller)| caller.tenant == *tenant && caller.subject == name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Refuses names that cannot be told from others.
fn check_names(config: &KeyConfig) -> Result<(), SetupError> {
    let name = config.name.clone();
    if text::is_blank(config.tenant.as_str()) {
        return Err(SetupError::EmptyTenant { name });
    }
    for (setting, value) in [("tenant", config.tenant.as_str()), ("name", &config.name)] {
        if has_unseen(value) {
            return Err(SetupError::UnseenCharacters { name, setting });
        }
    }
    // A name that begins like this means a caller of that kind, wherever names are written down.
    let reserved = Caller::RESERVED.into_iter().find(|prefix| config.name.starts_with(prefix));
    match reserved {
        Some(prefix) => Err(SetupError::ReservedName { name, prefix }),
        None => Ok(()),
    }
}

/// Reads one key from the environment.
pub(crate) fn read_key(
    setting: &str,
    variable_name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<u8>, SetupError> {
    let key = variable(variable_name).filter(|key| !key.is_empty()).ok_or_else(|| {
        SetupError::MissingVariable {
            setting: setting.to_owned(),
            variable: variable_name.to_owned(),
        }
    })?;
    // Blanks around a key are those of the file that it was read from: they are in no request.
    let key = key.trim();
    let length = key.chars().count();
    if length < MIN_KEY_CHARS {
        let (variable, minimum) = (variable_name.to_owned(), MIN_KEY_CHARS);
        return Err(SetupError::ShortKey { variable, length, minimum });
    }
    Ok(key.as_bytes().to_vec())
}

fn caller(config: &KeyConfig) -> Caller {
    let groups = config.groups.iter().map(|group| Caller::role_of_group(group));
    Caller {
        subject: config.name.clone(),
        tenant: config.tenant.clone(),
        department: config.department.clone(),
        clearance: config.clearance,
        roles: config.roles.iter().cloned().chain(groups).collect(),
        identity: Identity::Key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(name: &str) -> KeyConfig {
        serde_json::from_value(serde_json::json!({ "name": name, "key_env": name })).unwrap()
    }

    #[test]
    fn names_that_look_like_others_are_refused() {
        let check = |name: &str, tenant: &str| {
            let key = serde_json::json!({ "name": name, "key_env": "KEY", "tenant": tenant });
            let variable = |_: &str| Some("0123456789abcdef".to_owned());
            let keys = Keys::load(&[serde_json::from_value(key).unwrap()], &variable);
            keys.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(check("ann", "acme"), Ok(()));
        for blank in ["", " ", "\u{3164}", "\u{2800}\u{200b}"] {
            assert!(check("ann", blank).unwrap_err().contains("empty `tenant`"), "{blank:?}");
        }
        for unseen in ["acme\u{3164}", "ac\u{200d}me", "\u{feff}acme", "acme\u{fe0f}"] {
            assert!(check("ann", unseen).unwrap_err().contains("cannot be seen"), "{unseen:?}");
            assert!(check(unseen, "acme").unwrap_err().contains("cannot be seen"), "{unseen:?}");
        }
        for name in ["token:ann", "key:ann", "endpoint:x"] {
            assert!(check(name, "acme").unwrap_err().contains("begins with"), "{name}");
        }
    }

    #[test]
    fn keys_that_tell_nobody_apart_are_refused() {
        let check = |values: [&str; 2]| {
            let variable = |name: &str| Some(values[usize::from(name == "bob")].to_owned());
            Keys::load(&[config("ann"), config("bob")], &variable).map(|_| ())
        };
        assert!(check(["0123456789abcdef", "fedcba9876543210"]).is_ok());
        let same = check(["0123456789abcdef", "0123456789abcdef"]).unwrap_err();
        assert!(same.to_string().contains("`ann` and `bob`"), "{same}");
        for around in ["0123456789abcdef\n", " 0123456789abcdef\t"] {
            assert!(check(["0123456789abcdef", around]).is_err(), "{around:?}");
            let keys = Keys::load(&[config("ann")], &|_| Some(around.to_owned())).unwrap();
            assert!(keys.find("0123456789abcdef").is_some(), "{around:?}");
        }
        let blank = check(["0123456789abcdef", &" ".repeat(40)]).unwrap_err();
        assert!(matches!(blank, SetupError::ShortKey { length: 0, .. }), "{blank}");
    }
}
