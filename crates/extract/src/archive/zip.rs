//! A zip file as a folder of documents, each read by its own kind.

use crate::archive::ZipFile;
use crate::error::{Cap, Error, Result};
use crate::extract::read_inner;
use crate::output::Output;
use crate::{Format, warning};

pub(crate) fn read_zip(bytes: &[u8], output: &mut Output) -> Result<()> {
    let zip = ZipFile::open(bytes)?;
    if zip.is_salvaged() {
        output.warn(warning::REPAIRED, "the archive's directory is damaged: entries were searched");
    }
    let files = zip.entries().iter().filter(|entry| !entry.name.ends_with('/'));
    for (entry_idx, entry) in files.enumerate() {
        if entry_idx >= output.caps().entries {
            let error = output.capped(Cap::Entries);
            output.warn_of(&error);
            break;
        }
        if is_clutter(&entry.name) {
            continue;
        }
        match zip.read(entry, output) {
            Ok(content) if content.is_empty() => {}
            Ok(content) => read_inner(&content, &entry.name, output)?,
            Err(error) if error.stops_everything() => return Err(error),
            Err(Error::Encrypted { .. }) => return Err(Error::Encrypted { format: Format::Zip }),
            Err(error) => output
                .warn(warning::INNER_SKIPPED, format!("`{}` was left out: {error}", entry.name)),
        }
    }
    Ok(())
}

/// Tells whether a path is what an operating system or an editor leaves behind, or a picture.
pub(crate) fn is_clutter(path: &str) -> bool {
    const PICTURES: [&str; 13] = [
        "png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "tif", "tiff", "ttf", "otf", "woff",
        "iwa",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("__MACOSX/")
        || name.starts_with("._")
        || name == ".DS_Store"
        || name == "Thumbs.db"
        || PICTURES.contains(&crate::format::extension_of(name).as_str())
}
