//! Keys in the formats that providers document, signed tokens, and passwords inside addresses.
//!
//! The text is cut into runs of characters that keys are made of; a run is compared with the
//! table of prefixes once, so many triggers inside one run cost nothing extra.

use std::ops::Range;

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
    /// Lower-case hexadecimal digits and `-`.
    HexDashed,
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
    Format("AQVN", 36, Tail::UrlSafe),
    Format("fm1_", 60, Tail::UrlSafe),
    Format("fm2_", 60, Tail::UrlSafe),
    Format("pscale_pw_", 32, Tail::Dotted),
    Format("pscale_oauth_", 32, Tail::Dotted),
    Format("nfp_", 32, Tail::Alphanumeric),
    Format("rnd_", 24, Tail::Alphanumeric),
    Format("vcp_", 24, Tail::Alphanumeric),
    Format("vercel_blob_rw_", 24, Tail::UrlSafe),
    Format("napi_", 40, Tail::Alphanumeric),
    Format("xau_", 32, Tail::Alphanumeric),
    Format("v1.0-", 100, Tail::HexDashed),
    Format("dt0c01.", 60, Tail::Dotted),
    Format("ops_eyJ", 60, Tail::UrlSafe),
    Format("tk-us-", 40, Tail::UrlSafe),
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
    Format("tgp_v1_", 30, Tail::UrlSafe),
    Format("pcsk_", 40, Tail::UrlSafe),
    Format("csk-", 40, Tail::Alphanumeric),
    Format("tvly-", 24, Tail::UrlSafe),
    Format("lsv2_", 40, Tail::UrlSafe),
    Format("e2b_", 32, Tail::Hex),
    Format("rpa_", 40, Tail::Alphanumeric),
    Format("bb_live_", 20, Tail::UrlSafe),
    Format("sess-", 40, Tail::Alphanumeric),
    Format("sk_", 48, Tail::Hex),
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
    Format("glc_", 32, Tail::UrlSafe),
    Format("glcbt-", 20, Tail::UrlSafe),
    Format("glimt-", 20, Tail::UrlSafe),
    Format("glsoat-", 20, Tail::UrlSafe),
    Format("glft-", 20, Tail::UrlSafe),
    Format("gloas-", 40, Tail::UrlSafe),
    Format("glagent-", 40, Tail::UrlSafe),
    Format("dckr_oat_", 24, Tail::UrlSafe),
    Format("ATBB", 32, Tail::Alphanumeric),
    Format("ATCTT3", 40, Tail::UrlSafe),
    Format("ATTA", 60, Tail::Alphanumeric),
    Format("AKCp", 60, Tail::Alphanumeric),
    Format("oy2", 43, Tail::Alphanumeric),
    Format("cio", 32, Tail::Alphanumeric),
    Format("lin_oauth_", 32, Tail::Alphanumeric),
    Format("CCIPAT_", 32, Tail::UrlSafe),
    Format("bkua_", 36, Tail::Hex),
    Format("squ_", 40, Tail::Hex),
    Format("sqp_", 40, Tail::Hex),
    Format("sqa_", 40, Tail::Hex),
    Format("pnu_", 36, Tail::Alphanumeric),
    Format("sntryu_", 40, Tail::UrlSafe),
    Format("phx_", 40, Tail::Alphanumeric),
    Format("dp.st.", 40, Tail::Dotted),
    Format("dp.ct.", 40, Tail::Dotted),
    Format("dp.sa.", 40, Tail::Dotted),
    Format("dp.scim.", 40, Tail::Dotted),
    Format("CFPAT-", 40, Tail::UrlSafe),
    Format("rdme_", 40, Tail::Alphanumeric),
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
    Format("EAAA", 56, Tail::UrlSafe),
    Format("EAAC", 60, Tail::Alphanumeric),
    Format("EAAG", 60, Tail::Alphanumeric),
    Format("EZAK", 50, Tail::Alphanumeric),
    Format("FLWSECK-", 20, Tail::UrlSafe),
    Format("shippo_live_", 40, Tail::Hex),
    Format("duffel_live_", 40, Tail::UrlSafe),
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
    Format("xoxc-", 20, Tail::UrlSafe),
    Format("xoxd-", 20, Tail::UrlSafe),
    Format("xkeysib-", 60, Tail::UrlSafe),
    Format("mfa.", 60, Tail::UrlSafe),
    Format("tfp_", 40, Tail::UrlSafe),
    Format("re_", 28, Tail::UrlSafe),
    Format("sl.", 100, Tail::UrlSafe),
    Format("aio_", 28, Tail::Alphanumeric),
    Format("secret_", 40, Tail::Alphanumeric),
];

