//! Text between tags: HTML as browsers forgive it, and XML.

mod xml_reader;

mod html;
mod html_blocks;
mod html_tokens;
mod xml;

pub(crate) use xml_reader::{XmlEvent, XmlReader, decode_xml, local_attribute};

pub(crate) use html::{read_html, read_html_text};
pub(crate) use xml::read_xml;
