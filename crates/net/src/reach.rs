//! Which addresses may be reached. The check looks at resolved addresses, so a public name that
//! points inside is refused like a private one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config as AgentConfig;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The places a client may talk to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only.
    PublicOnly,
    /// Public addresses, and these hosts wherever they are: the operator named them.
    PublicAnd {
        /// Host names or addresses as they are in URLs, without port.
        hosts: Vec<String>,
    },
    /// Every address.
    Anywhere,
}

impl Reach {
    /// Allows public addresses and the host of this URL, as an operator's setting does.
    pub fn public_and_host_of(url: &str) -> Self {
        match url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)) {
            Some(host) => Reach::PublicAnd { hosts: vec![host] },
            None => Reach::PublicOnly,
        }
    }

    fn allows(&self, host: &str, address: IpAddr) -> bool {
        match self {
            Reach::Anywhere => true,
            Reach::PublicOnly => is_public(address),
            Reach::PublicAnd { hosts } => {
                is_public(address) || hosts.iter().any(|named| named.eq_ignore_ascii_case(host))
            }
        }
    }
}

/// Tells whether an address belongs to the public Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)            // this network, private, loopback
            | (100, 64..=127, _)        // shared by carriers
            | (169, 254, _)             // link-local, and the metadata services of clouds
            | (172, 16..=31, _)         // private
            | (192, 0, 0 | 2)           // protocol assignments, documentation
            | (192, 88, 99)             // relays that are no longer used
            | (192, 168, _)             // private
            | (198, 18 | 19, _)         // benchmarks
            | (198, 51, 100)            // documentation
            | (203, 0, 113)             // documentation
            | (224..=255, _, _) // multicast, reserved, broadcast
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // Global unicast is 2000::/3; Teredo (2001::/32), documentation (2001:db8::/32, 3fff::/20)
    // and the benchmark prefix (2001:2::/48) are carved out of it.
    let is_global = first & 0xe000 == 0x2000;
    let is_carved_out = (first == 0x2001 && matches!(second, 0 | 2 | 0xdb8))
        || (first == 0x3fff && second & 0xf000 == 0);
    is_global && !is_carved_out
}

/// Gives the IPv4 address that an IPv6 address only wraps: mapped, compatible, 6to4, NAT64.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let from = |high: u16, low: u16| {
        let [one, two] = high.to_be_bytes();
        let [three, four] = low.to_be_bytes();
        Ipv4Addr::new(one, two, three, four)
    };
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(from(g, h)),
        (0x2002, high, low, _, _, _) => Some(from(high, low)),
        _ => None,
    }
}

/// Resolves names and drops the addresses that may not be reached.
pub(crate) struct GuardedResolver {
    inner: DefaultResolver,
    reach: Reach,
}

impl GuardedResolver {
    pub(crate) fn new(reach: Reach) -> Self {
        GuardedResolver { inner: DefaultResolver::default(), reach }
    }
}

impl fmt::Debug for GuardedResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedResolver").field("reach", &self.reach).finish()
    }
}

impl Resolver for GuardedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &AgentConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let resolved = self.inner.resolve(uri, config, timeout)?;
        let host = uri.host().unwrap_or_default();
        let mut allowed = self.empty();
        let mut first_refused = None;
        for address in resolved.iter() {
            if self.reach.allows(host, address.ip()) {
                allowed.push(*address);
            } else {
                first_refused.get_or_insert(address.ip());
            }
        }
        match first_refused {
            Some(address) if allowed.is_empty() => {
                let refused = Refused { host: host.to_owned(), address };
                Err(ureq::Error::Io(std::io::Error::new(
                    std::io::ErrorKind::PermissionDenied,
                    refused,
                )))
            }
            _ => Ok(allowed),
        }
    }
}

/// Carries the refusal through the client's own error type.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{host}` is at `{address}`, which is not allowed")]
pub(crate) struct Refused {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: bool) {
        assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn special_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "64:ff9b::a00:1",
            "100::1",
            "3fff::1",
        ] {
            check(address, false);
        }
    }

    #[test]
    fn ordinary_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.1.0.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::8a",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            check(address, true);
        }
    }

    #[test]
    fn a_named_host_is_allowed_where_it_stands() {
        let reach = Reach::public_and_host_of("http://LocalHost:11434/api");
        let loopback = "127.0.0.1".parse().unwrap();
        assert!(reach.allows("localhost", loopback));
        assert!(!reach.allows("other.example", loopback));
        assert!(!Reach::PublicOnly.allows("localhost", loopback));
        assert!(Reach::Anywhere.allows("localhost", loopback));
        assert_eq!(Reach::public_and_host_of("nonsense"), Reach::PublicOnly);
    }
}
