//! Hashes of passwords, as files of logins and databases hold them: `$6$…`, `$2b$12$…`, `$apr1$…`,
//! `$argon2id$…`. Whoever has one can try passwords against it at home.

use super::{PrivateKind, PrivatePiece};

/// What a hash begins with, and how long it is at least behind that.
const KINDS: &[(&str, usize)] = &[
    ("$1$", 22),
    ("$2a$", 50),
    ("$2b$", 50),
    ("$2y$", 50),
    ("$5$", 40),
    ("$6$", 80),
    ("$y$", 40),
    ("$7$", 40),
    ("$apr1$", 22),
    ("$argon2", 40),
    ("$pbkdf2", 40),
    ("$scrypt$", 40),
];

/// The same of directories and their exports: `{SSHA}…`.
const NAMED_KINDS: &[(&str, usize)] = &[
    ("{SHA}", 26),
    ("{SSHA}", 26),
    ("{SMD5}", 22),
    ("{MD5}", 22),
    ("{SHA256}", 40),
    ("{SSHA256}", 40),
    ("{SHA512}", 80),
    ("{SSHA512}", 80),
    ("{PBKDF2", 40),
    ("{CRYPT}", 11),
    ("{crypt}", 11),
    ("{bcrypt}", 50),
    ("{ARGON2}", 40),
];

/// The longest that is looked at, in bytes.
const MAX_HASH_BYTES: usize = 512;

/// Lists what hashes begin with.
pub(super) fn signs() -> impl Iterator<Item = &'static str> {
    KINDS.iter().chain(NAMED_KINDS).map(|(sign, _)| *sign)
}

/// Finds hashes of passwords.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    find_kinds(text, '$', KINDS, found);
    find_kinds(text, '{', NAMED_KINDS, found);
}

fn find_kinds(text: &str, sign: char, kinds: &[(&str, usize)], found: &mut Vec<PrivatePiece>) {
    let mut searched_to = 0;
    for (at, _) in text.match_indices(sign) {
        let rest = text.get(at..).unwrap_or_default();
        let kind = kinds.iter().find(|(prefix, _)| rest.starts_with(prefix));
        let Some((prefix, min_bytes)) = kind.filter(|_| at >= searched_to) else { continue };
        let is_hash_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"./$=,+-_{}".contains(byte);
        let len = rest.bytes().take(MAX_HASH_BYTES).take_while(is_hash_byte).count();
        let len = rest.get(..len).map_or(0, |hash| hash.trim_end_matches(['.', ',']).len());
        if len >= prefix.len() + min_bytes {
            searched_to = at + len;
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes: at..at + len });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::values_of;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(values_of(find, text), expected, "{text}");
    }

    #[test]
    fn hashes_of_passwords_and_what_only_looks_like_one() {
        let bcrypt = format!("$2b$12${}", "aB3./xYz".repeat(7));
        check(&format!("ann {bcrypt}, bob"), &[&bcrypt]);
        let shadow = format!("$6$salt${}", "aB3./xYz".repeat(11));
        check(&format!("root:{shadow}:19000:0:99999:7:::"), &[&shadow]);
        let apr = "$apr1$abcdefgh$0123456789abcdefghijkl";
        check(&format!("bob:{apr}\n"), &[apr]);
        let argon = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A";
        check(argon, &[argon]);
        let directory = "{SSHA}aB3/xYz+aB3/xYz+aB3/xYz+aB3/xYz+";
        check(&format!("userPassword {directory}\nx"), &[directory]);
        check("{SHA} and {SSHA} are schemes", &[]);
        check("it costs $1$ or $6$, or $2b$12$short", &[]);
    }
}
