//! Keys in the formats that providers document, signed tokens, and passwords inside addresses.
//!
//! The text is cut into runs of characters that keys are made of; a run is compared with the
//! table of prefixes once, so many triggers inside one run cost nothing extra.

use super::{PrivateKind, PrivatePiece};

/// What may follow a prefix.
#[derive(Clone, Copy)]
enum Tail {
    /// Letters and digits.
    Alphanumeric,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Capitals and digits.
    Upper,
    /// Letters, digits, `_`, `-`.
    UrlSafe,
    /// Letters, digits, `_`, `-`, `.`.
    Dotted,
}

/// A documented key format: its prefix, the shortest tail, and what the tail is made of.
struct Format(&'static str, usize, Tail);

const FORMATS: &[Format] = &[
    // Our own: keys of endpoints.
    Format("dowse_", 43, Tail::UrlSafe),
    // Clouds.
    Format("AKIA", 16, Tail::Upper),
    Format("ASIA", 16, Tail::Upper),
    Format("ABIA", 16, Tail::Upper),
    Format("ACCA", 16, Tail::Upper),
    Format("AIza", 35, Tail::UrlSafe),
    Format("ya29.", 20, Tail::Dotted),
    Format("GOCSPX-", 24, Tail::UrlSafe),
    Format("LTAI", 16, Tail::Alphanumeric),
    Format("AKID", 32, Tail::Alphanumeric),
    Format("dop_v1_", 64, Tail::Hex),
    Format("doo_v1_", 64, Tail::Hex),
    Format("dor_v1_", 64, Tail::Hex),
    Format("dapi", 32, Tail::Hex),
    Format("hvs.", 24, Tail::UrlSafe),
    Format("hvb.", 24, Tail::UrlSafe),
    Format("tskey-", 20, Tail::UrlSafe),
    Format("sbp_", 40, Tail::Hex),
    Format("pscale_tkn_", 32, Tail::Dotted),
    Format("HRKU-", 32, Tail::UrlSafe),
    Format("pul-", 40, Tail::Hex),
    // Models.
    Format("sk-ant-", 24, Tail::UrlSafe),
    Format("sk-proj-", 20, Tail::UrlSafe),
    Format("sk-svcacct-", 20, Tail::UrlSafe),
    Format("sk-admin-", 20, Tail::UrlSafe),
    Format("sk-or-v1-", 32, Tail::Hex),
    Format("sk-", 32, Tail::Alphanumeric),
    Format("hf_", 30, Tail::Alphanumeric),
    Format("gsk_", 40, Tail::Alphanumeric),
    Format("xai-", 40, Tail::Alphanumeric),
    Format("pplx-", 40, Tail::Alphanumeric),
    Format("r8_", 36, Tail::Alphanumeric),
    Format("jina_", 40, Tail::UrlSafe),
    Format("tpuf_", 20, Tail::Alphanumeric),
    // Code and its packages.
    Format("ghp_", 36, Tail::Alphanumeric),
    Format("gho_", 36, Tail::Alphanumeric),
    Format("ghu_", 36, Tail::Alphanumeric),
    Format("ghs_", 36, Tail::Alphanumeric),
    Format("ghr_", 36, Tail::Alphanumeric),
    Format("github_pat_", 40, Tail::UrlSafe),
    Format("glpat-", 20, Tail::Dotted),
    Format("gldt-", 20, Tail::UrlSafe),
    Format("glrt-", 20, Tail::UrlSafe),
    Format("glptt-", 20, Tail::UrlSafe),
    Format("glsa_", 32, Tail::UrlSafe),
    Format("npm_", 36, Tail::Alphanumeric),
    Format("pypi-", 50, Tail::UrlSafe),
    Format("dckr_pat_", 24, Tail::UrlSafe),
    Format("lin_api_", 32, Tail::Alphanumeric),
    Format("PMAK-", 32, Tail::UrlSafe),
    Format("ATATT3", 40, Tail::UrlSafe),
    Format("sntrys_", 40, Tail::UrlSafe),
    Format("NRAK-", 24, Tail::Upper),
    Format("dp.pt.", 40, Tail::Alphanumeric),
    Format("figd_", 36, Tail::UrlSafe),
    Format("pat-na1-", 32, Tail::UrlSafe),
    Format("pat-eu1-", 32, Tail::UrlSafe),
    Format("rubygems_", 40, Tail::Hex),
    Format("nvapi-", 40, Tail::UrlSafe),
    Format("AGE-SECRET-KEY-1", 40, Tail::Upper),
    // Payments and shops.
    Format("sk_live_", 16, Tail::Alphanumeric),
    Format("sk_test_", 16, Tail::Alphanumeric),
    Format("rk_live_", 16, Tail::Alphanumeric),
    Format("rk_test_", 16, Tail::Alphanumeric),
    Format("whsec_", 24, Tail::Alphanumeric),
    Format("shpat_", 32, Tail::Hex),
    Format("shpss_", 32, Tail::Hex),
    Format("shpca_", 32, Tail::Hex),
    Format("shppa_", 32, Tail::Hex),
    Format("sq0atp-", 22, Tail::UrlSafe),
    Format("sq0csp-", 40, Tail::UrlSafe),
    // Messages and mail.
    Format("xoxb-", 20, Tail::UrlSafe),
    Format("xoxp-", 20, Tail::UrlSafe),
    Format("xoxa-", 20, Tail::UrlSafe),
    Format("xoxr-", 20, Tail::UrlSafe),
    Format("xoxs-", 20, Tail::UrlSafe),
    Format("xoxe-", 20, Tail::UrlSafe),
    Format("xapp-", 20, Tail::UrlSafe),
    Format("SG.", 60, Tail::Dotted),
    Format("key-", 32, Tail::Hex),
    Format("SK", 32, Tail::Hex),
    Format("ntn_", 40, Tail::Alphanumeric),
    Format("secret_", 40, Tail::Alphanumeric),
];

/// Shortest run that any format fits in.
const MIN_RUN_BYTES: usize = 20;
/// Shortest head and body of a signed token.
const MIN_JWT_PART_BYTES: usize = 10;
/// How far after `://` a password may be.
const MAX_AUTHORITY_BYTES: usize = 256;

/// One of these is in every text that has a secret in an address.
pub(super) const SIGNS: &[&str] = &["://", HOOKS[0], HOOKS[1], "sig=", "-Signature="];

/// What addresses of chat hooks have before their secret path.
const HOOKS: [&str; 2] = ["hooks.slack.com/services/", "discord.com/api/webhooks/"];

/// Finds passwords, secret paths and signatures in addresses.
pub(super) fn find_in_addresses(text: &str, found: &mut Vec<PrivatePiece>) {
    find_url_passwords(text, found);
    find_hooks(text, found);
    find_signatures(text, found);
}

/// Finds keys and signed tokens.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let bytes = text.as_bytes();
    // Always the first byte of a run, or none of one.
    let mut at = 0;
    while let Some(first) = bytes.get(at..at + MIN_RUN_BYTES) {
        // Words are short: most of the text is passed over without being looked at.
        if let Some(other) = first.iter().rposition(|byte| !is_run_byte(*byte)) {
            at += other + 1;
            continue;
        }
        let run_len = bytes.iter().skip(at).take_while(|byte| is_run_byte(**byte)).count();
        if let Some(run) = text.get(at..at + run_len) {
            let key_len = key_len(run).or_else(|| jwt_len(run));
            if let Some(key_len) = key_len {
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes: at..at + key_len });
            } else if let Some(start) = bot_token_start(bytes, at, run) {
                let end = at + run.trim_end_matches('.').len();
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes: start..end });
            }
        }
        at += run_len;
    }
}

