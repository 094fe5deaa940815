//! The kinds of file that can be told apart, and the extensions people give them.

use std::fmt;

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
        Some(match extension {
            "pdf" | "ai" => Format::Pdf,
            "docx" | "docm" | "dotx" | "dotm" => Format::Docx,
            "pptx" | "pptm" | "potx" | "potm" | "ppsx" | "ppsm" => Format::Pptx,
            "xlsx" | "xlsm" | "xltx" | "xltm" | "xlam" => Format::Xlsx,
            "xlsb" => Format::Xlsb,
            "odt" | "ott" | "fodt" | "sxw" => Format::Odt,
            "odp" | "otp" | "fodp" | "odg" | "otg" | "sxi" => Format::Odp,
            "ods" | "ots" | "fods" | "sxc" => Format::Ods,
            "doc" | "dot" => Format::Doc,
            "ppt" | "pps" | "pot" => Format::Ppt,
            "xls" | "xlt" | "xla" => Format::Xls,
            "rtf" => Format::Rtf,
            "epub" => Format::Epub,
            "eml" | "mht" | "mhtml" => Format::Eml,
            "mbox" | "mbx" => Format::Mbox,
            "msg" | "oft" => Format::Msg,
            "html" | "htm" | "xhtml" | "xht" => Format::Html,
            "xml" | "xsd" | "xsl" | "xslt" | "rss" | "atom" | "svg" | "wsdl" | "rdf" | "opml"
            | "nxml" | "kml" | "gpx" | "fb2" | "dbk" | "docbook" | "dita" | "tei" | "xbrl"
            | "jats" => Format::Xml,
            "md" | "markdown" | "mdown" | "mkd" | "mdx" | "qmd" | "rmd" => Format::Markdown,
            "txt" | "text" | "log" | "rst" | "org" | "adoc" | "asciidoc" | "textile" | "nfo"
            | "srt" | "vtt" | "ics" | "vcf" | "bib" | "typ" | "wiki" => Format::Text,
            "tex" | "latex" | "ltx" | "sty" | "cls" => Format::Latex,
            "json" | "geojson" | "webmanifest" | "har" | "jsonld" | "json5" => Format::Json,
            "jsonl" | "ndjson" => Format::JsonLines,
            "ipynb" => Format::Notebook,
            "yaml" | "yml" => Format::Yaml,
            "csv" => Format::Csv,
            "tsv" | "tab" => Format::Tsv,
            "zip" | "jar" | "pages" | "numbers" | "key" | "apk" | "whl" | "kmz" => Format::Zip,
            "tar" => Format::Tar,
            "gz" | "tgz" => Format::Gzip,
            _ if CODE_EXTENSIONS.contains(&extension) => Format::Code,
            _ => return None,
        })
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

/// Extensions of source code and of configuration that reads like it.
const CODE_EXTENSIONS: &[&str] = &[
    "ada",
    "asm",
    "awk",
    "bash",
    "bat",
    "bzl",
    "c",
    "cc",
    "cfg",
    "cl",
    "clj",
    "cljs",
    "cmake",
    "cmd",
    "coffee",
    "conf",
    "cpp",
    "cr",
    "cs",
    "css",
    "csx",
    "cu",
    "cxx",
    "d",
    "dart",
    "diff",
    "dockerfile",
    "el",
    "elm",
    "env",
    "erl",
    "ex",
    "exs",
    "f",
    "f90",
    "fs",
    "fsx",
    "glsl",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hcl",
    "hh",
    "hpp",
    "hrl",
    "hs",
    "hxx",
    "ini",
    "java",
    "jl",
    "js",
    "jsx",
    "kt",
    "kts",
    "less",
    "lisp",
    "lua",
    "m",
    "makefile",
    "mjs",
    "mk",
    "ml",
    "mli",
    "mm",
    "nim",
    "nix",
    "pas",
    "patch",
    "php",
    "pl",
    "pm",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rake",
    "rb",
    "rkt",
    "rs",
    "s",
    "sass",
    "sbt",
    "scala",
    "scm",
    "scss",
    "sh",
    "sol",
    "sql",
    "svelte",
    "swift",
    "tcl",
    "tf",
    "thrift",
    "toml",
    "ts",
    "tsx",
    "v",
    "vb",
    "vhd",
    "vim",
    "vue",
    "wat",
    "zig",
    "zsh",
];
