//! Proves redaction on a corpus of examples: what must go goes, what must stay stays, and
//! nothing takes longer than its length allows.

use proptest::prelude::*;

use super::*;

const CORPUS: &str = include_str!("../../fixtures/redaction.txt");
/// Shares under which the corpus fails.
const MIN_PRECISION: f64 = 0.98;
const MIN_RECALL: f64 = 0.98;

#[derive(Default)]
struct Tally {
    n_right: usize,
    n_missed: usize,
    n_wrong: usize,
}

/// Takes the marks out of a corpus line.
fn read_line(line: &str) -> (String, Vec<(String, Range<usize>)>) {
    let mut text = String::new();
    let mut expected = Vec::new();
    let mut rest = line;
    while let Some((head, tail)) = rest.split_once('⟦') {
        text.push_str(head);
        let (inner, after) = tail.split_once('⟧').unwrap();
        let (kind, value) = inner.split_once(':').unwrap();
        let value = value.replace("\\n", "\n");
        expected.push((format!("[{kind}]"), text.len()..text.len() + value.len()));
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    (text, expected)
}

#[test]
fn corpus() {
    let mut tally = Tally::default();
    let mut faults = String::new();
    for line in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (text, expected) = read_line(line);
        let found: Vec<(String, Range<usize>)> = find_private(&text)
            .into_iter()
            .map(|piece| (piece.kind.mark().to_owned(), piece.bytes))
            .collect();
        for piece in &expected {
            if found.contains(piece) {
                tally.n_right += 1;
            } else {
                tally.n_missed += 1;
                faults.push_str(&format!("missed {piece:?} in {line}\n"));
            }
        }
        for piece in found.iter().filter(|piece| !expected.contains(piece)) {
            tally.n_wrong += 1;
            let what = text.get(piece.1.clone()).unwrap_or_default();
            faults.push_str(&format!("wrong {} `{what}` in {line}\n", piece.0));
        }
    }
    let precision = tally.n_right as f64 / (tally.n_right + tally.n_wrong) as f64;
    let recall = tally.n_right as f64 / (tally.n_right + tally.n_missed) as f64;
    println!(
        "precision {precision:.3}, recall {recall:.3}, {} pieces",
        tally.n_right + tally.n_missed
    );
    println!("{faults}");
    assert!(precision >= MIN_PRECISION && recall >= MIN_RECALL, "{precision} {recall}\n{faults}");
}

/// Gives what a finder finds, as the text has it.
pub(super) fn values_of(find: impl Fn(&str, &mut Vec<PrivatePiece>), text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    find(text, &mut found);
    found.iter().map(|piece| &text[piece.bytes.clone()]).collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text).text, expected);
}

#[test]
fn forms_of_configuration_prose_and_addresses() {
    check("db.password=Hunt\\\n    er2Zebra\nx=1", "db.password=[password]\nx=1");
    check("ENV DB_PASSWORD velvet42\nRUN x", "ENV DB_PASSWORD [password]\nRUN x");
    check("Das Passwort lautet velvet42.", "Das Passwort lautet [password].");
    check("la password è velvet42", "la password è [password]");
    check("password -> velvet42", "password -> [password]");
    check("psk=\"velvetBadger42\" pw: velvet42x", "psk=\"[password]\" pw: [password]");
    check("pw: 2024, psk = none", "pw: 2024, psk = none");
    check(
        "<key>Password</key>\n<string>velvet42</string>",
        "<key>Password</key>\n<string>[password]</string>",
    );
    check("<td>Password</td><td>velvet42</td>", "<td>Password</td><td>[password]</td>");
    check("<td>Password</td><td>is required</td>", "<td>Password</td><td>is required</td>");
    check(
        r#"{"secret": {"value": "velvet42x", "list": []}}"#,
        r#"{"secret": {"value": "[password]", "list": []}}"#,
    );
    check(
        "variable \"db_password\" {\n  default = \"tiger\"\n}",
        "variable \"db_password\" {\n  default = \"[password]\"\n}",
    );
    check(
        "https://x.example/c?sv=2022&sig=xK0CiKTEFh2qaExaJyuPX8ND0HNg%3D&se=2025",
        "https://x.example/c?sv=2022&sig=[token]&se=2025",
    );
    check("figd_HNlEEEe7wFohTkCwhpiUxfCswIr8zG2tLmBwbTrp", "[token]");
}

