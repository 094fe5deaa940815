//! Writes the coefficients as Rust, with where they come from.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use retrieve::EvidenceKind;

use crate::newton::Curve;
use crate::rows::Row;

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
    fs_err::write(project_file("crates/retrieve/src/coefficients.rs"), text)?;
    Ok(())
}

fn constant(kind: EvidenceKind) -> String {
    format!("{kind:?}").to_uppercase()
}
