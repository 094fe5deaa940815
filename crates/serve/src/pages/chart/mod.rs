//! A chart for a page of the console: drawn on the server, without a script, for light and dark,
//! wide and narrow screens, eyes and screen readers.
//!
//! Two drawings are in the page, one for wide and one for narrow screens, since text in a
//! scaled drawing would be too small on one of them; the style sheet shows the one that fits.

mod page;
mod table;

pub(crate) use page::{file_name, render_figure, render_numbers, render_svg};
