//! The text of a PDF from the glyphs that `hayro-interpret` draws, put together by the layout of
//! the product: what is measured is the reading of objects, fonts and operators, and nothing else.

#[path = "../../crates/extract/src/pdf/bidi.rs"]
mod bidi;
#[path = "../../crates/extract/src/pdf/layout.rs"]
mod layout;
#[path = "../../crates/extract/src/pdf/page.rs"]
mod page;
#[path = "../../crates/extract/src/pdf/shifted.rs"]
mod shifted;

use std::rc::Rc;

use hayro_cmap::{BfString, WritingMode};
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, SoftMask, interpret_page,
};
use hayro_syntax::Pdf;
use kurbo::{Affine, BezPath, Point, Rect};

use page::Page;

/// Glyphs of `hayro` are so many units high.
const UNITS: f64 = 1000.0;

pub fn read(bytes: Vec<u8>) -> Result<String, String> {
    let pdf = Pdf::new(bytes).map_err(|error| format!("{error:?}"))?;
    let cache = InterpreterCache::new();
    let mut text = String::new();
    let mut has_guessed = false;
    for pdf_page in pdf.pages().iter() {
        let bounds = Rect::new(0.0, 0.0, 1.0, 1.0);
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, bounds, &cache, pdf.xref(), settings);
        let mut glyphs = Glyphs(Page::default());
        interpret_page(pdf_page, &mut context, &mut glyphs);
        let mut page = glyphs.0;
        has_guessed |= page.settle(has_guessed);
        for block in layout::blocks_of(&page.into_pieces()) {
            text.push_str(&block.text);
            text.push('\n');
        }
    }
    Ok(text)
}

struct Glyphs(Page);

impl Device<'_> for Glyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let is_vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        for glyph in run.glyphs() {
            let transform = props.transform * glyph.transform();
            let at = transform * Point::ZERO;
            let up = transform * Point::new(0.0, UNITS) - at;
            let across = transform * Point::new(UNITS, 0.0) - at;
            let height = up.hypot();
            if !height.is_finite() || height <= 0.0 || !across.hypot().is_finite() {
                continue;
            }
            let width = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let width = f64::from(width.unwrap_or(500.0)) / UNITS;
            let (direction, length) = if is_vertical {
                ((-up.x, -up.y), height)
            } else {
                ((across.x, across.y), width * across.hypot())
            };
            let (text, guess): (Rc<str>, _) = match glyph.as_unicode() {
                Some(BfString::Char(char)) => (char.to_string().into(), None),
                Some(BfString::String(text)) => (text.as_str().into(), None),
                None => ("".into(), shifted::usual_char(glyph.char_code())),
            };
            self.0.add((&text, guess), (at.x, at.y), direction, length, height);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
