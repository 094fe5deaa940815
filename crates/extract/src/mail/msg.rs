//! Outlook's messages: properties in the streams of a compound file.

use std::io::Read;

use model::Pointer;

use crate::Format;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::mail::message::{Envelope, push_envelope, push_plain_body};
use crate::mail::rtf_packed;
use crate::markup::{read_html, read_html_text};
use crate::ole::Compound;
use crate::output::Output;
use crate::rtf;

const SUBJECT: u16 = 0x0037;
const SENDER_NAME: u16 = 0x0c1a;
const SENDER_ADDRESS: u16 = 0x5d01;
const SENDER_EMAIL: u16 = 0x0c1f;
const DISPLAY_TO: u16 = 0x0e04;
const DISPLAY_CC: u16 = 0x0e03;
const BODY: u16 = 0x1000;
const BODY_RTF: u16 = 0x1009;
const BODY_HTML: u16 = 0x1013;
const ATTACHED_DATA: u16 = 0x3701;
const ATTACHED_NAME: u16 = 0x3704;
const ATTACHED_LONG_NAME: u16 = 0x3707;
const DISPLAY_NAME: u16 = 0x3001;

pub(crate) fn read_msg(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut file = crate::ole::open(bytes).map_err(|error| Error::broken(Format::Msg, error))?;
    read_message(&mut file, "", output)
}

fn read_message(file: &mut Compound, folder: &str, output: &mut Output) -> Result<()> {
    let pointer = Pointer::Message(1);
    let name = text(file, folder, SENDER_NAME, output)?;
    let mut address = text(file, folder, SENDER_ADDRESS, output)?;
    if address.is_empty() {
        address = text(file, folder, SENDER_EMAIL, output)?;
    }
    let sender =
        if address.contains('@') && address != name { format!("{name} <{address}>") } else { name };
    let envelope = Envelope {
        subject: text(file, folder, SUBJECT, output)?,
        fields: vec![
            ("From", sender),
            ("To", text(file, folder, DISPLAY_TO, output)?),
            ("Cc", text(file, folder, DISPLAY_CC, output)?),
        ],
    };
    push_envelope(&envelope, &pointer, output)?;
    push_body(file, folder, &pointer, output)?;
    let attachments: Vec<String> = match file.read_storage(format!("{folder}/")) {
        Ok(entries) => entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
            .map(|entry| format!("{folder}/{}", entry.name()))
            .collect(),
        Err(_) => Vec::new(),
    };
    for (attachment_idx, attachment) in attachments.iter().enumerate() {
        if attachment_idx >= output.caps().entries {
            return Err(output.capped(Cap::Entries));
        }
        read_attachment(file, attachment, attachment_idx, output)?;
    }
    Ok(())
}

fn push_body(
    file: &mut Compound,
    folder: &str,
    pointer: &Pointer,
    output: &mut Output,
) -> Result<()> {
    let body = text(file, folder, BODY, output)?;
    if !body.trim().is_empty() {
        return push_plain_body(&body, pointer, output);
    }
    let html = text(file, folder, BODY_HTML, output)?;
    if !html.trim().is_empty() {
        return read_html_text(&html, pointer, output);
    }
    if let Some(html) = stream(file, folder, BODY_HTML, 0x0102, output)? {
        return read_html(&html, output);
    }
    if let Some(packed) = stream(file, folder, BODY_RTF, 0x0102, output)?
        && let Some(plain) = rtf_packed::unpacked(&packed)
    {
        output.expanded(plain.len() as u64)?;
        return rtf::read(&plain, output);
    }
    Ok(())
}

fn read_attachment(
    file: &mut Compound,
    folder: &str,
    attachment_idx: usize,
    output: &mut Output,
) -> Result<()> {
    let mut name = String::new();
    for property in [ATTACHED_LONG_NAME, ATTACHED_NAME, DISPLAY_NAME] {
        if name.is_empty() {
            name = text(file, folder, property, output)?;
        }
    }
    if name.is_empty() {
        name = format!("attachment-{}", attachment_idx + 1);
    }
    if let Some(content) = stream(file, folder, ATTACHED_DATA, 0x0102, output)? {
        if !crate::archive::is_clutter(&name) {
            read_inner(&content, &name, output)?;
        }
        return Ok(());
    }
    let inner = format!("{folder}/{}", property_name(ATTACHED_DATA, 0x000d));
    if !file.is_storage(&inner) {
        return Ok(());
    }
    if let Err(error) = output.enter(&name) {
        output.warn(error.code(), format!("`{name}`: {error}"));
        return Ok(());
    }
    let outcome = read_message(file, &inner, output);
    output.leave();
    match outcome {
        Err(error) if !error.stops_everything() => {
            output.warn_of(&error);
            Ok(())
        }
        outcome => outcome,
    }
}

fn property_name(property: u16, kind: u16) -> String {
    format!("__substg1.0_{property:04X}{kind:04X}")
}

/// Gives a text property, whichever way it is stored; empty when it is missing.
fn text(file: &mut Compound, folder: &str, property: u16, output: &mut Output) -> Result<String> {
    if let Some(bytes) = stream(file, folder, property, 0x001f, output)? {
        let units: Vec<u16> =
            bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        return Ok(String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned());
    }
    match stream(file, folder, property, 0x001e, output)? {
        Some(bytes) => {
            let text = crate::encoding::decode(&bytes, None).text;
            Ok(text.trim_end_matches('\0').to_owned())
        }
        None => Ok(String::new()),
    }
}

fn stream(
    file: &mut Compound,
    folder: &str,
    property: u16,
    kind: u16,
    output: &mut Output,
) -> Result<Option<Vec<u8>>> {
    let path = format!("{folder}/{}", property_name(property, kind));
    if !file.is_stream(&path) {
        return Ok(None);
    }
    let Ok(stream) = file.open_stream(&path) else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = stream.take(output.expansion_room()).read_to_end(&mut bytes);
    output.expanded(bytes.len() as u64)?;
    Ok(read.is_ok().then_some(bytes))
}
