//! The tools of a server or endpoint, in their fixed order.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use model::Caller;

use crate::{Exposure, Served, Spec, Tool};

/// A tool as one caller sees it.
#[derive(Clone)]
pub struct Listed {
    /// The description for this caller.
    pub spec: Arc<Spec>,
    /// To be called by the name in its description.
    pub tool: Arc<dyn Tool>,
    /// The tools that this caller has: no other is named to them.
    pub served: Arc<Served>,
}

impl Listed {
    /// Takes a tool that is served by itself.
    pub fn alone(spec: Arc<Spec>, tool: Arc<dyn Tool>) -> Self {
        let served = Arc::new(Served::new([spec.name.clone()]));
        Listed { spec, tool, served }
    }
}

/// Every tool that is served at one address.
#[derive(Default, Clone)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    exposure: Arc<Exposure>,
    /// Where a name was found before: the descriptions of some tools are read from a catalogue,
    /// and a call needs that of one.
    places: Arc<RwLock<HashMap<String, usize>>>,
}

impl Registry {
    /// Keeps the tools in the given order, which is the order of `tools/list`.
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        Registry {
            tools: tools.into_iter().map(Arc::from).collect(),
            exposure: Arc::new(Exposure::default()),
            places: Arc::default(),
        }
    }

    /// Adds a tool at the end.
    pub fn push(&mut self, tool: Arc<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Serves the same tools to those whom an exposure allows them.
    #[must_use]
    pub fn exposed(&self, exposure: Exposure) -> Self {
        Registry { exposure: Arc::new(exposure), ..self.clone() }
    }

    /// Gives what is exposed.
    pub fn exposure(&self) -> &Exposure {
        &self.exposure
    }

    /// Lists what exists for a caller and has something to work on.
    pub fn list(&self, caller: &Caller) -> Vec<Listed> {
        let listed: Vec<(Arc<Spec>, &Arc<dyn Tool>)> = self
            .tools
            .iter()
            .filter(|tool| tool.is_listed(caller))
            .filter_map(|tool| tool.spec(caller).map(|spec| (spec, tool)))
            .filter(|(spec, _)| self.exposure.allows(&spec.name, caller))
            .collect();
        let names = listed.iter().map(|(spec, _)| spec.name.clone());
        let served = Arc::new(Served::new(names));
        listed
            .into_iter()
            .map(|(spec, tool)| Listed {
                spec: served.spec(&spec).map_or(spec, Arc::new),
                tool: Arc::clone(tool),
                served: Arc::clone(&served),
            })
            .collect()
    }

    /// Finds a tool by the name a caller uses.
    pub fn get(&self, name: &str, caller: &Caller) -> Option<Listed> {
        if !self.exposure.allows(name, caller) {
            return None;
        }
        let (spec, tool) = self.find(name, caller)?;
        let served = {
            let (registry, caller) = (self.clone(), caller.clone());
            Arc::new(Served::when_asked(move || registry.names(&caller)))
        };
        // A call is checked by the schema as it is: only what is shown differs between callers.
        Some(Listed { spec, tool: Arc::clone(tool), served })
    }

    fn find(&self, name: &str, caller: &Caller) -> Option<(Arc<Spec>, &Arc<dyn Tool>)> {
        let at = |place: usize| {
            let tool = self.tools.get(place)?;
            tool.spec(caller).filter(|spec| spec.name == name).map(|spec| (spec, tool))
        };
        let known = self.places.read().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        if let Some(found) = known.and_then(at) {
            return Some(found);
        }
        let (place, found) =
            (0..self.tools.len()).find_map(|place| at(place).map(|found| (place, found)))?;
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        places.insert(name.to_owned(), place);
        Some(found)
    }

    /// Names the tools that a caller can call.
    fn names(&self, caller: &Caller) -> BTreeSet<String> {
        let specs = self.tools.iter().filter_map(|tool| tool.spec(caller));
        let allowed = specs.filter(|spec| self.exposure.allows(&spec.name, caller));
        allowed.map(|spec| spec.name.clone()).collect()
    }
}
