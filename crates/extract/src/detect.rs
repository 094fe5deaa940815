//! What a file is: its content first, its name only where the content leaves a choice.

use crate::Format;
use crate::archive::ZipFile;
use crate::format::extension_of;

/// How many bytes of a file are looked at for marks of plain formats.
const SNIFF_BYTES: usize = 8192;

/// What was found out.
pub(crate) struct Detected {
    pub(crate) format: Format,
    /// What the name promises, when the content is something else.
    pub(crate) contradicts: Option<Format>,
    /// For [`Format::Binary`]: what it is, in words.
    pub(crate) what: &'static str,
    /// For [`Format::Binary`]: whether it is a picture.
    pub(crate) is_image: bool,
    /// A container of the right kind whose content is locked.
    pub(crate) is_encrypted: bool,
    promised: Option<Format>,
}

impl Detected {
    /// Gives the format to name in a message about encryption.
    pub(crate) fn encrypted_format(&self) -> Format {
        self.promised.unwrap_or(Format::Docx)
    }

    /// Gives the text format of the name, for bytes that are no characters and no known format.
    pub(crate) fn promised_text(&self) -> Option<Format> {
        self.promised.filter(|promised| promised.is_plain() && self.what == UNKNOWN_BINARY)
    }
}

/// What is said of bytes that are neither characters nor a known kind of file.
const UNKNOWN_BINARY: &str = "a binary file";

pub(crate) fn detect(bytes: &[u8], name: &str) -> Detected {
    let promised = Format::of_extension(&extension_of(name));
    let mut what = "the file";
    let mut is_encrypted = false;
    let mut is_image = false;
    let format = match by_marks(bytes) {
        Content::Format(format) => format,
        Content::Encrypted => {
            is_encrypted = true;
            Format::Binary
        }
        // Its name tells what it was, and its reader what is broken.
        Content::DamagedCompound => match promised {
            Some(promised @ (Format::Doc | Format::Xls | Format::Ppt | Format::Msg)) => promised,
            _ => {
                what = "a damaged compound file";
                Format::Binary
            }
        },
        Content::Binary(kind) => {
            what = kind;
            Format::Binary
        }
        Content::Image(kind) => {
            what = kind;
            is_image = true;
            Format::Binary
        }
        Content::Plain => plain(bytes, promised),
    };
    let is_same_family = |promised: Format| {
        promised == format
            || (promised.is_plain() && format.is_plain())
            || matches!(
                (promised, format),
                (Format::Xlsb | Format::Xlsx, Format::Xlsb | Format::Xlsx)
                    | (Format::Zip, Format::Docx | Format::Xlsx | Format::Pptx | Format::Epub)
                    | (Format::Odt | Format::Ods | Format::Odp, Format::Xml)
                    | (Format::Odp, Format::Odt)
                    | (Format::Eml, Format::Html)
                    | (Format::Gzip, Format::Tar)
            )
    };
    let contradicts =
        promised.filter(|promised| !is_encrypted && !is_same_family(*promised)).filter(|_| {
            // Pictures named as documents are told by their own warning.
            format != Format::Binary || what != "the file"
        });
    Detected { format, contradicts, what, is_image, is_encrypted, promised }
}

