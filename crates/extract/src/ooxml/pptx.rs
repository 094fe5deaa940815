//! A presentation: slides in their order, each with its title, shapes, tables, charts, speaker
//! notes and comments.

use std::collections::{HashMap, HashSet};

use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::{Cap, Result};
use crate::flow::list_indent;
use crate::grid::TextTable;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::chart::push_chart;
use crate::ooxml::docx_numbering::written;
use crate::ooxml::drawing::push_drawing_text;
use crate::ooxml::package::{Package, Relation};
use crate::output::Output;

pub(crate) fn read_pptx(bytes: &[u8], output: &mut Output) -> Result<()> {
    let package = Package::open(bytes, Format::Pptx, output)?;
    package.note_properties(output)?;
    let mut slides = slide_parts(&package, output)?;
    if slides.is_empty() {
        // Without a list, the numbers in the names are the order.
        slides = package
            .names()
            .filter(|name| name.starts_with("ppt/slides/slide") && name.ends_with(".xml"))
            .map(str::to_owned)
            .collect();
        slides.sort_by_key(|name| {
            name.bytes().filter(u8::is_ascii_digit).fold(0_u64, |number, digit| {
                number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
            })
        });
    }
    let authors = read_authors(&package, output)?;
    for (slide, part) in (1_u32..).zip(&slides) {
        if slide as usize > output.caps().entries {
            return Err(output.capped(Cap::Entries));
        }
        read_slide(&package, part, &Pointer::Slide(slide), &authors, output)?;
    }
    output.explain_pictures(package.n_pictures());
    Ok(())
}

fn slide_parts(package: &Package, output: &mut Output) -> Result<Vec<String>> {
    let main = package.main_part("ppt/presentation.xml", output)?;
    let relations = package.relations(&main, output)?;
    let text = package.text_or_warn(&main, output)?;
    let mut parts = Vec::new();
    let mut reader = package.walk(&text, output);
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) if tag.local_name().as_ref() == "sldId" => {
                // The element has `id` and `r:id`; the relationship is the one with a prefix.
                let id = tag
                    .attributes()
                    .with_checks(false)
                    .flatten()
                    .find(|attribute| {
                        attribute.key.local_name().as_ref() == "id"
                            && attribute.key.prefix().is_some()
                    })
                    .map(|attribute| attribute.value.into_owned());
                parts.extend(part_by_id(&relations, id.as_deref()));
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) if error.stops_everything() => return Err(error),
            Err(_) => break,
        }
    }
    let mut seen = HashSet::new();
    parts.retain(|part| seen.insert(part.clone()));
    Ok(parts)
}

fn part_by_id(relations: &[Relation], id: Option<&str>) -> Option<String> {
    let relation = relations.iter().find(|relation| Some(relation.id.as_str()) == id)?;
    (!relation.part.is_empty()).then(|| relation.part.clone())
}

fn read_slide(
    package: &Package,
    part: &str,
    pointer: &Pointer,
    authors: &HashMap<String, String>,
    output: &mut Output,
) -> Result<()> {
    let relations = package.relations(part, output)?;
    let text = package.text_or_warn(part, output)?;
    let mut walk = SlideWalk::new(pointer, &relations, Shapes::All);
    walk.read(package, &text, output)?;
    let SlideWalk { linked, .. } = walk;
    for linked in linked {
        match linked.kind.as_str() {
            "chart" => push_chart(package, &linked.part, pointer, output)?,
            _ => push_drawing_text(package, &linked.part, pointer, BlockKind::Other, output)?,
        }
    }
    for relation in &relations {
        match relation.kind.as_str() {
            "notesSlide" => {
                let text = package.text_or_warn(&relation.part, output)?;
                SlideWalk::new(pointer, &[], Shapes::NotesOnly).read(package, &text, output)?;
            }
            "package" => package.read_embedded(&relation.part, output)?,
            "comments" => push_comments(package, &relation.part, authors, pointer, output)?,
            _ => {}
        }
    }
    Ok(())
}

/// Gives the names of those who comment, by their id.
fn read_authors(package: &Package, output: &mut Output) -> Result<HashMap<String, String>> {
    let mut authors = HashMap::new();
    for part in ["ppt/commentAuthors.xml", "ppt/authors.xml"] {
        let text = package.text_or_warn(part, output)?;
        let mut reader = package.walk(&text, output);
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = local_attribute(&tag, "name");
                    authors.extend(local_attribute(&tag, "id").zip(name));
                }
                Ok(Some(_)) => {}
                Err(error) if error.stops_everything() => return Err(error),
                Ok(None) | Err(_) => break,
            }
        }
    }
    Ok(authors)
}