/// Shortest run that any format fits in.
const MIN_RUN_BYTES: usize = 20;
/// Signs inside a run behind which a key may begin, at most.
const MAX_SIGNS: usize = 8;
/// The shortest prefix that is looked for behind such a sign.
const MIN_INNER_PREFIX_BYTES: usize = 4;
/// Shortest head and body of a signed token.
const MIN_JWT_PART_BYTES: usize = 10;
/// How far after `://` a password may be.
const MAX_AUTHORITY_BYTES: usize = 256;

/// One of these is in every text that has a secret in an address.
pub(super) const SIGNS: &[&str] = &[
    "://",
    HOOKS[0],
    HOOKS[1],
    HOOKS[2],
    HOOKS[3],
    HOOKS[4],
    "sig=",
    "-Signature=",
    ":thin:",
    "Q~",
];

/// What addresses of chat hooks have before their secret path.
const HOOKS: [&str; 5] = [
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "hooks.zapier.com/hooks/catch/",
];

/// Finds passwords, secret paths and signatures in addresses.
pub(super) fn find_in_addresses(text: &str, found: &mut Vec<PrivatePiece>) {
    find_url_passwords(text, found);
    find_hooks(text, found);
    find_signatures(text, found);
    find_thin(text, found);
    find_tilde_secrets(text, found);
}

/// Finds the password of `jdbc:oracle:thin:ann/…@host`.
fn find_thin(text: &str, found: &mut Vec<PrivatePiece>) {
    for (at, sign) in text.match_indices(":thin:") {
        let start = at + sign.len();
        let rest = super::after(text, start, MAX_AUTHORITY_BYTES);
        let word = rest.split([' ', '\n', '"', '\'']).next().unwrap_or_default();
        if let Some((login, _)) = word.rsplit_once('@')
            && let Some((user, password)) = login.split_once('/')
            && !password.is_empty()
        {
            let from = start + user.len() + 1;
            let bytes = from..from + password.len();
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
        }
    }
}

/// Finds secrets of applications in a directory: `abc8Q~…`, 40 characters.
fn find_tilde_secrets(text: &str, found: &mut Vec<PrivatePiece>) {
    let is_part = |byte: &u8| is_run_byte(*byte) || *byte == b'~';
    for (at, sign) in text.match_indices("Q~") {
        let Some(start) = at.checked_sub(4) else { continue };
        let bytes = text.as_bytes();
        let head = bytes.get(start..at).unwrap_or_default();
        let is_head = head.iter().all(is_part) && head.last().is_some_and(u8::is_ascii_digit);
        let tail = bytes.get(at + sign.len()..).unwrap_or_default();
        let tail_len = tail.iter().take(64).take_while(|byte| is_part(byte)).count();
        let is_whole = start.checked_sub(1).is_none_or(|at| !bytes.get(at).is_some_and(is_part));
        if is_head && is_whole && (31..=34).contains(&tail_len) {
            let bytes = start..at + sign.len() + tail_len;
            found.push(PrivatePiece { kind: PrivateKind::Token, bytes });
        }
    }
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
            if let Some(key) = key_in(run) {
                let bytes = at + key.start..at + key.end;
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes });
            } else if let Some(start) = bot_token_start(bytes, at, run) {
                let end = at + run.trim_end_matches('.').len();
                found.push(PrivatePiece { kind: PrivateKind::Token, bytes: start..end });
            }
        }
        at += run_len;
    }
}