enum Content {
    Format(Format),
    Encrypted,
    /// A compound file of which too little is left to tell what it was.
    DamagedCompound,
    Binary(&'static str),
    Image(&'static str),
    Plain,
}

fn by_marks(bytes: &[u8]) -> Content {
    let head = bytes.get(..1024).unwrap_or(bytes);
    if memchr::memmem::find(head, b"%PDF-").is_some() {
        return Content::Format(Format::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Content::Format(inside_zip(bytes));
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return inside_compound_file(bytes);
    }
    let is_rtf_fragment =
        bytes.starts_with(b"{\\") && memchr::memmem::find(head, b"\\pard").is_some();
    if bytes.starts_with(b"{\\rtf") || is_rtf_fragment {
        return Content::Format(Format::Rtf);
    }
    if bytes.starts_with(b"\x1f\x8b") {
        return Content::Format(Format::Gzip);
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Content::Format(Format::Tar);
    }
    if is_bare_workbook(bytes) {
        return Content::Format(Format::Xls);
    }
    for (mark, what) in BINARY_MARKS {
        // Words begin with some of these marks too.
        let could_be_words = mark.iter().all(u8::is_ascii_graphic);
        if bytes.starts_with(mark) && (!could_be_words || looks_binary(bytes)) {
            return if what.ends_with("picture") {
                Content::Image(what)
            } else {
                Content::Binary(what)
            };
        }
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        let is_picture = bytes.get(8..12).is_some_and(|brand| PICTURE_BRANDS.contains(&brand));
        return if is_picture {
            Content::Image("a HEIF picture")
        } else {
            Content::Binary("a video")
        };
    }
    if bytes.starts_with(b"RIFF") {
        return match bytes.get(8..12) {
            Some(b"WEBP") => Content::Image("a WebP picture"),
            _ if looks_binary(bytes) => Content::Binary("a RIFF media file"),
            _ => Content::Plain,
        };
    }
    if looks_binary(bytes) { Content::Binary(UNKNOWN_BINARY) } else { Content::Plain }
}

/// Brands of the ISO base media format that are pictures; all others are video or sound.
const PICTURE_BRANDS: [&[u8]; 6] = [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis"];

const BINARY_MARKS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a bitmap picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"ID3", "a sound file"),
    (b"OggS", "a media file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0asm", "a WebAssembly module"),
    (b"!<arch>", "an object archive"),
    (b"\xca\xfe\xba\xbe", "a class file"),
    (b"\xd7\xcd\xc6\x9a", "a metafile picture"),
];

fn inside_zip(bytes: &[u8]) -> Format {
    let Ok(zip) = ZipFile::open(bytes) else { return Format::Zip };
    if let Some(kind) = zip.stored_start("mimetype") {
        let kind = String::from_utf8_lossy(kind);
        if kind.contains("epub") {
            return Format::Epub;
        }
        if kind.contains("opendocument.spreadsheet") || kind.contains("sun.xml.calc") {
            return Format::Ods;
        }
        if kind.contains("opendocument.presentation")
            || kind.contains("opendocument.graphics")
            || kind.contains("sun.xml.impress")
        {
            return Format::Odp;
        }
        if kind.contains("opendocument") || kind.contains("sun.xml") {
            return Format::Odt;
        }
    }
    let has = |name: &str| zip.find(name).is_some();
    let has_under = |folder: &str| zip.names().any(|name| starts_with_folder(name, folder));
    if has("META-INF/container.xml") && zip.names().any(|name| name.ends_with(".opf")) {
        return Format::Epub;
    }
    if has("xl/workbook.bin") {
        return Format::Xlsb;
    }
    if has("[Content_Types].xml") || has("_rels/.rels") {
        if has("word/document.xml") || has_under("word/") {
            return Format::Docx;
        }
        if has("ppt/presentation.xml") || has_under("ppt/") {
            return Format::Pptx;
        }
        if has("xl/workbook.xml") || has_under("xl/") {
            return Format::Xlsx;
        }
        return crate::ooxml::main_part_format(&zip).unwrap_or(Format::Zip);
    }
    if has("content.xml") && has("META-INF/manifest.xml") {
        return Format::Odt;
    }
    Format::Zip
}

fn starts_with_folder(name: &str, folder: &str) -> bool {
    name.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder))
}

fn inside_compound_file(bytes: &[u8]) -> Content {
    let Ok(file) = crate::ole::open(bytes) else {
        // The directory is damaged: names still are in it as UTF-16.
        let has = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            memchr::memmem::find(bytes, &name).is_some()
        };
        return match () {
            () if has("EncryptedPackage") => Content::Encrypted,
            () if has("WordDocument") => Content::Format(Format::Doc),
            () if has("PowerPoint Document") => Content::Format(Format::Ppt),
            () if has("Workbook") || has("Book") => Content::Format(Format::Xls),
            () if has("__properties_version1.0") => Content::Format(Format::Msg),
            () => Content::DamagedCompound,
        };
    };
    if file.is_stream("/EncryptedPackage") {
        return Content::Encrypted;
    }
    if file.is_stream("/WordDocument") {
        return Content::Format(Format::Doc);
    }
    if file.is_stream("/PowerPoint Document") {
        return Content::Format(Format::Ppt);
    }
    if file.is_stream("/Workbook") || file.is_stream("/Book") {
        return Content::Format(Format::Xls);
    }
    if file.is_stream("/__properties_version1.0") {
        return Content::Format(Format::Msg);
    }
    Content::Binary("a compound file of an unknown kind")
}

/// Sees a workbook stream of Excel 2 to 5 that is without a container.
fn is_bare_workbook(bytes: &[u8]) -> bool {
    let Some(&[kind, version, length, 0]) = bytes.first_chunk::<4>() else { return false };
    kind == 0x09 && matches!(version, 0x00 | 0x02 | 0x04 | 0x08) && (4..=16).contains(&length)
}

