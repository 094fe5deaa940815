//! Values that are where a secret would be and are none.

/// Values that are where a secret would: names of variables, types, instructions.
pub(super) fn is_placeholder(value: &str) -> bool {
    const PLACEHOLDERS: &[&str] = &[
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "text",
        "required",
        "optional",
        "empty",
        "unknown",
        "redacted",
        "hidden",
        "masked",
        "changeme",
        "change_me",
        "example",
        "password",
        "passwd",
        "secret",
        "token",
        "yourpassword",
        "your_password",
        "your-password",
        "here",
        "your",
        "the",
        "must",
        "number",
        "integer",
        "boolean",
        "varchar",
        "input",
        "field",
        "value",
        "process.env",
        "os.environ",
        "getenv",
        "obligatorie",
        "obligatoriu",
        "necesară",
        "incorrect",
        "incorectă",
        "invalid",
        "wrong",
        "expired",
        "reset",
        "forgotten",
        "disabled",
        "enabled",
        "protected",
        "strong",
        "weak",
        "yes",
        "no",
        "user",
        "pass",
    ];
    let trimmed = value.trim_matches(|char: char| !char.is_alphanumeric());
    let lower = trimmed.to_lowercase();
    let is_bracketed = ["[", "<", "{", "${", "%(", "{{"].iter().any(|open| value.starts_with(open));
    let mut chars = value.chars();
    let is_repeated = chars.next().is_some_and(|first| chars.all(|char| char == first));
    trimmed.is_empty()
        || is_bracketed
        || is_repeated
        || PLACEHOLDERS.contains(&lower.as_str())
        || ["process.env", "os.environ", "os.getenv", "env.", "self.", "this.", "config."]
            .iter()
            .any(|start| lower.starts_with(start))
        || lower.starts_with("your_")
        || lower.starts_with("your-")
}
