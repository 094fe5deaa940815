//! The files of clients: does what they start exist, and do the servers that they name answer?

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, machine};
use crate::commands::connect::client_files;

/// Looks at every client file that is here and names Dowse.
pub(super) fn findings() -> Vec<Finding> {
    let files = client_files().into_iter().filter(|(_, file, _)| file.is_file());
    files.flat_map(|(client, file, key)| of_file(&client, &file, key)).collect()
}

fn of_file(client: &str, file: &Path, key: &str) -> Vec<Finding> {
    let check = format!("client {client}");
    let shown = file.display();
    let text = match fs_err::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let remedy = "give this user the right to read it";
            return vec![Finding::problem(&check, error.to_string(), remedy)];
        }
    };
    let whole: Option<Value> = match file.extension().is_some_and(|it| it == "toml") {
        true => toml::from_str(&text).ok(),
        false => serde_json::from_str(&text).ok(),
    };
    let Some(whole) = whole else {
        // Several clients allow comments, which only they understand.
        return vec![Finding::ok(&check, format!("{shown} is not plain JSON; it was not read"))];
    };
    let servers = whole[key].as_object().into_iter().flatten();
    servers.filter_map(|(name, entry)| of_entry(&check, &shown.to_string(), name, entry)).collect()
}

/// Looks at one server of a client; nothing for one that is not Dowse.
fn of_entry(check: &str, file: &str, name: &str, entry: &Value) -> Option<Finding> {
    let command = entry["command"].as_str();
    let is_dowse = |command: &str| Path::new(command).file_stem().is_some_and(|it| it == "dowse");
    if name != "dowse" && !command.is_some_and(is_dowse) {
        return None;
    }
    if let Some(command) = command {
        let is_here = match Path::new(command).is_absolute() {
            true => Path::new(command).is_file(),
            false => on_path(command).is_some(),
        };
        return Some(match is_here {
            true => Finding::ok(check, format!("`{name}` starts `{command}`")),
            false => Finding::problem(
                check,
                format!("`{name}` in {file} starts `{command}`, which is not there"),
                "run `dowse connect` again with `--write`",
            ),
        });
    }
    let url = entry["url"].as_str().or_else(|| entry["httpUrl"].as_str())?;
    Some(match machine::answers(url) {
        Ok(()) => Finding::ok(check, format!("`{name}` calls `{url}`, which answers")),
        Err(error) => Finding::problem(
            check,
            format!("`{name}` in {file} calls `{url}`: {}", model::with_causes(&error)),
            "start the server with `dowse serve`, or run `dowse connect` again",
        ),
    })
}

fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::doctor::State;

    #[test]
    fn what_is_started_must_be_there_and_others_are_left_alone() {
        let look = |entry| of_entry("client x", "file", "dowse", &entry);
        let gone = look(json!({ "command": "/nowhere/dowse", "args": ["mcp"] })).unwrap();
        assert_eq!(gone.state, State::Problem);
        let this = std::env::current_exe().unwrap();
        assert_eq!(look(json!({ "command": this })).unwrap().state, State::Ok);
        let port = testkit::free_port();
        let closed = look(json!({ "url": format!("http://127.0.0.1:{port}/mcp") })).unwrap();
        assert_eq!(closed.state, State::Problem);
        assert_eq!(of_entry("c", "f", "other", &json!({ "command": "npx" })), None);
    }
}
