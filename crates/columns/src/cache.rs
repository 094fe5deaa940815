//! Columns kept in Arrow files, so that a table opens in milliseconds the second time and its
//! memory belongs to the page cache.
//!
//! The name of a file says what it was made from: the source's path, modification time and
//! size, the specification, and the version of this layout. Another state of the source is
//! another file, and the older ones of the same source are removed.

use std::collections::HashMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use arrow_schema::{Field, Schema};
use sha2::{Digest, Sha256};

use crate::load::{self, LoadReport};
use crate::{Column, Dataset, Error, Result, TableSpec, mapped};

/// Changes with the layout of the files and with what cells are read as, so that old ones are not
/// taken for new ones.
const LAYOUT: &str = "columns-7";
/// The key of the report in a file's metadata.
const REPORT_KEY: &str = "dowse.load_report";

/// What a file looked like from the outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<std::time::SystemTime>,
    pub(crate) size: u64,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let metadata = load::stat(path)?;
        if !metadata.is_dir() {
            return Ok(Stamp { modified: metadata.modified().ok(), size: metadata.len() });
        }
        let mut stamp = Stamp { modified: metadata.modified().ok(), size: 0 };
        for file in load::files_of(path)? {
            let metadata = load::stat(&file)?;
            stamp.modified = stamp.modified.max(metadata.modified().ok());
            stamp.size += metadata.len();
        }
        Ok(stamp)
    }
}

/// Opens a source through the cache: maps the file made from this very state of the source, or
/// reads the source and makes it.
pub(crate) fn open(
    source: &Path,
    stamp: &Stamp,
    spec: &TableSpec,
    folder: &Path,
) -> Result<Dataset> {
    let name = CacheName::of(source, stamp, spec);
    let path = folder.join(name.file_name());
    if path.exists() {
        match read(&path, name.version()) {
            Ok(dataset) => return Ok(dataset),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot use a column file, making it again");
            }
        }
    }
    fs_err::create_dir_all(folder)?;
    let (columns, report) = load::read_file(source, spec)?;
    let temporary = folder.join(format!("{}.{}.tmp", name.file_name(), std::process::id()));
    let written = write(&temporary, &columns, &report);
    drop(columns);
    if let Err(error) = written {
        let _ = fs_err::remove_file(&temporary);
        return Err(error);
    }
    fs_err::rename(&temporary, &path)?;
    remove_older(folder, &name);
    read(&path, name.version())
}

/// Removes what was made from files that are none of these. While one of them is away nothing is
/// removed: under which name its columns are cannot be told then. A file that cannot be removed is
/// left for the next time.
pub(crate) fn keep_only(folder: &Path, sources: &[PathBuf]) {
    let names: std::io::Result<Vec<String>> =
        sources.iter().map(|source| Ok(source_name(&fs_err::canonicalize(source)?))).collect();
    let (Ok(names), Ok(entries)) = (names, fs_err::read_dir(folder)) else { return };
    for entry in entries.filter_map(|entry| entry.ok()) {
        let file_name = entry.file_name();
        let Some((source, _)) = file_name.to_str().and_then(|name| name.split_once('-')) else {
            continue;
        };
        if names.iter().any(|name| name == source) {
            continue;
        }
        match fs_err::remove_file(entry.path()) {
            Ok(()) => {
                tracing::info!(file = ?file_name, "column files of a removed source were erased")
            }
            Err(error) => {
                tracing::warn!(%error, "column files of a removed source could not be erased")
            }
        }
    }
}

/// Names what is made from a file, by its path.
fn source_name(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    model::hex(&hash[..8])
}

struct CacheName {
    source: String,
    state: [u8; 32],
}

impl CacheName {
    fn of(source: &Path, stamp: &Stamp, spec: &TableSpec) -> Self {
        let path = fs_err::canonicalize(source).unwrap_or_else(|_| source.to_owned());
        let path_hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let since_epoch = stamp
            .modified
            .and_then(|modified| modified.duration_since(std::time::UNIX_EPOCH).ok())
            .unwrap_or_default();
        let spec = serde_json::to_vec(spec).expect("a specification is plain data");
        let mut state = Sha256::new();
        state.update(LAYOUT);
        state.update(path_hash);
        state.update(since_epoch.as_nanos().to_le_bytes());
        state.update(stamp.size.to_le_bytes());
        state.update(spec);
        CacheName { source: source_name(&path), state: state.finalize().into() }
    }