fn push_comments(
    package: &Package,
    part: &str,
    authors: &HashMap<String, String>,
    pointer: &Pointer,
    output: &mut Output,
) -> Result<()> {
    let text = package.text_or_warn(part, output)?;
    let mut reader = package.walk(&text, output);
    let mut author = String::new();
    let mut comment = String::new();
    let mut in_text = false;
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                "cm" | "reply" => {
                    let id = local_attribute(&tag, "authorId").unwrap_or_default();
                    author = authors.get(&id).cloned().unwrap_or_default();
                }
                "t" | "text" => in_text = true,
                _ => {}
            },
            Ok(Some(XmlEvent::End(name))) => {
                in_text = false;
                if matches!(name.as_str(), "text" | "txBody") {
                    let text = std::mem::take(&mut comment);
                    let text = if author.is_empty() || text.trim().is_empty() {
                        text
                    } else {
                        format!("Comment by {author}: {text}")
                    };
                    output.push(BlockKind::Other, pointer, text)?;
                }
            }
            Ok(Some(XmlEvent::Text(text))) if in_text => comment.push_str(&text),
            Ok(Some(XmlEvent::Text(_))) => {}
            Ok(None) => return Ok(()),
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => {
                output.warn_of(&error);
                return Ok(());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shapes {
    All,
    /// Only the placeholder that holds the speaker's notes.
    NotesOnly,
}

/// Where the text of a table's cell comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellSpan {
    Own,
    Above,
    Left,
}

struct SlideWalk<'a> {
    pointer: &'a Pointer,
    relations: &'a [Relation],
    shapes: Shapes,
    placeholder: Option<String>,
    is_bulleted: bool,
    /// The level of the paragraph in its list, from 0.
    level: usize,
    /// The numbers of the paragraph's list: how they are written, and the first.
    numbered: Option<(String, u32)>,
    counted: Numbers,
    paragraph: String,
    in_text: bool,
    table: Option<(TextTable, String)>,
    cell: CellSpan,
    n_skipped: usize,
    linked: Vec<Relation>,
}

/// How far the numbered lists of a text have counted: of each level its format, its first number
/// and how many came.
#[derive(Debug, Default)]
struct Numbers(Vec<Option<(String, u32, u32)>>);

impl Numbers {
    /// Counts a paragraph of a level and gives the number before it, where it has one. A number
    /// goes on behind deeper paragraphs, and begins anew behind one of its own level without.
    fn next(&mut self, level: usize, numbered: Option<(String, u32)>) -> Option<String> {
        let level = level.min(MAX_LEVEL);
        self.0.resize(level + 1, None);
        let last = self.0.pop().flatten();
        let counted = numbered.map(|(format, start)| match last {
            Some((before, first, n)) if (&before, first) == (&format, start) => {
                (format, start, n.saturating_add(1))
            }
            _ => (format, start, 0),
        });
        let number = counted
            .as_ref()
            .map(|(format, start, n)| numbered_as(start.saturating_add(*n), format));
        self.0.push(counted);
        number
    }
}

/// Text has nine levels.
const MAX_LEVEL: usize = 8;

/// Writes a number as one of the formats of a slide, such as `alphaLcParenR`.
fn numbered_as(number: u32, format: &str) -> String {
    let letters = match format {
        _ if format.starts_with("alphaLc") => "lowerLetter",
        _ if format.starts_with("alphaUc") => "upperLetter",
        _ if format.starts_with("romanLc") => "lowerRoman",
        _ if format.starts_with("romanUc") => "upperRoman",
        _ => "decimal",
    };
    let number = written(number, letters);
    match format {
        _ if format.ends_with("ParenBoth") => format!("({number})"),
        _ if format.ends_with("ParenR") => format!("{number})"),
        _ => format!("{number}."),
    }
}

impl<'a> SlideWalk<'a> {
    fn new(pointer: &'a Pointer, relations: &'a [Relation], shapes: Shapes) -> Self {
        SlideWalk {
            pointer,
            relations,
            shapes,
            placeholder: None,
            is_bulleted: false,
            level: 0,
            numbered: None,
            counted: Numbers::default(),
            paragraph: String::new(),
            in_text: false,
            table: None,
            cell: CellSpan::Own,
            n_skipped: 0,
            linked: Vec::new(),
        }
    }

