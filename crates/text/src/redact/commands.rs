//! Passwords on command lines and in files of logins, where nothing but the place announces them:
//! `curl -u ann:…`, `mysql -p…`, `sshpass -p …`, `host:5432:database:ann:…`.

use std::ops::Range;

use super::credentials::is_secret_name;
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
    /// `user%password`, in the next word.
    Percent,
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
    ("ldapsearch", "-w", Gives::Password),
    ("ldapmodify", "-w", Gives::Password),
    ("ldapadd", "-w", Gives::Password),
    ("ldapdelete", "-w", Gives::Password),
    ("ldappasswd", "-w", Gives::Password),
    ("ldappasswd", "-s", Gives::Password),
    ("smbclient", "-U", Gives::Percent),
    ("rpcclient", "-U", Gives::Percent),
    ("openssl", "-k", Gives::Password),
    ("mongo", "-p", Gives::Password),
    ("mongosh", "-p", Gives::Password),
    ("mongodump", "-p", Gives::Password),
    ("mongorestore", "-p", Gives::Password),
    ("redis-cli", "-a", Gives::Password),
    ("unzip", "-P", Gives::Password),
    ("zip", "-P", Gives::Password),
    ("7z", "-p", Gives::Attached),
    ("7za", "-p", Gives::Attached),
    ("rar", "-p", Gives::Attached),
    ("rar", "-hp", Gives::Attached),
    ("unrar", "-p", Gives::Attached),
    ("plink", "-pw", Gives::Password),
    ("pscp", "-pw", Gives::Password),
    ("psexec", "-p", Gives::Password),
    ("sqlcmd", "-P", Gives::Password),
    ("bcp", "-P", Gives::Password),
    ("isql", "-P", Gives::Password),
    ("xfreerdp", "/p:", Gives::Attached),
    ("mosquitto_pub", "-P", Gives::Password),
    ("mosquitto_sub", "-P", Gives::Password),
    ("wget", "--http-passwd", Gives::Password),
];

/// Programs that read a password from what another one prints: `echo … | sudo -S`.
const READERS: &[(&str, Gives)] = &[
    ("chpasswd", Gives::Login),
    ("--password-stdin", Gives::Password),
    ("sudo -S", Gives::Password),
];

/// Commands in which the place of a word alone says that it is a password.
const PLACES: &[&str] = &[
    "login",
    "net",
    "htpasswd",
    "sqlplus",
    "setx",
    "ConvertTo-SecureString",
    "echo",
    "printf",
    "user",
];

/// Lists the names of the programs: texts in which none is a word, in any case, are not taken apart
/// into words.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|(program, ..)| *program).chain(PLACES.iter().copied())
}

/// Signs between the parts of a line of logins.
const LOGIN_COLONS: usize = 4;

/// Finds passwords on command lines and in lines of logins; `has_program` tells whether any of
/// [`programs`] is in the text.
pub(super) fn find(text: &str, has_program: bool, found: &mut Vec<PrivatePiece>) {
    let has_colons = |line: &str| line.bytes().filter(|byte| *byte == b':').count() >= LOGIN_COLONS;
    if !has_program && !has_colons(text) {
        return;
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.len() <= MAX_LINE_BYTES && (has_program || has_colons(line)) {
            let words: Vec<Range<usize>> = words(line);
            let placed = in_place(line, &words).or_else(|| in_login(line, &words));
            for bytes in in_command(line, &words).into_iter().chain(placed) {
                let value = line.get(bytes.clone()).unwrap_or_default();
                if value.len() >= MIN_SECRET_BYTES && !is_placeholder(value) && !is_reference(value)
                {
                    let bytes = start + bytes.start..start + bytes.end;
                    found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
                }
            }
        }
        start += line.len();
    }
}

/// What may be around a word of a command.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Tells whether a place of a text can be a whole word of a command.
pub(super) fn is_word(text: &str, place: Range<usize>) -> bool {
    let is_edge = |char: char| char.is_whitespace() || QUOTES.contains(&char);
    let before = text.get(..place.start).and_then(|head| head.chars().next_back());
    let after = text.get(place.end..).and_then(|tail| tail.chars().next());
    before.is_none_or(is_edge) && after.is_none_or(is_edge)
}

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

fn in_command(line: &str, words: &[Range<usize>]) -> Vec<Range<usize>> {
    let is = |word: &Range<usize>, text: &str| line.get(word.clone()) == Some(text);
    let given = FLAGS.iter().filter_map(|(program, flag, gives)| {
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
            Gives::Percent => {
                let (user, _) = line.get(value.clone())?.split_once('%')?;
                Some(value.start + user.len() + 1..value.end)
            }
            Gives::Password | Gives::Attached => Some(value),
        }
    });
    given.collect()
}

/// `$PASSWORD`, `%PASSWORD%`, `-`: what is written in place of a password that is elsewhere.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '%', '-', '*'])
}

