//! The page of commands and flags: what `--help` prints, for every command.

use std::path::Path;
use std::process::Command;

use super::{Page, heading};
use crate::process::{self, Limit};

/// How long the binary may take to print its help.
const HELP: Limit = Limit::minutes("`--help`", 1);
/// How deep commands have commands of their own.
const MAX_DEPTH: usize = 3;

/// Walks the commands from the top and makes one section for each.
pub(super) fn page(binary: &Path) -> anyhow::Result<Page> {
    let mut text = heading(
        "Command line",
        "What can be typed. Settings are in [configuration](configuration.md).",
    );
    let mut waiting: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = waiting.pop() {
        let help = help_of(binary, &words)?;
        text.push_str(&format!(
            "\n## dowse {}\n\n```text\n{}\n```\n",
            words.join(" "),
            help.trim_end()
        ));
        if words.len() < MAX_DEPTH {
            let inner = commands_in(&help).into_iter().rev();
            waiting.extend(inner.map(|command| [words.clone(), vec![command]].concat()));
        }
    }
    Ok(Page { name: "command-line.md", text: text.replace("## dowse \n", "## dowse\n") })
}

fn help_of(binary: &Path, words: &[String]) -> anyhow::Result<String> {
    let mut command = Command::new(binary);
    command.args(words).arg("--help");
    // Help shows the values of variables that are set; the page is about none.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DOWSE_") {
            command.env_remove(name);
        }
    }
    let finished = process::read(command, HELP)?;
    anyhow::ensure!(finished.status.success(), "`--help` failed: {}", finished.stderr);
    Ok(finished.stdout.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

/// Reads the names under `Commands:`.
fn commands_in(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.trim().is_empty());
    // Descriptions that go on in the next line are indented further than names.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_help() {
        let help = "Usage: dowse\n\nCommands:\n  demo   Build a world\n         of data\n  serve  Serve\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(commands_in(help), ["demo", "serve"]);
        assert!(commands_in("Usage: dowse check").is_empty());
    }
}
