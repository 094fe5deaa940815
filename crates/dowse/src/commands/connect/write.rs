//! Adding one server to a client's file, leaving everything else as it is.

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

/// The largest client file that is read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Adds an entry to a JSON file, and tells whether that changed anything.
pub(super) fn add_to_json(
    file: &Path,
    key: &str,
    name: &str,
    entry: &Value,
) -> anyhow::Result<bool> {
    let text = read(file)?;
    let mut whole = if text.trim().is_empty() {
        Value::Object(Map::new())
    } else {
        serde_json::from_str(&text).with_context(|| {
            format!("{} is not plain JSON, so it was left alone\nhint: add the lines by hand; `dowse connect` without `--write` prints them", file.display())
        })?
    };
    let Some(servers) = whole
        .as_object_mut()
        .map(|whole| whole.entry(key).or_insert_with(|| Value::Object(Map::new())))
        .and_then(Value::as_object_mut)
    else {
        bail!("{} has no object `{key}`, so it was left alone", file.display());
    };
    if servers.get(name) == Some(entry) {
        return Ok(false);
    }
    servers.insert(name.to_owned(), entry.clone());
    replace(file, &format!("{}\n", serde_json::to_string_pretty(&whole)?))?;
    Ok(true)
}

/// Adds a section to the end of a TOML file, whose comments and order stay, and tells whether
/// that changed anything.
pub(super) fn add_to_toml(file: &Path, name: &str, entry: &Value) -> anyhow::Result<bool> {
    let text = read(file)?;
    let table: toml::Table = text
        .parse()
        .with_context(|| format!("{} is not TOML, so it was left alone", file.display()))?;
    let wanted: toml::Value = toml::Value::try_from(entry)?;
    let present = table.get("mcp_servers").and_then(|servers| servers.get(name));
    match present {
        Some(present) if *present == wanted => return Ok(false),
        Some(_) => bail!(
            "{} has another server `{name}`, so it was left alone\n\
             hint: choose another name with `--name`, or edit the file",
            file.display()
        ),
        None => {}
    }
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    replace(file, &format!("{text}{gap}{}\n", toml_section(name, entry)?))?;
    Ok(true)
}

/// Gives the section of a TOML file.
pub(super) fn toml_section(name: &str, entry: &Value) -> anyhow::Result<String> {
    let table: toml::Table =
        toml::Value::try_from(entry)?.try_into().context("an entry is a table")?;
    let key = toml::Value::String(name.to_owned()).to_string();
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let key = if is_bare { name.to_owned() } else { key };
    Ok(format!("[mcp_servers.{key}]\n{}", toml::to_string(&table)?.trim_end()))
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

/// Writes beside the file and renames, so that a client never sees half of it.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs_err::create_dir_all(folder)?;
    }
    let beside = file.with_extension(format!("dowse-{}", std::process::id()));
    fs_err::write(&beside, text)?;
    if let Ok(metadata) = fs_err::metadata(file) {
        fs_err::set_permissions(&beside, metadata.permissions())?;
    }
    fs_err::rename(&beside, file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_servers_stay() {
        let folder = testkit::Folder::new();
        let file = folder.write("mcp.json", r#"{"theme": "x", "mcpServers": {"a": {"url": "u"}}}"#);
        let entry = json!({ "command": "dowse", "args": ["mcp"] });
        assert!(add_to_json(&file, "mcpServers", "dowse", &entry).unwrap());
        assert!(!add_to_json(&file, "mcpServers", "dowse", &entry).unwrap());
        let whole: Value = serde_json::from_str(&folder.read("mcp.json")).unwrap();
        let expected =
            json!({ "theme": "x", "mcpServers": { "a": { "url": "u" }, "dowse": entry } });
        assert_eq!(whole, expected);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        let folder = testkit::Folder::new();
        let text = "{ // a comment\n}";
        let file = folder.write("settings.json", text);
        assert!(add_to_json(&file, "mcpServers", "dowse", &json!({})).is_err());
        assert_eq!(folder.read("settings.json"), text);
    }

    #[test]
    fn comments_of_a_toml_file_stay() {
        let folder = testkit::Folder::new();
        let file = folder.write("config.toml", "# mine\nmodel = \"x\"");
        let entry = json!({ "command": "dowse", "args": ["mcp", "/a b"] });
        assert!(add_to_toml(&file, "dowse", &entry).unwrap());
        assert!(!add_to_toml(&file, "dowse", &entry).unwrap());
        let text = folder.read("config.toml");
        assert_eq!(
            text,
            "# mine\nmodel = \"x\"\n\n[mcp_servers.dowse]\ncommand = \"dowse\"\nargs = [\"mcp\", \"/a b\"]\n"
        );
        let error = add_to_toml(&file, "dowse", &json!({ "url": "u" })).unwrap_err();
        assert!(error.to_string().contains("another server `dowse`"), "{error}");
    }
}
