//! Chores of the project: `cargo xtask ci` is CI, word for word.

fn main() -> anyhow::Result<()> {
    Ok(())
}