#[test]
fn marks_take_the_place() {
    check("db:\n  password:\n    velvetBadger42\n", "db:\n  password:\n    [password]\n");
    check("secret: |\n  velvetBadger42\nx: 1", "secret: |\n  [password]\nx: 1");
    check("password:\n  user: ann\n", "password:\n  user: ann\n");
    check("Password:\n\nChapter two begins here", "Password:\n\nChapter two begins here");
    check("(0722 123 456)", "([phone])");
    check(
        "a key cut off: MHcCAQEE\n-----END PRIVATE KEY----- and prose",
        "a key cut off: MHcCAQEE\n[private key] and prose",
    );
    check("nothing here", "nothing here");
    check("", "");
}

#[test]
fn hostile_texts_end_soon() {
    for piece in [
        "@",
        "a@",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "password",
        "password=",
        "token ",
        "1",
        "1 ",
        "0722 ",
        "+4",
        "://a:",
        "RO49 ",
        "4111-",
        "(",
        "sk-a",
        "hooks.slack.com/services/",
        "パスワード",
        "AKIA",
        "tel 1",
        "password:\"",
        "PASS=$",
        "KEY=",
        "x  password\n",
        "(password) VALUES (",
        "password: [\"",
        "password:\n- ",
        "\\u0040",
        "\\",
        "\\n",
        "password=\\n",
        "password=a\\n1",
    ] {
        let text = piece.repeat(40_000 / piece.len());
        let _ = redact(&text);
    }
}

