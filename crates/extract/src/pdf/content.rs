//! The walk through what draws a page: where every character of it is.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Result;
use crate::output::Output;

use super::file::File;
use super::font::Font;
use super::lexer::{Lexer, Token, is_white};
use super::object::{Dict, Object, ObjectNumber, text_string};
use super::page::Page;

/// How deep forms may draw forms.
const MAX_FORM_DEPTH: usize = 12;

/// How many operators draw one page at most, those of forms counted each time.
const MAX_OPERATORS: u64 = 20_000_000;

/// How many operators pass between two looks at the clock.
const OPERATORS_PER_CHECK: u64 = 2048;

/// How many saved states are kept.
const MAX_SAVED: usize = 256;

/// Operands before an operator; more are forgotten.
const MAX_OPERANDS: usize = 512;

/// Fonts that were read, by the number of their object.
pub(super) type Fonts = HashMap<ObjectNumber, Rc<Font>>;

type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    char_spacing: f64,
    word_spacing: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// A page being drawn.
pub(super) struct Drawing<'a, 'f> {
    file: &'f File<'a>,
    fonts: &'f mut Fonts,
    page: &'f mut Page,
    n_operators: u64,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    /// For each open marked content, whether it began a replacement.
    marked: Vec<bool>,
    replacement: Option<Replacement>,
}

/// Text that stands for whatever is drawn until its end.
struct Replacement {
    text: Rc<str>,
    is_used: bool,
}

impl<'a, 'f> Drawing<'a, 'f> {
    pub(super) fn new(file: &'f File<'a>, fonts: &'f mut Fonts, page: &'f mut Page) -> Self {
        Drawing {
            file,
            fonts,
            page,
            n_operators: 0,
            state: State {
                matrix: IDENTITY,
                font: None,
                size: 0.0,
                char_spacing: 0.0,
                word_spacing: 0.0,
                scale: 1.0,
                leading: 0.0,
                rise: 0.0,
            },
            saved: Vec::new(),
            text: IDENTITY,
            line: IDENTITY,
            marked: Vec::new(),
            replacement: None,
        }
    }

