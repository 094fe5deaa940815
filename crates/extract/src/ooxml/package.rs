//! The parts of a package and the relationships between them.

use crate::archive::ZipFile;
use crate::error::{Error, Result};
use crate::extract::read_inner;
use crate::markup::{XmlEvent, XmlReader, decode_xml, local_attribute};
use crate::output::Output;
use crate::{Format, warning};

/// One relationship of a part.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub(crate) id: String,
    /// The last word of its type, such as `slide` or `comments`.
    pub(crate) kind: String,
    /// The part it leads to; empty when that is outside the package.
    pub(crate) part: String,
}

/// An opened package.
pub(crate) struct Package<'a> {
    zip: ZipFile<'a>,
    format: Format,
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8], format: Format, output: &mut Output) -> Result<Self> {
        let zip = ZipFile::open(bytes).map_err(|error| Error::broken(format, error))?;
        if zip.is_salvaged() {
            output
                .warn(warning::REPAIRED, "the package's directory is damaged: parts were searched");
        }
        Ok(Package { zip, format })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.zip.names()
    }

    /// Gives a part as text; `None` when the package has no such part.
    pub(crate) fn text(&self, part: &str, output: &mut Output) -> Result<Option<String>> {
        let bytes = self.zip.read_named(part, output)?;
        Ok(bytes.map(|bytes| decode_xml(&bytes, output)))
    }

    /// Gives a part as text, or an empty text with a warning when it cannot be read.
    pub(crate) fn text_or_warn(&self, part: &str, output: &mut Output) -> Result<String> {
        match self.text(part, output) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Ok(String::new()),
            Err(error) if error.stops_everything() => Err(error),
            Err(error) => {
                output.warn_of(&error);
                Ok(String::new())
            }
        }
    }

    /// Reads a document that is a part of this one, by its own kind.
    pub(crate) fn read_embedded(&self, part: &str, output: &mut Output) -> Result<()> {
        match self.zip.read_named(part, output) {
            Ok(Some(bytes)) => {
                let name = part.rsplit('/').next().unwrap_or(part);
                read_inner(&bytes, name, output)
            }
            Ok(None) => Ok(()),
            Err(error) if error.stops_everything() => Err(error),
            Err(error) => {
                output.warn_of(&error);
                Ok(())
            }
        }
    }

    /// Counts the pictures of the package.
    pub(crate) fn n_pictures(&self) -> usize {
        self.names().filter(|name| name.contains("/media/")).count()
    }

    /// Starts a walk through a part's text.
    pub(crate) fn walk<'t>(&self, text: &'t str, output: &Output) -> XmlReader<'t> {
        XmlReader::new(text, self.format, output.caps())
    }

    /// Gives the relationships of a part; the package itself is the empty part.
    pub(crate) fn relations(&self, part: &str, output: &mut Output) -> Result<Vec<Relation>> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = if folder.is_empty() {
            format!("_rels/{name}.rels")
        } else {
            format!("{folder}/_rels/{name}.rels")
        };
        let text = self.text_or_warn(&path, output)?;
        let mut relations = Vec::new();
        let mut reader = self.walk(&text, output);
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) if tag.local_name().as_ref() == "Relationship" => {
                    let kind = local_attribute(&tag, "Type").unwrap_or_default();
                    let target = local_attribute(&tag, "Target").unwrap_or_default();
                    let is_outside =
                        local_attribute(&tag, "TargetMode").is_some_and(|mode| mode == "External");
                    relations.push(Relation {
                        id: local_attribute(&tag, "Id").unwrap_or_default(),
                        kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                        part: if is_outside { String::new() } else { resolved(folder, &target) },
                    });
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) if error.stops_everything() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(relations)
    }

    /// Finds the part that the package is about.
    pub(crate) fn main_part(&self, usual: &str, output: &mut Output) -> Result<String> {
        let relations = self.relations("", output)?;
        let named = relations.into_iter().find(|relation| relation.kind == "officeDocument");
        let file_name = usual.rsplit('/').next().unwrap_or(usual);
        let part = named
            .map(|relation| relation.part)
            .filter(|part| self.zip.find(part).is_some())
            .or_else(|| self.zip.find(usual).map(|entry| entry.name.clone()))
            .or_else(|| self.names().find(|name| name.ends_with(file_name)).map(str::to_owned));
        part.ok_or_else(|| Error::broken(self.format, format!("the part `{usual}` is missing")))
    }

    /// Notes the title and the language that the package's properties name.
    pub(crate) fn note_properties(&self, output: &mut Output) -> Result<()> {
        let relations = self.relations("", output)?;
        let part = relations
            .iter()
            .find(|relation| relation.kind == "core-properties")
            .map_or("docProps/core.xml", |relation| relation.part.as_str());
        let text = self.text_or_warn(part, output)?;
        let mut reader = self.walk(&text, output);
        let mut element = String::new();
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => {
                    element = tag.local_name().as_ref().to_owned();
                }
                Ok(Some(XmlEvent::Text(text))) => match element.as_str() {
                    "title" if !is_program_title(&text) => output.set_title(&text),
                    "language" => output.set_language(&text),
                    _ => {}
                },
                Ok(Some(XmlEvent::End(_))) => element.clear(),
                Ok(None) => return Ok(()),
                Err(error) if error.stops_everything() => return Err(error),
                Err(_) => return Ok(()),
            }
        }
    }
}

/// Tells whether a title is what a program fills in when nobody gave one.
fn is_program_title(title: &str) -> bool {
    matches!(
        title.trim().to_ascii_lowercase().as_str(),
        "powerpoint presentation" | "slide 1" | "untitled" | "document" | "word document"
    )
}

/// Tells what a package is by the name of its main part.
pub(crate) fn main_part_format(zip: &ZipFile) -> Option<Format> {
    let has = |end: &str| zip.names().any(|name| name.ends_with(end));
    if has("document.xml") {
        return Some(Format::Docx);
    }
    if has("presentation.xml") {
        return Some(Format::Pptx);
    }
    has("workbook.xml").then_some(Format::Xlsx)
}

/// Follows a relative path from a folder of the package.
pub(crate) fn resolved(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or(target).replace('\\', "/");
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut path: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            _ => path.push(step),
        }
    }
    path.join("/")
}
