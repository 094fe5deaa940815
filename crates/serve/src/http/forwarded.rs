//! The address of a client behind a proxy.
//!
//! Only a proxy of `server.trusted_proxies` is believed, and only the part of `X-Forwarded-For`
//! that trusted proxies wrote: it is read from its end, and the first address that is not one of
//! theirs is the client. What is before it was written by the client and can be anything.

use std::net::IpAddr;

use http::HeaderMap;

use crate::config::Network;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Gives the client of a request that came over a connection from `peer`.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let peer = peer.to_canonical();
    if !is_trusted(peer) {
        return peer;
    }
    let mut client = peer;
    let values: Vec<&str> =
        headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
    for hop in values.iter().flat_map(|value| value.split(',')).rev() {
        // What is no address ends the walk: the last proxy that was understood is the client.
        let Some(address) = parse(hop.trim()) else { break };
        client = address;
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// Reads an address with or without a port.
fn parse(hop: &str) -> Option<IpAddr> {
    let address = hop.parse::<IpAddr>().ok().or_else(|| {
        hop.parse::<std::net::SocketAddr>()
            .ok()
            .map(|address| address.ip())
            .or_else(|| hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6))
    });
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let trusted: Vec<Network> =
            ["10.0.0.0/8", "::1"].iter().map(|network| network.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let client = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(client, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
    }

    #[test]
    fn only_what_trusted_proxies_wrote_is_believed() {
        check("192.0.2.7", &["198.51.100.1"], "192.0.2.7");
        check("10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9", "198.51.100.1, 10.9.9.9"], "198.51.100.1");
        check("::ffff:10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1");
        check("::1", &["[2001:db8::1]:80"], "2001:db8::1");
        check("10.0.0.1", &["198.51.100.1, unknown"], "10.0.0.1");
        check("10.0.0.1", &[], "10.0.0.1");
    }
}
