//! How old a system may be that the shipped binary runs on: a binary that needs a newer C library
//! than the system has does not start there.

use std::path::Path;

use anyhow::ensure;

/// The newest version of glibc that the binary may need: that of Ubuntu 22.04, older than that of
/// Debian 12. The release builds on such a system; one that is newer raises it unseen.
const MAX_GLIBC: (u32, u32) = (2, 35);

/// What the names of versions of glibc begin with, in a binary that needs them.
const PREFIX: &[u8] = b"GLIBC_";

/// Holds that a binary runs on the oldest system that packages are for.
pub(super) fn check(binary: &Path) -> anyhow::Result<()> {
    let Some(needed) = newest_glibc(&fs_err::read(binary)?) else {
        eprintln!("  the binary needs no glibc");
        return Ok(());
    };
    let shown = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    ensure!(
        needed <= MAX_GLIBC,
        "{} needs glibc {}, packages are for {} and newer\n\
         hint: build it on an older system",
        binary.display(),
        shown(needed),
        shown(MAX_GLIBC)
    );
    eprintln!("  the binary needs glibc {}", shown(needed));
    Ok(())
}

/// Gives the newest version of glibc that is named in a binary.
fn newest_glibc(binary: &[u8]) -> Option<(u32, u32)> {
    let places = binary.windows(PREFIX.len()).enumerate().filter(|(_, bytes)| *bytes == PREFIX);
    let versions = places.filter_map(|(place, _)| version(&binary[place + PREFIX.len()..]));
    versions.max()
}

/// Reads `2.35` at the beginning of bytes, which a zero or a third number follows.
fn version(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let text: Vec<u8> = bytes.iter().copied().take(16).take_while(is_part).collect();
    let mut numbers = std::str::from_utf8(&text).ok()?.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_a_binary_names_is_found() {
        let binary = b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.35\0GLIBC_PRIVATE\0GLIBC_2.9\0GLIBC_";
        assert_eq!(newest_glibc(binary), Some((2, 35)));
        assert_eq!(newest_glibc(b"GLIBC_PRIVATE\0"), None);
        let folder = testkit::Folder::new();
        assert!(check(&folder.write("old", "GLIBC_2.35\0")).is_ok());
        assert!(check(&folder.write("static", "nothing")).is_ok());
        let error = check(&folder.write("new", "GLIBC_2.39\0")).unwrap_err().to_string();
        assert!(error.contains("needs glibc 2.39"), "{error}");
    }
}
