//! The tools of a server or endpoint, in their fixed order.

use std::sync::Arc;

use model::Caller;

use crate::{Spec, Tool};

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
}

impl Registry {
    /// Keeps the tools in the given order, which is the order of `tools/list`.
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        Registry { tools: tools.into_iter().map(Arc::from).collect() }
    }

    /// Adds a tool at the end.
    pub fn push(&mut self, tool: Arc<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Keeps only the tools with these names; all of them when none is named. Gives the names
    /// that no tool has.
    pub fn keep_only(&mut self, names: &[String], caller: &Caller) -> Vec<String> {
        if names.is_empty() {
            return Vec::new();
        }
        let name_of = |tool: &Arc<dyn Tool>| tool.spec(caller).map(|spec| spec.name.clone());
        let known: Vec<String> = self.tools.iter().filter_map(name_of).collect();
        self.tools.retain(|tool| name_of(tool).is_some_and(|name| names.contains(&name)));
        names.iter().filter(|name| !known.contains(name)).cloned().collect()
    }

    /// Lists what exists for a caller and has something to work on.
    pub fn list(&self, caller: &Caller) -> Vec<Listed> {
        self.tools
            .iter()
            .filter(|tool| tool.is_listed(caller))
            .filter_map(|tool| {
                tool.spec(caller).map(|spec| Listed { spec, tool: Arc::clone(tool) })
            })
            .collect()
    }

    /// Finds a tool by the name a caller uses.
    pub fn get(&self, name: &str, caller: &Caller) -> Option<Listed> {
        self.tools.iter().find_map(|tool| {
            let spec = tool.spec(caller)?;
            (spec.name == name).then(|| Listed { spec, tool: Arc::clone(tool) })
        })
    }
}