/// A text, and what must not be shown of it.
const DISGUISED: &[(&str, &[&str])] = &[
    ("{\"password\":\"Hunter2\\\"Zebra99\"}", &["Hunter2", "Zebra99"]),
    ("{\"user\":\"bob\",\"password\":\"ab\\\\cd\\\"Zebra99xx\",\"z\":1}", &["Zebra99xx"]),
    ("{\"api_key\":\"Qw8\\/Er7\\\"Ty6ZebraKey\"}", &["ZebraKey"]),
    ("password: 'Hunter2''Zebra99'", &["Zebra99"]),
    ("Server=db;User Id=sa;Password=Hunter2 Zebra99;Encrypt=yes", &["Hunter2", "Zebra99"]),
    ("password = \"\"\"Hunter2Zebra\"\"\"", &["Hunter2Zebra"]),
    ("password: !!str Hunter2Zebra", &["Hunter2Zebra"]),
    ("password: &pw Hunter2Zebra", &["Hunter2Zebra"]),
    ("passwords:\n  - Hunter2Zebra\n  - Kiwi9Tango8", &["Hunter2Zebra", "Kiwi9Tango8"]),
    ("{\"passwords\":[\"Hunter2Zebra\", \"Kiwi9Tango8\"]}", &["Hunter2Zebra", "Kiwi9Tango8"]),
    ("{\"pin\":\"\",\"password\":12345678}", &["12345678"]),
    ("{\"pass\\u0077ord\":\"Hunter2Zebra\"}", &["Hunter2Zebra"]),
    ("PASSWORD: str = 'Hunter2Zebra'", &["Hunter2Zebra"]),
    ("conn.setPassword(\"Hunter2Zebra\");", &["Hunter2Zebra"]),
    ("db.password.value=Hunter2Zebra", &["Hunter2Zebra"]),
    ("ПАРОЛЬ: Hunter2Zebra", &["Hunter2Zebra"]),
    ("Пароль: Hunter2Zebra", &["Hunter2Zebra"]),
    ("contrasen\u{303}a: Hunter2Zebra", &["Hunter2Zebra"]),
    ("Mot de passe\u{202f}: Hunter2Zebra", &["Hunter2Zebra"]),
    ("كلمة المرور: Hunter2Zebra", &["Hunter2Zebra"]),
    ("סיסמה: Hunter2Zebra", &["Hunter2Zebra"]),
    ("पासवर्ड: Hunter2Zebra", &["Hunter2Zebra"]),
    ("κωδικός πρόσβασης: Hunter2Zebra", &["Hunter2Zebra"]),
    ("şifre: Hunter2Zebra", &["Hunter2Zebra"]),
    ("password d'accesso: Hunter2Zebra", &["Hunter2Zebra"]),
    ("card 4111\u{202f}1111\u{202f}1111\u{202f}1111 end", &["1111\u{202f}1111"]),
    ("card 4111\u{2009}1111\u{2009}1111\u{2009}1111 end", &["1111\u{2009}1111"]),
    ("card 4111\u{2007}1111\u{2007}1111\u{2007}1111 end", &["1111\u{2007}1111"]),
    ("card 4111_1111_1111_1111 end", &["1111_1111"]),
    ("card 4111/1111/1111/1111 end", &["1111/1111"]),
    ("iban DE89\u{202f}3704\u{202f}0044\u{202f}0532\u{202f}0130\u{202f}00 end", &["3704"]),
    ("iban DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00 end", &["3704"]),
    ("tel +33\u{202f}6\u{202f}12\u{202f}34\u{202f}56\u{202f}78 end", &["12\u{202f}34"]),
    ("- name: DB_PASSWORD\n  value: Hunter2Zebra", &["Hunter2Zebra"]),
    ("env.name: HOST\nenv.value: db\nenv.name: DB_PASSWORD\nenv.value: tiger", &["tiger"]),
    ("- name: DB_PASSWORD\n  about: of ann\n  value: \"tiger-7\"", &["tiger-7"]),
    ("rows.key: password\nrows.note: old\nrows.value: tiger", &["tiger"]),
    ("Password\n--------\nHunter2Zebra", &["Hunter2Zebra"]),
    ("- Password\n\n- Hunter2Zebra", &["Hunter2Zebra"]),
    ("Haslo: Hunter2Zebra", &["Hunter2Zebra"]),
    ("Set-Item -Path Env:API_TOKEN -Value \"Hunter2Zebra\"", &["Hunter2Zebra"]),
    ("{\"name\":\"DB_PASSWORD\",\"value\":\"Hunter2Zebra\"}", &["Hunter2Zebra"]),
    ("<property name=\"password\" value=\"Hunter2Zebra\"/>", &["Hunter2Zebra"]),
    ("<add key=\"DbPassword\" value=\"Hunter2Zebra\"/>", &["Hunter2Zebra"]),
    ("field,value\nuser,bob\npassword,Hunter2Zebra\n", &["Hunter2Zebra"]),
    (
        "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ bob  │ kiwi     │\n",
        &["kiwi"],
    ),
    ("INSERT INTO users (id, password) VALUES (1,'kiwi'),(2,'plum');", &["kiwi", "plum"]),
    (
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAAIHexampleprivatekeydata0123\nPrivate-MAC: 00",
        &["exampleprivate"],
    ),
];

#[test]
fn forms_that_hide_a_secret_from_a_hasty_reader() {
    for (text, secrets) in DISGUISED {
        for text in [(*text).to_owned(), format!("Heading\n\n{text}\n\nLast words.\n")] {
            let shown = redact(&text).text;
            for secret in *secrets {
                assert!(!shown.contains(secret), "{secret} of {text:?}: {shown:?}");
            }
        }
    }
}