/// Gives where the key is that a run holds: at its begin, or behind a sign that may be in front of
/// one (`backup-AKIA…`, `old.ghp_…`).
fn key_in(run: &str) -> Option<Range<usize>> {
    let whole = jwt_len(run).or_else(|| dotted_len(run));
    if let Some(len) = key_len(run).or(whole) {
        return Some(0..len);
    }
    let signs = run.match_indices(['.', '_', '-']).map(|(at, _)| at + 1).take(MAX_SIGNS);
    signs.filter(|start| run.len() - start >= MIN_RUN_BYTES).find_map(|start| {
        let rest = run.get(start..)?;
        // Short prefixes are ends of words: `task-…`, `SDK`.
        let (prefix_len, len) = prefixed_len(rest)?;
        (prefix_len >= MIN_INNER_PREFIX_BYTES).then_some(start..start + len)
    })
}

/// Tokens of three parts with points between: of chat bots, bases and deployments, by the lengths
/// of their parts.
fn dotted_len(run: &str) -> Option<usize> {
    let run = run.trim_end_matches('.');
    let mut parts = run.split('.');
    let (head, middle) = (parts.next()?, parts.next()?);
    let tail = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let is_mixed = |part: &str| {
        let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
    };
    let is_hex = |part: &str| part.bytes().all(|byte| Tail::Hex.takes(byte));
    let is_key = match tail {
        Some(tail) => {
            let is_bot = (23..=28).contains(&head.len())
                && head.starts_with(['M', 'N', 'O'])
                && (6..=7).contains(&middle.len())
                && (27..=40).contains(&tail.len());
            let is_deployment = middle == "atlasv1" && head.len() == 14 && tail.len() >= 60;
            // A public one begins with `pk`.
            let is_map = head == "sk" && middle.starts_with("eyJ") && tail.len() >= 20;
            (is_bot && is_mixed(tail)) || is_deployment || is_map
        }
        None => head.len() == 17 && head.starts_with("pat") && middle.len() == 64 && is_hex(middle),
    };
    is_key.then_some(run.len())
}

/// Gives the length of the key that a run starts with.
fn key_len(run: &str) -> Option<usize> {
    prefixed_len(run).map(|(_, len)| len)
}

/// Gives the lengths of the prefix and of the whole of the key that a run starts with.
fn prefixed_len(run: &str) -> Option<(usize, usize)> {
    FORMATS.iter().find_map(|Format(prefix, min_tail, tail)| {
        let rest = run.strip_prefix(prefix)?;
        let tail_len = rest.bytes().take_while(|byte| tail.takes(*byte)).count();
        let tail_len = rest.get(..tail_len)?.trim_end_matches(['.', '-']).len();
        let mixed = rest.get(..tail_len)?.bytes().any(|byte| byte.is_ascii_digit())
            || rest.get(..tail_len)?.bytes().any(|byte| byte.is_ascii_uppercase());
        let ends = !rest.as_bytes().get(tail_len).is_some_and(u8::is_ascii_alphanumeric);
        (tail_len >= *min_tail && mixed && ends).then_some((prefix.len(), prefix.len() + tail_len))
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
        let is_end =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>');
        let word_len = authority.iter().position(is_end).unwrap_or(authority.len());
        let word = authority.get(..word_len).unwrap_or_default();
        let authority = authority_of(word);
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

/// Gives the part of an address before its path. People write passwords as they are, with signs in
/// them that begin a path elsewhere: `amqp://ann:ti#ger@host`.
fn authority_of(word: &[u8]) -> &[u8] {
    let is_sign = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
    let Some(end) = word.iter().position(is_sign) else { return word };
    let (plain, rest) = word.split_at(end);
    let password = plain.iter().position(|byte| *byte == b':').and_then(|at| plain.get(at + 1..));
    let is_port = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let is_password = !plain.contains(&b'@')
        && password.is_some_and(|part| !is_port(part))
        && rest.contains(&b'@');
    if is_password { word } else { plain }
}

/// Finds the secret path of a chat hook's address.
fn find_hooks(text: &str, found: &mut Vec<PrivatePiece>) {
    for hook in HOOKS {
        for (at, _) in text.match_indices(hook) {
            let start = at + hook.len();
            let rest = text.get(start..).unwrap_or_default();
            let len = rest.bytes().take(MAX_AUTHORITY_BYTES).take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'@')
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
            Tail::HexDashed => Tail::Hex.takes(byte) || byte == b'-',
        }
    }
}
