//! E-mail addresses as people say them: their signs are words or have blanks around them, perhaps
//! with the end of a line (`ann at example dot org`, `ann @ example . org`).
//!
//! Sentences have the same words, and web addresses are said so too (`customers at shop dot com
//! complain`): a plain word before `at` is somebody's name where what is said stands alone, or a
//! word before tells that an address comes. Endings that are words too are those of an address only at the
//! end of what is said, or where a word before tells that an address comes.

use super::email::local_part;
use super::{PrivateKind, PrivatePiece};
use crate::analyze::is_ideograph;

/// The longest part of a domain, in characters.
const MAX_LABEL_CHARS: usize = 64;

/// Most parts that a name or a domain is said in.
const MAX_PARTS: usize = 6;

/// The longest blank between two words, in bytes.
const MAX_BLANK_BYTES: usize = 40;

/// Endings of domains that are no words.
const ENDINGS: &[&str] = &["com", "org", "edu", "gov", "biz", "xyz", "coop"];

/// Endings of domains that are words too.
const WORD_ENDINGS: &[&str] = &[
    "net", "info", "dev", "app", "int", "mil", "online", "site", "shop", "tech", "cloud", "email",
    "pro", "name", "museum",
];

/// Codes of countries.
const COUNTRIES: &str = "ac ad ae af ag al ao aq ar au aw ax az ba bb bd bf bg bh bi bj bm bn bo br \
    bs bt bw bz ca cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm dz ec ee eg er es \
    et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht \
    hu id ie il im io iq ir je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu \
    lv ly ma mc mg mh mk mm mn mo mp mq mr ms mt mu mv mw mx mz na nc ne nf ng ni nl np nr nu nz om \
    pa pe pf pg ph pk pm pn pr pt pw qa re ro ru rw sa sb sc sd se sg si sj sk sl sm sn sr ss st su \
    sv sx sy sz tc td tf tg th tj tk tl tm tn tr tt tv tw tz ua ug uk uy uz va vc ve vg vi vn vu wf \
    ws ye yt za zm zw";

/// Codes of countries that are words or endings of files too.
const WORD_COUNTRIES: &str = "ai am an as at be by cc do gs in is it md me ml my no pl ps py rs sh so \
    to us";

/// Words behind which an address comes.
const ANNOUNCING: &[&str] = &[
    "to", "mail", "e-mail", "email", "contact", "address", "write", "ask", "reach", "from", "via",
    "à", "is", "at", "or", "and", "cc", "bcc", "ist", "este", "es", "est", "an", "unter", "la",
];

/// Words before `at` and behind it that belong to a sentence: `look at the dot in the middle`.
const SENTENCE_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "each",
    "every",
    "any",
    "some",
    "one",
    "my",
    "your",
    "our",
    "its",
    "his",
    "her",
    "their",
    "which",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "look",
    "looked",
    "looking",
    "looks",
    "find",
    "found",
    "visit",
    "see",
    "seen",
    "available",
    "sold",
    "hosted",
    "work",
    "works",
    "worked",
    "us",
    "me",
    "him",
    "them",
    "it",
    "page",
    "site",
    "website",
    "online",
    "here",
    "there",
    "more",
    "read",
    "buy",
    "shop",
    "store",
    "go",
    "and",
    "or",
    "not",
    "up",
    "out",
    "arrive",
    "begins",
    "starts",
    "stays",
    "ends",
    "point",
    "points",
    "pointed",
    "stay",
    "stayed",
    "staying",
    "meet",
    "meeting",
    "met",
    "arrived",
    "arrives",
    "stop",
    "stops",
    "starting",
    "ending",
    "live",
    "lives",
    "built",
    "build",
    "run",
    "runs",
    "running",
    "fails",
    "failed",
    "fail",
    "error",
    "compiled",
    "declared",
    "defined",
    "used",
    "uses",
    "called",
    "call",
    "calls",
    "sits",
    "sit",
    "set",
    "start",
    "end",
    "shown",
    "open",
    "opens",
    "dinner",
    "lunch",
    "breakfast",
    "aim",
    "aimed",
    "good",
    "best",
    "we",
    "he",
    "she",
    "they",
    "you",
    "i",
];

