//! API keys of the configuration, compared in constant time.

use model::{Caller, Identity};
use subtle::ConstantTimeEq;

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
        let keys = configs.iter().map(|config| {
            if config.tenant.as_str().trim().is_empty() {
                return Err(SetupError::EmptyTenant { name: config.name.clone() });
            }
            let setting = format!("`auth.keys` entry `{}`", config.name);
            Ok((read_key(&setting, &config.key_env, variable)?, caller(config)))
        });
        keys.collect::<Result<_, _>>().map(Keys)
    }

    /// Finds the caller of a key. Every key is compared, so that time tells nothing.
    pub(crate) fn find(&self, given: &str) -> Option<&Caller> {
        let mut found = None;
        for (key, caller) in &self.0 {
            if bool::from(key.ct_eq(given.as_bytes())) {
                found = Some(caller);
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
    let length = key.chars().count();
    if length < MIN_KEY_CHARS {
        let (variable, minimum) = (variable_name.to_owned(), MIN_KEY_CHARS);
        return Err(SetupError::ShortKey { variable, length, minimum });
    }
    Ok(key.into_bytes())
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
