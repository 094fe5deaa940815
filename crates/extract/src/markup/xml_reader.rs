//! One way to walk XML for every format built on it.
//!
//! Names come without prefix, an empty element opens and closes, text comes with its entities
//! resolved. Depth is capped, entities that a document defines are never expanded, external ones
//! never fetched. Damage ends the walk with an error; what came before it is the reader's.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Cap, Error, Result};
use crate::output::Output;
use crate::{Caps, Format, warning};

/// How many events pass between two looks at the clock.
const EVENTS_PER_CHECK: u32 = 4096;

/// What the walk meets.
pub(crate) enum XmlEvent<'a> {
    Start(BytesStart<'a>),
    End(String),
    Text(Cow<'a, str>),
}

/// The walk.
pub(crate) struct XmlReader<'a> {
    reader: Reader<&'a [u8]>,
    format: Format,
    depth: usize,
    max_depth: usize,
    n_events: u32,
}

impl<'a> XmlReader<'a> {
    pub(crate) fn new(text: &'a str, format: Format, caps: &Caps) -> Self {
        let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        XmlReader { reader, format, depth: 0, max_depth: caps.nesting, n_events: 0 }
    }

    /// Gives the next event, `None` at the end.
    pub(crate) fn next(&mut self, output: &mut Output) -> Result<Option<XmlEvent<'a>>> {
        loop {
            self.n_events = self.n_events.wrapping_add(1);
            if self.n_events.is_multiple_of(EVENTS_PER_CHECK) {
                output.check_time()?;
            }
            let event = self.reader.read_event().map_err(|error| {
                let at = self.reader.error_position();
                Error::broken(self.format, format!("{error} at byte {at} of its XML"))
            })?;
            match event {
                Event::Start(tag) => {
                    self.depth += 1;
                    if self.depth > self.max_depth {
                        return Err(output.capped(Cap::Nesting));
                    }
                    return Ok(Some(XmlEvent::Start(tag)));
                }
                Event::Empty(tag) => return Ok(Some(XmlEvent::Start(tag))),
                Event::End(tag) => {
                    self.depth = self.depth.saturating_sub(1);
                    let name = tag.local_name().as_ref().to_owned();
                    return Ok(Some(XmlEvent::End(name)));
                }
                Event::Text(text) => return Ok(Some(XmlEvent::Text(text.into_inner()))),
                Event::CData(text) => return Ok(Some(XmlEvent::Text(text.into_inner()))),
                Event::GeneralRef(reference) => {
                    if let Ok(Some(char)) = reference.resolve_char_ref() {
                        return Ok(Some(XmlEvent::Text(Cow::Owned(char.to_string()))));
                    }
                    let name = reference.into_inner();
                    match quick_xml::escape::resolve_html5_entity(&name) {
                        Some(text) => return Ok(Some(XmlEvent::Text(Cow::Borrowed(text)))),
                        None => output.warn(
                            warning::ENTITIES_NOT_EXPANDED,
                            "entities that the document defines were not expanded",
                        ),
                    }
                }
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }
}

/// Gives the value of an attribute by its name without prefix.
pub(crate) fn local_attribute(tag: &BytesStart, name: &str) -> Option<String> {
    let attribute = tag
        .attributes()
        .with_checks(false)
        .filter_map(std::result::Result::ok)
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    match attribute.normalized_value(XmlVersion::Implicit1_0) {
        Ok(value) => Some(value.into_owned()),
        Err(_) => Some(attribute.value.into_owned()),
    }
}

/// Decodes an XML document by its mark or its declaration.
pub(crate) fn decode_xml(bytes: &[u8], output: &mut Output) -> String {
    let head = bytes.get(..200).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head);
    let declared = head
        .split_once("encoding")
        .filter(|(before, _)| before.contains("<?xml"))
        .and_then(|(_, after)| after.trim_start().strip_prefix('='))
        .and_then(|after| {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|char| matches!(char, '"' | '\''))?;
            after.get(1..)?.split(quote).next()
        });
    crate::encoding::decode_reported(bytes, declared, output)
}
