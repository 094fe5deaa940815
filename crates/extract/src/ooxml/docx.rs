//! A Word document: its body, then what is around it (headers, notes, comments, charts).

use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::Result;
use crate::ooxml::chart::push_chart;
use crate::ooxml::docx_body::{Body, Story};
use crate::ooxml::docx_numbering::Numbering;
use crate::ooxml::docx_styles::Styles;
use crate::ooxml::drawing::push_drawing_text;
use crate::ooxml::package::Package;
use crate::output::Output;

pub(crate) fn read_docx(bytes: &[u8], output: &mut Output) -> Result<()> {
    let package = Package::open(bytes, Format::Docx, output)?;
    package.note_properties(output)?;
    let main = package.main_part("word/document.xml", output)?;
    let relations = package.relations(&main, output)?;
    let part_of = |kind: &str| {
        relations
            .iter()
            .find(|relation| relation.kind == kind && !relation.part.is_empty())
            .map(|relation| relation.part.clone())
    };
    let styles_part = part_of("styles").unwrap_or_else(|| "word/styles.xml".to_owned());
    let styles = Styles::read(&package, &styles_part, output)?;
    let numbering_part = part_of("numbering").unwrap_or_else(|| "word/numbering.xml".to_owned());
    let mut numbering = Numbering::read(&package, &numbering_part, output)?;

    let text = package.text(&main, output)?.unwrap_or_default();
    let outcome = Body::new(&styles, &mut numbering, Story::Main).read(&package, &text, output);
    if let Err(error) = outcome {
        if error.stops_everything() {
            return Err(error);
        }
        output.warn_of(&error);
    }

    let mut seen = Vec::new();
    for relation in &relations {
        if relation.part.is_empty() || seen.contains(&relation.part) {
            continue;
        }
        seen.push(relation.part.clone());
        let story = match relation.kind.as_str() {
            "header" | "footer" => Story::Margin,
            "footnotes" | "endnotes" => Story::Notes,
            "comments" => Story::Comments,
            // Data of charts belong to the chart, not to the document.
            "package" => {
                package.read_embedded(&relation.part, output)?;
                continue;
            }
            "chart" => {
                push_chart(&package, &relation.part, &Pointer::Whole, output)?;
                continue;
            }
            "diagramData" => {
                let pointer = Pointer::Whole;
                push_drawing_text(&package, &relation.part, &pointer, BlockKind::Other, output)?;
                continue;
            }
            _ => continue,
        };
        let text = package.text_or_warn(&relation.part, output)?;
        let outcome = Body::new(&styles, &mut numbering, story).read(&package, &text, output);
        match outcome {
            Err(error) if error.stops_everything() => return Err(error),
            Err(error) => output.warn_of(&error),
            Ok(()) => {}
        }
    }
    output.explain_pictures(package.n_pictures());
    Ok(())
}
