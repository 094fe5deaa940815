//! What the console is given beyond the services: its secret, the configuration in force, and
//! facts about store, disk and models.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use anyhow::Context;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use serve::ConsoleSettings;
use store::{Access, Store};

use super::SharedState;
use super::console_models::models;
use super::health::free_bytes;
use super::shared_state::NOT_WRITABLE;
use crate::commands::{LAST_BACKUP, check};
use crate::config::Config;

/// A secret shorter than this can be guessed.
const MIN_SECRET_CHARS: usize = 32;

/// Makes the console's settings. Fails when its secret cannot be read or written.
pub(super) fn console(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<ConsoleSettings> {
    // Nobody enters the console of data that is only read.
    let folder = match shared_state.access() {
        Access::Write => config.data_dir.clone(),
        Access::Read => shared_state.made_again("console")?,
    };
    let mut settings = ConsoleSettings::open(&folder, &config.console).context(NOT_WRITABLE)?;
    if let Some(name) = &config.console.secret_env {
        let secret = std::env::var(name).unwrap_or_default();
        anyhow::ensure!(
            secret.len() >= MIN_SECRET_CHARS,
            "`console.secret_env` names the variable `{name}`, which holds {} characters: at least \
             {MIN_SECRET_CHARS} are needed",
            secret.chars().count()
        );
        settings = settings.with_secret(&secret);
    }
    settings.started_at = shared_state.clock.now();
    settings.configuration = Value::Object(in_force(&format!("{config:#?}")));
    let store = shared_state.open_store()?.store.clone();
    settings.sessions = serve::Sessions::kept_in(store.objects());
    settings.generation = generation(Arc::clone(&store));
    let checked = shared_state.clone();
    settings.check = Arc::new(move |app: &serve::App| check::examined(&checked, app));
    let keys = keys(config);
    let (data_dir, config, embedder) =
        (config.data_dir.clone(), config.clone(), Arc::clone(&shared_state.embedder));
    settings.facts = Arc::new(move || {
        json!({
            "keys": keys,
            "backup": last_backup(&data_dir),
            "store": namespaces(&store, &embedder.state()),
            "disk": disk(&data_dir),
            "models": models(&config, &embedder.state()),
        })
    });
    Ok(settings)
}

/// How old a known generation may be before it is looked at again.
const GENERATION_AGE: Duration = Duration::from_secs(1);

/// How long a call waits for the generation; a catalogue may be far away.
const GENERATION_WAIT: Duration = Duration::from_millis(20);

/// Gives how many changes the store has seen.
fn generation(store: Arc<Store>) -> Arc<dyn Fn() -> Option<u64> + Send + Sync> {
    let ask = remembered(GENERATION_AGE, GENERATION_WAIT, move || {
        let heads = store.catalogue().heads().ok()?;
        Some(heads.iter().map(|head| head.sequence).sum())
    });
    // The first answer that is kept finds the number known.
    ask();
    ask
}

/// Gives a number that is looked at again once it is older than `age`, by a thread of its own.
/// Whoever has it looked at waits no longer than `wait`; a number that is much older is given to
/// nobody, since what an answer was made from would then be told wrongly.
fn remembered(
    age: Duration,
    wait: Duration,
    look: impl Fn() -> Option<u64> + Send + Sync + 'static,
) -> Arc<dyn Fn() -> Option<u64> + Send + Sync> {
    let (known, look) = (Arc::new(Mutex::new(KnownGeneration::default())), Arc::new(look));
    Arc::new(move || {
        {
            let mut now = known.lock();
            // The new number comes at once; those who ask meanwhile take the one before it.
            let age = if now.is_looking { age * 5 } else { age };
            if now.looked_at.is_some_and(|at| at.elapsed() < age) {
                return now.generation;
            }
            if now.is_looking {
                return None;
            }
            now.is_looking = true;
        }
        let (tell, told) = sync_channel(1);
        let (known, look) = (Arc::clone(&known), Arc::clone(&look));
        std::thread::spawn(move || {
            let generation = look();
            *known.lock() =
                KnownGeneration { generation, looked_at: Some(Instant::now()), is_looking: false };
            // Whoever asked may have gone on.
            let _ = tell.send(generation);
        });
        told.recv_timeout(wait).ok().flatten()
    })
}

/// What is known of the generation, and since when.
#[derive(Default)]
struct KnownGeneration {
    generation: Option<u64>,
    looked_at: Option<Instant>,
    is_looking: bool,
}

/// The API keys of the configuration: who holds them and what they may do, never the keys.
fn keys(config: &Config) -> Value {
    let keys = config.auth.keys.iter().map(|key| {
        json!({
            "name": key.name, "tenant": key.tenant.to_string(), "department": key.department,
            "clearance": key.clearance.to_string(), "roles": key.roles, "variable": key.key_env,
        })
    });
    keys.collect()
}

/// When everything was last copied, as the backup itself wrote down.
fn last_backup(data_dir: &Path) -> Value {
    let file = fs_err::read(data_dir.join(LAST_BACKUP));
    file.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

/// Documents, passages and vectors of each namespace; passages without a vector lag behind.
/// Counts what is in the store.
fn namespaces(store: &Store, embedder: &infer::ModelState) -> Value {
    let namespaces = match store.namespaces() {
        Ok(namespaces) => namespaces,
        Err(error) => return json!(format!("the store does not answer: {error}")),
    };
    let rows = namespaces.iter().filter_map(|info| {
        let counts = store.counts(&info.id).ok()?;
        let is_wanted = *embedder != infer::ModelState::Off;
        Some(json!({
            "namespace": info.id.to_string(),
            "documents": counts.n_documents,
            "passages": counts.n_passages,
            "vectors": counts.n_vectors,
            "without a vector": match is_wanted {
                true => json!(counts.n_passages.saturating_sub(counts.n_vectors)),
                false => json!("none is wanted"),
            },
        }))
    });
    Value::Array(rows.collect())
}

/// Folders of the data folder that are looked into, so that a huge one does not hold up a page.
const MAX_LOOKED_AT: usize = 20_000;

/// What the parts of the data folder take, the largest first, and what is free beside them. Files
/// that are no folder are small, and counted together.
fn disk(data_dir: &Path) -> Value {
    let Ok(entries) = fs_err::read_dir(data_dir) else {
        return json!("the data folder cannot be read");
    };
    let mut parts: Vec<(String, u64, bool)> = Vec::new();
    let mut n_other = 0;
    for entry in entries.flatten() {
        let (n_bytes, is_cut) = size_of(&entry.path());
        match entry.path().is_dir() {
            true => {
                parts.push((entry.file_name().to_string_lossy().into_owned(), n_bytes, is_cut));
            }
            false => n_other += n_bytes,
        }
    }
    parts.push(("Others".to_owned(), n_other, false));
    parts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let parts = parts
        .into_iter()
        .map(|(name, n_bytes, is_cut)| json!({ "name": name, "bytes": n_bytes, "is_cut": is_cut }));
    json!({
        "folder": fs_err::canonicalize(data_dir).unwrap_or(data_dir.to_owned()).display().to_string(),
        "free": free_bytes(data_dir),
        "parts": parts.collect::<Value>(),
    })
}

/// The bytes of a file, or of everything in a folder, and whether some of it was not looked at.
fn size_of(path: &Path) -> (u64, bool) {
    let mut waiting = vec![path.to_owned()];
    let (mut n_bytes, mut n_seen) = (0, 0);
    while let Some(path) = waiting.pop() {
        n_seen += 1;
        if n_seen > MAX_LOOKED_AT {
            return (n_bytes, true);
        }
        match fs_err::symlink_metadata(&path) {
            Ok(file) if file.is_file() => n_bytes += file.len(),
            Ok(file) if file.is_dir() => {
                if let Ok(inside) = fs_err::read_dir(&path) {
                    waiting.extend(inside.flatten().map(|entry| entry.path()));
                }
            }
            _ => {}
        }
    }
    (n_bytes, false)
}

/// Turns the pretty debug form of the configuration into settings with dotted names. The
/// configuration names variables, not secrets; what may hold one all the same is hidden.
fn in_force(debug: &str) -> Map<String, Value> {
    let mut settings = Map::new();
    // The names that lead to the line, and how many elements a list has had.
    let mut path: Vec<(String, usize)> = Vec::new();
    for line in debug.lines().skip(1) {
        let line = line.trim().trim_end_matches(',');
        if matches!(line, "}" | "]" | ")" | "},") {
            path.pop();
            continue;
        }
        let (name, value) = match line.split_once(": ") {
            Some((name, value)) if is_name(name) => (name.to_owned(), value),
            _ => {
                let Some((_, n_elements)) = path.last_mut() else { continue };
                *n_elements += 1;
                (n_elements.to_string(), line)
            }
        };
        if value.ends_with(['{', '[', '(']) {
            path.push((name, 0));
            continue;
        }
        let names: Vec<&str> =
            path.iter().map(|(name, _)| name.as_str()).chain([name.as_str()]).collect();
        settings.insert(names.join("."), json!(shown(&name, value)));
    }
    settings
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        || (text.starts_with('"') && text.ends_with('"'))
}

fn shown(name: &str, value: &str) -> String {
    let is_secret = ["secret", "password", "token", "key"].iter().any(|word| name.ends_with(word));
    if is_secret && value != "None" {
        return "(hidden)".to_owned();
    }
    let value = value.trim_start_matches("Some(").trim_end_matches(')').trim_matches('"');
    // An address may carry a password: postgres://user:password@host
    match (value.find("://"), value.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}(hidden){}", &value[..scheme + 3], &value[at..])
        }
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_dotted_names_and_no_secrets() {
        let config = Config::default();
        let settings = in_force(&format!("{config:#?}"));
        assert_eq!(settings["server.listen"], "127.0.0.1:7700");
        assert_eq!(settings["limits.result_chars"], "100000");
        assert_eq!(settings["audit.keep_answers_days"], "7");
        assert_eq!(shown("url", "Some(\"postgres://u:p@h/db\")"), "postgres://(hidden)@h/db");
        assert_eq!(shown("api_key", "\"abc\""), "(hidden)");
        assert_eq!(shown("api_key_env", "\"ABC\""), "ABC");
    }

    #[test]
    fn a_number_that_changed_is_not_told_as_it_was() {
        let number = Arc::new(Mutex::new(0));
        let looked = Arc::clone(&number);
        let long = Duration::from_secs(60);
        let ask = remembered(Duration::ZERO, long, move || Some(*looked.lock()));
        for now in 0..5 {
            *number.lock() = now;
            assert_eq!(ask(), Some(now));
        }
        let looked = Arc::clone(&number);
        let slow =
            remembered(Duration::ZERO, Duration::from_millis(5), move || Some(*looked.lock()));
        let held = number.lock();
        assert_eq!(slow(), None, "nobody waits for a catalogue that is far away");
        drop(held);
    }

    #[test]
    fn the_largest_part_of_the_data_folder_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, n_bytes) in [("audit/a", 10), ("store/deep/b", 500), ("secret", 32)] {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, vec![0; n_bytes]).unwrap();
        }
        let disk = disk(folder.path());
        let parts: Vec<(&str, u64)> = disk["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| (part["name"].as_str().unwrap(), part["bytes"].as_u64().unwrap()))
            .collect();
        assert_eq!(parts, [("store", 500), ("Others", 32), ("audit", 10)]);
    }

    #[test]
    fn lists_are_numbered() {
        let debug = "Config {\n    files: FilesConfig {\n        roots: [\n            Path(\n                \"/a\",\n            ),\n        ],\n        watch: true,\n    },\n}";
        let settings = in_force(debug);
        assert_eq!(settings["files.watch"], "true");
        assert!(settings.values().any(|value| value == "/a"), "{settings:?}");
    }
}
