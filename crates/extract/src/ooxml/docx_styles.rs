//! What a paragraph is, by the styles of a Word document.

use std::collections::HashMap;

use model::BlockKind;

use crate::error::Result;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::package::Package;
use crate::output::Output;

/// How many ancestors of a style are looked at; styles can be made to go round in a circle.
const MAX_ANCESTORS: usize = 16;

#[derive(Debug, Default)]
struct Style {
    name: String,
    parent: Option<String>,
    outline_level: Option<u8>,
    is_list: bool,
    list: Option<String>,
    list_level: Option<usize>,
    begins_page: Option<bool>,
}

/// The styles of a document by their id.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    by_id: HashMap<String, Style>,
}

impl Styles {
    pub(crate) fn read(package: &Package, part: &str, output: &mut Output) -> Result<Self> {
        let text = package.text_or_warn(part, output)?;
        let mut styles = Styles::default();
        let mut open: Option<(String, Style)> = None;
        let mut reader = package.walk(&text, output);
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let value = local_attribute(&tag, "val");
                    match (tag.local_name().as_ref(), &mut open) {
                        ("style", _) => {
                            let id = local_attribute(&tag, "styleId").unwrap_or_default();
                            open = Some((id, Style::default()));
                        }
                        ("name", Some((_, style))) => {
                            style.name = value.unwrap_or_default().to_lowercase();
                        }
                        ("basedOn", Some((_, style))) => style.parent = value,
                        ("outlineLvl", Some((_, style))) => {
                            style.outline_level = value.and_then(|value| value.parse().ok());
                        }
                        ("pageBreakBefore", Some((_, style))) => {
                            style.begins_page = Some(!is_off(value.as_deref()));
                        }
                        ("numPr", Some((_, style))) => style.is_list = true,
                        ("numId", Some((_, style))) => style.list = value,
                        ("ilvl", Some((_, style))) => {
                            style.list_level = value.and_then(|value| value.parse().ok());
                        }
                        _ => {}
                    }
                }
                Ok(Some(XmlEvent::End(name))) if name == "style" => {
                    if let Some((id, style)) = open.take() {
                        styles.by_id.insert(id, style);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) if error.stops_everything() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(styles)
    }

    /// Gives the list that paragraphs of this style are numbered in, and the level.
    pub(crate) fn list_of(&self, id: &str) -> Option<(&str, usize)> {
        let mut id = id;
        let mut level = None;
        for _ in 0..MAX_ANCESTORS {
            let style = self.by_id.get(id)?;
            level = level.or(style.list_level);
            if let Some(list) = &style.list {
                return Some((list, level.unwrap_or_default()));
            }
            id = style.parent.as_deref()?;
        }
        None
    }

    /// Gives how deep a list item of this style is, from 0. Word's own `List Bullet 2` to `5` are
    /// lists of one level each, and only their names say how deep they are.
    pub(crate) fn list_level_of(&self, id: &str) -> usize {
        let mut named = id;
        let mut by_name = None;
        for _ in 0..MAX_ANCESTORS {
            let Some(style) = self.by_id.get(named) else { break };
            by_name = by_name.or_else(|| level_of_name(&style.name));
            let Some(parent) = style.parent.as_deref() else { break };
            named = parent;
        }
        let of_list = self.list_of(id).map(|(_, level)| level);
        of_list.max(by_name).unwrap_or_default()
    }

    /// Tells whether a paragraph of this style starts a page.
    pub(crate) fn begins_page(&self, id: &str) -> bool {
        let mut id = id;
        for _ in 0..MAX_ANCESTORS {
            let Some(style) = self.by_id.get(id) else { return false };
            if let Some(begins_page) = style.begins_page {
                return begins_page;
            }
            let Some(parent) = style.parent.as_deref() else { return false };
            id = parent;
        }
        false
    }

    /// Lists the styles whose paragraphs start a page.
    pub(crate) fn that_begin_pages(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str).filter(|id| self.begins_page(id))
    }

    /// Tells what a paragraph of this style is.
    pub(crate) fn kind_of(&self, id: &str) -> BlockKind {
        let mut id = id;
        for _ in 0..MAX_ANCESTORS {
            let Some(style) = self.by_id.get(id) else {
                return kind_of_name(&id.to_lowercase()).unwrap_or(BlockKind::Paragraph);
            };
            if let Some(kind) = kind_of_name(&style.name) {
                return kind;
            }
            if let Some(level) = style.outline_level.filter(|level| *level < 9) {
                return BlockKind::Heading(level + 1);
            }
            if style.is_list {
                return BlockKind::ListItem;
            }
            match &style.parent {
                Some(parent) => id = parent,
                None => break,
            }
        }
        BlockKind::Paragraph
    }
}

/// Tells whether the value of a property switches it off; without a value it is on.
pub(crate) fn is_off(value: Option<&str>) -> bool {
    matches!(value, Some("0" | "false" | "off"))
}

/// Gives the level that the name of one of Word's own list styles says, from 0.
fn level_of_name(name: &str) -> Option<usize> {
    let (kind, level) = name.rsplit_once(' ')?;
    let is_own = matches!(kind, "list" | "list bullet" | "list number" | "list continue");
    let level: usize = level.parse().ok()?;
    (is_own && (2..=5).contains(&level)).then(|| level - 1)
}

fn kind_of_name(name: &str) -> Option<BlockKind> {
    if let Some(level) = name.strip_prefix("heading") {
        let level: u8 = level.trim().parse().ok()?;
        return Some(BlockKind::Heading(level.clamp(1, 9)));
    }
    match name {
        "title" => Some(BlockKind::Heading(1)),
        "caption" => Some(BlockKind::Other),
        "html preformatted" | "source code" | "code" | "plain text" => Some(BlockKind::Code),
        _ if name.starts_with("list") => Some(BlockKind::ListItem),
        _ => None,
    }
}
