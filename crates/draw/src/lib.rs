//! Charts become pictures: the marks of a page's drawing, an SVG file, a PNG image.
//!
//! [`marks`] draws what is inside a picture, with style classes and without colours, so that a
//! page can show it in light and dark. [`render_svg`] is a whole picture with its heading, its
//! legend and its own style, for programs that know no custom properties. [`render_png`] is the
//! same picture as pixels, for people's slides and for agents that can look at images.
//!
//! Nothing is fetched and nothing is written. The font is in the binary; characters that it lacks
//! are looked for in the fonts of the machine, and those that no font has are counted.
//!
//! ```
//! use filters::charts::Chart;
//!
//! let chart: Chart = serde_json::from_value(serde_json::json!({
//!     "id": "c1", "tenant": "acme", "made_by": "agent", "made_at": 0, "expires_at": 1,
//!     "request": { "title": "Flights", "chart_type": "bar" },
//!     "series": [{
//!         "label": "count", "series_id": "s1",
//!         "x_axis": { "name": "month", "unit": "month" },
//!         "y_axis": { "name": "Amount", "unit": "rows" },
//!         "data_points": [{ "x": "2013-01", "y": 27004.0 }, { "x": "2013-02", "y": 24951.0 }],
//!         "statistics": { "min": 24951.0, "max": 27004.0, "avg": 25977.5, "sum": 51955.0, "count": 2 },
//!     }],
//!     "words": [], "warnings": [],
//! }))
//! .unwrap();
//! let image = draw::render_png(&chart, draw::Scale::ForScreens).unwrap();
//! assert!(image.bytes.starts_with(b"\x89PNG"));
//! ```

#![doc(test(attr(deny(warnings))))]

mod error;
mod escape;
mod layout;
mod number;

mod cartesian;
mod pie;

mod legend;
mod picture;
mod png;

pub use error::{Error, Result};
pub use escape::escape;
pub use layout::{Layout, NARROW, WIDE};
pub use legend::{Key, keys};
pub use number::full;
pub use picture::{marks, render_svg};
pub use png::{Image, Scale, render_png};

#[cfg(test)]
mod tests;
