//! Adding one server to a client's file, leaving everything else as it is.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use super::jsonc;

/// The largest client file that is read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The most links that are followed from a client's file to where it is.
const MAX_LINKS: usize = 16;

/// What happens to an entry of the same name that says something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherEntry {
    Refuse,
    Replace,
}

/// Adds an entry to a JSON file, whose comments and layout stay, and tells whether that changed
/// anything.
pub(super) fn add_to_json(
    file: &Path,
    key: &str,
    name: &str,
    entry: &Value,
    others: OtherEntry,
) -> anyhow::Result<bool> {
    let text = read(file)?;
    let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text };
    let left_alone = |why: &str| {
        let paste = json!({ key: { name: entry } });
        let paste = serde_json::to_string_pretty(&paste).unwrap_or_default();
        let shown = file.display();
        format!("{shown} {why}, so it was left alone\nhint: put this into it by hand:\n{paste}")
    };
    let mut wanted = jsonc::read(&text).with_context(|| left_alone("is not JSON"))?;
    let Some(servers) = wanted
        .as_object_mut()
        .map(|whole| whole.entry(key).or_insert_with(|| Value::Object(Map::new())))
        .and_then(Value::as_object_mut)
    else {
        bail!(left_alone(&format!("has no object `{key}`")));
    };
    match servers.get(name) {
        Some(present) if present == entry => return Ok(false),
        Some(_) if others == OtherEntry::Refuse => bail!(other_server(file, name)),
        Some(_) | None => {}
    }
    servers.insert(name.to_owned(), entry.clone());
    // What comes out is read again before the file is touched.
    let is_as_wanted = |text: &String| jsonc::read(text).is_ok_and(|now| now == wanted);
    let changed = jsonc::put(&text, &[key, name], entry).filter(is_as_wanted);
    replace(file, &changed.with_context(|| left_alone("is written in a form of its own"))?)?;
    Ok(true)
}

/// Adds a section to the end of a TOML file, whose comments and order stay, and tells whether
/// that changed anything. What comes out is read again before the file is touched: servers can be
/// listed in forms that no section can be added to.
pub(super) fn add_to_toml(
    file: &Path,
    name: &str,
    entry: &Value,
    others: OtherEntry,
) -> anyhow::Result<bool> {
    let text = read(file)?;
    let mut wanted: toml::Table = text
        .parse()
        .with_context(|| format!("{} is not TOML, so it was left alone", file.display()))?;
    let value: toml::Value = toml::Value::try_from(entry)?;
    let present = wanted.get(SERVERS).and_then(|servers| servers.get(name));
    let is_replaced = match present {
        Some(present) if *present == value => return Ok(false),
        Some(_) if others == OtherEntry::Refuse => bail!(other_server(file, name)),
        Some(_) => true,
        None => false,
    };
    let servers = wanted.entry(SERVERS).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let servers = servers.as_table_mut();
    let is_table = servers.is_some();
    if let Some(servers) = servers {
        servers.insert(name.to_owned(), value.clone());
    }
    let text = if is_replaced { without_section(&text, name) } else { text };
    // A file keeps the ends of its lines.
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with(&end.repeat(2)) {
        String::new()
    } else if text.ends_with('\n') {
        end.to_owned()
    } else {
        end.repeat(2)
    };
    let section = format!("{}\n", toml_section(name, entry)?).replace('\n', end);
    let text = format!("{text}{gap}{section}");
    let is_as_wanted = is_table && text.parse::<toml::Table>().is_ok_and(|now| now == wanted);
    if !is_as_wanted {
        let (shown, key) = (file.display(), toml_key(name));
        bail!(
            "{shown} lists its servers in a form that no section can be added to, so it was left \
             alone\n\
             hint: put this between the braces of `{SERVERS} = {{ … }}`, or make a section \
             `[{SERVERS}.{key}]` of it:\n{key} = {value}"
        );
    }
    replace(file, &text)?;
    Ok(true)
}

/// The table of a TOML file that lists servers.
const SERVERS: &str = "mcp_servers";

fn other_server(file: &Path, name: &str) -> String {
    format!(
        "{} has another server `{name}`, so it was left alone\n\
         hint: choose another name with `--name`, or replace it with `--replace`",
        file.display()
    )
}

/// Takes out the section of a server with those below it; the caller sees whether that was all.
fn without_section(text: &str, name: &str) -> String {
    let own = [toml_key(name), format!("\"{name}\""), format!("'{name}'")];
    let is_own = |header: &str| {
        let rest = header.strip_prefix(SERVERS).and_then(|rest| rest.strip_prefix('.'));
        let rest = |key: &String| rest.and_then(|rest| rest.strip_prefix(key.as_str()));
        own.iter().filter_map(rest).any(|after| after.starts_with([']', '.']))
    };
    let mut is_inside = false;
    let kept = text.split_inclusive('\n').filter(|line| {
        if let Some(header) = line.trim_start().strip_prefix('[') {
            is_inside = is_own(header);
        }
        !is_inside
    });
    kept.collect()
}