/// Tells whether bytes are no text: control characters that no encoding of text uses.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = bytes.get(..SNIFF_BYTES).unwrap_or(bytes);
    let decoded = crate::encoding::decode(head, None);
    let sample: Vec<char> = decoded.text.chars().take(SNIFF_BYTES).collect();
    let n_strange = sample
        .iter()
        .filter(|char| {
            (char.is_control()
                && !matches!(char, '\n' | '\t' | '\u{c}' | '\u{1b}' | '\u{85}' | '\u{1a}'))
                || **char == char::REPLACEMENT_CHARACTER
        })
        .count();
    n_strange * 50 > sample.len().max(49)
}

fn plain(bytes: &[u8], promised: Option<Format>) -> Format {
    let head = bytes.get(..SNIFF_BYTES).unwrap_or(bytes);
    let decoded = crate::encoding::decode(head, None).text;
    let text = decoded.trim_start_matches(['\u{feff}', '\n', ' ', '\t']);
    let looks_like = by_opening(text);
    match (promised, looks_like) {
        // A name of a binary format on plain text says nothing; the opening of the text does.
        (Some(promised), Some(looks)) if !promised.is_plain() => looks,
        (Some(promised), None) if !promised.is_plain() => Format::Text,
        // Pages, mails and spreadsheets in XML are what they open as, whatever text format
        // their name gives, except where the name means "show me the source".
        (Some(Format::Xml), Some(Format::Html)) => Format::Html,
        (Some(Format::Html), Some(Format::Xml)) if text.contains("<html") => Format::Html,
        (Some(Format::Html | Format::Text | Format::Csv), Some(Format::Eml)) => Format::Eml,
        (Some(Format::Csv | Format::Tsv | Format::Json), Some(Format::Html)) => Format::Html,
        (Some(Format::Text), Some(Format::Mbox)) => Format::Mbox,
        (Some(Format::Json), Some(Format::JsonLines)) => Format::Json,
        (Some(promised), _) => promised,
        (None, Some(looks)) => looks,
        (None, None) => Format::Text,
    }
}

fn by_opening(text: &str) -> Option<Format> {
    let start: String = text.chars().take(1024).collect::<String>().to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        return Some(Format::Html);
    }
    if start.starts_with("<?xml") || start.starts_with("<!doctype") {
        return Some(if start.contains("<html") { Format::Html } else { Format::Xml });
    }
    if start.starts_with("<!--") && start.contains("<html") {
        return Some(Format::Html);
    }
    for tag in ["<head", "<body", "<table", "<div", "<p>", "<meta", "<h1", "<!--"] {
        if start.starts_with(tag) {
            return Some(Format::Html);
        }
    }
    if start.starts_with("from ") && start.contains("\nreceived:") | start.contains("\ndate:") {
        return Some(Format::Mbox);
    }
    if opens_like_mail(&start) {
        return Some(Format::Eml);
    }
    if start.starts_with("\\documentclass") || start.starts_with("\\input") {
        return Some(Format::Latex);
    }
    if start.starts_with('{') || start.starts_with('[') {
        let value = serde_json::from_str::<serde::de::IgnoredAny>(text);
        // A cut sample of JSON fails only at its end.
        match value {
            Ok(_) => return Some(Format::Json),
            Err(error) if error.is_eof() => return Some(Format::Json),
            Err(_) => {}
        }
        let first_line = text.lines().next().unwrap_or_default();
        if serde_json::from_str::<serde::de::IgnoredAny>(first_line).is_ok() {
            return Some(Format::JsonLines);
        }
    }
    None
}

fn opens_like_mail(start: &str) -> bool {
    const HEADERS: [&str; 14] = [
        "from:",
        "to:",
        "cc:",
        "subject:",
        "date:",
        "received:",
        "return-path:",
        "message-id:",
        "mime-version:",
        "delivered-to:",
        "content-type:",
        "reply-to:",
        "x-",
        "dkim-signature:",
    ];
    let mut n_headers = 0;
    for line in start.lines().take(40) {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) && n_headers > 0 {
            continue;
        }
        if HEADERS.iter().any(|header| line.starts_with(header)) {
            n_headers += 1;
        } else if !line.split_once(':').is_some_and(|(key, _)| {
            key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        }) {
            break;
        }
    }
    n_headers >= 3
}
