//! Fonts whose codes are single bytes: what each byte stands for and how wide it is.

use std::rc::Rc;

use crate::error::Result;
use crate::output::Output;

use super::embedded::built_in_names;
use super::file::File;
use super::font::{Base, Simple, base_text, named_text, usual};
use super::object::{Dict, Object};

pub(super) fn read(file: &File, dict: &Dict, subtype: &str, output: &mut Output) -> Result<Simple> {
    let name = file.get(dict, "BaseFont", output)?;
    let name = name.as_name().unwrap_or_default();
    let descriptor = file.get(dict, "FontDescriptor", output)?;
    let empty = Dict::default();
    let descriptor = descriptor.as_dict().unwrap_or(&empty);
    let encoding = file.get(dict, "Encoding", output)?;
    let named_base = match &encoding {
        Object::Name(name) => base_of(name),
        Object::Dict(encoding) => {
            let base = file.get(encoding, "BaseEncoding", output)?;
            base.as_name().and_then(base_of)
        }
        _ => None,
    };
    let base = named_base.unwrap_or_else(|| implied_base(name, subtype));
    let mut texts: Vec<Option<Rc<str>>> = (0..=255_u8).map(|byte| base_text(base, byte)).collect();
    if named_base.is_none() && subtype != "Type3" {
        for (byte, glyph) in built_in_names(file, descriptor, output)? {
            if let (Some(slot), Some(text)) = (texts.get_mut(usize::from(byte)), named_text(&glyph))
            {
                *slot = Some(text);
            }
        }
    }
    if let Some(encoding) = encoding.as_dict() {
        let differences = file.get(encoding, "Differences", output)?;
        let mut at = 0_usize;
        for item in differences.as_array().unwrap_or_default() {
            match file.resolved(item, output)? {
                Object::Name(glyph) => {
                    if let Some(slot) = texts.get_mut(at) {
                        *slot = named_text(&glyph);
                    }
                    at = at.saturating_add(1);
                }
                item => {
                    at = item.as_integer().and_then(|at| usize::try_from(at).ok()).unwrap_or(at)
                }
            }
        }
    }
    let widths = read_widths(file, dict, descriptor, name, subtype, output)?;
    let has_encoding =
        subtype != "TrueType" || named_base.is_some() || encoding.as_dict().is_some();
    Ok(Simple { texts, widths, has_encoding })
}

fn base_of(name: &str) -> Option<Base> {
    match name {
        "WinAnsiEncoding" => Some(Base::WinAnsi),
        "MacRomanEncoding" => Some(Base::MacRoman),
        "StandardEncoding" => Some(Base::Standard),
        _ => None,
    }
}

fn implied_base(name: &str, subtype: &str) -> Base {
    let plain_name = name.rsplit('+').next().unwrap_or(name);
    match () {
        () if subtype == "Type3" => Base::Nothing,
        () if plain_name.starts_with("Symbol") => Base::Symbol,
        () if plain_name.contains("Dingbats") || plain_name.starts_with("Wingdings") => {
            Base::Nothing
        }
        () if subtype == "TrueType" => Base::WinAnsi,
        () => Base::Standard,
    }
}

fn read_widths(
    file: &File,
    dict: &Dict,
    descriptor: &Dict,
    name: &str,
    subtype: &str,
    output: &mut Output,
) -> Result<Vec<f32>> {
    let list = file.get(dict, "Widths", output)?;
    let Some(list) = list.as_array() else {
        return Ok((0..=255_u8).map(|byte| usual(name, byte)).collect());
    };
    let first = file.get(dict, "FirstChar", output)?.as_integer().unwrap_or_default();
    let missing = file.get(descriptor, "MissingWidth", output)?.as_number().unwrap_or_default();
    let mut scale = 0.001;
    if subtype == "Type3" {
        let matrix = file.get(dict, "FontMatrix", output)?;
        let across = matrix.as_array().and_then(<[Object]>::first).and_then(Object::as_number);
        scale = across.unwrap_or(scale).abs();
    }
    let mut widths = vec![(missing * scale) as f32; 256];
    for (at, width) in (first.max(0) as usize..256).zip(list) {
        let width = file.resolved(width, output)?.as_number().unwrap_or_default();
        if let Some(slot) = widths.get_mut(at) {
            *slot = (width * scale) as f32;
        }
    }
    Ok(widths)
}