pub(super) fn toml_section(name: &str, entry: &Value) -> anyhow::Result<String> {
    let table: toml::Table =
        toml::Value::try_from(entry)?.try_into().context("an entry is a table")?;
    let key = toml_key(name);
    Ok(format!("[{SERVERS}.{key}]\n{}", toml::to_string(&table)?.trim_end()))
}

/// Writes a name as a key of a TOML file.
fn toml_key(name: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match !name.is_empty() && name.chars().all(is_letter) {
        true => name.to_owned(),
        false => toml::Value::String(name.to_owned()).to_string(),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    match fs_err::metadata(file) {
        Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
            bail!("{} has {} bytes, allowed are {MAX_FILE_BYTES}", file.display(), metadata.len())
        }
        Ok(_) => Ok(fs_err::read_to_string(file)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

/// Writes beside the file and renames, so that a client never sees half of it. A link stays one:
/// people keep such files elsewhere, and what it leads to is written.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let file = &behind_links(file)?;
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs_err::create_dir_all(folder)?;
    }
    let beside = file.with_extension(format!("dowse-{}", std::process::id()));
    let written = fs_err::write(&beside, text)
        .and_then(|()| match fs_err::metadata(file) {
            Ok(metadata) => fs_err::set_permissions(&beside, metadata.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs_err::rename(&beside, file));
    if written.is_err() {
        let _ = fs_err::remove_file(&beside);
    }
    written.with_context(|| {
        format!(
            "`{}` could not be written, so it is as it was\n\
             hint: leave `--write` out, and the lines to put into it are printed",
            file.display()
        )
    })
}

/// Follows links to where a file is, or would be.
fn behind_links(file: &Path) -> anyhow::Result<PathBuf> {
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        if !file.is_symlink() {
            return Ok(file);
        }
        let target = fs_err::read_link(&file)?;
        file = file.parent().unwrap_or(Path::new("")).join(target);
    }
    bail!("{} is more than {MAX_LINKS} links away, so it was left alone", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_servers_stay() {
        let folder = testkit::Folder::new();
        let file = folder.write("mcp.json", r#"{"theme": "x", "mcpServers": {"a": {"url": "u"}}}"#);
        let entry = json!({ "command": "dowse", "args": ["mcp"] });
        assert!(add_to_json(&file, "mcpServers", "dowse", &entry, OtherEntry::Refuse).unwrap());
        assert!(!add_to_json(&file, "mcpServers", "dowse", &entry, OtherEntry::Refuse).unwrap());
        let whole: Value = serde_json::from_str(&folder.read("mcp.json")).unwrap();
        let expected =
            json!({ "theme": "x", "mcpServers": { "a": { "url": "u" }, "dowse": entry } });
        assert_eq!(whole, expected);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone_and_what_to_paste_is_said() {
        let folder = testkit::Folder::new();
        let entry = json!({ "command": "dowse" });
        for text in ["{ \"a\": }", "[]", "null", "{\"mcpServers\": null}", "{\"mcpServers\": []}"] {
            let file = folder.write("settings.json", text);
            let added = add_to_json(&file, "mcpServers", "dowse", &entry, OtherEntry::Refuse);
            let said = added.unwrap_err().to_string();
            assert!(said.contains("left alone") && said.contains("\"command\""), "{text}: {said}");
            assert_eq!(folder.read("settings.json"), text);
        }
    }

    #[test]
    fn comments_of_a_toml_file_stay() {
        let folder = testkit::Folder::new();
        let file = folder.write("config.toml", "# mine\nmodel = \"x\"");
        let entry = json!({ "command": "dowse", "args": ["mcp", "/a b"] });
        assert!(add_to_toml(&file, "dowse", &entry, OtherEntry::Refuse).unwrap());
        assert!(!add_to_toml(&file, "dowse", &entry, OtherEntry::Refuse).unwrap());
        let text = folder.read("config.toml");
        assert_eq!(
            text,
            "# mine\nmodel = \"x\"\n\n[mcp_servers.dowse]\ncommand = \"dowse\"\nargs = [\"mcp\", \"/a b\"]\n"
        );
        let other = json!({ "url": "u" });
        let error = add_to_toml(&file, "dowse", &other, OtherEntry::Refuse).unwrap_err();
        assert!(error.to_string().contains("another server `dowse`"), "{error}");
        assert_eq!(folder.read("config.toml"), text);
        assert!(add_to_toml(&file, "dowse", &other, OtherEntry::Replace).unwrap());
        assert_eq!(
            folder.read("config.toml"),
            "# mine\nmodel = \"x\"\n\n[mcp_servers.dowse]\nurl = \"u\"\n"
        );
    }

    /// A file of Windows had lines of both kinds.
    #[test]
    fn a_toml_file_keeps_the_ends_of_its_lines() {
        let folder = testkit::Folder::new();
        let file = folder.write("config.toml", "# mine\r\nmodel = \"x\"\r\n");
        let entry = json!({ "command": "dowse", "args": ["mcp"] });
        for others in [OtherEntry::Refuse, OtherEntry::Replace] {
            add_to_toml(&file, "dowse", &entry, others).unwrap();
            let text = folder.read("config.toml");
            assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
        }
    }

    /// A section was added to files that list servers in another form, which no client read any
    /// more, and that was called a success.
    #[test]
    fn a_toml_file_stays_one_whatever_form_it_lists_servers_in() {
        let folder = testkit::Folder::new();
        let entry = json!({ "command": "dowse", "args": ["mcp"] });
        for text in [
            "mcp_servers = { other = { command = \"x\" } }\n",
            "mcp_servers = []\n",
            "mcp_servers = 3\n",
            "[[mcp_servers]]\nname = \"other\"\n",
            "a = 1\nmcp_servers.other = { command = \"x\" }\n[mcp_servers.dowse.env]\nA = \"b\"\n",
        ] {
            let file = folder.write("config.toml", text);
            let error = add_to_toml(&file, "dowse", &entry, OtherEntry::Refuse).unwrap_err();
            assert!(error.to_string().contains("was left alone"), "{text}: {error}");
            assert_eq!(folder.read("config.toml"), text);
        }
        let inline = folder.write("config.toml", "mcp_servers = { }\n");
        let error = add_to_toml(&inline, "dowse", &entry, OtherEntry::Refuse).unwrap_err();
        let paste = "dowse = { command = \"dowse\", args = [\"mcp\"] }";
        assert!(error.to_string().contains(paste), "{error}");
        let between = "[mcp_servers.dowse]\ncommand = \"old\"\n[mcp_servers.dowse.env]\nA = \"b\"\n\n\
                       [mcp_servers.dowse-2]\ncommand = \"x\" # mine\n";
        let file = folder.write("config.toml", between);
        assert!(add_to_toml(&file, "dowse", &entry, OtherEntry::Replace).unwrap());
        assert_eq!(
            folder.read("config.toml"),
            "[mcp_servers.dowse-2]\ncommand = \"x\" # mine\n\n[mcp_servers.dowse]\n\
             command = \"dowse\"\nargs = [\"mcp\"]\n"
        );
    }

    /// A server that somebody else had named `dowse` was gone without a word.
    #[test]
    fn another_server_of_the_name_is_replaced_only_when_asked() {
        let folder = testkit::Folder::new();
        let text = r#"{"mcpServers": {"dowse": {"command": "other"}}}"#;
        let file = folder.write("mcp.json", text);
        let entry = json!({ "command": "dowse", "args": ["mcp"] });
        let add = |others| add_to_json(&file, "mcpServers", "dowse", &entry, others);
        let error = add(OtherEntry::Refuse).unwrap_err().to_string();
        assert!(error.contains("another server `dowse`") && error.contains("--replace"), "{error}");
        assert_eq!(folder.read("mcp.json"), text);
        assert!(add(OtherEntry::Replace).unwrap());
        let whole: Value = serde_json::from_str(&folder.read("mcp.json")).unwrap();
        assert_eq!(whole, json!({ "mcpServers": { "dowse": entry } }));
    }

    /// Whoever keeps such files under version control had a copy in the place of the link.
    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_its_target_is_written() {
        let folder = testkit::Folder::new();
        folder.write("dotfiles/mcp.json", "{}");
        folder.write("home/keep", "");
        let link = folder.join("home/mcp.json");
        std::os::unix::fs::symlink("../dotfiles/mcp.json", &link).unwrap();
        let later = folder.join("home/later.json");
        std::os::unix::fs::symlink("../dotfiles/later.json", &later).unwrap();
        for (link, target) in [(&link, "dotfiles/mcp.json"), (&later, "dotfiles/later.json")] {
            assert!(add_to_json(link, "k", "dowse", &json!({}), OtherEntry::Refuse).unwrap());
            assert!(link.is_symlink());
            assert!(folder.read(target).contains("dowse"));
        }
    }
}
