//! Any bytes under the name of one format: the end is text or a named warning, never a panic.
//!
//! Every parser has a program of its own made from this file; the format is in its name.
#![no_main]

use std::time::Duration;

use extract::{Caps, extract};
use libfuzzer_sys::fuzz_target;

/// The extension under which the bytes are read.
const EXTENSION: &str = env!("CARGO_BIN_NAME").split_at("parse_".len()).1;

fuzz_target!(|bytes: &[u8]| {
    let caps = Caps { time: Duration::from_secs(10), output_bytes: 1 << 20, ..Caps::standard() };
    let (document, warnings) = extract(bytes, &format!("file.{EXTENSION}"), &caps);
    let panic = warnings.iter().find(|warning| warning.code == "parser_panicked");
    assert!(panic.is_none(), "{panic:?}");
    assert!(!document.blocks.is_empty() || !warnings.is_empty(), "neither text nor a warning");
});
