//! Which `Host` and `Origin` headers are ours. A page of a stranger that makes a browser call a
//! server on the visitor's own machine (DNS rebinding) fails on one of the two.

use std::net::IpAddr;

/// Names under which a machine knows itself.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Tells whether a `Host` header names this server: loopback, or one of the configured names.
/// A configured name without a port stands for every port.
pub fn is_own_host(host: &str, allowed: &[String]) -> bool {
    let name = without_port(host);
    let is_loopback = LOOPBACK_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name));
    is_loopback
        || allowed
            .iter()
            .any(|own| own.eq_ignore_ascii_case(host) || own.eq_ignore_ascii_case(name))
}

/// Tells whether a page of this origin may call: the server itself on loopback, or one of the
/// configured origins, compared as a whole.
pub fn is_own_origin(origin: &str, allowed: &[String]) -> bool {
    if allowed.iter().any(|own| own.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Some(authority) =
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
    else {
        return false;
    };
    let name = without_port(authority);
    LOOPBACK_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Tells whether an address can be reached only from this machine.
pub fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(host: &str, expected: bool) {
        let allowed = ["search.example.org".to_owned(), "other.example.org:8443".to_owned()];
        assert_eq!(is_own_host(host, &allowed), expected, "{host}");
    }

    #[test]
    fn hosts() {
        check_host("127.0.0.1:7700", true);
        check_host("localhost", true);
        check_host("LOCALHOST:1", true);
        check_host("[::1]:7700", true);
        check_host("search.example.org", true);
        check_host("search.example.org:443", true);
        check_host("other.example.org:8443", true);
        check_host("other.example.org", false);
        check_host("evil.example", false);
        check_host("127.0.0.1.evil.example", false);
        check_host("localhost.evil.example:7700", false);
        check_host("", false);
    }

    #[track_caller]
    fn check_origin(origin: &str, expected: bool) {
        let allowed = ["https://chat.example.org".to_owned()];
        assert_eq!(is_own_origin(origin, &allowed), expected, "{origin}");
    }

    #[test]
    fn origins() {
        check_origin("http://127.0.0.1:7700", true);
        check_origin("http://localhost:3000", true);
        check_origin("https://chat.example.org", true);
        check_origin("http://chat.example.org", false);
        check_origin("https://chat.example.org.evil.example", false);
        check_origin("https://evil.example", false);
        check_origin("null", false);
        check_origin("file://", false);
    }
}
