//! The endpoints of the contexts family: whoever holds a key sees the tools bound to it now.

use tools::Registry;

use crate::{Endpoints, Opened};

/// Endpoints that users made.
pub struct ContextEndpoints(contexts::Service);

impl ContextEndpoints {
    /// Opens the endpoints of a service.
    pub fn new(service: contexts::Service) -> Self {
        ContextEndpoints(service)
    }
}

impl Endpoints for ContextEndpoints {
    fn open(&self, endpoint: &str, key: Option<&str>) -> Option<Opened> {
        let opened = match self.0.open_endpoint(&contexts::EndpointId::new(endpoint), key) {
            Ok(opened) => opened?,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "an endpoint could not be opened");
                return None;
            }
        };
        let mut tools = Registry::default();
        for tool in &opened.tools {
            tools.push(tools::contexts::tool(&self.0, tool));
        }
        Some(Opened { tools, caller: opened.caller })
    }
}
