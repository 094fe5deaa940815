//! Descriptions that differ between callers, made once for each thing a caller may see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Spec;

/// How many descriptions are kept; more distinct views than this are made anew each time.
const MAX_KEPT: usize = 256;

/// Keeps the description for each list of names that a caller may use.
#[derive(Default)]
pub(crate) struct PerCaller(Mutex<BTreeMap<Vec<String>, Arc<Spec>>>);

impl PerCaller {
    /// Gives the description for these names; none when there are none, since a tool without
    /// anything to use does not exist.
    pub(crate) fn get(
        &self,
        names: Vec<String>,
        make: impl FnOnce(&[String]) -> Spec,
    ) -> Option<Arc<Spec>> {
        if names.is_empty() {
            return None;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = kept.get(&names) {
            return Some(Arc::clone(spec));
        }
        let spec = Arc::new(make(&names));
        if kept.len() < MAX_KEPT {
            kept.insert(names, Arc::clone(&spec));
        }
        Some(spec)
    }
}
