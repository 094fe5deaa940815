//! Which page a place of a Word document is on, as far as the file says.
//!
//! Pages are not in the format: they are where the last program to lay the document out wrote that
//! one began, and where the document forces one: a break, a paragraph that starts a page by itself
//! or by its style, a section. The program writes its mark for forced pages too, so a mark right
//! after one counts nothing. Documents that no program has laid out have forced pages alone, and
//! where a document says nothing at all, no page is named.

use crate::error::Result;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::docx_styles::Styles;
use crate::ooxml::package::Package;
use crate::output::Output;

/// Counts pages along the walk through the main story.
#[derive(Debug, Default)]
pub(super) struct Pages {
    page: Option<u32>,
    /// The page was forced, and nothing has come since.
    is_forced: bool,
    /// Text has come since the page began.
    has_text: bool,
    /// For each section, whether it begins a page.
    sections: Vec<bool>,
    section_idx: usize,
}

impl Pages {
    /// Looks through the document for marks of pages.
    pub(super) fn of(
        text: &str,
        styles: &Styles,
        package: &Package,
        output: &mut Output,
    ) -> Result<Self> {
        let sections = section_starts(text, package, output)?;
        let is_used = |style: &str| {
            ['"', '\''].iter().any(|quote| text.contains(&format!("={quote}{style}{quote}")))
        };
        let has_pages =
            ["lastRenderedPageBreak", "pageBreakBefore", "type=\"page\"", "type='page'"]
                .iter()
                .any(|mark| text.contains(mark))
                || sections.iter().skip(1).any(|begins_page| *begins_page)
                || styles.that_begin_pages().any(is_used);
        Ok(Pages { page: has_pages.then_some(1), sections, ..Pages::default() })
    }

    /// Gives the page, if the document names any.
    pub(super) fn current(&self) -> Option<u32> {
        self.page
    }

    /// A break was put in by hand.
    pub(super) fn forced(&mut self) {
        self.turn();
        self.is_forced = true;
    }

    /// A paragraph starts a page, unless it is at the start of one.
    pub(super) fn before_paragraph(&mut self) {
        if self.has_text {
            self.forced();
        }
    }

    /// The last layout began a page here.
    pub(super) fn laid_out(&mut self) {
        if self.is_forced {
            self.is_forced = false;
        } else {
            self.turn();
        }
    }

    /// A section ended; the next one says how it begins.
    pub(super) fn section_ended(&mut self) {
        self.section_idx += 1;
        if self.sections.get(self.section_idx) == Some(&true) {
            self.forced();
        }
    }

    /// Text was read.
    pub(super) fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.is_forced = false;
            self.has_text = true;
        }
    }

    fn turn(&mut self) {
        self.page = self.page.map(|page| page.saturating_add(1));
        self.has_text = false;
    }
}

/// Lists how sections begin. A section's properties are at its end, so they are read ahead.
fn section_starts(text: &str, package: &Package, output: &mut Output) -> Result<Vec<bool>> {
    // The last section's properties are in every document.
    if text.matches("sectPr").count() <= 2 {
        return Ok(Vec::new());
    }
    let mut starts = Vec::new();
    let mut begins_page = None;
    let mut n_changes = 0_usize;
    let mut reader = package.walk(text, output);
    loop {
        match reader.next(output) {
            Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                "sectPrChange" => n_changes += 1,
                "sectPr" if n_changes == 0 => begins_page = Some(true),
                "type" if n_changes == 0 && begins_page.is_some() => {
                    let kind = local_attribute(&tag, "val").unwrap_or_default();
                    begins_page = Some(!matches!(kind.as_str(), "continuous" | "nextColumn"));
                }
                _ => {}
            },
            Ok(Some(XmlEvent::End(name))) => match name.as_str() {
                "sectPrChange" => n_changes = n_changes.saturating_sub(1),
                "sectPr" if n_changes == 0 => starts.extend(begins_page.take()),
                _ => {}
            },
            Ok(Some(XmlEvent::Text(_))) => {}
            Ok(None) => return Ok(starts),
            Err(error) if error.stops_everything() => return Err(error),
            // The walk over the text tells of the damage.
            Err(_) => return Ok(starts),
        }
    }
}
