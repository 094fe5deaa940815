//! The text of a PDF from the glyphs that `hayro-interpret` draws: a new line where the baseline
//! changes, a space where a gap is wider than a quarter of the size.

use hayro_cmap::BfString;
use hayro_interpret::font::GlyphRun;
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, SoftMask, interpret_page,
};
use hayro_syntax::Pdf;
use kurbo::{Affine, BezPath, Point, Rect};

pub fn read(bytes: Vec<u8>) -> Result<String, String> {
    let pdf = Pdf::new(bytes).map_err(|error| format!("{error:?}"))?;
    let cache = InterpreterCache::new();
    let mut glyphs = Glyphs::default();
    for page in pdf.pages().iter() {
        let bounds = Rect::new(0.0, 0.0, 1.0, 1.0);
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, bounds, &cache, pdf.xref(), settings);
        interpret_page(page, &mut context, &mut glyphs);
        glyphs.text.push('\n');
        glyphs.last = None;
    }
    Ok(glyphs.text)
}

#[derive(Default)]
struct Glyphs {
    text: String,
    /// Where the last glyph began, its size, and how many characters it was.
    last: Option<(Point, f64, usize)>,
}

impl Device<'_> for Glyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let transform = props.transform * glyph.transform();
            let at = transform * Point::ZERO;
            // Glyphs are 1000 units high.
            let size = (transform * Point::new(0.0, 1000.0)).distance(at).max(0.1);
            if let Some((last, last_size, n_chars)) = self.last {
                let size = size.min(last_size);
                let advance = at.x - last.x;
                let widest = (n_chars as f64).mul_add(0.75, 0.25) * size;
                if (at.y - last.y).abs() > size / 2.0 || advance < -size / 2.0 {
                    self.text.push('\n');
                } else if advance > widest {
                    self.text.push(' ');
                }
            }
            let n_chars = match glyph.as_unicode() {
                Some(BfString::Char(char)) => {
                    self.text.push(char);
                    1
                }
                Some(BfString::String(text)) => {
                    self.text.push_str(&text);
                    text.chars().count()
                }
                None => 1,
            };
            self.last = Some((at, size, n_chars));
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
