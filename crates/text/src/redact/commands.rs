//! Passwords on command lines and in files of logins, where nothing but the place announces them:
//! `curl -u ann:…`, `mysql -p…`, `sshpass -p …`, `host:5432:database:ann:…`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::placeholder::is_placeholder;
use super::{PrivateKind, PrivatePiece};

/// The longest line that is looked at.
const MAX_LINE_BYTES: usize = 2_048;

/// The shortest password that is taken for one.
const MIN_SECRET_BYTES: usize = 4;

/// What a flag gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// `user:password`, in the next word.
    Login,
    /// A password, in the next word.
    Password,
    /// A password, in the rest of its own word.
    Attached,
}

/// Programs, and the flag that gives them a password.
const FLAGS: &[(&str, &str, Gives)] = &[
    ("curl", "-u", Gives::Login),
    ("curl", "--user", Gives::Login),
    ("sshpass", "-p", Gives::Password),
    ("mysql", "-p", Gives::Attached),
    ("mysqldump", "-p", Gives::Attached),
    ("mysqladmin", "-p", Gives::Attached),
    ("mariadb", "-p", Gives::Attached),
];

/// Finds the names of the programs: texts without any are not taken apart into words.
static PROGRAMS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let names = FLAGS.iter().map(|(program, ..)| program);
    AhoCorasick::new(names).expect("names of programs make a valid automaton")
});

/// Signs between the parts of a line of logins.
const LOGIN_COLONS: usize = 4;

/// Finds passwords on command lines and in lines of logins.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let has_program = PROGRAMS.is_match(text);
    let has_colons = |line: &str| line.bytes().filter(|byte| *byte == b':').count() >= LOGIN_COLONS;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.len() <= MAX_LINE_BYTES && (has_program || has_colons(line)) {
            let words: Vec<Range<usize>> = words(line);
            let secret = in_command(line, &words).or_else(|| in_login(line, &words));
            let value = secret.clone().and_then(|bytes| line.get(bytes)).unwrap_or_default();
            if let Some(bytes) = secret
                && value.len() >= MIN_SECRET_BYTES
                && !is_placeholder(value)
            {
                let bytes = start + bytes.start..start + bytes.end;
                found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
            }
        }
        start += line.len();
    }
}

/// What may be around a word of a command.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Gives the words of a line, without quotes around them.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in line.split(char::is_whitespace) {
        let from_quote = word.trim_start_matches(QUOTES);
        let bare = from_quote.trim_end_matches(QUOTES);
        if !bare.is_empty() {
            let start = at + word.len() - from_quote.len();
            words.push(start..start + bare.len());
        }
        at += word.len() + line.get(at + word.len()..).map_or(0, first_len);
    }
    words
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn in_command(line: &str, words: &[Range<usize>]) -> Option<Range<usize>> {
    let is = |word: &Range<usize>, text: &str| line.get(word.clone()) == Some(text);
    FLAGS.iter().find_map(|(program, flag, gives)| {
        let program_at = words.iter().position(|word| is(word, program))?;
        let arguments = words.get(program_at + 1..)?;
        if *gives == Gives::Attached {
            let starts = |word: &&Range<usize>| {
                line.get((*word).clone()).is_some_and(|word| word.starts_with(flag))
            };
            let word = arguments.iter().find(starts)?;
            return Some(word.start + flag.len()..word.end);
        }
        let flag_at = arguments.iter().position(|word| is(word, flag))?;
        let value = arguments.get(flag_at + 1)?.clone();
        match gives {
            Gives::Login => {
                let (user, _) = line.get(value.clone())?.split_once(':')?;
                Some(value.start + user.len() + 1..value.end)
            }
            Gives::Password | Gives::Attached => Some(value),
        }
    })
}

/// A line of `.pgpass`: host, port, database, user, password.
fn in_login(line: &str, words: &[Range<usize>]) -> Option<Range<usize>> {
    let [word] = words else { return None };
    let mut parts = line.get(word.clone())?.splitn(5, ':');
    let _host = parts.next().filter(|host| !host.is_empty())?;
    let port = parts.next()?;
    let is_port = port == "*"
        || (2..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let (database, user) = (parts.next()?, parts.next()?);
    let password = parts.next()?;
    let is_name = |name: &str| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && is_name(database) && is_name(user)).then(|| word.end - password.len()..word.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let values: Vec<&str> = found.iter().map(|piece| &text[piece.bytes.clone()]).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn passwords_of_commands() {
        check("curl -s -u ann:tiger https://example.org", &["tiger"]);
        check("$ curl --user 'ann:ti:ger' x\nsshpass -p lion ssh host", &["ti:ger", "lion"]);
        check("mysql -u root -ptiger db", &["tiger"]);
        check("mysql -u root -p db\ncurl -u ann x", &[]);
        check("mkdir -p folder; curl -u <user>:<password> x", &[]);
        check("localhost:5432:shop:ann:tiger\n*:*:*:ann:lion", &["tiger", "lion"]);
        check("2024-01-02T10:20:30:40:50\n10:20:30:40:50", &[]);
        check("no colons here", &[]);
    }
}