/// Finds addresses whose signs are words or have blanks around them.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    for sign in ["at", "AT", "At", "@"] {
        for (at, _) in text.match_indices(sign) {
            found.extend(address(text, at, sign));
        }
    }
}

fn address(text: &str, at: usize, sign: &str) -> Option<PrivatePiece> {
    let (head, tail) = (text.get(..at)?, text.get(at + sign.len()..)?);
    let n_behind = blank_len(tail);
    // Most are the middle of a word.
    if n_behind == 0 {
        return None;
    }
    let n_before = blank_len_before(head);
    // An address may be broken behind its sign.
    let is_broken = sign == "@" && tail.get(..n_behind)?.contains('\n');
    if n_before == 0 && !is_broken {
        return None;
    }
    let head = head.get(..head.len() - n_before)?;
    let local = said_local(head)?;
    let before = head.get(..head.len() - local.len())?;
    let is_name = local.contains(|char: char| !char.is_alphabetic());
    let is_announced = is_name || is_announced(before);
    let domain = said_domain(tail.get(n_behind..)?, sign == "@", is_announced)?;
    let behind = tail.get(n_behind + domain.len()..)?;
    if sign != "@" && !is_announced && !(begins_alone(before) && ends_alone(behind)) {
        return None;
    }
    let start = before.len();
    let end = at + sign.len() + n_behind + domain.len();
    Some(PrivatePiece { kind: PrivateKind::Email, bytes: start..end })
}

/// Gives the length of the blank that a text begins with, which holds one end of a line at most.
fn blank_len(text: &str) -> usize {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let len = text.bytes().take(MAX_BLANK_BYTES).take_while(is_blank).count();
    let n_lines = text.bytes().take(len).filter(|byte| *byte == b'\n').count();
    if n_lines > 1 { 0 } else { len }
}

fn blank_len_before(text: &str) -> usize {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let len = text.bytes().rev().take(MAX_BLANK_BYTES).take_while(is_blank).count();
    let n_lines = text.bytes().rev().take(len).filter(|byte| *byte == b'\n').count();
    if n_lines > 1 { 0 } else { len }
}

