//! Mail is read in the characters it was written in, and a mailbox is cut between its messages.

use extract::{Caps, extract};
use model::Pointer;

fn texts(bytes: &[u8], name: &str) -> Vec<(Pointer, String)> {
    let (document, _) = extract(bytes, name, &Caps::standard());
    document.blocks.into_iter().map(|block| (block.pointer, block.text)).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut written = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            (0..3).fold(0, |n, at| n << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize] as char;
            written.push(if at > chunk.len() { '=' } else { digit });
        }
    }
    written
}

/// Subject and body come out as they were written, whatever charset and transfer encoding carry
/// them.
#[test]
fn every_charset_of_mail_is_read() {
    for (label, encoding, text) in [
        ("iso-2022-jp", "iso-2022-jp", "会議の議事録です"),
        ("Shift_JIS", "shift_jis", "会議の議事録です"),
        ("euc-jp", "euc-jp", "会議の議事録です"),
        ("gb2312", "gbk", "会议记录"),
        ("gb18030", "gb18030", "会议记录"),
        ("big5", "big5", "會議記錄"),
        ("euc-kr", "euc-kr", "회의록입니다"),
        ("ks_c_5601-1987", "euc-kr", "회의록입니다"),
        ("windows-874", "windows-874", "รายงานการประชุม"),
        ("koi8-r", "koi8-r", "Протокол встречи"),
        ("windows-1252", "windows-1252", "Größe und Maß"),
        ("utf-8", "utf-8", "Größe 会議"),
    ] {
        let encoding = encoding_rs::Encoding::for_label(encoding.as_bytes()).unwrap();
        let (bytes, _, is_lossy) = encoding.encode(text);
        assert!(!is_lossy, "{label}");
        let quoted: String = bytes.iter().map(|byte| format!("={byte:02X}")).collect();
        let head = format!(
            "Subject: =?{label}?B?{}?=\r\nContent-Type: text/plain; charset=\"{label}\"\r\n",
            base64(&bytes)
        );
        for (transfer, body) in [
            ("base64", base64(&bytes).into_bytes()),
            ("quoted-printable", quoted.into_bytes()),
            ("8bit", bytes.to_vec()),
        ] {
            let mut mail =
                format!("{head}Content-Transfer-Encoding: {transfer}\r\n\r\n").into_bytes();
            mail.extend(body);
            let found = texts(&mail, "a.eml");
            let found: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(found, [format!("# {text}").as_str(), text], "{label} {transfer}");
        }
    }
    // What is UTF-8 is read as that, whatever the header says.
    let mail = "Subject: a\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\nGröße";
    assert_eq!(texts(mail.as_bytes(), "a.eml")[1].1, "Größe");
}

#[test]
fn a_line_that_begins_with_from_is_part_of_its_message() {
    let message = |number: u32| {
        format!(
            "From a@b.c Mon Jan  1 10:00:00 2024\nSubject: m{number}\n\nDear all,\nFrom now on {number} \
             counts.\n\nFrom the beginning.\n\n"
        )
    };
    let mailbox: String = (1..=3).map(message).collect();
    let found = texts(mailbox.as_bytes(), "a.mbox");
    for number in 1..=3 {
        let own: Vec<&str> = found
            .iter()
            .filter(|(pointer, _)| *pointer == Pointer::Message(number))
            .map(|(_, text)| text.as_str())
            .collect();
        let body = format!("Dear all,\nFrom now on {number} counts.");
        assert_eq!(own, [format!("# m{number}").as_str(), &body, "From the beginning."]);
    }
}
