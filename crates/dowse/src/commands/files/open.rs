//! `dowse open`.

use std::path::Path;

use ::files::{PreviewRequest, Service};
use anyhow::Context;
use model::Caller;
use serde_json::json;

use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, typed};
use crate::commands::sets::{Need, Set, open_all};
use crate::control::Typed;
use crate::files_cli::OpenArgs;
use crate::print;

/// What a server without folders says.
pub(super) const NO_FOLDERS: &str =
    "the running server serves no folders\nhint: name some in its configuration";

pub(crate) fn open(args: &OpenArgs) -> anyhow::Result<Outcome> {
    let path = std::path::absolute(&args.path)?;
    let resolved = fs_err::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let mut is_elsewhere = false;
    let opened = open_all(&args.files, &[], Need::Index, |sets| {
        let holds = |set: &crate::config::Remembered| {
            // An earlier version did not write down which folders its data is of.
            set.folders.is_empty() || set.folders.iter().any(|one| resolved.starts_with(one))
        };
        let n_sets = sets.len();
        let holding: Vec<_> = sets.into_iter().filter(holds).take(1).collect();
        is_elsewhere = n_sets > 0 && holding.is_empty();
        holding
    });
    anyhow::ensure!(
        !is_elsewhere,
        "`{}` is in no folder that was indexed\n\
         hint: `dowse status` lists the folders; `dowse extract FILE` reads any file",
        path.display()
    );
    let mut sets = opened?;
    match sets.pop().context("nothing was opened")? {
        Set::Running(connection) => Ok(Outcome::of(connection.run(typed(Form::Typed)?)?)),
        Set::Here { service, .. } => show(&service, &path, args, args.json),
    }
}

/// Shows a file that a running server has indexed.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &OpenArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let service = app.files.as_ref().context(NO_FOLDERS)?;
    show(service, &typed.folder.join(&args.path), args, args.json || typed.is_json)
}

fn show(service: &Service, path: &Path, args: &OpenArgs, is_json: bool) -> anyhow::Result<Outcome> {
    let request = PreviewRequest {
        path: path.to_str().context("the path is not Unicode")?.to_owned(),
        pointer: args.pointer.clone(),
        before: args.before,
        after: args.after,
        ..PreviewRequest::default()
    };
    let preview = service.preview(&Caller::local_admin(), &request)?;
    let text = guard::redacted_piece(&preview.preview, &preview.around).0;
    if is_json {
        print::json(&json!({ "path": preview.path, "pointer": preview.pointer, "text": text }))?;
        return Ok(Outcome::Done);
    }
    print::note(format!("{} ({})", preview.path, preview.pointer));
    print::line(text);
    Ok(Outcome::Done)
}
