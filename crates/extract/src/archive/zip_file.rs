//! The directory of a zip file and its entries.
//!
//! `zip` reads the central directory; where that is missing or cut, entries are found by their local
//! headers, since a truncated download still holds most of its files. Names are found without
//! regard to case and to the kind of slash, as the programs that write these files do.

use std::collections::HashMap;
use std::io::Cursor;

use zip::{CompressionMethod, ZipArchive};

use crate::archive::names::decode_names;
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
    method: Method,
    header_at: u64,
}

/// How an entry is packed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
    Other(String),
}

impl Method {
    fn of(method: CompressionMethod) -> Self {
        if method == CompressionMethod::Stored {
            Method::Stored
        } else if method == CompressionMethod::Deflated {
            Method::Deflated
        } else {
            Method::Other(method.to_string())
        }
    }
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
        let entry = self.find(name).filter(|entry| entry.method == Method::Stored)?;
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
        match &entry.method {
            Method::Stored => {
                output.expanded(packed.len() as u64)?;
                Ok(packed.to_vec())
            }
            Method::Deflated => {
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
            Method::Other(method) => Err(Error::broken(
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

/// Lists the entries of the archive's directory; `None` when there is none that can be read.
fn central_entries(bytes: &[u8]) -> Option<Vec<ZipEntry>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let n_records = archive.len().min(MAX_RECORDS);
    let mut entries = Vec::with_capacity(n_records);
    let mut names = Vec::with_capacity(n_records);
    for record_idx in 0..n_records {
        let mut raw_name = Vec::new();
        let entry = archive.by_index_raw(record_idx).map(|file| {
            raw_name = file.name_raw().to_vec();
            ZipEntry {
                name: String::new(),
                is_encrypted: file.encrypted(),
                n_packed: file.compressed_size(),
                method: Method::of(file.compression()),
                header_at: file.header_start(),
            }
        });
        names.push(raw_name);
        // One whose own header is damaged has a name, and no place that can be read.
        entries.push(entry.unwrap_or_else(|_| {
            ZipEntry {
                name: archive
                    .name_for_index(record_idx)
                    .and_then(std::result::Result::ok)
                    .unwrap_or_default()
                    .into_owned(),
                is_encrypted: false,
                n_packed: 0,
                method: Method::Stored,
                header_at: u64::MAX,
            }
        }));
    }
    name_entries(&mut entries, &names, bytes);
    Some(entries)
}

/// Names entries that have none yet: by what their headers say is the name in UTF-8, else by what
/// all names of the archive look like.
fn name_entries(entries: &mut [ZipEntry], raw_names: &[Vec<u8>], bytes: &[u8]) {
    let raw_names: Vec<&[u8]> = raw_names.iter().map(Vec::as_slice).collect();
    let decoded = decode_names(&raw_names);
    for ((entry, raw_name), decoded) in entries.iter_mut().zip(raw_names).zip(decoded) {
        if entry.name.is_empty() {
            entry.name = unicode_name(bytes, entry.header_at, raw_name).unwrap_or(decoded);
        }
    }
}

/// The field of a header that repeats the name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;

/// Gives the name that an entry's own header repeats in UTF-8, where it is that of this name.
fn unicode_name(bytes: &[u8], header_at: u64, raw_name: &[u8]) -> Option<String> {
    let header = bytes.get(usize::try_from(header_at).ok()?..)?;
    let name_len = usize::from(u16_at(header, 26)?);
    let extra_len = usize::from(u16_at(header, 28)?);
    let mut fields = header.get(30 + name_len..30 + name_len + extra_len)?;
    while let (Some(kind), Some(length)) = (u16_at(fields, 0), u16_at(fields, 2)) {
        let body = fields.get(4..4 + usize::from(length))?;
        // A version, a checksum of the name that it belongs to, and the name.
        if kind == UNICODE_PATH && u32_at(body, 1)? == checksum(raw_name) {
            return Some(std::str::from_utf8(body.get(5..)?).ok()?.to_owned());
        }
        fields = fields.get(4 + usize::from(length)..)?;
    }
    None
}

/// The checksum of zip files; names are short, so bit by bit will do.
fn checksum(bytes: &[u8]) -> u32 {
    let mut checksum = u32::MAX;
    for byte in bytes {
        checksum ^= u32::from(*byte);
        for _ in 0..8 {
            let is_odd = checksum & 1 != 0;
            checksum = (checksum >> 1) ^ if is_odd { 0xedb8_8320 } else { 0 };
        }
    }
    !checksum
}

/// Finds entries by their local headers.
fn salvaged_entries(bytes: &[u8]) -> Vec<ZipEntry> {
    let mut entries = Vec::new();
    let mut names = Vec::new();
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
        names.push(name.to_vec());
        entries.push(ZipEntry {
            name: String::new(),
            is_encrypted: flags & 1 != 0,
            n_packed: if is_known { u64::from(packed) } else { room },
            method: match method {
                0 => Method::Stored,
                8 => Method::Deflated,
                other => Method::Other(other.to_string()),
            },
            header_at: start as u64,
        });
    }
    name_entries(&mut entries, &names, bytes);
    entries
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}
