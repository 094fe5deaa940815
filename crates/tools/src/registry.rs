//! The tools of a server or endpoint, in their fixed order.

use std::sync::Arc;

use model::Caller;

use crate::{Exposure, Served, Spec, Tool};

/// A tool as one caller sees it.
#[derive(Clone)]
pub struct Listed {
    /// The description for this caller.
    pub spec: Arc<Spec>,
    /// The tool.
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
}

impl Registry {
    /// Keeps the tools in the given order, which is the order of `tools/list`.
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        Registry {
            tools: tools.into_iter().map(Arc::from).collect(),
            exposure: Arc::new(Exposure::default()),
        }
    }

    /// Adds a tool at the end.
    pub fn push(&mut self, tool: Arc<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Serves the same tools to those whom an exposure allows them.
    #[must_use]
    pub fn exposed(&self, exposure: Exposure) -> Self {
        Registry { tools: self.tools.clone(), exposure: Arc::new(exposure) }
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
        let specs: Vec<(Arc<Spec>, &Arc<dyn Tool>)> =
            self.tools.iter().filter_map(|tool| Some((tool.spec(caller)?, tool))).collect();
        let allowed = specs.iter().filter(|(spec, _)| self.exposure.allows(&spec.name, caller));
        let served = Arc::new(Served::new(allowed.map(|(spec, _)| spec.name.clone())));
        let (spec, tool) = specs.into_iter().find(|(spec, _)| spec.name == name)?;
        // A call is checked by the schema as it is: only what is shown differs between callers.
        Some(Listed { spec, tool: Arc::clone(tool), served })
    }
}