    fn read(&mut self, package: &Package, text: &str, output: &mut Output) -> Result<()> {
        let mut reader = package.walk(text, output);
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    let name = tag.local_name();
                    let name = name.as_ref();
                    if self.n_skipped > 0 || name == "Fallback" {
                        self.n_skipped += 1;
                    } else {
                        self.start(name, &|attribute| local_attribute(&tag, attribute), output)?;
                    }
                }
                Ok(Some(XmlEvent::End(_))) if self.n_skipped > 0 => self.n_skipped -= 1,
                Ok(Some(XmlEvent::End(name))) => self.end(&name, output)?,
                Ok(Some(XmlEvent::Text(text))) => {
                    if self.in_text && self.n_skipped == 0 {
                        self.paragraph.push_str(&text);
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) if error.stops_everything() => return Err(error),
                Err(error) => {
                    output.warn_of(&error);
                    return Ok(());
                }
            }
        }
    }

    fn start(
        &mut self,
        name: &str,
        attribute: &dyn Fn(&str) -> Option<String>,
        output: &mut Output,
    ) -> Result<()> {
        match name {
            "sld" if attribute("show").is_some_and(|show| show == "0" || show == "false") => {
                output.push(BlockKind::Other, self.pointer, "(hidden slide)")?;
            }
            "sp" | "graphicFrame" => self.placeholder = None,
            "ph" => {
                self.placeholder = Some(attribute("type").unwrap_or_else(|| "body".to_owned()));
            }
            "t" => self.in_text = true,
            "br" => self.paragraph.push('\n'),
            "pPr" => {
                self.level = attribute("lvl").and_then(|it| it.parse().ok()).unwrap_or_default();
                self.is_bulleted = self.level > 0;
            }
            "txBody" => self.counted = Numbers::default(),
            "buChar" => self.is_bulleted = true,
            "buAutoNum" => {
                self.is_bulleted = true;
                let start = attribute("startAt").and_then(|start| start.parse().ok());
                let format = attribute("type").unwrap_or_default();
                self.numbered = Some((format, start.unwrap_or(1)));
            }
            "tbl" => self.table = Some((TextTable::default(), String::new())),
            "tc" => {
                let is_set = |name: &str| {
                    attribute(name).is_some_and(|value| value == "1" || value == "true")
                };
                self.cell = match () {
                    () if is_set("vMerge") => CellSpan::Above,
                    () if is_set("hMerge") => CellSpan::Left,
                    () => CellSpan::Own,
                };
            }
            "chart" => self.link("chart", attribute("id").as_deref()),
            "relIds" => self.link("diagramData", attribute("dm").as_deref()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, output: &mut Output) -> Result<()> {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(output)?,
            "tc" => {
                if let Some((table, cell)) = &mut self.table {
                    match self.cell {
                        CellSpan::Own => table.cell(cell),
                        CellSpan::Above => table.continued_from_above(1),
                        CellSpan::Left => table.continued_from_left(),
                    }
                    cell.clear();
                }
            }
            "tr" => {
                if let Some((table, _)) = &mut self.table {
                    table.end_row(self.pointer, output)?;
                }
            }
            "tbl" => {
                if let Some((mut table, _)) = self.table.take() {
                    table.end(self.pointer, output)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn link(&mut self, kind: &str, id: Option<&str>) {
        if let Some(part) = part_by_id(self.relations, id) {
            self.linked.push(Relation { id: String::new(), kind: kind.to_owned(), part });
        }
    }

    fn end_paragraph(&mut self, output: &mut Output) -> Result<()> {
        let mut paragraph = std::mem::take(&mut self.paragraph);
        let numbered = self.numbered.take();
        if !paragraph.trim().is_empty()
            && let Some(number) = self.counted.next(self.level, numbered)
        {
            paragraph = format!("{number} {paragraph}");
        }
        let is_bulleted = std::mem::take(&mut self.is_bulleted);
        let level = std::mem::take(&mut self.level);
        if let Some((_, cell)) = &mut self.table {
            cell.push_str(&paragraph);
            cell.push(' ');
            return Ok(());
        }
        let placeholder = self.placeholder.as_deref();
        if self.shapes == Shapes::NotesOnly {
            if placeholder != Some("body") {
                return Ok(());
            }
            return output.push(BlockKind::Other, self.pointer, paragraph);
        }
        let kind = match placeholder {
            Some("title" | "ctrTitle") => BlockKind::Heading(1),
            Some("subTitle") => BlockKind::Paragraph,
            Some("sldNum" | "dt" | "ftr" | "hdr") => return Ok(()),
            _ if is_bulleted => BlockKind::ListItem,
            _ => BlockKind::Paragraph,
        };
        if kind == BlockKind::ListItem {
            let indent = list_indent(level.saturating_add(1));
            paragraph = format!("{indent}{}", paragraph.trim_start());
        }
        output.push(kind, self.pointer, paragraph)
    }
}
