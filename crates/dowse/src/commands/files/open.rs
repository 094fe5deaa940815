//! `dowse open`.

use std::path::{Component, Path, PathBuf};

use ::files::{PreviewRequest, Service};
use anyhow::Context;
use model::Caller;
use serde_json::json;

use crate::commands::Outcome;
use crate::commands::host::Host;
use crate::commands::reach::{Form, typed};
use crate::commands::sets::{
    Need, SEARCHES_BASES, Set, is_no_folders, names_bases, open_all, serves_no_folders,
};
use crate::config::Remembered;
use crate::control::Typed;
use crate::files_cli::OpenArgs;
use crate::print;

pub(crate) fn open(args: &OpenArgs) -> anyhow::Result<Outcome> {
    let path = std::path::absolute(&args.path)?;
    let resolved = fs_err::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let mut sets = open_all(&args.files, &[], Need::Index, |data| {
        // The path says which set is meant, wherever it was indexed from.
        let sets: Vec<Remembered> = data.here().into_iter().chain(data.all()).collect();
        let holds = |set: &&Remembered| set.folders.iter().any(|one| resolved.starts_with(one));
        // An earlier version did not write down which folders its data is of.
        let is_unnamed = |set: &&Remembered| set.folders.is_empty();
        let chosen = sets.iter().find(holds).or_else(|| sets.iter().find(is_unnamed));
        anyhow::ensure!(chosen.is_some() || sets.is_empty(), in_no_folder(&path));
        Ok(chosen.cloned().into_iter().collect())
    })?;
    let opened = sets.pop().context("nothing was opened")?;
    let shown = opened.and_then(|set| match set {
        Set::Running(connection) => Ok(Outcome::of(connection.run(typed(Form::Typed)?)?)),
        Set::Here { service, .. } => {
            show(&service, &without_steps_up(path.clone()), args, args.json)
        }
    });
    // Data that is of no folders was the last that could have held it.
    shown.map_err(|error| match is_no_folders(&error) {
        true if names_bases(&error) => {
            anyhow::anyhow!("{}; {SEARCHES_BASES}", in_no_folder(&path))
        }
        true => anyhow::anyhow!(in_no_folder(&path)),
        false => error,
    })
}

/// What is said of a file outside of everything that was indexed.
fn in_no_folder(path: &Path) -> String {
    format!(
        "`{}` is in no folder that was indexed\n\
         hint: `dowse status` lists the folders; `dowse extract FILE` reads any file",
        path.display()
    )
}

/// Shows a file that a running server has indexed.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &OpenArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let service = app.files.as_ref().ok_or_else(|| serves_no_folders(&host.shared_state))?;
    let path = without_steps_up(typed.folder.join(&args.path));
    show(service, &path, args, args.json || typed.is_json)
}

/// Gives a path as a search prints it, where `..` is in it.
fn without_steps_up(path: PathBuf) -> PathBuf {
    match path.components().any(|part| part == Component::ParentDir) {
        true => fs_err::canonicalize(&path).unwrap_or(path),
        false => path,
    }
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
    let why = preview.without_text.as_ref().map(|why| match why.is_passing() {
        true => format!("{}; `dowse index` takes it in", why.message()),
        false => why.message(),
    });
    if is_json {
        let mut opened = json!({ "path": preview.path, "pointer": preview.pointer, "text": text });
        if let Some(why) = &why {
            opened["warnings"] = json!([why]);
        }
        print::json(&opened)?;
    } else {
        print::note(format!("{} ({})", preview.path, preview.pointer));
        match &why {
            Some(why) => print::note(format!("note: {why}")),
            None => print::line(text),
        }
    }
    Ok(if why.is_some() { Outcome::Problems } else { Outcome::Done })
}
