//! An electronic book: its chapters in reading order, each an inner path.

use std::collections::HashMap;

use model::{BlockKind, Pointer, percent_decoded};

use crate::archive::ZipFile;
use crate::error::{Error, Result};
use crate::extract::read_inner;
use crate::markup::{XmlEvent, XmlReader, local_attribute};
use crate::output::Output;
use crate::{Format, warning};

pub(crate) fn read_epub(bytes: &[u8], output: &mut Output) -> Result<()> {
    let zip = ZipFile::open(bytes)?;
    let package_path = package_path(&zip, output)?;
    let package = package_path
        .as_deref()
        .and_then(|path| zip.find(path))
        .or_else(|| zip.entries().iter().find(|entry| entry.name.ends_with(".opf")));
    let Some(package) = package else {
        return Err(Error::broken(Format::Epub, "the package document is missing"));
    };
    let folder = package.name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let book = read_package(&zip.read(package, output)?, output)?;
    if !book.title.is_empty() {
        output.set_title(&book.title);
        output.push(BlockKind::Heading(1), &Pointer::Whole, &book.title)?;
    }
    output.push(BlockKind::Other, &Pointer::Whole, book.credits.join("\n"))?;
    output.set_language(&book.language);
    let locked = locked_paths(&zip, output)?;
    let mut n_locked = 0;
    for chapter in &book.chapters {
        let path = crate::ooxml::resolved(&folder, chapter);
        if locked.iter().any(|locked| locked.eq_ignore_ascii_case(&path)) {
            n_locked += 1;
            continue;
        }
        let Some(entry) = zip.find(&path) else {
            output.warn(warning::INNER_SKIPPED, format!("chapter `{path}` is missing"));
            continue;
        };
        match zip.read(entry, output) {
            Ok(content) => read_inner(&content, &entry.name, output)?,
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => output.warn_of(&error),
        }
    }
    if n_locked > 0 {
        return Err(Error::Encrypted { format: Format::Epub });
    }
    Ok(())
}

#[derive(Default)]
struct Book {
    title: String,
    credits: Vec<String>,
    language: String,
    chapters: Vec<String>,
}

fn package_path(zip: &ZipFile, output: &mut Output) -> Result<Option<String>> {
    let Some(container) = zip.read_named("META-INF/container.xml", output)? else {
        return Ok(None);
    };
    let text = crate::encoding::decode(&container, None).text;
    let mut reader = XmlReader::new(&text, Format::Epub, output.caps());
    while let Some(event) = reader.next(output)? {
        if let XmlEvent::Start(tag) = event
            && tag.local_name().as_ref() == "rootfile"
        {
            return Ok(local_attribute(&tag, "full-path"));
        }
    }
    Ok(None)
}

fn read_package(package: &[u8], output: &mut Output) -> Result<Book> {
    let text = crate::markup::decode_xml(package, output);
    let mut book = Book::default();
    let mut paths: HashMap<String, String> = HashMap::new();
    let mut order = Vec::new();
    let mut in_element = String::new();
    let mut reader = XmlReader::new(&text, Format::Epub, output.caps());
    while let Some(event) = reader.next(output)? {
        match event {
            XmlEvent::Start(tag) => {
                in_element = tag.local_name().as_ref().to_owned();
                match in_element.as_str() {
                    "item" => {
                        let kind = local_attribute(&tag, "media-type").unwrap_or_default();
                        let is_text = kind.contains("html") || kind.contains("xml");
                        if let (true, Some(id), Some(path)) =
                            (is_text, local_attribute(&tag, "id"), local_attribute(&tag, "href"))
                        {
                            paths.insert(id, percent_decoded(&path));
                        }
                    }
                    "itemref" => order.extend(local_attribute(&tag, "idref")),
                    _ => {}
                }
            }
            XmlEvent::End(_) => in_element.clear(),
            XmlEvent::Text(text) => match in_element.as_str() {
                "title" if book.title.is_empty() => book.title = text.trim().to_owned(),
                "creator" | "publisher" | "description" | "subject" => {
                    let credit = text.trim();
                    if !credit.is_empty() {
                        book.credits.push(credit.to_owned());
                    }
                }
                "language" => book.language = text.trim().to_owned(),
                _ => {}
            },
        }
    }
    book.chapters = order.iter().filter_map(|id| paths.get(id).cloned()).collect();
    Ok(book)
}

fn locked_paths(zip: &ZipFile, output: &mut Output) -> Result<Vec<String>> {
    let Some(listing) = zip.read_named("META-INF/encryption.xml", output)? else {
        return Ok(Vec::new());
    };
    let text = crate::encoding::decode(&listing, None).text;
    let mut locked = Vec::new();
    let mut reader = XmlReader::new(&text, Format::Epub, output.caps());
    while let Some(event) = reader.next(output)? {
        if let XmlEvent::Start(tag) = event
            && tag.local_name().as_ref() == "CipherReference"
        {
            locked.extend(local_attribute(&tag, "URI").map(|path| percent_decoded(&path)));
        }
    }
    Ok(locked)
}
