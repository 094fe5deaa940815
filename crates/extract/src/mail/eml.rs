//! Mail in the form it travels in, one message or a mailbox of them.

use mail_parser::{Address, MessageParser, MimeHeaders, PartType};
use model::Pointer;

use crate::Format;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::mail::message::{Envelope, push_envelope, push_plain_body};
use crate::markup::read_html_text;
use crate::output::Output;

pub(crate) fn read_eml(bytes: &[u8], output: &mut Output) -> Result<()> {
    read_message(bytes, &Pointer::Message(1), output)
}

pub(crate) fn read_mbox(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut starts: Vec<usize> =
        memchr::memmem::find_iter(bytes, b"\nFrom ").map(|at| at + 1).collect();
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
        match message.parts.get(*part_idx as usize).map(|part| &part.body) {
            Some(PartType::Text(text)) => push_plain_body(text, pointer, output)?,
            Some(PartType::Html(html)) => read_html_text(html, pointer, output)?,
            _ => {}
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
                read_inner(text.as_bytes(), &name, output)?;
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