/// Tells whether what comes before an address says that one comes.
fn is_announced(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let word = line.rsplit([' ', '\t']).next().unwrap_or_default();
    word.ends_with([':', '<', '(', '"', '\'', '[', '='])
        || ANNOUNCING.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Tells whether nothing comes before an address in its line but the name of somebody, or what ends
/// before it.
fn begins_alone(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let word = line.rsplit(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    let is_name = || {
        word.starts_with(char::is_uppercase)
            && !SENTENCE_WORDS.iter().any(|one| one.eq_ignore_ascii_case(word))
    };
    word.is_empty() || is_name()
}

/// Tells whether no word comes behind an address in its line.
fn ends_alone(behind: &str) -> bool {
    !behind.trim_start_matches([' ', '\t']).starts_with(char::is_alphanumeric)
}

/// Gives the local part that a text ends with: `ann`, `ann dot lee`.
fn said_local(head: &str) -> Option<&str> {
    let mut local = local_part(head)?;
    let is_word = SENTENCE_WORDS.iter().any(|word| word.eq_ignore_ascii_case(local));
    for _ in 0..MAX_PARTS {
        let before = head.get(..head.len() - local.len())?;
        let Some(part) = part_before_dot(before) else { break };
        local = head.get(part..)?;
    }
    (!is_word).then_some(local)
}

/// Gives where the part begins that is before a sign of a dot which ends a text.
fn part_before_dot(head: &str) -> Option<usize> {
    let rest = head.get(..head.len() - Some(blank_len_before(head)).filter(|len| *len > 0)?)?;
    let rest = ["dot", "DOT", "Dot", "."].iter().find_map(|dot| rest.strip_suffix(dot))?;
    let rest = rest.get(..rest.len() - Some(blank_len_before(rest)).filter(|len| *len > 0)?)?;
    Some(rest.len() - local_part(rest)?.len())
}

/// Gives the length of a sign of a dot: a word, or a full stop with blanks around it.
fn dot_len(text: &str, may_be_plain: bool) -> Option<usize> {
    let n_before = blank_len(text);
    let rest = text.get(n_before..)?;
    let dot = ["dot", "DOT", "Dot", "."].into_iter().find(|dot| rest.starts_with(dot))?;
    let n_behind = blank_len(rest.get(dot.len()..)?);
    let is_plain = dot == "." && n_before == 0 && n_behind == 0;
    let is_said = n_before > 0 && n_behind > 0;
    (is_said || (is_plain && may_be_plain)).then_some(n_before + dot.len() + n_behind)
}

/// Gives the domain that a text begins with: `example dot org`.
fn said_domain(tail: &str, may_be_plain: bool, is_announced: bool) -> Option<&str> {
    let label_len = |text: &str| -> usize {
        let fits = |char: &char| *char == '-' || (char.is_alphanumeric() && !is_ideograph(*char));
        text.chars().take(MAX_LABEL_CHARS).take_while(fits).map(char::len_utf8).sum()
    };
    let mut end = label_len(tail);
    let first = tail.get(..end)?;
    if first.is_empty() || SENTENCE_WORDS.iter().any(|word| word.eq_ignore_ascii_case(first)) {
        return None;
    }
    let mut domain = None;
    for _ in 0..MAX_PARTS {
        let Some(n_dot) = dot_len(tail.get(end..)?, may_be_plain) else { break };
        let rest = tail.get(end + n_dot..)?;
        let len = label_len(rest);
        let (label, behind) = rest.split_at_checked(len)?;
        end += n_dot + len;
        if is_ending(label, behind, is_announced) {
            domain = tail.get(..end);
        }
    }
    domain
}

/// Tells whether a word ends a domain, by what follows it.
fn is_ending(label: &str, behind: &str, is_announced: bool) -> bool {
    let lower = label.to_ascii_lowercase();
    let goes_on = behind.trim_start_matches(' ').starts_with(char::is_alphanumeric);
    let is_one_of = |codes: &str| codes.split_whitespace().any(|code| code == lower);
    if ENDINGS.contains(&lower.as_str()) || is_one_of(COUNTRIES) {
        return true;
    }
    if is_one_of(WORD_COUNTRIES) {
        return !goes_on;
    }
    WORD_ENDINGS.contains(&lower.as_str()) && (!goes_on || is_announced)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    /// `ann (at) example (dot) org` was hidden and the same without brackets shown.
    #[test]
    fn addresses_that_are_said() {
        for address in [
            "carla at example dot org",
            "carla.munoz AT example DOT co DOT uk",
            "carla dot munoz at mail dot example dot com",
            "carla @ example . org",
            "carla @ example.org",
            "carla at example dot de",
            "carla at example dot info",
            // Broken over lines.
            "carla\nat example dot org",
            "carla at\n    example dot org",
            "carla dot\nmunoz at example\r\ndot org",
            "carla at example dot\norg",
            "carla.munoz@\nexample.org",
        ] {
            assert_eq!(redact(&format!("to {address} now")).text, "to [email] now", "{address}");
        }
        assert_eq!(redact("to carla at example dot it.").text, "to [email].");
        for (said, shown) in [
            ("carla at example dot org, phone", "[email], phone"),
            ("Carla Munoz carla at example dot org", "Carla Munoz [email]"),
            ("my address is carla at example dot org for now", "my address is [email] for now"),
            ("- carla at example dot org\n- ann at example dot org", "- [email]\n- [email]"),
            (
                "reach me at carla at example dot org or ann at example dot org please",
                "reach me at [email] or [email] please",
            ),
        ] {
            assert_eq!(redact(said).text, shown, "{said}");
        }
        assert_eq!(redact("carla.munoz at example dot info\nnext").text, "[email]\nnext");
        for prose in [
            "look at the dot in the middle",
            "available at example dot com",
            "we met at noon. dot your i",
            "at a dot com of the nineties",
            "aim at polka dot dresses",
            "carla at work dot in hand",
            "stay at hotel dot info desk",
            "guests at hotel dot info desk",
            "a talk at asp dot net conference",
            "the panic at main dot rs line 5",
            "parsed at index dot js in node",
            "carla at\n\nexample dot org",
            "we eat at pizza dot com tomorrow",
            "We eat at pizza dot com",
            "the team at polka dot org chart",
            "students at school dot edu programs",
            "jobs at amazon dot com are rare",
            "the engineers at booking dot com",
            "help at docs dot python dot org is good",
            "the value at foo dot bar dot id was wrong",
        ] {
            assert_eq!(redact(prose).text, prose);
        }
    }
}
