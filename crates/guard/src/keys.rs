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
            let key = variable(&config.key_env).filter(|key| !key.is_empty()).ok_or_else(|| {
                SetupError::MissingVariable {
                    setting: format!("auth.keys `{}`", config.name),
                    variable: config.key_env.clone(),
                }
            })?;
            let length = key.chars().count();
            if length < MIN_KEY_CHARS {
                return Err(SetupError::ShortKey {
                    variable: config.key_env.clone(),
                    length,
                    minimum: MIN_KEY_CHARS,
                });
            }
            Ok((key.into_bytes(), caller(config)))
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

fn caller(config: &KeyConfig) -> Caller {
    Caller {
        subject: config.name.clone(),
        tenant: config.tenant.clone(),
        department: config.department.clone(),
        clearance: config.clearance,
        roles: config.roles.iter().cloned().collect(),
        identity: Identity::Key,
    }
}
