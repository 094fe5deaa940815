//! The `[server]` section of the configuration.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::Deserialize;
use tools::ToolNames;

/// Where the server listens and under which names it is known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address in links that leave the server; the listening address unless set, of this
    /// machine where that is every address.
    pub public_url: Option<String>,
    /// `Host` headers that are accepted beside loopback.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call.
    pub allowed_origins: Vec<String>,
    /// Tools that are served at `/mcp` and `/v1/call`; all of them when empty.
    pub tools: Vec<String>,
    /// Tools that are not served; wins over `tools`.
    pub hidden_tools: Vec<String>,
    /// Further MCP addresses with a part of the tools, `/mcp/NAME`.
    pub endpoints: Vec<EndpointConfig>,
    /// Addresses or networks (`10.0.0.0/8`) of proxies in front of this server. Their connections
    /// are not limited, and the client's address is read from their `X-Forwarded-For`.
    pub trusted_proxies: Vec<Network>,
}

/// `[[server.endpoints]]`: an MCP address with a part of the tools, for the same callers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// The name in the address: letters, digits and hyphens.
    pub name: String,
    /// The tools that are served there; all of those that the server has when empty.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The tools that are not served there.
    #[serde(default)]
    pub hidden_tools: Vec<String>,
}

impl EndpointConfig {
    /// Gives the lists of tools.
    pub fn names(&self) -> ToolNames {
        ToolNames { tools: self.tools.clone(), hidden_tools: self.hidden_tools.clone() }
    }

    /// Says what is wrong with the name: it must not look like an id of an endpoint that users
    /// made.
    pub fn problem(&self) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_id = self.name.len() == 36 && self.name.matches('-').count() == 4;
        (self.name.is_empty() || !self.name.chars().all(is_plain) || is_id).then(|| {
            format!(
                "`server.endpoints` has the name `{}`: expected letters, digits and hyphens, and \
                 no UUID",
                self.name
            )
        })
    }
}

/// An address, or a network of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network(IpNet);

impl Network {
    /// Tells whether an address belongs to it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let network = text.parse::<IpNet>().ok();
        let network = network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        network.map(Network).ok_or_else(|| {
            format!("`{text}` is neither an address (`10.0.0.1`) nor a network (`10.0.0.0/8`)")
        })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 7700)),
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            tools: Vec::new(),
            hidden_tools: Vec::new(),
            endpoints: Vec::new(),
        }
    }
}

impl ServerConfig {
    /// Tells whether an address is one of the trusted proxies.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }

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

    /// Gives the address for links, without a slash at its end. A server that listens on every
    /// address (`0.0.0.0`) is reached by none of that name: links are those of its own machine.
    pub fn link_base(&self) -> String {
        let mut reached = self.listen;
        if reached.ip().is_unspecified() {
            reached.set_ip(match reached.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{reached}"),
        }
    }

    /// Tells whether links are of no use on other machines, which are let in.
    pub fn lacks_public_url(&self) -> bool {
        self.public_url.is_none() && self.listen.ip().is_unspecified()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listen: &str, public_url: Option<&str>, expected: &str) {
        let public_url = public_url.map(str::to_owned);
        let listen = listen.parse().unwrap();
        let config = ServerConfig { listen, public_url, ..ServerConfig::default() };
        assert_eq!(config.link_base(), expected);
    }

    /// A server in a container gave links to `http://0.0.0.0:7700`.
    #[test]
    fn links_begin_with_an_address_that_can_be_reached() {
        check("127.0.0.1:7700", None, "http://127.0.0.1:7700");
        check("192.168.1.2:80", None, "http://192.168.1.2:80");
        check("0.0.0.0:7700", None, "http://127.0.0.1:7700");
        check("[::]:7700", None, "http://[::1]:7700");
        check("0.0.0.0:7700", Some("https://find.example/x/"), "https://find.example/x");
    }
}
