//! The `[server]` section of the configuration.

use std::net::SocketAddr;

use serde::Deserialize;

/// Where the server listens and under which names it is known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address in links that leave the server; the listening address unless set.
    pub public_url: Option<String>,
    /// `Host` headers that are accepted beside loopback.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call.
    pub allowed_origins: Vec<String>,
    /// Tools that are served at `/mcp` and `/v1/call`; all of them when empty.
    pub tools: Vec<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 7700)),
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tools: Vec::new(),
        }
    }
}

impl ServerConfig {
    /// Gives the path below which people reach this server: empty, or as `/dowse`.
    pub fn base_path(&self) -> String {
        let after_host = self
            .public_url
            .as_deref()
            .and_then(|url| url.split_once("://"))
            .and_then(|(_, rest)| rest.split_once('/'));
        match after_host.map(|(_, path)| path.trim_matches('/')) {
            Some(path) if !path.is_empty() => format!("/{path}"),
            Some(_) | None => String::new(),
        }
    }

    /// Gives the address for links, without a slash at its end.
    pub fn link_base(&self) -> String {
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }
}
