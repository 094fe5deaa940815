//! Tools of the knowledge family.

mod normalize_ocr_text;

pub use normalize_ocr_text::NormalizeOcrText;
