//! Word, PowerPoint and Excel files since 2007: XML parts in a zip, joined by relationships.

mod package;

mod chart;
mod drawing;
mod math;

mod docx;
mod docx_body;
mod docx_numbering;
mod docx_pages;
mod docx_styles;

mod pptx;

mod xlsx;
mod xlsx_sheet;
mod xlsx_values;

pub(crate) use docx::read_docx;
pub(crate) use docx_numbering::written;
pub(crate) use package::{main_part_format, resolved};
pub(crate) use pptx::read_pptx;
pub(crate) use xlsx::{push_sheet_name, read_xlsx};
pub(crate) use xlsx_values::{NumberShape, format_number, format_serial_date};