    /// Draws a stream with its resources.
    pub(super) fn draw(
        &mut self,
        content: &[u8],
        resources: &Dict,
        depth: usize,
        output: &mut Output,
    ) -> Result<()> {
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Value(value) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(value);
                    }
                }
                Token::Operator(operator) => {
                    self.n_operators += 1;
                    if self.n_operators.is_multiple_of(OPERATORS_PER_CHECK) {
                        output.check_time()?;
                    }
                    if self.n_operators > MAX_OPERATORS {
                        return Ok(());
                    }
                    if operator == b"BI" {
                        self.page.n_pictures += 1;
                        skip_inline_picture(&mut lexer);
                    } else {
                        self.apply(operator, &operands, resources, depth, output)?;
                    }
                    operands.clear();
                }
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        operator: &[u8],
        operands: &[Object],
        resources: &Dict,
        depth: usize,
        output: &mut Output,
    ) -> Result<()> {
        let number = |at: usize| operands.get(at).and_then(Object::as_number).unwrap_or_default();
        match operator {
            b"q" if self.saved.len() < MAX_SAVED => self.saved.push(self.state.clone()),
            b"Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            b"cm" => {
                let matrix = std::array::from_fn(number);
                self.state.matrix = multiplied(&matrix, &self.state.matrix);
            }
            b"BT" => {
                self.text = IDENTITY;
                self.line = IDENTITY;
            }
            b"Tc" => self.state.char_spacing = number(0),
            b"Tw" => self.state.word_spacing = number(0),
            b"Tz" => self.state.scale = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            b"Tf" => {
                self.state.size = number(1);
                if let Some(name) = operands.first().and_then(Object::as_name) {
                    self.state.font = self.font(resources, name, output)?;
                }
            }
            b"gs" => self.extended_state(operands, resources, output)?,
            b"Td" => self.next_line(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            b"Tm" => {
                self.line = std::array::from_fn(number);
                self.text = self.line;
            }
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tj" => self.show(operands.first()),
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show(operands.first());
            }
            b"\"" => {
                self.state.word_spacing = number(0);
                self.state.char_spacing = number(1);
                self.next_line(0.0, -self.state.leading);
                self.show(operands.get(2));
            }
            b"TJ" => self.show_adjusted(operands.first()),
            b"Do" => {
                if let Some(name) = operands.first().and_then(Object::as_name) {
                    self.draw_form(name, resources, depth, output)?;
                }
            }
            b"BMC" => self.marked.push(false),
            b"BDC" => self.begin_marked(operands, resources, output)?,
            b"EMC" if self.marked.pop() == Some(true) => self.replacement = None,
            _ => {}
        }
        Ok(())
    }

    fn font(
        &mut self,
        resources: &Dict,
        name: &str,
        output: &mut Output,
    ) -> Result<Option<Rc<Font>>> {
        let fonts = self.file.get(resources, "Font", output)?;
        let Some(entry) = fonts.as_dict().and_then(|fonts| fonts.raw(name)) else {
            return Ok(None);
        };
        self.read_font(entry, output)
    }

    fn read_font(&mut self, entry: &Object, output: &mut Output) -> Result<Option<Rc<Font>>> {
        let number = entry.as_reference();
        if let Some(font) = number.and_then(|number| self.fonts.get(&number)) {
            return Ok(Some(Rc::clone(font)));
        }
        let dict = self.file.resolved(entry, output)?;
        let Some(dict) = dict.as_dict() else { return Ok(None) };
        let font = Rc::new(Font::read(self.file, dict, output)?);
        if let Some(number) = number {
            self.fonts.insert(number, Rc::clone(&font));
        }
        Ok(Some(font))
    }

    fn extended_state(
        &mut self,
        operands: &[Object],
        resources: &Dict,
        output: &mut Output,
    ) -> Result<()> {
        let Some(name) = operands.first().and_then(Object::as_name) else { return Ok(()) };
        let states = self.file.get(resources, "ExtGState", output)?;
        let Some(states) = states.as_dict() else { return Ok(()) };
        let state = self.file.get(states, name, output)?;
        let Some(state) = state.as_dict() else { return Ok(()) };
        let font = self.file.get(state, "Font", output)?;
        if let Some([entry, size]) = font.as_array() {
            self.state.size = size.as_number().unwrap_or_default();
            self.state.font = self.read_font(entry, output)?;
        }
        Ok(())
    }

    fn next_line(&mut self, across: f64, up: f64) {
        self.line = multiplied(&[1.0, 0.0, 0.0, 1.0, across, up], &self.line);
        self.text = self.line;
    }

    fn show_adjusted(&mut self, items: Option<&Object>) {
        let Some(items) = items.and_then(Object::as_array) else { return };
        let is_vertical = self.state.font.as_ref().is_some_and(|font| font.is_vertical);
        for item in items {
            if let Some(adjustment) = item.as_number() {
                let moved = -adjustment / 1000.0 * self.state.size;
                if is_vertical {
                    self.move_on(0.0, moved);
                } else {
                    self.move_on(moved * self.state.scale, 0.0);
                }
            } else {
                self.show(Some(item));
            }
        }
    }

    fn move_on(&mut self, across: f64, up: f64) {
        self.text = multiplied(&[1.0, 0.0, 0.0, 1.0, across, up], &self.text);
    }

    fn show(&mut self, string: Option<&Object>) {
        let Some(bytes) = string.and_then(Object::as_string) else { return };
        let Some(font) = self.state.font.clone() else { return };
        let State { size, char_spacing, word_spacing, scale, rise, matrix, .. } = self.state;
        let whole = multiplied(&self.text, &matrix);
        let height = whole[2].hypot(whole[3]) * size.abs();
        let stretch = whole[0].hypot(whole[1]);
        if !height.is_finite() || height <= 0.0 || !stretch.is_finite() {
            return;
        }
        let is_vertical = font.is_vertical;
        let sign = if size < 0.0 { -1.0 } else { 1.0 };
        let direction = if is_vertical {
            (-whole[2] * sign, -whole[3] * sign)
        } else {
            (whole[0] * sign * scale.signum(), whole[1] * sign * scale.signum())
        };
        let mut along = 0.0;
        let page = &mut *self.page;
        let replacement = &mut self.replacement;
        font.show(bytes, |shown| {
            let width = if is_vertical { 1.0 } else { f64::from(shown.width) };
            let mut spacing = char_spacing;
            if shown.is_space_byte {
                spacing += word_spacing;
            }
            let (across, up) = if is_vertical { (0.0, -along) } else { (along, rise) };
            let x = whole[0] * across + whole[2] * up + whole[4];
            let y = whole[1] * across + whole[3] * up + whole[5];
            let glyph_len = width
                * size.abs()
                * if is_vertical { height / size.abs() } else { stretch * scale.abs() };
            let (text, guess) = match replacement {
                Some(replacement) if !replacement.is_used => {
                    replacement.is_used = true;
                    (Rc::clone(&replacement.text), None)
                }
                Some(_) => (Rc::from(""), None),
                None => (Rc::clone(&shown.text), shown.guess),
            };
            page.add((&text, guess), (x, y), direction, glyph_len, height);
            let advance = width * size + spacing;
            along += if is_vertical { advance } else { advance * scale };
        });
        if is_vertical {
            self.move_on(0.0, -along);
        } else {
            self.move_on(along, 0.0);
        }
    }

    fn draw_form(
        &mut self,
        name: &str,
        resources: &Dict,
        depth: usize,
        output: &mut Output,
    ) -> Result<()> {
        if depth >= MAX_FORM_DEPTH {
            return Ok(());
        }
        let objects = self.file.get(resources, "XObject", output)?;
        let Some(objects) = objects.as_dict() else { return Ok(()) };
        let object = self.file.get(objects, name, output)?;
        let Some(stream) = object.as_stream() else { return Ok(()) };
        let subtype = self.file.get(&stream.dict, "Subtype", output)?;
        if subtype.as_name() != Some("Form") {
            self.page.n_pictures += usize::from(subtype.as_name() == Some("Image"));
            return Ok(());
        }
        self.draw_form_stream(&object, resources, depth, output)
    }

    /// Draws a form, such as the appearance of an annotation.
    pub(super) fn draw_form_stream(
        &mut self,
        form: &Object,
        resources: &Dict,
        depth: usize,
        output: &mut Output,
    ) -> Result<()> {
        let Some(stream) = form.as_stream() else { return Ok(()) };
        self.n_operators += 1;
        if self.n_operators > MAX_OPERATORS {
            return Ok(());
        }
        let content = self.file.stream_bytes(stream, output)?;
        let own = self.file.get(&stream.dict, "Resources", output)?;
        let matrix = self.file.get(&stream.dict, "Matrix", output)?;
        let before = self.state.clone();
        let (text, line) = (self.text, self.line);
        let n_saved = self.saved.len();
        if let Some(matrix) = matrix.as_array() {
            let matrix: Matrix = std::array::from_fn(|at| {
                matrix.get(at).and_then(Object::as_number).unwrap_or(IDENTITY[at])
            });
            self.state.matrix = multiplied(&matrix, &self.state.matrix);
        }
        self.draw(&content, own.as_dict().unwrap_or(resources), depth + 1, output)?;
        self.saved.truncate(n_saved);
        self.state = before;
        (self.text, self.line) = (text, line);
        Ok(())
    }

    fn begin_marked(
        &mut self,
        operands: &[Object],
        resources: &Dict,
        output: &mut Output,
    ) -> Result<()> {
        let properties = match operands.get(1) {
            Some(Object::Name(name)) => {
                let all = self.file.get(resources, "Properties", output)?;
                match all.as_dict() {
                    Some(all) => self.file.get(all, name, output)?,
                    None => Object::Null,
                }
            }
            Some(object) => object.clone(),
            None => Object::Null,
        };
        let actual = match properties.as_dict() {
            Some(properties) if self.replacement.is_none() => {
                self.file.get(properties, "ActualText", output)?
            }
            _ => Object::Null,
        };
        self.marked.truncate(MAX_SAVED);
        match actual.as_string() {
            Some(text) => {
                self.replacement =
                    Some(Replacement { text: text_string(text).into(), is_used: false });
                self.marked.push(true);
            }
            None => self.marked.push(false),
        }
        Ok(())
    }
}

