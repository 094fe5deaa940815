//! What the font programs inside a file tell about characters, where the file itself does not.

use std::collections::HashMap;

use crate::error::Result;
use crate::output::Output;

use super::file::File;
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object};

/// A larger font program is not looked into.
const MAX_FONT_BYTES: usize = 16 << 20;

/// How far into a Type 1 program its encoding is.
const ENCODING_BYTES: usize = 64 << 10;

/// Gives the names of glyphs by byte that an embedded Type 1 or CFF font has built in.
pub(super) fn built_in_names(
    file: &File,
    descriptor: &Dict,
    output: &mut Output,
) -> Result<Vec<(u8, String)>> {
    if let Object::Stream(stream) = file.get(descriptor, "FontFile", output)? {
        let program = file.stream_bytes(&stream, output)?;
        return Ok(type1_names(program.get(..ENCODING_BYTES).unwrap_or(&program)));
    }
    if let Object::Stream(stream) = file.get(descriptor, "FontFile3", output)? {
        let program = file.stream_bytes(&stream, output)?;
        if program.len() > MAX_FONT_BYTES {
            return Ok(Vec::new());
        }
        if let Some(table) = ttf_parser::cff::Table::parse(&program) {
            return Ok((0..=255_u8)
                .filter_map(|byte| {
                    let glyph = table.glyph_index(byte).filter(|glyph| glyph.0 != 0)?;
                    table.glyph_name(glyph).map(|name| (byte, name.to_owned()))
                })
                .collect());
        }
    }
    Ok(Vec::new())
}

/// Gives the characters of a font's glyphs by its own table.
pub(super) fn chars_by_glyph(
    file: &File,
    descendant: &Dict,
    output: &mut Output,
) -> Result<HashMap<u32, char>> {
    let mut chars = HashMap::new();
    let descriptor = file.get(descendant, "FontDescriptor", output)?;
    let Some(descriptor) = descriptor.as_dict() else { return Ok(chars) };
    let mut program = file.get(descriptor, "FontFile2", output)?;
    if program.as_stream().is_none() {
        program = file.get(descriptor, "FontFile3", output)?;
    }
    let Some(stream) = program.as_stream() else { return Ok(chars) };
    let program = file.stream_bytes(stream, output)?;
    if program.len() > MAX_FONT_BYTES {
        return Ok(chars);
    }
    let Ok(face) = ttf_parser::Face::parse(&program, 0) else { return Ok(chars) };
    for table in face.tables().cmap.into_iter().flat_map(|cmap| cmap.subtables) {
        if !table.is_unicode() {
            continue;
        }
        table.codepoints(|code| {
            if let (Some(glyph), Some(char)) = (table.glyph_index(code), char::from_u32(code)) {
                chars.entry(u32::from(glyph.0)).or_insert(char);
            }
        });
    }
    Ok(chars)
}

fn type1_names(program: &[u8]) -> Vec<(u8, String)> {
    let mut names = Vec::new();
    let Some(at) = memchr::memmem::find(program, b"/Encoding") else { return names };
    let mut lexer = Lexer::new(program, at + 9);
    let mut code = None;
    let mut name = None;
    while let Some(token) = lexer.token() {
        match token {
            Token::Value(Object::Integer(number)) => code = u8::try_from(number).ok(),
            Token::Value(Object::Name(glyph)) => name = Some(glyph),
            Token::Operator(b"put") => {
                if let (Some(code), Some(name)) = (code.take(), name.take()) {
                    names.push((code, name.to_string()));
                }
            }
            Token::Operator(b"def" | b"readonly" | b"eexec" | b"StandardEncoding") => break,
            Token::Operator(_) | Token::Value(_) => {}
        }
    }
    names
}
