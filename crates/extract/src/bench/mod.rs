//! Figures over a folder of real documents: do all end, do most give text, is the text right, how
//! fast is it. The folder has a `manifest.tsv` (path, extension, bytes, …, flags last) and an
//! `expected_text_pairs.tsv` (document, expected text).

mod expected;
mod folder;
mod pdf_speed;
mod words;

pub use expected::{FileScore, expected_text, score_pairs};
pub use folder::run;
pub use words::{Overlap, overlap};
