//! `dowse completions` and `dowse man`: both made from the flags themselves.

use clap::CommandFactory;
use serde_json::json;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::print;

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dowse", &mut script);
    if args.json {
        let script = String::from_utf8_lossy(&script);
        return print::json(&json!({ "shell": args.shell.to_string(), "script": script }));
    }
    print::whole(&script);
    Ok(())
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
