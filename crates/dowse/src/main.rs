//! The binary: flags, configuration, wiring, exit code.

fn main() -> anyhow::Result<()> {
    Ok(())
}
