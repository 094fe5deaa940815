//! `dowse extract`: what is seen in a file, and why a file was not found.

use ::extract::{Caps, Pool, PoolConfig};
use anyhow::Context;
use serde_json::json;

use crate::files_cli::ExtractArgs;
use crate::print;

pub(super) fn run(args: &ExtractArgs) -> anyhow::Result<()> {
    let pool = Pool::new(PoolConfig::this_executable()?);
    let shown = args.file.display();
    anyhow::ensure!(args.file.exists(), "there is no file `{shown}`\nhint: check the path");
    anyhow::ensure!(
        args.file.is_file(),
        "`{shown}` is not a file\nhint: name a file; `dowse index FOLDER` takes in a folder"
    );
    let (document, warnings) =
        pool.extract_file(&args.file, &args.file.to_string_lossy(), &Caps::standard());
    if args.json {
        let value = json!({ "document": document, "warnings": warnings });
        print::line(serde_json::to_string_pretty(&value).context("the text is no JSON")?);
        return Ok(());
    }
    print::line(format!("format   {:?}", document.format));
    if let Some(title) = &document.title {
        print::line(format!("title    {title}"));
    }
    print::line(format!("outcome  {}", document.outcome));
    if let Some(reason) = &document.reason {
        print::line(format!("reason   {reason}"));
    }
    for warning in &warnings {
        print::line(format!("warning  {}: {}", warning.code, warning.message));
    }
    let mut place = None;
    for block in &document.blocks {
        if place.as_ref() != Some(&block.pointer) {
            print::line(format!("\n── {}", block.pointer));
            place = Some(block.pointer.clone());
        }
        print::line(&block.text);
    }
    Ok(())
}
