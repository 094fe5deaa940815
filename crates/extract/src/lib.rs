//! Bytes in, a document's text in blocks with pointers out, and warnings for all that went less
//! than perfectly. Pure, capped, never panics.
//!
//! [`extract()`] decides what a file is by its content, and by its name only where the content
//! leaves a choice; reads it in its own thread; and always answers. [`Pool`] does the same in
//! worker processes, so that a crash, a hang or a runaway allocation ends a worker and nothing
//! else. Every limit is a field of [`Caps`] and has a warning of its own ([`warning::ALL`]).
//!
//! The whole text of a document is its blocks joined by [`model::BLOCK_SEPARATOR`]; spans count
//! characters of that. What a passage is, is for `chunk` to say.
//!
//! ```
//! use extract::{Caps, Format, extract};
//!
//! let page = b"<title>Notes</title><h1>Budget</h1><p>Spent <b>less</b> than planned.</p>";
//! let (document, warnings) = extract(page, "notes.html", &Caps::standard());
//! assert_eq!(document.format, Format::Html);
//! assert_eq!(document.title.as_deref(), Some("Notes"));
//! assert_eq!(document.text(), "# Budget\n\nSpent less than planned.");
//! assert!(warnings.is_empty());
//! ```
#![doc(test(attr(deny(warnings))))]

mod caps;
mod error;
mod extract;
mod extracted;
mod format;
pub mod warning;

mod detect;
mod encoding;
mod flow;
mod grid;
mod output;
mod ruby;

mod archive;
mod mail;
mod markup;
mod odf;
mod odf_lists;
mod odf_values;
mod ole;
mod ooxml;
mod pdf;
mod plain;
mod rtf;

mod platform;
mod pool;

pub use caps::Caps;
pub use error::{Cap, Error, Result};
pub use extract::extract;
pub use extracted::Extracted;
pub use format::{FORMATS, Format, FormatInfo};
pub use platform::Confinement;
pub use pool::{DOCUMENTS_PER_WORKER, MAX_WORKERS, Pool, PoolConfig, default_workers, worker};
