//! E-mail addresses: found from their `@`, outward.

use super::{PrivateKind, PrivatePiece, before};
use crate::analyze::is_ideograph;

/// The longest local part that RFC 5321 allows, in characters.
const MAX_LOCAL_CHARS: usize = 64;
/// The longest domain, in characters.
const MAX_DOMAIN_CHARS: usize = 255;

/// Endings that look like top-level domains but are files: `icon@2x.png`.
const FILE_ENDINGS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "mjs", "ts", "tsx", "map", "exe"];

/// Endings of domains in ideographs.
const IDEOGRAPH_ENDINGS: &[&str] = &[
    "中国",
    "中國",
    "公司",
    "网络",
    "網路",
    "香港",
    "台湾",
    "台灣",
    "在线",
    "商城",
    "网址",
    "企业",
    "世界",
    "手机",
    "みんな",
    "コム",
];

/// Full stops that browsers read as the one of a domain.
const WIDE_DOTS: [char; 2] = ['。', '｡'];

/// Finds e-mail addresses.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    // Two searches for one sign each are far faster than one for either.
    let wide = text.match_indices('\u{ff20}');
    for (at, sign) in text.match_indices('@').chain(wide) {
        let (Some(head), Some(tail)) = (text.get(..at), text.get(at + sign.len()..)) else {
            continue;
        };
        let Some(domain) = domain_part(tail).or_else(|| ideograph_domain(tail)) else { continue };
        let is_ideographic = domain.contains(is_ideograph);
        let local = match is_ideographic {
            true => ideograph_local(head),
            false => quoted_local(head).or_else(|| local_part(head)),
        };
        let Some(local) = local else { continue };
        // The address of a repository names nobody.
        let is_repository =
            local == "git" && tail.get(domain.len()..).is_some_and(|rest| rest.starts_with(':'));
        if is_repository || is_login(head) {
            continue;
        }
        let start = at - local.len();
        let end = at + sign.len() + domain.len();
        found.push(PrivatePiece { kind: PrivateKind::Email, bytes: start..end });
    }
}

/// Tells whether the `@` ends the login part of a web address, `scheme://login@host`.
fn is_login(head: &str) -> bool {
    let near = before(head, head.len(), MAX_DOMAIN_CHARS);
    let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.rsplit_once("://").is_some_and(|(_, login)| !login.contains(['/', '?']))
}

/// `"ana maria"@…`: gives the local part with its quotes.
fn quoted_local(head: &str) -> Option<&str> {
    let inner = before(head.strip_suffix('"')?, head.len() - 1, MAX_LOCAL_CHARS);
    let inner = inner.rsplit('\n').next()?.rsplit_once('"')?.1;
    let is_name = inner.chars().all(|char| is_name_char(char) || " .-+'".contains(char));
    (!inner.trim().is_empty() && is_name).then(|| head.get(head.len() - inner.len() - 2..))?
}

/// Letters of an address in ideographs; what is before them has no sign between.
fn ideograph_local(head: &str) -> Option<&str> {
    let chars = head.char_indices().rev().take(MAX_LOCAL_CHARS);
    let fits = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | '+');
    let (start, _) = chars.take_while(|(_, char)| fits(*char)).last()?;
    head.get(start..)
}

/// A domain in ideographs, up to an ending that is registered.
fn ideograph_domain(tail: &str) -> Option<&str> {
    let len: usize = tail
        .chars()
        .take(MAX_DOMAIN_CHARS)
        .take_while(|char| char.is_alphanumeric() || matches!(char, '.' | '-'))
        .map(char::len_utf8)
        .sum();
    let run = tail.get(..len)?;
    let name_len = run.find('.').filter(|at| *at > 0)?;
    let (_, rest) = run.split_at_checked(name_len + 1)?;
    let latin = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let has_ending = (2..=6).contains(&latin) && run.get(..name_len)?.contains(is_ideograph);
    let ending_len = match IDEOGRAPH_ENDINGS.iter().find(|ending| rest.starts_with(**ending)) {
        Some(ending) => ending.len(),
        None => Some(latin).filter(|_| has_ending)?,
    };
    tail.get(..name_len + 1 + ending_len)
}

pub(super) fn local_part(head: &str) -> Option<&str> {
    let mut start = head.len();
    for (n_chars, (at, char)) in head.char_indices().rev().enumerate() {
        let fits = match char {
            '.' | '_' | '%' | '+' | '-' => true,
            other => is_name_char(other),
        };
        if !fits || n_chars >= MAX_LOCAL_CHARS {
            break;
        }
        start = at;
    }
    let local = head.get(start..)?.trim_start_matches(['.', '-', '%', '+']);
    (!local.is_empty() && !local.ends_with('.')).then_some(local)
}

fn domain_part(tail: &str) -> Option<&str> {
    let mut end = 0;
    for (n_chars, (at, char)) in tail.char_indices().enumerate() {
        // Elsewhere it ends a sentence.
        let is_wide_dot = WIDE_DOTS.contains(&char)
            && tail
                .get(at + char.len_utf8()..)
                .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric()));
        let fits = matches!(char, '.' | '-') || is_wide_dot || is_name_char(char);
        if !fits || n_chars >= MAX_DOMAIN_CHARS {
            break;
        }
        end = at + char.len_utf8();
    }
    let mut domain = tail.get(..end)?.trim_end_matches(['.', '-']);
    // A sentence that goes on without a space (`x@y.org.Then`) keeps only what can be a domain.
    for doubled in ["..", "---"] {
        if let Some(at) = domain.find(doubled) {
            domain = domain.get(..at)?;
        }
    }
    let dot = domain.rfind(|char| char == '.' || WIDE_DOTS.contains(&char))?;
    let (name, ending) = domain.split_at_checked(dot)?;
    let ending = ending.trim_start_matches(['.', '。', '｡']);
    let is_ending = ending.chars().count() >= 2 && ending.chars().all(char::is_alphabetic);
    let is_file = FILE_ENDINGS.iter().any(|file| ending.eq_ignore_ascii_case(file));
    let starts_well = name.chars().next().is_some_and(is_name_char);
    (is_ending && !is_file && starts_well).then_some(domain)
}

/// Letters and digits that can be in an address; Han and kana around one are prose.
fn is_name_char(char: char) -> bool {
    char == '_' || (char.is_alphanumeric() && !is_ideograph(char))
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn rarer_addresses() {
        for address in [
            "\"carla munoz\"@mail.example.com",
            "carla.munoz@mail。example。com",
            "用户@例子.公司",
            "用户@例え.jp",
            "carla.munoz&#64;mail.example.com",
            "carla.munoz%40mail.example.com",
        ] {
            assert_eq!(redact(&format!("to {address} now")).text, "to [email] now", "{address}");
        }
        let prose = "他说 \"好\"。写到 a@b。然后";
        assert_eq!(redact(prose).text, prose);
    }
}
