//! The numbers before the items of a Word document's lists, counted as Word counts them.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::docx_styles::Styles;
use crate::ooxml::package::Package;
use crate::output::Output;

/// Lists have nine levels.
const N_LEVELS: usize = 9;

#[derive(Debug, Clone, Default)]
struct Level {
    start: u32,
    format: String,
    /// Such as `%1.%2.`, where each number stands for a level's.
    pattern: String,
}

/// The lists of a document and how far each has counted.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// Levels by the id of the abstract list.
    levels: HashMap<String, Vec<Level>>,
    /// The abstract list of each list.
    abstract_of: HashMap<String, String>,
    /// Levels that a list has in the place of its abstract list's.
    own_levels: HashMap<(String, usize), Level>,
    /// Where a level begins anew, by the list and the level.
    restarts: HashMap<(String, usize), u32>,
    /// Which of these have begun.
    restarted: HashSet<(String, usize)>,
    counters: HashMap<String, [Option<u32>; N_LEVELS]>,
}

impl Numbering {
    pub(crate) fn read(package: &Package, part: &str, output: &mut Output) -> Result<Self> {
        let text = package.text_or_warn(part, output)?;
        let mut numbering = Numbering::default();
        let mut list = String::new();
        let mut is_abstract = false;
        let mut level: Option<usize> = None;
        let mut reader = package.walk(&text, output);
        loop {
            let tag = match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => tag,
                Ok(Some(XmlEvent::End(_) | XmlEvent::Text(_))) => continue,
                Ok(None) => return Ok(numbering),
                Err(error) if error.stops_everything() => return Err(error),
                Err(_) => return Ok(numbering),
            };
            let value = local_attribute(&tag, "val");
            match tag.local_name().as_ref() {
                "abstractNum" => {
                    list = local_attribute(&tag, "abstractNumId").unwrap_or_default();
                    numbering.levels.insert(list.clone(), vec![Level::default(); N_LEVELS]);
                    (is_abstract, level) = (true, None);
                }
                "num" => {
                    list = local_attribute(&tag, "numId").unwrap_or_default();
                    (is_abstract, level) = (false, None);
                }
                "abstractNumId" => {
                    numbering.abstract_of.insert(list.clone(), value.unwrap_or_default());
                }
                name @ ("lvl" | "lvlOverride") => {
                    let given = local_attribute(&tag, "ilvl").and_then(|level| level.parse().ok());
                    level = given.filter(|level| *level < N_LEVELS);
                    if let Some(level) = level.filter(|_| name == "lvl" && !is_abstract) {
                        numbering.own_levels.insert((list.clone(), level), Level::default());
                    }
                }
                "startOverride" => {
                    let start = value.and_then(|value| value.parse().ok());
                    if let Some((level, start)) = level.zip(start) {
                        numbering.restarts.insert((list.clone(), level), start);
                    }
                }
                name @ ("start" | "numFmt" | "lvlText") => {
                    let Some(level) = level else { continue };
                    let open = match is_abstract {
                        true => numbering.levels.get_mut(&list).and_then(|it| it.get_mut(level)),
                        false => numbering.own_levels.get_mut(&(list.clone(), level)),
                    };
                    let Some(open) = open else { continue };
                    let value = value.unwrap_or_default();
                    match name {
                        "start" => open.start = value.parse().unwrap_or(1),
                        "numFmt" => open.format = value,
                        _ => open.pattern = value,
                    }
                }
                _ => {}
            }
        }
    }

    /// Counts a paragraph and gives the number before it; `None` for bullets and plain text.
    pub(crate) fn number_of(
        &mut self,
        styles: &Styles,
        style: Option<&str>,
        list: Option<&str>,
        level: Option<usize>,
    ) -> Option<String> {
        let of_style = style.and_then(|style| styles.list_of(style));
        let list = list.or(of_style.map(|(list, _)| list)).filter(|list| *list != "0")?;
        let level = level.or(of_style.map(|(_, level)| level)).unwrap_or_default();
        let abstract_list = self.abstract_of.get(list)?;
        let mut levels = self.levels.get(abstract_list)?.clone();
        for (at, shown) in levels.iter_mut().enumerate() {
            let key = (list.to_owned(), at);
            if let Some(own) = self.own_levels.get(&key) {
                shown.clone_from(own);
            }
            if let Some(start) = self.restarts.get(&key) {
                shown.start = *start;
            }
        }
        let own = levels.get(level)?;
        let counters = self.counters.entry(abstract_list.clone()).or_default();
        let counter = counters.get_mut(level)?;
        let key = (list.to_owned(), level);
        if self.restarts.contains_key(&key) && self.restarted.insert(key) {
            *counter = None;
        }
        *counter = Some(counter.map_or(own.start, |last| last.saturating_add(1)));
        for deeper in counters.iter_mut().skip(level + 1) {
            *deeper = None;
        }
        if matches!(own.format.as_str(), "" | "bullet" | "none") {
            return None;
        }
        let mut number = own.pattern.clone();
        for (at, shown) in levels.iter().enumerate().take(level + 1) {
            let value = counters.get(at).copied().flatten().unwrap_or(shown.start);
            number = number.replace(&format!("%{}", at + 1), &written(value, &shown.format));
        }
        (!number.trim().is_empty()).then_some(number)
    }
}

/// Writes a number in one of Word's formats.
pub(crate) fn written(value: u32, format: &str) -> String {
    match format {
        "lowerLetter" => letters(value).to_lowercase(),
        "upperLetter" => letters(value),
        "lowerRoman" => roman(value).to_lowercase(),
        "upperRoman" => roman(value),
        "decimalZero" => format!("{value:02}"),
        _ => value.to_string(),
    }
}

/// Counts A to Z, then AA to ZZ, as Word does.
fn letters(value: u32) -> String {
    let Some(idx) = value.checked_sub(1) else { return String::new() };
    let letter = char::from(b'A' + (idx % 26) as u8);
    letter.to_string().repeat((idx / 26 + 1).min(16) as usize)
}

fn roman(value: u32) -> String {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut rest = value.min(9999);
    let mut written = String::new();
    for (digit, letters) in DIGITS {
        while rest >= digit {
            rest -= digit;
            written.push_str(letters);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_their_format() {
        for (value, format, expected) in [
            (3, "decimal", "3"),
            (3, "decimalZero", "03"),
            (4, "lowerRoman", "iv"),
            (1994, "upperRoman", "MCMXCIV"),
            (2, "lowerLetter", "b"),
            (28, "upperLetter", "BB"),
            (0, "upperLetter", ""),
        ] {
            assert_eq!(written(value, format), expected);
        }
    }
}
