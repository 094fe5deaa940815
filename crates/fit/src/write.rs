//! Writes the coefficients as Rust, with where they come from.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use retrieve::EvidenceKind;

use crate::newton::Curve;
use crate::rows::Row;

/// Where the coefficients are.
const FILE: &str = "crates/retrieve/src/coefficients.rs";

/// What the file says where its level was moved afterwards.
const LEVEL: &str = "//! With vectors, their level was moved by `cargo xtask fit --level`: of all off-topic queries, in\n\
                     //! one language and across, at most 1 % reach 0.6.";

/// Gives a file of the project by its path from the project's root.
pub(crate) fn project_file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Writes `coefficients.rs`.
pub(crate) fn coefficients(rows: &[Row], fitted: &[(EvidenceKind, Curve)]) -> anyhow::Result<()> {
    let mut sets: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_held_out) {
        *sets.entry(&row.set).or_default() += 1;
    }
    let mut text = String::from(
        "//! The coefficients of the score, written by `cargo xtask fit`. Not edited by hand.\n//!\n\
         //! Fitted on the queries that are not held out of these judged sets (name, queries):\n",
    );
    for (set, n_queries) in sets {
        writeln!(text, "//! {set}, {n_queries};")?;
    }
    text.push_str(
        "\nuse crate::features::EvidenceKind;\n\n\
         /// Gives the coefficients of a kind of evidence, in the order of its figures.\n\
         pub(crate) fn coefficients(kind: EvidenceKind) -> &'static [f64] {\n    match kind {\n",
    );
    for (kind, _) in fitted {
        writeln!(text, "        EvidenceKind::{kind:?} => &{},", constant(*kind))?;
    }
    text.push_str("    }\n}\n");
    for (kind, curve) in fitted {
        writeln!(text, "\nconst {}: [f64; {}] = [", constant(*kind), curve.len())?;
        for (name, weight) in kind.names().iter().zip(curve) {
            writeln!(text, "    {weight:.4}, // {name}")?;
        }
        text.push_str("];\n");
    }
    fs_err::write(project_file(FILE), text)?;
    Ok(())
}

/// Writes the level into `coefficients.rs` and leaves the rest of it as it is.
pub(crate) fn level(fitted: &[(EvidenceKind, Curve)]) -> anyhow::Result<()> {
    let text = fs_err::read_to_string(project_file(FILE))?;
    fs_err::write(project_file(FILE), with_level(text, fitted)?)?;
    Ok(())
}

fn with_level(mut text: String, fitted: &[(EvidenceKind, Curve)]) -> anyhow::Result<String> {
    if !text.contains(LEVEL) {
        text = text.replacen("\n\nuse ", &format!("\n//!\n{LEVEL}\n\nuse "), 1);
    }
    for (kind, curve) in fitted {
        let begin = format!("const {}: ", constant(*kind));
        let (before, after) = text.split_once(&begin).context("a kind has no coefficients yet")?;
        let (own, rest) = after.split_once("];").context("a list of coefficients has no end")?;
        let mut lines = String::new();
        for line in own.lines() {
            let name = line.split_once("// ").map(|(_, name)| name);
            let idx = kind.names().iter().position(|known| Some(*known) == name);
            match (idx.and_then(|idx| curve.get(idx)), name) {
                (Some(weight), Some(name)) => writeln!(lines, "    {weight:.4}, // {name}")?,
                _ => writeln!(lines, "{line}")?,
            }
        }
        text = format!("{before}{begin}{lines}];{rest}");
    }
    Ok(text)
}

fn constant(kind: EvidenceKind) -> String {
    format!("{kind:?}").to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_written_over_the_one_before_and_the_provenance_stays() {
        let text = "//! Fitted on:\n//! adi, 119;\n\nuse crate::features::EvidenceKind;\n\n\
                    const WORDS: [f64; 2] = [\n    -2.1886,  // one\n    0.3118,   // ln content\n];\n";
        let mut curve = EvidenceKind::Words.coefficients().to_vec();
        (curve[0], curve[1]) = (-3.0, 0.25);
        let written = with_level(text.to_owned(), &[(EvidenceKind::Words, curve.clone())]).unwrap();
        let (head, list) = written.split_once("\n\nuse ").unwrap();
        assert_eq!(head, format!("//! Fitted on:\n//! adi, 119;\n//!\n{LEVEL}"));
        assert!(
            list.ends_with("[\n    -3.0000, // one\n    0.2500, // ln content\n];\n"),
            "{list}"
        );
        let again = with_level(written.clone(), &[(EvidenceKind::Words, curve)]).unwrap();
        assert_eq!(again, written);
    }
}
