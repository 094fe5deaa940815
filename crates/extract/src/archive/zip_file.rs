//! The directory of a zip file and its entries.
//!
//! Reads the central directory, and where that is missing or cut, finds entries by their local
//! headers, since a truncated download still holds most of its files. Names are found without
//! regard to case and to the kind of slash, as the programs that write these files do.

use std::collections::HashMap;

use crate::archive::{Wrapping, inflate};
use crate::error::{Error, Result};
use crate::output::Output;
use crate::{Format, warning};

/// The most directory records that are read; more than any cap on entries needs.
const MAX_RECORDS: usize = 200_000;

/// One file in the archive.
#[derive(Debug, Clone)]
pub(crate) struct ZipEntry {
    pub(crate) name: String,
    pub(crate) is_encrypted: bool,
    n_packed: u64,
    method: u16,
    header_at: u64,
}

/// An opened archive.
pub(crate) struct ZipFile<'a> {
    bytes: &'a [u8],
    entries: Vec<ZipEntry>,
    by_name: HashMap<String, usize>,
    is_salvaged: bool,
}

impl<'a> ZipFile<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        let (entries, is_salvaged) = match central_entries(bytes) {
            Some(entries) if !entries.is_empty() => (entries, false),
            Some(entries) if !bytes.starts_with(b"PK\x03\x04") => (entries, false),
            _ => (salvaged_entries(bytes), true),
        };
        if entries.is_empty() && is_salvaged {
            return Err(Error::broken(Format::Zip, "no directory and no entry can be found"));
        }
        let mut by_name = HashMap::with_capacity(entries.len());
        for (entry_idx, entry) in entries.iter().enumerate() {
            by_name.entry(folded(&entry.name)).or_insert(entry_idx);
        }
        Ok(ZipFile { bytes, entries, by_name, is_salvaged })
    }

    pub(crate) fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    pub(crate) fn is_salvaged(&self) -> bool {
        self.is_salvaged
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ZipEntry> {
        self.by_name.get(&folded(name)).and_then(|entry_idx| self.entries.get(*entry_idx))
    }

    /// Gives the bytes of a small stored entry without unpacking anything.
    pub(crate) fn stored_start(&self, name: &str) -> Option<&'a [u8]> {
        let entry = self.find(name).filter(|entry| entry.method == 0)?;
        let data = self.packed(entry)?;
        Some(data.get(..256).unwrap_or(data))
    }

    /// Unpacks the entry of a name; `None` when there is none.
    pub(crate) fn read_named(&self, name: &str, output: &mut Output) -> Result<Option<Vec<u8>>> {
        self.find(name).map(|entry| self.read(entry, output)).transpose()
    }

    /// Unpacks an entry, as far as it can be.
    pub(crate) fn read(&self, entry: &ZipEntry, output: &mut Output) -> Result<Vec<u8>> {
        if entry.is_encrypted {
            return Err(Error::Encrypted { format: Format::Zip });
        }
        let Some(packed) = self.packed(entry) else {
            return Err(Error::broken(
                Format::Zip,
                format!("`{}` lies outside the file", entry.name),
            ));
        };
        match entry.method {
            0 => {
                output.expanded(packed.len() as u64)?;
                Ok(packed.to_vec())
            }
            8 => {
                let inflated = inflate(packed, Wrapping::Raw, output)?;
                if inflated.is_damaged {
                    if inflated.bytes.is_empty() {
                        return Err(Error::broken(
                            Format::Zip,
                            format!("`{}` cannot be unpacked", entry.name),
                        ));
                    }
                    output.warn(
                        warning::REPAIRED,
                        format!("`{}` is damaged: read as far as it goes", entry.name),
                    );
                }
                Ok(inflated.bytes)
            }
            method => Err(Error::broken(
                Format::Zip,
                format!("`{}` uses compression method {method}, which is not read", entry.name),
            )),
        }
    }

    fn packed(&self, entry: &ZipEntry) -> Option<&'a [u8]> {
        let header = self.bytes.get(usize::try_from(entry.header_at).ok()?..)?;
        let name_len = u64::from(u16_at(header, 26)?);
        let extra_len = u64::from(u16_at(header, 28)?);
        if !header.starts_with(b"PK\x03\x04") {
            return None;
        }
        let data = header.get(usize::try_from(30 + name_len + extra_len).ok()?..)?;
        let n_packed = usize::try_from(entry.n_packed).ok()?;
        Some(data.get(..n_packed).unwrap_or(data))
    }
}

fn folded(name: &str) -> String {
    name.trim_start_matches(['/', '\\']).replace('\\', "/").to_ascii_lowercase()
}

