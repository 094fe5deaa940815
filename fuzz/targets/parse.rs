//! Any bytes under the name of one format: the end is text or a named warning, never a panic.
//!
//! One program serves every parser: the variable `DOWSE_FUZZ_FORMAT` names the format.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use extract::{Caps, extract};
use libfuzzer_sys::fuzz_target;

/// A panic that is caught is no end of the program here; what is not caught still is.
static CAUGHT_PANICS_ARE_FINE: LazyLock<()> = LazyLock::new(|| {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
});

/// The name under which the bytes are read.
static NAME: LazyLock<String> = LazyLock::new(|| {
    let format = std::env::var("DOWSE_FUZZ_FORMAT");
    format!("file.{}", format.expect("DOWSE_FUZZ_FORMAT names a format, such as pdf"))
});

fuzz_target!(|bytes: &[u8]| {
    LazyLock::force(&CAUGHT_PANICS_ARE_FINE);
    let caps = Caps { time: Duration::from_secs(10), output_bytes: 1 << 20, ..Caps::standard() };
    let (document, warnings) = extract(bytes, &NAME, &caps);
    let panic = warnings.iter().find(|warning| warning.code == "parser_panicked");
    assert!(panic.is_none(), "{panic:?}");
    assert!(!document.blocks.is_empty() || !warnings.is_empty(), "neither text nor a warning");
});