/// Gives the length of the key that a run starts with.
fn key_len(run: &str) -> Option<usize> {
    FORMATS.iter().find_map(|Format(prefix, min_tail, tail)| {
        let rest = run.strip_prefix(prefix)?;
        let tail_len = rest.bytes().take_while(|byte| tail.takes(*byte)).count();
        let tail_len = rest.get(..tail_len)?.trim_end_matches(['.', '-']).len();
        let mixed = rest.get(..tail_len)?.bytes().any(|byte| byte.is_ascii_digit())
            || rest.get(..tail_len)?.bytes().any(|byte| byte.is_ascii_uppercase());
        let ends = !rest.as_bytes().get(tail_len).is_some_and(u8::is_ascii_alphanumeric);
        (tail_len >= *min_tail && mixed && ends).then_some(prefix.len() + tail_len)
    })
}

/// Gives the length of the signed token (three base64url parts) that a run starts with.
fn jwt_len(run: &str) -> Option<usize> {
    let run = run.trim_end_matches('.');
    let mut parts = run.split('.');
    let (head, body) = (parts.next()?, parts.next()?);
    let shape = head.starts_with("eyJ") && head.len() >= MIN_JWT_PART_BYTES;
    let signature = parts.next().unwrap_or_default();
    // Three parts are a signature, five an encrypted token; an unsigned one has an empty third.
    let n_more = parts.clone().count();
    let is_token = shape && body.len() >= MIN_JWT_PART_BYTES && (n_more == 0 || n_more == 2);
    let has_body = body.starts_with("eyJ") || !signature.is_empty();
    (is_token && has_body).then_some(run.len())
}

