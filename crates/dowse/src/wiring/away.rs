//! Sources that are away when the server starts: a share that is not mounted, a file that is not
//! there yet. They never stop the start; they are named, and looked for again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use parking_lot::Mutex;

/// How often sources that are away are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What is away, over changes of the configuration. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Away(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    sources: Vec<(String, String)>,
    /// Services that know by themselves which of their sources are away.
    services: Vec<(&'static str, Arc<ListAway>)>,
    looked_at: Option<Instant>,
}

/// Lists the sources of a service that are away at the moment, each with the reason.
type ListAway = dyn Fn() -> Vec<(String, String)> + Send + Sync;

impl Away {
    /// Forgets what was away: the sources are about to be opened.
    pub(crate) fn begin(&self) {
        *self.0.lock() = State { looked_at: Some(Instant::now()), ..State::default() };
    }

    /// Asks a service from now on which of its sources are away.
    pub(crate) fn watch(
        &self,
        kind: &'static str,
        list: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static,
    ) {
        self.0.lock().services.push((kind, Arc::new(list)));
    }

    /// Gives the sources that are away, each with the reason.
    pub(crate) fn sources(&self) -> Vec<(String, String)> {
        let (mut sources, services) = {
            let state = self.0.lock();
            (state.sources.clone(), state.services.clone())
        };
        for (kind, list) in services {
            let named = |(name, problem)| (format!("{kind} `{name}`"), problem);
            sources.extend(list().into_iter().map(named));
        }
        sources
    }

    /// Tells whether it is time to look for sources again.
    pub(crate) fn is_due(&self) -> bool {
        let looked_at = self.0.lock().looked_at;
        looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) && !self.sources().is_empty()
    }

    /// Opens sources together; where one of them is away, the others without it.
    ///
    /// Fails when something is wrong that waiting does not mend: a setting, a schema.
    pub(crate) fn open<C: Clone, S>(
        &self,
        kind: &str,
        configs: &[C],
        name: impl Fn(&C) -> String,
        open: impl Fn(Vec<C>) -> anyhow::Result<S>,
    ) -> anyhow::Result<Option<S>> {
        if configs.is_empty() {
            return Ok(None);
        }
        match open(configs.to_vec()) {
            Ok(service) => return Ok(Some(service)),
            Err(error) if !is_away(&error) => return Err(error),
            Err(_) => {}
        }
        let mut present = Vec::new();
        for config in configs {
            match open(vec![config.clone()]) {
                Ok(_) => present.push(config.clone()),
                Err(error) if is_away(&error) => {
                    let source = format!("{kind} `{}`", name(config));
                    let problem = format!("{error:#}");
                    tracing::warn!(
                        source,
                        problem,
                        "a source cannot be reached: it is tried again"
                    );
                    self.0.lock().sources.push((source, problem));
                }
                Err(error) => return Err(error),
            }
        }
        if present.is_empty() {
            return Ok(None);
        }
        open(present).map(Some).with_context(|| format!("the other {kind}s could not be opened"))
    }
}

/// Tells whether a failure is one of reaching the source, which may pass.
fn is_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<std::io::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(names: Vec<&'static str>) -> anyhow::Result<Vec<&'static str>> {
        for name in &names {
            match *name {
                "away" => return Err(std::io::Error::from(std::io::ErrorKind::NotFound).into()),
                "wrong" => anyhow::bail!("a setting is wrong"),
                _ => {}
            }
        }
        Ok(names)
    }

    #[test]
    fn what_is_away_is_left_out_and_named_and_what_is_wrong_is_an_error() {
        let away = Away::default();
        let opened = |names: &[&'static str]| {
            away.begin();
            away.open("table", names, |name| (*name).to_owned(), open)
        };
        assert_eq!(opened(&["a", "b"]).unwrap().unwrap(), ["a", "b"]);
        assert!(away.sources().is_empty() && !away.is_due());
        assert_eq!(opened(&["a", "away", "b"]).unwrap().unwrap(), ["a", "b"]);
        assert_eq!(away.sources()[0].0, "table `away`");
        assert!(opened(&["away"]).unwrap().is_none());
        assert!(opened(&["a", "away", "wrong"]).is_err());
        assert!(opened(&[]).unwrap().is_none());
    }
}
