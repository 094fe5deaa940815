//! Text in drawings: the paragraphs of shapes and diagrams.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::markup::XmlEvent;
use crate::ooxml::package::Package;
use crate::output::Output;

/// Pushes every paragraph of DrawingML text in a part.
pub(crate) fn push_drawing_text(
    package: &Package,
    part: &str,
    pointer: &Pointer,
    kind: BlockKind,
    output: &mut Output,
) -> Result<()> {
    let text = package.text_or_warn(part, output)?;
    let mut reader = package.walk(&text, output);
    let mut paragraph = String::new();
    let mut in_text = false;
    let mut n_skipped = 0_usize;
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => {
                let name = tag.local_name();
                let name = name.as_ref();
                if n_skipped > 0 || name == "Fallback" {
                    n_skipped += 1;
                } else {
                    in_text = name == "t" || name == "text";
                    if name == "br" {
                        paragraph.push('\n');
                    }
                }
            }
            Ok(Some(XmlEvent::End(name))) => {
                in_text = false;
                if n_skipped > 0 {
                    n_skipped -= 1;
                } else if matches!(name.as_str(), "p" | "text") {
                    output.push(kind, pointer, &paragraph)?;
                    paragraph.clear();
                }
            }
            Ok(Some(XmlEvent::Text(text))) if in_text && n_skipped == 0 => {
                paragraph.push_str(&text)
            }
            Ok(Some(XmlEvent::Text(_))) => {}
            Ok(None) => break,
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => {
                output.warn_of(&error);
                break;
            }
        }
    }
    output.push(kind, pointer, &paragraph)
}
