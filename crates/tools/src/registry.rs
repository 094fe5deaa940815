//! The tools of a server or endpoint, in their fixed order.

use std::sync::Arc;

use model::Caller;

use crate::{Exposure, Spec, Tool};

/// A tool as one caller sees it.
#[derive(Clone)]
pub struct Listed {
    /// The description for this caller.
    pub spec: Arc<Spec>,
    /// The tool.
    pub tool: Arc<dyn Tool>,
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
        self.tools
            .iter()
            .filter(|tool| tool.is_listed(caller))
            .filter_map(|tool| {
                tool.spec(caller).map(|spec| Listed { spec, tool: Arc::clone(tool) })
            })
            .filter(|listed| self.exposure.allows(&listed.spec.name, caller))
            .collect()
    }

    /// Finds a tool by the name a caller uses.
    pub fn get(&self, name: &str, caller: &Caller) -> Option<Listed> {
        if !self.exposure.allows(name, caller) {
            return None;
        }
        self.tools.iter().find_map(|tool| {
            let spec = tool.spec(caller)?;
            (spec.name == name).then(|| Listed { spec, tool: Arc::clone(tool) })
        })
    }
}
