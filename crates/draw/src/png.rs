//! A chart as pixels.

use std::sync::{Arc, OnceLock};

use filters::charts::Chart;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Group, Node, Options, Tree};

use crate::{Error, Result, picture};

/// The font that every picture can be drawn with.
const FONT: &[u8] = include_bytes!("../assets/Roboto-Regular.ttf");
const FONT_NAME: &str = "Roboto";

/// The glyph that a font shows in the place of one that it lacks.
const MISSING_GLYPH: u32 = 0;

/// How many pixels a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// About a thousand pixels wide, which models see without shrinking it.
    ForModels,
    /// Twice as many in each direction: sharp on today's screens and in slides.
    ForScreens,
}

/// A picture as PNG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The file.
    pub bytes: Vec<u8>,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Characters that no font of this machine has; a box is in the place of each.
    pub n_missing: usize,
}

/// Draws a chart as PNG.
///
/// Takes some ten milliseconds of one core. Fails only by a mistake of ours.
pub fn render_png(chart: &Chart, scale: Scale) -> Result<Image> {
    let svg = picture::render_svg(chart, "");
    let factor = match scale {
        Scale::ForModels => 1.0,
        Scale::ForScreens => 2.0,
    };
    let options = Options {
        font_family: FONT_NAME.to_owned(),
        fontdb: if is_covered(&svg) { own_font() } else { all_fonts() },
        ..Options::default()
    };
    let tree = Tree::from_str(&svg, &options).map_err(|cause| Error::Drawing { cause })?;
    let size = tree.size();
    let (width, height) =
        ((size.width() * factor).ceil() as u32, (size.height() * factor).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or(Error::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(factor, factor), &mut pixels.as_mut());
    let bytes =
        pixels.encode_png().map_err(|cause| Error::Encoding { problem: cause.to_string() })?;
    Ok(Image { bytes, width, height, n_missing: n_missing(tree.root()) })
}

/// Tells whether the font in the binary has all letters: Latin, Greek and Cyrillic, and the usual
/// signs. What it lacks of these is rare enough to be a box.
fn is_covered(text: &str) -> bool {
    text.chars().all(|char| matches!(char, '\0'..='\u{52f}' | '\u{1e00}'..='\u{20bf}'))
}

fn own_font() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        Arc::new(fonts)
    }))
}

/// The fonts of the machine behind our own. They are listed once, when a chart first needs them.
fn all_fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(FONTS.get_or_init(|| {
        let mut fonts = (*own_font()).clone();
        fonts.load_system_fonts();
        Arc::new(fonts)
    }))
}

fn n_missing(group: &Group) -> usize {
    group
        .children()
        .iter()
        .map(|node| match node {
            Node::Group(group) => n_missing(group),
            Node::Text(text) => {
                let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                glyphs.filter(|glyph| glyph.id.0 == MISSING_GLYPH).count()
            }
            Node::Path(_) | Node::Image(_) => 0,
        })
        .sum()
}