    fn file_name(&self) -> String {
        format!("{}-{}.arrow", self.source, model::hex(&self.state[..12]))
    }

    fn version(&self) -> u64 {
        u64::from_le_bytes(self.state[..8].try_into().expect("eight bytes are eight bytes"))
    }
}

fn write(path: &Path, columns: &[Column], report: &LoadReport) -> Result<()> {
    let failed = |cause| Error::Arrow { path: path.to_owned(), cause };
    let arrays: Vec<_> = columns.iter().map(Column::to_arrow).collect();
    let fields: Vec<_> = columns
        .iter()
        .zip(&arrays)
        .map(|(column, array)| Field::new(column.name(), array.data_type().clone(), true))
        .collect();
    let report = serde_json::to_string(report).expect("a report is plain data");
    let metadata = HashMap::from([(REPORT_KEY.to_owned(), report)]);
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let file = BufWriter::new(fs_err::File::create(path)?);
    let mut writer = FileWriter::try_new(file, &schema).map_err(failed)?;
    if !arrays.is_empty() {
        let batch = RecordBatch::try_new(schema, arrays).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    let file = writer.into_inner().map_err(failed)?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}

fn read(path: &Path, version: u64) -> Result<Dataset> {
    let failed = |cause| Error::Arrow { path: path.to_owned(), cause };
    let buffer = mapped::map(path)?;
    let (columns, report) = decode(&buffer).map_err(failed)?;
    Ok(Dataset::new(columns, report, version))
}

fn decode(buffer: &arrow_buffer::Buffer) -> Result<(Vec<Column>, LoadReport), ArrowError> {
    let foreign = || ArrowError::IpcError("the file is not a column file".to_owned());
    let trailer_start = buffer.len().checked_sub(10).ok_or_else(foreign)?;
    let trailer: [u8; 10] = buffer[trailer_start..].try_into().map_err(|_| foreign())?;
    let footer_length = read_footer_length(trailer)?;
    let footer_start = trailer_start.checked_sub(footer_length).ok_or_else(foreign)?;
    let footer = root_as_footer(&buffer[footer_start..trailer_start])
        .map_err(|cause| ArrowError::IpcError(cause.to_string()))?;
    let schema = Arc::new(try_fb_to_schema(footer.schema().ok_or_else(foreign)?)?);
    let report = schema
        .metadata()
        .get(REPORT_KEY)
        .and_then(|report| serde_json::from_str::<LoadReport>(report).ok())
        .ok_or_else(foreign)?;
    let mut decoder = FileDecoder::new(schema.clone(), footer.version());
    let slice = |offset: i64, length: i64| {
        let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
        let fits = offset.checked_add(length)? <= buffer.len();
        fits.then(|| buffer.slice_with_length(offset, length))
    };
    for block in footer.dictionaries().iter().flatten() {
        let length = i64::from(block.metaDataLength()) + block.bodyLength();
        decoder.read_dictionary(block, &slice(block.offset(), length).ok_or_else(foreign)?)?;
    }
    let mut columns = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        let length = i64::from(block.metaDataLength()) + block.bodyLength();
        let data = slice(block.offset(), length).ok_or_else(foreign)?;
        let batch = decoder.read_record_batch(block, &data)?.ok_or_else(foreign)?;
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            columns.push(Column::from_arrow(field.name(), array.as_ref()).ok_or_else(foreign)?);
        }
    }
    if columns.len() != schema.fields().len() {
        return Err(foreign());
    }
    Ok((columns, report))
}

/// Removes what was made from earlier states of the same source. A failure costs only disk.
fn remove_older(folder: &Path, name: &CacheName) {
    let kept = name.file_name();
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    let older: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok())
        .filter(|entry| {
            let file_name = entry.file_name();
            let file_name = file_name.to_string_lossy();
            file_name.starts_with(&name.source)
                && file_name.ends_with(".arrow")
                && *file_name != *kept
        })
        .map(|entry| entry.path())
        .collect();
    for path in older {
        let _ = fs_err::remove_file(path);
    }
}