#[test]
fn what_only_looks_like_one_stays() {
    for text in [
        "Passwords:\n- Use at least 12 characters\n- never write them down\n",
        "Password\n--------\nreset\n",
        "env.name: HOST\nenv.value: Db7Server\nenv.name: PORT\nenv.value: Db8Server\n",
        "name: password\nname: host\nvalue: Db7Server\n",
        "the name: password and its value are explained below",
        "password: [required, min: 8]",
        "The values (of the password) are secret",
        "2021/2022/2023/2024",
        "user,password\n",
        "tokens: 4096",
        "Name & password",
        "setPassword(value)",
    ] {
        check(text, text);
    }
}

/// Long values left in clear, from the first byte to the last.
#[test]
fn long_values_are_hidden_whole_and_in_every_piece() {
    let random = |n: usize| -> String {
        let mut state = 7_u64;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
                char::from(letters[(state >> 33) as usize % letters.len()])
            })
            .collect()
    };
    for n in [200, 257, 513, 2_000, 10_000, 60_000] {
        let secret = random(n);
        for text in [
            format!("{{\"client_secret\":\"{secret}\"}}"),
            format!("{{\"access_token\":\"{secret}\",\"x\":1}}"),
            format!("refresh_token: {secret}\nb: 1\n"),
            format!("password={secret}\nend"),
            format!("export API_TOKEN={secret}\nend"),
            format!("user,api key\nann,{secret}\n"),
        ] {
            for n_chars in [usize::MAX / 2, (n / 20).max(500)] {
                let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
                let shown = secret
                    .as_bytes()
                    .chunks_exact(20)
                    .find(|part| seen.contains(std::str::from_utf8(part).unwrap()));
                assert_eq!(shown, None, "{n} of {:.30}, {n_chars} at a time", text);
            }
        }
    }
}