fn central_entries(bytes: &[u8]) -> Option<Vec<ZipEntry>> {
    let tail_at = bytes.len().saturating_sub(66_000);
    let tail = bytes.get(tail_at..)?;
    let end_at = tail_at + memchr::memmem::rfind(tail, b"PK\x05\x06")?;
    let end = bytes.get(end_at..)?;
    let mut size = u64::from(u32_at(end, 12)?);
    let mut offset = u64::from(u32_at(end, 16)?);
    let mut directory_end = end_at as u64;
    if let Some((large_size, large_offset, at)) = large_directory(bytes, end_at) {
        (size, offset, directory_end) = (large_size, large_offset, at);
    }
    // What stands before the archive (a program that unpacks itself) shifts every offset.
    let shift = directory_end.checked_sub(size)?.saturating_sub(offset);
    let mut at = usize::try_from(offset.checked_add(shift)?).ok()?;
    let mut entries = Vec::new();
    while entries.len() < MAX_RECORDS {
        let Some(record) = bytes.get(at..).filter(|record| record.starts_with(b"PK\x01\x02"))
        else {
            break;
        };
        let (entry, record_len) = central_entry(record, shift)?;
        at += record_len;
        entries.push(entry);
    }
    Some(entries)
}

fn large_directory(bytes: &[u8], end_at: usize) -> Option<(u64, u64, u64)> {
    let locator = bytes.get(end_at.checked_sub(20)?..end_at)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return None;
    }
    let at = u64_at(locator, 8)?;
    let record = bytes.get(usize::try_from(at).ok()?..)?;
    if !record.starts_with(b"PK\x06\x06") {
        return None;
    }
    Some((u64_at(record, 40)?, u64_at(record, 48)?, at))
}

fn central_entry(record: &[u8], shift: u64) -> Option<(ZipEntry, usize)> {
    let flags = u16_at(record, 8)?;
    let method = u16_at(record, 10)?;
    let mut n_packed = u64::from(u32_at(record, 20)?);
    let mut n_unpacked = u64::from(u32_at(record, 24)?);
    let name_len = usize::from(u16_at(record, 28)?);
    let extra_len = usize::from(u16_at(record, 30)?);
    let comment_len = usize::from(u16_at(record, 32)?);
    let mut header_at = u64::from(u32_at(record, 42)?);
    let name = record.get(46..46 + name_len)?;
    let extra = record.get(46 + name_len..46 + name_len + extra_len).unwrap_or_default();
    large_fields(extra, [&mut n_unpacked, &mut n_packed, &mut header_at]);
    let entry = ZipEntry {
        name: entry_name(name, flags),
        is_encrypted: flags & 1 != 0,
        n_packed,
        method,
        header_at: header_at.saturating_add(shift),
    };
    Some((entry, 46 + name_len + extra_len + comment_len))
}

/// Fills fields that did not fit in 32 bits from the extra field made for them.
fn large_fields(mut extra: &[u8], fields: [&mut u64; 3]) {
    while let (Some(kind), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let length = usize::from(length);
        let data = extra.get(4..4 + length).unwrap_or_default();
        if kind == 1 {
            let mut at = 0;
            for field in fields {
                if *field == u64::from(u32::MAX)
                    && let Some(value) = u64_at(data, at)
                {
                    *field = value;
                    at += 8;
                }
            }
            return;
        }
        extra = extra.get(4 + length..).unwrap_or_default();
    }
}

fn entry_name(name: &[u8], flags: u16) -> String {
    let is_utf8 = flags & 0x800 != 0;
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) if is_utf8 => String::from_utf8_lossy(name).into_owned(),
        Err(_) => crate::encoding::decode(name, None).text,
    }
}

/// Finds entries by their local headers.
fn salvaged_entries(bytes: &[u8]) -> Vec<ZipEntry> {
    let mut entries = Vec::new();
    let mut starts = memchr::memmem::find_iter(bytes, b"PK\x03\x04").peekable();
    while let Some(start) = starts.next() {
        if entries.len() >= MAX_RECORDS {
            break;
        }
        let Some(header) = bytes.get(start..) else { break };
        let (Some(flags), Some(method), Some(packed), Some(name_len)) =
            (u16_at(header, 6), u16_at(header, 8), u32_at(header, 18), u16_at(header, 26))
        else {
            break;
        };
        let Some(name) = header.get(30..30 + usize::from(name_len)) else { break };
        let room = starts.peek().unwrap_or(&bytes.len()).saturating_sub(start) as u64;
        let is_known = flags & 8 == 0 && packed != u32::MAX && packed != 0;
        entries.push(ZipEntry {
            name: entry_name(name, flags),
            is_encrypted: flags & 1 != 0,
            n_packed: if is_known { u64::from(packed) } else { room },
            method,
            header_at: start as u64,
        });
    }
    entries
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}
