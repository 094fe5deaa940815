//! A tar file as a folder of documents.

use std::io::Read;

use crate::archive::names::decode_names;
use crate::archive::zip::is_clutter;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::output::Output;
use crate::{Format, warning};

pub(crate) fn read_tar(bytes: &[u8], output: &mut Output) -> Result<()> {
    let broken = |error: std::io::Error| Error::broken(Format::Tar, error);
    let mut archive = tar::Archive::new(bytes);
    let mut n_files = 0;
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        output.check_time()?;
        // Folders, links and devices hold nothing; a sparse file says it is larger than it is.
        if !matches!(
            entry.header().entry_type(),
            tar::EntryType::Regular | tar::EntryType::Continuous
        ) {
            continue;
        }
        n_files += 1;
        if n_files > output.caps().entries {
            let error = output.capped(Cap::Entries);
            output.warn_of(&error);
            break;
        }
        let name = entry_name(&entry.path_bytes());
        let size = entry.size();
        let mut content = Vec::new();
        entry.by_ref().take(bytes.len() as u64).read_to_end(&mut content).map_err(broken)?;
        if (content.len() as u64) < size {
            output.warn(warning::REPAIRED, "the tar file is cut: read as far as it goes");
        }
        if !content.is_empty() && !is_clutter(&name) {
            read_inner(&content, &name, output)?;
        }
    }
    Ok(())
}

/// Decodes a name; one after another is read, so each is looked at alone.
fn entry_name(name: &[u8]) -> String {
    decode_names(&[name]).pop().unwrap_or_default()
}
