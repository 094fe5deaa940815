//! What works now: reads, writes, and how far the engine is behind.

use std::collections::BTreeMap;

use model::{NamespaceId, with_causes};
use serde::Serialize;

use crate::{Catalogue, Engine, NamespaceHead, Result};

/// Namespaces that are named one by one; of more only the number is said.
const MAX_NAMED: usize = 10;

/// What works now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Whether questions can be answered, at least in part: the catalogue can be read.
    pub reads: bool,
    /// Whether changes are taken: the catalogue can be written, and the engine answers.
    pub writes: bool,
    /// Changes that are stored and that searches do not see yet.
    pub lag: u64,
    /// What does not work as it should.
    pub degraded: Vec<Degradation>,
}

/// Something that does not work as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Degradation {
    /// The part: `catalogue`, `disk`, `engine` or `index`.
    pub part: &'static str,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

impl Health {
    /// Tells whether everything works.
    pub fn is_whole(&self) -> bool {
        self.reads && self.writes && self.degraded.is_empty()
    }
}

/// Looks at a catalogue and an engine. Nothing is asked of an engine elsewhere: that it is away is
/// known from when it was asked last, and from the namespaces that could not follow.
pub(crate) fn examine(
    catalogue: &dyn Catalogue,
    engine: &dyn Engine,
    away: Option<String>,
    behind: &BTreeMap<NamespaceId, String>,
) -> Health {
    let mut degraded = vec![];
    let mut reads = match catalogue.identity() {
        Ok(_) => true,
        Err(error) => {
            degraded.push(Degradation { part: "catalogue", problem: with_causes(&error) });
            false
        }
    };
    if let Some(problem) = catalogue.concern().filter(|_| reads) {
        degraded.push(Degradation { part: "catalogue", problem });
    }
    let writes = reads
        && match catalogue.can_write() {
            Ok(()) => true,
            Err(error) => {
                let part = if error.is_disk_full() { "disk" } else { "catalogue" };
                degraded.push(Degradation { part, problem: with_causes(&error) });
                false
            }
        };
    let lag = match lag(catalogue, engine, |_| true) {
        Ok(lag) => lag,
        Err(error) => {
            let is_said = degraded.iter().any(|one: &Degradation| one.part == "catalogue");
            if error.is_catalogue_away() {
                // It went away since its identity was read: one session may outlive the others.
                reads = false;
                if !is_said {
                    degraded.push(Degradation { part: "catalogue", problem: with_causes(&error) });
                }
            } else if reads {
                degraded.push(Degradation { part: "engine", problem: with_causes(&error) });
            }
            0
        }
    };
    // What is sent then is refused: nobody could find it.
    let writes = reads && writes && away.is_none();
    if let Some(problem) = away {
        let problem = format!("`{}` does not answer: {problem}", engine.info().name);
        degraded.push(Degradation { part: "engine", problem });
    }
    let part = if engine.info().is_elsewhere() { "engine" } else { "index" };
    for (namespace, problem) in behind.iter().take(MAX_NAMED) {
        let problem = format!("`{namespace}` is stored but not searchable yet: {problem}");
        degraded.push(Degradation { part, problem });
    }
    if behind.len() > MAX_NAMED {
        let problem =
            format!("`{}` more namespaces are not searchable yet", behind.len() - MAX_NAMED);
        degraded.push(Degradation { part, problem });
    }
    Health { reads, writes, lag, degraded }
}

/// Counts the changes of the namespaces in use that the catalogue has and searches do not see yet,
/// of those whose numbers are wanted.
pub(crate) fn lag(
    catalogue: &dyn Catalogue,
    engine: &dyn Engine,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<u64> {
    let positions = engine.positions()?;
    let behind = |head: NamespaceHead| {
        let position = positions.iter().find(|position| position.number == head.number);
        position.map_or(0, |position| head.sequence.saturating_sub(position.seen))
    };
    let heads = catalogue.heads()?.into_iter().filter(|head| is_wanted(head.number));
    Ok(heads.map(behind).sum())
}
