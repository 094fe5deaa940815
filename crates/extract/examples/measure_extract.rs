//! Measures extraction over a folder with a manifest, or shows what is read of one file.
//!
//! `cargo run --release -p extract --example measure_extract -- FOLDER | FILE`

use std::path::Path;

use extract::{Caps, Pool, PoolConfig, bench, extract, worker};

fn main() -> extract::Result<()> {
    if worker::main_if_asked() {
        return Ok(());
    }
    let path = std::env::args().nth(1).unwrap_or_default();
    let path = Path::new(&path);
    if path.is_file() {
        let bytes = fs_err::read(path).map_err(|source| extract::Error::Read { source })?;
        let (document, warnings) = extract(&bytes, &path.to_string_lossy(), &Caps::standard());
        eprintln!(
            "{} title={:?} language={:?}",
            document.format, document.title, document.language
        );
        for warning in warnings {
            eprintln!("warning {}: {}", warning.code, warning.message);
        }
        for block in document.blocks {
            eprintln!("[{} {:?}] {}", block.pointer, block.kind, block.text);
        }
        return Ok(());
    }
    let pool = Pool::new(PoolConfig::this_executable()?);
    let only_expected = std::env::args().nth(2).is_some();
    let report = if only_expected { bench::expected_text(path)? } else { bench::run(path, &pool)? };
    for figure in report.figures {
        let note = figure.note.unwrap_or_default();
        eprintln!("{:<60} {:>10.3} {:<6} {note}", figure.name, figure.value, figure.unit);
    }
    Ok(())
}