fn multiplied(first: &Matrix, second: &Matrix) -> Matrix {
    [
        first[0] * second[0] + first[1] * second[2],
        first[0] * second[1] + first[1] * second[3],
        first[2] * second[0] + first[3] * second[2],
        first[2] * second[1] + first[3] * second[3],
        first[4] * second[0] + first[5] * second[2] + second[4],
        first[4] * second[1] + first[5] * second[3] + second[5],
    ]
}

/// Skips a picture that is in the stream itself.
fn skip_inline_picture(lexer: &mut Lexer) {
    // The dictionary ends at `ID`, the data at `EI` between white space.
    while let Some(token) = lexer.token() {
        if token == Token::Operator(b"ID") {
            break;
        }
    }
    let data = lexer.rest();
    let start = lexer.at();
    for at in memchr::memmem::find_iter(data, b"EI") {
        let before = at.checked_sub(1).and_then(|before| data.get(before)).copied();
        let after = data.get(at + 2).copied();
        let looks_textual = data
            .get(at + 2..)
            .map(|rest| rest.get(..12).unwrap_or(rest))
            .is_some_and(|rest| rest.iter().all(|byte| matches!(byte, 0x09..=0x0d | 0x20..=0x7e)));
        if before.is_some_and(is_white) && after.is_none_or(is_white) && looks_textual {
            lexer.set_at(start + at + 2);
            return;
        }
    }
    lexer.set_at(start + data.len());
}