/// Gives the start of a chat bot's token: a number, a colon, 35 characters.
fn bot_token_start(bytes: &[u8], at: usize, run: &str) -> Option<usize> {
    if !(34..=36).contains(&run.len()) || bytes.get(at.checked_sub(1)?) != Some(&b':') {
        return None;
    }
    let head = bytes.get(..at - 1)?;
    let n_digits = head.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    (8..=10).contains(&n_digits).then(|| at - 1 - n_digits)
}

/// Finds the password of `scheme://user:password@host`.
fn find_url_passwords(text: &str, found: &mut Vec<PrivatePiece>) {
    for (at, separator) in text.match_indices("://") {
        let start = at + separator.len();
        let authority = text.as_bytes().get(start..).unwrap_or_default();
        let authority = authority.get(..MAX_AUTHORITY_BYTES).unwrap_or(authority);
        let authority_len = authority
            .iter()
            .position(|byte| {
                byte.is_ascii_whitespace()
                    || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
            })
            .unwrap_or(authority.len());
        let authority = authority.get(..authority_len).unwrap_or_default();
        let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { continue };
        let Some(colon) = authority.iter().take(sign).position(|byte| *byte == b':') else {
            continue;
        };
        let value = text.get(start + colon + 1..start + sign).unwrap_or_default();
        if !value.is_empty() && !super::placeholder::is_placeholder(value) {
            let bytes = start + colon + 1..start + sign;
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
        }
    }
}

/// Finds the secret path of a chat hook's address.
fn find_hooks(text: &str, found: &mut Vec<PrivatePiece>) {
    for hook in HOOKS {
        for (at, _) in text.match_indices(hook) {
            let start = at + hook.len();
            let rest = text.get(start..).unwrap_or_default();
            let len = rest.bytes().take(MAX_AUTHORITY_BYTES).take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-')
            });
            let len = len.count();
            if len >= MIN_RUN_BYTES {
                let bytes = start..start + len;
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes });
            }
        }
    }
}

/// Finds signatures in addresses: whoever has the address has what it opens.
fn find_signatures(text: &str, found: &mut Vec<PrivatePiece>) {
    const NAMES: &[&str] = &["sig=", "X-Amz-Signature=", "X-Goog-Signature="];
    for name in NAMES {
        for (at, _) in text.match_indices(name) {
            let is_parameter = text.as_bytes().get(..at).and_then(<[u8]>::last);
            let start = at + name.len();
            let rest = text.as_bytes().get(start..).unwrap_or_default();
            let is_value = |byte: &&u8| is_run_byte(**byte) || b"%+/=".contains(byte);
            let len = rest.iter().take(MAX_AUTHORITY_BYTES * 4).take_while(is_value).count();
            if matches!(is_parameter, Some(b'?' | b'&' | b';')) && len >= MIN_RUN_BYTES {
                let bytes = start..start + len;
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes });
            }
        }
    }
}

fn is_run_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl Tail {
    fn takes(self, byte: u8) -> bool {
        match self {
            Tail::Alphanumeric => byte.is_ascii_alphanumeric(),
            Tail::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Tail::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Tail::UrlSafe => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Tail::Dotted => is_run_byte(byte),
        }
    }
}
