//! How a message is written down, whatever file it came from.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::output::Output;

/// What is above the body.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub(super) subject: String,
    /// Names and values, such as `From` and `Ana Pop <ana@example.org>`.
    pub(super) fields: Vec<(&'static str, String)>,
}

/// Pushes the subject as a heading and the fields as one block.
pub(super) fn push_envelope(
    envelope: &Envelope,
    pointer: &Pointer,
    output: &mut Output,
) -> Result<()> {
    output.set_title(&envelope.subject);
    output.push(BlockKind::Heading(1), pointer, &envelope.subject)?;
    let fields: Vec<String> = envelope
        .fields
        .iter()
        .filter(|(_, value)| !value.trim().is_empty())
        .map(|(name, value)| format!("{name}: {}", value.trim()))
        .collect();
    output.push(BlockKind::Other, pointer, fields.join("\n"))
}

pub(super) fn push_plain_body(text: &str, pointer: &Pointer, output: &mut Output) -> Result<()> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut paragraph = String::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            output.push(BlockKind::Paragraph, pointer, &paragraph)?;
            paragraph.clear();
        } else {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    output.push(BlockKind::Paragraph, pointer, &paragraph)
}
