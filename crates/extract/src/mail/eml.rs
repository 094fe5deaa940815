//! Mail in the form it travels in, one message or a mailbox of them.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use model::Pointer;

use crate::Format;
use crate::encoding::decode;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::mail::message::{Envelope, push_envelope, push_plain_body};
use crate::markup::read_html_text;
use crate::output::Output;

pub(crate) fn read_eml(bytes: &[u8], output: &mut Output) -> Result<()> {
    read_message(bytes, &Pointer::Message(1), output)
}

pub(crate) fn read_mbox(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut starts: Vec<usize> = memchr::memmem::find_iter(bytes, b"\nFrom ")
        .map(|at| at + 1)
        .filter(|start| is_separator(bytes, *start))
        .collect();
    if bytes.starts_with(b"From ") {
        starts.insert(0, 0);
    }
    starts.push(bytes.len());
    for (number, pair) in (1_u32..).zip(starts.windows(2)) {
        if number as usize > output.caps().entries {
            return Err(output.capped(Cap::Entries));
        }
        let message = bytes.get(pair[0]..pair[1]).unwrap_or_default();
        let head = memchr::memchr(b'\n', message).map_or(message.len(), |end| end + 1);
        let message = message.get(head..).unwrap_or_default();
        match read_message(message, &Pointer::Message(number), output) {
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => output.warn_of(&error),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Tells whether the line at `start`, which begins with `From `, comes before a message. Inside a
/// body such a line should be quoted and often is not: a message follows a blank line, or the line
/// has a time, and headers follow it.
fn is_separator(bytes: &[u8], start: usize) -> bool {
    let (before, line) = bytes.split_at(start);
    let is_after_blank = before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n");
    let mut lines = line.splitn(3, |byte| *byte == b'\n');
    let has_time = lines.next().unwrap_or_default().windows(5).any(|window| {
        matches!(window, [a, b, b':', c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()))
    });
    let next = lines.next().unwrap_or_default();
    let name = next.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_header = name.len() < next.len()
        && !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_after_blank || has_time) && (is_header || next.starts_with(b">From "))
}

/// Gives the text of a part. Its bytes are decoded as those of a file are: what is UTF-8 is not what
/// the header says, and what the header does not say is guessed.
fn text_of<'a>(
    message: &'a Message<'_>,
    part: &'a MessagePart<'_>,
    parsed: &'a str,
) -> Cow<'a, str> {
    let charset = part.content_type().and_then(|kind| kind.attribute("charset")).map(known_as);
    // UTF-7, UTF-16 and names that nobody knows are the parser's.
    let is_ours = charset.is_none_or(|label| {
        let found = encoding_rs::Encoding::for_label(label.as_bytes());
        found.is_some_and(|found| found.is_ascii_compatible() || found == encoding_rs::ISO_2022_JP)
    });
    let place = part.offset_body as usize..part.offset_end as usize;
    let Some(raw) = message.raw_message.get(place).filter(|_| is_ours) else {
        return Cow::Borrowed(parsed);
    };
    let bytes = match part.encoding {
        Encoding::None => Some(Cow::Borrowed(raw)),
        Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
        Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
    };
    bytes.map_or(Cow::Borrowed(parsed), |bytes| Cow::Owned(decode(&bytes, charset).text))
}

/// Gives the usual name of a charset that mail calls by the number of its code page.
fn known_as(charset: &str) -> &str {
    match charset.trim().to_ascii_lowercase().as_str() {
        "cp932" => "shift_jis",
        "cp936" => "gbk",
        "cp949" => "euc-kr",
        "cp950" => "big5",
        _ => charset,
    }
}

fn read_message(bytes: &[u8], pointer: &Pointer, output: &mut Output) -> Result<()> {
    let Some(message) = MessageParser::default().parse(bytes) else {
        return Err(Error::broken(Format::Eml, "it has no headers that can be read"));
    };
    let envelope = Envelope {
        subject: message.subject().unwrap_or_default().to_owned(),
        fields: vec![
            ("From", people(message.from())),
            ("To", people(message.to())),
            ("Cc", people(message.cc())),
            ("Date", message.date().map(ToString::to_string).unwrap_or_default()),
        ],
    };
    push_envelope(&envelope, pointer, output)?;
    for part_idx in &message.text_body {
        let Some(part) = message.parts.get(*part_idx as usize) else { continue };
        match &part.body {
            PartType::Text(text) => {
                push_plain_body(&text_of(&message, part, text), pointer, output)?;
            }
            PartType::Html(html) => {
                read_html_text(&text_of(&message, part, html), pointer, output)?;
            }
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => {}
        }
    }
    for (attachment_idx, part) in message.attachments().enumerate() {
        if attachment_idx >= output.caps().entries {
            return Err(output.capped(Cap::Entries));
        }
        let name = part.attachment_name().map(str::to_owned);
        match &part.body {
            PartType::Message(inner) => {
                let name = name.unwrap_or_else(|| format!("message-{}.eml", attachment_idx + 1));
                read_inner(inner.raw_message(), &name, output)?;
            }
            PartType::Binary(content) | PartType::InlineBinary(content) => {
                let name = name.unwrap_or_else(|| format!("attachment-{}", attachment_idx + 1));
                let is_picture = part
                    .content_type()
                    .is_some_and(|kind| matches!(kind.ctype(), "image" | "audio" | "video"));
                if !is_picture {
                    read_inner(content, &name, output)?;
                }
            }
            PartType::Text(text) | PartType::Html(text) => {
                let usual = if matches!(part.body, PartType::Html(_)) { "html" } else { "txt" };
                let name =
                    name.unwrap_or_else(|| format!("attachment-{}.{usual}", attachment_idx + 1));
                read_inner(text_of(&message, part, text).as_bytes(), &name, output)?;
            }
            PartType::Multipart(_) => {}
        }
    }
    Ok(())
}

fn people(address: Option<&Address>) -> String {
    let mut people: Vec<String> = Vec::new();
    for person in address.into_iter().flat_map(Address::iter) {
        people.push(match (person.name(), person.address()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (None, None) => continue,
        });
    }
    people.join(", ")
}
