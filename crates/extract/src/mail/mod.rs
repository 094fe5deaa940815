//! Messages: mail as it travels, mailboxes, and Outlook's own files.

mod eml;
mod message;
mod msg;
mod rtf_packed;

pub(crate) use eml::{read_eml, read_mbox};
pub(crate) use msg::read_msg;
