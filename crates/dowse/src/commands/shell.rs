//! `dowse completions` and `dowse man`: both made from the flags themselves.

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::print;

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dowse", &mut script);
    if args.shell == Shell::Fish {
        script.extend(fish_values(&Cli::command()).into_bytes());
    }
    if args.json {
        let script = String::from_utf8_lossy(&script);
        return print::json(&json!({ "shell": args.shell.to_string(), "script": script }));
    }
    print::whole(&script);
    Ok(())
}

/// Gives the lines for arguments with a choice of values, such as `connect CLIENT`, which the
/// library leaves out for this shell.
fn fish_values(whole: &clap::Command) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let mut lines = String::new();
    for command in whole.get_subcommands() {
        for value in command.get_positionals().flat_map(clap::Arg::get_possible_values) {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            lines.push_str(&format!(
                "complete -c dowse -n '__fish_dowse_using_subcommand {}' -f -a '{}' -d '{}'\n",
                command.get_name(),
                quoted(value.get_name()),
                quoted(&help)
            ));
        }
    }
    lines
}

/// Prints the manual of the program, or writes a page for every command into a folder.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    match &args.folder {
        Some(folder) => {
            fs_err::create_dir_all(folder)?;
            clap_mangen::generate_to(Cli::command(), folder)?;
            if args.json {
                print::json(&json!({ "folder": folder }))?;
            }
            Ok(())
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            if args.json {
                return print::json(&json!({ "page": String::from_utf8_lossy(&page) }));
            }
            print::whole(&page);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `dowse connect cl` and Tab gave nothing in fish, unlike in the other shells.
    #[test]
    fn values_of_arguments_are_completed_in_every_shell() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dowse", &mut script);
            let mut script = String::from_utf8(script).unwrap();
            if shell == Shell::Fish {
                script.push_str(&fish_values(&Cli::command()));
            }
            for value in ["claude-desktop", "gemini", "powershell"] {
                assert!(script.contains(value), "{shell}: {value}");
            }
        }
        let lines = fish_values(&Cli::command());
        assert!(
            lines.contains(
                "-n '__fish_dowse_using_subcommand connect' -f -a 'claude' -d 'Claude Code'\n"
            ),
            "{lines}"
        );
    }
}
