//! The page of formats: what is read of each, how places in it are named, and the limits.

use anyhow::Context;

use super::{Page, cell, heading};
use crate::project;

/// The table that the product itself uses.
const TABLE: &str = "crates/extract/src/formats.tsv";

/// Where the limits on one document are.
const CAPS: &str = "crates/extract/src/caps.rs";

pub(super) fn page() -> anyhow::Result<Page> {
    let mut text = heading(
        "Formats",
        "What is read of each kind of file. The content decides what a file is, its extension only where the content leaves a choice. Every file has one outcome: `indexed`, or the reason why searches find it by its name alone (`no_text`, `scan`, `image`, `empty`, `noise`, `encrypted`, `broken`, `too_large`, `unsupported`, `unreadable`, `failed`); `dowse extract FILE` shows it with all that is read.",
    );
    text.push_str(
        "| format | extensions | places | what is read | limits |\n|---|---|---|---|---|\n",
    );
    let table = fs_err::read_to_string(project::root().join(TABLE))?;
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [format, extensions, pointer, reads, limits] = cells.as_slice() else {
            anyhow::bail!("a row of {TABLE} has {} cells, 5 are expected: `{row}`", cells.len());
        };
        let pointer = pointer.split(", ").map(|one| format!("`{one}`")).collect::<Vec<_>>();
        text.push_str(&format!(
            "| {format} | {extensions} | {} | {} | {} |\n",
            pointer
                .join(", ")
                .replace("`where the file marks pages`", "where the file marks pages"),
            cell(reads),
            cell(limits)
        ));
    }
    text.push_str("\nInside an archive, a message or a book the place is the inner path and the place in it, such as `report.zip > q2.docx > page 3`.\n");
    text.push_str("\n## Limits of every document\n\nWhat is read before a limit is kept, and a warning names the limit.\n\n| limit | value | what for |\n|---|---|---|\n");
    for (name, value, what) in caps(&fs_err::read_to_string(project::root().join(CAPS))?)? {
        text.push_str(&format!("| `{name}` | `{}` | {} |\n", cell(&value), cell(&what)));
    }
    Ok(Page { name: "formats.md", text })
}

/// Gives the fields of `Caps` with their standard values and what they are for.
fn caps(source: &str) -> anyhow::Result<Vec<(String, String, String)>> {
    let fields = source.split("pub struct Caps {").nth(1).context("no `struct Caps`")?;
    let fields = fields.split("\n}").next().unwrap_or_default();
    let values = source.split("        Caps {\n").nth(1).context("no standard `Caps`")?;
    let mut caps = Vec::new();
    let mut comment = Vec::new();
    for line in fields.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            comment.push(sentence.trim());
        } else if let Some((name, _)) = line.strip_prefix("pub ").and_then(|it| it.split_once(": "))
        {
            let value = values
                .lines()
                .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "))
                .with_context(|| format!("`{name}` has no standard value"))?;
            let what = std::mem::take(&mut comment).join(" ").replace(['[', ']'], "");
            caps.push((name.to_owned(), value.trim_end_matches(',').to_owned(), what));
        }
    }
    Ok(caps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_the_one_that_is_written() {
        let page = page().unwrap();
        let written =
            fs_err::read_to_string(project::root().join("docs/reference").join(page.name));
        assert_eq!(written.unwrap(), format!("{}\n", page.text.trim_end()));
    }

    #[test]
    fn every_limit_has_a_value_and_a_sentence() {
        let source = fs_err::read_to_string(project::root().join(CAPS)).unwrap();
        let caps = caps(&source).unwrap();
        assert!(caps.iter().any(|(name, value, _)| name == "input_bytes" && value == "256 << 20"));
        assert!(caps.iter().all(|(_, value, what)| !value.is_empty() && !what.is_empty()));
    }
}
