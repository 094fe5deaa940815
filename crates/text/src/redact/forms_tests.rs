//! Forms in which people write secrets down: sentences, commands, files of configuration, keys of
//! providers. Each secret is hidden in each form, read at once and in pieces.

use super::tests::read_in_pieces;
use super::*;

/// A password as people make one up.
const SECRET: &str = "Copperfield89x";

/// Sentences and files; `%` is the secret.
const FORMS: &[&str] = &[
    "Use % as the password.",
    "% is the new admin password for the portal.",
    "The admin password has been changed to %.",
    "password was reset to % yesterday",
    "my password's %",
    "password is currently %",
    "set password %",
    "log in with password %, then call",
    "password (%)",
    "password [%]",
    "password = <%>",
    "password→%",
    "Password:\n\n%",
    "password\n\n%",
    "machine api.example.org\nlogin ann\npassword %\n",
    "remote_password %",
    "requirepass %",
    "masterauth %\n",
    "user ann on >% ~* +@all",
    "define( 'DB_PASSWORD', '%' );",
    "variable \"admin_password\" {\n  type = string\n  default = \"%\"\n}",
    "\"password\": {\"type\": \"string\", \"value\": \"%\"}",
    "PresharedKey = %a1b2",
    "\"SigningKey\": \"%\"",
    "Recovery key: %",
    "WLAN-Schlüssel: %",
    "Kennwort lautet: %",
    "hasło to %",
    "mật khẩu là %",
    "adgangskode er %",
    "비밀번호는 %",
    "lozinka: %",
    "парола: %",
    "geslo: %",
    "slaptažodis: %",
    "parool: %",
    "κωδικός: %",
    "nenosiri: %",
    "lykilorð: %",
    "fjalëkalimi: %",
    "گذرواژه: %",
    "رمز عبور: %",
    "পাসওয়ার্ড: %",
    "கடவுச்சொல்: %",
    "лозинка: %",
    "amqp://guest:%#4AP@host:5672",
    "sqlserver://sa:%/x@host",
    "jdbc:oracle:thin:scott/%@host:1521:x",
    "docker login -u ann -p % registry",
    "echo % | docker login --password-stdin",
    "echo 'root:%' | chpasswd",
    "ldapsearch -x -D cn=admin -w % -b dc=x",
    "smbclient //h/s -U ann%%",
    "redis-cli -a % ping",
    "net use Z: \\\\h\\s % /user:ann",
    "net user ann % /add",
    "xfreerdp /u:ann /p:% /v:h",
    "htpasswd -b file ann %",
    "7z x -p% a.7z",
    "unzip -P % a.zip",
    "setx API_TOKEN %",
    "ConvertTo-SecureString \"%\" -AsPlainText -Force",
    "Cookie: theme=dark; sessionid=%0123456789",
];

#[test]
fn every_form_hides_its_secret() {
    let mut shown_in = vec![];
    for form in FORMS {
        // `ann%%` has a sign of its own before the secret.
        let text = form.replacen("%%", "\u{1}%", 1).replace('%', SECRET).replace('\u{1}', "%");
        for text in [text.clone(), format!("Notes.\n\n{text}\n\nNothing more.\n")] {
            let shown = redact(&text).text;
            if shown.contains(SECRET) {
                shown_in.push(shown);
            }
            let at_once = read_in_pieces(&text, usize::MAX / 2, 0);
            for n_chars in [1, 3, 6] {
                let seen = read_in_pieces(&text, n_chars, REDACTION_CONTEXT_CHARS);
                assert_eq!(seen, at_once, "{n_chars} at a time of {text:?}");
            }
        }
    }
    assert_eq!(shown_in, [""; 0]);
}

/// Gives so many made-up characters of an alphabet.
fn made_up(n: usize, alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 11_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn keys_of_providers_are_hidden_wherever_they_begin() {
    let any = |n| made_up(n, "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789");
    let hex = |n| made_up(n, "0123456789abcdef");
    let lower = |n| made_up(n, "abcdefghijklmnopqrstuvwxyz0123456789");
    let keys = [
        format!("glc_{}", any(60)),
        format!("fm2_{}", any(80)),
        format!("EAAA{}", any(60)),
        format!("nfp_{}", any(36)),
        format!("AKCp{}", any(69)),
        format!("oy2{}", lower(43)),
        format!("ATBB{}", any(32)),
        format!("dp.st.{}", any(43)),
        format!("v1.0-{}-{}", hex(24), hex(146)),
        format!("pscale_pw_{}", any(43)),
        format!("CFPAT-{}", any(43)),
        format!("tfp_{}", any(44)),
        format!("rnd_{}", any(32)),
        format!("cio{}", any(32)),
        format!("re_{}_{}", any(8), any(24)),
        format!("sl.{}", any(130)),
        format!("{}.atlasv1.{}", any(14), any(60)),
        format!("MT{}.{}.{}", any(24), any(6), any(38)),
        format!("pat{}.{}", any(14), hex(64)),
        format!("sk.eyJ1Ijoi{}.{}", any(60), any(22)),
        format!("abc8Q~{}", any(34)),
    ];
    for key in &keys {
        for text in [format!("here is {key} in a line"), format!("{{\"x\": \"{key}\"}}")] {
            assert!(redact(&text).text.contains("[token]"), "{text}: {}", redact(&text).text);
        }
    }
    for text in [
        format!("old-ghp_{}", any(36)),
        format!("backup.AKIA{}", made_up(16, "ABCDEFGH234567")),
        format!("https://x.webhook.office.com/webhookb2/{}@{}/IncomingWebhook/1", hex(36), hex(36)),
    ] {
        assert!(redact(&text).text.contains("[token]"), "{text}");
    }
}

/// What holds the same words and signs and no secret.
#[test]
fn prose_and_commands_without_a_secret_stay() {
    for text in [
        "The password to server01 is kept in the vault.",
        "The password has been changed 3 times since 2024-01-02",
        "the password was reset by admin01 on Monday",
        "password (base64-encoded)",
        "password [required, min: 8]",
        "password = <yourPassword1>",
        "chapter12 is the password chapter",
        "Use letters and digits as the password.",
        "docker run -p 8080:80 -v /data image2000",
        "echo $TOKEN | docker login --password-stdin",
        "net use Z: \\\\server\\share2024 /user:ann",
        "user ann wrote on >2 of 30 pages",
        "http://localhost:8080/path/@user1",
        "https://example.org:443/a#b@c",
        "Set-Cookie: lang=en; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "parole: liberty",
        "the {SHA} scheme",
        "my-long-name-with-task-and-risk-in-version-2024",
        "re_compile_of_the_whole_pattern_table",
        "the token for the next_page_of_the_list2 is opaque",
    ] {
        assert_eq!(redact(text).text, text);
    }
}
