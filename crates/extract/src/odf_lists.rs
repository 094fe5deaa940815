//! The numbers before the items of an OpenDocument list, which are in the styles of the list and
//! not in its text.

use std::collections::HashMap;

use crate::Format;
use crate::error::Result;
use crate::markup::{XmlEvent, XmlReader, local_attribute};
use crate::ooxml::written;
use crate::output::Output;

/// Lists have ten levels.
const N_LEVELS: usize = 10;

/// How the numbers of a level are written.
#[derive(Debug, Clone)]
struct Level {
    format: &'static str,
    prefix: String,
    suffix: String,
    start: u32,
    /// How many levels are shown: 2 shows `1.2`.
    n_shown: usize,
}

/// A list that is being read.
#[derive(Debug)]
struct OpenList {
    style: String,
    /// The number of its last item; none before the first.
    number: Option<u32>,
    /// Whether an item has begun whose number is not written yet.
    is_fresh: bool,
}

/// The lists that are open, and what is known of their styles.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The numbered levels of each style; bullets have none.
    levels: HashMap<String, [Option<Level>; N_LEVELS]>,
    open_style: Option<String>,
    open: Vec<OpenList>,
    /// The number that the last list of each style and level came to.
    last: HashMap<(String, usize), u32>,
}

impl Lists {
    /// Reads the styles of a part that holds nothing else of interest.
    pub(crate) fn read_styles(
        &mut self,
        text: &str,
        format: Format,
        output: &mut Output,
    ) -> Result<()> {
        let mut reader = XmlReader::new(text, format, output.caps());
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = tag.local_name();
                    self.start(name.as_ref(), &|attribute| local_attribute(&tag, attribute));
                }
                Ok(Some(_)) => {}
                Err(error) if error.stops_everything() => return Err(error),
                Ok(None) | Err(_) => return Ok(()),
            }
        }
    }

    /// Tells how many lists are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Takes the beginning of an element.
    pub(crate) fn start(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) {
        let number = |name: &str| attribute(name).and_then(|value| value.parse::<u32>().ok());
        match name {
            "list-style" => self.open_style = attribute("name"),
            "list-level-style-number" => {
                let Some(style) = self.open_style.clone() else { return };
                let Some(format) = format_of(&attribute("num-format").unwrap_or_default()) else {
                    return;
                };
                let at = number("level").unwrap_or(1).saturating_sub(1) as usize;
                let level = Level {
                    format,
                    prefix: attribute("num-prefix").unwrap_or_default(),
                    suffix: attribute("num-suffix").unwrap_or_default(),
                    start: number("start-value").unwrap_or(1),
                    n_shown: number("display-levels").unwrap_or(1) as usize,
                };
                let levels = self.levels.entry(style).or_default();
                if let Some(place) = levels.get_mut(at) {
                    *place = Some(level);
                }
            }
            "list" => {
                let outer = self.open.last().map(|list| list.style.clone());
                let style = attribute("style-name").or(outer).unwrap_or_default();
                let goes_on = attribute("continue-numbering").is_some_and(|it| it == "true")
                    || attribute("continue-list").is_some();
                let key = (style.clone(), self.open.len());
                let number = self.last.get(&key).copied().filter(|_| goes_on);
                self.open.push(OpenList { style, number, is_fresh: false });
            }
            "list-item" => {
                let (at, start) = (self.open.len().saturating_sub(1), number("start-value"));
                let Some(list) = self.open.last_mut() else { return };
                let levels = self.levels.get(&list.style);
                let level = levels.and_then(|levels| levels.get(at)?.as_ref());
                let first = level.map_or(1, |level| level.start);
                let next = list.number.map_or(first, |last| last.saturating_add(1));
                let counted = start.unwrap_or(next);
                (list.number, list.is_fresh) = (Some(counted), true);
                self.last.insert((list.style.clone(), at), counted);
            }
            "list-header" => {
                if let Some(list) = self.open.last_mut() {
                    list.is_fresh = false;
                }
            }
            _ => {}
        }
    }

    /// Takes the end of a list.
    pub(crate) fn end_list(&mut self) {
        self.open.pop();
    }

    /// Gives the number before a paragraph, where it is the first of a numbered item.
    pub(crate) fn take_number(&mut self) -> Option<String> {
        let list = self.open.last_mut().filter(|list| list.is_fresh)?;
        list.is_fresh = false;
        let levels = self.levels.get(&list.style)?;
        let at = self.open.len().checked_sub(1)?;
        let own = levels.get(at)?.as_ref()?;
        let first = (at + 1).saturating_sub(own.n_shown.max(1));
        let shown = self.open.iter().zip(levels).skip(first).filter_map(|(list, level)| {
            let (number, level) = (list.number?, level.as_ref()?);
            Some(written(number, level.format))
        });
        let number = shown.collect::<Vec<String>>().join(".");
        Some(format!("{}{number}{}", own.prefix, own.suffix))
    }
}

/// Gives the format in Word's words; none where nothing is shown.
fn format_of(format: &str) -> Option<&'static str> {
    match format {
        "" => None,
        "a" => Some("lowerLetter"),
        "A" => Some("upperLetter"),
        "i" => Some("lowerRoman"),
        "I" => Some("upperRoman"),
        _ => Some("decimal"),
    }
}
