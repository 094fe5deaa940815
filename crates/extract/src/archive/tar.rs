//! A tar file as a folder of documents.

use crate::archive::zip::is_clutter;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::output::Output;
use crate::{Format, warning};

/// The unit in which tar files are laid out.
const BLOCK_BYTES: usize = 512;

pub(crate) fn read_tar(bytes: &[u8], output: &mut Output) -> Result<()> {
    let mut rest = bytes;
    let mut n_files = 0;
    let mut long_name: Option<String> = None;
    while let Some((header, after)) = rest.split_at_checked(BLOCK_BYTES) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let Some(size) = octal(header.get(124..136)) else {
            return Err(Error::broken(Format::Tar, "an entry's size cannot be read"));
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let content = after.get(..size).unwrap_or(after);
        if content.len() < size {
            output.warn(warning::REPAIRED, "the tar file is cut: read as far as it goes");
        }
        let padded = size.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(usize::MAX);
        rest = after.get(padded..).unwrap_or_default();
        match header.get(156).copied().unwrap_or_default() {
            b'L' => long_name = Some(text_of(Some(content))),
            b'x' => long_name = path_of_extension(content).or(long_name),
            0 | b'0' | b'7' => {
                let name = long_name.take().unwrap_or_else(|| full_name(header));
                n_files += 1;
                if n_files > output.caps().entries {
                    let error = output.capped(Cap::Entries);
                    output.warn_of(&error);
                    break;
                }
                output.check_time()?;
                if !content.is_empty() && !is_clutter(&name) {
                    read_inner(content, &name, output)?;
                }
            }
            _ => long_name = None,
        }
    }
    Ok(())
}

fn full_name(header: &[u8]) -> String {
    let name = text_of(header.get(..100));
    let prefix = text_of(header.get(345..500));
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

fn text_of(field: Option<&[u8]>) -> String {
    let field = field.unwrap_or_default();
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(field.get(..end).unwrap_or_default()).trim().to_owned()
}

fn octal(field: Option<&[u8]>) -> Option<u64> {
    u64::from_str_radix(text_of(field).trim(), 8).ok()
}

fn path_of_extension(records: &[u8]) -> Option<String> {
    let records = String::from_utf8_lossy(records);
    let line = records.lines().find(|line| line.contains(" path="))?;
    line.split_once(" path=").map(|(_, path)| path.to_owned())
}