fn private_soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        "[0-9 ().+/-]{0,14}",
        prop::sample::select(vec![
            "@",
            "password",
            " = ",
            ": ",
            "-----BEGIN PRIVATE KEY-----",
            "-----END",
            "eyJhbGci",
            "+40",
            "tel ",
            "0722123456",
            "RO49AAAA1B31007593840000",
            "ana@b.ro",
            "\n",
            "://",
            "sk-ant-",
            "4111111111111111",
            "[email]",
            "\"",
            "\\n",
            "\\",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Every example of the corpus with something private in it.
fn private_examples() -> Vec<(String, Vec<Range<usize>>)> {
    let lines = CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(read_line)
        .map(|(text, expected)| {
            let found = find_private(&text).into_iter().map(|piece| piece.bytes);
            let expected: Vec<_> = expected.into_iter().map(|(_, bytes)| bytes).collect();
            (text, found.filter(|bytes| expected.contains(bytes)).collect::<Vec<_>>())
        })
        .filter(|(_, pieces)| !pieces.is_empty())
        .collect()
}

/// What a reader of the text in pieces of `n_chars` gets to see, marks left out.
pub(super) fn read_in_pieces(source: &str, n_chars: usize, context_chars: usize) -> String {
    let starts: Vec<usize> =
        source.char_indices().map(|(at, _)| at).chain([source.len()]).collect();
    let n_source = starts.len() - 1;
    let mut seen = String::new();
    for first in (0..n_source).step_by(n_chars) {
        let last = (first + n_chars).min(n_source);
        let from = starts[first.saturating_sub(context_chars)];
        let to = starts[(last + context_chars).min(n_source)];
        let window = starts[first] - from..starts[last] - from;
        let redaction = redact_window(&source[from..to], window.clone());
        let mut at = window.start;
        for piece in &redaction.pieces {
            seen.push_str(&source[from + at..from + piece.bytes.start]);
            at = piece.bytes.end;
        }
        seen.push_str(&source[from + at..from + window.end]);
    }
    seen
}

#[test]
fn reading_in_pieces_of_any_size_reveals_nothing() {
    let examples = private_examples();
    assert!(examples.len() > 100, "{}", examples.len());
    for (text, pieces) in examples {
        let at_once = read_in_pieces(&text, usize::MAX / 2, 0);
        for n_chars in [1, 2, 3, 5, 6, 7, 10, 16, 33, 64] {
            let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
            assert_eq!(seen, at_once, "{n_chars} characters at a time of {text:?}");
        }
        for piece in pieces {
            assert!(
                !at_once.contains(&text[piece.clone()]) || text.matches(&text[piece]).count() > 1
            );
        }
    }
}

#[test]
fn reading_in_pieces_reveals_nothing_deep_inside_a_long_text() {
    let filler = "Plain words of a long report, line after line. ".repeat(10);
    let key: String = (0..40)
        .map(|n| {
            format!("{}{n:02}\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7aBcDeF+/")
        })
        .collect();
    let secrets = [
        "ana.popescu@example.org".to_owned(),
        "4111 1111 1111 1111".to_owned(),
        "RO49 AAAA 1B31 0075 9384 0000".to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----"),
    ];
    for secret in secrets {
        let text = format!("{filler}\n{secret}\n{filler}");
        let n_chars = if secret.len() > 100 { 60 } else { 6 };
        let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
        for part in secret.split_whitespace().filter(|part| part.len() > 3) {
            assert!(!seen.contains(part), "{part}");
        }
    }
}

#[test]
fn the_middle_of_a_key_is_private_without_its_ends() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7aBcDeF+/ab12";
    check(&format!("{line}\n{line}\n{line}"), "[private key]");
    check(&format!("{line}\n{line}\nThen words."), "[private key]\nThen words.");
    check(&format!("Words first.\n{line}\n{line}\n"), "Words first.\n[private key]\n");
    check("one\ntwo\nthree", "one\ntwo\nthree");
}

#[test]
fn disguises_hide_nothing() {
    check("ana＠ｅｘａｍｐｌｅ．ｏｒｇ wrote", "[email] wrote");
    check("ana\u{200b}@exam\u{200d}ple.org wrote", "[email] wrote");
    check("card ４１１１ １１１１ １１１１ １１１１", "card [card]");
    check("card ٤١١١١١١١١١١١١١١١", "card [card]");
    check("card 4111\u{200b}1111\u{200b}1111\u{200b}1111", "card [card]");
    check("card 4539\u{2800}5787\u{2800}6362\u{2800}1486", "card [card]");
    check("card 4539·5787·6362·1486", "card [card]");
    check("ana\u{2800}@example.org wrote", "[email] wrote");
    check("pass\u{ad}word: tiger-7", "pass\u{ad}word: [password]");
    check("export PGPASSWORD=tiger", "export PGPASSWORD=[password]");
    check("user,password\nann,tiger", "user,password\nann,[password]");
    let ours = format!("dowse_{}", "aB3-".repeat(11));
    check(&format!("key {} end", &ours[..49]), "key [token] end");
}

proptest! {
    /// A window is the text at once, cut: whatever the text and the window.
    #[test]
    fn a_window_shows_what_the_whole_shows(text in private_soup(), a in 0..200_usize, b in 0..200_usize) {
        let bounds = |at: usize| { let mut at = at.min(text.len()); while !text.is_char_boundary(at) { at -= 1; } at };
        let window = bounds(a.min(b))..bounds(a.max(b));
        let redaction = redact_window(&text, window.clone());
        let whole = find_private(&text);
        for (at, _) in text.char_indices().filter(|(at, _)| window.contains(at)) {
            let is_private = whole.iter().any(|piece| piece.bytes.contains(&at));
            let is_marked = redaction.pieces.iter().any(|piece| piece.bytes.contains(&at));
            prop_assert_eq!(is_private, is_marked);
        }
    }

    /// A finder that is passed over would have found nothing.
    #[test]
    fn what_is_passed_over_has_nothing(text in private_soup()) {
        prop_assert_eq!(found_by(&text, Signs::of(&text)), found_by(&text, Signs::ALL));
    }

    #[test]
    fn pieces_are_in_order_and_the_rest_is_untouched(text in private_soup()) {
        let redaction = redact(&text);
        prop_assert_eq!(redaction.n_pieces, redaction.pieces.len());
        let mut at = 0;
        let mut rebuilt = String::new();
        for piece in &redaction.pieces {
            prop_assert!(piece.bytes.start >= at && piece.bytes.end > piece.bytes.start);
            rebuilt.push_str(&text[at..piece.bytes.start]);
            rebuilt.push_str(piece.kind.mark());
            at = piece.bytes.end;
        }
        rebuilt.push_str(&text[at..]);
        prop_assert_eq!(rebuilt, redaction.text);
    }

    #[test]
    fn marks_are_never_redacted(text in private_soup()) {
        let once = redact(&text);
        let mut at = 0;
        let mut n_removed = 0;
        let mut marks = Vec::new();
        for piece in &once.pieces {
            n_removed += piece.bytes.start - at;
            marks.push(n_removed..n_removed + piece.kind.mark().len());
            n_removed += piece.kind.mark().len();
            at = piece.bytes.end;
        }
        for piece in redact(&once.text).pieces {
            for mark in &marks {
                let apart = piece.bytes.end <= mark.start || mark.end <= piece.bytes.start;
                prop_assert!(apart, "{:?} touches a mark of {:?}", piece, once.text);
            }
        }
    }
}

/// Names of secrets as people tell one from another, each in a pair, in CSV and in Markdown.
#[test]
fn qualified_names_are_names_of_secrets() {
    for name in [
        "password2",
        "Password 1",
        "password_2",
        "Password (initial)",
        "Kennwort (neu)",
        "new_password2",
        "passwd_old",
        "password_plain",
        "api_token_prod",
        "secretKey2",
        "access token (prod)",
        "pass_phrase",
        "Pass-word",
    ] {
        let csv = format!("user,{name},level\nann,Gr8tHorse77,3\nbob,Gr8tHorse78,4\n");
        let markdown = format!("| user | {name} |\n|---|---|\n| ann | Gr8tHorse77 |\n");
        for text in [format!("{name}: Gr8tHorse77"), format!("{name} = Gr8tHorse77"), csv, markdown]
        {
            let shown = redact(&text).text;
            assert!(!shown.contains("Gr8tHorse"), "{shown}");
        }
    }
    for heading in ["password:", "PASSWORD#", "password?", "password [plain]"] {
        let shown = redact(&format!("user,{heading},level\nann,tiger-7,3\n")).text;
        assert!(!shown.contains("tiger"), "{shown}");
    }
}

#[test]
fn markup_phrases_and_mappings_hide_their_values() {
    for text in [
        "<Password xml:space=\"preserve\">Gr8tHorse77</Password>",
        "<wsse:Password Type=\"http://x\">Gr8tHorse77</wsse:Password>",
        "<param name=\"password\">Gr8tHorse77</param>",
        "<input type=\"password\" id=\"x\" value=\"Gr8tHorse77\">",
        "<input value='Gr8tHorse77' type='password'/>",
        "-Dpassword=Gr8tHorse77",
        "-Djavax.net.ssl.keyStorePassword=Gr8tHorse77",
        "keytool -storepass Gr8tHorse77 -x",
        "requirepass Gr8tHorse77",
        "the password for root is Gr8tHorse77",
        "Password of the new server: Gr8tHorse77",
        "Passwort für ann: Gr8tHorse77",
        "root password is now Gr8tHorse77",
        "Das Passwort ist: Gr8tHorse77",
        "password - Gr8tHorse77",
        "пароль — Gr8tHorse77",
        "\"passwords\": {\"ann\": \"Gr8tHorse77\", \"bob\" : \"Gr8tHorse78\"}",
        "\"passwords\": {\"n\": 5, \"ann\": \"Gr8tHorse77\", \"old\": null, \"bob\": \"Gr8tHorse78\"}",
        "\"secrets\": {\"old\": [1, \"Gr8tHorse77\"], \"db\": {\"a\": {}, \"b\": {\"c\": \"Gr8tHorse78\"}}}",
        "\"secrets\": {\"db\": [{\"user\": \"ann\", \"text\": \"Gr8tHorse77\"}], \"x\": \"Gr8tHorse78\"}",
        "\"credentials\": [ {\"user\": \"ann\", \"text\": \"Gr8tHorse77\"}, {\"text\": \"Gr8tHorse78\"}]",
        "secrets:\n  db: Gr8tHorse77\n  mail: \"Gr8tHorse78\"\n",
        "\"password\",\"Gr8tHorse77\"\n",
        "host | a | b\npassword | Gr8tHorse77 | Gr8tHorse78\n",
        "| | test | live |\n|---|---|---|\n| password | - | Gr8tHorse77 |\n",
        "password.0: Gr8tHorse77\npassword.1: Gr8tHorse78\n",
        "fields.password.stringValue: Gr8tHorse77\nItem.password.S: Gr8tHorse78\n",
        "Password:\n\n\nGr8tHorse77\n",
        "pay with 41111111 11111111",
        "pay with 4111&nbsp;1111&nbsp;1111&nbsp;1111",
        "pay with 4111 – 1111 – 1111 – 1111",
        "write to ann (at) example (dot) org",
        "write to ann&#064;example.org",
    ] {
        let shown = redact(text).text;
        let is_hidden =
            ["Gr8tHorse", "1111", "ann (at)", "ann&#"].iter().all(|s| !shown.contains(s));
        assert!(is_hidden, "{text}: {shown}");
    }
    for text in [
        "The password for the portal is changed every 90 days",
        "{\"secrets\": {\"n\": 5, \"in\": {}}, \"host\": \"server77x\", \"at\": {\"id\": \"room4711b\"}}",
        "{\"credentials\": [{\"n\": 1}], \"host\": \"server77x\"}",
        "password - at least 12 characters",
        "the secret of good soup: patience",
        "secrets:\n  provider: vault\n  enabled: true\n",
        "\"tokens\": {\"type\": \"bearer\", \"kind\": \"refresh\"}",
        "{\"type\": \"password\", \"label\": \"Kind7Words\"}",
        "password reset: Monday",
        "| password | varchar | utf8mb4 | not null |",
        "| secret_key | string | 2.1.0 | v1beta22 |",
        "{\"password\": {\"type\": \"string\", \"description\": \"At least 8 characters\"}}",
        "passwords: see chapter 7",
    ] {
        assert_eq!(redact(text).text, text);
    }
}

#[test]
fn no_line_of_the_corpus_is_passed_over() {
    for line in CORPUS.lines() {
        let (text, _) = read_line(line);
        assert_eq!(found_by(&text, Signs::of(&text)), found_by(&text, Signs::ALL), "{text}");
    }
}

/// A mapping that is called a secret was hidden as it is written in JSON or YAML, and shown as it is
/// extracted: a line for each value, with its path.
#[test]
fn mappings_are_hidden_as_lines_of_paths() {
    for path in ["db.secrets.ann", "passwords.db.now", "password.old", "x.y.DB_PASSWORD.prod-1"] {
        let shown = redact(&format!("a.b: 1\n{path}: Gr8tHorse77\nc: 2")).text;
        assert_eq!(shown, format!("a.b: 1\n{path}: [password]\nc: 2"));
    }
    for text in [
        "password.hint: at least 8 characters, 1 digit",
        "Reset the password. Next: step1ofthree",
        "Look at password.next: step1ofthree",
        "password.min: 8",
        "password.encoder: bcrypt",
    ] {
        assert_eq!(redact(text).text, text);
    }
}

#[test]
fn values_of_pairs_are_hidden_in_either_order() {
    for text in [
        "<property name=\"password\"><value>Gr8tHorse77</value></property>",
        "<setting name=\"DbPassword\" serializeAs=\"String\">\n <value>Gr8tHorse77</value>",
        "{\"value\": \"Gr8tHorse77\", \"name\": \"password\"}",
        "{\"type\": \"x\", \"value\":\"Gr8tHorse77\",\n \"key\" : \"DB_PASSWORD\", \"a\": 1}",
        "<add value='Gr8tHorse77' key='DbPassword' />",
        "env:\n  - value: Gr8tHorse77\n    name: DB_PASSWORD\n  - name: HOST\n    value: db",
    ] {
        let shown = redact(text).text;
        assert!(!shown.contains("Gr8tHorse"), "{shown}");
    }
    let other = "- value: example.org\n- name: password\n  value: Gr8tHorse77";
    assert!(redact(other).text.contains("example.org"));
    let other = "{\"value\": \"seven horses\"}, {\"name\": \"password\"}";
    assert_eq!(redact(other).text, other);
}

/// The letter of an escape is no part of a name or value, and no escape is part of a mark.
#[test]
fn escapes_are_edges() {
    let secrets = [
        ("AKIAIOSFODNN7EXAMPLE", "[token]"),
        ("password: Xy7kQ9zPp2LmNv83", "password: [password]"),
        ("password = Xy7kQ9zPp2LmNv83", "password = [password]"),
        ("token = Xy7kQ9zPp2LmNv83", "token = [password]"),
        ("api_key: Xy7kQ9zPp2LmNv83", "api_key: [password]"),
        ("4111 1111 1111 1111", "[card]"),
        ("+40 721 234 567", "[phone]"),
        ("RO49AAAA1B31007593840000", "[iban]"),
        ("ana.popescu@example.org", "[email]"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[token]"),
    ];
    let escapes = [
        r"\n", r"\t", r"\r", r"\r\n", r"\b", r"\f", r"\v", r#"\""#, r"\u000a", r"\u000A",
        r"\u0022", r"\x0a", r"\\\n",
    ];
    for (secret, mark) in secrets {
        for escape in escapes {
            for around in ["quux {\"log\":\"x_y\"}", "s=\"x_y\"", "{\"note\": \"hi_z\", \"n\": 1}"]
            {
                let with = |inner: &str| around.replace('_', &format!("{escape}{inner}{escape}"));
                check(&with(secret), &with(mark));
                let text = with(secret);
                let at_once = read_in_pieces(&text, usize::MAX / 2, 0);
                for n_chars in [1, 2, 3, 7] {
                    assert_eq!(read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS), at_once);
                }
            }
        }
    }
    check(r#"{"a":"password:\tXy7kQ9zPp2"}"#, r#"{"a":"password:\t[password]"}"#);
    check(r#"{"a":"x\\npassword: Xy7kQ9zPp2"}"#, r#"{"a":"x\\npassword: [password]"}"#);
}

#[test]
fn backslashes_of_paths_and_passwords_are_no_escapes() {
    for text in [
        r"C:\new\token",
        r"C:\password\token42abc",
        r"C:\tools\password\newThing.txt",
        r"C:\Users\ann\tokens\readme2.txt",
        r#""C:\\new\\token\\bin7""#,
        r"\\server\password\backup",
        r"\textbf{password} \beta \rho \nu",
    ] {
        check(text, text);
    }
    check(r"in C:\temp\nAKIAIOSFODNN7EXAMPLE", r"in C:\temp\n[token]");
    check(r#""C:\temp\npassword:\tXy7kQ9zPp2""#, r#""C:\temp\npassword:\t[password]""#);
    check(r"password = Xy7k\n0Zebra", "password = [password]");
    check(r#"{"password":"Xy7k\nQ9 Zebra"}"#, r#"{"password":"[password]"}"#);
}
