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

/// Finds e-mail addresses.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    // Two searches for one sign each are far faster than one for either.
    let wide = text.match_indices('\u{ff20}');
    for (at, sign) in text.match_indices('@').chain(wide) {
        let (Some(head), Some(tail)) = (text.get(..at), text.get(at + sign.len()..)) else {
            continue;
        };
        let Some(local) = local_part(head) else { continue };
        let Some(domain) = domain_part(tail) else { continue };
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

fn local_part(head: &str) -> Option<&str> {
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
        let fits = matches!(char, '.' | '-') || is_name_char(char);
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
    let (name, ending) = domain.rsplit_once('.')?;
    let is_ending = ending.chars().count() >= 2 && ending.chars().all(char::is_alphabetic);
    let is_file = FILE_ENDINGS.iter().any(|file| ending.eq_ignore_ascii_case(file));
    let starts_well = name.chars().next().is_some_and(is_name_char);
    (is_ending && !is_file && starts_well).then_some(domain)
}

/// Letters and digits that can be in an address; Han and kana around one are prose.
fn is_name_char(char: char) -> bool {
    char == '_' || (char.is_alphanumeric() && !is_ideograph(char))
}
