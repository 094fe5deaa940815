//! The kinds of file that can be told apart, the extensions people give them, and what is read of
//! each.
//!
//! `formats.tsv` next to this file is the one table of them; the reference page is made from it.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What a file is, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is the format's own name")]
pub enum Format {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Xlsb,
    Odt,
    Odp,
    Ods,
    Doc,
    Ppt,
    Xls,
    Rtf,
    Epub,
    Eml,
    Mbox,
    Msg,
    Html,
    Xml,
    Markdown,
    Text,
    Code,
    Latex,
    Json,
    JsonLines,
    Notebook,
    Yaml,
    Csv,
    Tsv,
    Zip,
    Tar,
    Gzip,
    /// Something else: a picture, a program, an archive that is not opened.
    Binary,
}

impl Format {
    /// Gives the format's short name, as it is shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pdf => "pdf",
            Format::Docx => "docx",
            Format::Pptx => "pptx",
            Format::Xlsx => "xlsx",
            Format::Xlsb => "xlsb",
            Format::Odt => "odt",
            Format::Odp => "odp",
            Format::Ods => "ods",
            Format::Doc => "doc",
            Format::Ppt => "ppt",
            Format::Xls => "xls",
            Format::Rtf => "rtf",
            Format::Epub => "epub",
            Format::Eml => "eml",
            Format::Mbox => "mbox",
            Format::Msg => "msg",
            Format::Html => "html",
            Format::Xml => "xml",
            Format::Markdown => "markdown",
            Format::Text => "text",
            Format::Code => "code",
            Format::Latex => "latex",
            Format::Json => "json",
            Format::JsonLines => "jsonlines",
            Format::Notebook => "notebook",
            Format::Yaml => "yaml",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Zip => "zip",
            Format::Tar => "tar",
            Format::Gzip => "gzip",
            Format::Binary => "binary",
        }
    }

    /// Gives the format that an extension (lower case, no dot) promises, if it promises one.
    pub fn of_extension(extension: &str) -> Option<Format> {
        static BY_EXTENSION: LazyLock<HashMap<&str, Format>> = LazyLock::new(|| {
            let pairs = FORMATS.iter().flat_map(|info| {
                info.extensions.split(' ').map(|extension| (extension, info.format))
            });
            pairs.collect()
        });
        BY_EXTENSION.get(extension).copied()
    }

    /// Tells whether the format is plain characters, so that only the name can tell it apart
    /// from other plain characters.
    pub fn is_plain(self) -> bool {
        matches!(
            self,
            Format::Markdown
                | Format::Text
                | Format::Code
                | Format::Latex
                | Format::Json
                | Format::JsonLines
                | Format::Notebook
                | Format::Yaml
                | Format::Csv
                | Format::Tsv
                | Format::Html
                | Format::Xml
                | Format::Eml
                | Format::Mbox
        )
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Gives the extension of a file name in lower case, without the dot; empty when there is none.
pub(crate) fn extension_of(name: &str) -> String {
    let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file_name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// Every format that is read: all but [`Format::Binary`].
const ALL: [Format; 31] = [
    Format::Pdf,
    Format::Docx,
    Format::Pptx,
    Format::Xlsx,
    Format::Xlsb,
    Format::Odt,
    Format::Odp,
    Format::Ods,
    Format::Doc,
    Format::Ppt,
    Format::Xls,
    Format::Rtf,
    Format::Epub,
    Format::Eml,
    Format::Mbox,
    Format::Msg,
    Format::Html,
    Format::Xml,
    Format::Markdown,
    Format::Text,
    Format::Code,
    Format::Latex,
    Format::Json,
    Format::JsonLines,
    Format::Notebook,
    Format::Yaml,
    Format::Csv,
    Format::Tsv,
    Format::Zip,
    Format::Tar,
    Format::Gzip,
];

/// What is read of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// Which one; a format is listed once.
    pub format: Format,
    /// The extensions of its files, in lower case and without dots, between spaces.
    pub extensions: &'static str,
    /// How places in its documents are named.
    pub pointer: &'static str,
    /// What becomes text.
    pub reads: &'static str,
    /// What does not, apart from the limits that every document has; `-` for nothing.
    pub limits: &'static str,
}

/// Every format that is read, as the reference page lists them.
pub static FORMATS: LazyLock<Vec<FormatInfo>> = LazyLock::new(|| {
    let rows = include_str!("formats.tsv").lines().skip(1);
    rows.filter_map(|row| {
        let mut cells = row.split('\t');
        let name = cells.next()?;
        Some(FormatInfo {
            format: ALL.into_iter().find(|format| format.name() == name)?,
            extensions: cells.next()?,
            pointer: cells.next()?,
            reads: cells.next()?,
            limits: cells.next()?,
        })
    })
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_format_once_and_every_cell() {
        let listed: Vec<Format> = FORMATS.iter().map(|info| info.format).collect();
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ALL);
        for info in FORMATS.iter() {
            let cells = [info.extensions, info.pointer, info.reads, info.limits];
            assert!(cells.iter().all(|cell| !cell.trim().is_empty()), "{info:?}");
        }
        assert_eq!(include_str!("formats.tsv").lines().count(), FORMATS.len() + 1);
    }

    #[test]
    fn an_extension_promises_one_format() {
        let mut extensions: Vec<&str> =
            FORMATS.iter().flat_map(|info| info.extensions.split(' ')).collect();
        let n_listed = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), n_listed);
        assert_eq!(Format::of_extension("docm"), Some(Format::Docx));
        assert_eq!(Format::of_extension("rs"), Some(Format::Code));
        assert_eq!(Format::of_extension("exe"), None);
    }
}