/// Finds a password by its place: `net user ann …`, `htpasswd -b file ann …`, `setx API_KEY …`,
/// `echo … | sudo -S`, `user ann on >…` of Redis.
fn in_place(line: &str, words: &[Range<usize>]) -> Option<Range<usize>> {
    let word = |at: usize| words.get(at).and_then(|word| line.get(word.clone()));
    let find = |name: &str| {
        words.iter().position(|word| {
            line.get(word.clone()).is_some_and(|word| word.eq_ignore_ascii_case(name))
        })
    };
    if let Some((_, gives)) = READERS.iter().find(|(reader, _)| line.contains(reader))
        && let Some(printer) = find("echo").or_else(|| find("printf"))
    {
        let printed = words.get(printer + 1..)?;
        let value = printed
            .iter()
            .find(|word| line.get((*word).clone()).is_some_and(|word| !word.starts_with('-')))?;
        let end = words.iter().find(|word| line.get((*word).clone()) == Some("|"))?.start;
        return match gives {
            _ if value.start >= end => None,
            Gives::Login => {
                let (user, _) = line.get(value.clone())?.split_once(':')?;
                Some(value.start + user.len() + 1..value.end)
            }
            Gives::Password | Gives::Attached | Gives::Percent => Some(value.clone()),
        };
    }
    // `docker login -u ann -p …`, and whatever else signs in so; elsewhere `-p` is a port.
    if let Some(login) = find("login")
        && let Some(flag) =
            words.get(login + 1..)?.iter().position(|at| line.get(at.clone()) == Some("-p"))
    {
        return words.get(login + flag + 2).cloned();
    }
    if let Some(net) = find("net") {
        let is_switch = |word: &&Range<usize>| {
            line.get((*word).clone()).is_some_and(|word| !word.starts_with('/'))
        };
        return match word(net + 1)?.to_ascii_lowercase().as_str() {
            "user" => words.get(net + 3).filter(is_switch).cloned(),
            "use" => {
                let share = words.iter().position(|word| {
                    line.get(word.clone()).is_some_and(|word| word.starts_with("\\\\"))
                })?;
                words.get(share + 1).filter(is_switch).cloned()
            }
            _ => None,
        };
    }
    if let Some(program) = find("htpasswd") {
        let flags = word(program + 1)?;
        let is_batch = flags.starts_with('-') && flags.contains('b');
        return words.get(program + 4).filter(|_| is_batch).cloned();
    }
    if let Some(program) = find("sqlplus") {
        let login = words.get(program + 1..)?.iter().find(|word| {
            line.get((*word).clone()).is_some_and(|word| word.contains('/') && word.contains('@'))
        })?;
        let (user, rest) = line.get(login.clone())?.split_once('/')?;
        let (password, _) = rest.rsplit_once('@')?;
        let start = login.start + user.len() + 1;
        return Some(start..start + password.len());
    }
    if let Some(program) = find("setx") {
        return words
            .get(program + 2)
            .filter(|_| is_secret_name(word(program + 1).unwrap_or("")))
            .cloned();
    }
    if let Some(program) = find("ConvertTo-SecureString") {
        let is_value = |word: &&Range<usize>| {
            line.get((*word).clone()).is_some_and(|word| !word.starts_with('-'))
        };
        return words.get(program + 1..)?.iter().find(is_value).cloned();
    }
    // A rule of Redis: its passwords begin with a sign of their own.
    if word(0) == Some("user") && words.len() > 3 {
        let value = words
            .get(2..)?
            .iter()
            .find(|word| line.get((*word).clone()).is_some_and(|word| word.starts_with('>')))?;
        return Some(value.start + 1..value.end);
    }
    None
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
        find(text, programs().any(|program| text.contains(program)), &mut found);
        let values: Vec<&str> = found.iter().map(|piece| &text[piece.bytes.clone()]).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn passwords_by_their_place() {
        check("net use Z: \\\\h\\s tiger /user:ann\nnet user ann lion /add", &["tiger", "lion"]);
        check("net use Z: \\\\h\\s /user:ann\nnet user /domain", &[]);
        check("htpasswd -bc file ann tiger\nhtpasswd -c file ann", &["tiger"]);
        check("sqlplus ann/tiger@db\nsetx API_TOKEN tiger\nsetx PATH tiger", &["tiger", "tiger"]);
        check("echo 'root:tiger' | chpasswd\necho tiger | sudo -S ls", &["tiger", "tiger"]);
        check("echo $TOKEN | docker login --password-stdin\necho tiger", &[]);
        check("$x = ConvertTo-SecureString \"tiger\" -AsPlainText", &["tiger"]);
        check("user ann on >tiger ~* +@all\nuser ann wrote 3 > 2", &["tiger"]);
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
        check("docker login -u ann -p tiger registry", &["tiger"]);
        check("ldapsearch -x -D cn=admin -w tiger -b dc=x", &["tiger"]);
        check("smbclient //h/s -U ann%tiger\nredis-cli -a tiger ping", &["tiger", "tiger"]);
        check("7z x -ptiger a.7z", &["tiger"]);
        check("unzip -P lion a.zip; curl -u a:tiger x", &["tiger", "lion"]);
        check("xfreerdp /u:ann /p:tiger /v:h", &["tiger"]);
        check("docker run -p 8080:80 -v x", &[]);
    }
}
