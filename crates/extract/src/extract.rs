//! The one entry: bytes and a name in, a document and warnings out, whatever the bytes are.
//!
//! Reading happens here in the caller's thread; [`crate::Pool`] does the same in a process that
//! can be killed.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use model::{ReadOutcome, Warning};

use crate::detect::{Detected, detect};
use crate::error::{Cap, Error, Result};
use crate::output::Output;
use crate::{Caps, Extracted, Format, archive, mail, markup, odf, ole, ooxml, pdf, plain, rtf};

/// Reads a document.
///
/// The content decides what it is, and the name only where the content cannot. Never fails and
/// never panics: what goes wrong is a warning, and what was read before it is kept. The time cap
/// is checked between pieces of work; a hard limit on time and memory needs [`crate::Pool`].
pub fn extract(bytes: &[u8], name: &str, caps: &Caps) -> (Extracted, Vec<Warning>) {
    let mut output = Output::new(caps, bytes.len() as u64);
    let format = read_into(bytes, name, &mut output);
    let finished = output.finish(format);
    let extracted = Extracted {
        format,
        outcome: finished.outcome,
        reason: finished.reason,
        title: finished.title,
        language: finished.language,
        blocks: finished.blocks,
    };
    (extracted, finished.warnings)
}

/// Reads a file that is inside another; its pointers and warnings carry its path.
///
/// Fails only when the whole run must stop.
pub(crate) fn read_inner(bytes: &[u8], path: &str, output: &mut Output) -> Result<()> {
    if let Err(error) = output.enter(path) {
        output.warn(error.code(), format!("`{path}`: {error}"));
        return Ok(());
    }
    let outcome = read_checked(bytes, path, output);
    let outcome = match outcome {
        Err(error) if error.stops_everything() => Err(error),
        Err(error) => {
            output.warn_of(&error);
            Ok(())
        }
        Ok(_) => Ok(()),
    };
    output.leave();
    outcome
}

fn read_into(bytes: &[u8], name: &str, output: &mut Output) -> Format {
    let mut format = Format::Binary;
    let outcome = if bytes.len() as u64 > output.caps().input_bytes {
        Err(output.capped(Cap::Input))
    } else {
        read_noting_format(bytes, name, output, &mut format)
    };
    if let Err(error) = outcome {
        output.warn_of(&error);
    }
    format
}

fn read_checked(bytes: &[u8], name: &str, output: &mut Output) -> Result<()> {
    read_noting_format(bytes, name, output, &mut Format::Binary)
}

fn read_noting_format(
    bytes: &[u8],
    name: &str,
    output: &mut Output,
    format: &mut Format,
) -> Result<()> {
    if bytes.is_empty() {
        *format = Format::of_extension(&crate::format::extension_of(name)).unwrap_or(Format::Text);
        return Err(Error::Empty);
    }
    let looking = AssertUnwindSafe(|| detect(bytes, name));
    let detected = catch_unwind(looking).map_err(|panic| Error::Panicked {
        format: Format::Binary,
        detail: panic_message(panic.as_ref()),
    })?;
    *format = detected.format;
    if let Some(claimed) = detected.contradicts {
        output.warn(
            crate::warning::EXTENSION_MISMATCH,
            format!("the name says {claimed}, the content is {}: read as that", detected.format),
        );
    }
    let run = AssertUnwindSafe(|| read_as(&detected, bytes, name, output));
    let outcome = catch_unwind(run).unwrap_or_else(|panic| {
        Err(Error::Panicked { format: detected.format, detail: panic_message(panic.as_ref()) })
    });
    if bytes.trim_ascii().is_empty() {
        output.explain_no_text(ReadOutcome::Empty, "the file holds nothing but white space");
    }
    outcome
}

fn read_as(detected: &Detected, bytes: &[u8], name: &str, output: &mut Output) -> Result<()> {
    match detected.format {
        Format::Pdf => pdf::read(bytes, output),
        Format::Docx => ooxml::read_docx(bytes, output),
        Format::Pptx => ooxml::read_pptx(bytes, output),
        Format::Xlsx => ooxml::read_xlsx(bytes, output),
        Format::Xlsb => ole::read_xlsb(bytes, output),
        Format::Xls => ole::read_xls(bytes, output),
        Format::Odt | Format::Odp | Format::Ods => odf::read(detected.format, bytes, output),
        Format::Doc => ole::read_doc(bytes, output),
        Format::Ppt => ole::read_ppt(bytes, output),
        Format::Rtf => rtf::read(bytes, output),
        Format::Epub => archive::read_epub(bytes, output),
        Format::Eml => mail::read_eml(bytes, output),
        Format::Mbox => mail::read_mbox(bytes, output),
        Format::Msg => mail::read_msg(bytes, output),
        Format::Html => markup::read_html(bytes, output),
        Format::Xml => markup::read_xml(bytes, output),
        Format::Markdown => plain::read_markdown(bytes, output),
        Format::Text => plain::read_text(bytes, output),
        Format::Code => plain::read_code(bytes, output),
        Format::Yaml => plain::read_yaml(bytes, output),
        Format::Latex => plain::read_latex(bytes, output),
        Format::Json => plain::read_json(bytes, output),
        Format::JsonLines => plain::read_json_lines(bytes, output),
        Format::Notebook => plain::read_notebook(bytes, output),
        Format::Csv | Format::Tsv => plain::read_csv(detected.format, bytes, output),
        Format::Zip => archive::read_zip(bytes, output),
        Format::Tar => archive::read_tar(bytes, output),
        Format::Gzip => archive::read_gzip(bytes, name, output),
        Format::Binary => {
            if let Some(promised) = detected.promised_text() {
                let reason = format!("the name says {promised}, but its bytes are not text");
                output.explain_no_text(ReadOutcome::Noise, reason);
            }
            if detected.is_encrypted {
                return Err(Error::Encrypted { format: detected.encrypted_format() });
            }
            Err(if detected.is_image {
                Error::Image { what: detected.what }
            } else {
                Error::Unsupported { what: detected.what }
            })
        }
    }
}

thread_local! {
    /// Where the last panic of this thread was, for whom a hook tells it.
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of a panic until its message is asked for; called by the worker's panic hook.
pub(crate) fn note_panic_place(place: Option<&Location>) {
    PANIC_PLACE.with_borrow_mut(|kept| *kept = place.map(ToString::to_string));
}

/// Gives what a panic said, and where it was if that is known.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = match panic.downcast_ref::<&str>() {
        Some(message) => (*message).to_owned(),
        None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no message".to_owned()),
    };
    match PANIC_PLACE.take() {
        Some(place) => format!("panicked at {place}: {message}"),
        None => format!("panicked: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place_where_that_is_known() {
        let panic = catch_unwind(|| panic!("row {}", 7)).unwrap_err();
        assert_eq!(panic_message(panic.as_ref()), "panicked: row 7");
        note_panic_place(Some(Location::caller()));
        let told = panic_message(panic.as_ref());
        assert!(told.starts_with("panicked at ") && told.ends_with(": row 7"), "{told}");
        // A place is told once.
        assert_eq!(panic_message(panic.as_ref()), "panicked: row 7");
    }
}
