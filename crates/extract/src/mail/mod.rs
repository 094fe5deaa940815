//! Messages: mail as it travels, mailboxes, and Outlook's files.
use crate::error::{Error, Result};
use crate::output::Output;
pub(crate) fn read_eml(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "mail" }) }
pub(crate) fn read_mbox(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "mail" }) }
pub(crate) fn read_msg(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "mail" }) }
