//! Chores of the project: `cargo xtask ci` is CI, word for word.
//!
//! Nothing here is part of the product, and nothing of the product is linked in: chores look at
//! the sources, at `cargo metadata`, and at the binary from outside, so that they build in
//! seconds and see what a user sees. Each chore is one file or one folder; this file only chooses.

mod process;
mod project;

mod testbed;

const USAGE: &str = "\
usage: cargo xtask CHORE

  testbed               install what the tests talk to, and print where it is
";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["testbed"] => testbed::print(),
        [] | ["help" | "--help" | "-h"] => {
            eprint!("{USAGE}");
            Ok(())
        }
        other => anyhow::bail!("unknown chore `{}`\n{USAGE}", other.join(" ")),
    }
}
